//! The operators of reductions and scans.

use core::ffi::c_int;

use hostwire::core::{Combine, Operands, Operator};
use hostwire::op;
use hostwire_transport::Values;

use crate::element::{ComplexF32, ComplexF64, Element, LongDouble};

/// Bitwise and.
pub enum And {}
/// Bitwise or.
pub enum Or {}
/// Bitwise exclusive or.
pub enum Xor {}
/// The smaller one.
pub enum Min {}
/// The larger one.
pub enum Max {}
/// The sum. Integers wrap.
pub enum Sum {}
/// The product. Integers wrap.
pub enum Prod {}

/// Values that `Op` combines.
pub trait Reduce<Op>: Element {
    /// `Op`, for other PEs to compare.
    const OPERATOR: Operator;

    /// `sum[i] = sum[i] Op values[i]` for all elements of both.
    fn combine(sum: &mut [u8], values: Values<'_>);
}

/// What combines elements `T` by `Op`.
pub(crate) fn combine<Op: 'static, T: Reduce<Op>>() -> Combine<'static> {
    Combine {
        function: &T::combine,
        element_bytes: size_of::<T>(),
        operands: Operands::of::<T>().by(T::OPERATOR),
    }
}

macro_rules! combine {
    ($op:ident: $($type:ty)*, |$a:ident, $b:ident| $result:expr) => { $(
        impl Reduce<$op> for $type {
            const OPERATOR: Operator = Operator::$op;

            #[inline]
            fn combine(sum: &mut [u8], values: Values<'_>) {
                values.combine(sum, |$a: Self, $b: Self| $result);
            }
        }
    )* };
}

combine! { And: i8 i16 i32 i64 u8 u16 u32 u64 usize, |a, b| a & b }
combine! { Or: i8 i16 i32 i64 u8 u16 u32 u64 usize, |a, b| a | b }
combine! { Xor: i8 i16 i32 i64 u8 u16 u32 u64 usize, |a, b| a ^ b }
combine! { Min: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64, |a, b| op::min(a, b) }
combine! { Max: i8 i16 i32 i64 isize u8 u16 u32 u64 usize f32 f64, |a, b| op::max(a, b) }
combine! { Sum: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, b| a.wrapping_add(b) }
combine! { Prod: i8 i16 i32 i64 isize u8 u16 u32 u64 usize, |a, b| a.wrapping_mul(b) }
combine! { Sum: f32 f64, |a, b| a + b }
combine! { Prod: f32 f64, |a, b| a * b }
combine! { Sum: ComplexF32 ComplexF64, |a, b| Self { re: a.re + b.re, im: a.im + b.im } }
combine! { Prod: ComplexF32 ComplexF64, |a, b| Self {
    re: a.re * b.re - a.im * b.im,
    im: a.re * b.im + a.im * b.re,
} }

unsafe extern "C" {
    /// In the C file: `dest[i] = a[i] op b[i]`; 0 to 3 are min, max, sum and product.
    fn hostwire_longdouble_reduce(
        op: c_int,
        dest: *mut LongDouble,
        a: *const LongDouble,
        b: *const LongDouble,
        n: usize,
    );
}

macro_rules! combine_in_c {
    ($($op:ident: $code:expr),*) => { $(
        impl Reduce<$op> for LongDouble {
            const OPERATOR: Operator = Operator::$op;

            fn combine(sum: &mut [u8], values: Values<'_>) {
                values.combine_some(sum, |sum: &mut [Self], values| {
                    let (at, n) = (sum.as_mut_ptr(), sum.len().min(values.len()));
                    // SAFETY: both slices have `n` elements, aligned as their type says; C
                    // reads element `i` of both before it writes that of the first.
                    unsafe { hostwire_longdouble_reduce($code, at, at, values.as_ptr(), n) }
                });
            }
        }
    )* };
}
combine_in_c! { Min: 0, Max: 1, Sum: 2, Prod: 3 }

#[cfg(test)]
mod tests {
    use hostwire::IntoBytes;

    use super::*;

    fn combine<Op, T: Reduce<Op>>(a: &[T], b: &[T]) -> Vec<T> {
        let mut result = a.to_vec();
        T::combine(result.as_mut_bytes(), Values::private(b.as_bytes()));
        result
    }

    #[test]
    fn every_operation_does_what_it_says() {
        let (a, b) = ([0b1100u8, 200], [0b1010u8, 100]);
        assert_eq!(combine::<And, _>(&a, &b), [0b1000, 200 & 100]);
        assert_eq!(combine::<Or, _>(&a, &b), [0b1110, 200 | 100]);
        assert_eq!(combine::<Xor, _>(&a, &b), [0b0110, 200 ^ 100]);
        assert_eq!(combine::<Min, _>(&a, &b), [0b1010, 100]);
        assert_eq!(combine::<Max, _>(&a, &b), [0b1100, 200]);
        assert_eq!(combine::<Sum, _>(&a, &b), [22, 44]);
        assert_eq!(combine::<Prod, _>(&a, &b), [120, 32]);
        assert_eq!(combine::<Sum, _>(&[1.5f64], &[2.0]), [3.5]);
        let least = combine::<Min, _>(&[1.5f64, 0.0], &[f64::NAN, -0.0]);
        assert!(least[0].is_nan() && least[1].is_sign_negative());
        let i = ComplexF64 { re: 0.0, im: 1.0 };
        assert_eq!(
            combine::<Prod, _>(&[i], &[i]),
            [ComplexF64 { re: -1.0, im: 0.0 }]
        );
    }
}
