use core::fmt;

use crate::bits::{need, room};
use crate::crc32::crc32_ieee;
use crate::error::{Error, Result};

use super::fields::SequenceNumber;
use super::tlp::{self, HeaderRepr};

/// Bytes in front of the TLP: 4 reserved bits and the sequence number.
pub const SEQUENCE_LEN: usize = 2;

/// Bytes of the LCRC behind the TLP.
pub const LCRC_LEN: usize = 4;

/// Symbols that a TLP takes on a Gen1 or Gen2 link: STP, sequence number, the
/// TLP, LCRC, END. 20 symbols more than the data with a header of 3 dwords,
/// 24 with 4.
pub const fn tlp_wire_len(header: &HeaderRepr) -> usize {
    1 + SEQUENCE_LEN + header.tlp_len() + LCRC_LEN + 1
}

/// View of a TLP as the data link layer sends it, without framing symbols.
///
/// | bytes | field |
/// |---|---|
/// | 0..2 | sequence number in `[11:0]`, big-endian |
/// | 2.. | TLP |
/// | last 4 | LCRC: CRC-32 over all before, stored least significant byte first |
///
/// The LCRC has the bit order of an Ethernet FCS. Sent not complemented it
/// nullifies the TLP.
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
    tlp_len: usize,
}

mod field {
    use core::ops::Range;

    pub const SEQUENCE: Range<usize> = 0..2;

    pub const fn lcrc(tlp_len: usize) -> Range<usize> {
        SEQUENCE.end + tlp_len..SEQUENCE.end + tlp_len + 4
    }
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the TLP, and that the LCRC is present; does not check its value.
    ///
    /// # Errors
    /// As [`tlp::Packet::new_checked`].
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = buffer.as_ref();
        need("pcie.link_tlp.sequence", bytes, SEQUENCE_LEN)?;
        let tail = bytes.get(field::SEQUENCE.end..).unwrap_or(&[]);
        let tlp_len = tlp::Packet::new_checked(tail)?.len();
        need("pcie.link_tlp.lcrc", bytes, field::lcrc(tlp_len).end)?;
        Ok(Self { buffer, tlp_len })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }

    /// Length in bytes, without framing symbols.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        field::lcrc(self.tlp_len).end
    }

    /// Sequence number.
    pub fn sequence(&self) -> SequenceNumber {
        let bytes = self.buffer.as_ref().first_chunk().copied();
        SequenceNumber::from_wire(u32::from(u16::from_be_bytes(bytes.unwrap_or([0; 2]))) & 0xfff)
    }

    /// Bytes of the TLP.
    pub fn tlp(&self) -> &[u8] {
        let range = field::SEQUENCE.end..field::lcrc(self.tlp_len).start;
        self.buffer.as_ref().get(range).unwrap_or(&[])
    }

    /// LCRC as it stands.
    pub fn lcrc(&self) -> u32 {
        let bytes = self.buffer.as_ref().get(field::lcrc(self.tlp_len));
        u32::from_le_bytes(
            bytes
                .and_then(|b| b.first_chunk().copied())
                .unwrap_or([0; 4]),
        )
    }

    /// Compares the LCRC with the bytes it covers.
    ///
    /// # Errors
    /// [`Error::Stomped`] if the TLP was nullified, else [`Error::Checksum`].
    pub fn check_lcrc(&self) -> Result<()> {
        let expected = self.computed_lcrc();
        let got = self.lcrc();
        if got == expected {
            return Ok(());
        }
        if got == !expected {
            return Err(Error::Stomped {
                field: "pcie.link_tlp.lcrc",
            });
        }
        Err(Error::Checksum {
            field: "pcie.link_tlp.lcrc",
            expected,
            got,
        })
    }

    fn computed_lcrc(&self) -> u32 {
        let covered = ..field::lcrc(self.tlp_len).start;
        crc32_ieee(self.buffer.as_ref().get(covered).unwrap_or(&[]))
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// Sets the sequence number. Call [`fill_lcrc`](Self::fill_lcrc) afterwards.
    pub fn set_sequence(&mut self, value: SequenceNumber) {
        if let Some(slot) = self.buffer.as_mut().first_chunk_mut() {
            *slot = value.get().to_be_bytes();
        }
    }

    /// Computes the LCRC and puts it in.
    pub fn fill_lcrc(&mut self) {
        let lcrc = self.computed_lcrc();
        self.put_lcrc(lcrc);
    }

    /// Puts in the LCRC that tells the receiver to drop the TLP.
    pub fn nullify(&mut self) {
        let lcrc = !self.computed_lcrc();
        self.put_lcrc(lcrc);
    }

    fn put_lcrc(&mut self, lcrc: u32) {
        let range = field::lcrc(self.tlp_len);
        if let Some(slot) = self.buffer.as_mut().get_mut(range) {
            slot.copy_from_slice(&lcrc.to_le_bytes());
        }
    }
}

