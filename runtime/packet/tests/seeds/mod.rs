//! Seeds of the fuzz corpora: packets written down from the bit tables, and
//! damaged copies of them.

use hostwire_packet::ht::{self, packet_crc};
use hostwire_packet::htoe;
use hostwire_packet::pcie;

/// Names and contents of the seeds of one target.
pub fn of(target: &str) -> Vec<(String, Vec<u8>)> {
    let whole: Vec<(&str, Vec<u8>)> = match target {
        "ht_packet" | "ht_packet_crc" => {
            let with_crc = target == "ht_packet_crc";
            ht_packets()
                .into_iter()
                .map(|(name, bytes)| (name, if with_crc { protect(bytes) } else { bytes }))
                .collect()
        }
        "ht_stream" => vec![("all", ht_stream()), ("nops", vec![0; 16])],
        "ht_periodic_crc" => vec![
            ("idle", vec![0]),
            ("counting", (0..=255).collect()),
            ("ones", vec![0xff; 3]),
        ],
        "pcie_tlp" => tlps(),
        "pcie_link_tlp" => tlps()
            .into_iter()
            .map(|(name, tlp)| (name, sequenced(&tlp)))
            .collect(),
        "pcie_dllp" => vec![
            // As a RockPro64 sends it.
            ("init_fc1_cpl", vec![0x60, 0, 0, 0, 0xd8, 0x92]),
            ("ack", dllp([0x00, 0, 0x0a, 0xbc])),
            ("nak", dllp([0x10, 0, 0x0a, 0xbc])),
            ("update_fc_np", dllp([0x93, 0x29, 0x4b, 0xcd])),
        ],
        "ethernet_header" => vec![
            (
                "plain",
                [
                    &[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5][..],
                    &[0; 46],
                ]
                .concat(),
            ),
            (
                "tagged",
                vec![
                    2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xa0, 7, 0x88, 0xb5,
                ],
            ),
        ],
        "htoe_frame" => htoe_frames(),
        "htoe_build" => vec![
            ("large", [&[255][..], &[0; 8], &ht_stream()].concat()),
            ("small", [&[8][..], &[0; 8], &ht_stream()].concat()),
        ],
        other => panic!("no seeds for target {other}"),
    };
    whole
        .iter()
        .enumerate()
        .flat_map(|(i, (name, bytes))| {
            let mut seeds = vec![((*name).to_owned(), bytes.clone())];
            if i < DAMAGED {
                seeds.extend(damaged(name, bytes));
            }
            seeds
        })
        .collect()
}

/// The number of seeds of a target that also have damaged copies.
const DAMAGED: usize = 2;

/// The seed cut short, and the seed with a bit turned over in its first byte,
/// its middle and its end.
fn damaged(name: &str, bytes: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut seeds = vec![(format!("{name}-cut"), bytes[..bytes.len() - 1].to_vec())];
    for (place, index) in [
        ("head", 0),
        ("middle", bytes.len() / 2),
        ("tail", bytes.len() - 1),
    ] {
        let mut copy = bytes.to_vec();
        copy[index] ^= 0x04;
        seeds.push((format!("{name}-{place}"), copy));
    }
    seeds
}

fn ht_packets() -> Vec<(&'static str, Vec<u8>)> {
    let line: Vec<u8> = (0..64).collect();
    vec![
        ("nop", vec![0x00, 0x39, 0x06, 0xa5]),
        ("sync", vec![0xff; 4]),
        ("ext_flow_short", vec![0x37, 0x95, 0x21, 0x43]),
        (
            "ext_flow_long",
            vec![0x77, 0x95, 0x21, 0x22, 0x23, 0x24, 0, 0x43],
        ),
        (
            "posted_line",
            [&[0x2c, 0x03, 0xc0, 0x43, 0x78, 0x56, 0x34, 0x12][..], &line].concat(),
        ),
        (
            "extended_line",
            [
                &[
                    0x3e, 0x9a, 0x78, 0x56, 0x2c, 0x03, 0xc0, 0x43, 0x78, 0x56, 0x34, 0x12,
                ][..],
                &line,
            ]
            .concat(),
        ),
        (
            "byte_write",
            vec![
                0x28, 0x01, 0x80, 0x08, 0x10, 0, 0, 0, // Count 2, address 0x1008
                0x00, 0x86, 0x00, 0x00, // mask
                0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf,
            ],
        ),
        ("read", vec![0x1d, 0x00, 0xc7, 0x00, 1, 0, 0, 0]),
        ("read_bytes", vec![0x10, 0x00, 0x87, 0x01, 1, 0, 0, 0]),
        ("flush", vec![0x02, 0x02, 0x25, 0x00]),
        ("fence", vec![0x3c, 0x02, 0x00, 0x00]),
        ("broadcast", vec![0x3a, 0x80, 0, 0, 0, 0, 0xf8, 0xfd]),
        (
            "atomic",
            [&[0x3d, 0x00, 0x49, 0x08, 1, 0, 0, 0][..], &line[..8]].concat(),
        ),
        (
            "read_response",
            [&[0xb0, 0xc9, 0xc3, 0xa3][..], &line].concat(),
        ),
        ("target_done", vec![0x33, 0x09, 0x03, 0x00]),
    ]
}

