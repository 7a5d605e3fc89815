//! Posted writes of HyperTransport as TLPs, and the other way round.

use hostwire_packet::pcie::{ByteEnables, MemoryRepr, RoutingId};

use crate::models::ht::carry::Note;
use crate::models::ht::{Command, PAYLOAD_BYTES_MAX, Packet};
use crate::models::pcie::Tlp;

const DWORD_BYTES: u64 = 4;
/// A byte mask of HyperTransport is for an aligned block of so many bytes.
const MASK_BYTES: u64 = 32;
const ALL_BYTES: u8 = 0xf;

/// The TLPs of a write: one, or one for each dword of a byte mask. `None` if there cannot be one.
pub(super) fn tlps_of(packet: &Packet, id: RoutingId) -> Option<Vec<Tlp>> {
    let mut tlps = Vec::new();
    match packet.command {
        Command::WriteMasked { mask } => {
            let dwords = (packet.address..).step_by(DWORD_BYTES as usize);
            for (address, data) in dwords.zip(packet.data.chunks(DWORD_BYTES as usize)) {
                let enabled = mask >> (address % MASK_BYTES) & u32::from(ALL_BYTES);
                if enabled == 0 {
                    continue;
                }
                let mut tlp = Tlp::write(id, address, data).ok()?;
                let header = *tlp.memory()?;
                tlp.header = MemoryRepr {
                    first_be: ByteEnables::new(enabled as u8).ok()?,
                    ..header
                }
                .into();
                tlps.push(tlp);
            }
        }
        _ => tlps.push(Tlp::write(id, packet.address, &packet.data).ok()?),
    }
    if let Some((last, before)) = tlps.split_last_mut() {
        last.note = Note::of(packet);
        before.iter_mut().for_each(|tlp| tlp.note = Note::PART);
    }
    Some(tlps)
}

/// The HyperTransport packets of a write: dwords as long as all bytes are enabled, at most up to the
/// end of a line; others with a byte mask.
pub(super) fn packets_of(tlp: &Tlp) -> Vec<Packet> {
    let Some(header) = tlp.memory() else {
        return Vec::new();
    };
    let dwords = tlp.data.len() as u64 / DWORD_BYTES;
    let enabled = |dword: u64| match dword {
        0 => header.first_be.get(),
        last if last + 1 == dwords => header.last_be.get(),
        _ => ALL_BYTES,
    };
    let mut packets: Vec<Packet> = Vec::new();
    for (dword, data) in (0..).zip(tlp.data.chunks(DWORD_BYTES as usize)) {
        let address = header.address + dword * DWORD_BYTES;
        let bytes = enabled(dword);
        match packets.last_mut() {
            Some(run)
                if bytes == ALL_BYTES
                    && run.command == Command::WriteDwords
                    && run.address + run.data.len() as u64 == address
                    && !address.is_multiple_of(PAYLOAD_BYTES_MAX as u64) =>
            {
                run.data.extend_from_slice(data);
            }
            _ if bytes == ALL_BYTES => packets.push(Packet::write(address, data.to_vec())),
            _ if bytes == 0 => {}
            _ => {
                let mask = u32::from(bytes) << (address % MASK_BYTES);
                packets.push(Packet {
                    data: data.to_vec(),
                    ..Packet::new(Command::WriteMasked { mask }, address)
                });
            }
        }
    }
    if let Some((last, before)) = packets.split_last_mut() {
        tlp.note.put(last);
        before.iter_mut().for_each(|packet| Note::PART.put(packet));
    }
    packets
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes that packets write, by address.
    fn written(packets: &[Packet]) -> std::collections::BTreeMap<u64, u8> {
        let mut memory = std::collections::BTreeMap::new();
        for packet in packets {
            for (address, byte) in (packet.address..).zip(&packet.data) {
                let enabled = match packet.command {
                    Command::WriteMasked { mask } => mask >> (address % 32) & 1 == 1,
                    _ => true,
                };
                if enabled {
                    memory.insert(address, *byte);
                }
            }
        }
        memory
    }

    fn over(packet: &Packet) -> Vec<Packet> {
        let tlps = tlps_of(packet, RoutingId(1)).unwrap();
        tlps.iter().flat_map(packets_of).collect()
    }

    #[test]
    fn a_line_is_one_tlp_and_one_packet() {
        let line = Packet {
            number: 7,
            hops: 2,
            ..Packet::write(0x9_0000_0040, (0..64).collect())
        };
        assert_eq!(tlps_of(&line, RoutingId(1)).unwrap().len(), 1);
        let got = over(&line);
        assert_eq!(got, [Packet { hops: 3, ..line }]);
    }

    #[test]
    fn only_the_last_part_counts() {
        let masked = Packet {
            data: vec![5; 8],
            number: 9,
            ..Packet::new(Command::WriteMasked { mask: 0x0f6 }, 0x1_0000_0000)
        };
        let got = over(&masked);
        let numbers: Vec<u64> = got.iter().map(|packet| packet.number).collect();
        assert_eq!(numbers, [u64::MAX, 9]);
    }

    #[test]
    fn a_long_tlp_becomes_lines() {
        let bytes: Vec<u8> = (0..=255).collect();
        let tlp = Tlp::write(RoutingId(0), 0x1020, &bytes).unwrap();
        let lengths: Vec<usize> = packets_of(&tlp).iter().map(|p| p.data.len()).collect();
        assert_eq!(lengths, [32, 64, 64, 64, 32]);
    }

    proptest! {
        #[test]
        fn the_same_bytes_are_written(
            dword in 0u64..1000,
            dwords in 1usize..9,
            mask in any::<u32>(),
            whole in any::<bool>(),
        ) {
            // A masked packet does not leave its block of 32 bytes.
            let place = 4 * dword;
            let room = ((MASK_BYTES - place % MASK_BYTES) / 4) as usize;
            let data: Vec<u8> = (0..4 * dwords.min(room)).map(|byte| byte as u8).collect();
            let packet = match whole {
                true => Packet::write(place, data),
                false => Packet { data, ..Packet::new(Command::WriteMasked { mask }, place) },
            };
            prop_assert_eq!(written(&over(&packet)), written(&[packet]));
        }
    }
}
