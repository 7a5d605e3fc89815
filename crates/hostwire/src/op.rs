//! Operations for reductions and scans, by name.
//!
//! ```
//! use hostwire::{Job, op};
//! # fn main() -> hostwire::Result<()> {
//! let job = Job::attach()?;
//! let mut most = [f64::from(job.pe())];
//! job.all_reduce(&mut most, op::max)?;
//! assert_eq!(most, [f64::from(job.pes() - 1)]);
//! job.finalize()
//! # }
//! ```
//!
//! Any function of two elements does as well, if it is associative.

use core::ops::{BitAnd, BitOr, BitXor};

/// Numbers that [`sum`] and [`product`] combine: integers wrap.
pub trait Number: Copy + PartialOrd {
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn times(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($plus:ident, $times:ident: $($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { <$type>::$plus(self, other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { <$type>::$times(self, other) }
        }
    )*};
}

numbers!(wrapping_add, wrapping_mul: u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

macro_rules! floats {
    ($($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { self + other }
            #[inline(always)]
            fn times(self, other: Self) -> Self { self * other }
        }
    )*};
}

floats!(f32 f64);

/// `a + b`. Integers wrap.
#[inline(always)]
pub fn sum<T: Number>(a: T, b: T) -> T {
    a.plus(b)
}

/// `a * b`. Integers wrap.
#[inline(always)]
pub fn product<T: Number>(a: T, b: T) -> T {
    a.times(b)
}

/// The lesser; of floats, `a` if one of them is no number.
#[inline(always)]
pub fn min<T: PartialOrd>(a: T, b: T) -> T {
    if b < a { b } else { a }
}

/// The greater; of floats, `a` if one of them is no number.
#[inline(always)]
pub fn max<T: PartialOrd>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// `a & b`.
#[inline(always)]
pub fn and<T: BitAnd<Output = T>>(a: T, b: T) -> T {
    a & b
}

/// `a | b`.
#[inline(always)]
pub fn or<T: BitOr<Output = T>>(a: T, b: T) -> T {
    a | b
}

/// `a ^ b`.
#[inline(always)]
pub fn xor<T: BitXor<Output = T>>(a: T, b: T) -> T {
    a ^ b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_do_what_they_are_called() {
        assert_eq!((sum(250_u8, 10), product(100_i8, 2)), (4, -56));
        assert_eq!((sum(0.5, 0.25), product(0.5_f32, 4.0)), (0.75, 2.0));
        assert_eq!((min(-1, 1), max(-1, 1)), (-1, 1));
        assert_eq!((min(1.5, f64::NAN), max(1.5, f64::NAN)), (1.5, 1.5));
        assert_eq!((and(6, 3), or(6, 3), xor(6, 3)), (2, 7, 5));
    }
}
