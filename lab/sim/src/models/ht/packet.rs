//! The packets that travel over modelled wires.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;

/// Largest data phase of a HyperTransport packet.
pub const PAYLOAD_BYTES_MAX: usize = 64;

pub use hostwire_packet::ht::VirtualChannel;

/// The commands that the models send. `hostwire-packet` knows the whole set;
/// these are the ones that TCCluster and the HTX board put on a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Posted write of whole, contiguous dwords.
    WriteDwords,
    /// Posted write with a byte-mask dword before at most eight dwords of data.
    /// Bit `i` of the mask belongs to byte `i` of the 32-byte block.
    WriteMasked {
        /// Bytes to be written.
        mask: u32,
    },
    /// Read of this many dwords.
    Read {
        /// 1 to 16.
        dwords: u8,
    },
    /// The data of a read.
    ReadResponse,
    /// The answer to a read that no device could serve; carries no data.
    MasterAbort,
    /// Interrupts and system management messages: one packet to all devices.
    Broadcast {
        /// Interrupt vector.
        vector: u8,
    },
}

/// A HyperTransport packet in flight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// What it asks for.
    pub command: Command,
    /// Byte address; meaningless for responses.
    pub address: u64,
    /// Unit that sent the request on its I/O link; 0 is the host.
    pub unit_id: u8,
    /// Matches a response to its request.
    pub tag: u8,
    /// May pass posted packets.
    pub pass_pw: bool,
    /// Data phase, whole dwords, at most 64 bytes.
    pub data: Vec<u8>,
    /// Number given by the origin, for traces and recordings.
    pub number: u64,
    /// Northbridges passed so far. Not on the wire: it lets the model name a
    /// routing loop, which real hardware would follow for ever.
    pub hops: u8,
    /// Damaged on the way; the damage has not been detected.
    pub damaged: bool,
    /// Kept by [`digest`](Self::digest), because every event on the way asks for it and the
    /// data lie elsewhere in memory.
    pub kept_digest: KeptDigest,
}

/// A digest that was computed before. A packet does not change while it is under way. Two
/// packets are equal even if only one of them has its digest.
#[derive(Clone, Debug, Default)]
pub struct KeptDigest(Cell<Option<NonZeroU64>>);

impl PartialEq for KeptDigest {
    fn eq(&self, _: &KeptDigest) -> bool {
        true
    }
}

impl Eq for KeptDigest {}

impl Packet {
    /// A packet without data.
    pub fn new(command: Command, address: u64) -> Packet {
        Packet {
            command,
            address,
            unit_id: 0,
            tag: 0,
            pass_pw: false,
            data: Vec::new(),
            number: 0,
            hops: 0,
            damaged: false,
            kept_digest: KeptDigest::default(),
        }
    }

    /// A posted write of whole dwords.
    pub fn write(address: u64, data: Vec<u8>) -> Packet {
        debug_assert!(data.len().is_multiple_of(4) && data.len() <= PAYLOAD_BYTES_MAX);
        Packet {
            data,
            ..Packet::new(Command::WriteDwords, address)
        }
    }

    /// The same packet under the names that it has on another link.
    pub fn renamed(self, unit_id: u8, tag: u8) -> Packet {
        Packet {
            unit_id,
            tag,
            kept_digest: KeptDigest::default(),
            ..self
        }
    }

    /// Channel it travels in.
    pub fn channel(&self) -> VirtualChannel {
        match self.command {
            Command::WriteDwords | Command::WriteMasked { .. } | Command::Broadcast { .. } => {
                VirtualChannel::Posted
            }
            Command::Read { .. } => VirtualChannel::NonPosted,
            Command::ReadResponse | Command::MasterAbort => VirtualChannel::Response,
        }
    }

    /// Whether it takes a data buffer.
    pub fn has_data(&self) -> bool {
        !self.data.is_empty()
    }

    /// Dwords on the wire: command, address extension, mask, data. Without CRC.
    ///
    /// Source: HyperTransport I/O link specification, packet formats. A request
    /// has two dwords, three if the address needs more than 40 bits; a response
    /// has one.
    pub fn wire_dwords(&self) -> u64 {
        let command = match self.command {
            Command::ReadResponse | Command::MasterAbort => 1,
            _ if self.address >> 40 != 0 => 3,
            _ => 2,
        };
        let mask = u64::from(matches!(self.command, Command::WriteMasked { .. }));
        command + mask + self.data.len() as u64 / 4
    }

    /// For the event hash. The first call settles it: command, address, tag, data and number
    /// must not change afterwards.
    pub fn digest(&self) -> u64 {
        if let Some(kept) = self.kept_digest.0.get() {
            debug_assert_eq!(kept.get(), self.compute_digest(), "changed under way");
            return kept.get();
        }
        let digest = self.compute_digest();
        self.kept_digest.0.set(NonZeroU64::new(digest));
        digest
    }

