//! How many frames may be in flight, so that links share the network with each other and with other traffic.
//!
//! This is TCP-Illinois: S. Liu, T. Başar and R. Srikant, "TCP-Illinois: A loss- and delay-based congestion
//! control algorithm for high-speed networks", Performance Evaluation 65 (2008), 417-440. Loss decides
//! whether the window of a link grows or shrinks, and delay decides by how much. While the queues of
//! the network are short, a window grows fast and a loss takes little from it; while they are long it
//! grows slowly and a loss takes more. So a link gets about the same share as a TCP stream in the same queue.
//! A link that reacted only to delay would get less. Slow start and the reaction to a timeout are those of TCP
//! (RFC 5681).
//!
//! A mark of the network (ECN, RFC 3168) has the same effect as a lost frame.
//!
//! Four things differ from the paper, because processes share cores and losses come in groups:
//! - a window shrinks once for all frames that were in flight at a first loss (as in RFC 6582);
//! - below 4 frames, and not below 10, loss and growth are those of TCP;
//! - with long delays loss and growth are those of CUBIC;
//! - the longest delay fades, so that one pause of a process does not count for ever.

use crate::config::Config;
use crate::seq::{HALF, Seq};

/// Frames of a new link: RFC 6928.
const INITIAL_FRAMES: f64 = 10.0;
/// Below this window, growth and loss are those of TCP: the W_thresh of the paper, which has 10. Fitted:
/// a round trip of a local network holds few frames.
const STANDARD_BELOW_FRAMES: f64 = 4.0;
/// Frames that a round adds, at least and at most: alpha_min and alpha_max of the paper. The paper has 0.3 at
/// least; this is what CUBIC adds in its Reno-friendly region (RFC 9438, 4.3). A CUBIC stream keeps queues
/// full. So a link beside it always has long delays, and with 0.3 it would get half of its share.
const GROWTH_FRAMES: (f64, f64) = (9.0 / 17.0, 10.0);
/// The part of the window that a loss takes, at least and at most: beta_min and beta_max. The paper has 0.5 at
/// most; this is CUBIC's value, which fits the growth above.
const LOSS_PART: (f64, f64) = (0.125, 0.3);
/// The part that a loss takes from a small window, and that a link begins with: RFC 5681.
const STANDARD_LOSS_PART: f64 = 0.5;
/// As parts of the longest delay: up to the first, growth is the fastest; up to the second, a loss takes the
/// least; from the third on, a loss takes the most. eta_1 to eta_3.
const DELAY_PARTS: (f64, f64, f64) = (0.01, 0.1, 0.8);
/// Rounds with a delay near nothing before growth is the fastest: theta.
const CALM_ROUNDS: u8 = 5;
/// The part of the longest delay that a round takes from it. Fitted: a pause of 10 ms where queues hold
/// 100 us has faded after 1200 rounds.
const FADES_BY: f64 = 1.0 / 256.0;

/// How much faster than a window per round trip frames leave, in slow start and otherwise. So pacing does not
/// limit the window. As in Linux (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
const PACE: (f64, f64) = (2.0, 1.2);
/// The longest gap between paced frames. A process that did not run for a while measures a long round trip,
/// and has to catch up. On a share of less than 24 Mb/s, frames therefore leave faster than the share allows,
/// few at a time.
const GAP_MAX_NS: f64 = 500_000.0;
/// Rounds after a loss in which frames are paced.
const PACED_ROUNDS: u16 = 256;

/// See the [module text](self).
#[derive(Clone, Debug)]
pub(crate) struct Congestion {
    /// Frames; 1 to [`Config::frames_in_flight_max`].
    window: f64,
    /// Slow start ends here.
    threshold: f64,
    /// Frames that a round adds: alpha.
    growth: f64,
    /// The part that a loss takes: beta.
    loss_part: f64,
    delay: Delay,
    calm_rounds: u8,
    /// Whether frames waited for the window, in this round and the one before it. A window grows only then:
    /// with fewer frames, the link does not learn what the network can carry.
    was_full: [bool; 2],
    /// A round is over when the frames before this one are acknowledged.
    round_end: Option<Seq>,
    /// The window has already shrunk for losses among the frames before this one.
    shrunk_until: Option<Seq>,
    /// Rounds in which frames are still paced.
    paced_rounds: u16,
}

