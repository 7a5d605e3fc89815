//! Long puts by the DMA controllers of PEACH2 chips below sockets, in clusters with networks of several
//! kinds.

use crate::common::seeds;
use std::sync::{Arc, Mutex};

use hostwire_plan::NodeId;
use hostwire_sim::engine::random::Random;
use hostwire_sim::engine::{Ps, Summary};
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::firmware;
use hostwire_sim::machine::{Below, Machine};
use hostwire_sim::models::ht::opteron::OpteronConfig;
use hostwire_sim::models::pcie::bridge::Bridge;
use hostwire_sim::models::pcie::peach2::chip::Chip;
use hostwire_sim::wire::{Settings, VirtualWire, WireError, run};
use hostwire_transport::Wire;
use hostwire_transport::conformance::{Program, Testbed};

const MIXED: &str = include_str!("../clusters/mixed.toml");
/// Sockets of the nodes with chips.
const A0: usize = 0;
const C0: usize = 4;
const NEVER: u64 = u64::MAX;
/// No case needs so many; a job that polls for ever ends here.
const EVENTS_MAX: u64 = 500_000_000;

/// The cluster, where puts of so many bytes go by DMA.
fn machine(dma_from_bytes: u64) -> Machine {
    let plan = hostwire_plan::plan("mixed.toml", MIXED.as_bytes()).unwrap();
    let below = Below {
        dma_from_bytes,
        ..Below::default()
    };
    let mut machine = Machine::with_below(plan, &OpteronConfig::shanghai(), &below).unwrap();
    firmware::boot_all(&mut machine).unwrap();
    machine
}

fn settings(sockets: &[usize], segment_bytes: usize) -> Settings {
    Settings {
        sockets: sockets.to_vec(),
        events_max: EVENTS_MAX,
        ..Settings::new(0, segment_bytes)
    }
}

/// Writes of the DMA controllers of a0 and c0.
fn moved(machine: &Machine) -> [u64; 2] {
    let chips = machine.chips().iter();
    let writes: Vec<u64> = chips
        .filter_map(|chip| machine.sim.component::<Chip>(*chip))
        .map(|chip| chip.counters().dma_writes)
        .collect();
    [writes[0], writes[1]]
}

/// PEs on these sockets, from the start again; all puts but words and messages go by DMA.
#[derive(Clone, Copy)]
struct Cluster(&'static [usize]);

impl Testbed for Cluster {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let sockets = self.0.iter().copied().cycle();
        let sockets: Vec<usize> = sockets.take(pes as usize).collect();
        let mut machine = machine(0);
        let settings = settings(&sockets, segment_bytes);
        let ran = run(&mut machine, &settings, &|wire| {
            program(wire as Arc<dyn Wire>)
        });
        if let Err(error) = ran {
            panic!("{error}");
        }
    }
}

/// Both ends; two on a socket; and one that is a node further.
const CLUSTERS: [Cluster; 3] = [
    Cluster(&[A0, C0]),
    Cluster(&[C0, C0, A0]),
    Cluster(&[A0, C0, 1]),
];

// The cases of the API: both ends, and two on a socket.
suites!(CLUSTERS, [(CLUSTERS[0], 2), (CLUSTERS[1], 3)]);

/// The time of a put from PE 0 to PE 1 with its quiet, and the run.
fn put(machine: &mut Machine, sockets: &[usize], bytes: usize) -> (Ps, Summary) {
    let time = Mutex::new(Ps::ZERO);
    let program = |wire: Arc<VirtualWire>| {
        if wire.pe() == 0 {
            let begin = wire.now();
            wire.store(1, 0, &vec![7; bytes]).unwrap();
            wire.quiet().unwrap();
            *time.lock().unwrap() = wire.now() - begin;
        }
    };
    let summary = run(machine, &settings(sockets, 2 << 20), &program).unwrap();
    let time = *time.lock().unwrap();
    (time, summary)
}

