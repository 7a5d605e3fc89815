//! Random numbers that are the same on every machine: SplitMix64 (Steele, Lea, Flood 2014), and
//! integers only.

/// The number after `state`, which is advanced.
pub fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// A source of random numbers.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Equal seeds give equal numbers.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// A number below `limit`; 0 if that is 0.
    pub fn below(&mut self, limit: u64) -> u64 {
        // The high half gives the place in the range: this needs no remainder and has hardly
        // any bias.
        ((u128::from(random(&mut self.0)) * u128::from(limit)) >> 64) as u64
    }

    /// `mean` times a number with an exponential distribution of mean 1.
    ///
    /// By von Neumann's method, which only compares: a logarithm may differ between machines.
    pub fn exponential(&mut self, mean: u64) -> u64 {
        let mut whole = 0;
        loop {
            let first = random(&mut self.0);
            let (mut last, mut falling) = (first, 1);
            loop {
                let next = random(&mut self.0);
                if next >= last {
                    break;
                }
                (last, falling) = (next, falling + 1);
            }
            if falling % 2 == 1 {
                let part = (u128::from(mean) * u128::from(first)) >> 64;
                return mean.saturating_mul(whole).saturating_add(part as u64);
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_numbers_of_split_mix() {
        // Of the reference implementation, from seed 0.
        let mut state = 0;
        assert_eq!(random(&mut state), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random(&mut state), 0x6e78_9e6a_a1b9_65f4);
    }

    /// Mean and variance are 1, and e^-2 of the numbers are above 2.
    #[test]
    fn exponential_numbers_are_distributed_so() {
        const COUNT: u32 = 200_000;
        const MEAN: u64 = 1 << 20;
        let mut random = Random::new(1);
        let (mut sum, mut squares, mut above) = (0.0, 0.0, 0u32);
        for _ in 0..COUNT {
            let value = random.exponential(MEAN) as f64 / MEAN as f64;
            sum += value;
            squares += value * value;
            above += u32::from(value > 2.0);
        }
        let mean = sum / f64::from(COUNT);
        let variance = squares / f64::from(COUNT) - mean * mean;
        let share = f64::from(above) / f64::from(COUNT);
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert!((variance - 1.0).abs() < 0.03, "{variance}");
        assert!((share - (-2.0f64).exp()).abs() < 0.003, "{share}");
    }
}
