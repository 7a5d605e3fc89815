//! Islands of sockets that networks of several kinds join: HTX boards, PEACH2 chips below bridges, HTEA.
//! The suites for transports and for the API run over them, and each network's way is worked out.

use std::sync::Arc;

use crate::common::clusters::load;
use crate::common::sockets::run_on;
use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::nic::Nic;
use hostwire_sim::models::ht::opteron::{Op, Script};
use hostwire_sim::models::pcie::bridge::Bridge;
use hostwire_sim::models::pcie::peach2::chip::Chip;
use hostwire_sim::wire::{Settings, WireError, run};
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed};

const MIXED: &str = include_str!("../clusters/mixed.toml");

/// Boards around a switch.
const BOARDS: &str = r#"
[board]
link_width = "16bit"
link_frequency = "400MHz"
user_frequency = "200MHz"

[[switch]]
name = "s"
ports = 4
frequency = "200MHz"

[[node]]
name = "a"
memory = "1GiB"
board = true

[[node]]
name = "b"
memory = "1GiB"
board = true

[[node]]
name = "c"
memory = "1GiB"
board = true

[[cable]]
from = "a.board.p0"
to = "s.p0"

[[cable]]
from = "b.board.p0"
to = "s.p1"

[[cable]]
from = "c.board.p1"
to = "s.p3"
"#;

/// Chips in a row, and an adapter at its end: packets from z to b cross both.
const CHAIN: &str = r#"
[[node]]
name = "a"
memory = "1GiB"
chip = true

[[node]]
name = "b"
memory = "1GiB"
chip = true

[[node]]
name = "c"
memory = "1GiB"
chip = true
adapter = true

[[node]]
name = "z"
memory = "1GiB"
adapter = true

[[cable]]
from = "a.chip.east"
to = "b.chip.west"

[[cable]]
from = "b.chip.east"
to = "c.chip.west"
"#;

/// A cluster with its PEs on these sockets, from the start again.
struct Cluster {
    file: &'static str,
    sockets: &'static [usize],
}

/// On `MIXED` far corners of three islands, and gateways; in the chain both ends and the middle.
const CLUSTERS: [Cluster; 4] = [
    Cluster {
        file: MIXED,
        sockets: &[1, 3, 4],
    },
    Cluster {
        file: MIXED,
        sockets: &[4, 0, 2],
    },
    Cluster {
        file: BOARDS,
        sockets: &[0, 1, 2],
    },
    Cluster {
        file: CHAIN,
        sockets: &[3, 0, 1],
    },
];

impl Testbed for Cluster {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        run_on(self.file, self.sockets, (pes, segment_bytes), program);
    }
}

/// The socket of a node.
fn socket(machine: &Machine, name: &str) -> usize {
    let mut sockets = machine.sockets().iter();
    sockets.position(|socket| socket.name == name).unwrap()
}

/// Stores this many lines of so many bytes from a node to another one, and lets everything arrive.
fn send(machine: &mut Machine, [from, to]: [&str; 2], lines: u64, bytes: usize) {
    let [from, to] = [from, to].map(|name| socket(machine, name));
    let id = machine.sockets()[to].id;
    let base = machine.plan().processor(id).unwrap().memory.start.0 + (1 << 20);
    let mut ops = Vec::new();
    for line in 0..lines {
        ops.push(Op::Store {
            address: base + 64 * line,
            data: vec![line as u8; bytes],
        });
    }
    ops.push(Op::Fence);
    machine.start(from, Script::new(ops)).unwrap();
    machine.sim.run().unwrap();
}

/// The way of a write over two boards: HT-Core, requester and network port of one, the cable of 16 bits
/// each 10 ns, network port, completer and HT-Core of the other one. Before the data are 8 bytes of
/// command, because the address is below 40 bit, and 8 of the frame.
#[test]
fn a_write_over_boards_takes_what_its_parts_take() {
    for (bytes, ps) in [(8, 424_834), (64, 704_834)] {
        let mut machine = booted(MIXED).unwrap();
        send(&mut machine, ["a0", "b0"], 1, bytes);
        let [from, to] = [0, 1].map(|at| {
            let nic = machine.boards().nics[at];
            machine.sim.component::<Nic>(nic).unwrap().counters()
        });
        assert_eq!((from.sent, to.completed), (1, 1));
        let cable = Ps::from_ns((8 + 8 + bytes as u64) / 2 * 10);
        let inches = Ps(2_000 + (60.0 / 2.54 * 120.0) as u64);
        let parts = Ps::from_cycles(11, 200)
            + Ps::from_cycles(5 + 5, 100)
            + cable
            + inches
            + Ps::from_cycles(6, 100)
            + Ps::from_cycles(5, 100)
            + Ps::from_cycles(7, 200);
        assert_eq!(parts, Ps(ps), "docs/plan.md");
        assert_eq!(to.stages.to_link - from.last_write, parts);
    }
}

