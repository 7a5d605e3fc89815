//! Random packets, and packets as the queues of the core have them.

use hostwire_packet::Error;
use hostwire_packet::ht::{
    Address, AtomicOperation, ByteEnables, Command as Code, ControlRepr, Dwords, MaskedDwords,
    PacketRepr, Read, ReadSize, RequestKind, RequestRepr, ResponseKind, ResponseRepr,
    ResponseStatus, RqUid, SeqId, SrcTag, UnitId, VirtualChannel, Write, WriteMode, WriteSize,
};

use super::core::Command;
use crate::random::Random;

/// Longest packet: extended request and 16 dwords of data.
const PACKET_LEN_MAX_BYTES: usize = 76;

/// A packet as it is on the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Control packet and data.
    pub bytes: Vec<u8>,
    /// Length of the control packet.
    pub control: usize,
    /// Its channel, as an index.
    pub channel: usize,
}

impl Packet {
    /// Reads a whole packet.
    ///
    /// # Errors
    /// As [`PacketRepr::parse`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let packet = PacketRepr::parse(bytes)?;
        let control = packet.control();
        Ok(Self {
            bytes: bytes.to_vec(),
            control: control.buffer_len(),
            channel: control.virtual_channel().map_or(3, VirtualChannel::index),
        })
    }

    /// A packet of these parts; the caller makes them fit.
    fn of(control: impl Into<ControlRepr>, data: &[u8]) -> Option<Self> {
        let packet = PacketRepr::new(control, data).ok()?;
        let mut bytes = [0; PACKET_LEN_MAX_BYTES];
        let len = packet.emit(&mut bytes).ok()?;
        Self::parse(bytes.get(..len)?).ok()
    }

    /// The packet that a command and its data are; the words of the data may be longer than it.
    ///
    /// # Errors
    /// As [`PacketRepr::parse`], if the core has made something else of a packet.
    pub fn of_queue(command: Command, words: &[u64]) -> Result<Self, Error> {
        let mut bytes = control_bytes(command);
        let len = data_len(command);
        let data = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.extend(data.take(len));
        Self::parse(&bytes)
    }

    /// The command for a queue.
    pub fn command(&self) -> Command {
        let dword = |at: usize| {
            let bytes = self.bytes.get(4 * at..4 * at + 4).unwrap_or(&[0; 4]);
            u32::from_le_bytes(bytes.try_into().unwrap_or_default())
        };
        match self.control {
            4 => Command {
                dwords: dword(0).into(),
                rest: 0,
            },
            8 => Command {
                dwords: u64::from(dword(0)) | u64::from(dword(1)) << 32,
                rest: 0,
            },
            _ => Command {
                dwords: u64::from(dword(1)) | u64::from(dword(2)) << 32,
                rest: dword(0) >> 8 | 1 << 24,
            },
        }
    }

    /// The data phase.
    pub fn data(&self) -> &[u8] {
        self.bytes.get(self.control..).unwrap_or(&[])
    }

    /// The data phase as words of a queue.
    pub fn words(&self) -> impl Iterator<Item = u64> {
        self.data().chunks(8).map(|chunk| {
            let mut bytes = [0; 8];
            for (to, from) in bytes.iter_mut().zip(chunk) {
                *to = *from;
            }
            u64::from_le_bytes(bytes)
        })
    }

    /// Dwords on the link, each with its CTL.
    pub fn dwords(&self) -> impl Iterator<Item = (u32, bool)> {
        self.bytes.chunks(4).enumerate().map(|(at, chunk)| {
            let dword = u32::from_le_bytes(chunk.try_into().unwrap_or_default());
            (dword, 4 * at < self.control)
        })
    }
}

/// Bytes of data behind a command.
pub fn data_len(command: Command) -> usize {
    let has_data = Code::decode(command.dwords as u8 & 0x3f).is_ok_and(Code::has_data);
    if has_data {
        4 * ((command.dwords >> 22 & 15) as usize + 1)
    } else {
        0
    }
}

fn control_bytes(command: Command) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PACKET_LEN_MAX_BYTES);
    if command.rest >> 24 & 1 == 1 {
        let extension =
            (command.rest & 0xff_ffff) << 8 | u32::from(Code::AddressExtension.encode());
        bytes.extend(extension.to_le_bytes());
    }
    let long = Code::decode(command.dwords as u8 & 0x3f).is_ok_and(Code::has_address);
    let len = if long { 8 } else { 4 };
    bytes.extend(command.dwords.to_le_bytes().into_iter().take(len));
    bytes
}

/// Where random requests go.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a> {
    /// Any address.
    Anywhere,
    /// Into one of these blocks, of a size each.
    Blocks(&'a [(u64, u64)]),
}

/// Makes random packets.
#[derive(Clone, Debug)]
pub struct Source {
    random: Random,
    /// UnitID of requests and responses.
    pub unit: u8,
    /// Responses come from the host.
    pub bridge: bool,
}

impl Source {
    /// Packets of a unit.
    pub fn new(random: Random, unit: u8, bridge: bool) -> Self {
        Self {
            random,
            unit,
            bridge,
        }
    }

    /// A random packet of a channel.
    pub fn packet(&mut self, channel: usize, targets: Targets<'_>) -> Packet {
        loop {
            let packet = match channel {
                0 => self.posted(targets),
                1 => self.non_posted(targets),
                _ => self.response(),
            };
            // Some lengths do not fit between an address and the end of its block.
            if let Some(packet) = packet {
                return packet;
            }
        }
    }

