//! Reads through bridges from HyperTransport to PCI Express: of the DMA controllers of chips, from the
//! memory of their sockets; and of processors, from the chips.

use crate::common::seeds;
use std::sync::{Arc, Mutex};

use crate::common::clusters::load;
use hostwire_sim::engine::Ps;
use hostwire_sim::engine::random::Random;
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::machine::{ChipDoor, Machine};
use hostwire_sim::models::ht::opteron::{Local, Op, Outcome, Program, Script};
use hostwire_sim::models::pcie::bridge::{Bridge, BridgeCounters};
use hostwire_sim::models::pcie::peach2::chip::{
    CONTROL_EPLAST, Chip, Descriptor, DmaKind, DmaStatus, EPLAST, STATUS, doorbell, table,
};

const MIXED: &str = include_str!("../clusters/mixed.toml");
/// In the memory of a socket.
const TABLE: u64 = 1 << 20;
const DATA: u64 = 2 << 20;

/// The chips of a0 and c0, by number.
const A0: usize = 0;
const C0: usize = 1;

/// A booted cluster whose chips have been opened.
struct Cluster {
    machine: Machine,
    doors: [ChipDoor; 2],
}

impl Cluster {
    fn new(file: &str) -> Cluster {
        let mut machine = booted(file).unwrap();
        let doors = [A0, C0].map(|chip| machine.open_chip(chip).unwrap());
        Cluster { machine, doors }
    }

    /// Where the memory of a chip's socket begins.
    fn base(&self, chip: usize) -> u64 {
        let socket = &self.machine.sockets()[self.doors[chip].socket];
        let processor = self.machine.plan().processor(socket.id).unwrap();
        processor.memory.start.0
    }

    fn write(&mut self, chip: usize, offset: u64, bytes: &[u8]) {
        let address = self.base(chip) + offset;
        let socket = self.doors[chip].socket;
        self.machine.socket_mut(socket).memory.write(address, bytes);
    }

    fn read(&self, chip: usize, offset: u64, bytes: usize) -> Vec<u8> {
        let address = self.base(chip) + offset;
        load(&self.machine, self.doors[chip].socket, address, bytes)
    }

    /// Starts the pipelined controller of a chip, after these operations of its processor.
    fn launch(&mut self, chip: usize, list: &[Descriptor], mut before: Vec<Op>) {
        self.write(chip, TABLE, &table(list, true));
        let door = self.doors[chip];
        let table = self.base(chip) + TABLE;
        let doorbell = doorbell(table, list.len() as u32, CONTROL_EPLAST);
        before.push(Op::Store {
            address: door.registers + DmaKind::Pipelined.header(),
            data: doorbell.to_vec(),
        });
        let script = Script::new(before);
        self.machine.start(door.socket, script).unwrap();
    }

    fn chip(&self, chip: usize) -> &Chip {
        let id = self.machine.chips()[chip];
        self.machine.sim.component::<Chip>(id).unwrap()
    }

    fn bridge(&self, chip: usize) -> BridgeCounters {
        let adapters = self.machine.adapters().iter();
        let mut bridges = adapters.filter_map(|id| self.machine.sim.component::<Bridge>(*id));
        bridges.nth(chip).unwrap().counters()
    }

    /// A processor loads so many bytes: the data, or none.
    fn load(&mut self, chip: usize, address: u64, bytes: usize) -> Option<Vec<u8>> {
        let got = Arc::new(Mutex::new(None));
        let program = Loader {
            address,
            bytes,
            got: Arc::clone(&got),
        };
        let socket = self.doors[chip].socket;
        self.machine.start(socket, program).unwrap();
        self.machine.sim.run().unwrap();
        let got = got.lock().unwrap().take();
        got.expect("the load never ends")
    }
}

/// Loads once.
struct Loader {
    address: u64,
    bytes: usize,
    got: Arc<Mutex<Option<Option<Vec<u8>>>>>,
}

impl Program for Loader {
    fn resume(&mut self, _: Local<'_>, outcome: Outcome) -> Op {
        let got = match outcome {
            Outcome::Start => {
                let (address, bytes) = (self.address, self.bytes);
                return Op::Load { address, bytes };
            }
            Outcome::Loaded(data) => Some(data),
            _ => None,
        };
        *self.got.lock().unwrap() = Some(got);
        Op::Halt
    }
}

