//! One number for a whole run.

use std::fmt;

/// Hash over every event handled so far, in order. Two runs with the same
/// hash handled the same events at the same times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventHash(pub u64);

impl EventHash {
    /// Adds one event. Not a cryptographic hash: it finds differences, it does
    /// not resist an adversary.
    #[inline]
    pub(super) fn add(&mut self, time: u64, tie: u64, target: u32, digest: u64) {
        // Odd constants with well-spread bits (fractions of pi, as in wyhash).
        let event = time.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ tie.rotate_left(23).wrapping_mul(0xa076_1d64_78bd_642f)
            ^ (digest ^ u64::from(target) << 40).wrapping_mul(0xe703_7ed1_a0b4_28db);
        self.0 = (self.0.rotate_left(29) ^ event ^ event >> 32).wrapping_mul(0x8ebc_6af0_9c88_c6e3);
    }
}

impl fmt::Display for EventHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}
