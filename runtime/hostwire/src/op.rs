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

/// Numbers that [`sum`], [`product`], [`min`] and [`max`] combine.
pub trait Number: Copy {
    #[doc(hidden)]
    fn plus(self, other: Self) -> Self;
    #[doc(hidden)]
    fn times(self, other: Self) -> Self;
    #[doc(hidden)]
    fn lesser(self, other: Self) -> Self;
    #[doc(hidden)]
    fn greater(self, other: Self) -> Self;
}

macro_rules! numbers {
    ($plus:ident, $times:ident: $($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn plus(self, other: Self) -> Self { <$type>::$plus(self, other) }
            #[inline(always)]
            fn times(self, other: Self) -> Self { <$type>::$times(self, other) }
            #[inline(always)]
            fn lesser(self, other: Self) -> Self { Ord::min(self, other) }
            #[inline(always)]
            fn greater(self, other: Self) -> Self { Ord::max(self, other) }
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
            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                let is_lesser = self < other || (self == other && self.is_sign_negative());
                if self.is_nan() || (is_lesser && !other.is_nan()) { self } else { other }
            }
            #[inline(always)]
            fn greater(self, other: Self) -> Self {
                let is_greater = self > other || (self == other && self.is_sign_positive());
                if self.is_nan() || (is_greater && !other.is_nan()) { self } else { other }
            }
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

/// The lesser. For floats this is `minimum` of IEEE 754-2019: a NaN if one of them is, and -0 is less than +0. So the
/// result does not depend on the order.
#[inline(always)]
pub fn min<T: Number>(a: T, b: T) -> T {
    a.lesser(b)
}

/// The greater. For floats this is `maximum` of IEEE 754-2019: a NaN if one of them is, and -0 is less than +0.
#[inline(always)]
pub fn max<T: Number>(a: T, b: T) -> T {
    a.greater(b)
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
        assert_eq!((and(6, 3), or(6, 3), xor(6, 3)), (2, 7, 5));
    }

    #[test]
    fn floats_have_a_least_and_a_greatest_whatever_the_order() {
        let ordered = [f64::NEG_INFINITY, -1.5, -0.0, 0.0, 1.5, f64::INFINITY];
        for (at, a) in ordered.into_iter().enumerate() {
            for b in ordered.into_iter().skip(at) {
                for (one, other) in [(a, b), (b, a)] {
                    assert_eq!(min(one, other).to_bits(), a.to_bits(), "{one} {other}");
                    assert_eq!(max(one, other).to_bits(), b.to_bits(), "{one} {other}");
                }
            }
            for (one, other) in [(a, f64::NAN), (f64::NAN, a)] {
                assert!(min(one, other).is_nan() && max(one, other).is_nan());
            }
        }
        assert!(min(1.5_f32, f32::NAN).is_nan() && max(f32::NAN, 1.5).is_nan());
    }
}