fn descriptor(from: u64, to: u64, bytes: u64) -> Descriptor {
    Descriptor {
        dwords: (bytes / 4) as u16,
        local: from,
        address: to,
    }
}

/// The way of a line that the controller reads. Bits of HyperTransport links take 0.19 ns; a packet begins
/// with the next one.
#[test]
fn a_line_that_is_read_takes_what_its_parts_take() {
    let mut cluster = Cluster::new(MIXED);
    cluster.write(A0, DATA, &[7; 64]);
    let to = cluster.base(C0) + DATA;
    cluster.launch(A0, &[descriptor(DATA, to, 64)], Vec::new());
    cluster.machine.sim.run().unwrap();
    assert_eq!(cluster.read(C0, DATA, 64), [7; 64]);
    let [near, far] = [A0, C0].map(|chip| cluster.bridge(chip));
    // The table, and the line.
    assert_eq!((near.reads, far.reads), (2, 0));
    let bridge = Ps::from_ns(100);
    // 6 inches, 16 bit at 2.6 GHz: a request of 12 bytes with its CRC, a response of 72.
    let inches = Ps(6 * 170 + 2_000);
    let ht = |bytes: u64| Ps(bytes * 1_000_000 / 10_400);
    let memory = Ps(47_716 + 74_000 + 47_716);
    let asked = [bridge, ht(12), inches, memory, ht(72), inches, bridge];
    let asked = Ps(asked.iter().map(|part| part.0).sum());
    let took = near.last_completion - near.last_read;
    let late = took.0.abs_diff(asked.0);
    assert!(late <= 400, "{took}, its parts {asked}");
    assert_eq!(took, ANSWER, "docs/sim/bridge.md");
    // Three links of PCI Express at 4 GB/s: a completion has 20 bytes beside its data, a write 24.
    let pcie = |bytes: u64| Ps(250 * bytes) + Ps::from_ns(5);
    let chip = Ps::from_cycles(62, 250);
    let written = [pcie(84), chip, pcie(88), chip, pcie(88), bridge];
    let written = Ps(written.iter().map(|part| part.0).sum());
    assert_eq!(far.last_up - near.last_completion, written);
}

/// From a read request at a bridge to its completion.
const ANSWER: Ps = Ps(383_731);

/// Chains of random pieces, sources and destinations at any word, both ways at once, and with little room
/// everywhere: exactly the bytes move.
#[test]
fn random_chains_move_exactly_their_bytes() {
    const AREA: u64 = 64 << 10;
    let seed = seeds::seed();
    let mut random = Random::new(seed);
    let narrow = "\n[bridge]\nread_tags = 1\ncompletion = \"64B\"\n";
    let few = "\n[bridge]\nread_tags = 3\ncompletion = \"4KiB\"\n";
    for keys in ["", narrow, few] {
        for _ in 0..4 {
            let mut cluster = Cluster::new(&format!("{MIXED}{keys}"));
            let mut expected = Vec::new();
            for chip in [A0, C0] {
                let bytes: Vec<u8> = (0..AREA).map(|_| random.below(256) as u8).collect();
                cluster.write(chip, DATA, &bytes);
                expected.push(vec![0; AREA as usize]);
            }
            let mut lists = Vec::new();
            for (from, to) in [(A0, C0), (C0, A0)] {
                let target = cluster.base(to) + DATA + AREA;
                let mut list = Vec::new();
                for _ in 0..1 + random.below(20) {
                    let bytes = 4 * (1 + random.below(1 + AREA / 32));
                    let mut place = || random.below((AREA - bytes) / 4 + 1) * 4;
                    let (source, at) = (place(), place());
                    list.push(descriptor(DATA + source, target + at, bytes));
                    let data = cluster.read(from, DATA + source, bytes as usize);
                    expected[to][at as usize..][..data.len()].copy_from_slice(&data);
                }
                lists.push((from, list));
            }
            for (chip, list) in &lists {
                cluster.launch(*chip, list, Vec::new());
            }
            cluster.machine.sim.run().unwrap();
            for chip in [A0, C0] {
                assert_eq!(cluster.chip(chip).dma_status(), DmaStatus::Done);
                let got = cluster.read(chip, DATA + AREA, AREA as usize);
                assert!(got == expected[chip], "seed {seed}: chip {chip}, {keys}");
                let last = cluster.read(chip, TABLE + EPLAST, 4);
                let descriptors = lists[chip].1.len() as u32;
                assert_eq!(last, (descriptors - 1).to_le_bytes());
                assert_eq!(cluster.bridge(chip).refused, 0);
            }
        }
    }
}

