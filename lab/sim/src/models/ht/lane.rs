//! Bit times of one direction of a link, with the periodic CRC in between.

use crate::engine::Ps;

/// Bit times of a CRC window that carry packets.
///
/// Source: HyperTransport I/O link specification, periodic CRC: one CRC per 512
/// bit times, sent 64 bit times into the next window, 4 bit times long, not
/// itself counted.
pub const CRC_WINDOW_BITS: u64 = 512;
/// The place of the CRC in the next window.
pub const CRC_OFFSET_BITS: u64 = 64;
/// Bit times of the CRC itself.
pub const CRC_BITS: u64 = 4;

/// The transmit clock of one direction: turns numbers of dwords into times.
///
/// `position` counts the bit times that carried packets or idled; the CRC's own
/// bit times come on top where the window says so.
///
/// Time is kept in bit times since `epoch`, which are exact. A bit time of most clocks
/// is no whole number of picoseconds, so a time is rounded where it leaves the lane,
/// and `first_free` takes it back as the bit time that it was rounded from. So rounding
/// errors never add up.
#[derive(Clone, Debug)]
pub struct Lane {
    epoch: Ps,
    mhz: u32,
    bits_per_dword: u64,
    periodic_crc: bool,
    position: u64,
}

impl Lane {
    /// A lane whose first bit time begins at `epoch`. `width_bits` is 2, 4, 8,
    /// 16 or 32; the clock is double data rate.
    pub fn new(epoch: Ps, mhz: u32, width_bits: u8, periodic_crc: bool) -> Lane {
        Lane {
            epoch,
            mhz: mhz.max(1),
            bits_per_dword: 32 / u64::from(width_bits.clamp(2, 32)),
            periodic_crc,
            position: 0,
        }
    }

    /// Transmits `dwords` as early as possible, not before `now`.
    /// Returns (begin, end) of the transmission.
    pub fn transmit(&mut self, now: Ps, dwords: u64) -> (Ps, Ps) {
        let first = self.position.max(self.first_free(now));
        let begin = self.time_of(self.on_wire(first));
        self.position = first + dwords * self.bits_per_dword;
        let last = self.position.saturating_sub(1);
        (begin, self.time_of(self.on_wire(last) + 1))
    }

    /// Length of `count` bit times.
    pub fn bit_times(&self, count: u64) -> Ps {
        self.time_of(count) - self.epoch
    }

    /// The bit time on the wire at which packet bit time `position` begins.
    fn on_wire(&self, position: u64) -> u64 {
        let first_crc = CRC_WINDOW_BITS + CRC_OFFSET_BITS;
        if !self.periodic_crc || position < first_crc {
            return position;
        }
        position + CRC_BITS * ((position - first_crc) / CRC_WINDOW_BITS + 1)
    }

    /// First bit time that does not begin before `now`, as [`time_of`](Self::time_of)
    /// tells times: an event at the rounded end of a packet finds the lane free there and
    /// then, not one bit time later.
    ///
    /// A real transmitter fills idle time with NOPs, so a packet waits for the
    /// end of a dword: half a dword on average. Left out here; the fitted host
    /// times contain it.
    fn first_free(&self, now: Ps) -> u64 {
        let elapsed = (now - self.epoch).0;
        // The least `wire` with `time_of(wire) >= now`: `time_of` rounds up, so bit times
        // that begin within the picosecond before `now` count.
        let wire = match elapsed.checked_sub(1) {
            None => 0,
            Some(before) => u128::from(before) * u128::from(self.mhz) / 500_000 + 1,
        };
        let wire = u64::try_from(wire).unwrap_or(u64::MAX);
        let mut position = if self.periodic_crc {
            let windows = wire / (CRC_WINDOW_BITS + CRC_BITS);
            wire.saturating_sub(CRC_BITS * (windows + 2))
        } else {
            wire
        };
        while self.on_wire(position) < wire {
            position += 1;
        }
        position
    }

