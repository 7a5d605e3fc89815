//! Elements that are combined with others. They are private, or in shared memory, where each is
//! read in place and only once.

use core::marker::PhantomData;

use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes};

/// Bytes that are read as elements of some type, at any alignment. In shared memory a peer may
/// store meanwhile. An element may then be a mixture of old and new bytes, which is still a
/// valid value.
#[derive(Debug, Clone, Copy)]
pub struct Values<'a> {
    at: *const u8,
    len_bytes: usize,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Values<'a> {
    /// Those in private memory.
    #[inline(always)]
    pub fn private(bytes: &'a [u8]) -> Self {
        Self {
            at: bytes.as_ptr(),
            len_bytes: bytes.len(),
            bytes: PhantomData,
        }
    }

    /// Those in shared memory.
    ///
    /// # Safety
    /// `len_bytes` bytes at `at` can be read for as long as `'a`, and no Rust reference to
    /// plain data points there.
    #[cfg(not(memory_model))]
    #[inline(always)]
    pub(crate) unsafe fn shared(at: *const u8, len_bytes: usize) -> Self {
        Self {
            at,
            len_bytes,
            bytes: PhantomData,
        }
    }

    /// Their bytes.
    #[inline(always)]
    pub fn len_bytes(&self) -> usize {
        self.len_bytes
    }

    /// Copies bytes to `into`, as many as fit both.
    #[inline]
    pub fn copy_to(&self, into: &mut [u8]) {
        self.copy_from(0, into);
    }

    /// Copies those from byte `at` on.
    #[inline]
    fn copy_from(&self, at: usize, into: &mut [u8]) {
        let len = self.len_bytes.saturating_sub(at).min(into.len());
        // `at` may be beyond the end; then nothing is read.
        let from = self.at.wrapping_add(at);
        // SAFETY: both have `len` bytes: `self` by how it was made, for as long as `'a`. `into`
        // is a Rust slice, which neither shared memory nor another slice overlaps.
        unsafe { core::ptr::copy_nonoverlapping(from, into.as_mut_ptr(), len) }
    }

    /// As [`combine`](Self::combine), several elements at a time: `combine` gets elements of
    /// `sum`, which it changes, and as many elements of these values. Both are aligned.
    pub fn combine_some<T: FromBytes + IntoBytes + Immutable>(
        &self,
        sum: &mut [u8],
        combine: impl Fn(&mut [T], &[T]),
    ) {
        const SOME: usize = 32;
        let (mut before, mut values) = (<[T; SOME]>::new_zeroed(), <[T; SOME]>::new_zeroed());
        let len = self.len_bytes.min(sum.len());
        let step = size_of::<[T; SOME]>().max(1);
        for (turn, sum) in sum[..len].chunks_mut(step).enumerate() {
            let count = sum.len().checked_div(size_of::<T>()).unwrap_or(0);
            let bytes = count * size_of::<T>();
            before.as_mut_bytes()[..bytes].copy_from_slice(&sum[..bytes]);
            self.copy_from(turn * step, &mut values.as_mut_bytes()[..bytes]);
            combine(&mut before[..count], &values[..count]);
            sum[..bytes].copy_from_slice(&before.as_bytes()[..bytes]);
        }
    }

    /// Sets each element of `sum` to `combine` of itself and the element here, for as many
    /// elements as both have.
    #[inline]
    pub fn combine<T: FromBytes + IntoBytes + Immutable>(
        &self,
        sum: &mut [u8],
        combine: impl Fn(T, T) -> T,
    ) {
        let len = self.len_bytes.min(sum.len());
        let count = len.checked_div(size_of::<T>()).unwrap_or(0);
        let (to, from) = (sum.as_mut_ptr().cast::<T>(), self.at.cast::<T>());
        for index in 0..count {
            // SAFETY: `index` is below the number of whole elements in the slice, and any bytes
            // are a `T`, at any alignment here.
            let before = unsafe { to.wrapping_add(index).read_unaligned() };
            // SAFETY: as many elements are readable here, by how `self` was made.
            let value = unsafe { from.wrapping_add(index).read_unaligned() };
            let after = combine(before, value);
            // SAFETY: the same element as was read; a `T` has no padding, so all bytes of the
            // slice stay initialised.
            unsafe { to.wrapping_add(index).write_unaligned(after) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_combined_at_any_alignment() {
        let bytes: Vec<u8> = (1..=20).collect();
        for at in 0..8 {
            let mut sum = [1u8; 9];
            let values = Values::private(&bytes[at..at + 8]);
            values.combine::<u32>(&mut sum[1..], u32::wrapping_add);
            let expected: Vec<u8> = bytes[at..at + 8].iter().map(|byte| byte + 1).collect();
            assert_eq!((sum[0], &sum[1..]), (1, &expected[..]));
        }
    }

    #[test]
    fn some_at_a_time_are_as_many_as_one_by_one() {
        for count in [0, 1, 31, 32, 33, 100] {
            let bytes: Vec<u8> = (0..count * 2 + 1).map(|byte| byte as u8).collect();
            let (mut one, mut some) = (vec![3; count * 2 + 1], vec![3; count * 2 + 1]);
            Values::private(&bytes).combine::<u16>(&mut one, u16::wrapping_mul);
            Values::private(&bytes).combine_some::<u16>(&mut some, |sum, values| {
                for (sum, value) in sum.iter_mut().zip(values) {
                    *sum = sum.wrapping_mul(*value);
                }
            });
            assert_eq!(one, some);
        }
    }

    #[test]
    fn what_only_one_side_has_is_left_alone() {
        let mut sum = [10u8, 20, 30];
        Values::private(&[1, 2]).combine::<u8>(&mut sum, |a, b| a - b);
        assert_eq!(sum, [9, 18, 30]);
        Values::private(&[1, 2, 3, 4, 5]).combine::<u16>(&mut sum, |_, b| b);
        assert_eq!(sum, [1, 2, 30]);
        Values::private(&[7; 5]).combine::<()>(&mut sum, |_, ()| ());
        Values::private(&[7; 2]).copy_to(&mut sum);
        assert_eq!(sum, [7, 7, 30]);
    }
}
