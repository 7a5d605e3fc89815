//! Adapters for HyperTransport over Ethernet in booted machines: nodes that nothing else joins, and
//! islands of cables. The suites for transports and for the API run over both, and over a network
//! that loses, doubles and reorders frames.

use std::sync::Arc;

use crate::common::sockets::run_on;
use hostwire::AgentMode;
use hostwire::conformance::Setup;
use hostwire_sim::engine::{ComponentId, Ps};
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::{Op, Script};
use hostwire_sim::models::htea::adapter::Adapter;
use hostwire_sim::models::htea::fast;
use hostwire_sim::wire::{Settings, WireError, run};
use hostwire_testing::or_long;
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Case as WireCase, Program, Testbed};

const EIGHT: &str = include_str!("../clusters/htea-eight.toml");
const ISLANDS: &str = include_str!("../clusters/two-islands.toml");
/// What goes wrong on a bad network.
const BAD: &str = "[ethernet]\nlost_per_million = 20_000\ndoubled_per_million = 20_000\n\
                   delayed_per_million = 20_000\n\n";
/// Buffers of four packets for each of seven virtual links.
const SCARCE: &str = "[htea]\nbuffers_in = \"2128B\"\nbuffers_out = \"2128B\"\n\n";

/// A cluster with its PEs on these sockets, from the start again.
struct Cluster {
    file: String,
    sockets: &'static [usize],
}

impl Cluster {
    fn all() -> [Cluster; 3] {
        let of = |before: &str, file: &str, sockets| Cluster {
            file: format!("{before}{file}"),
            sockets,
        };
        [
            of("", EIGHT, &[0, 3, 7]),
            // The gateway of one island, the far corner of the other one, and a neighbour.
            of("", ISLANDS, &[0, 6, 1]),
            of(BAD, EIGHT, &[5, 2, 0]),
        ]
    }
}

impl Testbed for Cluster {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        run_on(&self.file, self.sockets, (pes, segment_bytes), program);
    }
}

/// The adapter of a node.
fn adapter(machine: &Machine, number: usize) -> &Adapter {
    let component: ComponentId = machine.adapters()[number];
    machine.sim.component(component).unwrap()
}

/// Stores to the memory of a socket, of these lengths one after the other.
fn stores(machine: &Machine, to: usize, lengths: &[usize]) -> Script {
    let id = machine.sockets()[to].id;
    let base = machine.plan().processor(id).unwrap().memory.start.0 + (1 << 20);
    let mut ops = Vec::new();
    for (line, length) in (0..).zip(lengths) {
        ops.push(Op::Store {
            address: base + 64 * line,
            data: vec![line as u8; *length],
        });
        ops.push(Op::Fence);
    }
    Script::new(ops)
}

/// Table I of the HToE paper: the sum of its parts, to the picosecond.
#[test]
fn one_packet_takes_the_time_of_the_paper() {
    let mut machine = booted(EIGHT).unwrap();
    let script = stores(&machine, 1, &[64]);
    machine.start(0, script).unwrap();
    machine.sim.run().unwrap();
    let from = adapter(&machine, 0).counters().first_in.unwrap();
    let to = adapter(&machine, 1).counters();
    assert_eq!(to.received, 1);
    assert_eq!(
        to.last_out - from,
        Ps::from_ns(192 + 244 + 122 + 244 + 298 + 222 + 156)
    );
}

/// The way of a word, part by part. Its frame is the shortest one that Ethernet has: 84 bytes of time on
/// the wire instead of the 130 of a line.
#[test]
fn a_word_takes_what_its_parts_take() {
    let mut machine = booted(EIGHT).unwrap();
    let begin = machine.sim.now();
    let script = stores(&machine, 1, &[8]);
    machine.start(0, script).unwrap();
    machine.sim.run().unwrap();
    let sent = adapter(&machine, 0).counters().first_in.unwrap();
    let came = adapter(&machine, 1).counters().last_out;
    let seen = machine.socket(1).counters().first_write.unwrap();
    assert_eq!(came - sent, Ps(1_478_000 - (130 - 84) * 800));
    // Five dwords of 16 bits and 2,600 MHz, six inches of trace, and the next bit time.
    let (link, bit) = (Ps(1_923 + 3_020), Ps(193));
    let config = machine.socket(0).config();
    let from_core = Ps(config.store_line.0 / 8) + config.out + link;
    let into_memory = link + config.inbound + config.memory_write;
    for (took, parts) in [(sent - begin, from_core), (seen - came, into_memory)] {
        assert!(
            took >= parts && took <= parts + bit + Ps(2),
            "{took} is not {parts}"
        );
    }
}

