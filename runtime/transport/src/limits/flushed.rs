//! Memory without cache coherence: stores and loads with the minimum of flushes, and nothing else.

use core::hint::black_box;

use crate::error::TransportError;
use crate::flush::{Flush, lines};
use crate::memory::Memory;
use crate::visibility::{LINE_BYTES, Visibility, device_full_fence};

/// Stores go to so many places in turn.
const PLACES: usize = 8;

/// `n` stores of `src` to 8 places in turn, from `offset_bytes` on. If `src` is longer than a
/// line, there is only one place. Partly stored lines are dropped first, and all lines are written
/// back. Returns when they have left.
///
/// # Errors
/// [`TransportError::OutOfRange`].
pub fn stores(to: &Memory, offset_bytes: usize, src: &[u8], n: u64) -> Result<(), TransportError> {
    let len = src.len();
    let places = if len > LINE_BYTES { 1 } else { PLACES };
    let base = to.range(offset_bytes, len * places)?;
    for i in 0..n as usize {
        let at = base.wrapping_add(i % places * len);
        if len < LINE_BYTES {
            lines(at, 1, Flush::BeforeStore);
        }
        let src = black_box(src);
        // SAFETY: `range` checked the bytes of all places at `base`; `src` is private memory of
        // that length.
        unsafe { core::ptr::copy_nonoverlapping(src.as_ptr(), at, len) }
        lines(at, len, Flush::WriteBack);
    }
    Visibility::Flushed.store_fence();
    Ok(())
}

/// `n` loads of `dst.len()` bytes from `offset_bytes` on. Each drops the lines first.
///
/// # Errors
/// [`TransportError::OutOfRange`].
pub fn loads(
    from: &Memory,
    offset_bytes: usize,
    dst: &mut [u8],
    n: u64,
) -> Result<(), TransportError> {
    let at = from.range(offset_bytes, dst.len())?;
    for _ in 0..n {
        lines(at, dst.len(), Flush::BeforeFence);
        device_full_fence();
        let dst = black_box(&mut *dst);
        // SAFETY: `range` checked that many bytes at `at`; `dst` is private memory.
        unsafe { core::ptr::copy_nonoverlapping(at, dst.as_mut_ptr(), dst.len()) }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded() {
        let memory = Memory::anonymous(8192);
        for len in [8, 64, 4096] {
            let src: Vec<u8> = (0..len).map(|at| (at * 7 + len) as u8).collect();
            let mut dst = vec![0; len];
            stores(&memory, 1024, &src, 9).unwrap();
            loads(&memory, 1024, &mut dst, 2).unwrap();
            assert_eq!(dst, src);
            assert!(stores(&memory, 8192, &src, 1).is_err());
            assert!(loads(&memory, 8192, &mut dst, 1).is_err());
        }
    }
}
