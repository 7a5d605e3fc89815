//! What happens to one frame or one store.

use super::Faults;
use crate::error::PeId;

/// Decides for one frame or store after the other.
#[derive(Debug)]
pub struct Dice {
    faults: Faults,
    random: u64,
}

/// What happens to one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fate {
    /// It is lost.
    pub drop: bool,
    /// It is sent twice.
    pub dup: bool,
    /// It is held back until the next one has left.
    pub reorder: bool,
    /// One bit of it is changed.
    pub flip: bool,
    /// Which bit is changed.
    bit: u64,
}

impl Dice {
    /// For what PE `pe` sends.
    pub fn new(faults: Faults, pe: PeId) -> Self {
        let mut dice = Self {
            faults,
            random: faults.seed ^ u64::from(pe).wrapping_mul(0xd6e8_feb8_6659_fd93),
        };
        dice.random = dice.next();
        dice
    }

    /// What becomes of the next one.
    pub fn roll(&mut self) -> Fate {
        // Always five numbers, so that one probability does not change what others do.
        Fate {
            drop: self.happens(self.faults.drop),
            dup: self.happens(self.faults.dup),
            reorder: self.happens(self.faults.reorder),
            flip: self.happens(self.faults.flip),
            bit: self.next(),
        }
    }

    fn happens(&mut self, probability: f64) -> bool {
        // 53 bits, the precision of a double.
        let drawn = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        drawn < probability
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

impl Fate {
    /// Changes one bit, if there is one.
    pub fn change_a_bit(self, bytes: &mut [u8]) {
        let place = (self.bit >> 3) % (bytes.len().max(1) as u64);
        if let Some(byte) = bytes.get_mut(place as usize) {
            *byte ^= 1 << (self.bit & 7);
        }
    }
}
