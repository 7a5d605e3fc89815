//! A piece of shared memory and the only ways to touch it.
//!
//! Other processes write here at any time. So there is never a reference to plain
//! data in it: whole words go through atomics, runs of bytes are copied in or out
//! through raw pointers. A copy that races with a peer's store yields bytes from
//! before or after it, in any mixture, and nothing worse: the other side of the
//! race is another process, and every bit pattern is a valid `u8`.

mod staged;

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use crate::error::TransportError;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// Keeps memory mapped. Dropped with the last [`Memory`] over it.
pub trait Backing: Send + Sync {
    /// The file behind the pages, and the offset of `address` in it. For code that maps parts of the
    /// file at another address as well. `None` if there is no file.
    fn file(&self, address: NonNull<u8>) -> Option<(BorrowedFd<'_>, u64)> {
        let _ = address;
        None
    }

    /// As [`Memory::give_back`], of the bytes from this address on, which it keeps mapped.
    fn give_back(&self, address: NonNull<u8>, len_bytes: usize) -> bool {
        let _ = (address, len_bytes);
        false
    }
}

/// `len_bytes` bytes of memory that others may write at any time.
///
/// Cloning is cheap and gives another handle to the same bytes.
#[derive(Clone)]
pub struct Memory {
    base: NonNull<u8>,
    len_bytes: usize,
    backing: Arc<dyn Backing>,
}

// SAFETY: the bytes are mapped for as long as `backing` lives, which is itself
// `Send + Sync`, and every access below is atomic or a raw copy that tolerates
// concurrent writers (see the module text).
unsafe impl Send for Memory {}
// SAFETY: every access through a shared `Memory` is atomic, or a raw copy that tolerates concurrent
// writers.
unsafe impl Sync for Memory {}

impl Memory {
    /// Memory over a mapping.
    ///
    /// # Safety
    /// `base .. base + len_bytes` must be readable and writable for as long as
    /// `backing` lives, and no Rust reference to plain data may point into it.
    pub unsafe fn new(base: NonNull<u8>, len_bytes: usize, backing: Arc<dyn Backing>) -> Self {
        debug_assert!(isize::try_from(len_bytes).is_ok());
        Self {
            base,
            len_bytes,
            backing,
        }
    }

    /// Zeroed memory of this process alone, for tests, for jobs of one thread each and for
    /// simulated PEs. Pages are allocated on first touch.
    ///
    /// # Panics
    /// With more bytes than an allocation may have. Aborts if there is no memory.
    pub fn anonymous(len_bytes: usize) -> Self {
        let zeroed = Zeroed::new(len_bytes);
        let to_line = zeroed.start.align_offset(64);
        // SAFETY: `Zeroed` has 63 bytes more than asked for.
        let base = unsafe { zeroed.start.add(to_line) };
        // SAFETY: aligned to 64 bytes, `len_bytes` long, alive while `zeroed` is, which
        // gives nobody a reference.
        unsafe { Self::new(base, len_bytes, Arc::new(zeroed)) }
    }

    /// A handle to `len` bytes at `offset_bytes`, a multiple of 64, alone.
    pub fn part(&self, offset_bytes: usize, len: usize) -> Result<Self, TransportError> {
        let at = self.range(offset_bytes, len)?;
        if !is_aligned(at, 64) {
            return Err(misaligned(offset_bytes, 64));
        }
        Ok(Self {
            // SAFETY: `range` gives addresses inside a non-null allocation.
            base: unsafe { NonNull::new_unchecked(at) },
            len_bytes: len,
            backing: Arc::clone(&self.backing),
        })
    }

    /// Whether the byte at `offset_bytes` lies at an address that is a multiple of `align_bytes`.
    #[inline(always)]
    pub fn is_aligned(&self, offset_bytes: usize, align_bytes: usize) -> bool {
        (self.base.addr().get().wrapping_add(offset_bytes)).is_multiple_of(align_bytes)
    }

