//! pcapng, the file format of Wireshark's captures: blocks one after the other.
//!
//! A section header comes first, then a description of each interface, then packets. Numbers
//! are little-endian. Source: IETF draft "PCAP Now Generic" (pcapng). This module only writes;
//! a file that ends within a block is still read up to there.

use crate::bits::{put, room};
use crate::error::{Error, Result};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;

const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
const MAJOR_VERSION: u16 = 1;

const OPTION_END: u16 = 0;
const SECTION_APPLICATION: u16 = 4;
const INTERFACE_NAME: u16 = 2;
const INTERFACE_RESOLUTION: u16 = 9;
const PACKET_FLAGS: u16 = 2;
const STATISTICS_DROPPED: u16 = 5;

/// Kind and length before the body, and the length again behind it.
const FRAME_LEN: usize = 12;
/// Code and length before the value.
const OPTION_LEN: usize = 4;
/// Before the options.
const SECTION_LEN: usize = 16;
const INTERFACE_LEN: usize = 8;
const STATISTICS_LEN: usize = 12;
const PACKET_LEN: usize = 20;
/// The longest packet that is written.
const DATA_LEN_MAX: usize = 1 << 30;

/// The type of the packets of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum LinkType {
    /// LINKTYPE_ETHERNET.
    Ethernet = 1,
    /// LINKTYPE_USER0, for private use: here HyperTransport, which has no number.
    User0 = 147,
    /// LINKTYPE_USER1: here PCI Express, which has none either.
    User1 = 148,
    /// LINKTYPE_USER2: here the packets between HTX boards.
    User2 = 149,
}

/// The unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Resolution {
    /// 10^-9 s.
    Nanoseconds = 9,
    /// 10^-12 s.
    Picoseconds = 12,
}

/// The direction of a packet at its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum Direction {
    /// It was received.
    Inbound = 0b01,
    /// It was sent.
    Outbound = 0b10,
}

/// A block as a value. Names are cut to 65,535 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// The beginning of a file.
    Section {
        /// The program that has written it.
        application: &'a str,
    },
    /// An interface. They have the numbers 0, 1, ... in the order in which they come.
    Interface {
        /// What its packets are.
        link_type: LinkType,
        /// Its name.
        name: &'a str,
        /// The unit of its times.
        resolution: Resolution,
    },
    /// A packet.
    Packet {
        /// The number of its interface.
        interface: u32,
        /// When it was seen, since 1970 or since the beginning of a simulation.
        time: u64,
        /// Its direction.
        direction: Direction,
        /// Its bytes.
        data: &'a [u8],
    },
    /// The statistics of an interface at the end.
    Statistics {
        /// Its number.
        interface: u32,
        /// When that was.
        time: u64,
        /// Packets that are not in the file.
        dropped: u64,
    },
}

impl Block<'_> {
    /// Bytes that [`emit`](Self::emit) writes: a multiple of 4.
    pub const fn buffer_len(&self) -> usize {
        let body = match self {
            Block::Section { application } => SECTION_LEN + option_len(cut(application).len()),
            Block::Interface { name, .. } => {
                INTERFACE_LEN + option_len(cut(name).len()) + option_len(size_of::<u8>())
            }
            Block::Packet { data, .. } => {
                PACKET_LEN + padded(data.len()) + option_len(size_of::<u32>())
            }
            Block::Statistics { .. } => STATISTICS_LEN + option_len(size_of::<u64>()),
        };
        FRAME_LEN + body + option_len(0)
    }

    /// Writes the block to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for a packet of more than 2^30 bytes, [`Error::BufferTooSmall`];
    /// with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        if let Block::Packet { data, .. } = self
            && data.len() > DATA_LEN_MAX
        {
            return Err(Error::OutOfRange {
                field: "pcapng.packet.len",
                min: 0,
                max: DATA_LEN_MAX as u64,
                got: data.len() as u64,
            });
        }
        let len = self.buffer_len();
        let buffer = room("pcapng.block", buffer, len)?;
        let mut out = Out { buffer, at: 0 };
        out.u32(self.kind());
        out.u32(len as u32);
        self.emit_body(&mut out);
        out.option(OPTION_END, &[]);
        out.u32(len as u32);
        debug_assert_eq!(out.at, len);
        Ok(len)
    }

    const fn kind(&self) -> u32 {
        match self {
            Block::Section { .. } => SECTION_HEADER,
            Block::Interface { .. } => INTERFACE_DESCRIPTION,
            Block::Packet { .. } => ENHANCED_PACKET,
            Block::Statistics { .. } => INTERFACE_STATISTICS,
        }
    }

    fn emit_body(&self, out: &mut Out<'_>) {
        match *self {
            Block::Section { application } => {
                out.u32(BYTE_ORDER_MAGIC);
                out.u16(MAJOR_VERSION);
                out.u16(0);
                // The length of the section is not given.
                out.bytes(&u64::MAX.to_le_bytes());
                out.option(SECTION_APPLICATION, cut(application));
            }
            Block::Interface {
                link_type,
                name,
                resolution,
            } => {
                out.u16(link_type as u16);
                out.u16(0);
                // No limit on the length of packets.
                out.u32(0);
                out.option(INTERFACE_NAME, cut(name));
                out.option(INTERFACE_RESOLUTION, &[resolution as u8]);
            }
            Block::Packet {
                interface,
                time,
                direction,
                data,
            } => {
                out.u32(interface);
                out.time(time);
                // The captured and the original length are the same: nothing is cut off.
                out.u32(data.len() as u32);
                out.u32(data.len() as u32);
                out.padded(data);
                out.option(PACKET_FLAGS, &(direction as u32).to_le_bytes());
            }
            Block::Statistics {
                interface,
                time,
                dropped,
            } => {
                out.u32(interface);
                out.time(time);
                out.option(STATISTICS_DROPPED, &dropped.to_le_bytes());
            }
        }
    }
}