    fn compute_digest(&self) -> u64 {
        let command = match self.command {
            Command::WriteDwords => 1,
            Command::WriteMasked { mask } => 2 | u64::from(mask) << 8,
            Command::Read { dwords } => 3 | u64::from(dwords) << 8,
            Command::ReadResponse => 4,
            Command::MasterAbort => 5,
            Command::Broadcast { vector } => 6 | u64::from(vector) << 8,
        };
        let mut digest = command ^ self.address.rotate_left(17) ^ u64::from(self.tag) << 56;
        for chunk in self.data.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            digest = (digest ^ u64::from_le_bytes(word))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(31);
        }
        digest ^ self.number
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (address, bytes) = (self.address, self.data.len());
        match self.command {
            Command::WriteDwords | Command::WriteMasked { .. } => {
                write!(f, "a write of {bytes} B to {address:#x}")
            }
            Command::Read { dwords } => write!(f, "a read of {} B at {address:#x}", 4 * dwords),
            Command::ReadResponse => write!(f, "a response with {bytes} B"),
            Command::MasterAbort => write!(f, "a response without data"),
            Command::Broadcast { vector } => write!(f, "a broadcast of vector {vector}"),
        }
    }
}

/// A HyperTransport packet on its way to the memory of another host, or back: all but its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// What it asks for or answers.
    pub command: Command,
    /// In the memory of its owner; meaningless for responses.
    pub address: u64,
    /// That of the requester: its host matches the response by it.
    pub tag: u8,
}

impl Carried {
    /// All of `packet` but its data.
    pub fn of(packet: &Packet) -> Carried {
        Carried {
            command: packet.command,
            address: packet.address,
            tag: packet.tag,
        }
    }

    /// The packet.
    pub fn packet(self, data: Vec<u8>) -> Packet {
        Packet {
            tag: self.tag,
            data,
            ..Packet::new(self.command, self.address)
        }
    }

    /// Bytes in a frame, in front of the data: as many as on a HyperTransport link.
    pub fn bytes(self) -> usize {
        self.packet(Vec::new()).wire_dwords() as usize * 4
    }

    /// The channel of the packet.
    pub fn channel(self) -> VirtualChannel {
        self.packet(Vec::new()).channel()
    }

    pub(super) fn digest(self) -> u64 {
        self.packet(Vec::new()).compute_digest()
    }
}

/// A link-port frame: the unit that NICs send each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// NIC it is meant for.
    pub destination: u16,
    /// NIC it comes from.
    pub source: u16,
    /// Position in the stream of this link port; `None` for a bare
    /// acknowledgement, which is not retransmitted.
    pub sequence: Option<u16>,
    /// Next sequence expected from the other side: acknowledges all before.
    pub acknowledge: u16,
    /// The receiver asks for everything from `acknowledge` on again.
    pub reject: bool,
    /// Message: at most 64 bytes, or a write with its address, at most 76.
    pub payload: Vec<u8>,
    /// Whose data the payload is, if it is for memory and no message.
    pub carried: Option<Carried>,
    /// Damaged on the way; the receiver's CRC will notice.
    pub damaged: bool,
}

impl Frame {
    /// For the event hash.
    pub fn digest(&self) -> u64 {
        let head = u64::from(self.destination)
            | u64::from(self.source) << 16
            | u64::from(self.sequence.unwrap_or(0)) << 32
            | u64::from(self.acknowledge) << 48;
        let carried = self.carried.map_or(0, Carried::digest);
        self.payload
            .iter()
            .fold(head ^ u64::from(self.reject) ^ carried, |digest, &byte| {
                (digest ^ u64::from(byte))
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    .rotate_left(7)
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wire_length_of_every_form() {
        assert_eq!(Packet::write(0x1000, vec![0; 64]).wire_dwords(), 18);
        assert_eq!(Packet::write(1 << 40, vec![0; 64]).wire_dwords(), 19);
        let masked = Packet {
            data: vec![0; 4],
            ..Packet::new(Command::WriteMasked { mask: 0xf }, 0)
        };
        assert_eq!(
            masked.wire_dwords(),
            4,
            "a lone dword fills 8 bytes of data phase"
        );
        assert_eq!(Packet::new(Command::Read { dwords: 1 }, 0).wire_dwords(), 2);
        let response = Packet {
            data: vec![0; 4],
            ..Packet::new(Command::ReadResponse, 0)
        };
        assert_eq!(response.wire_dwords(), 2);
    }
}