    /// Bytes there are.
    #[inline(always)]
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// The first byte. Dereferencing it is the caller's responsibility; the memory
    /// stays mapped while this handle or a clone lives.
    #[inline(always)]
    pub fn base(&self) -> NonNull<u8> {
        self.base
    }

    /// The file behind it, and the offset of the first byte in the file. `None` if there is no file.
    pub fn file(&self) -> Option<(BorrowedFd<'_>, u64)> {
        self.backing.file(self.base)
    }

    /// Gives the pages of these bytes back to the kernel, in all processes that map them. From then on the bytes are 0, and each page
    /// is allocated when it is next touched. A store that comes meanwhile may be lost. False, and nothing has changed, where that is not
    /// possible; with 0 bytes nothing changes either.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if the bytes do not lie in this memory.
    pub fn give_back(&self, offset_bytes: usize, len: usize) -> Result<bool, TransportError> {
        let at = self.range(offset_bytes, len)?;
        let at = NonNull::new(at);
        Ok(at.is_some_and(|at| self.backing.give_back(at, len)))
    }

    /// The address of `len_bytes` bytes at `offset_bytes`.
    #[inline(always)]
    pub fn range(&self, offset_bytes: usize, len: usize) -> Result<*mut u8, TransportError> {
        if offset_bytes <= self.len_bytes && len <= self.len_bytes - offset_bytes {
            // SAFETY: just checked to lie inside the allocation or one past its end.
            Ok(unsafe { self.base.as_ptr().add(offset_bytes) })
        } else {
            Err(self.out_of_range(offset_bytes, len))
        }
    }

    /// Copies `src` to `offset_bytes`.
    ///
    /// An aligned source of 4 or 8 bytes is stored in one piece, so that a peer
    /// that waits on the word never sees half of it. Longer runs have no order.
    #[inline(always)]
    pub fn copy_in(&self, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        let at = self.range(offset_bytes, src.len())?;
        if let Ok(word) = <[u8; 8]>::try_from(src)
            && is_aligned(at, 8)
        {
            self.word(offset_bytes)?
                .store(u64::from_ne_bytes(word), Ordering::Relaxed);
        } else if let Ok(word) = <[u8; 4]>::try_from(src)
            && is_aligned(at, 4)
        {
            self.half(offset_bytes)?
                .store(u32::from_ne_bytes(word), Ordering::Relaxed);
        } else {
            #[cfg(memory_model)]
            if crate::model::door::store_bytes(at.addr(), src) {
                return Ok(());
            }
            // SAFETY: `at` is valid for `src.len()` bytes of writes (checked by
            // `range`), and `src` is a Rust slice, so it cannot overlap memory to
            // which no reference exists.
            unsafe { core::ptr::copy_nonoverlapping(src.as_ptr(), at, src.len()) }
        }
        Ok(())
    }

    /// Stores whole lines at a multiple of 64, in order. The first word of each line, which may be its
    /// header, is stored last. Returns false and stores nothing if there is no such place.
    #[cfg(not(any(loom, memory_model)))]
    pub fn copy_in_lines(&self, offset_bytes: usize, lines: &[[u8; 64]]) -> bool {
        let Ok(first) = self.range(offset_bytes, lines.as_flattened().len()) else {
            return false;
        };
        if !is_aligned(first, 64) {
            return false;
        }
        for (number, line) in lines.iter().enumerate() {
            let Some((word, behind)) = line.split_first_chunk::<8>() else {
                return false;
            };
            // SAFETY: a line of those that `range` has checked to lie within the memory.
            let at = unsafe { first.add(number * 64) };
            crate::sync::fence(Ordering::Release);
            // SAFETY: within that line.
            let second = unsafe { at.add(8) };
            // SAFETY: the 56 bytes behind the first word of that line; `behind` is a Rust slice of as
            // many, so it cannot overlap memory to which no reference exists.
            unsafe { core::ptr::copy_nonoverlapping(behind.as_ptr(), second, 56) };
            // SAFETY: aligned to 64 bytes and within the memory, which lives as long as `self`; nobody
            // has a reference to plain data in it.
            let header = unsafe { AtomicU64::from_ptr(at.cast()) };
            header.store(u64::from_ne_bytes(*word), Ordering::Release);
        }
        true
    }

