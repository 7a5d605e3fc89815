//! Copying bytes to and from memory that peers see.
//!
//! A word of 2, 4 or 8 bytes that is aligned there moves in one piece, because PEs wait
//! for such words. Short runs are a few vector moves in place: the call of `memcpy` would
//! cost more than they do.

// A block here is one move: a load and a store that are valid for the same reason.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use core::sync::atomic::{AtomicU16, Ordering::Relaxed};

/// 16 bytes, moved at once: the type that the compiler keeps in one register.
#[cfg(target_arch = "x86_64")]
type Vector = core::arch::x86_64::__m128i;
#[cfg(not(target_arch = "x86_64"))]
type Vector = [u64; 2];

/// Copies a word of 8 bytes, or of 4, to shared memory: in one piece if it is aligned there.
/// One instruction, without a look at the address.
///
/// # Safety
/// Both are valid for `len` bytes, which is 4 or 8; `to` is reached only by atomics and raw
/// copies.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn word_to_peer(to: *mut u8, from: *const u8, len: usize) {
    if len == 8 {
        // SAFETY: reads and stores the 8 bytes that the caller promises, aligned or not.
        unsafe {
            let word = from.cast::<u64>().read_unaligned();
            core::arch::asm!("mov qword ptr [{}], {}", in(reg) to, in(reg) word,
                options(nostack, preserves_flags));
        }
    } else {
        // SAFETY: as above, with 4 bytes.
        unsafe {
            let half = from.cast::<u32>().read_unaligned();
            core::arch::asm!("mov dword ptr [{}], {:e}", in(reg) to, in(reg) half,
                options(nostack, preserves_flags));
        }
    }
}

/// As [`word_to_peer`], the other way.
///
/// # Safety
/// As [`word_to_peer`], the other way.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn word_from_peer(to: *mut u8, from: *const u8, len: usize) {
    if len == 8 {
        let word: u64;
        // SAFETY: loads and writes the 8 bytes that the caller promises, aligned or not.
        unsafe {
            core::arch::asm!("mov {}, qword ptr [{}]", out(reg) word, in(reg) from,
                options(nostack, preserves_flags, readonly));
            to.cast::<u64>().write_unaligned(word);
        }
    } else {
        let half: u32;
        // SAFETY: as above, with 4 bytes.
        unsafe {
            core::arch::asm!("mov {:e}, dword ptr [{}]", out(reg) half, in(reg) from,
                options(nostack, preserves_flags, readonly));
            to.cast::<u32>().write_unaligned(half);
        }
    }
}

/// Copies a word of 8 bytes, or of 4, to shared memory: in one piece if it is aligned there.
///
/// # Safety
/// Both are valid for `len` bytes, which is 4 or 8; `to` is reached only by atomics and raw
/// copies.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) unsafe fn word_to_peer(to: *mut u8, from: *const u8, len: usize) {
    use core::sync::atomic::{AtomicU32, AtomicU64};
    // SAFETY: as the caller promises; an atomic only where it is aligned.
    unsafe {
        match len {
            8 if (to as usize).is_multiple_of(8) => {
                (*to.cast::<AtomicU64>()).store(from.cast::<u64>().read_unaligned(), Relaxed)
            }
            4 if (to as usize).is_multiple_of(4) => {
                (*to.cast::<AtomicU32>()).store(from.cast::<u32>().read_unaligned(), Relaxed)
            }
            _ => core::ptr::copy(from, to, len),
        }
    }
}

/// As [`word_to_peer`], the other way.
///
/// # Safety
/// As [`word_to_peer`], the other way.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) unsafe fn word_from_peer(to: *mut u8, from: *const u8, len: usize) {
    use core::sync::atomic::{AtomicU32, AtomicU64};
    // SAFETY: as the caller promises; an atomic only where it is aligned.
    unsafe {
        match len {
            8 if (from as usize).is_multiple_of(8) => {
                (to.cast::<u64>()).write_unaligned((*from.cast::<AtomicU64>()).load(Relaxed))
            }
            4 if (from as usize).is_multiple_of(4) => {
                (to.cast::<u32>()).write_unaligned((*from.cast::<AtomicU32>()).load(Relaxed))
            }
            _ => core::ptr::copy(from, to, len),
        }
    }
}

