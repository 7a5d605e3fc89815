/// Number of a frame, modulo 65536: serial number arithmetic as in RFC 1982,
/// section 3, with SERIAL_BITS = 16.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub(crate) struct Seq(pub(crate) u16);

/// Half of the number space: a number that is further ahead counts as behind.
pub(crate) const HALF: u16 = 1 << 15;

impl Seq {
    pub(crate) const fn plus(self, frames: u16) -> Self {
        Self(self.0.wrapping_add(frames))
    }

    /// Frames from `base` up to this one; at least [`HALF`] if it lies behind.
    pub(crate) const fn ahead_of(self, base: Self) -> u16 {
        self.0.wrapping_sub(base.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wraps() {
        let base = Seq(65_534);
        assert_eq!(base.plus(3), Seq(1));
        assert_eq!(Seq(1).ahead_of(base), 3);
        assert!(base.ahead_of(Seq(1)) >= HALF);
        assert_eq!(base.ahead_of(base), 0);
    }
}