/// A TLP with sequence number and LCRC, as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr<'a> {
    /// Sequence number.
    pub sequence: SequenceNumber,
    /// The TLP.
    pub tlp: tlp::Repr<'a>,
}

impl<'a> Repr<'a> {
    /// Reads the TLP at the start of `bytes` and checks its LCRC.
    ///
    /// # Errors
    /// As [`Packet::new_checked`] and [`Packet::check_lcrc`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let packet = Packet::new_checked(bytes)?;
        packet.check_lcrc()?;
        Ok(Self {
            sequence: packet.sequence(),
            tlp: tlp::Repr::parse(bytes.get(SEQUENCE_LEN..).unwrap_or(&[]))?,
        })
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        field::lcrc(self.tlp.buffer_len()).end
    }

    /// Writes sequence number, TLP and LCRC to the start of `buffer`; returns
    /// the length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let buffer = room("pcie.link_tlp", buffer, self.buffer_len())?;
        let tail = buffer.get_mut(SEQUENCE_LEN..).unwrap_or_default();
        let tlp_len = self.tlp.emit(tail)?;
        let mut packet = Packet { buffer, tlp_len };
        packet.set_sequence(self.sequence);
        packet.fill_lcrc();
        Ok(packet.len())
    }
}

impl fmt::Display for Repr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "seq={} {}", self.sequence, self.tlp)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use super::*;
    use crate::pcie::{MemoryRepr, RoutingId, memory::Operation};

    /// Sequence 0x123; MWr of 4 bytes to 0x1000; LCRC to be filled in.
    const BYTES: [u8; 22] = [
        0x01, 0x23, // sequence number
        0x40, 0, 0, 1, 0, 0, 0, 0x0f, 0, 0, 0x10, 0, // header
        0xde, 0xad, 0xbe, 0xef, // data
        0, 0, 0, 0, // LCRC
    ];

    /// CRC-32 bit by bit: bits least significant first into the most
    /// significant end, complemented, last bit out first.
    fn oracle(bytes: &[u8]) -> [u8; 4] {
        let mut crc = u32::MAX;
        for byte in bytes {
            for bit in 0..8 {
                let out = (crc >> 31 == 1) ^ (byte >> bit & 1 == 1);
                crc <<= 1;
                if out {
                    crc ^= 0x04c1_1db7;
                }
            }
        }
        (!crc).to_be_bytes().map(u8::reverse_bits)
    }

    #[test]
    fn write() {
        let mut bytes = BYTES;
        let lcrc = oracle(&bytes[..18]);
        bytes[18..].copy_from_slice(&lcrc);
        let header = MemoryRepr::covering(Operation::Write, RoutingId(0), 0x1000, 4).unwrap();
        let repr = Repr {
            sequence: SequenceNumber::new(0x123).unwrap(),
            tlp: tlp::Repr::new(header, &[0xde, 0xad, 0xbe, 0xef]).unwrap(),
        };
        assert_eq!(Repr::parse(&bytes), Ok(repr));
        let mut out = [0xee; 22];
        assert_eq!(repr.emit(&mut out), Ok(22));
        assert_eq!(out, bytes);
        assert_eq!(
            repr.to_string(),
            "seq=291 MWr req=00:00.0 tag=0 addr=0x1000 len=4"
        );
        // 4 bytes of data and 20 of overhead.
        assert_eq!(tlp_wire_len(repr.tlp.header()), 24);
    }

    #[test]
    fn nullified_and_broken() {
        let mut bytes = BYTES;
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        packet.nullify();
        assert_eq!(
            Repr::parse(&bytes),
            Err(Error::Stomped {
                field: "pcie.link_tlp.lcrc"
            })
        );
        bytes[0] ^= 0x01;
        assert!(matches!(
            Repr::parse(&bytes),
            Err(Error::Checksum {
                field: "pcie.link_tlp.lcrc",
                ..
            })
        ));
        assert_eq!(
            Repr::parse(&bytes[..21]),
            Err(Error::Truncated {
                field: "pcie.link_tlp.lcrc",
                expected_bytes: 22,
                got_bytes: 21
            })
        );
    }
}