/// Where a block is written; its length has been checked.
struct Out<'a> {
    buffer: &'a mut [u8],
    at: usize,
}

impl Out<'_> {
    fn u16(&mut self, value: u16) {
        self.bytes(&value.to_le_bytes());
    }

    fn u32(&mut self, value: u32) {
        self.bytes(&value.to_le_bytes());
    }

    /// The upper half comes first.
    fn time(&mut self, time: u64) {
        self.u32((time >> 32) as u32);
        self.u32(time as u32);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.u16(code);
        self.u16(value.len() as u16);
        self.padded(value);
    }

    fn padded(&mut self, bytes: &[u8]) {
        self.bytes(bytes);
        let padding = padded(bytes.len()) - bytes.len();
        self.bytes([0; 4].get(..padding).unwrap_or_default());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        put(self.buffer, self.at, bytes);
        self.at += bytes.len();
    }
}

const fn option_len(value_len: usize) -> usize {
    OPTION_LEN + padded(value_len)
}

const fn padded(len: usize) -> usize {
    len.next_multiple_of(4)
}

/// The part of a name that fits an option.
const fn cut(name: &str) -> &[u8] {
    match name.as_bytes().split_at_checked(u16::MAX as usize) {
        Some((front, _)) => front,
        None => name.as_bytes(),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;
    use std::vec::Vec;

    use super::*;

    fn emitted(block: Block<'_>) -> Vec<u8> {
        let mut buffer = vec![0xee; block.buffer_len() + 1];
        assert_eq!(block.emit(&mut buffer), Ok(block.buffer_len()));
        assert_eq!(buffer.pop(), Some(0xee));
        buffer
    }

    #[test]
    fn a_section() {
        let block = Block::Section {
            application: "hostw",
        };
        let expected = [
            &[0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0][..],
            &[0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0],
            &[0xff; 8],
            &[4, 0, 5, 0],
            b"hostw\0\0\0",
            &[0, 0, 0, 0, 44, 0, 0, 0],
        ];
        assert_eq!(emitted(block), expected.concat());
    }

    #[test]
    fn an_interface() {
        let block = Block::Interface {
            link_type: LinkType::User0,
            name: "PE 3",
            resolution: Resolution::Picoseconds,
        };
        let expected = [
            &[1, 0, 0, 0, 40, 0, 0, 0][..],
            &[147, 0, 0, 0, 0, 0, 0, 0],
            &[2, 0, 4, 0],
            b"PE 3",
            &[9, 0, 1, 0, 12, 0, 0, 0],
            &[0, 0, 0, 0, 40, 0, 0, 0],
        ];
        assert_eq!(emitted(block), expected.concat());
    }

    #[test]
    fn a_packet() {
        let block = Block::Packet {
            interface: 2,
            time: 0x0102_0304_0506_0708,
            direction: Direction::Outbound,
            data: &[0xa1, 0xa2, 0xa3, 0xa4, 0xa5],
        };
        let expected = [
            &[6, 0, 0, 0, 52, 0, 0, 0][..],
            &[2, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5],
            &[5, 0, 0, 0, 5, 0, 0, 0],
            &[0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0, 0, 0],
            &[2, 0, 4, 0, 2, 0, 0, 0],
            &[0, 0, 0, 0, 52, 0, 0, 0],
        ];
        assert_eq!(emitted(block), expected.concat());
    }

    #[test]
    fn statistics() {
        let block = Block::Statistics {
            interface: 1,
            time: 3 << 32 | 4,
            dropped: 7,
        };
        let expected = [
            &[5, 0, 0, 0, 40, 0, 0, 0][..],
            &[1, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0],
            &[5, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0],
            &[0, 0, 0, 0, 40, 0, 0, 0],
        ];
        assert_eq!(emitted(block), expected.concat());
    }

    #[test]
    fn long_names_are_cut_and_small_buffers_stay_as_they_are() {
        let name = "x".repeat(70_000);
        let block = Block::Interface {
            link_type: LinkType::Ethernet,
            name: &name,
            resolution: Resolution::Nanoseconds,
        };
        assert_eq!(emitted(block).len(), 12 + 8 + 4 + 65_536 + 8 + 4);
        let mut small = [0xee; 100];
        assert_eq!(
            block.emit(&mut small),
            Err(Error::BufferTooSmall {
                field: "pcapng.block",
                expected_bytes: block.buffer_len(),
                got_bytes: 100
            })
        );
        assert_eq!(small, [0xee; 100]);
    }
}
