//! Periodic CRC of links without retry mode (up to 1 GHz).
//!
//! Every lane of 8 CAD bits has its own CRC-32. One window is 512 bit-times;
//! each of them contributes `CAD[0]` to `CAD[7]`, then CTL. The CRC of a window
//! is sent inverted, low byte first and with CTL set, 64 bit-times into the
//! next window. It takes 4 bit-times that are neither counted nor covered, so
//! in the long run 512 of 516 bit-times carry packets. The first window
//! carries no CRC.
//!
//! Links of 2 or 4 bits spread one byte over several bit-times. Their CRC is
//! that of the bytes; count one bit-time per byte here and scale the result.
//!
//! Source: link layer of the ht_tunnel core.

use crate::crc32;
use crate::error::{Error, Result};

/// Bit-times covered by one CRC.
pub const WINDOW_BIT_TIMES: u64 = 512;

/// Bit-times of a window before the CRC of the window before it is sent.
pub const CRC_OFFSET_BIT_TIMES: u64 = 64;

/// Bit-times that sending one CRC takes on its lane.
pub const CRC_BIT_TIMES: u64 = 4;

/// CRC of one window of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneCrc(u32);

impl LaneCrc {
    /// At the start of a window.
    pub const fn new() -> Self {
        Self(u32::MAX)
    }

    /// Takes one bit-time.
    pub fn push(&mut self, cad: u8, ctl: bool) {
        self.0 = crc32::direct_shift_bit(crc32::direct_shift(self.0, cad), ctl);
    }

    /// The CRC as it is sent: inverted.
    pub const fn wire(self) -> u32 {
        !self.0
    }
}

impl Default for LaneCrc {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts bit-times and says how many more the CRC takes. For link models that need
/// exact times but no CRC values.
///
/// ```
/// use hostwire_packet::ht::periodic_crc::Window;
///
/// let mut window = Window::new();
/// // Two windows: the CRC of the first one is sent inside the second.
/// assert_eq!(window.advance(1024), 4);
/// // In the long run 4 bit-times per 512.
/// assert_eq!(window.advance(512_000), 4_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Window {
    counted: u64,
}

impl Window {
    /// At link initialisation.
    pub const fn new() -> Self {
        Self { counted: 0 }
    }

    /// Lets `bit_times` of packets pass, and returns the additional bit-times of CRCs. A
    /// CRC that is due right after them is included.
    pub const fn advance(&mut self, bit_times: u64) -> u64 {
        let before = Self::crcs(self.counted);
        self.counted = self.counted.saturating_add(bit_times);
        (Self::crcs(self.counted) - before) * CRC_BIT_TIMES
    }

    /// CRCs sent by the time that `counted` bit-times of packets have passed.
    const fn crcs(counted: u64) -> u64 {
        counted.saturating_sub(CRC_OFFSET_BIT_TIMES) / WINDOW_BIT_TIMES
    }
}

/// Position in the windows of a lane, shared by both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lane {
    current: LaneCrc,
    /// Bit-times counted in the current window.
    counted: u64,
    /// CRC of the window before, from its end until it is sent.
    pending: Option<u32>,
    /// CRC bit-times already passed.
    crc_bit_times: usize,
}

impl Lane {
    const fn new() -> Self {
        Self {
            current: LaneCrc::new(),
            counted: 0,
            pending: None,
            crc_bit_times: 0,
        }
    }

    /// The CRC that occupies the next bit-time.
    fn due(&self) -> Option<u32> {
        self.pending
            .filter(|_| self.counted >= CRC_OFFSET_BIT_TIMES)
    }

    fn push(&mut self, cad: u8, ctl: bool) {
        self.current.push(cad, ctl);
        self.counted += 1;
        if self.counted == WINDOW_BIT_TIMES {
            self.pending = Some(self.current.wire());
            self.current = LaneCrc::new();
            self.counted = 0;
        }
    }

    /// Passes one CRC bit-time; true at the last one.
    fn pass_crc(&mut self) -> bool {
        self.crc_bit_times += 1;
        let last = self.crc_bit_times as u64 == CRC_BIT_TIMES;
        if last {
            self.crc_bit_times = 0;
            self.pending = None;
        }
        last
    }
}

/// One bit-time of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BitTime {
    /// `CAD[7:0]`.
    pub cad: u8,
    /// CTL.
    pub ctl: bool,
}

/// Sending side of one lane: puts CRCs between the bit-times of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneTransmitter {
    lane: Lane,
}

impl LaneTransmitter {
    /// At link initialisation.
    pub const fn new() -> Self {
        Self { lane: Lane::new() }
    }

    /// Produces the next bit-time. Asks for payload only if no CRC is due.
    pub fn step(&mut self, payload: impl FnOnce() -> BitTime) -> BitTime {
        if let Some(crc) = self.lane.due() {
            let bytes = crc.to_le_bytes();
            let cad = bytes.get(self.lane.crc_bit_times).copied().unwrap_or(0);
            self.lane.pass_crc();
            return BitTime { cad, ctl: true };
        }
        let bit_time = payload();
        self.lane.push(bit_time.cad, bit_time.ctl);
        bit_time
    }

