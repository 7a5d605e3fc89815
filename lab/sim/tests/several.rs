//! A node with several HTX boards, PEACH2 chips and HTEA adapters: the suites for transports and for the
//! API run over it, and long puts of its processors go by the controllers of its chips.

use crate::common::seeds;
use std::sync::{Arc, Mutex};

use crate::common::sockets::run_on;
use hostwire_sim::engine::random::Random;
use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::firmware;
use hostwire_sim::machine::{Below, Machine};
use hostwire_sim::models::ht::nic::Nic;
use hostwire_sim::models::ht::opteron::OpteronConfig;
use hostwire_sim::models::htea::adapter::Adapter;
use hostwire_sim::models::pcie::peach2::chip::Chip;
use hostwire_sim::wire::{Settings, VirtualWire, run};
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed};

const SEVERAL: &str = include_str!("../clusters/several.toml");
/// No case needs so many; a job that polls for ever ends here.
const EVENTS_MAX: u64 = 500_000_000;

/// The socket of this name.
fn socket(machine: &Machine, name: &str) -> usize {
    let mut sockets = machine.sockets().iter();
    sockets.position(|socket| socket.name == name).unwrap()
}

/// Sockets in the order of the plan.
const C0: usize = 0;
const HUB: [usize; 4] = [1, 2, 3, 4];
const E: usize = 5;
const B1: usize = 6;
const B0: usize = 7;
const C1: usize = 8;

#[test]
fn the_plan_has_this_order() {
    let machine = booted(SEVERAL).unwrap();
    let names = [
        ("c0", C0),
        ("hub.p0", HUB[0]),
        ("hub.p3", HUB[3]),
        ("e", E),
        ("b1", B1),
        ("b0", B0),
        ("c1", C1),
    ];
    for (name, at) in names {
        assert_eq!(socket(&machine, name), at, "{name}");
    }
}

/// PEs on these sockets, from the start again.
#[derive(Clone, Copy)]
struct Cluster(&'static [usize]);

impl Testbed for Cluster {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        run_on(SEVERAL, self.0, (pes, segment_bytes), program);
    }
}

/// Islands behind the second device of each kind; both ends of all networks.
const CLUSTERS: [Cluster; 2] = [Cluster(&[B0, C1, HUB[3]]), Cluster(&[E, HUB[1], B1])];

suites!(CLUSTERS);

/// The cluster, where puts of so many bytes go by DMA and a socket has so many source tags.
fn machine(dma_from_bytes: u64, source_tags: u8) -> Machine {
    let plan = hostwire_plan::plan("several.toml", SEVERAL.as_bytes()).unwrap();
    let below = Below {
        dma_from_bytes,
        ..Below::default()
    };
    let config = OpteronConfig {
        source_tags,
        ..OpteronConfig::shanghai()
    };
    let mut machine = Machine::with_below(plan, &config, &below).unwrap();
    firmware::boot_all(&mut machine).unwrap();
    machine
}

const TAGS: u8 = 32;

fn settings(sockets: &[usize], segment_bytes: usize) -> Settings {
    Settings {
        sockets: sockets.to_vec(),
        events_max: EVENTS_MAX,
        ..Settings::new(0, segment_bytes)
    }
}

/// Writes of the DMA controllers of `hub.chip` and `hub.chip1`.
fn moved(machine: &Machine) -> [u64; 2] {
    ["hub.chip", "hub.chip1"].map(|name| {
        let mut chips = machine.plan().chips().iter();
        let member = chips.position(|chip| chip.name == name).unwrap();
        let chip = machine.sim.component::<Chip>(machine.chips()[member]);
        chip.unwrap().counters().dma_writes
    })
}