    /// Copies bytes at `offset_bytes` to `dst`. Aligned 4 and 8 bytes come in one piece.
    #[inline(always)]
    pub fn copy_out(&self, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        let at = self.range(offset_bytes, dst.len())?;
        if dst.len() == 8 && is_aligned(at, 8) {
            let word = self.word(offset_bytes)?.load(Ordering::Relaxed);
            dst.copy_from_slice(&word.to_ne_bytes());
        } else if dst.len() == 4 && is_aligned(at, 4) {
            let half = self.half(offset_bytes)?.load(Ordering::Relaxed);
            dst.copy_from_slice(&half.to_ne_bytes());
        } else {
            #[cfg(memory_model)]
            if crate::model::door::load_bytes(at.addr(), dst) {
                return Ok(());
            }
            // SAFETY: `at` is valid for `dst.len()` bytes of reads, and `dst` is a
            // Rust slice, so it cannot overlap memory to which no reference exists.
            unsafe { core::ptr::copy_nonoverlapping(at, dst.as_mut_ptr(), dst.len()) }
        }
        Ok(())
    }

    /// Copies `len` bytes of `from`, at `from_offset_bytes`, to `offset_bytes` here.
    /// The two ranges may overlap.
    #[inline(always)]
    pub fn copy_from(
        &self,
        offset_bytes: usize,
        from: &Memory,
        from_offset_bytes: usize,
        len: usize,
    ) -> Result<(), TransportError> {
        let dst = self.range(offset_bytes, len)?;
        let src = from.range(from_offset_bytes, len)?;
        #[cfg(memory_model)]
        {
            let mut bytes = vec![0; len];
            if crate::model::door::load_bytes(src.addr(), &mut bytes)
                && crate::model::door::store_bytes(dst.addr(), &bytes)
            {
                return Ok(());
            }
        }
        if len == 8 {
            // SAFETY: 8 bytes in a checked range, at any alignment.
            let word = unsafe { src.cast::<u64>().read_unaligned() };
            // SAFETY: as many in the other checked range.
            unsafe { dst.cast::<u64>().write_unaligned(word) };
        } else {
            // SAFETY: both ranges were checked, and `copy` allows them to overlap.
            unsafe { core::ptr::copy(src, dst, len) }
        }
        Ok(())
    }

    /// The 64-bit word at `offset_bytes`.
    #[inline(always)]
    pub fn word(&self, offset_bytes: usize) -> Result<&AtomicU64, TransportError> {
        let at = self.aligned(offset_bytes, 8)?;
        // SAFETY: in range, aligned, valid for any bits, mapped while `self` lives,
        // and shared only through atomics or raw copies.
        Ok(unsafe { &*at.cast::<AtomicU64>() })
    }

    /// The 32-bit word at `offset_bytes`.
    #[inline(always)]
    pub fn half(&self, offset_bytes: usize) -> Result<&AtomicU32, TransportError> {
        let at = self.aligned(offset_bytes, 4)?;
        // SAFETY: 4 bytes in range, aligned, valid for any bits, mapped while `self` lives, and shared
        // only through atomics or raw copies.
        Ok(unsafe { &*at.cast::<AtomicU32>() })
    }

    /// The eight words of the 64-byte line at `offset_bytes`.
    #[inline(always)]
    pub fn line(&self, offset_bytes: usize) -> Result<&[AtomicU64; 8], TransportError> {
        let at = self.aligned(offset_bytes, 64)?;
        // SAFETY: eight words in range, aligned, valid for any bits, mapped while `self` lives, and
        // shared only through atomics or raw copies.
        Ok(unsafe { &*at.cast::<[AtomicU64; 8]>() })
    }

    #[inline(always)]
    fn aligned(&self, offset_bytes: usize, bytes: usize) -> Result<*mut u8, TransportError> {
        let at = self.range(offset_bytes, bytes)?;
        if is_aligned(at, bytes) {
            Ok(at)
        } else {
            Err(misaligned(offset_bytes, bytes))
        }
    }