fn ht_stream() -> Vec<u8> {
    let packets = ht_packets().into_iter();
    packets.flat_map(|(_, bytes)| bytes).collect()
}

fn protect(bytes: Vec<u8>) -> Vec<u8> {
    let packet = ht::PacketRepr::parse(&bytes).unwrap();
    let mut out = vec![0; packet_crc::buffer_len(&packet)];
    packet_crc::emit(&packet, packet_crc::Ending::Good, &mut out).unwrap();
    out
}

fn tlps() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        (
            "write_long",
            vec![
                0x60, 0, 0, 4, 0x01, 0x00, 0x2a, 0xff, 0, 0, 0, 0x80, 0x12, 0x34, 0x56,
                0x78, //
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
            ],
        ),
        (
            "write_short_digest",
            vec![
                0x40, 0, 0x80, 2, 0, 0, 0, 0xff, 0, 0, 0x10, 0, //
                1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4,
            ],
        ),
        (
            "read_short",
            vec![
                0x00, 0x50, 0x30, 0x00, 0xab, 0xcd, 0x01, 0x7e, 0xff, 0xff, 0xf0, 0x00,
            ],
        ),
        (
            "completion_data",
            vec![
                0x4a, 0, 0, 2, 0, 0, 0, 8, 1, 0, 7, 0x44, 1, 2, 3, 4, 5, 6, 7, 8,
            ],
        ),
        (
            "completion_unsupported",
            vec![0x0a, 0, 0, 0, 0, 8, 0x30, 0, 1, 0, 7, 0],
        ),
    ]
}

fn sequenced(tlp: &[u8]) -> Vec<u8> {
    let mut bytes = [&[0x01, 0x23][..], tlp, &[0; 4]].concat();
    let mut packet = pcie::LinkTlpPacket::new_checked(&mut bytes[..]).unwrap();
    packet.fill_lcrc();
    bytes
}

fn dllp(dword: [u8; 4]) -> Vec<u8> {
    let mut bytes = dword.to_vec();
    bytes.extend(pcie::dllp_crc16(&dword).to_le_bytes());
    bytes
}

fn htoe_frames() -> Vec<(&'static str, Vec<u8>)> {
    let frame = |header, nops: &[u8], packets: &[u8]| {
        let mut buffer = vec![0; 1500];
        let mut builder = htoe::FrameBuilder::new(header, &mut buffer).unwrap();
        for nop in nops.chunks(4) {
            builder.push_nop(&ht::NopRepr::parse(nop).unwrap()).unwrap();
        }
        for packet in ht::Packets::new(packets) {
            let packet = packet.unwrap();
            if packet.control().virtual_channel().is_some() {
                builder.push_packet(&packet).unwrap();
            }
        }
        let len = builder.finish().unwrap();
        buffer.truncate(len);
        buffer
    };
    let session = |header, reason| {
        let session = htoe::SessionRepr {
            job: 0x1234_5678,
            source_incarnation: 2,
            destination_incarnation: 3,
            source_node: 4,
            destination_node: 5,
            virtual_link: 6,
            key: 7,
            frame_len_max: 1500,
            heard_len: 1280,
            buffers: [64, 8, 8],
            ready: true,
            reason,
        };
        let mut buffer = vec![0; htoe::OVERHEAD + htoe::SESSION_LEN];
        htoe::FrameRepr::of_session(header, session)
            .emit(&mut buffer)
            .unwrap();
        buffer
    };
    let data = htoe::HeaderRepr::data(7, 5, Some(9)).with_key(0xabcd);
    let burst = || {
        let mut buffer = vec![0; 300];
        let mut builder = htoe::FrameBuilder::new(data, &mut buffer).unwrap();
        builder
            .push_lines(0x1000, &[[1; 64], [2; 64], [3; 64]])
            .unwrap();
        builder.push_lines(0x2000, &[[4; 64]]).unwrap();
        let len = builder.finish().unwrap();
        buffer.truncate(len);
        buffer
    };
    let missing = || {
        let mut buffer = vec![0; htoe::OVERHEAD + 2];
        htoe::FrameRepr::of_missing(htoe::HeaderRepr::ack(7, 9, true), 3)
            .emit(&mut buffer)
            .unwrap();
        buffer
    };
    vec![
        ("empty", frame(data, &[], &[])),
        ("nops", frame(data, &[0, 5, 0, 0, 0, 0x39, 6, 0xa5], &[])),
        ("all", frame(data, &[0, 5, 0, 0], &ht_stream())),
        ("burst", burst()),
        ("ack", frame(htoe::HeaderRepr::ack(7, 9, true), &[], &[])),
        ("missing", missing()),
        ("reset", session(htoe::HeaderRepr::reset(7, 1), None)),
        (
            "close",
            session(
                htoe::HeaderRepr::close(7),
                Some(htoe::CloseReason::CreditOverrun),
            ),
        ),
    ]
}