    fn address(&mut self, targets: Targets<'_>) -> Option<Address> {
        let random = &mut self.random;
        let address = match targets {
            Targets::Blocks(blocks) => {
                let (base, size) = *blocks.get(random.below(blocks.len() as u64) as usize)?;
                base + random.below(size)
            }
            Targets::Anywhere if random.chance(70) => random.below(1 << 40),
            Targets::Anywhere => random.next(),
        };
        let address = Address::new(address & !3).ok()?;
        Some(if random.chance(10) {
            address.with_extension()
        } else {
            address
        })
    }

    fn data(&mut self, len: usize) -> Vec<u8> {
        let words = (0..len.div_ceil(8)).flat_map(|_| self.random.next().to_le_bytes());
        words.take(len).collect()
    }

    fn request(&mut self, kind: RequestKind, data: &[u8]) -> Option<Packet> {
        let request = RequestRepr {
            unit_id: UnitId::new(self.unit).ok()?,
            seq_id: SeqId::new(self.random.below(16) as u8).ok()?,
            pass_pw: self.random.chance(30),
            kind,
        };
        Packet::of(request, data)
    }

    fn tag(&mut self) -> Option<SrcTag> {
        SrcTag::new(self.random.below(32) as u8).ok()
    }

    /// A sized write, with its data.
    fn write(&mut self, mode: WriteMode, targets: Targets<'_>) -> Option<Packet> {
        let address = self.address(targets)?;
        let in_block = |block: u64| (block - address.get() % block) / 4;
        let (size, data) = if self.random.chance(70) {
            let room = in_block(64);
            // Whole lines are what matters most.
            let count = if self.random.chance(40) {
                room
            } else {
                1 + self.random.below(room)
            };
            let count = Dwords::new(count as u8).ok()?;
            (WriteSize::Dwords(count), self.data(count.len_bytes()))
        } else {
            let count = MaskedDwords::new(1 + self.random.below(in_block(32)) as u8).ok()?;
            let reach = (u64::from(u32::MAX) >> (32 - count.len_bytes())) << (address.get() % 32);
            let mut data = self.data(4 + count.len_bytes());
            let mask = self.random.next() as u32 & reach as u32;
            data.get_mut(..4)?.copy_from_slice(&mask.to_le_bytes());
            (WriteSize::Bytes(count), data)
        };
        let write = Write {
            mode,
            address,
            size,
            isoc: self.random.chance(10),
            coherent: self.random.chance(50),
            compat: self.random.chance(5),
        };
        self.request(RequestKind::Write(write), &data)
    }

    fn posted(&mut self, targets: Targets<'_>) -> Option<Packet> {
        match self.random.below(20) {
            0 => {
                let isoc = self.random.chance(20);
                self.request(RequestKind::Fence { isoc }, &[])
            }
            1 => {
                let address = self.address(Targets::Anywhere)?;
                self.request(RequestKind::Broadcast { address }, &[])
            }
            _ => {
                let mode = WriteMode::Posted {
                    data_error: self.random.chance(2),
                    chain: self.random.chance(5),
                };
                self.write(mode, targets)
            }
        }
    }

    fn non_posted(&mut self, targets: Targets<'_>) -> Option<Packet> {
        let src_tag = self.tag()?;
        match self.random.below(20) {
            0 => {
                let isoc = self.random.chance(20);
                self.request(RequestKind::Flush { src_tag, isoc }, &[])
            }
            1..=2 => {
                let address = Address::new(self.address(targets)?.get() & !7).ok()?;
                let (operation, len) = if self.random.chance(50) {
                    (AtomicOperation::FetchAndAdd, 8)
                } else {
                    (AtomicOperation::CompareAndSwap, 16)
                };
                let data = self.data(len);
                let compat = self.random.chance(5);
                let kind = RequestKind::Atomic {
                    src_tag,
                    address,
                    operation,
                    compat,
                };
                self.request(kind, &data)
            }
            3..=8 => self.write(WriteMode::NonPosted { src_tag }, targets),
            _ => {
                let address = self.address(targets)?;
                let size = if self.random.chance(70) {
                    let room = (64 - address.get() % 64) / 4;
                    ReadSize::Dwords(Dwords::new(1 + self.random.below(room) as u8).ok()?)
                } else {
                    ReadSize::Bytes(ByteEnables::new(self.random.below(16) as u8).ok()?)
                };
                let read = Read {
                    src_tag,
                    address,
                    size,
                    response_pass_pw: self.random.chance(50),
                    isoc: self.random.chance(10),
                    coherent: self.random.chance(50),
                    compat: self.random.chance(5),
                };
                self.request(RequestKind::Read(read), &[])
            }
        }
    }

    fn response(&mut self) -> Option<Packet> {
        let (kind, data) = if self.random.chance(70) {
            let dwords = Dwords::new(1 + self.random.below(16) as u8).ok()?;
            (ResponseKind::Read { dwords }, self.data(dwords.len_bytes()))
        } else {
            (ResponseKind::TargetDone, Vec::new())
        };
        let statuses = [
            ResponseStatus::Normal,
            ResponseStatus::DataError,
            ResponseStatus::TargetAbort,
            ResponseStatus::MasterAbort,
        ];
        let at = if self.random.chance(80) {
            0
        } else {
            self.random.below(4)
        };
        let response = ResponseRepr {
            kind,
            unit_id: UnitId::new(self.unit).ok()?,
            src_tag: self.tag()?,
            rq_uid: RqUid::new(self.random.below(4) as u8).ok()?,
            bridge: self.bridge,
            pass_pw: self.random.chance(50),
            isoc: self.random.chance(10),
            status: *statuses.get(at as usize)?,
        };
        Packet::of(response, &data)
    }
}
