//! Packets as bytes on other networks, and what the model knows of them beside the bytes.

use std::collections::{BTreeMap, VecDeque};

use hostwire_packet::ht::{ControlRepr, DataPhase, PacketRepr, RequestKind};

use crate::models::ht::{Command, Packet};

/// The notes of packets on their way over a network that keeps the order of the packets from one device
/// to another: virtual links of HTEA adapters, routes between HTX boards.
#[derive(Debug, Default)]
pub struct Notes(BTreeMap<(u16, u16), VecDeque<Note>>);

/// What a packet carries in the model and not on the wire: its number, and the northbridges that it has
/// passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Note {
    number: u64,
    hops: u8,
}

impl Note {
    /// The note of a part of a packet that is not its last one: it is not counted.
    pub const PART: Note = Note {
        number: u64::MAX,
        hops: 0,
    };

    /// That of the packet with this number.
    pub fn numbered(number: u64) -> Note {
        Note { number, hops: 0 }
    }

    /// The number.
    pub fn number(self) -> u64 {
        self.number
    }

    /// That of a packet.
    pub fn of(packet: &Packet) -> Note {
        Note {
            number: packet.number,
            hops: packet.hops,
        }
    }

    /// Gives it to the packet that comes out of the network.
    pub fn put(self, packet: &mut Packet) {
        packet.number = self.number;
        packet.hops = self.hops.saturating_add(1);
    }
}

impl Notes {
    /// The way from device `way.0` to device `way.1` has accepted a packet.
    pub fn accepted(&mut self, way: (u16, u16), packet: &Packet) {
        self.0.entry(way).or_default().push_back(Note::of(packet));
    }

    /// The next packet of this way has arrived: completes it.
    pub fn arrived(&mut self, way: (u16, u16), packet: &mut Packet) {
        let note = self.0.get_mut(&way).and_then(VecDeque::pop_front);
        debug_assert!(note.is_some(), "a packet that nobody has sent");
        if let Some(note) = note {
            note.put(packet);
        }
    }
}

/// The posted write that bytes have carried; `None` for another packet.
pub fn write_of(carried: &PacketRepr<'_>) -> Option<Packet> {
    let ControlRepr::Request(request) = carried.control() else {
        return None;
    };
    let RequestKind::Write(write) = &request.kind else {
        return None;
    };
    let (command, data) = match carried.data_phase() {
        DataPhase::Dwords(data) => (Command::WriteDwords, data),
        DataPhase::Masked(masked) => {
            let mask = masked.mask();
            (Command::WriteMasked { mask }, masked.dwords())
        }
        DataPhase::None => return None,
    };
    Some(Packet {
        data: data.to_vec(),
        pass_pw: request.pass_pw,
        ..Packet::new(command, write.address.get())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ht::packet_bytes;

    #[test]
    fn writes_come_out_as_they_went_in() {
        let masked = Packet {
            data: vec![7; 8],
            ..Packet::new(Command::WriteMasked { mask: 0x0f0 }, 0x1_0000_0004)
        };
        let plain = Packet::write(0x9_0000_0040, (0..64).collect());
        let far = Packet::write(0x12_3456_7890_0000, vec![1, 2, 3, 4]);
        for packet in [masked, plain, far] {
            let bytes = packet_bytes(&packet).unwrap();
            let carried = PacketRepr::parse(&bytes).unwrap();
            assert_eq!(write_of(&carried), Some(packet));
        }
        let read = packet_bytes(&Packet::new(Command::Read { dwords: 1 }, 64)).unwrap();
        assert_eq!(write_of(&PacketRepr::parse(&read).unwrap()), None);
    }

    #[test]
    fn packets_keep_their_numbers_in_order() {
        let mut notes = Notes::default();
        for number in 1..=2 {
            let packet = Packet {
                number,
                hops: 3,
                ..Packet::write(0, vec![0; 4])
            };
            notes.accepted((0, 1), &packet);
        }
        for number in 1..=2 {
            let mut packet = Packet::write(0, vec![0; 4]);
            notes.arrived((0, 1), &mut packet);
            assert_eq!((packet.number, packet.hops), (number, 4));
        }
    }
}
