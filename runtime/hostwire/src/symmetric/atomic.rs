//! Atomic operations on elements of any PE.
//!
//! All of them are atomic with respect to each other and sequentially consistent. On a
//! mapped wire they are CPU instructions; elsewhere the agent of the target does them.

use hostwire_transport::{Operation, Request};

use super::Symmetric;
use crate::PeId;
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
        let done = if T::BYTES == 8 {
            let word = self.extent.word(pe, index);
            word.map(|(word, bell)| (operation.apply_64(word, operand, compare), bell))
        } else {
            let half = self.extent.half(pe, index);
            half.map(|(half, bell)| {
                let old = operation.apply_32(half, operand as u32, compare as u32);
                (old.into(), bell)
            })
        };
        match done {
            Some((old, bell)) if bell.notify() => Ok(T::from_bits(old)),
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
        Ok(T::from_bits(self.inner.atomic(pe, request)?))
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

    /// Makes element `index` of `pe` the lesser of itself and `value`, and returns what it was.
    #[inline]
    pub fn fetch_min(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, min::<T>(), value.to_bits(), 0)
    }

    /// Makes element `index` of `pe` the greater of itself and `value`, and returns what it was.
    #[inline]
    pub fn fetch_max(&self, pe: PeId, index: usize, value: T) -> Result<T> {
        self.atomic(pe, index, max::<T>(), value.to_bits(), 0)
    }
}

const fn min<T: AtomicInteger>() -> Operation {
    match T::IS_SIGNED {
        true => Operation::SignedMin,
        false => Operation::Min,
    }
}

const fn max<T: AtomicInteger>() -> Operation {
    match T::IS_SIGNED {
        true => Operation::SignedMax,
        false => Operation::Max,
    }
}
