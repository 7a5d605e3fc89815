//! Consecutive whole lines with one control packet before them: for long runs of memory.
//!
//! Source: own addition to HyperTransport, whose longest write is a line; see
//! `docs/wire/htoe.md`.

use crate::error::{Error, Result};
use crate::ht::{Address, LINE_LEN, LINE_PACKET_LEN, PlainWrite, WHOLE_LINE};

/// Length of the control packet in front of lines, in bytes.
pub const LINE_CONTROL_LEN: usize = LINE_PACKET_LEN - LINE_LEN;

/// Command of a burst: reserved in HyperTransport.
const BURST: u64 = 0b10_0100;
const COMMAND_MASK: u64 = 0x3f;
const LINES_SHIFT: u32 = 8;
/// The bits that are 0 in every burst, in both dwords: between command and lines, between
/// lines and address, and the address within a line.
const RESERVED: u64 = 0x3fff_00c0;

/// The control packet in front of `lines` whole lines that are written from `address` on: a
/// posted write for one line, a burst for more. `None` if `lines` is 0, or if no lines may be
/// at this address.
///
/// If a frame ends with lines, more lines that follow in memory can be added: append them,
/// and write this packet anew.
///
/// # Shapes and units
/// - `address`: bytes, a multiple of 64; the last line ends at 2^40 or before.
#[inline]
pub fn line_control(address: u64, lines: u8) -> Option<[u8; LINE_CONTROL_LEN]> {
    let end = address.checked_add(u64::from(lines) * LINE_LEN as u64)?;
    if lines == 0 || !address.is_multiple_of(LINE_LEN as u64) || end > Address::PLAIN_END {
        return None;
    }
    let command = match lines {
        1 => u64::from(WHOLE_LINE),
        _ => BURST | u64::from(lines) << LINES_SHIFT,
    };
    // Address bits 7 to 2 from bit 26 on, bits 39 to 8 in the second dword.
    let both = command | (address & 0xff) << 24 | address >> 8 << 32;
    Some(both.to_le_bytes())
}

/// A burst as it lies in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst<'a> {
    pub(super) address: u64,
    /// Two at least.
    pub(super) lines: &'a [[u8; LINE_LEN]],
}

impl<'a> Burst<'a> {
    pub(super) const NONE: Self = Self {
        address: 0,
        lines: &[],
    };

    /// Reads a burst at the start of `bytes`, and also returns the bytes after it; `None` for
    /// any other packet.
    ///
    /// # Errors
    /// [`Error::Truncated`], [`Error::OutOfRange`] or [`Error::Value`] for a burst that is
    /// broken.
    #[inline]
    pub(super) fn split_first(bytes: &'a [u8]) -> Result<Option<(Self, &'a [u8])>> {
        let Some((control, behind)) = bytes.split_first_chunk::<LINE_CONTROL_LEN>() else {
            return Ok(None);
        };
        let both = u64::from_le_bytes(*control);
        if both & COMMAND_MASK != BURST {
            return Ok(None);
        }
        if both & RESERVED != 0 {
            return Err(Error::Value {
                field: "htoe.burst.reserved",
                expected: "0",
                got: both & RESERVED,
            });
        }
        let count = (both >> LINES_SHIFT) as u8;
        let address = both >> 32 << 8 | both >> 24 & 0xff;
        let len = usize::from(count) * LINE_LEN;
        // Both below 2^41.
        if count < 2 || address + len as u64 > Address::PLAIN_END {
            return Err(Error::OutOfRange {
                field: "htoe.burst.lines",
                min: 2,
                max: ((Address::PLAIN_END - address) / LINE_LEN as u64).min(u8::MAX.into()),
                got: count.into(),
            });
        }
        let Some((data, rest)) = behind.split_at_checked(len) else {
            return Err(Error::Truncated {
                field: "htoe.burst.data",
                expected_bytes: LINE_CONTROL_LEN + len,
                got_bytes: bytes.len(),
            });
        };
        let (lines, _) = data.as_chunks();
        Ok(Some((Self { address, lines }, rest)))
    }