    #[cold]
    fn out_of_range(&self, offset_bytes: usize, len_bytes: usize) -> TransportError {
        TransportError::OutOfRange {
            offset_bytes,
            len_bytes,
            segment_bytes: self.len_bytes,
        }
    }
}

#[inline(always)]
fn is_aligned(at: *const u8, bytes: usize) -> bool {
    (at as usize).is_multiple_of(bytes)
}

#[cold]
fn misaligned(offset_bytes: usize, align_bytes: usize) -> TransportError {
    TransportError::Misaligned {
        offset_bytes,
        align_bytes,
    }
}

/// Owns zeroed bytes.
struct Zeroed {
    start: NonNull<u8>,
    layout: Layout,
}

impl Zeroed {
    /// `len_bytes` bytes, and some more so that they can begin at a multiple of 64. An aligned
    /// allocation would touch every page to zero it; `calloc` does not.
    fn new(len_bytes: usize) -> Self {
        let layout = len_bytes
            .checked_add(64)
            .and_then(|bytes| Layout::from_size_align(bytes, 8).ok())
            .expect("a segment that fits the address space");
        // SAFETY: at least 64 bytes.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) });
        let Some(start) = start else {
            handle_alloc_error(layout);
        };
        Self { start, layout }
    }
}

impl Drop for Zeroed {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout in `new`, and freed only here.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

impl Backing for Zeroed {}

// SAFETY: it owns the bytes and does nothing with them but free them.
unsafe impl Send for Zeroed {}
// SAFETY: nothing can be done with a shared one.
unsafe impl Sync for Zeroed {}

impl core::fmt::Debug for Memory {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Memory({} bytes at {:p})", self.len_bytes, self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked_at_both_ends_and_against_overflow() {
        let memory = Memory::anonymous(128);
        assert!(memory.range(0, 128).is_ok());
        assert!(memory.range(128, 0).is_ok());
        for (offset, len) in [
            (0, 129),
            (128, 1),
            (129, 0),
            (usize::MAX, 2),
            (2, usize::MAX),
        ] {
            assert_eq!(
                memory.range(offset, len),
                Err(TransportError::OutOfRange {
                    offset_bytes: offset,
                    len_bytes: len,
                    segment_bytes: 128
                })
            );
        }
    }

    #[test]
    fn anonymous_memory_is_zeroed_and_aligned() {
        for len in [0, 1, 64, 4097] {
            let memory = Memory::anonymous(len);
            assert_eq!(memory.base().as_ptr() as usize % 64, 0);
            let mut bytes = vec![1; len];
            memory.copy_out(0, &mut bytes).unwrap();
            assert!(bytes.iter().all(|byte| *byte == 0));
        }
    }

    #[test]
    fn words_need_their_alignment() {
        let memory = Memory::anonymous(128);
        assert!(memory.word(8).is_ok());
        assert!(memory.word(4).is_err());
        assert!(memory.half(4).is_ok());
        assert!(memory.line(32).is_err());
        assert!(memory.line(64).is_ok());
    }

    #[test]
    fn bytes_come_back_at_every_alignment_and_length() {
        let memory = Memory::anonymous(256);
        for offset in 0..24 {
            for len in 0..=100 {
                let src: Vec<u8> = (0..len).map(|i| (i * 7 + offset) as u8).collect();
                let mut dst = vec![0; len];
                memory.copy_in(offset, &src).unwrap();
                memory.copy_out(offset, &mut dst).unwrap();
                assert_eq!(src, dst);
            }
        }
    }

    #[test]
    fn overlapping_copies_keep_the_bytes() {
        let memory = Memory::anonymous(128);
        memory.copy_in(0, &[1, 2, 3, 4, 5]).unwrap();
        memory.copy_from(2, &memory, 0, 5).unwrap();
        let mut out = [0; 7];
        memory.copy_out(0, &mut out).unwrap();
        assert_eq!(out, [1, 2, 1, 2, 3, 4, 5]);
    }
}
