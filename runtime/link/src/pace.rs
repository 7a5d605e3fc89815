//! Pacing: frames leave evenly where the network loses some.
//!
//! A window that opens at once, as after a repair, would leave as one burst, and a queue that other traffic
//! keeps full takes little of a burst. So while the network loses frames, they are paced a little faster
//! than a window per round trip, by the generic cell rate algorithm (ITU-T I.371).

use crate::time::Ns;

/// Frames that may leave together, however long the round trip is: as many as a TCP stream sends for an ack.
const BURST_FRAMES: u64 = 4;
/// The frames of this time may leave together: a timer and a waking thread are about so inexact.
const BURST_NS: u64 = 64_000;

/// When the next frame may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// When the next frame would leave if no frame left before its time.
    next_at: Ns,
}

impl Pace {
    /// Notes that a frame has left. `gap_ns` is the gap between frames.
    #[inline]
    pub(crate) fn left(&mut self, now: Ns, gap_ns: u64) {
        if gap_ns > 0 {
            self.next_at = self.next_at.max(now).after(gap_ns);
        }
    }

    /// From when on a frame may leave.
    #[inline]
    pub(crate) const fn leaves_at(&self, gap_ns: u64) -> Ns {
        let burst_ns = gap_ns.saturating_mul(BURST_FRAMES - 1);
        let burst_ns = if burst_ns > BURST_NS {
            burst_ns
        } else {
            BURST_NS
        };
        match gap_ns {
            0 => Ns(0),
            _ => Ns(self.next_at.0.saturating_sub(burst_ns)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many frames leave until `now` if there are always some.
    fn leave(pace: &mut Pace, now: Ns, gap_ns: u64) -> u64 {
        let mut frames = 0;
        while frames < 1_000 && pace.leaves_at(gap_ns) <= now {
            pace.left(now, gap_ns);
            frames += 1;
        }
        frames
    }

    #[test]
    fn a_few_leave_together_and_then_each_at_its_time() {
        const GAP_NS: u64 = 100_000;
        let mut pace = Pace::default();
        let begin = Ns(1_000_000_000);
        assert_eq!(leave(&mut pace, begin, GAP_NS), BURST_FRAMES);
        assert_eq!(pace.leaves_at(GAP_NS), begin.after(GAP_NS));
        for round in 1..50 {
            assert_eq!(leave(&mut pace, begin.after(round * GAP_NS), GAP_NS), 1);
        }
        // Unused time is not saved up.
        assert_eq!(leave(&mut pace, begin.after(1 << 40), GAP_NS), BURST_FRAMES);
    }

    #[test]
    fn short_round_trips_are_not_paced() {
        let mut pace = Pace::default();
        assert_eq!(leave(&mut pace, Ns(1_000_000), 1_000), 65);
        assert_eq!(leave(&mut pace, Ns(1_000_000), 0), 1_000);
    }
}
