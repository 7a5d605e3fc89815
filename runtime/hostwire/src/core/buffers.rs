//! Where the data of an operation is, and how elements are combined.

use hostwire_transport::{PeId, Values, Window};

use super::{Caller, Kind, Operands};
use crate::error::Result;

/// Where a PE has what it gives.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// Private memory.
    Private(&'a [u8]),
    /// The own segment, from this offset on.
    Own(usize),
}

/// Where a PE wants what it gets.
#[derive(Debug)]
pub enum Target<'a> {
    /// Private memory.
    Private(&'a mut [u8]),
    /// The own segment, from this offset on.
    Own(usize),
}

/// Both. They may be the same memory, or overlap.
#[derive(Debug)]
pub struct Buffers<'a> {
    /// What this PE gives. Without it, the target holds what this PE gives.
    pub source: Option<Source<'a>>,
    /// Where the result goes.
    pub target: Target<'a>,
}

impl<'a> Buffers<'a> {
    /// Private memory that is both.
    pub fn in_place(values: &'a mut [u8]) -> Self {
        Self {
            source: None,
            target: Target::Private(values),
        }
    }

    /// Private memory.
    pub fn private(source: &'a [u8], target: &'a mut [u8]) -> Self {
        Self {
            source: Some(Source::Private(source)),
            target: Target::Private(target),
        }
    }

    /// Parts of the own segment, by their offsets.
    pub fn own(source: usize, target: usize) -> Self {
        Self {
            source: Some(Source::Own(source)),
            target: Target::Own(target),
        }
    }

    #[inline(always)]
    fn source(&self) -> Source<'_> {
        match (&self.source, &self.target) {
            (Some(source), _) => *source,
            (None, Target::Private(values)) => Source::Private(values),
            (None, Target::Own(offset)) => Source::Own(*offset),
        }
    }

    /// Bytes `at .. at + len` of the source, in `room` unless they are private.
    #[inline(always)]
    pub(super) fn bytes<'b>(
        &'b self,
        segment: &Window,
        at: usize,
        len: usize,
        room: &'b mut [u8],
    ) -> Result<&'b [u8]> {
        match self.source() {
            Source::Private(bytes) => Ok(&bytes[at..at + len]),
            Source::Own(offset) => {
                let room = &mut room[..len];
                segment.get(offset + at, room)?;
                Ok(room)
            }
        }
    }

    /// As [`bytes`](Self::bytes), to be combined.
    #[inline(always)]
    pub(super) fn values<'b>(
        &'b self,
        segment: &'b Window,
        len: usize,
        room: &'b mut [u8],
    ) -> Result<Values<'b>> {
        match self.source() {
            Source::Private(bytes) => Ok(Values::private(&bytes[..len])),
            Source::Own(offset) => Ok(segment.values(offset, len, room)?),
        }
    }

    /// Bytes to `at` of the target.
    #[inline(always)]
    pub(super) fn write(&mut self, segment: &Window, at: usize, bytes: &[u8]) -> Result<()> {
        match &mut self.target {
            Target::Private(target) => {
                target[at..at + bytes.len()].copy_from_slice(bytes);
                Ok(())
            }
            Target::Own(offset) => Ok(segment.put_unannounced(*offset + at, bytes)?),
        }
    }

    /// `len` bytes of the own segment, from `from` on, to `at` of the target.
    #[inline(always)]
    pub(super) fn take(
        &mut self,
        segment: &Window,
        at: usize,
        from: usize,
        len: usize,
    ) -> Result<()> {
        match &mut self.target {
            Target::Private(target) => Ok(segment.get(from, &mut target[at..at + len])?),
            Target::Own(offset) => Ok(segment.copy_from(*offset + at, segment, from, len)?),
        }
    }

    /// `len` bytes at `from` of the source to `at` of the target.
    #[inline(always)]
    ///
    /// # Errors
    /// If they are not in the segment.
    pub fn keep(&mut self, segment: &Window, at: usize, from: usize, len: usize) -> Result<()> {
        match (&self.source, &mut self.target) {
            (None, Target::Private(values)) => {
                values.copy_within(from..from + len, at);
                Ok(())
            }
            (None, Target::Own(offset)) => {
                Ok(segment.copy_from(*offset + at, segment, *offset + from, len)?)
            }
            (Some(Source::Private(bytes)), _) => {
                let bytes = *bytes;
                self.write(segment, at, &bytes[from..from + len])
            }
            (Some(Source::Own(offset)), _) => {
                let from = *offset + from;
                self.take(segment, at, from, len)
            }
        }
    }
}

impl Source<'_> {
    /// Stores `len` bytes of the source, from `from` on, at `offset` in the segment of `pe`.
    ///
    /// # Errors
    /// [`Error::PeerLost`](crate::Error::PeerLost).
    pub fn put<C: Caller>(
        &self,
        caller: &C,
        pe: PeId,
        offset: usize,
        from: usize,
        len: usize,
    ) -> Result<()> {
        let attachment = caller.attachment();
        match self {
            Self::Private(bytes) => attachment.put(pe, offset, &bytes[from..from + len]),
            Self::Own(own) => attachment.put_own(pe, offset, own + from, len),
        }
    }
}

/// How elements are combined: `sum = sum op values`, for each of them. Must be associative.
#[derive(Clone, Copy)]
pub struct Combine<'a> {
    /// Does it.
    pub function: &'a dyn Fn(&mut [u8], Values<'_>),
    /// Bytes of an element.
    pub element_bytes: usize,
    /// What must be the same at all members.
    pub operands: Operands,
}

/// Which values are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// Those of all members, at every member.
    All,
    /// Those of all members up to each.
    UpTo,
    /// Those of all members before each. The first member gets zeros.
    Before,
}

impl Fold {
    /// The operation.
    #[inline(always)]
    pub(super) fn kind(self) -> Kind {
        match self {
            Self::All => Kind::Reduce,
            Self::UpTo => Kind::Scan,
            Self::Before => Kind::ScanBefore,
        }
    }
}
