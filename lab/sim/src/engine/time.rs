//! Simulated time.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in simulated time, or a length of it, in picoseconds.
///
/// 64 bits hold 213 days. Sums saturate at [`Ps::MAX`], differences at
/// [`Ps::ZERO`]; no operator panics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ps(pub u64);

impl Ps {
    /// The start of time.
    pub const ZERO: Ps = Ps(0);
    /// The end of time.
    pub const MAX: Ps = Ps(u64::MAX);

    /// Whole nanoseconds.
    pub const fn from_ns(ns: u64) -> Ps {
        Ps(ns.saturating_mul(1_000))
    }

    /// Whole microseconds.
    pub const fn from_us(us: u64) -> Ps {
        Ps(us.saturating_mul(1_000_000))
    }

    /// The time since `earlier`; none if that is later.
    pub const fn saturating_sub(self, earlier: Ps) -> Ps {
        Ps(self.0.saturating_sub(earlier.0))
    }

    /// `cycles` periods of a clock of `mhz` MHz, rounded to the nearest
    /// picosecond. A clock of 0 MHz never ticks: the result is [`Ps::MAX`].
    pub const fn from_cycles(cycles: u64, mhz: u32) -> Ps {
        if mhz == 0 {
            return Ps::MAX;
        }
        let mhz = mhz as u128;
        let ps = (cycles as u128 * 1_000_000 + mhz / 2) / mhz;
        if ps > u64::MAX as u128 {
            Ps::MAX
        } else {
            Ps(ps as u64)
        }
    }

    /// This time in nanoseconds.
    pub fn as_ns(self) -> f64 {
        self.0 as f64 / 1e3
    }

    /// This time in seconds.
    pub fn as_s(self) -> f64 {
        self.0 as f64 / 1e12
    }
}

impl Add for Ps {
    type Output = Ps;
    fn add(self, other: Ps) -> Ps {
        Ps(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Ps {
    fn add_assign(&mut self, other: Ps) {
        *self = *self + other;
    }
}

impl Sub for Ps {
    type Output = Ps;
    fn sub(self, other: Ps) -> Ps {
        Ps(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Ps {
    type Output = Ps;
    fn mul(self, times: u64) -> Ps {
        Ps(self.0.saturating_mul(times))
    }
}

impl fmt::Display for Ps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} ns", self.0 / 1_000, self.0 % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::Ps;

    #[test]
    fn cycles_round_to_the_nearest_picosecond() {
        assert_eq!(Ps::from_cycles(22, 2_800), Ps(7_857));
        assert_eq!(Ps::from_cycles(11, 200), Ps::from_ns(55));
        assert_eq!(Ps::from_cycles(1, 0), Ps::MAX);
        assert_eq!(Ps::from_cycles(u64::MAX, 1), Ps::MAX);
    }

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Ps::MAX + Ps(1), Ps::MAX);
        assert_eq!(Ps(1) - Ps(2), Ps::ZERO);
        assert_eq!(Ps(22_678).to_string(), "22.678 ns");
    }
}