/// The way of a write over chips: two bridges, three PCI Express links at 4 GB/s with 24 bytes of framing and
/// header, two chips.
#[test]
fn a_write_over_chips_takes_what_its_parts_take() {
    for (bytes, ns) in [(8, 735), (64, 777)] {
        let mut machine = booted(MIXED).unwrap();
        send(&mut machine, ["a0", "c0"], 1, bytes);
        let adapters = machine.adapters().iter();
        let bridges: Vec<_> = adapters
            .filter_map(|id| machine.sim.component::<Bridge>(*id))
            .map(Bridge::counters)
            .collect();
        let link = Ps(250 * (bytes as u64 + 24)) + Ps::from_ns(5);
        let (bridge, chip) = (Ps::from_ns(100), Ps::from_cycles(62, 250));
        let parts = Ps(2 * bridge.0 + 3 * link.0 + 2 * chip.0);
        assert_eq!(parts, Ps::from_ns(ns), "docs/plan.md");
        assert_eq!(bridges[1].last_up - bridges[0].first_down.unwrap(), parts);
        for chip in machine.chips() {
            let counters = machine.sim.component::<Chip>(*chip).unwrap().counters();
            assert_eq!((counters.forwarded, counters.dropped), (1, 0));
        }
    }
}

/// More than all buffers on the way hold, over each network: nothing is lost, and all is in order.
#[test]
fn streams_arrive_whole() {
    for [from, to] in [
        ["a1", "b1"],
        ["b1", "a1"],
        ["a1", "c0"],
        ["c0", "a1"],
        ["b1", "c0"],
    ] {
        let mut machine = booted(MIXED).unwrap();
        send(&mut machine, [from, to], 500, 64);
        let to = socket(&machine, to);
        let counters = machine.socket(to).counters();
        let id = machine.sockets()[to].id;
        let base = machine.plan().processor(id).unwrap().memory.start.0 + (1 << 20);
        for line in [0, 255, 499_u64] {
            let got = load(&machine, to, base + 64 * line, 64);
            assert_eq!(got, [line as u8; 64], "{from}: line {line}");
        }
        assert!(counters.last_write > Ps::ZERO);
    }
}

/// A run is the same in each build: these hashes are pinned.
#[test]
fn runs_are_the_same_each_time() {
    let hash = |file: &str| {
        let mut machine = booted(file).unwrap();
        let settings = Settings {
            sockets: vec![0, 1, 2],
            ..Settings::new(0, 4096)
        };
        let program = |wire: Arc<hostwire_sim::wire::VirtualWire>| {
            for round in 0..20_u8 {
                let to = (wire.pe() + 1 + u32::from(round % 2)) % 3;
                wire.store(to, 64 * usize::from(round), &[round; 64])
                    .unwrap();
            }
            wire.quiet().unwrap();
        };
        let summary = run(&mut machine, &settings, &program).unwrap();
        summary.hash.to_string()
    };
    assert_eq!([MIXED, BOARDS, CHAIN].map(hash), PINNED);
}

const PINNED: [&str; 3] = ["b0a1e1c0c685ccce", "4f63856527ef6405", "15121d2d24e20a24"];

/// A chip whose registers lead nowhere: the report names all that wait, and why.
#[test]
fn a_chip_that_drops_is_named() {
    let mut machine = booted(MIXED).unwrap();
    // Port east has no addresses any more.
    let mut writes = machine.plan().chips()[0].registers.clone();
    writes[1].value = u64::MAX;
    let chip = machine.chips()[0];
    if let Some(chip) = machine.sim.component_mut::<Chip>(chip) {
        chip.configure(&writes);
    }
    let sockets = ["a0", "c0"].map(|name| socket(&machine, name));
    let settings = Settings {
        sockets: sockets.to_vec(),
        ..Settings::new(0, 4096)
    };
    let ran = run(&mut machine, &settings, &|wire| {
        if wire.pe() == 0 {
            wire.store(1, 0, &[1; 64]).unwrap();
        }
    });
    let Err(WireError::Stalled { pes, devices, .. }) = ran else {
        panic!("{ran:?}");
    };
    assert!(
        pes[0].contains("waits for its stores to arrive: 0 of 1"),
        "{pes:?}"
    );
    let text = devices.unwrap().to_string();
    assert!(text.contains("a0.chip has dropped 1 TLPs"), "{text}");
}

suites!(CLUSTERS);
