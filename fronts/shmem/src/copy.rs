//! Copying bytes to and from memory that peers see.
//!
//! A word of 2, 4 or 8 bytes that is aligned there moves in one piece, because PEs wait
//! for such words. Short runs are a few vector moves in place: the call of `memcpy` would
//! cost more than they do.

// A block here is one move: a load and a store that are valid for the same reason.
#![allow(clippy::multiple_unsafe_ops_per_block)]

use core::sync::atomic::{AtomicU16, AtomicUsize, Ordering::Relaxed};

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
        // SAFETY: `len` is 4: reads and stores the 4 bytes that the caller promises, aligned or not.
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
/// Both are valid for `len` bytes, which is 4 or 8; `from` is reached only by atomics and raw
/// copies.
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
        // SAFETY: `len` is 4: loads and writes the 4 bytes that the caller promises, aligned or not.
        unsafe {
            core::arch::asm!("mov {:e}, dword ptr [{}]", out(reg) half, in(reg) from,
                options(nostack, preserves_flags, readonly));
            to.cast::<u32>().write_unaligned(half);
        }
    }
}

/// As on x86-64: one instruction, without a look at the address.
///
/// # Safety
/// Both are valid for `len` bytes, which is 4 or 8; `to` is reached only by atomics and raw
/// copies.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) unsafe fn word_to_peer(to: *mut u8, from: *const u8, len: usize) {
    if len == 8 {
        // SAFETY: reads and stores the 8 bytes that the caller promises, aligned or not.
        unsafe {
            let word = from.cast::<u64>().read_unaligned();
            core::arch::asm!("str {:x}, [{}]", in(reg) word, in(reg) to,
                options(nostack, preserves_flags));
        }
    } else {
        // SAFETY: `len` is 4: reads and stores the 4 bytes that the caller promises, aligned or not.
        unsafe {
            let half = from.cast::<u32>().read_unaligned();
            core::arch::asm!("str {:w}, [{}]", in(reg) half, in(reg) to,
                options(nostack, preserves_flags));
        }
    }
}

