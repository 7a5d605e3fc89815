//! Atomic operations on elements of any PE.
//!
//! All of them are atomic with respect to each other and sequentially consistent. On a
//! mapped wire they are CPU instructions; elsewhere the agent of the target does them.

use super::Symmetric;
use crate::PeId;
use crate::agent::{Operation, Request, apply};
use crate::element::{AtomicElement, AtomicInteger};
use crate::error::Result;

impl<T: AtomicElement> Symmetric<T> {
    #[inline(always)]
    fn atomic(
        &self,
        pe: PeId,
        index: usize,
        operation: Operation,
        operand: u64,
        compare: u64,
    ) -> Result<T> {
        let extent = &self.extent;
        let at = Self::byte_offset(index);
        let old = if T::BYTES == 8 {
            let word = extent.word(pe, at);
            word.map(|word| operation.apply_64(word, operand, compare))
        } else {
            let word = extent.half(pe, at);
            word.map(|word| {
                operation
                    .apply_32(word, operand as u32, compare as u32)
                    .into()
            })
        };
        match old {
            Some(old) if extent.notify(pe) => Ok(T::from_bits(old)),
            _ => self.atomic_slowly(pe, index, operation, operand, compare),
        }
    }

    #[cold]
    #[inline(never)]
    fn atomic_slowly(
        &self,
        pe: PeId,
        index: usize,
        operation: Operation,
        operand: u64,
        compare: u64,
    ) -> Result<T> {
        let request = Request {
            operation,
            offset_bytes: self.locate(index, 1)?,
            operand_bytes: T::BYTES as u8,
            operand,
            compare,
        };
        self.inner.check(pe)?;
        let old = match self.inner.atomic_window(pe) {
            Some(window) => {
                let old = apply(window, &request)?;
                window.notify();
                old
            }
            None => self.inner.agent.ask(&self.inner, pe, request)?,
        };
        Ok(T::from_bits(old))
    }

    /// Reads element `index` of `pe`.
    #[inline]
    pub fn fetch(&self, pe: PeId, index: usize) -> Result<T> {
        self.atomic(pe, index, Operation::Fetch, 0, 0)
    }

    /// Sets element `index` of `pe`.
    #[inline]
    pub fn set(&self, pe: PeId, index: usize, value: T) -> Result<()> {
        self.swap(pe, index, value).map(|_| ())
    }

    /// Sets element `index` of `pe` and returns what it was.
    #[inline]
    pub fn swap(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, Operation::Swap, value.to_bits(), 0)
    }
}

impl<T: AtomicInteger> Symmetric<T> {
    /// Sets element `index` of `pe` to `new` if it is `expected`, and returns what it was.
    #[inline]
    pub fn compare_swap(&self, pe: PeId, index: usize, expected: T, new: T) -> Result<T> {
        let (new, expected) = (new.to_bits(), expected.to_bits());
        self.atomic(pe, index, Operation::CompareSwap, new, expected)
    }

    /// Adds to element `index` of `pe`, wrapping, and returns what it was.
    #[inline]
    pub fn fetch_add(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, Operation::Add, value.to_bits(), 0)
    }

    /// Adds to element `index` of `pe`, wrapping.
    #[inline]
    pub fn add(&self, pe: PeId, index: usize, value: T) -> Result<()> {
        self.fetch_add(pe, index, value).map(|_| ())
    }

    /// Ands element `index` of `pe` with `value` and returns what it was.
    #[inline]
    pub fn fetch_and(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, Operation::And, value.to_bits(), 0)
    }

    /// Ors element `index` of `pe` with `value` and returns what it was.
    #[inline]
    pub fn fetch_or(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, Operation::Or, value.to_bits(), 0)
    }

    /// Xors element `index` of `pe` with `value` and returns what it was.
    #[inline]
    pub fn fetch_xor(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, Operation::Xor, value.to_bits(), 0)
    }
}
