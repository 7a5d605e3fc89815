//! Memory of the program that operations use, and what is reported when they end.

use core::any::Any;
use core::ffi::c_void;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use hostwire::station::Buffer;

use crate::object::Code;

/// Boxes that are kept, at most.
const SPARE_MAX: usize = 256;

/// Bytes of the program that it leaves alone until their operation has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loan {
    first: *mut u8,
    len: usize,
}

// SAFETY: an address range; the methods that look behind it say what they rest on.
unsafe impl Send for Loan {}

impl Loan {
    /// # Errors
    /// `EINVAL` for a length at no address.
    ///
    /// # Safety
    /// As long as the loan is in a [`Buffer`] that a station has, `len` bytes at `first` are there, the
    /// program leaves them alone, and, if they are to be received into, they can be written to.
    #[inline(always)]
    pub(crate) unsafe fn new(first: *mut c_void, len: usize) -> Result<Self, Code> {
        let first = match len {
            0 => core::ptr::NonNull::<u8>::dangling().as_ptr(),
            _ if first.is_null() => return Err(-libc::EINVAL),
            _ => first.cast(),
        };
        // A slice has no length beyond this, and no object either.
        let len = len.min(isize::MAX as usize);
        Ok(Self { first, len })
    }

    /// The same for a call with one address.
    ///
    /// # Safety
    /// As for [`new`](Self::new).
    pub(crate) unsafe fn one(first: *const c_void, len: usize) -> Result<[Self; 1], Code> {
        // SAFETY: as this function demands.
        unsafe { Self::new(first.cast_mut(), len) }.map(|loan| [loan])
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn address(&self) -> *mut c_void {
        self.first.cast()
    }

    /// All of it but the first bytes.
    pub(crate) fn behind(&self, bytes: usize) -> Self {
        let bytes = bytes.min(self.len);
        Self {
            first: self.first.wrapping_add(bytes),
            len: self.len - bytes,
        }
    }

    /// Its first bytes.
    fn before(&self, bytes: usize) -> Self {
        let len = bytes.min(self.len);
        Self { len, ..*self }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: by the promise of `new`: they are there, nobody writes to them, and the slice
        // lives no longer than the use of the buffer by its station.
        unsafe { core::slice::from_raw_parts(self.first, self.len) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `bytes`, and nobody reads them; only receives ask for it, whose call, or whose buffer, it is.
        unsafe { core::slice::from_raw_parts_mut(self.first, self.len) }
    }
}

/// Where the bytes of an operation are.
pub(crate) enum OperationBytes {
    /// Memory of the program.
    Lent(Loan),
    /// A copy, or bytes that go to several places at the end.
    Kept(Vec<u8>, Vec<Loan>),
}

/// What is reported when an operation ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Note {
    pub(crate) context: *mut c_void,
    /// Flags of its completion, and those of the operation that say how it ends.
    pub(crate) flags: u64,
    /// Whether its success is reported.
    pub(crate) tells: bool,
    /// Whether nothing is reported, not even a failure: there is no context to report it with.
    pub(crate) is_silent: bool,
}

// SAFETY: the context is never followed here, only given back.
unsafe impl Send for Note {}

/// The bytes of an operation that a station has.
pub(crate) struct Bytes {
    pub(crate) place: OperationBytes,
    pub(crate) note: Note,
    /// They are a part of memory that several messages share.
    pub(crate) shared: Option<MultiReceive>,
}

/// What the parts of memory for several messages have in common.
#[derive(Clone)]
pub(crate) struct MultiReceive {
    /// Parts that have not ended: of a message, or of what is behind the last.
    parts: Arc<Mutex<usize>>,
    /// Fewer bytes are not enough for another message.
    enough: Arc<AtomicUsize>,
}

impl MultiReceive {
    /// The state of memory that is still one part.
    pub(crate) fn new(enough: &Arc<AtomicUsize>) -> Self {
        Self {
            parts: Arc::new(Mutex::new(1)),
            enough: Arc::clone(enough),
        }
    }