/// A put from PE 0 to PE 1 with its quiet: the time, and the run. All bytes are there behind the quiet.
fn put(machine: &mut Machine, sockets: &[usize], bytes: usize) -> (Ps, Summary) {
    let time = Mutex::new(Ps::ZERO);
    let program = |wire: Arc<VirtualWire>| {
        if wire.pe() == 0 {
            let begin = wire.now();
            wire.store(1, 0, &vec![7; bytes]).unwrap();
            wire.quiet().unwrap();
            *time.lock().unwrap() = wire.now() - begin;
            wire.store_word(1, 2 << 20, 1).unwrap();
        } else if wire.pe() == 1 {
            let memory = wire.segment().memory();
            let mut word = [0; 8];
            while u64::from_ne_bytes(word) == 0 {
                memory.copy_out(2 << 20, &mut word).unwrap();
                wire.poll().unwrap();
            }
            let mut got = vec![0; bytes];
            memory.copy_out(0, &mut got).unwrap();
            assert!(got.iter().all(|byte| *byte == 7));
        }
    };
    let summary = run(machine, &settings(sockets, (2 << 20) + 64), &program).unwrap();
    let time = *time.lock().unwrap();
    (time, summary)
}

/// Every processor of the hub, and each of its chips: whose memory the data are in makes no difference.
#[test]
fn long_puts_of_all_processors_go_by_dma() {
    for from in HUB {
        for (to, writes) in [(C0, [64, 0]), (C1, [0, 64]), (B0, [0, 0]), (E, [0, 0])] {
            let mut machine = booted(SEVERAL).unwrap();
            put(&mut machine, &[from, to], 16 << 10);
            assert_eq!(moved(&machine), writes, "{from} to {to}");
        }
    }
}

/// The time of a put from a processor that has the chip, a neighbour and the far corner: each coherent link
/// is crossed by the reads and by what starts and ends the transfer, so farther is later.
#[test]
fn a_farther_processor_takes_longer() {
    // `chip1` is on processor 2; 0 and 3 are beside it, 1 is not.
    let [own, beside, far] =
        [2, 0, 1].map(|at| put(&mut machine(4096, TAGS), &[HUB[at], C1], 256 << 10).0);
    assert!(own < beside && beside < far, "{own}, {beside}, {far}");
}

/// With one tag for a whole socket, cores and devices: slowly, and all arrives.
#[test]
fn reads_of_devices_wait_for_a_tag() {
    let few = put(&mut machine(4096, 1), &[HUB[1], C1], 32 << 10).0;
    let all = put(&mut machine(4096, TAGS), &[HUB[1], C1], 32 << 10).0;
    assert!(few.as_ns() > 2.0 * all.as_ns(), "{few}, {all}");
}

/// Puts of random lengths from all processors of the hub over both chips at once: the right bytes, and a word
/// behind each put.
#[test]
fn processors_share_the_chips() {
    const AREA: u64 = 32 << 10;
    const SENDERS: u64 = 5;
    const FLAGS: usize = (AREA * SENDERS) as usize;
    let seed = seeds::seed();
    let program = |wire: Arc<VirtualWire>| {
        let me = wire.pe();
        let what = |sender: u64, to: u64, step: u64| {
            let mut random = Random::new(seed + 1000 * sender + 100 * to + step);
            let len = 1 + random.below(AREA);
            let at = random.below(AREA - len + 1);
            let data: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
            (at, data)
        };
        if u64::from(me) < SENDERS {
            let sender = u64::from(me);
            for step in 1..=3 {
                // The two islands in turn, not all in the same.
                for to in [sender % 2, (sender + 1) % 2] {
                    let (at, data) = what(sender, to, step);
                    let pe = (SENDERS + to) as u32;
                    wire.store(pe, (AREA * sender + at) as usize, &data)
                        .unwrap();
                    wire.store_word(pe, FLAGS + 64 * sender as usize, step)
                        .unwrap();
                    // Nobody writes over what has not been looked at.
                    let memory = wire.segment().memory();
                    let mut word = [0; 8];
                    while u64::from_ne_bytes(word) < step {
                        memory
                            .copy_out(FLAGS + 64 * to as usize, &mut word)
                            .unwrap();
                        wire.poll().unwrap();
                    }
                }
            }
            return;
        }
        let to = u64::from(me) - SENDERS;
        let memory = wire.segment().memory();
        let mut seen = [0; SENDERS as usize];
        let mut expected = vec![0; FLAGS];
        while seen.iter().any(|step| *step < 3) {
            for sender in 0..SENDERS {
                let mut word = [0; 8];
                memory
                    .copy_out(FLAGS + 64 * sender as usize, &mut word)
                    .unwrap();
                let step = u64::from_ne_bytes(word);
                if step == seen[sender as usize] {
                    continue;
                }
                seen[sender as usize] = step;
                let (at, data) = what(sender, to, step);
                let area = (AREA * sender) as usize..(AREA * (sender + 1)) as usize;
                let place = area.start + at as usize;
                expected[place..place + data.len()].copy_from_slice(&data);
                let mut got = vec![0; AREA as usize];
                memory.copy_out(area.start, &mut got).unwrap();
                assert!(
                    got == expected[area],
                    "seed {seed}, {sender} to {to}, step {step}"
                );
                wire.store_word(sender as u32, FLAGS + 64 * to as usize, step)
                    .unwrap();
            }
            wire.poll().unwrap();
        }
    };
    let sockets = [HUB[0], HUB[1], HUB[2], HUB[3], HUB[2], C0, C1];
    let mut machine = machine(1000, TAGS);
    run(&mut machine, &settings(&sockets, FLAGS + 64 * 8), &program).unwrap();
    assert!(moved(&machine).iter().all(|writes| *writes > 0));
}

