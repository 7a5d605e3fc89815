//! Recordings: the bytes themselves, and what tshark makes of them.

#![allow(clippy::print_stderr)]

use std::io::Write;
use std::path::Path;
use std::process::Command;

use crate::common::clusters::{TWO_BOARDS, address, machine, store};
use crate::common::protobuf::{Value, fields};
use hostwire_packet::ht::PacketRepr;
use hostwire_sim::engine::Ps;
use hostwire_sim::firmware::boot_all;
use hostwire_sim::machine::Machine;
use hostwire_sim::record::{Direction, Encapsulation, Recording, TimeUnit};
use hostwire_testing::pcapng::blocks;

/// Two boards; a line of 64 bytes, one of 4, and a read that is never answered.
fn recorded(nops: bool) -> (Machine, Recording) {
    let mut machine = machine(TWO_BOARDS);
    boot_all(&mut machine).unwrap();
    let recording = Recording::new();
    let (wire, _) = machine.across(0, 2).unwrap();
    let link = machine.wires()[wire].link;
    assert!(recording.watch(&mut machine.sim, link, nops));
    let to = address(&machine, 1, 0x1000);
    store(&mut machine, 0, to, &[0x11; 64]).unwrap();
    store(&mut machine, 0, to + 0x44, &[0x22; 4]).unwrap();
    (machine, recording)
}

fn pcapng(recording: &Recording) -> Vec<u8> {
    let mut bytes = Vec::new();
    recording.write_pcapng(&mut bytes).unwrap();
    bytes
}

#[test]
fn pcapng_holds_the_packets() {
    let (_, recording) = recorded(false);
    assert_eq!((recording.len(), recording.skipped()), (2, 0));
    let bytes = pcapng(&recording);
    let blocks = blocks(&bytes);
    let kinds: Vec<u32> = blocks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [0x0a0d_0d0a, 1, 6, 6]);
    assert_eq!(blocks[1].1[..2], [147, 0], "USER0");
    let first = PacketRepr::parse(&blocks[2].1[20..92]).unwrap();
    assert_eq!(first.data(), [0x11; 64]);
    let second = PacketRepr::parse(&blocks[3].1[20..36]).unwrap();
    assert_eq!(
        second.data(),
        [0xf0, 0, 0, 0, 0x22, 0x22, 0x22, 0x22],
        "mask, then a dword"
    );
}

#[test]
fn recording_changes_nothing() {
    let (machine, _) = recorded(true);
    let mut plain = self::machine(TWO_BOARDS);
    boot_all(&mut plain).unwrap();
    let to = address(&plain, 1, 0x1000);
    store(&mut plain, 0, to, &[0x11; 64]).unwrap();
    store(&mut plain, 0, to + 0x44, &[0x22; 4]).unwrap();
    assert_eq!(machine.sim.hash(), plain.sim.hash());
}

#[test]
fn perfetto_slices_are_well_formed() {
    let (_, recording) = recorded(true);
    let mut bytes = Vec::new();
    recording
        .write_perfetto(&mut bytes, TimeUnit::Picoseconds)
        .unwrap();
    let mut tracks = Vec::new();
    let mut open = std::collections::BTreeMap::new();
    let mut last = 0;
    let mut slices = 0;
    for (field, packet) in fields(&bytes) {
        assert_eq!(field, 1, "Trace.packet");
        let packet = packet.message();
        let varint = |field: u64| {
            packet
                .iter()
                .find(|(f, _)| *f == field)
                .map(|(_, value)| value.varint())
        };
        assert_eq!(varint(10), Some(1), "trusted_packet_sequence_id");
        if let Some((_, track)) = packet.iter().find(|(field, _)| *field == 60) {
            let track = track.message();
            assert!(
                matches!(track[0], (1, Value::Varint(_)))
                    && matches!(track[1], (2, Value::Bytes(_)))
            );
            tracks.push(track[0].1.varint());
            continue;
        }
        let time = varint(8).expect("timestamp");
        assert!(time >= last, "sorted");
        last = time;
        let (_, event) = packet
            .iter()
            .find(|(field, _)| *field == 11)
            .expect("track_event");
        let event = event.message();
        let of = |field: u64| event.iter().find(|(f, _)| *f == field);
        let track = of(11).expect("track_uuid").1.varint();
        assert!(tracks.contains(&track), "declared before use");
        match of(9).expect("type").1.varint() {
            1 => {
                assert!(of(23).is_some(), "name");
                assert_eq!(open.insert(track, time), None, "one packet at a time");
            }
            2 => {
                assert!(open.remove(&track).expect("begun") < time);
                slices += 1;
            }
            other => panic!("event type {other}"),
        }
    }
    assert!(open.is_empty());
    assert_eq!((tracks.len(), slices), (3, recording.len()));
}

