//! Memory in segments that loads, stores and CPU atomics of this process reach.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::buffer::{Blocks, Input, InputBlocks, Output, OutputBlocks, WideInput};
use crate::copy;

/// Behind the loads of a get, which is complete when it returns: nothing later is done before them. No
/// instruction on x86-64.
#[inline(always)]
fn got() {
    fence(Ordering::Acquire);
}

/// Bytes in a segment. They stay mapped for as long as the process lives, and are accessed by
/// atomics and raw copies only.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mapped {
    at: *mut u8,
    len: usize,
}

impl Mapped {
    /// # Safety
    /// The `len` bytes at `at` are of a segment that stays mapped.
    #[inline(always)]
    pub(crate) unsafe fn new(at: *mut u8, len: usize) -> Self {
        Self { at, len }
    }

    #[inline(always)]
    pub(crate) fn at(self) -> *mut u8 {
        self.at
    }

    /// How many bytes to copy if the other side has `len`: all of them, as callers take care.
    #[inline(always)]
    fn room(self, len: usize) -> usize {
        debug_assert!(len <= self.len, "{len} bytes do not fit in {}", self.len);
        len.min(self.len)
    }

    /// Copies `source` here: words that are aligned here in one piece.
    #[inline(always)]
    pub(crate) fn put(self, source: Input<'_>) {
        let len = self.room(source.len());
        // SAFETY: `len` bytes are mapped here, and the source has as many to be read.
        unsafe { copy::to_peer(self.at, source.at(), len) };
    }

    /// The same, with a call of `memmove`.
    #[inline(always)]
    pub(crate) fn put_long(self, source: Input<'_>) {
        let len = self.room(source.len());
        // SAFETY: `len` bytes are mapped here, and the source has as many to be read.
        unsafe { core::ptr::copy(source.at(), self.at, len) };
    }

    /// The same, with wide vectors.
    #[inline(always)]
    pub(crate) fn put_wide(self, source: WideInput<'_>) {
        let source = source.input();
        debug_assert!(source.len() <= self.len);
        if source.len() <= self.len {
            // SAFETY: the source has its bytes to be read, and here as many are mapped;
            // `WideInput` says that `is_wide` has said yes.
            unsafe { copy::wide(self.at, source.at(), source.len()) };
        }
    }

    /// Copies the bytes here to `dest`: words that are aligned here in one piece.
    #[inline(always)]
    pub(crate) fn get(self, mut dest: Output<'_>) {
        let len = self.room(dest.len());
        // SAFETY: `len` bytes are mapped here, and `dest` has room for as many.
        unsafe { copy::from_peer(dest.at(), self.at, len) };
        got();
    }

    /// The same, with a call of `memmove`.
    #[inline(always)]
    pub(crate) fn get_long(self, mut dest: Output<'_>) {
        let len = self.room(dest.len());
        // SAFETY: `len` bytes are mapped here, and `dest` has room for as many.
        unsafe { core::ptr::copy(self.at, dest.at(), len) };
        got();
    }

    /// Blocks here, of which the first is at byte `first`, if all of them are here.
    #[inline]
    pub(crate) fn blocks(self, first: usize, blocks: Blocks) -> Option<MappedBlocks> {
        let (lowest, span_bytes) = blocks.span()?;
        let start = first.checked_add_signed(lowest)?;
        let is_here = start <= self.len && span_bytes <= self.len - start;
        is_here.then(|| MappedBlocks {
            at: self.at.wrapping_add(first),
            blocks,
        })
    }

    /// The 64-bit word here, if it is aligned.
    #[inline]
    pub(crate) fn word(self) -> Option<&'static AtomicU64> {
        if self.len < 8 || !self.at.addr().is_multiple_of(8) {
            return None;
        }
        // SAFETY: 8 bytes that stay mapped; aligned, as just seen.
        Some(unsafe { &*self.at.cast() })
    }

    /// The 32-bit word here, if it is aligned.
    #[inline]
    pub(crate) fn half(self) -> Option<&'static AtomicU32> {
        if self.len < 4 || !self.at.addr().is_multiple_of(4) {
            return None;
        }
        // SAFETY: 4 bytes that stay mapped; aligned, as just seen.
        Some(unsafe { &*self.at.cast() })
    }
}

/// Blocks in a segment, as [`Mapped`] is bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MappedBlocks {
    at: *mut u8,
    blocks: Blocks,
}

impl MappedBlocks {
    /// How many blocks to copy, and how long each is, if the other side has these: all of them, as
    /// callers take care.
    #[inline(always)]
    fn room(self, others: Blocks) -> (usize, usize) {
        let (count, len) = (self.blocks.count, self.blocks.block_bytes);
        debug_assert_eq!((count, len), (others.count, others.block_bytes));
        (count.min(others.count), len.min(others.block_bytes))
    }

    /// Copies the blocks of `source` here.
    #[inline]
    pub(crate) fn put(self, source: InputBlocks<'_>) {
        let (count, len) = self.room(source.blocks());
        let (mut to, mut from) = (self.at, source.at());
        for _ in 0..count {
            // SAFETY: a block here is mapped, and one of the source can be read; neither is shorter
            // than `len`.
            unsafe { copy::to_peer(to, from, len) };
            to = to.wrapping_offset(self.blocks.distance(1));
            from = from.wrapping_offset(source.blocks().distance(1));
        }
    }

    /// Copies the blocks here to those of `dest`.
    #[inline]
    pub(crate) fn get(self, mut dest: OutputBlocks<'_>) {
        let (count, len) = self.room(dest.blocks());
        let (mut to, mut from) = (dest.at(), self.at);
        for _ in 0..count {
            // SAFETY: a block here is mapped, and one of `dest` can be written; neither is shorter
            // than `len`.
            unsafe { copy::from_peer(to, from, len) };
            to = to.wrapping_offset(dest.blocks().distance(1));
            from = from.wrapping_offset(self.blocks.distance(1));
        }
        got();
    }
}
