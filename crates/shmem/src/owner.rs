//! Long reductions and scans: each member owns a block of the elements, combines it for
//! all members, in the order of ranks, and stores the results at their destinations.
//!
//! So every source is read once and every destination written once. Source and
//! destination may be the same: a piece is stored only after it was read everywhere, and
//! no other member reads it.

use hostwire::PeId;

use crate::reduction::Reduce;
use crate::remote::{get_at, put_at, resolve};
use crate::runtime::Runtime;

/// The way in which the values of all members are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// All of them, at every member.
    Reduce,
    /// Those up to each member.
    Inclusive,
    /// Those before each member.
    Exclusive,
}

/// How elements of some type are combined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Combine {
    /// As [`Reduce::combine`].
    pub(crate) function: unsafe fn(*mut u8, *const u8, *const u8, usize),
    pub(crate) element_bytes: usize,
}

impl Combine {
    pub(crate) fn of<Op: 'static, T: Reduce<Op>>() -> Self {
        unsafe fn erased<Op, T: Reduce<Op>>(to: *mut u8, a: *const u8, b: *const u8, n: usize) {
            // SAFETY: as the caller promises, with elements of this type.
            unsafe { T::combine(to.cast(), a.cast(), b.cast(), n) }
        }
        Self {
            function: erased::<Op, T>,
            element_bytes: size_of::<T>(),
        }
    }
}

/// Bytes that are combined at a time: they stay in the nearest cache. Fitted.
const PIECE_BYTES: usize = 4 << 10;

/// One member's part in a long reduction or scan.
pub(crate) struct Fold<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) what: &'static str,
    pub(crate) members: &'a [PeId],
    pub(crate) rank: usize,
    /// Offsets in a segment.
    pub(crate) dest: usize,
    pub(crate) source: usize,
    pub(crate) count: usize,
    pub(crate) combine: Combine,
    pub(crate) mode: Mode,
}

#[repr(align(64))]
struct Piece([u8; PIECE_BYTES]);

impl Fold<'_> {
    /// The elements that `rank` owns: whole cache lines, except for the last ones.
    fn block(&self) -> core::ops::Range<usize> {
        let per_line = (64 / self.combine.element_bytes).max(1);
        let share = self
            .count
            .div_ceil(self.members.len())
            .next_multiple_of(per_line);
        let start = (self.rank * share).min(self.count);
        start..(start + share).min(self.count)
    }

    /// Does the own block.
    ///
    /// # Safety
    /// Sources and destinations of all members are symmetric, have the elements, and are
    /// left alone by all others meanwhile.
    pub(crate) unsafe fn own_block(&self) {
        let per_piece = PIECE_BYTES / self.combine.element_bytes;
        let block = self.block();
        let mut start = block.start;
        while start < block.end {
            let count = per_piece.min(block.end - start);
            // SAFETY: as the caller promises.
            unsafe { self.piece(start, count) };
            start += count;
        }
    }

    unsafe fn piece(&self, start: usize, count: usize) {
        let (at, len) = (
            start * self.combine.element_bytes,
            count * self.combine.element_bytes,
        );
        let (mut sum, mut got) = (Piece([0; PIECE_BYTES]), Piece([0; PIECE_BYTES]));
        let sum = sum.0.as_mut_ptr();
        for (rank, &pe) in self.members.iter().enumerate() {
            if self.mode == Mode::Exclusive && rank == 0 {
                // SAFETY: as the caller promises; `sum` holds zeros.
                let values = unsafe { self.values(pe, at, len, got.0.as_mut_ptr()) };
                let mut first = Piece([0; PIECE_BYTES]);
                // SAFETY: `len` bytes each; kept from the store that may overwrite them.
                unsafe { core::ptr::copy(values, first.0.as_mut_ptr(), len) };
                // SAFETY: as the caller promises.
                unsafe { self.give(pe, at, sum, len) };
                // SAFETY: as above.
                unsafe { core::ptr::copy(first.0.as_ptr(), sum, len) };
                continue;
            }
            // SAFETY: as the caller promises.
            let values = unsafe { self.values(pe, at, len, got.0.as_mut_ptr()) };
            match self.mode {
                Mode::Exclusive => {
                    let mut next = Piece([0; PIECE_BYTES]);
                    let next = next.0.as_mut_ptr();
                    // SAFETY: `count` elements at each, aligned.
                    unsafe { (self.combine.function)(next, sum, values, count) };
                    // SAFETY: as the caller promises; the values were read.
                    unsafe { self.give(pe, at, sum, len) };
                    // SAFETY: a piece each.
                    unsafe { core::ptr::copy(next, sum, len) };
                }
                _ if rank == 0 => {
                    // SAFETY: `len` bytes, at most a piece.
                    unsafe { core::ptr::copy(values, sum, len) };
                }
                _ => {
                    // SAFETY: `count` elements at each, aligned.
                    unsafe { (self.combine.function)(sum, sum, values, count) };
                }
            }
            if self.mode == Mode::Inclusive {
                // SAFETY: as the caller promises; the values were read.
                unsafe { self.give(pe, at, sum, len) };
            }
        }
        if self.mode == Mode::Reduce {
            for &pe in self.members {
                // SAFETY: as the caller promises; all values were read.
                unsafe { self.give(pe, at, sum, len) };
            }
        }
    }

    /// The values of `pe`, where they are or in `room`.
    unsafe fn values(&self, pe: PeId, at: usize, len: usize, room: *mut u8) -> *const u8 {
        let offset = self.source + at;
        match resolve(self.runtime, pe, offset) {
            Some(there) if (there as usize).is_multiple_of(16) => there,
            // SAFETY: a piece of room; the caller promises the source.
            _ => unsafe {
                get_at(self.runtime, self.what, pe, offset, room, len);
                room
            },
        }
    }

    unsafe fn give(&self, pe: PeId, at: usize, from: *const u8, len: usize) {
        // SAFETY: the caller promises the destination; `len` bytes at `from`.
        unsafe { put_at(self.runtime, self.what, pe, self.dest + at, from, len) };
    }
}