/// Each device carries what is for its island: both boards, both chips, and of the adapters the nearer one.
#[test]
fn each_device_carries_what_is_for_its_island() {
    let mut machine = booted(SEVERAL).unwrap();
    // The socket of each processor of the hub sends to all islands, and all islands to it.
    let sockets = [HUB[0], HUB[1], HUB[2], HUB[3], C0, C1, B0, B1, E];
    let program = |wire: Arc<VirtualWire>| {
        let (me, hub) = (wire.pe(), wire.pe() < 4);
        for to in if hub { 4..9 } else { 0..4 } {
            let line = [me as u8 + 1; 64];
            wire.store(to, 64 * me as usize, &line).unwrap();
        }
        wire.quiet().unwrap();
    };
    run(&mut machine, &settings(&sockets, 4096), &program).unwrap();
    let name = |component| machine.sim.name(component).unwrap_or_default().to_owned();
    let mut found = Vec::new();
    for component in machine.adapters().iter().chain(machine.chips()) {
        let nic = machine.sim.component::<Nic>(*component);
        let chip = machine.sim.component::<Chip>(*component);
        let adapter = machine.sim.component::<Adapter>(*component);
        let counted = match (nic, chip, adapter) {
            (Some(nic), _, _) => Some((nic.counters().sent, nic.counters().completed)),
            (_, Some(chip), _) => Some((chip.counters().forwarded, 0)),
            (_, _, Some(adapter)) => Some((adapter.counters().sent, adapter.counters().received)),
            _ => None,
        };
        let name = name(*component);
        if let Some(counted) = counted.filter(|_| name.starts_with("hub")) {
            found.push((name, counted));
        }
    }
    found.sort();
    let expected = [
        ("hub.chip", (8, 0)),
        ("hub.chip1", (8, 0)),
        ("hub.p0.board", (4, 4)),
        ("hub.p1.board1", (4, 4)),
        ("hub.p2.adapter", (4, 2)),
        ("hub.p3.adapter1", (0, 2)),
    ];
    let expected = expected.map(|(name, counted)| (name.to_owned(), counted));
    assert_eq!(found, expected);
}

/// A run has the same events each time.
#[test]
fn runs_are_the_same_each_time() {
    let [first, second] = [0, 1].map(|_| {
        let mut machine = booted(SEVERAL).unwrap();
        put(&mut machine, &[HUB[0], C1], 100_001).1.hash
    });
    assert_eq!(first, second);
}
