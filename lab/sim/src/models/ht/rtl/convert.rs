//! Packets of the models as those on the pins, and back.

use hostwire_packet::ht::{
    ControlRepr, PacketRepr, ReadSize, RequestKind, ResponseKind, ResponseStatus,
};
use hostwire_rtl_harness::ht::packets::Packet as Wire;

use crate::models::ht::carry::write_of;
use crate::models::ht::{Command, Packet, packet_bytes};

/// The packet on the pins; `None` if HyperTransport has none such.
pub(super) fn to_wire(packet: &Packet) -> Option<Wire> {
    Wire::parse(&packet_bytes(packet).ok()?).ok()
}

/// The packet of the models; `None` for one that they do not have.
pub(super) fn from_wire(wire: &Wire) -> Option<Packet> {
    let repr = PacketRepr::parse(&wire.bytes).ok()?;
    match repr.control() {
        ControlRepr::Request(request) => {
            let unit_id = request.unit_id.get();
            let packet = match &request.kind {
                RequestKind::Write(_) => write_of(&repr)?,
                RequestKind::Read(read) => {
                    let dwords = match read.size {
                        ReadSize::Dwords(dwords) => dwords.get(),
                        ReadSize::Bytes(_) => 1,
                    };
                    Packet {
                        tag: read.src_tag.get(),
                        pass_pw: request.pass_pw,
                        ..Packet::new(Command::Read { dwords }, read.address.get())
                    }
                }
                _ => return None,
            };
            Some(Packet { unit_id, ..packet })
        }
        ControlRepr::Response(response) => {
            let command = match (response.kind, response.status) {
                (ResponseKind::Read { .. }, ResponseStatus::Normal) => Command::ReadResponse,
                (_, ResponseStatus::MasterAbort) => Command::MasterAbort,
                _ => return None,
            };
            let data = match command {
                Command::ReadResponse => wire.data().to_vec(),
                _ => Vec::new(),
            };
            Some(Packet {
                tag: response.src_tag.get(),
                pass_pw: response.pass_pw,
                data,
                ..Packet::new(command, 0)
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_as_they_went_in() {
        let read = Packet {
            tag: 5,
            ..Packet::new(Command::Read { dwords: 16 }, 0x80_0000_0040)
        };
        let response = Packet {
            tag: 31,
            data: vec![7; 8],
            ..Packet::new(Command::ReadResponse, 0)
        };
        let masked = Packet {
            data: vec![1, 2, 3, 4],
            ..Packet::new(Command::WriteMasked { mask: 0xf }, 0x80_0000_0000)
        };
        let write = Packet::write(0xfc_0000_1000, vec![9; 64]);
        for packet in [read, response, masked, write] {
            let wire = to_wire(&packet).unwrap();
            assert_eq!(from_wire(&wire), Some(packet));
        }
    }
}