/// Round trips, in nanoseconds, and how much longer than the shortest one they were.
#[derive(Clone, Debug)]
struct Delay {
    shortest_trip_ns: f64,
    last_trip_ns: f64,
    /// The longest average delay of a round.
    longest_ns: f64,
    sum_ns: f64,
    trips: u32,
}

impl Congestion {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            window: INITIAL_FRAMES.min(config.frames_in_flight_max.into()),
            threshold: f64::INFINITY,
            growth: 1.0,
            loss_part: STANDARD_LOSS_PART,
            delay: Delay {
                shortest_trip_ns: f64::INFINITY,
                last_trip_ns: 0.0,
                longest_ns: 0.0,
                sum_ns: 0.0,
                trips: 0,
            },
            calm_rounds: 0,
            was_full: [false; 2],
            round_end: None,
            shrunk_until: None,
            paced_rounds: 0,
        }
    }

    /// Nanoseconds from one frame to the next; 0 where no frame is lost.
    #[inline]
    pub(crate) fn gap_ns(&self) -> u64 {
        if self.paced_rounds == 0 {
            return 0;
        }
        let pace = if self.window < self.threshold {
            PACE.0
        } else {
            PACE.1
        };
        (self.delay.last_trip_ns / (pace * self.window)).min(GAP_MAX_NS) as u64
    }

    /// Frames that may be in flight; at least 1.
    #[inline]
    pub(crate) fn frames(&self) -> u16 {
        // At most FRAMES_IN_FLIGHT_MAX.
        self.window as u16
    }

    /// Whether frames have waited for the window lately.
    #[inline]
    pub(crate) fn limits(&self) -> bool {
        self.was_full != [false; 2]
    }

    /// Notes that a frame waits because the window is full.
    #[inline]
    pub(crate) const fn note_full(&mut self) {
        self.was_full[0] = true;
    }

    /// A round trip of a frame that was sent once.
    pub(crate) fn sample(&mut self, trip_ns: u64) {
        let delay = &mut self.delay;
        delay.shortest_trip_ns = delay.shortest_trip_ns.min(trip_ns as f64);
        delay.sum_ns += trip_ns as f64;
        delay.last_trip_ns = trip_ns as f64;
        delay.trips += 1;
    }

    /// `frames` frames were acknowledged, so that `base` is the first one that is not; `end` is the
    /// next one to be sent.
    pub(crate) fn acknowledged(&mut self, frames: u16, (base, end): (Seq, Seq), config: &Config) {
        let is_past = |mark: Seq| base.ahead_of(mark) < HALF;
        if self.shrunk_until.is_some_and(is_past) {
            self.shrunk_until = None;
        }
        let starts = self.window < self.threshold;
        if self.limits() && (starts || self.shrunk_until.is_none()) {
            let more = match starts {
                true => f64::from(frames),
                false => self.growth * f64::from(frames) / self.window,
            };
            let max = f64::from(config.frames_in_flight_max);
            self.window = (self.window + more).min(max);
        }
        if self.round_end.is_none_or(is_past) {
            self.round_end = Some(end);
            self.was_full = [false, self.was_full[0]];
            self.paced_rounds = self.paced_rounds.saturating_sub(1);
            self.end_round();
        }
    }

    /// The network has marked a frame; those before `end` have been sent. As if one were lost: RFC 3168, 5.
    pub(crate) fn marked(&mut self, end: Seq) {
        self.lost(end);
    }

    /// A frame is lost, and frames before `end` have been sent: all that is not acknowledged is sent again.
    pub(crate) fn lost(&mut self, end: Seq) {
        self.paced_rounds = PACED_ROUNDS;
        if self.shrunk_until.is_some() {
            return;
        }
        self.shrunk_until = Some(end);
        self.window = (self.window * (1.0 - self.loss_part)).max(1.0);
        self.threshold = self.window;
        // Until a round has measured more: RFC 5681.
        self.calm_rounds = 0;
    }

    /// Nothing was acknowledged for a whole timeout.
    pub(crate) fn timed_out(&mut self, end: Seq) {
        // RFC 5681, (4): once for the first of several timeouts.
        if self.shrunk_until.is_none() {
            self.threshold = (self.window / 2.0).max(2.0);
        }
        self.shrunk_until = Some(end);
        self.window = 1.0;
        self.note_full();
    }

    /// Uses the delay of the round for the next one.
    fn end_round(&mut self) {
        let Some(delay_ns) = self.delay.end_round() else {
            return;
        };
        let longest_ns = self.delay.longest_ns;
        if self.window < STANDARD_BELOW_FRAMES {
            (self.growth, self.loss_part) = (1.0, STANDARD_LOSS_PART);
            return;
        }
        self.growth = match delay_ns <= DELAY_PARTS.0 * longest_ns {
            false => {
                self.calm_rounds = 0;
                growth(delay_ns, longest_ns)
            }
            true if self.calm_rounds >= CALM_ROUNDS => GROWTH_FRAMES.1,
            true => {
                self.calm_rounds += 1;
                self.growth
            }
        };
        self.loss_part = loss_part(delay_ns, longest_ns);
    }
}

