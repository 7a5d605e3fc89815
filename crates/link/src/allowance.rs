//! How many frames may be on their way.
//!
//! Go-Back-N sends everything again that was on its way behind a lost frame. Of the rate of a
//! link that loses one frame in a hundred, 128 frames on their way leave 1 / (1 + 128 / 100),
//! 0.44; 32 leave 0.76. So each loss halves them, down to what keeps a local network busy, and
//! each round without loss brings an eighth of them back.

use crate::config::Config;

/// Losses leave as many. Fitted: enough for 10 Gb/s and 30 us from a frame to its ack.
const FRAMES_MIN: u16 = 32;

/// See the [module text](self).
#[derive(Clone, Debug, Default)]
pub(crate) struct Allowance {
    frames: u16,
    /// Acknowledged since it was changed.
    acked: u16,
}

impl Allowance {
    pub(crate) const fn new(config: &Config) -> Self {
        Self {
            frames: config.frames_in_flight_max,
            acked: 0,
        }
    }

    pub(crate) const fn frames(&self) -> u16 {
        self.frames
    }

    /// Something has to be sent again.
    pub(crate) fn lost(&mut self, config: &Config) {
        let min = FRAMES_MIN.min(config.frames_in_flight_max);
        self.frames = (self.frames / 2).max(min);
        self.acked = 0;
    }

    pub(crate) fn acknowledged(&mut self, frames: u16, config: &Config) {
        self.acked = self.acked.saturating_add(frames);
        if self.acked >= self.frames {
            self.acked = 0;
            let more = self.frames.saturating_add((self.frames / 8).max(1));
            self.frames = more.min(config.frames_in_flight_max);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_halve_it_and_rounds_without_bring_it_back() {
        let config = Config::default();
        let mut allowance = Allowance::new(&config);
        let mut after_loss = || {
            allowance.lost(&config);
            allowance.frames()
        };
        assert_eq!([0; 4].map(|_| after_loss()), [64, 32, 32, 32]);
        allowance.acknowledged(31, &config);
        assert_eq!(allowance.frames(), 32);
        allowance.acknowledged(1, &config);
        assert_eq!(allowance.frames(), 36);
        for _ in 0..20 {
            allowance.acknowledged(128, &config);
        }
        assert_eq!(allowance.frames(), 128);
    }

    #[test]
    fn who_allows_few_always_allows_those() {
        for frames_in_flight_max in [1, 2, 32] {
            let config = Config {
                frames_in_flight_max,
                ..Config::default()
            };
            let mut allowance = Allowance::new(&config);
            allowance.lost(&config);
            allowance.acknowledged(u16::MAX, &config);
            assert_eq!(allowance.frames(), frames_in_flight_max);
        }
    }
}
