//! Numbers that look random and are the same every time.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
/// OOPSLA 2014): enough for tests, and the same on every machine.
#[derive(Debug, Clone)]
pub struct Random(u64);

const PERIOD: usize = 4093;

impl Random {
    /// The numbers of `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number.
    pub fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`; 0 if there is none.
    pub fn below(&mut self, limit: usize) -> usize {
        match limit {
            0 => 0,
            limit => (self.word() % limit as u64) as usize,
        }
    }

    /// One of `choices`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// Whether something of probability `1 / n` happens.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// `len` bytes. They repeat after 4093, a prime: cheap, and still no piece of a long
    /// message looks like its neighbour.
    pub fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(len + 8);
        while bytes.len() < len.min(PERIOD) {
            bytes.extend_from_slice(&self.word().to_le_bytes());
        }
        bytes.truncate(len.min(PERIOD));
        while bytes.len() < len {
            let more = PERIOD.min(len - bytes.len());
            bytes.extend_from_within(..more);
        }
        bytes
    }

    /// Puts `items` into random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequence_is_the_published_one() {
        // The first outputs of the reference implementation for seed 0.
        let mut random = Random::new(0);
        assert_eq!(random.word(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.word(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn bytes_have_the_asked_length() {
        for len in (0..20).chain([PERIOD - 1, PERIOD, PERIOD + 1, 3 * PERIOD]) {
            assert_eq!(Random::new(1).bytes(len).len(), len);
        }
    }
}