/// Reads of both controllers, stores of both processors and answers cross each other where each link and
/// each bridge holds little: nothing waits for ever, and stores stay in front of the DMA that follows them.
#[test]
fn reads_and_writes_that_cross_do_not_wait_for_each_other() {
    const LINES: u64 = 400;
    let keys = "\n[bridge]\nread_tags = 2\ndown = \"300ns\"\n";
    let mut cluster = Cluster::new(&format!("{MIXED}{keys}"));
    let bytes = 64 * LINES;
    for (chip, other) in [(A0, C0), (C0, A0)] {
        cluster.write(chip, DATA, &vec![9; bytes as usize]);
        let to = cluster.base(other) + DATA + bytes;
        // The controller overwrites what was stored before.
        let stores = (0..LINES).map(|line| Op::Store {
            address: to + 64 * line,
            data: vec![1; 64],
        });
        let list = [descriptor(DATA, to, bytes)];
        cluster.launch(chip, &list, stores.collect());
    }
    cluster.machine.sim.run().unwrap();
    for chip in [A0, C0] {
        assert_eq!(cluster.chip(chip).dma_status(), DmaStatus::Done);
        let got = cluster.read(chip, DATA + bytes, bytes as usize);
        assert!(got.iter().all(|byte| *byte == 9), "a store came late");
        let bridge = cluster.bridge(chip);
        assert!(bridge.down > LINES && bridge.reads > 50);
    }
}

/// The controller can read only memory of its own socket. It reports a read of anything else.
#[test]
fn reads_of_what_is_not_there_fail() {
    for (what, from) in [("no address", 1 << 36), ("the memory of a1", 4 << 30)] {
        let mut cluster = Cluster::new(MIXED);
        let to = cluster.base(C0) + DATA;
        let list = [descriptor(DATA, to, 512), descriptor(from, to, 512)];
        cluster.launch(A0, &list, Vec::new());
        cluster.machine.sim.run().unwrap();
        let status = cluster.chip(A0).dma_status();
        assert_eq!(status, DmaStatus::ReadFailed, "{what}");
        let faults = cluster.machine.socket(cluster.doors[A0].socket);
        assert!(!faults.counters().aborts.is_empty(), "{what}");
    }
}

/// A processor reads registers of its chip, and nothing of another node.
#[test]
fn processors_load_from_their_chip_only() {
    let mut cluster = Cluster::new(MIXED);
    let status = cluster.doors[A0].registers + STATUS;
    assert_eq!(cluster.load(A0, status, 4), Some(vec![0; 4]));
    cluster.write(A0, DATA, &[7; 64]);
    let to = cluster.base(C0) + DATA;
    cluster.launch(A0, &[descriptor(DATA, to, 64)], Vec::new());
    cluster.machine.sim.run().unwrap();
    assert_eq!(
        cluster.load(A0, status, 8),
        Some(vec![2, 0, 0, 0, 0, 0, 0, 0])
    );
    assert_eq!(
        cluster.load(A0, to, 4),
        None,
        "a chip refuses reads of other nodes"
    );
    assert_eq!(cluster.bridge(A0).loads, 4);
}

/// Opening a chip twice is opening it once, and no range of the plan changes.
#[test]
fn chips_open_once() {
    let mut cluster = Cluster::new(MIXED);
    let socket = cluster.doors[A0].socket;
    let ranges = |cluster: &Cluster| {
        let registers = &cluster.machine.socket(socket).registers;
        (0..8)
            .filter_map(|index| registers.mmio_range(index))
            .count()
    };
    let before = ranges(&cluster);
    assert_eq!(cluster.machine.open_chip(A0), Some(cluster.doors[A0]));
    assert_eq!(ranges(&cluster), before);
    assert_eq!(cluster.machine.open_chip(7), None, "no such chip");
}