    /// A part has ended: reports it, and whether it was the last. The last one is reported after all others.
    pub(crate) fn end_part(&self, tell: impl FnOnce(bool)) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        *parts = parts.saturating_sub(1);
        tell(*parts == 0);
    }

    /// Divides a part into that of a message and one for the next, if there is enough behind it.
    fn divide(&self, part: &mut Loan, len_bytes: usize) -> Option<Loan> {
        let rest = part.behind(len_bytes);
        if rest.len() < self.enough.load(Relaxed).max(1) {
            return None;
        }
        *part = part.before(len_bytes);
        *self.parts.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        Some(rest)
    }
}

impl Bytes {
    /// Gives what has come to the places that it was meant for, and says how many bytes fitted.
    pub(crate) fn settle(&mut self, len: usize) -> usize {
        let OperationBytes::Kept(bytes, places) = &mut self.place else {
            return len.min(self.bytes().len());
        };
        let mut rest = &bytes[..len.min(bytes.len())];
        let fitted = rest.len();
        for place in places {
            let (part, behind) = rest.split_at(rest.len().min(place.len()));
            place.bytes_mut()[..part.len()].copy_from_slice(part);
            rest = behind;
        }
        fitted
    }
}

/// Boxes of operations that have ended, for those to come.
#[derive(Default)]
#[allow(
    clippy::vec_box,
    reason = "a station gets a box, and gives the same one back"
)]
pub(crate) struct Spare(Vec<Box<Bytes>>);

impl Spare {
    /// As [`boxed`](Self::boxed), for memory of one piece. Each field is stored once, where it stays.
    #[inline(always)]
    pub(crate) fn lent(&mut self, loan: Loan, note: Note) -> Box<Bytes> {
        if let Some(mut spare) = self.0.pop()
            && let OperationBytes::Lent(place) = &mut spare.place
        {
            *place = loan;
            spare.note = note;
            return spare;
        }
        Box::new(Bytes {
            place: OperationBytes::Lent(loan),
            note,
            shared: None,
        })
    }

    pub(crate) fn boxed(&mut self, bytes: Bytes) -> Box<Bytes> {
        match self.0.pop() {
            Some(mut spare) => {
                *spare = bytes;
                spare
            }
            None => Box::new(bytes),
        }
    }

    /// Its operation has ended: what it kept goes now. Those that stay are of memory of one piece.
    #[inline(always)]
    pub(crate) fn give(&mut self, bytes: Box<Bytes>) {
        let is_one = matches!(bytes.place, OperationBytes::Lent(_)) && bytes.shared.is_none();
        if is_one && self.0.len() < SPARE_MAX {
            self.0.push(bytes);
        }
    }
}

/// What several loans have, one behind the other.
pub(crate) fn gather(loans: &[Loan]) -> Vec<u8> {
    let parts: Vec<&[u8]> = loans.iter().map(Loan::bytes).collect();
    parts.concat()
}

impl Buffer for Bytes {
    fn bytes(&self) -> &[u8] {
        match &self.place {
            OperationBytes::Lent(loan) => loan.bytes(),
            OperationBytes::Kept(bytes, _) => bytes,
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.place {
            OperationBytes::Lent(loan) => loan.bytes_mut(),
            OperationBytes::Kept(bytes, _) => bytes,
        }
    }

    fn mark(&self) -> usize {
        self.note.context as usize
    }

    #[inline]
    fn behind(&mut self, len_bytes: usize) -> Option<Box<dyn Buffer>> {
        let (Some(shared), OperationBytes::Lent(part)) = (&self.shared, &mut self.place) else {
            return None;
        };
        let rest = shared.divide(part, len_bytes)?;
        Some(Box::new(Self {
            place: OperationBytes::Lent(rest),
            note: self.note,
            shared: Some(shared.clone()),
        }))
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