/// The device and the fast model take the same time for a stream, from one sender and from seven.
/// They differ in how it begins: the device sends what is there, so its first frames are not full,
/// and each of those costs the stage a start more. That is less than two full frames for each
/// sender, whatever the length of the stream.
#[test]
fn streams_take_the_time_of_the_fast_model() {
    const FRAME: Ps = Ps(222_000 + 19 * 65_400);
    for senders in [1, 7] {
        for lines in [2_000, 4_000] {
            let mut machine = booted(EIGHT).unwrap();
            let base = machine.plan().nodes()[7].range.start.0 + (1 << 20);
            for sender in 0..senders {
                // No line follows another: the paper's adapter has no bursts.
                let address = |line: u64| base + 128 * (line + lines * sender);
                let ops = (0..lines).map(|line| Op::Store {
                    address: address(line),
                    data: vec![1; 64],
                });
                let script = Script::new(ops.collect::<Vec<_>>());
                machine.start(sender as usize, script).unwrap();
            }
            machine.sim.run().unwrap();
            let first = (0..senders as usize)
                .filter_map(|sender| adapter(&machine, sender).counters().first_in)
                .min();
            let to = adapter(&machine, 7).counters();
            assert_eq!(to.received, lines * senders);
            let device = to.last_out - first.unwrap();
            let fast = fast::run(fast::Config {
                nodes: senders + 1,
                packets: lines * senders,
                ..fast::Config::default()
            });
            let fast = fast.unwrap().latency;
            let apart = device.0.abs_diff(fast.0);
            assert!(
                apart < FRAME.0 * 2 * senders,
                "{senders} senders, {lines} lines: {device} and {fast}"
            );
        }
    }
}

/// With buffers for four packets the adapter stops its own link, and nothing is lost.
#[test]
fn scarce_buffers_push_back() {
    let file = format!("{SCARCE}{EIGHT}");
    let count = 500;
    let mut machine = booted(&file).unwrap();
    let script = stores(&machine, 1, &vec![64; count]);
    machine.start(0, script).unwrap();
    machine.sim.run().unwrap();
    let counters = adapter(&machine, 1).counters();
    assert_eq!(counters.received, count as u64);
    let stalls = adapter(&machine, 0).endpoint().counters().credit_stalls;
    assert!(stalls > 0, "credits were never short");
    let mut free = booted(EIGHT).unwrap();
    let script = stores(&free, 1, &vec![64; count]);
    free.start(0, script).unwrap();
    free.sim.run().unwrap();
    let last = |machine: &Machine| machine.socket(1).counters().last_write;
    assert!(
        last(&machine) > last(&free),
        "{} {}",
        last(&machine),
        last(&free)
    );
}

/// A run is the same in each build: this hash is pinned.
#[test]
fn runs_are_the_same_each_time() {
    let hash = |file: &str| {
        let mut machine = booted(file).unwrap();
        let settings = Settings {
            sockets: vec![0, 5],
            ..Settings::new(0, 4096)
        };
        let program = |wire: Arc<hostwire_sim::wire::VirtualWire>| {
            if wire.pe() == 0 {
                for round in 0..50 {
                    wire.store(1, 64 * round, &[round as u8; 64]).unwrap();
                }
                wire.quiet().unwrap();
            }
        };
        let summary = run(&mut machine, &settings, &program).unwrap();
        summary.hash.to_string()
    };
    let found = [
        EIGHT.to_owned(),
        format!("{BAD}{EIGHT}"),
        ISLANDS.to_owned(),
    ]
    .map(|file| hash(&file));
    assert_eq!(found, PINNED);
}

/// Without faults, with faults, and over islands.
const PINNED: [&str; 3] = ["af0c5e8202111046", "cae2533e45f33124", "ff28d5bc3f0e259d"];

/// A network that carries nothing: the report names all that wait, and why.
#[test]
fn a_dead_network_is_named() {
    let file = format!("[ethernet]\nlost_per_million = 1_000_000\n\n{EIGHT}");
    let mut machine = booted(&file).unwrap();
    let settings = Settings::new(2, 4096);
    let ran = run(&mut machine, &settings, &|wire| {
        if wire.pe() == 0 {
            wire.store(1, 0, &[1; 64]).unwrap();
        }
    });
    let Err(WireError::Stalled { pes, devices, .. }) = ran else {
        panic!("{ran:?}");
    };
    assert_eq!(pes.len(), 1, "{pes:?}");
    assert!(
        pes[0].contains("waits for its stores to arrive: 0 of 1"),
        "{pes:?}"
    );
    let text = devices.unwrap().to_string();
    assert!(
        text.contains("n0.adapter has dropped 1 packets: the virtual link is closed"),
        "{text}"
    );
}

mod wire {
    use super::*;

    fn run(name: &str) {
        let cases: &[WireCase] = hostwire_transport::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        for cluster in Cluster::all() {
            for &pes in or_long(&[3][..], &[2, 3]) {
                (case.run)(&cluster, pes);
            }
        }
    }

    hostwire_transport::transport_cases!(cases!());
}

mod api {
    use super::*;

    fn run(name: &str) {
        let cases = hostwire::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        for cluster in Cluster::all().into_iter().take(or_long(1, usize::MAX)) {
            (case.run)(&Setup::new(&cluster, or_long(2, 3), AgentMode::Polled));
        }
    }

    hostwire::conformance_cases!(cases!());
}
