//! Packets as bytes of frames, and what the model knows of them beside the bytes.

use std::collections::{BTreeMap, VecDeque};

use hostwire_packet::ht::{ControlRepr, DataPhase, PacketRepr, RequestKind};

use crate::devices::{Command, Packet};

/// What packets on their way over Ethernet carry in the model and not on the wire: their number and
/// the northbridges that they have passed. Virtual links keep the order of their packets.
#[derive(Debug, Default)]
pub struct Notes(BTreeMap<(u16, u16), VecDeque<Note>>);

#[derive(Clone, Copy, Debug)]
struct Note {
    number: u64,
    hops: u8,
}

impl Notes {
    /// The virtual link from adapter `way.0` to adapter `way.1` has accepted a packet.
    pub(super) fn accepted(&mut self, way: (u16, u16), packet: &Packet) {
        let note = Note {
            number: packet.number,
            hops: packet.hops,
        };
        self.0.entry(way).or_default().push_back(note);
    }

    /// The next packet of this virtual link has arrived: completes it.
    pub(super) fn arrived(&mut self, way: (u16, u16), packet: &mut Packet) {
        let note = self.0.get_mut(&way).and_then(VecDeque::pop_front);
        debug_assert!(note.is_some(), "a packet that nobody has sent");
        if let Some(note) = note {
            packet.number = note.number;
            packet.hops = note.hops.saturating_add(1);
        }
    }
}

/// The posted write that a frame has carried; `None` for another packet.
pub(super) fn write_of(carried: &PacketRepr<'_>) -> Option<Packet> {
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
    use crate::devices::packet_bytes;

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