    /// Whether the next bit-time is part of a CRC.
    pub fn crc_due(&self) -> bool {
        self.lane.due().is_some()
    }
}

impl Default for LaneTransmitter {
    fn default() -> Self {
        Self::new()
    }
}

/// The role of a received bit-time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Part of a packet.
    Payload,
    /// Part of a CRC, not yet its end.
    Crc,
    /// The last part of a CRC that matched its window.
    CrcMatch,
}

/// Receiving side of one lane: takes the CRCs out and checks them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneReceiver {
    lane: Lane,
    received: [u8; 4],
}

impl LaneReceiver {
    /// At link initialisation.
    pub const fn new() -> Self {
        Self {
            lane: Lane::new(),
            received: [0; 4],
        }
    }

    /// Takes the next bit-time.
    ///
    /// # Errors
    /// [`Error::Checksum`] at the end of a CRC that does not match. The lane continues
    /// after it; the caller decides what to do (log, sync flood).
    pub fn step(&mut self, bit_time: BitTime) -> Result<Received> {
        let Some(expected) = self.lane.due() else {
            self.lane.push(bit_time.cad, bit_time.ctl);
            return Ok(Received::Payload);
        };
        if let Some(slot) = self.received.get_mut(self.lane.crc_bit_times) {
            *slot = bit_time.cad;
        }
        if !self.lane.pass_crc() {
            return Ok(Received::Crc);
        }
        let got = u32::from_le_bytes(self.received);
        if got != expected {
            return Err(Error::Checksum {
                field: "ht.periodic_crc",
                expected,
                got,
            });
        }
        Ok(Received::CrcMatch)
    }
}

impl Default for LaneReceiver {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;

    fn payload(i: usize) -> BitTime {
        BitTime {
            cad: (i * 31 + 7) as u8,
            ctl: i.is_multiple_of(3),
        }
    }

    /// The shift register written out bit by bit, as in the hardware source.
    fn oracle(bit_times: impl Iterator<Item = BitTime>) -> u32 {
        let mut crc = u32::MAX;
        for BitTime { cad, ctl } in bit_times {
            let bits = (0..8).map(|i| cad >> i & 1 == 1).chain([ctl]);
            for bit in bits {
                let out = crc >> 31 == 1;
                crc = crc << 1 | u32::from(bit);
                if out {
                    crc ^= crc32::POLYNOMIAL;
                }
            }
        }
        !crc
    }

    #[test]
    fn crc_of_idle_window() {
        // Zero register stays zero: 512 x NOP (CAD 0, CTL 1) is not zero.
        let mut crc = LaneCrc::new();
        for _ in 0..512 {
            crc.push(0, true);
        }
        let idle = BitTime { cad: 0, ctl: true };
        assert_eq!(crc.wire(), oracle(core::iter::repeat_n(idle, 512)));
    }

    #[test]
    fn crc_sits_64_bit_times_into_the_next_window() {
        let mut transmitter = LaneTransmitter::new();
        let mut sent = 0;
        let line: Vec<_> = (0..1200)
            .map(|_| {
                transmitter.step(|| {
                    sent += 1;
                    payload(sent - 1)
                })
            })
            .collect();
        // First window and 64 bit-times untouched, then the CRC.
        for (i, &bit_time) in line[..576].iter().enumerate() {
            assert_eq!(bit_time, payload(i));
        }
        let crc = oracle((0..512).map(payload)).to_le_bytes();
        for (i, &cad) in crc.iter().enumerate() {
            assert_eq!(line[576 + i], BitTime { cad, ctl: true });
        }
        assert_eq!(line[580], payload(576));
        // The second CRC 516 bit-times later, over the second window only.
        let crc = oracle((512..1024).map(payload)).to_le_bytes();
        for (i, &cad) in crc.iter().enumerate() {
            assert_eq!(line[1092 + i], BitTime { cad, ctl: true });
        }
        assert_eq!(sent, 1200 - 8);
    }

    #[test]
    fn receiver_checks_and_goes_on() {
        let mut transmitter = LaneTransmitter::new();
        let mut receiver = LaneReceiver::new();
        let (mut matches, mut errors) = (0, 0);
        for i in 0..4 * 516 {
            let mut bit_time = transmitter.step(|| payload(i));
            if i == 700 {
                bit_time.cad ^= 0x10; // damage the second window
            }
            match receiver.step(bit_time) {
                Ok(Received::CrcMatch) => matches += 1,
                Ok(_) => {}
                Err(Error::Checksum { expected, got, .. }) => {
                    assert_ne!(expected, got);
                    errors += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert_eq!((matches, errors), (2, 1));
    }

    #[test]
    fn window_agrees_with_the_transmitter() {
        for step in [1, 7, 64, 512, 1000] {
            let mut window = Window::new();
            let mut transmitter = LaneTransmitter::new();
            for _ in 0..5000 / step {
                let mut crc_bit_times = 0;
                for _ in 0..step {
                    transmitter.step(|| payload(0));
                    while transmitter.crc_due() {
                        transmitter.step(|| unreachable!());
                        crc_bit_times += 1;
                    }
                }
                assert_eq!(window.advance(step), crc_bit_times, "step {step}");
            }
        }
    }
}