    /// Begin of bit time `wire`, rounded up to a picosecond.
    fn time_of(&self, wire: u64) -> Ps {
        let ps = (u128::from(wire) * 500_000).div_ceil(u128::from(self.mhz));
        self.epoch + Ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_packet_before_the_first_crc() {
        let mut lane = Lane::new(Ps(1_000), 800, 16, true);
        assert_eq!(
            lane.transmit(Ps::ZERO, 18),
            (Ps(1_000), Ps(23_500)),
            "36 bit times of 625 ps"
        );
        assert_eq!(lane.transmit(Ps::ZERO, 1).0, Ps(23_500), "back to back");
        assert_eq!(lane.transmit(Ps(30_001), 1).0, Ps(30_375), "next bit time");
    }

    #[test]
    fn crc_comes_64_bit_times_into_the_next_window() {
        let mut lane = Lane::new(Ps::ZERO, 500, 32, true); // one dword per bit time of 1 ns
        assert_eq!(lane.transmit(Ps::ZERO, 576).1, Ps::from_ns(576));
        assert_eq!(
            lane.transmit(Ps::ZERO, 1),
            (Ps::from_ns(580), Ps::from_ns(581))
        );
        assert_eq!(lane.transmit(Ps::ZERO, 511).1, Ps::from_ns(1_092));
        assert_eq!(lane.transmit(Ps::ZERO, 1).0, Ps::from_ns(1_096));
    }

    #[test]
    fn steady_state_share_is_512_of_516() {
        let mut lane = Lane::new(Ps::ZERO, 200, 8, true);
        let (_, end) = lane.transmit(Ps::ZERO, 128 * 10_000);
        assert_eq!(
            end,
            Ps(2_500) * (516 * 10_000 - 4),
            "the CRC of the last window is still to come"
        );
    }

    /// Packets that follow each other without a gap, each begun by an event at the end of
    /// the one before, as a link does it: the formula at every clock and width.
    #[test]
    fn no_clock_loses_a_bit_time_between_packets() {
        const PACKETS: u64 = 400;
        const DWORDS: u64 = 18;
        for mhz in 200..=2_600 {
            for width in [2u8, 4, 8, 16, 32] {
                let mut lane = Lane::new(Ps(777), mhz, width, false);
                let mut now = Ps::ZERO;
                for _ in 0..PACKETS {
                    now = lane.transmit(now, DWORDS).1;
                }
                let bits = PACKETS * DWORDS * 32 / u64::from(width);
                let want_ps = bits as f64 * 5e5 / f64::from(mhz);
                let got_ps = (now - Ps(777)).0 as f64;
                assert!(
                    (got_ps - want_ps).abs() < 1.0,
                    "{width} bit {mhz} MHz: {got_ps} ps instead of {want_ps}"
                );
            }
        }
    }

    /// The plain way: walk over the wire bit by bit.
    fn oracle(starts: &[(u64, u64)], bits_per_dword: u64) -> Vec<(u64, u64)> {
        let is_crc = |wire: u64| wire >= 576 && (wire - 576) % 516 < 4;
        let mut wire = 0;
        let mut out = Vec::new();
        for &(earliest, dwords) in starts {
            while wire < earliest || is_crc(wire) {
                wire += 1;
            }
            let begin = wire;
            let mut left = dwords * bits_per_dword;
            let mut end = wire;
            while left > 0 {
                if !is_crc(wire) {
                    left -= 1;
                    end = wire + 1;
                }
                wire += 1;
            }
            out.push((begin, end));
        }
        out
    }

    proptest! {
        #[test]
        fn agrees_with_walking_the_wire(
            gaps in prop::collection::vec((0u64..900, 1u64..20), 1..40),
            width in prop::sample::select(vec![8u8, 16, 32]),
        ) {
            let mut at = 0;
            let starts: Vec<_> = gaps.iter().map(|&(gap, dwords)| { at += gap; (at, dwords) }).collect();
            let want = oracle(&starts, 32 / u64::from(width));
            let mut lane = Lane::new(Ps::ZERO, 500, width, true);
            for (&(earliest, dwords), (begin, end)) in starts.iter().zip(want) {
                prop_assert_eq!(lane.transmit(Ps::from_ns(earliest), dwords), (Ps::from_ns(begin), Ps::from_ns(end)));
            }
        }
    }
}
