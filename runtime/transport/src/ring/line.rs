//! A slot in coherent memory, and how its words are stored and loaded.

use super::{FRONT_WORDS, PAYLOAD_BYTES};
use crate::sync::{AtomicU64, Ordering};

/// A slot in coherent memory: the header, then the payload.
pub type PlainLine = [AtomicU64; 8];

/// Stores a line into coherent memory: the payload, then the header.
#[inline(always)]
pub(super) fn store(line: &PlainLine, header: u64, payload: &[u8]) {
    store_payload(line, payload);
    store_header(line, header);
}

#[inline(always)]
fn store_header(line: &PlainLine, header: u64) {
    line[0].store(header, order!("line: release", Ordering::Release));
}

/// Loads the header of a line, before its payload.
#[inline(always)]
pub(super) fn load_header(line: &PlainLine) -> u64 {
    line[0].load(order!("line at once: acquire", Ordering::Acquire))
}

/// Stores the payload of a line.
#[inline(always)]
pub(super) fn store_payload(line: &PlainLine, payload: &[u8]) {
    if let Ok(full) = <&[u8; PAYLOAD_BYTES]>::try_from(payload) {
        store_full_payload(line, full);
    } else if let Ok(word) = <[u8; 8]>::try_from(payload) {
        line[1].store(u64::from_ne_bytes(word), Ordering::Relaxed);
    } else {
        store_words(&line[1..], payload);
    }
}

/// Stores bytes into words, each with its least byte first; the last one may be filled up.
#[inline(always)]
fn store_words(line: &[AtomicU64], payload: &[u8]) {
    let (words, tail) = payload.as_chunks::<8>();
    let mut line = line.iter();
    for (bytes, word) in words.iter().zip(line.by_ref()) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
    if !tail.is_empty()
        && let Some(word) = line.next()
    {
        word.store(tail_word(tail).to_le(), Ordering::Relaxed);
    }
}

/// One to seven bytes as a word, the first one the least. Without a loop or a call: short messages then save no registers.
#[inline(always)]
fn tail_word(tail: &[u8]) -> u64 {
    let behind = |bytes: usize| 8 * (tail.len() - bytes) as u32;
    if let (Some(front), Some(back)) = (tail.first_chunk(), tail.last_chunk()) {
        u64::from(u32::from_le_bytes(*front)) | u64::from(u32::from_le_bytes(*back)) << behind(4)
    } else if let (Some(front), Some(back)) = (tail.first_chunk(), tail.last_chunk()) {
        u64::from(u16::from_le_bytes(*front)) | u64::from(u16::from_le_bytes(*back)) << behind(2)
    } else {
        tail.first().map_or(0, |byte| u64::from(*byte))
    }
}

/// Loads bytes out of words: the reverse of [`store_words`].
#[inline(always)]
fn load_words(line: &[AtomicU64], dst: &mut [u8]) {
    let (words, tail) = dst.as_chunks_mut::<8>();
    let mut line = line.iter();
    for (bytes, word) in words.iter_mut().zip(line.by_ref()) {
        *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
    }
    if !tail.is_empty()
        && let Some(word) = line.next()
    {
        store_tail(tail, u64::from_le(word.load(Ordering::Relaxed)));
    }
}

/// The reverse of [`tail_word`].
#[inline(always)]
fn store_tail(tail: &mut [u8], word: u64) {
    let len = tail.len();
    let behind = |bytes: usize| word >> (8 * (len - bytes) as u32);
    if len >= 4 {
        tail[..4].copy_from_slice(&(word as u32).to_le_bytes());
        tail[len - 4..].copy_from_slice(&(behind(4) as u32).to_le_bytes());
    } else if len >= 2 {
        tail[..2].copy_from_slice(&(word as u16).to_le_bytes());
        tail[len - 2..].copy_from_slice(&(behind(2) as u16).to_le_bytes());
    } else if let Some(byte) = tail.first_mut() {
        *byte = word as u8;
    }
}

/// A word and three 16-byte stores: fewer chances for the reader to take the line
/// away in the middle than with seven words (measured +15 % in messages/s).
#[cfg(all(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(any(miri, loom, memory_model))
))]
#[inline(always)]
fn store_full_payload(line: &PlainLine, payload: &[u8; PAYLOAD_BYTES]) {
    #[cfg(target_arch = "aarch64")]
    use core::arch::aarch64::{uint8x16_t as Vector, vld1q_u8, vst1q_u8};
    #[cfg(target_arch = "x86_64")]
    use core::arch::x86_64::{__m128i as Vector, _mm_loadu_si128, _mm_store_si128};
    let chunks = line.as_ptr().cast_mut().cast::<Vector>();
    for chunk in 1..4 {
        let src = &payload[16 * chunk - 8..][..16];
        // SAFETY: `src` is 16 bytes long, and the load needs no alignment.
        #[cfg(target_arch = "x86_64")]
        let value = unsafe { _mm_loadu_si128(src.as_ptr().cast()) };
        // SAFETY: `src` is 16 bytes long, and the load needs no alignment.
        #[cfg(target_arch = "aarch64")]
        let value = unsafe { vld1q_u8(src.as_ptr()) };
        let dst = chunks.wrapping_add(chunk);
        // SAFETY: chunks 1 to 3 of a 64-byte aligned line of 4 chunks, which lies behind
        // `UnsafeCell`s. Only this sender writes the slot, and its reader does not look
        // at the payload before the header, stored after it with release order.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            _mm_store_si128(dst, value)
        }
        // SAFETY: as above.
        #[cfg(target_arch = "aarch64")]
        unsafe {
            vst1q_u8(dst.cast(), value)
        }
    }
    let mut first = [0; 8];
    first.copy_from_slice(&payload[..8]);
    line[1].store(u64::from_ne_bytes(first), Ordering::Relaxed);
}

#[cfg(any(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    miri,
    loom,
    memory_model
))]
#[inline(always)]
fn store_full_payload(line: &PlainLine, payload: &[u8; PAYLOAD_BYTES]) {
    for (word, bytes) in line[1..].iter().zip(payload.as_chunks().0) {
        word.store(u64::from_ne_bytes(*bytes), Ordering::Relaxed);
    }
}

/// As [`store`], with words before the payload. Stores directly from both places. An assembled copy
/// of the line would be loaded in larger pieces than it was stored in. Such a load waits until all
/// earlier stores have left the core, also those of earlier lines to another core.
#[inline(always)]
pub(super) fn store_behind<const N: usize>(
    line: &PlainLine,
    header: u64,
    front: [u64; N],
    payload: &[u8],
) {
    for (word, value) in line[1..].iter().zip(front) {
        word.store(value.to_le(), Ordering::Relaxed);
    }
    store_words(&line[1 + N..], payload);
    store_header(line, header);
}

/// Loads the part of a line's payload after the front.
#[inline(always)]
pub(super) fn load_behind(line: &PlainLine, dst: &mut [u8]) {
    load_words(&line[1 + FRONT_WORDS..], dst);
}

/// Loads the front of a line's payload.
#[inline(always)]
pub(super) fn load(line: &PlainLine, dst: &mut [u8]) {
    if let Ok(bytes) = <&mut [u8; 8]>::try_from(&mut *dst) {
        *bytes = line[1].load(Ordering::Relaxed).to_ne_bytes();
        return;
    }
    if let Ok(full) = <&mut [u8; PAYLOAD_BYTES]>::try_from(&mut *dst) {
        for (bytes, word) in full.as_chunks_mut::<8>().0.iter_mut().zip(&line[1..]) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
        return;
    }
    load_words(&line[1..], dst);
}