/// Copies `len` bytes of private memory to shared memory.
///
/// # Safety
/// Both are valid for `len` bytes, and `to` is reached only by atomics and raw copies.
#[inline(always)]
pub(crate) unsafe fn to_peer(to: *mut u8, from: *const u8, len: usize) {
    match len {
        // SAFETY: as the caller promises.
        8 | 4 => unsafe { word_to_peer(to, from, len) },
        2 if (to as usize).is_multiple_of(2) => {
            // SAFETY: valid and, as just seen, aligned.
            let word = unsafe { &*to.cast::<AtomicU16>() };
            // SAFETY: 2 bytes, as the caller promises.
            word.store(unsafe { from.cast::<u16>().read_unaligned() }, Relaxed);
        }
        // SAFETY: as the caller promises.
        _ => unsafe { run(to, from, len) },
    }
}

/// Copies `len` bytes of shared memory to private memory.
///
/// # Safety
/// As [`to_peer`], the other way.
#[inline(always)]
pub(crate) unsafe fn from_peer(to: *mut u8, from: *const u8, len: usize) {
    match len {
        // SAFETY: as the caller promises.
        8 | 4 => unsafe { word_from_peer(to, from, len) },
        2 if (from as usize).is_multiple_of(2) => {
            // SAFETY: valid and, as just seen, aligned.
            let word = unsafe { &*from.cast::<AtomicU16>() };
            // SAFETY: 2 bytes, as the caller promises.
            unsafe { to.cast::<u16>().write_unaligned(word.load(Relaxed)) };
        }
        // SAFETY: as the caller promises.
        _ => unsafe { run(to, from, len) },
    }
}

/// Copies 16 to 64 bytes: two or four vectors that may overlap, all loaded before any is
/// stored.
///
/// # Safety
/// Both are valid for `len` bytes, and it is 16 to 64.
#[inline(always)]
pub(crate) unsafe fn vectors(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the offsets are in the `len` bytes of both.
    unsafe {
        let last = len - 16;
        let a = from.cast::<Vector>().read_unaligned();
        let d = from.add(last).cast::<Vector>().read_unaligned();
        if len > 32 {
            let b = from.add(16).cast::<Vector>().read_unaligned();
            let c = from.add(last - 16).cast::<Vector>().read_unaligned();
            to.add(16).cast::<Vector>().write_unaligned(b);
            to.add(last - 16).cast::<Vector>().write_unaligned(c);
        }
        to.cast::<Vector>().write_unaligned(a);
        to.add(last).cast::<Vector>().write_unaligned(d);
    }
}

/// Copies a run of bytes. The two may be the same, or overlap.
///
/// # Safety
/// Both are valid for `len` bytes.
#[inline(always)]
pub(crate) unsafe fn run(to: *mut u8, from: *const u8, len: usize) {
    if (16..=64).contains(&len) {
        // SAFETY: as the caller promises.
        unsafe { vectors(to, from, len) }
    } else {
        // SAFETY: as the caller promises.
        unsafe { core::ptr::copy(from, to, len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_alignment_arrives_whole() {
        let source: Vec<u8> = (0..200).map(|i| i as u8 ^ 0x5a).collect();
        for len in 0..150 {
            for (skip, place) in [(0, 0), (1, 3), (8, 16), (3, 8), (4, 4)] {
                let mut there = vec![0u8; 200];
                let mut back = vec![0u8; len];
                // SAFETY: 200 bytes at each, of which at most 16 + 150 are used.
                unsafe {
                    to_peer(
                        there.as_mut_ptr().add(place),
                        source.as_ptr().add(skip),
                        len,
                    )
                };
                assert_eq!(there[place..place + len], source[skip..skip + len]);
                assert!(there[place + len..].iter().all(|byte| *byte == 0));
                // SAFETY: as above; `back` has `len` bytes.
                unsafe { from_peer(back.as_mut_ptr(), there.as_ptr().add(place), len) };
                assert_eq!(back, source[skip..skip + len]);
            }
        }
    }
}
