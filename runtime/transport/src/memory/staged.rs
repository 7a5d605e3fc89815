//! Copies through shared memory, from one core to another that takes the bytes out soon.
//!
//! An ordinary copy leaves the bytes in the cache of the core that made it. The other core then
//! fetches each line out of that cache. Each such line crosses the machine, and only few lines
//! are in flight at a time. Here the stores bypass the caches, and the other core prefetches
//! lines, so that the bytes come as a stream from memory.
//! `docs/decisions/2026-11-22-staged-messages.md` has measurements.

use super::Memory;
use crate::error::TransportError;

#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
impl Memory {
    /// As [`copy_in`](Self::copy_in), for bytes that another core takes out soon. Later stores of
    /// this thread cannot be seen before them.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`].
    pub fn copy_in_staged(&self, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        let at = self.range(offset_bytes, src.len())?;
        let (lines, rest) = src.as_chunks();
        if !self.is_aligned(offset_bytes, LINE_BYTES) {
            return self.copy_in(offset_bytes, src);
        }
        // SAFETY: `range` has checked that so many lines can be written at `at`, which is
        // aligned; no reference to plain data points there.
        unsafe { store_past_caches(at, lines) };
        self.copy_in(offset_bytes + lines.len() * LINE_BYTES, rest)
    }

    /// As [`copy_out`](Self::copy_out), for bytes that another core has stored by
    /// [`copy_in_staged`](Self::copy_in_staged).
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`].
    pub fn copy_out_staged(
        &self,
        offset_bytes: usize,
        dst: &mut [u8],
    ) -> Result<(), TransportError> {
        let at = self.range(offset_bytes, dst.len())?;
        let (lines, rest) = dst.as_chunks_mut();
        // SAFETY: `range` has checked that so many lines can be read at `at`.
        unsafe { load_ahead(at, lines) };
        let taken_bytes = lines.len() * LINE_BYTES;
        self.copy_out(offset_bytes + taken_bytes, rest)
    }
}

/// Other processors, and tests on modelled memory, use ordinary copies. On Arm `stnp` is a hint, which each processor
/// follows in its own way.
#[cfg(not(all(target_arch = "x86_64", not(any(miri, memory_model)))))]
impl Memory {
    /// As [`copy_in`](Self::copy_in), for bytes that another core takes out soon.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`].
    pub fn copy_in_staged(&self, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.copy_in(offset_bytes, src)
    }

    /// As [`copy_out`](Self::copy_out), for bytes that another core has stored by
    /// [`copy_in_staged`](Self::copy_in_staged).
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`].
    pub fn copy_out_staged(
        &self,
        offset_bytes: usize,
        dst: &mut [u8],
    ) -> Result<(), TransportError> {
        self.copy_out(offset_bytes, dst)
    }
}

#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
use crate::visibility::{LINE_BYTES, Visibility};

/// How many lines ahead are prefetched. Fitted.
#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
const LINES_AHEAD: usize = 32;

/// Stores lines that are not kept in a cache, and waits until they are there.
///
/// # Safety
/// As many lines have to be writable at `at`, which is aligned to a line, and no reference to
/// plain data may point there.
#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
unsafe fn store_past_caches(at: *mut u8, lines: &[[u8; LINE_BYTES]]) {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    let mut at = at.cast::<__m128i>();
    for line in lines {
        for part in line.as_chunks::<16>().0 {
            // SAFETY: `part` has 16 bytes, and this load needs no alignment.
            let value = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
            // SAFETY: `at` goes through the lines that the caller vouches for in steps of 16
            // bytes, so it is aligned to 16. The store is fenced below, before anything tells
            // another core that it may read.
            unsafe { _mm_stream_si128(at, value) };
            at = at.wrapping_add(1);
        }
    }
    // Such stores gather in write-combining buffers.
    Visibility::WriteCombining.store_fence();
}

/// Loads lines, and prefetches each before it is needed. Prefetches no line beyond the last: the
/// writer may be storing there now.
///
/// # Safety
/// As many lines have to be readable at `at`.
#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
unsafe fn load_ahead(at: *const u8, lines: &mut [[u8; LINE_BYTES]]) {
    let end = lines.len();
    for (index, line) in lines.iter_mut().enumerate() {
        let from = at.wrapping_add(index * LINE_BYTES);
        if index + LINES_AHEAD < end {
            let ahead = from.wrapping_add(LINES_AHEAD * LINE_BYTES);
            // Assembly, because the compiler must assume that it changes memory. With the
            // intrinsic the compiler prefetches all lines first and then copies them in one
            // piece.
            // SAFETY: `prefetcht0` is part of SSE, which every x86-64 has; it is a hint that
            // faults on nothing and changes no value.
            unsafe {
                core::arch::asm!("prefetcht0 [{}]", in(reg) ahead, options(nostack, preserves_flags))
            }
        }
        // SAFETY: `from` is one of the lines that the caller vouches for, and `line` is an
        // exclusive reference, so that the two do not overlap.
        unsafe { core::ptr::copy_nonoverlapping(from, line.as_mut_ptr(), LINE_BYTES) }
    }
}

#[cfg(all(test, not(memory_model)))]
mod tests {
    use super::*;

    #[test]
    fn staged_bytes_come_back_at_every_alignment_and_length() {
        let memory = Memory::anonymous(8192);
        for offset in [0, 1, 16, 64, 4032] {
            for len in [0, 1, 63, 64, 65, 1024, 1100, 4096] {
                let bytes: Vec<u8> = (0..len).map(|i| (i * 7 + offset) as u8).collect();
                memory.copy_in_staged(offset, &bytes).unwrap();
                let mut back = vec![0; len];
                memory.copy_out_staged(offset, &mut back).unwrap();
                assert_eq!(back, bytes, "{len} bytes at {offset}");
                memory.copy_out(offset, &mut back).unwrap();
                assert_eq!(back, bytes, "{len} bytes at {offset}, taken as always");
            }
        }
    }

    #[test]
    fn staged_bytes_outside_are_refused_and_nothing_is_stored() {
        let memory = Memory::anonymous(128);
        assert!(memory.copy_in_staged(64, &[1; 65]).is_err());
        assert!(memory.copy_in_staged(129, &[]).is_err());
        assert!(memory.copy_out_staged(64, &mut [0; 65]).is_err());
        let mut all = [1; 128];
        memory.copy_out_staged(0, &mut all).unwrap();
        assert_eq!(all, [0; 128]);
    }
}
