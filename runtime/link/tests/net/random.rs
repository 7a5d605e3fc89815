/// SplitMix64: small, and the same everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// 0 to `limit - 1`; 0 for a limit of 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        self.next().checked_rem(limit).unwrap_or(0)
    }

    pub fn happens(&mut self, ppm: u32) -> bool {
        ppm > 0 && self.below(1_000_000) < u64::from(ppm)
    }

    /// Turns bits over, cuts off, or makes all of it up.
    pub fn damage(&mut self, bytes: &mut Vec<u8>) {
        match self.below(8) {
            0 => {
                let len = self.below(bytes.len() as u64 + 1) as usize;
                bytes.truncate(len);
            }
            1 => bytes.iter_mut().for_each(|byte| *byte = self.next() as u8),
            bits => {
                for _ in 1..bits {
                    let bit = self.below(bytes.len() as u64 * 8) as usize;
                    if let Some(byte) = bytes.get_mut(bit / 8) {
                        *byte ^= 1 << (bit % 8);
                    }
                }
            }
        }
    }
}
