//! Recordings of jobs, read with our own code.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use hostwire_packet::htoe::{EthernetRepr, FrameRepr, MacAddress};
use hostwire_testing::pcapng::{blocks, packets};
use hostwire_testing::{is_installed, need};
use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::job::{Job, eventually, hostwire};
use crate::programs::{all_fine, fault_probe};

const TEXT: &str = "nobody else puts this text";
/// In pcapng.
const STATISTICS: u32 = 5;

/// What a PE has stored last at each address, by target.
type Stored = BTreeMap<u32, BTreeMap<u64, u8>>;

fn capture(folder: &Path, pe: u32) -> Vec<u8> {
    std::fs::read(folder.join(format!("pe-{pe}.pcapng"))).unwrap()
}

/// Of the recording of a PE.
fn stored(capture: &[u8], pe: u32) -> Stored {
    let station = |pe: u32| {
        let [a, b, c, d] = pe.to_be_bytes();
        MacAddress([2, 0, a, b, c, d])
    };
    let mut stored = Stored::new();
    for packet in packets(capture) {
        let ethernet = EthernetRepr::parse(packet.data).unwrap();
        assert_eq!(ethernet.source, station(pe));
        let MacAddress([_, _, a, b, c, d]) = ethernet.destination;
        let target = u32::from_be_bytes([a, b, c, d]);
        assert_eq!(ethernet.destination, station(target));
        let frame = FrameRepr::parse(&packet.data[ethernet.buffer_len()..]).unwrap();
        let memory = stored.entry(target).or_default();
        for packet in frame.packets() {
            for (address, run) in hostwire_link::put::runs(&packet) {
                memory.extend((address..).zip(run.iter().copied()));
            }
        }
    }
    stored
}

/// Whether these bytes lie somewhere one after the other.
fn contains(memory: &BTreeMap<u64, u8>, bytes: &[u8]) -> bool {
    memory.keys().any(|first| {
        let found = (*first..).map_while(|address| memory.get(&address));
        found.take(bytes.len()).eq(bytes)
    })
}

fn since_1970_ns() -> u64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    time.as_nanos().try_into().unwrap()
}

/// Runs a job that puts texts, and looks for each of them in the recording of its PE.
fn puts_are_found(wire: &str, pes: u32, options: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    // It is made.
    let folder = folder.path().join("recording");
    let (count, probe) = (pes.to_string(), fault_probe());
    let run = ["run", "-n", &count, "--wire", wire, "--stats"];
    let record = ["--record", folder.to_str().unwrap()];
    let program = [&probe[..], "put", TEXT];
    let begin = since_1970_ns();
    let ended = Job::start(hostwire(&[&run[..], options, &record, &program].concat())).end();
    assert_eq!(ended.status, 0, "{wire}: {ended:#?}");
    assert_eq!(ended.sorted_lines(), all_fine(pes), "{wire}");
    assert!(ended.stderr.contains("frames recorded"), "{ended:#?}");
    for pe in 0..pes {
        let capture = capture(&folder, pe);
        let stored = stored(&capture, pe);
        for target in 0..pes {
            let text = format!("{TEXT} of PE {pe}");
            let seen = stored.get(&target);
            let seen = seen.is_some_and(|memory| contains(memory, text.as_bytes()));
            assert_eq!(seen, target == (pe + 1) % pes, "{wire}, {pe} to {target}");
        }
        let times = packets(&capture).into_iter().map(|packet| packet.time);
        let during = begin..=since_1970_ns();
        assert!(times.into_iter().all(|time| during.contains(&time)));
        // It was ended in good order, and has everything.
        let blocks = blocks(&capture);
        let (kind, body) = blocks.last().unwrap();
        assert_eq!((*kind, &body[16..24]), (STATISTICS, &[0; 8][..]));
    }
}

#[test]
fn puts_within_a_host_are_found() {
    puts_are_found("shm", 3, &[]);
}

/// One of the PEs has a neighbour on its own host.
#[test]
fn puts_between_hosts_are_found() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    puts_are_found("udp", 3, &["--hosts", "2"]);
}

#[test]
fn tshark_reads_a_recording() {
    if !is_installed("tshark", &need::TSHARK) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (path, probe) = (folder.path().to_str().unwrap(), fault_probe());
    let ended = crate::job::run(&["run", "-n", "2", "--record", path, &probe, "put", TEXT]);
    assert_eq!(ended.status, 0, "{ended:#?}");
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tools/wireshark/hostwire.lua"
    );
    let (script, file) = (
        format!("lua_script:{script}"),
        format!("{path}/pe-1.pcapng"),
    );
    let fields = ["eth.src", "hypertransport.name", "_ws.malformed"];
    let fields: Vec<&str> = fields.iter().flat_map(|field| ["-e", *field]).collect();
    let read = ["-X", &script, "-r", &file, "-T", "fields"];
    let read = crate::programs::run("tshark", &[&read[..], &fields].concat());
    assert_eq!(read.status, 0, "{read:#?}");
    assert!(read.stdout.lines().count() > 3, "{read:#?}");
    for line in read.stdout.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let is_write = fields[1].split(',').all(|name| name == "Posted write");
        assert!(is_write, "{line}");
        assert_eq!((fields[0], fields[2]), ("02:00:00:00:00:01", ""), "{line}");
    }
}

#[test]
fn the_recording_of_a_killed_pe_is_readable() {
    let folder = tempfile::tempdir().unwrap();
    let record = ["--record", folder.path().to_str().unwrap()];
    let program = [&fault_probe()[..], "steady", "20000"];
    let steady = Steady::start_over("shm", 2, &record, &[], &program);
    eventually("something is recorded", || {
        !packets(&capture(folder.path(), 1)).is_empty()
    });
    steady.signal(1, Signal::KILL);
    let ended = steady.end_by_itself();
    assert_ne!(ended.status, 0, "{ended:#?}");
    let capture = capture(folder.path(), 1);
    assert!(!stored(&capture, 1).is_empty());
    let ends = blocks(&capture).iter().any(|(kind, _)| *kind == STATISTICS);
    assert!(!ends, "it was killed");
}

#[test]
fn a_recording_has_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let (path, probe) = (folder.path().to_str().unwrap(), fault_probe());
    let run = ["run", "-n", "2", "--stats", "--record", path, &probe];
    let mut command = hostwire(&[&run[..], &["everything"]].concat());
    command.env("HOSTWIRE_RECORD_LIMIT", "20K");
    let ended = Job::start(command).end();
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert!(ended.stderr.contains("frames not recorded"), "{ended:#?}");
    for pe in 0..2 {
        let len = capture(folder.path(), pe).len();
        assert!((10_000..=20_480).contains(&len), "{len}");
    }
}