fn tshark(file: &Path, arguments: &[&str]) -> Option<String> {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tools/wireshark/hostwire.lua"
    );
    let output = Command::new("tshark")
        .args(["-X", &format!("lua_script:{script}"), "-r"])
        .arg(file)
        .args(arguments)
        .output();
    match output {
        Ok(output) => {
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            let errors = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!errors.to_lowercase().contains("lua"), "{errors}");
            Some(String::from_utf8(output.stdout).unwrap())
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            hostwire_testing::left_out(&hostwire_testing::need::TSHARK, "tshark is not installed");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn save(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::Builder::new()
        .suffix(".pcapng")
        .tempfile()
        .unwrap();
    file.write_all(bytes).unwrap();
    file
}

#[test]
fn tshark_reads_hypertransport() {
    let (machine, recording) = recorded(true);
    let file = save(&pcapng(&recording));
    let columns = [
        "-T",
        "fields",
        "-e",
        "hypertransport.name",
        "-e",
        "hypertransport.address",
        "-e",
    ];
    let Some(text) = tshark(
        file.path(),
        &[
            &columns[..],
            &["hypertransport.data", "-Y", "hypertransport.address"],
        ]
        .concat(),
    ) else {
        return;
    };
    let to = address(&machine, 1, 0x1000);
    let want = format!(
        "Posted write\t{:#018x}\t{}\nPosted write\t{:#018x}\t22222222\n",
        to,
        "11".repeat(64),
        to + 0x44
    );
    assert_eq!(text, want);
    let nops = tshark(
        file.path(),
        &[
            "-Y",
            "hypertransport.nop.post_cmd > 0 && hypertransport.nop.post_data > 0",
        ],
    );
    assert_eq!(nops.unwrap().lines().count(), 2, "one NOP per write");
}

#[test]
fn tshark_reads_htoe() {
    use hostwire_packet::ht::{Address, Dwords, RequestRepr, UnitId};
    let write = RequestRepr::posted_write(
        UnitId::new(3).unwrap(),
        Address::new(0x12_3456_7840).unwrap(),
        Dwords::MAX,
    );
    let line = [0x5a; 64];
    let packet = PacketRepr::new(write, &line).unwrap();
    let mut packet_bytes = [0; 72];
    packet.emit(&mut packet_bytes).unwrap();
    // By hand, from docs/wire/htoe.md: data frame, ACK valid, one NOP, one packet.
    let mut frame = vec![0x02, 0, 0, 0, 0, 1, 0x02, 0, 0, 0, 0, 2, 0x88, 0xb5];
    frame.extend([
        0x11, 0x01, 0, 7, 0x01, 0x02, 0x03, 0x04, 1, 1, 0, 76, 0xaa, 0xbb, 0, 0,
    ]);
    frame.extend([0, 0b0101, 0, 0]); // NOP: one posted command and data
    frame.extend(packet_bytes);
    frame.extend([1, 2, 3, 4]);
    let recording = Recording::new();
    let port = recording.add_interface("eth0", Encapsulation::Ethernet);
    recording.push([Ps(1), Ps(2)], (port, Direction::AToB), "frame", frame);
    let file = save(&pcapng(&recording));
    let fields = [
        "htoe.seq",
        "htoe.ack",
        "htoe.virtual_link",
        "hypertransport.name",
        "hypertransport.address",
    ];
    let columns: Vec<&str> = ["-T", "fields"]
        .into_iter()
        .chain(fields.iter().flat_map(|field| ["-e", *field]))
        .collect();
    let Some(text) = tshark(file.path(), &columns) else {
        return;
    };
    assert_eq!(text, "258\t772\t7\tNOP,Posted write\t0x0000001234567840\n");
}
