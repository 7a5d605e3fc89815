//! Types that may be in symmetric memory.

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// Plain data: any bytes are a value of it, and it has no padding and no pointers.
///
/// Implemented for everything that has [zerocopy](crate::zerocopy)'s `FromBytes`, `IntoBytes`
/// and `Immutable`: integers, floats, arrays of them, and structures that derive them.
/// hostwire re-exports the three. One attribute tells the derives where to find them:
///
/// ```
/// use hostwire::{FromBytes, Immutable, IntoBytes, Job};
/// # fn main() -> hostwire::Result<()> {
///
/// #[derive(Clone, Copy, Debug, PartialEq, FromBytes, IntoBytes, Immutable)]
/// #[zerocopy(crate = "hostwire::zerocopy")]
/// #[repr(C)]
/// struct Particle {
///     place: [f64; 3],
///     kind: u32,
///     charge: i32,
/// }
///
/// let job = Job::attach()?;
/// let particles = job.alloc::<Particle>(100)?;
/// let one = Particle { place: [0.5, 1.0, -2.0], kind: 3, charge: -1 };
/// particles.put(0, 7, &[one])?;
/// job.barrier()?;
/// assert_eq!(particles.load(7)?, one);
/// job.finalize()
/// # }
/// ```
///
/// A structure with padding does not derive `IntoBytes`, because its padding has no value; give
/// it a field instead:
///
/// ```compile_fail
/// #[derive(Clone, Copy, hostwire::FromBytes, hostwire::IntoBytes, hostwire::Immutable)]
/// #[zerocopy(crate = "hostwire::zerocopy")]
/// #[repr(C)]
/// struct Padded {
///     kind: u32, // 4 bytes of padding follow
///     charge: i64,
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of symmetric memory or of a message",
    note = "an element is plain data: for a structure, add `#[derive(Clone, Copy, \
            hostwire::FromBytes, hostwire::IntoBytes, hostwire::Immutable)]`, \
            `#[zerocopy(crate = \"hostwire::zerocopy\")]` and `#[repr(C)]`"
)]
pub trait Element: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static {}

impl<T: FromBytes + IntoBytes + Immutable + Copy + Send + Sync + 'static> Element for T {}

/// Elements with atomic operations: 32- and 64-bit integers and floats.
pub trait AtomicElement: Element + PartialOrd + sealed::Bits {}

/// Elements with atomic arithmetic: 32- and 64-bit integers.
pub trait AtomicInteger: AtomicElement + sealed::Signed {}

pub(crate) mod sealed {
    /// A value as the bits that an atomic instruction sees.
    pub trait Bits: Sized {
        /// 4 or 8.
        const BYTES: usize;
        /// Zero-extended to 64 bits.
        fn to_bits(self) -> u64;
        /// From the low [`Self::BYTES`] bytes.
        fn from_bits(bits: u64) -> Self;
    }

    /// How an integer compares.
    pub trait Signed {
        /// Whether its first bit is a sign.
        const IS_SIGNED: bool;
    }
}

macro_rules! bits {
    ($($type:ty, $bytes:literal, $to:expr, $from:expr;)*) => {$(
        impl sealed::Bits for $type {
            const BYTES: usize = $bytes;
            #[inline(always)]
            fn to_bits(self) -> u64 { ($to)(self) }
            #[inline(always)]
            fn from_bits(bits: u64) -> Self { ($from)(bits) }
        }
        impl AtomicElement for $type {}
    )*};
}

bits! {
    u32, 4, u64::from, |bits| bits as u32;
    i32, 4, |value| u64::from(value as u32), |bits| bits as u32 as i32;
    f32, 4, |value: f32| u64::from(value.to_bits()), |bits| f32::from_bits(bits as u32);
    u64, 8, |value| value, |bits| bits;
    i64, 8, |value| value as u64, |bits| bits as i64;
    f64, 8, |value: f64| value.to_bits(), f64::from_bits;
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl sealed::Signed for $type {
            const IS_SIGNED: bool = <$type>::MIN != 0;
        }
        impl AtomicInteger for $type {}
    )*};
}

integers!(u32, i32, u64, i64);
