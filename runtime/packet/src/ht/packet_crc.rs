//! Per-packet CRC of links in retry mode (above 1 GHz).
//!
//! Every packet, NOPs included, is followed by a CRC-32 of its own: over the
//! control packet with address extension, and over its data. Each dword
//! contributes 34 bits: the low half, LCTL, the high half, HCTL. The CRC is
//! sent inverted. A CRC that arrives *not* inverted marks the packet as
//! stomped: a cut-through hop found it broken after it had begun to forward
//! it. Stomped packets are dropped without an error.
//!
//! A packet that is inserted into the data of another one has its own CRC and
//! is left out of the outer one; use [`PacketCrc`] dword by dword for that.
//!
//! Source: packet CRC and decoder of the ht_tunnel core.

use crate::bits::{need, room, word_at};
use crate::crc32;
use crate::error::{Error, Result};

use super::packet::Repr;

/// Bytes that the CRC adds to every packet.
pub const LEN: usize = 4;

/// The kind of a dword on the link; in retry mode LCTL and HCTL encode it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DwordKind {
    /// Part of a control packet: LCTL 1, HCTL 1.
    Control,
    /// Part of a data phase: 0, 0.
    Data,
    /// CRC of a packet without data: 1, 0.
    ControlCrc,
    /// CRC of a packet with data: 0, 1.
    DataCrc,
}

impl DwordKind {
    /// CTL of the first half of the dword.
    pub const fn lctl(self) -> bool {
        matches!(self, DwordKind::Control | DwordKind::ControlCrc)
    }

    /// CTL of the second half of the dword.
    pub const fn hctl(self) -> bool {
        matches!(self, DwordKind::Control | DwordKind::DataCrc)
    }
}

/// CRC of one packet, dword by dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketCrc {
    /// Reflected register: bit 31 of the specification is bit 0 here.
    register: u32,
}

impl PacketCrc {
    /// At the start of a packet.
    pub const fn new() -> Self {
        Self { register: u32::MAX }
    }

    /// Takes one dword of the packet, as its four bytes on the link.
    pub fn push(&mut self, dword: [u8; 4], kind: DwordKind) {
        let [a, b, c, d] = dword;
        let low = crc32::reflected(self.register, &[a, b]);
        let low = crc32::reflected_bit(low, kind.lctl());
        let high = crc32::reflected(low, &[c, d]);
        self.register = crc32::reflected_bit(high, kind.hctl());
    }

    /// Takes whole dwords; bytes beyond the last whole one are left out.
    pub fn push_all(&mut self, bytes: &[u8], kind: DwordKind) {
        for dword in bytes.as_chunks::<4>().0 {
            self.push(*dword, kind);
        }
    }

    /// The CRC of a good packet as it is sent: inverted.
    pub const fn wire(self) -> u32 {
        !self.stomped()
    }

    /// The CRC of a stomped packet as it is sent: not inverted.
    pub const fn stomped(self) -> u32 {
        self.register.reverse_bits()
    }

    /// Compares with a CRC received.
    ///
    /// # Errors
    /// [`Error::Stomped`], or [`Error::Checksum`] if it is neither form.
    pub const fn check(self, got: u32) -> Result<()> {
        if got == self.wire() {
            return Ok(());
        }
        if got == self.stomped() {
            return Err(Error::Stomped {
                field: "ht.packet_crc",
            });
        }
        Err(Error::Checksum {
            field: "ht.packet_crc",
            expected: self.wire(),
            got,
        })
    }

    /// CRC of the `control_len` bytes of a control packet and the data behind.
    fn of(packet: &[u8], control_len: usize) -> Self {
        let mut crc = Self::new();
        let (control, data) = packet
            .split_at_checked(control_len)
            .unwrap_or((packet, &[]));
        crc.push_all(control, DwordKind::Control);
        crc.push_all(data, DwordKind::Data);
        crc
    }
}

