//! Memory that another PE has registered.

use std::marker::PhantomData;
use std::sync::Arc;

use hostwire_transport::{Operation, PeId, Request};
use zerocopy::IntoBytes;

use super::{Key, locate};
use crate::element::{AtomicElement, AtomicInteger, Element};
use crate::error::{Error, Result};
use crate::inner::Inner;

/// An array of `T` of some PE, made by [`crate::Job::open`] from the [`Key`] that the PE gave.
///
/// # Errors
/// Operations give [`Error::OutOfRange`], [`Error::PeerLost`], and [`Error::NotRegistered`] if the PE
/// has dropped the memory and its agent does the operation. If a store reaches memory that is no
/// longer registered, only its PE sees that: it then closes the connection to this PE.
pub struct Opened<T: Element> {
    inner: Arc<Inner>,
    pe: PeId,
    /// The place of the first byte.
    first: usize,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Element> Opened<T> {
    pub(crate) fn new(inner: &Arc<Inner>, key: Key) -> Result<Self> {
        inner.check(key.pe())?;
        let nobodys = || Error::NotRegistered {
            pe: key.pe(),
            segment: u16::MAX,
            offset_bytes: 0,
        };
        // Offsets have 40 bits.
        let len_bytes = key.len_bytes() as usize;
        Ok(Self {
            inner: Arc::clone(inner),
            pe: key.pe(),
            first: key.place().ok_or_else(nobodys)?,
            len: len_bytes / size_of::<T>().max(1),
            elements: PhantomData,
        })
    }

    /// Whose memory it is.
    pub fn pe(&self) -> PeId {
        self.pe
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `values` to the elements from `index` on. They may be reused when it returns, and are
    /// visible there after a fence or a quiet, as those of [`Symmetric::put`](crate::Symmetric).
    pub fn put(&self, index: usize, values: &[T]) -> Result<()> {
        let at = locate::<T>(index, values.len(), self.len)?;
        self.inner.put(self.pe, self.first + at, values.as_bytes())
    }

    /// Copies elements from `index` on to `values`.
    pub fn get(&self, index: usize, values: &mut [T]) -> Result<()> {
        let at = locate::<T>(index, values.len(), self.len)?;
        let bytes = values.as_mut_bytes();
        self.inner.get(self.pe, self.first + at, bytes)
    }
}

impl<T: AtomicElement> Opened<T> {
    fn atomic(&self, index: usize, operation: Operation, operand: T, compare: T) -> Result<T> {
        let at = locate::<T>(index, 1, self.len)?;
        let request = Request {
            operation,
            offset_bytes: self.first + at,
            operand_bytes: T::BYTES as u8,
            operand: operand.to_bits(),
            compare: compare.to_bits(),
        };
        self.inner.atomic(self.pe, request).map(T::from_bits)
    }

    /// Reads element `index`, in one piece.
    pub fn fetch(&self, index: usize) -> Result<T> {
        self.atomic(index, Operation::Fetch, T::new_zeroed(), T::new_zeroed())
    }

    /// Sets element `index` and returns what it was.
    pub fn swap(&self, index: usize, value: T) -> Result<T> {
        self.atomic(index, Operation::Swap, value, T::new_zeroed())
    }
}

impl<T: AtomicInteger> Opened<T> {
    /// Sets element `index` to `new` if it is `expected`, and returns what it was.
    pub fn compare_swap(&self, index: usize, expected: T, new: T) -> Result<T> {
        self.atomic(index, Operation::CompareSwap, new, expected)
    }

    /// Adds to element `index`, wrapping, and returns what it was.
    pub fn fetch_add(&self, index: usize, value: T) -> Result<T> {
        self.atomic(index, Operation::Add, value, T::new_zeroed())
    }
}