impl Delay {
    /// The delay of the round, on average; `None` without a round trip.
    fn end_round(&mut self) -> Option<f64> {
        let trips = core::mem::take(&mut self.trips);
        let sum_ns = core::mem::take(&mut self.sum_ns);
        if trips == 0 {
            return None;
        }
        let delay_ns = (sum_ns / f64::from(trips) - self.shortest_trip_ns).max(0.0);
        self.longest_ns = (self.longest_ns * (1.0 - FADES_BY)).max(delay_ns);
        Some(delay_ns)
    }
}

/// The paper's (3): falls from the fastest growth to the slowest as the delay grows.
fn growth(delay_ns: f64, longest_ns: f64) -> f64 {
    let (min, max) = GROWTH_FRAMES;
    let least_ns = DELAY_PARTS.0 * longest_ns;
    let kappa_1 = (longest_ns - least_ns) * min * max / (max - min);
    let kappa_2 = (longest_ns - least_ns) * min / (max - min) - least_ns;
    (kappa_1 / (kappa_2 + delay_ns)).clamp(min, max)
}

/// The paper's (4): rises from the least to the most as the delay grows.
fn loss_part(delay_ns: f64, longest_ns: f64) -> f64 {
    let (min, max) = LOSS_PART;
    let (from_ns, to_ns) = (DELAY_PARTS.1 * longest_ns, DELAY_PARTS.2 * longest_ns);
    if delay_ns <= from_ns {
        return min;
    }
    (min + (max - min) * (delay_ns - from_ns) / (to_ns - from_ns)).min(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::default()
    }

    /// One round of a full window in which each trip takes so long.
    fn round(congestion: &mut Congestion, at: &mut u16, trip_ns: u64) {
        let frames = congestion.frames();
        congestion.note_full();
        congestion.sample(trip_ns);
        *at = at.wrapping_add(frames);
        let end = Seq(at.wrapping_add(frames));
        congestion.acknowledged(frames, (Seq(*at), end), &config());
    }

    #[test]
    fn slow_start_doubles_a_window_that_is_used() {
        let mut congestion = Congestion::new(&config());
        let mut at = 65_500;
        assert_eq!(congestion.frames(), 10);
        for expected in [20, 40, 80, 128, 128] {
            round(&mut congestion, &mut at, 30_000);
            assert_eq!(congestion.frames(), expected);
        }
        let mut congestion = Congestion::new(&config());
        // A window that is not full stays.
        congestion.acknowledged(5, (Seq(5), Seq(6)), &config());
        assert_eq!(congestion.frames(), 10);
    }

    #[test]
    fn a_window_shrinks_once_for_all_that_was_on_its_way() {
        let mut congestion = Congestion::new(&config());
        congestion.window = 100.0;
        for _ in 0..3 {
            congestion.lost(Seq(100));
        }
        assert_eq!(congestion.frames(), 50);
        // The frames in flight are acknowledged in part: this is still the same loss.
        congestion.acknowledged(99, (Seq(99), Seq(149)), &config());
        congestion.lost(Seq(149));
        assert_eq!(congestion.frames(), 50);
        congestion.acknowledged(1, (Seq(100), Seq(150)), &config());
        congestion.lost(Seq(150));
        assert_eq!(congestion.frames(), 25);
    }

    #[test]
    fn marks_of_one_round_shrink_a_window_once() {
        let mut congestion = Congestion::new(&config());
        congestion.window = 100.0;
        congestion.marked(Seq(100));
        congestion.marked(Seq(110));
        congestion.lost(Seq(120));
        assert_eq!(congestion.frames(), 50);
        congestion.acknowledged(100, (Seq(100), Seq(150)), &config());
        congestion.marked(Seq(150));
        assert_eq!(congestion.frames(), 25);
    }

    #[test]
    fn a_timeout_leaves_one_frame_and_half_of_the_window_comes_back_fast() {
        let mut congestion = Congestion::new(&config());
        congestion.window = 64.0;
        congestion.timed_out(Seq(64));
        congestion.timed_out(Seq(64));
        assert_eq!((congestion.frames(), congestion.threshold), (1, 32.0));
        let mut at = 64;
        let mut seen = Vec::new();
        for _ in 0..7 {
            round(&mut congestion, &mut at, 30_000);
            seen.push(congestion.frames());
        }
        assert_eq!(seen[..5], [2, 4, 8, 16, 32]);
        assert!(seen[6] < 40, "{seen:?}");
    }

    /// The functions of the paper at the ends of their pieces.
    #[test]
    fn growth_and_loss_follow_the_delay() {
        let longest = 1_000_000.0;
        assert_eq!(growth(0.01 * longest, longest), 10.0);
        assert!((growth(longest, longest) - 9.0 / 17.0).abs() < 1e-9);
        assert!(growth(0.5 * longest, longest) < 2.0 * GROWTH_FRAMES.0);
        assert_eq!(loss_part(0.1 * longest, longest), 0.125);
        assert!((loss_part(0.45 * longest, longest) - 0.2125).abs() < 1e-9);
        assert_eq!(loss_part(0.8 * longest, longest), 0.3);
        assert_eq!(loss_part(0.0, 0.0), 0.125);
    }

    #[test]
    fn short_queues_let_it_grow_fast_and_long_ones_slowly() {
        let mut congestion = Congestion::new(&config());
        let mut at = 0;
        round(&mut congestion, &mut at, 20_000);
        // The longest delay that this network has.
        round(&mut congestion, &mut at, 220_000);
        congestion.lost(Seq(at));
        let before = congestion.window;
        round(&mut congestion, &mut at, 200_000);
        round(&mut congestion, &mut at, 200_000);
        assert!(congestion.growth < 0.6, "{congestion:?}");
        assert_eq!(congestion.loss_part, 0.3);
        assert!(congestion.window < before + 2.0);
        for _ in 0..8 {
            round(&mut congestion, &mut at, 20_000);
        }
        assert_eq!(congestion.growth, 10.0);
        assert_eq!(congestion.loss_part, 0.125);
    }

    /// A window without losses opens without pacing. After a loss the frames of a round trip are spread over
    /// most of it, for a while.
    #[test]
    fn frames_are_paced_where_some_are_lost() {
        let mut congestion = Congestion::new(&config());
        let mut at = 0;
        congestion.sample(300_000);
        assert_eq!(congestion.gap_ns(), 0);
        congestion.window = 20.0;
        congestion.lost(Seq(at));
        assert_eq!(congestion.frames(), 10);
        assert_eq!(congestion.gap_ns(), 25_000, "300 us, 10 frames, 1.2 times");
        congestion.sample(1_000_000_000);
        assert_eq!(congestion.gap_ns(), GAP_MAX_NS as u64);
        for _ in 0..PACED_ROUNDS {
            assert_ne!(congestion.gap_ns(), 0);
            round(&mut congestion, &mut at, 300_000);
        }
        assert_eq!(congestion.gap_ns(), 0);
    }

    #[test]
    fn a_pause_is_forgotten() {
        let mut congestion = Congestion::new(&config());
        congestion.window = 50.0;
        let mut at = 0;
        round(&mut congestion, &mut at, 20_000);
        round(&mut congestion, &mut at, 10_000_000);
        for _ in 0..2_000 {
            round(&mut congestion, &mut at, 100_000);
        }
        assert!(congestion.delay.longest_ns < 100_000.0, "{congestion:?}");
    }

    #[test]
    fn whoever_allows_few_always_allows_those() {
        for frames_in_flight_max in [1, 2] {
            let config = Config {
                frames_in_flight_max,
                ..config()
            };
            let mut congestion = Congestion::new(&config);
            assert_eq!(congestion.frames(), frames_in_flight_max);
            for step in 0..10 {
                congestion.lost(Seq(step));
                congestion.timed_out(Seq(step));
                assert_eq!(congestion.frames(), 1);
                congestion.acknowledged(1, (Seq(step + 1), Seq(step + 2)), &config);
                assert!(congestion.frames() <= frames_in_flight_max);
            }
        }
    }
}