impl Default for PacketCrc {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether a packet is sent with a good CRC or given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ending {
    /// Inverted CRC.
    Good,
    /// CRC not inverted: the receiver drops the packet.
    Stomped,
}

/// Bytes of a packet with its CRC.
pub const fn buffer_len(packet: &Repr<'_>) -> usize {
    packet.buffer_len() + LEN
}

/// Writes a packet and its CRC to the start of `buffer`; returns the length.
///
/// # Errors
/// As [`Repr::emit`], with nothing written.
pub fn emit(packet: &Repr<'_>, ending: Ending, buffer: &mut [u8]) -> Result<usize> {
    let buffer = room("ht.packet_crc", buffer, buffer_len(packet))?;
    let len = packet.emit(buffer)?;
    let crc = PacketCrc::of(
        buffer.get(..len).unwrap_or(&[]),
        packet.control().buffer_len(),
    );
    let wire = match ending {
        Ending::Good => crc.wire(),
        Ending::Stomped => crc.stomped(),
    };
    if let Some(slot) = buffer.last_chunk_mut() {
        *slot = wire.to_le_bytes();
    }
    Ok(buffer.len())
}

/// Reads a packet and its CRC from the start of `bytes`.
///
/// The lengths come from the packet itself, so a damaged packet may fail with
/// any error of [`Repr::parse`] before its CRC is found. Either way the link
/// has to be retried.
///
/// # Errors
/// As [`Repr::parse`] and [`PacketCrc::check`].
pub fn parse(bytes: &[u8]) -> Result<Repr<'_>> {
    let packet = Repr::parse(bytes)?;
    let len = packet.buffer_len();
    let whole = need("ht.packet_crc", bytes, len + LEN)?;
    let covered = whole.get(..len).unwrap_or(&[]);
    let crc = PacketCrc::of(covered, packet.control().buffer_len());
    crc.check(u32::from_le_bytes(word_at(whole, len / 4)))?;
    Ok(packet)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ht::fields::{Address, Dwords, UnitId};
    use crate::ht::{nop, request};

    /// The register written out bit by bit, as in the hardware source.
    fn oracle(dwords: &[([u8; 4], bool, bool)]) -> u32 {
        let mut crc = u32::MAX;
        for &(bytes, lctl, hctl) in dwords {
            let dword = u32::from_le_bytes(bytes);
            let low = (0..16).map(|i| dword >> i & 1 == 1).chain([lctl]);
            let high = (16..32).map(|i| dword >> i & 1 == 1).chain([hctl]);
            for bit in low.chain(high) {
                let out = (crc >> 31 == 1) ^ bit;
                crc <<= 1;
                if out {
                    crc ^= crc32::POLYNOMIAL;
                }
            }
        }
        crc
    }

    #[test]
    fn write_with_data() {
        let address = Address::new(0x40).unwrap();
        let write = request::Repr::posted_write(UnitId::MIN, address, Dwords::MIN);
        let packet = Repr::new(write, &[0xde, 0xad, 0xbe, 0xef]).unwrap();
        let mut bytes = [0; 16];
        assert_eq!(emit(&packet, Ending::Good, &mut bytes), Ok(16));
        let expected = !oracle(&[
            ([0x2c, 0x00, 0x00, 0x40], true, true),
            ([0x00, 0x00, 0x00, 0x00], true, true),
            ([0xde, 0xad, 0xbe, 0xef], false, false),
        ]);
        assert_eq!(bytes[12..], expected.to_le_bytes());
        assert_eq!(parse(&bytes), Ok(packet));
    }

    #[test]
    fn nops_have_a_crc_too() {
        let packet = Repr::new(nop::Repr::default(), &[]).unwrap();
        let mut bytes = [0; 8];
        assert_eq!(emit(&packet, Ending::Good, &mut bytes), Ok(8));
        assert_eq!(bytes[4..], (!oracle(&[([0; 4], true, true)])).to_le_bytes());
    }

    #[test]
    fn stomped_and_broken() {
        let packet = Repr::new(nop::Repr::default(), &[]).unwrap();
        let mut bytes = [0; 8];
        emit(&packet, Ending::Stomped, &mut bytes).unwrap();
        assert_eq!(
            parse(&bytes),
            Err(Error::Stomped {
                field: "ht.packet_crc"
            })
        );
        bytes[4] ^= 1;
        assert!(matches!(
            parse(&bytes),
            Err(Error::Checksum {
                field: "ht.packet_crc",
                ..
            })
        ));
        assert_eq!(
            parse(&bytes[..7]),
            Err(Error::Truncated {
                field: "ht.packet_crc",
                expected_bytes: 8,
                got_bytes: 7
            })
        );
    }

    #[test]
    fn control_bits_of_each_kind() {
        let pairs = [
            DwordKind::Control,
            DwordKind::Data,
            DwordKind::ControlCrc,
            DwordKind::DataCrc,
        ]
        .map(|kind| (kind.lctl(), kind.hctl()));
        assert_eq!(
            pairs,
            [(true, true), (false, false), (true, false), (false, true)]
        );
    }
}