/// Puts from the default length on go by DMA; those of nodes without a chip and those over other
/// networks do not.
#[test]
fn long_puts_over_the_own_chip_go_by_dma() {
    for (sockets, bytes, writes) in [
        ([A0, C0], 16 << 10, [64, 0]),
        ([C0, A0], 16 << 10, [0, 64]),
        // To a node behind the gateway.
        ([C0, 1], 16 << 10, [0, 64]),
        ([A0, C0], (16 << 10) - 4, [0, 0]),
        ([1, C0], 16 << 10, [0, 0]),
        ([A0, 2], 16 << 10, [0, 0]),
    ] {
        let mut machine = booted(MIXED).unwrap();
        put(&mut machine, &sockets, bytes);
        assert_eq!(moved(&machine), writes, "{sockets:?}, {bytes} bytes");
    }
}

/// A controller reads and writes lines of 256 bytes, where a processor writes lines of 64.
#[test]
fn long_puts_are_faster_by_dma() {
    let [dma, lines] = [0, NEVER].map(|from| put(&mut machine(from), &[A0, C0], 1 << 20).0);
    let gb_s = |time: Ps| f64::from(1 << 20) / time.as_ns();
    let (dma, lines) = (gb_s(dma), gb_s(lines));
    // The wire: 64 of 88 bytes, and 256 of 280, of 4 GB/s; between two writes of the controller 7.035 ns.
    assert!(lines < 4.0 * 64.0 / 88.0);
    assert!(dma > lines && dma < 256.0 / (70.0 + 7.035));
}

/// Two PEs of a socket take turns, and each one's quiet waits for its own bytes.
#[test]
fn pes_of_a_socket_take_turns() {
    const BYTES: usize = 1 << 20;
    let ended = Mutex::new([Ps::ZERO; 3]);
    let program = |wire: Arc<VirtualWire>| {
        let pe = wire.pe() as usize;
        if pe < 2 {
            let begin = wire.now();
            wire.store(2, BYTES * pe, &vec![1 + pe as u8; BYTES])
                .unwrap();
            wire.quiet().unwrap();
            ended.lock().unwrap()[pe] = wire.now() - begin;
            wire.store_word(2, 2 * BYTES + 8 * pe, 1).unwrap();
            return;
        }
        let memory = wire.segment().memory();
        for pe in 0..2 {
            let mut word = [0; 8];
            while u64::from_ne_bytes(word) == 0 {
                memory.copy_out(2 * BYTES + 8 * pe, &mut word).unwrap();
                wire.poll().unwrap();
            }
            let mut got = vec![0; BYTES];
            memory.copy_out(BYTES * pe, &mut got).unwrap();
            assert!(got.iter().all(|byte| *byte == 1 + pe as u8));
        }
    };
    let settings = settings(&[A0, A0, C0], 3 << 20);
    run(&mut machine(4096), &settings, &program).unwrap();
    let [first, second, _] = *ended.lock().unwrap();
    let ratio = second.as_ns() / first.as_ns();
    assert!((ratio - 2.0).abs() < 0.1, "{first}, {second}");
}

