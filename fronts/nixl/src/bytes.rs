//! Bytes that a station has while an operation is under way.

use core::any::Any;
use std::sync::Arc;

use hostwire::station::Buffer;

use crate::transfer::Transfer;

/// Memory of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loan {
    first: *mut u8,
    len: usize,
}

// SAFETY: an address range; the methods that look behind it say what they rest on.
unsafe impl Send for Loan {}

impl Loan {
    /// `None` for a length at no address, or one that no object has.
    ///
    /// # Safety
    /// As long as the loan is in a [`Buffer`] that a station has, `len` bytes at `first` are there and can be written to, and the
    /// program leaves them alone.
    pub(crate) unsafe fn new(first: *mut u8, len: usize) -> Option<Self> {
        let first = match len {
            0 => core::ptr::NonNull::dangling().as_ptr(),
            _ if first.is_null() || isize::try_from(len).is_err() => return None,
            _ => first,
        };
        Some(Self { first, len })
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn address(&self) -> u64 {
        self.first.addr() as u64
    }
}

/// Where they are.
pub(crate) enum Place {
    /// In memory of the program.
    Lent(Loan),
    /// Here: a notification, or room for one.
    Kept(Vec<u8>),
}

/// See the [module text](self).
pub(crate) struct Bytes {
    pub(crate) place: Place,
    /// Whose end this is a part of.
    pub(crate) transfer: Option<Arc<Transfer>>,
}

impl Buffer for Bytes {
    fn bytes(&self) -> &[u8] {
        match &self.place {
            // SAFETY: by the promise of `Loan::new`: they are there, nobody writes to them, and the slice lives no longer than
            // the use of the buffer by its station.
            Place::Lent(loan) => unsafe { core::slice::from_raw_parts(loan.first, loan.len) },
            Place::Kept(bytes) => bytes,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            // SAFETY: as for `bytes`, and nobody reads them; only gets ask for it, whose memory it is.
            Place::Lent(loan) => unsafe { core::slice::from_raw_parts_mut(loan.first, loan.len) },
            Place::Kept(bytes) => bytes,
        }
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
