//! The types that OpenSHMEM routines move, change and combine.
//!
//! On the machines that hostwire runs on, several C types are one Rust type (`long` and
//! `long long` are both `i64`), so the generic routines are instantiated once for them.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use hostwire::{FromBytes, Immutable, IntoBytes};
use hostwire_transport::arrival::{half_changes, word_changes};

/// Types that can be moved: every bit pattern is a value, and there is no padding.
pub trait Element: FromBytes + IntoBytes + Immutable + Copy + Send + 'static {}

impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + 'static> Element for T {}

/// 128 bits that are only moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(C)]
pub struct Bits128(pub [u64; 2]);

/// A C `long double`. Rust has no such number: it is moved here, and combined by C.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, FromBytes, IntoBytes, Immutable)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(C, align(16))]
pub struct LongDouble(pub [u64; 2]);

/// A C `float _Complex`.
#[derive(Debug, Clone, Copy, PartialEq, Default, FromBytes, IntoBytes, Immutable)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(C)]
pub struct ComplexF32 {
    /// Real part.
    pub re: f32,
    /// Imaginary part.
    pub im: f32,
}

/// A C `double _Complex`.
#[derive(Debug, Clone, Copy, PartialEq, Default, FromBytes, IntoBytes, Immutable)]
#[zerocopy(crate = "hostwire::zerocopy")]
#[repr(C)]
pub struct ComplexF64 {
    /// Real part.
    pub re: f64,
    /// Imaginary part.
    pub im: f64,
}

/// The bits of an element of 4 or 8 bytes, in the lower end of a word.
pub trait Word: Element {
    /// The same number for types that are one C type, or have the same values: atomics of
    /// one are atomic with those of the other.
    const CLASS: u8;
    /// Its bits.
    fn to_bits(self) -> u64;
    /// The value with these bits; those above its size are ignored.
    fn from_bits(bits: u64) -> Self;
}

/// Types for atomics: the extended types of the specification.
pub trait Atomic: Word {}

/// Types for arithmetic and bitwise atomics.
pub trait AtomicInteger: Atomic {
    /// One.
    const ONE: Self;
}

macro_rules! words {
    ($($type:ty as $same:ty, $class:literal;)*) => { $(
        impl Word for $type {
            const CLASS: u8 = $class;
            #[inline(always)]
            fn to_bits(self) -> u64 {
                self as $same as u64
            }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self {
                bits as Self
            }
        }
    )* };
}
words! {
    i16 as u16, 0; u16 as u16, 1; i32 as u32, 2; u32 as u32, 3;
    i64 as u64, 4; u64 as u64, 5; isize as u64, 4; usize as u64, 5;
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl Atomic for $type {}
        impl AtomicInteger for $type {
            const ONE: Self = 1;
        }
    )* };
}
integers! { i32 u32 i64 u64 isize usize }

impl Word for f32 {
    const CLASS: u8 = 6;
    #[inline(always)]
    fn to_bits(self) -> u64 {
        f32::to_bits(self).into()
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f32::from_bits(bits as u32)
    }
}
impl Atomic for f32 {}

impl Word for f64 {
    const CLASS: u8 = 7;
    #[inline(always)]
    fn to_bits(self) -> u64 {
        f64::to_bits(self)
    }
    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        f64::from_bits(bits)
    }
}
impl Atomic for f64 {}

mod sealed {
    /// Atomics, which others may change at any time.
    pub trait Cell: Sync + 'static {}

    impl Cell for super::AtomicU16 {}
    impl Cell for super::AtomicU32 {}
    impl Cell for super::AtomicU64 {}
}

/// Types for waits: integers of 2 (deprecated), 4 or 8 bytes.
pub trait Waitable: Word + PartialOrd {
    /// The atomic of the same size.
    type Cell: sealed::Cell;

    /// Does not compile for a type whose words cannot be seen as such atomics.
    const IS_LIKE_CELL: () = assert!(
        size_of::<Self>() == size_of::<Self::Cell>()
            && align_of::<Self>() == align_of::<Self::Cell>()
    );

    /// Loads it in one piece, before everything loaded after it.
    fn load(cell: &Self::Cell) -> Self;

    /// Polls it up to `polls` times, as long as it is `self`; says whether it has changed.
    /// What was stored before the change is visible then.
    fn changes(self, cell: &Self::Cell, polls: u32) -> bool;
}

macro_rules! waitables {
    ($($type:ty: $cell:ty, $changes:path, $bits:ty);*) => { $(
        impl Waitable for $type {
            type Cell = $cell;

            #[inline(always)]
            fn load(cell: &$cell) -> Self {
                cell.load(Ordering::Acquire) as Self
            }

            #[inline(always)]
            fn changes(self, cell: &$cell, polls: u32) -> bool {
                $changes(cell, self as $bits, polls)
            }
        }
    )* };
}
waitables! {
    i16: AtomicU16, short_changes, u16; u16: AtomicU16, short_changes, u16;
    i32: AtomicU32, half_changes, u32; u32: AtomicU32, half_changes, u32;
    i64: AtomicU64, word_changes, u64; u64: AtomicU64, word_changes, u64;
    isize: AtomicU64, word_changes, u64; usize: AtomicU64, word_changes, u64
}

/// As [`half_changes`], for the deprecated waits on a `short`.
fn short_changes(word: &AtomicU16, from: u16, polls: u32) -> bool {
    (0..polls).any(|_| word.load(Ordering::Acquire) != from)
}