/// As [`word_to_peer`], the other way.
///
/// # Safety
/// Both are valid for `len` bytes, which is 4 or 8; `from` is reached only by atomics and raw
/// copies.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(crate) unsafe fn word_from_peer(to: *mut u8, from: *const u8, len: usize) {
    if len == 8 {
        let word: u64;
        // SAFETY: loads and writes the 8 bytes that the caller promises, aligned or not.
        unsafe {
            core::arch::asm!("ldr {:x}, [{}]", out(reg) word, in(reg) from,
                options(nostack, preserves_flags, readonly));
            to.cast::<u64>().write_unaligned(word);
        }
    } else {
        let half: u32;
        // SAFETY: `len` is 4: loads and writes the 4 bytes that the caller promises, aligned or not.
        unsafe {
            core::arch::asm!("ldr {:w}, [{}]", out(reg) half, in(reg) from,
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
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(crate) unsafe fn word_to_peer(to: *mut u8, from: *const u8, len: usize) {
    use core::sync::atomic::{AtomicU32, AtomicU64};
    // SAFETY: `len` bytes at each, by the promise of the caller; an atomic only where `to` is aligned.
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
/// Both are valid for `len` bytes, which is 4 or 8; `from` is reached only by atomics and raw
/// copies.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
pub(crate) unsafe fn word_from_peer(to: *mut u8, from: *const u8, len: usize) {
    use core::sync::atomic::{AtomicU32, AtomicU64};
    // SAFETY: `len` bytes at each, by the promise of the caller; an atomic only where `from` is
    // aligned.
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
        // SAFETY: a word of 4 or 8 bytes, valid at both by the promise of the caller.
        8 | 4 => unsafe { word_to_peer(to, from, len) },
        2 if (to as usize).is_multiple_of(2) => {
            // SAFETY: 2 bytes by the promise of the caller, which only atomics and raw copies reach;
            // aligned, as just seen.
            let word = unsafe { &*to.cast::<AtomicU16>() };
            // SAFETY: the caller promises 2 bytes at `from`; they need not be aligned.
            word.store(unsafe { from.cast::<u16>().read_unaligned() }, Relaxed);
        }
        // SAFETY: the caller promises `len` bytes at each.
        _ => unsafe { run(to, from, len) },
    }
}

/// Copies `len` bytes of shared memory to private memory.
///
/// # Safety
/// Both are valid for `len` bytes, and `from` is reached only by atomics and raw copies.
#[inline(always)]
pub(crate) unsafe fn from_peer(to: *mut u8, from: *const u8, len: usize) {
    match len {
        // SAFETY: a word of 4 or 8 bytes, valid at both by the promise of the caller.
        8 | 4 => unsafe { word_from_peer(to, from, len) },
        2 if (from as usize).is_multiple_of(2) => {
            // SAFETY: 2 bytes by the promise of the caller, which only atomics and raw copies reach;
            // aligned, as just seen.
            let word = unsafe { &*from.cast::<AtomicU16>() };
            // SAFETY: the caller promises room for 2 bytes at `to`, which need not be aligned.
            unsafe { to.cast::<u16>().write_unaligned(word.load(Relaxed)) };
        }
        // SAFETY: the caller promises `len` bytes at each.
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

/// The number of lengths for [`wide`], from the first one on: 0 if the processor does not
/// have the instructions.
static WIDE_LENGTHS: AtomicUsize = AtomicUsize::new(0);
const WIDE_LEAST: usize = 65;
const WIDE_MOST: usize = 256;

/// Whether `len` bytes are for [`wide`].
#[inline(always)]
pub(crate) fn is_wide(len: usize) -> bool {
    len.wrapping_sub(WIDE_LEAST) < WIDE_LENGTHS.load(Relaxed)
}

/// Looks what this processor has.
pub(crate) fn detect() {
    if has_wide() {
        WIDE_LENGTHS.store(WIDE_MOST + 1 - WIDE_LEAST, Relaxed);
    }
}

#[cfg(target_arch = "x86_64")]
fn has_wide() -> bool {
    std::arch::is_x86_feature_detected!("avx")
}

/// Arm has no wider vectors that every processor has, and its C libraries pick their `memmove` by processor.
#[cfg(not(target_arch = "x86_64"))]
fn has_wide() -> bool {
    false
}

/// Copies 65 to 256 bytes: four or eight vectors of 32 bytes that may overlap, all loaded
/// before any is stored. In place, since a library that calls `memcpy` is two calls.
///
/// # Safety
/// Both are valid for `len` bytes, and [`is_wide`] has said yes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) unsafe fn wide(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the offsets are in the `len` bytes of both; the processor has the instructions.
    unsafe {
        core::arch::asm!(
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + 32]",
            "vmovdqu ymm2, [{from} + {len} - 64]",
            "vmovdqu ymm3, [{from} + {len} - 32]",
            "cmp {len}, 128",
            "jbe 2f",
            "vmovdqu ymm4, [{from} + 64]",
            "vmovdqu ymm5, [{from} + 96]",
            "vmovdqu ymm6, [{from} + {len} - 128]",
            "vmovdqu ymm7, [{from} + {len} - 96]",
            "vmovdqu [{to} + 64], ymm4",
            "vmovdqu [{to} + 96], ymm5",
            "vmovdqu [{to} + {len} - 128], ymm6",
            "vmovdqu [{to} + {len} - 96], ymm7",
            "2:",
            "vmovdqu [{to}], ymm0",
            "vmovdqu [{to} + 32], ymm1",
            "vmovdqu [{to} + {len} - 64], ymm2",
            "vmovdqu [{to} + {len} - 32], ymm3",
            "vzeroupper",
            to = in(reg) to,
            from = in(reg) from,
            len = in(reg) len,
            // `vzeroupper` takes the upper parts of all sixteen, not only of those used here.
            // (It leaves zmm16 to zmm31 and the masks as they are.)
            out("ymm0") _,
            out("ymm1") _,
            out("ymm2") _,
            out("ymm3") _,
            out("ymm4") _,
            out("ymm5") _,
            out("ymm6") _,
            out("ymm7") _,
            out("ymm8") _,
            out("ymm9") _,
            out("ymm10") _,
            out("ymm11") _,
            out("ymm12") _,
            out("ymm13") _,
            out("ymm14") _,
            out("ymm15") _,
            options(nostack),
        );
    }
}

/// There are no such vectors here: not called.
///
/// # Safety
/// Both are valid for `len` bytes.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(crate) unsafe fn wide(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller promises `len` bytes at each.
    unsafe { run(to, from, len) }
}

/// Copies a run of bytes. The two may be the same, or overlap.
///
/// # Safety
/// Both are valid for `len` bytes.
#[inline(always)]
pub(crate) unsafe fn run(to: *mut u8, from: *const u8, len: usize) {
    if (16..=64).contains(&len) {
        // SAFETY: the caller promises `len` bytes at each, and they are 16 to 64.
        unsafe { vectors(to, from, len) }
    } else {
        // SAFETY: the caller promises `len` bytes at each; they may overlap.
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
                // SAFETY: 200 bytes are at `there`, of which at most 16 + 150 are used; `back` has
                // `len` bytes.
                unsafe { from_peer(back.as_mut_ptr(), there.as_ptr().add(place), len) };
                assert_eq!(back, source[skip..skip + len]);
            }
        }
    }

    #[test]
    fn wide_copies_are_whole_and_may_overlap() {
        detect();
        let source: Vec<u8> = (0..400).map(|i| (i * 7 % 251) as u8).collect();
        for len in (0..1000).filter(|len| is_wide(*len)) {
            for (from, to) in [(0, 0), (0, 9), (40, 3), (1, 130), (140, 0)] {
                let mut memory = source.clone();
                let start = memory.as_mut_ptr();
                // SAFETY: 400 bytes, of which at most 140 + 256 are used.
                unsafe { wide(start.add(to), start.add(from), len) };
                let mut expected = source.clone();
                expected.copy_within(from..from + len, to);
                assert_eq!(memory, expected, "{len} bytes from {from} to {to}");
            }
        }
    }
}