    /// Removes the first line and returns it as a plain write.
    pub(super) fn take_line(&mut self) -> Option<PlainWrite<'a>> {
        let (line, rest) = self.lines.split_first()?;
        let address = self.address;
        *self = Self {
            address: address + LINE_LEN as u64,
            lines: rest,
        };
        Some(PlainWrite {
            address,
            data: line,
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec::Vec;

    use super::*;
    use crate::ht::{Dwords, PacketRepr, RequestRepr, UnitId};

    /// Three lines at 0x12_3456_7840.
    const CONTROL: [u8; 8] = [0x24, 0x03, 0x00, 0x40, 0x78, 0x56, 0x34, 0x12];

    fn burst(control: [u8; 8], data: &[u8]) -> Vec<u8> {
        [&control[..], data].concat()
    }

    #[test]
    fn literal_bytes() {
        assert_eq!(line_control(0x12_3456_7840, 3), Some(CONTROL));
        let data: [u8; 200] = core::array::from_fn(|i| i as u8);
        let bytes = burst(CONTROL, &data);
        let (mut burst, rest) = Burst::split_first(&bytes).unwrap().unwrap();
        assert_eq!(rest, &data[192..]);
        for i in 0..3_usize {
            let line = PlainWrite {
                address: 0x12_3456_7840 + 64 * i as u64,
                data: &data[64 * i..][..64],
            };
            assert_eq!(burst.take_line(), Some(line));
        }
        assert_eq!(burst.take_line(), None);
    }

    #[test]
    fn one_line_is_a_posted_write() {
        for address in [0, 64, 0xc0, 0x12_3456_7840, Address::PLAIN_END - 64] {
            let line = [0x5a; LINE_LEN];
            let to = Address::new(address).unwrap();
            let write = RequestRepr::posted_write(UnitId::MIN, to, Dwords::MAX);
            let mut expected = [0; LINE_CONTROL_LEN + LINE_LEN];
            let packet = PacketRepr::new(write, &line).unwrap();
            packet.emit(&mut expected).unwrap();
            let bytes = burst(line_control(address, 1).unwrap(), &line);
            assert_eq!(bytes, expected, "{address:#x}");
            assert_eq!(Burst::split_first(&bytes), Ok(None));
        }
    }

    #[test]
    fn lines_lie_below_2_to_the_40() {
        let end = Address::PLAIN_END;
        assert_eq!(line_control(0, 0), None);
        for (address, lines) in [(1, 2), (60, 1), (end, 1), (end - 64, 2), (u64::MAX - 63, 2)] {
            assert_eq!(line_control(address, lines), None, "{address:#x}");
        }
        let last = line_control(end - 255 * 64, 255).unwrap();
        let bytes = burst(last, &[7; 255 * 64]);
        let (burst, rest) = Burst::split_first(&bytes).unwrap().unwrap();
        assert_eq!((burst.address, burst.lines.len()), (end - 255 * 64, 255));
        assert!(rest.is_empty());
    }

    #[test]
    fn broken_ones_are_refused() {
        let data = [1; 192];
        let truncated = Burst::split_first(&burst(CONTROL, &data)[..199]).map(|_| ());
        assert_eq!(
            truncated,
            Err(Error::Truncated {
                field: "htoe.burst.data",
                expected_bytes: 200,
                got_bytes: 199
            })
        );
        for lines in [0, 1] {
            let mut control = CONTROL;
            control[1] = lines;
            assert_eq!(
                Burst::split_first(&burst(control, &data)),
                Err(Error::OutOfRange {
                    field: "htoe.burst.lines",
                    min: 2,
                    max: 255,
                    got: lines.into()
                })
            );
        }
        let mut high = line_control(Address::PLAIN_END - 128, 2).unwrap();
        high[1] = 3;
        assert_eq!(
            Burst::split_first(&burst(high, &data)),
            Err(Error::OutOfRange {
                field: "htoe.burst.lines",
                min: 2,
                max: 2,
                got: 3
            })
        );
        for bit in [6, 7, 16, 20, 25, 26, 29] {
            let mut control = CONTROL;
            control[bit / 8] |= 1 << (bit % 8);
            assert_eq!(
                Burst::split_first(&burst(control, &data)),
                Err(Error::Value {
                    field: "htoe.burst.reserved",
                    expected: "0",
                    got: 1 << bit
                })
            );
        }
        // Too short to show its kind: the reader of packets reports it.
        assert_eq!(Burst::split_first(&CONTROL[..7]), Ok(None));
    }
}
