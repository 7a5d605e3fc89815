use crate::config::Config;

/// Retransmission timer: RFC 6298, with the bounds of a local network instead
/// of its lower bound of one second.
#[derive(Clone, Debug)]
pub(crate) struct Rtt {
    smoothed_ns: Option<u64>,
    variation_ns: u64,
    base_ns: u64,
    backoff: u32,
}

/// G of RFC 6298, section 2: clocks here count nanoseconds, but their reader may be late by about this
/// much.
const GRANULARITY_NS: u64 = 1_000;

impl Rtt {
    pub(crate) const fn new(config: &Config) -> Self {
        Self {
            smoothed_ns: None,
            variation_ns: 0,
            base_ns: config.rto_initial_ns,
            backoff: 0,
        }
    }

    /// Takes a round trip of a frame that was sent once only (Karn's
    /// algorithm: RFC 6298, section 3).
    pub(crate) fn sample(&mut self, rtt_ns: u64, config: &Config) {
        let smoothed_ns = match self.smoothed_ns {
            // RFC 6298, (2.2)
            None => {
                self.variation_ns = rtt_ns / 2;
                rtt_ns
            }
            // RFC 6298, (2.3): beta = 1/4, alpha = 1/8
            Some(smoothed_ns) => {
                let off_ns = smoothed_ns.abs_diff(rtt_ns);
                self.variation_ns = self.variation_ns - self.variation_ns / 4 + off_ns / 4;
                smoothed_ns - smoothed_ns / 8 + rtt_ns / 8
            }
        };
        self.smoothed_ns = Some(smoothed_ns);
        // RFC 6298, (2.4) and (2.5)
        self.base_ns = smoothed_ns
            .saturating_add(self.margin_ns())
            .clamp(config.rto_min_ns, config.rto_max_ns);
        self.backoff = 0;
    }

    fn margin_ns(&self) -> u64 {
        self.variation_ns.saturating_mul(4).max(GRANULARITY_NS)
    }

    /// The timer ran out: RFC 6298, (5.5). Stays doubled until the next
    /// sample.
    pub(crate) fn back_off(&mut self, config: &Config) {
        if self.rto_ns(config) < config.rto_max_ns {
            self.backoff += 1;
        }
    }

    /// Frames were acknowledged: takes one doubling back. Frames that were sent again give no sample.
    /// Where many frames are lost, all are sent again, and the timeout would stay at its longest. It
    /// comes down in steps: on a path that has become slow, it then stays long enough for a frame that is
    /// sent only once, which gives a sample.
    pub(crate) fn progress(&mut self) {
        self.backoff = self.backoff.saturating_sub(1);
    }

    /// How long an ack usually takes: the mean, plus the usual deviation, because half of the acks take
    /// longer than the mean.
    pub(crate) fn usual_ns(&self, config: &Config) -> u64 {
        match self.smoothed_ns {
            Some(smoothed_ns) => smoothed_ns.saturating_add(self.variation_ns),
            None => config.rto_initial_ns,
        }
    }

    /// How long to wait before the peer is asked: two round trips, as in RFC 8985, (7.2), plus the time
    /// for which the peer may delay an ack. Doubled for each earlier question.
    pub(crate) fn probe_ns(&self, config: &Config, probes: u32) -> u64 {
        let wait_ns = match self.smoothed_ns {
            Some(smoothed_ns) => smoothed_ns.saturating_mul(2),
            None => config.rto_min_ns,
        };
        let wait_ns = wait_ns.saturating_add(config.ack_delay_ns.max(GRANULARITY_NS));
        let factor = 1u64.checked_shl(probes).unwrap_or(u64::MAX);
        wait_ns.saturating_mul(factor)
    }

    /// How long to wait for an ack.
    pub(crate) fn rto_ns(&self, config: &Config) -> u64 {
        let factor = 1u64.checked_shl(self.backoff).unwrap_or(u64::MAX);
        self.base_ns.saturating_mul(factor).min(config.rto_max_ns)
    }

    pub(crate) const fn smoothed_ns(&self) -> Option<u64> {
        self.smoothed_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config {
            rto_initial_ns: 20_000,
            rto_min_ns: 10_000,
            rto_max_ns: 100_000,
            ..Config::default()
        }
    }

    #[test]
    fn follows_rfc_6298() {
        let config = config();
        let mut rtt = Rtt::new(&config);
        assert_eq!(rtt.rto_ns(&config), 20_000);
        rtt.sample(8_000, &config);
        assert_eq!(rtt.rto_ns(&config), 8_000 + 4 * 4_000);
        rtt.sample(16_000, &config);
        // variation 3/4 * 4000 + 1/4 * 8000, smoothed 7/8 * 8000 + 1/8 * 16000
        assert_eq!(rtt.smoothed_ns(), Some(9_000));
        assert_eq!(rtt.rto_ns(&config), 9_000 + 4 * 5_000);
    }

    #[test]
    fn bounds_and_backoff() {
        let config = config();
        let mut rtt = Rtt::new(&config);
        rtt.sample(100, &config);
        assert_eq!(rtt.rto_ns(&config), 10_000);
        for expected in [20_000, 40_000, 80_000, 100_000, 100_000] {
            rtt.back_off(&config);
            assert_eq!(rtt.rto_ns(&config), expected);
        }
        for expected in [80_000, 40_000] {
            rtt.progress();
            assert_eq!(rtt.rto_ns(&config), expected);
        }
        rtt.sample(100, &config);
        assert_eq!(rtt.rto_ns(&config), 10_000);
        rtt.progress();
        assert_eq!(rtt.rto_ns(&config), 10_000);
        rtt.sample(u64::MAX, &config);
        assert_eq!(rtt.rto_ns(&config), 100_000);
    }
}