/// Puts of random lengths to random places, by DMA or not, both ways: exactly the bytes arrive, and a word
/// stored behind each of them is seen behind it.
#[test]
fn random_puts_arrive_whole() {
    const AREA: u64 = 64 << 10;
    const FLAG: usize = AREA as usize + 64;
    let seed = seeds::seed();
    for round in 0..6 {
        let program = |wire: Arc<VirtualWire>| {
            let (me, other) = (wire.pe(), 1 - wire.pe());
            // Both know what both do.
            let mut both = [0, 1].map(|pe| Random::new(seed + 100 * round + pe));
            let mut expected = vec![0; AREA as usize];
            let memory = wire.segment().memory();
            for step in 1..=8_u64 {
                let [mine, theirs] = [me, other].map(|pe| {
                    let random = &mut both[pe as usize];
                    let len = 1 + random.below(AREA / 4);
                    let at = random.below(AREA - len + 1) as usize;
                    let data: Vec<u8> = (0..len).map(|_| random.below(256) as u8).collect();
                    (at, data)
                });
                wire.store(other, mine.0, &mine.1).unwrap();
                wire.store_word(other, FLAG, step).unwrap();
                let mut word = [0; 8];
                while u64::from_ne_bytes(word) < step {
                    memory.copy_out(FLAG, &mut word).unwrap();
                    wire.poll().unwrap();
                }
                expected[theirs.0..][..theirs.1.len()].copy_from_slice(&theirs.1);
                let mut got = vec![0; AREA as usize];
                memory.copy_out(0, &mut got).unwrap();
                assert!(got == expected, "seed {seed}, round {round}, step {step}");
                // The next put begins when the other one has looked.
                wire.store_word(other, FLAG + 8, step).unwrap();
                let mut word = [0; 8];
                while u64::from_ne_bytes(word) < step {
                    memory.copy_out(FLAG + 8, &mut word).unwrap();
                    wire.poll().unwrap();
                }
            }
        };
        let from = [0, 100, 5_000][round as usize % 3];
        let settings = settings(&[A0, C0], FLAG + 64);
        run(&mut machine(from), &settings, &program).unwrap();
    }
}

/// A controller whose table nobody can read: the report names who waits, and where requests were dropped.
#[test]
fn a_controller_without_memory_is_named() {
    let mut machine = machine(4096);
    // The northbridge knows only the first 16 MiB of its memory any more.
    let node = machine.plan().address(NodeId(0), 0).unwrap();
    let last = node.0 + (16 << 20) - 1;
    let registers = &mut machine.socket_mut(A0).registers;
    let own = (0..8).find(|index| {
        let range = registers.dram_range(*index);
        range.is_some_and(|range| range.base == node.0)
    });
    let at = 0x44 + 8 * u16::from(own.unwrap());
    let limit = registers.read(1, at);
    registers.write(1, at, limit & 0xffff | (last >> 8) as u32 & 0xffff_0000);
    let settings = settings(&[A0, C0], 20 << 20);
    let ran = run(&mut machine, &settings, &|wire| {
        if wire.pe() == 0 {
            wire.store(1, 0, &[1; 8192]).unwrap();
        }
    });
    let Err(WireError::Stalled { pes, devices, .. }) = ran else {
        panic!("{ran:?}");
    };
    assert!(
        pes[0].contains("has waited for the DMA controller of its chip"),
        "{pes:?}"
    );
    let text = devices.unwrap().to_string();
    assert!(text.contains("a0 has dropped 2 requests"), "{text}");
    let bridges = machine.adapters().iter();
    let mut bridges = bridges.filter_map(|id| machine.sim.component::<Bridge>(*id));
    assert!(bridges.all(|bridge| bridge.counters().refused == 0));
}

/// A segment that leaves no room for what the controller would move: all goes as lines.
#[test]
fn without_room_puts_go_as_lines() {
    let mut machine = machine(4096);
    let bytes = machine
        .plan()
        .processor(machine.sockets()[A0].id)
        .unwrap()
        .memory
        .bytes;
    let settings = Settings {
        offset_bytes: bytes - (1 << 20),
        ..settings(&[A0, C0], 1 << 20)
    };
    let program = |wire: Arc<VirtualWire>| {
        if wire.pe() == 0 {
            wire.store(1, 0, &[1; 8192]).unwrap();
        }
    };
    run(&mut machine, &settings, &program).unwrap();
    assert_eq!(moved(&machine), [0, 0]);
}

/// A run is the same in each build: this hash is pinned.
#[test]
fn runs_are_the_same_each_time() {
    let mut machine = booted(MIXED).unwrap();
    let (_, summary) = put(&mut machine, &[A0, C0], 100_001);
    assert_eq!(summary.hash.to_string(), PINNED);
}

const PINNED: &str = "2c95328a14a2fa9a";
