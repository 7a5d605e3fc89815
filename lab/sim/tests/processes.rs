//! PEs that are no part of the run: here threads, each with a wire of its own, as processes have
//! them. The suite for transports runs over it, and the events are those of coroutines.

use std::sync::Arc;

use crate::common::threads::run_threads;
use hostwire_sim::engine::Summary;
use hostwire_sim::experiments::boards::Boards;
use hostwire_sim::experiments::sub_clusters::SubClusters;
use hostwire_sim::experiments::{curves, tccluster};
use hostwire_sim::machine::Machine;
use hostwire_sim::tca::{Config, Engine, Puts, SubCluster};
use hostwire_sim::wire::{Settings, WireError, run};
use hostwire_testing::or_long;
use hostwire_transport::conformance::{Case, Program, Testbed};
use hostwire_transport::{Block, BlockSource, PeId, TransportError, Wire};

/// No case needs so many; a job that polls for ever ends here.
const EVENTS_MAX: u64 = 500_000_000;

fn boards(pes: usize) -> Machine {
    tccluster::booted(&curves::chain(pes.max(2), 16, 800)).unwrap()
}

/// So many PEs on each board.
struct AsProcesses(usize);

impl Testbed for AsProcesses {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let mut machine = boards(pes as usize);
        let mut settings = Settings {
            events_max: EVENTS_MAX,
            ..Settings::new(0, 0)
        };
        settings.sockets = (0..pes as usize).map(|pe| pe / self.0).collect();
        if let Err(error) = run_threads(&mut machine, &settings, segment_bytes, program) {
            panic!("{error}");
        }
    }
}

/// So many PEs on each host of a ring.
struct OnHosts(SubClusters);

impl Testbed for OnHosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let (mut cluster, nodes) = self.0.ring(pes as usize).unwrap();
        let settings = Settings {
            sockets: nodes,
            events_max: EVENTS_MAX,
            ..Settings::new(0, 0)
        };
        if let Err(error) = run_threads(&mut cluster, &settings, segment_bytes, program) {
            panic!("{error}");
        }
    }
}

/// Hosts with so many PEs each, whose puts of 500 bytes and more go by DMA.
fn hosts(pes_per_node: usize, engine: Engine) -> SubClusters {
    SubClusters {
        pes_per_node,
        config: Config {
            puts: Puts {
                dma_from_bytes: 500,
                engine,
            },
            ..Config::default()
        },
        ..SubClusters::default()
    }
}

mod wire {
    use super::*;

    fn run(name: &str) {
        let cases: &[Case] = hostwire_transport::conformance::CASES;
        let case = cases.iter().find(|case| case.name == name).unwrap();
        // One on a board, two, and five on one of four cores.
        let boards = [(1, 3), (2, 3), (5, 5), (1, 1), (1, 2)];
        for (per_board, pes) in &boards[..or_long(2, 5)] {
            (case.run)(&AsProcesses(*per_board), *pes);
        }
        let nodes = [(4, 2), (1, 1), (3, 1), (5, 5)];
        for &(pes, per_node) in &nodes[..or_long(1, 4)] {
            let fabric = OnHosts(hosts(per_node, Engine::Pipelined));
            (case.run)(&fabric, pes);
        }
    }

    hostwire_transport::transport_cases!(cases!());
}

/// Each PE stores to the next one and waits for what the one before stores: sizes around a line and
/// beyond what goes over a desk at a time.
fn around(wire: &dyn Wire) {
    const FLAG: usize = 4096;
    const DATA: usize = 8192;
    let next = (wire.pe() + 1) % wire.pes();
    for (round, size) in (1_u64..).zip([1, 8, 63, 64, 65, 1000, 300 << 10]) {
        let data = vec![round as u8; size];
        wire.store(next, DATA, &data).unwrap();
        wire.store_word(next, FLAG, round).unwrap();
        let memory = wire.segment().memory();
        loop {
            let mut flag = [0; 8];
            memory.copy_out(FLAG, &mut flag).unwrap();
            if u64::from_ne_bytes(flag) == round {
                break;
            }
            wire.arm(std::time::Duration::MAX);
            wire.poll().unwrap();
            wire.sleep(std::time::Duration::MAX);
        }
        let mut got = vec![0; size];
        memory.copy_out(DATA, &mut got).unwrap();
        assert_eq!(got, data);
        if let Some(chains) = wire.chains() {
            let source = BlockSource::Own {
                offset_bytes: DATA,
                len_bytes: 4,
            };
            let block = |number: usize| Block {
                pe: next,
                offset_bytes: (512 << 10) + 16 * number,
                source,
            };
            let blocks: Vec<Block> = (0..100).map(block).collect();
            chains.put_chain(&blocks).unwrap();
            assert!(chains.put_chain(&[]).is_err());
        }
        wire.fence().unwrap();
        wire.nap(std::time::Duration::from_nanos(100));
        // The one before may store the next round only when this one has been looked at.
        wire.quiet().unwrap();
        barrier(wire, round);
    }
}

/// All wait for all.
fn barrier(wire: &dyn Wire, round: u64) {
    let slot = |pe: PeId| 1024 + 8 * pe as usize;
    let memory = wire.segment().memory();
    for pe in (0..wire.pes()).filter(|pe| *pe != wire.pe()) {
        wire.store_word(pe, slot(wire.pe()), round).unwrap();
    }
    for pe in (0..wire.pes()).filter(|pe| *pe != wire.pe()) {
        let mut word = [0; 8];
        loop {
            memory.copy_out(slot(pe), &mut word).unwrap();
            if u64::from_ne_bytes(word) >= round {
                break;
            }
            wire.sleep(std::time::Duration::MAX);
        }
    }
}

const SEGMENT_BYTES: usize = 2 << 20;

/// The same program, compiled into the run and beside it.
fn both(settings: &Settings) -> [Summary; 2] {
    let sockets = settings.sockets.iter().max().unwrap() + 1;
    both_on(&|| boards(sockets), settings)
}

fn both_on(machine: &dyn Fn() -> Machine, settings: &Settings) -> [Summary; 2] {
    let within = Settings {
        segment_bytes: SEGMENT_BYTES,
        ..settings.clone()
    };
    let inside = run(&mut machine(), &within, &|wire| around(&*wire)).unwrap();
    let mut machine = machine();
    let program = |wire: Arc<dyn Wire>| around(&*wire);
    let beside = run_threads(&mut machine, settings, SEGMENT_BYTES, &program).unwrap();
    [inside, beside]
}

#[test]
fn events_are_those_of_coroutines() {
    let [inside, beside] = both(&Settings::new(3, 0));
    assert_eq!(inside.hash, beside.hash);
    assert!(
        beside.events > 100 && beside.events < inside.events,
        "the boot is not counted"
    );
}

/// The same, on hosts with PEACH2 chips.
fn both_on_hosts(hosts: &SubClusters, pes: usize) -> [Summary; 2] {
    let (mut cluster, nodes) = hosts.ring(pes).unwrap();
    let settings = Settings {
        sockets: nodes,
        ..Settings::new(0, SEGMENT_BYTES)
    };
    let inside = run(&mut cluster, &settings, &|wire| around(&*wire)).unwrap();
    let (mut cluster, _) = hosts.ring(pes).unwrap();
    let program = |wire: Arc<dyn Wire>| around(&*wire);
    let beside = run_threads(&mut cluster, &settings, SEGMENT_BYTES, &program).unwrap();
    [inside, beside]
}

#[test]
fn events_of_hosts_are_those_of_coroutines() {
    let mut hashes = Vec::new();
    for engine in [Engine::Pipelined, Engine::TwoPhase] {
        for (pes, per_node) in [(2, 1), (4, 2), (6, 3)] {
            let hosts = hosts(per_node, engine);
            let [inside, beside] = both_on_hosts(&hosts, pes);
            assert_eq!(inside.hash, beside.hash);
            assert_eq!(inside.events, beside.events);
            hashes.push(inside.hash);
        }
    }
    let all = hashes.len();
    hashes.sort_unstable_by_key(|hash| hash.to_string());
    hashes.dedup();
    assert_eq!(hashes.len(), all, "each is another run");
}

/// Nodes with adapters, and islands with a gateway each.
#[test]
fn events_are_those_of_coroutines_over_ethernet() {
    let eight = include_str!("../clusters/htea-eight.toml");
    let islands = include_str!("../clusters/two-islands.toml");
    for (file, sockets) in [(eight, [0, 7, 3]), (islands, [2, 5, 0])] {
        let settings = Settings {
            sockets: sockets.to_vec(),
            ..Settings::new(0, 0)
        };
        let machine = || tccluster::booted(file).unwrap();
        let [inside, beside] = both_on(&machine, &settings);
        assert_eq!(inside.hash, beside.hash);
    }
}

/// Sockets with chips, whose controllers move the long puts; two PEs share one. And a node with two chips, which all
/// of its sockets use.
#[test]
fn events_are_those_of_coroutines_over_chips() {
    let mixed = include_str!("../clusters/mixed.toml");
    let several = include_str!("../clusters/several.toml");
    for (file, sockets) in [(mixed, [0, 4, 1, 0]), (several, [0, 1, 2, 8])] {
        let settings = Settings {
            sockets: sockets.to_vec(),
            ..Settings::new(0, 0)
        };
        let machine = || tccluster::booted(file).unwrap();
        let [inside, beside] = both_on(&machine, &settings);
        assert_eq!(inside.hash, beside.hash);
    }
}

#[test]
fn pes_of_one_socket_have_cores_and_share_them() {
    // Four cores a socket: two PEs have one each, six share four.
    for pes in [4, 6, 12] {
        let mut settings = Settings::new(0, 0);
        settings.sockets = (0..pes).map(|pe| pe % 2).collect();
        let [inside, beside] = both(&settings);
        assert_eq!(inside.hash, beside.hash);
        let [again, _] = both(&settings);
        assert_eq!(inside.hash, again.hash);
    }
}

/// A PE that sleeps leaves its core to others: all sleep at the same time, as many as there are.
#[test]
fn a_sleep_keeps_no_core_busy() {
    let ended = |pes: usize| {
        let mut settings = Settings::new(0, 0);
        settings.sockets = vec![0; pes];
        let program = |wire: Arc<dyn Wire>| {
            if wire.pe() + 1 < wire.pes() {
                wire.nap(std::time::Duration::from_micros(50));
            } else {
                wire.nap(std::time::Duration::from_micros(1));
                wire.poll().unwrap();
                assert!(wire.now() < std::time::Duration::from_micros(2));
            }
        };
        let ran = run_threads(&mut boards(2), &settings, SEGMENT_BYTES, &program);
        ran.unwrap().virtual_time
    };
    // Four cores.
    let alone = ended(2);
    assert!(alone.as_ns() < 51_000.0, "{alone}");
    let crowded = ended(12);
    assert!(crowded.as_ns() < 51_000.0, "{crowded}");
}

#[test]
fn who_waits_for_ever_is_named() {
    let program = |wire: Arc<dyn Wire>| {
        if wire.pe() == 1 {
            wire.nap(std::time::Duration::from_micros(3));
            wire.sleep(std::time::Duration::MAX);
        }
    };
    let settings = Settings::new(2, 0);
    let ran = run_threads(&mut boards(2), &settings, SEGMENT_BYTES, &program);
    let error = ran.unwrap_err().to_string();
    assert!(error.starts_with("deadlock at 3"), "{error}");
    assert!(error.contains("PE 1 on n1"), "{error}");
    assert!(!error.contains("PE 0"), "{error}");
}

fn two_hosts() -> SubCluster<'static> {
    SubClusters::default().ring(2).unwrap().0
}

#[test]
fn who_waits_for_ever_on_a_host_is_named() {
    let program = |wire: Arc<dyn Wire>| {
        if wire.pe() == 1 {
            wire.nap(std::time::Duration::from_micros(3));
            wire.sleep(std::time::Duration::MAX);
        }
    };
    let settings = Settings::new(2, 0);
    let ran = run_threads(&mut two_hosts(), &settings, SEGMENT_BYTES, &program);
    let error = ran.unwrap_err().to_string();
    assert!(error.starts_with("deadlock at 3"), "{error}");
    assert!(error.contains("PE 1 on n1"), "{error}");
    assert!(!error.contains("PE 0"), "{error}");
}

#[test]
fn time_that_is_spent_on_hosts_ends_the_run() {
    let program = |wire: Arc<dyn Wire>| {
        // The last put is under way when the time has come.
        let data = vec![1; 1 << 20];
        while wire.store(1 - wire.pe(), 0, &data).is_ok() {}
    };
    let settings = Settings {
        until: Some(hostwire_sim::engine::Ps::from_ns(10_000)),
        ..Settings::new(2, 0)
    };
    let ran = run_threads(&mut two_hosts(), &settings, SEGMENT_BYTES, &program);
    let Err(WireError::TimeSpent { running, .. }) = ran else {
        panic!("{ran:?}");
    };
    assert_eq!(running, ["PE 0", "PE 1"]);
}

#[test]
fn hosts_that_are_too_small_are_told() {
    let settings = Settings {
        sockets: vec![0, 7],
        ..Settings::new(0, SEGMENT_BYTES)
    };
    let ran = run(&mut two_hosts(), &settings, &|_| {});
    assert!(
        matches!(ran, Err(WireError::NoSuchSocket { .. })),
        "{ran:?}"
    );
    let settings = Settings {
        offset_bytes: (8 << 30) - (256 << 20),
        ..Settings::new(2, 512 << 20)
    };
    let ran = run(&mut two_hosts(), &settings, &|_| {});
    let Err(WireError::NoMemory { fits_bytes, .. }) = ran else {
        panic!("{ran:?}");
    };
    for (bytes, fits) in [(fits_bytes, true), (fits_bytes + 4096, false)] {
        let settings = Settings {
            segment_bytes: bytes as usize,
            ..settings.clone()
        };
        let ran = run(&mut two_hosts(), &settings, &|_| {});
        assert_eq!(ran.is_ok(), fits, "{bytes}: {ran:?}");
    }
}

#[test]
fn time_that_is_spent_ends_the_run() {
    let program = |wire: Arc<dyn Wire>| {
        while wire.fence().is_ok() {
            wire.nap(std::time::Duration::from_micros(1));
        }
    };
    let settings = Settings {
        until: Some(hostwire_sim::engine::Ps::from_ns(10_000)),
        ..Settings::new(2, 0)
    };
    let ran = run_threads(&mut boards(2), &settings, SEGMENT_BYTES, &program);
    let Err(WireError::TimeSpent { time, running }) = ran else {
        panic!("{ran:?}");
    };
    assert_eq!(time, hostwire_sim::engine::Ps::from_ns(10_000));
    assert_eq!(running, ["PE 0", "PE 1"]);
}

#[test]
fn a_second_thread_of_a_pe_is_refused() {
    let program = |wire: Arc<dyn Wire>| {
        wire.fence().unwrap();
        let other = std::thread::scope(|scope| scope.spawn(|| wire.fence()).join().unwrap());
        assert!(
            matches!(other, Err(TransportError::Misused { .. })),
            "{other:?}"
        );
        wire.finish();
        assert!(wire.fence().is_err(), "it has left");
    };
    run_threads(
        &mut boards(2),
        &Settings::new(2, 0),
        SEGMENT_BYTES,
        &program,
    )
    .unwrap();
}

/// The boards of the other suite, for a look at how this one differs from it.
#[test]
fn a_message_takes_as_long_as_in_the_run() {
    let time = |fabric: &dyn Testbed| {
        let seen = std::sync::Mutex::new(Vec::new());
        fabric.run(2, SEGMENT_BYTES, &|wire| {
            let begin = wire.now();
            around(&*wire);
            seen.lock().unwrap().push((wire.pe(), wire.now() - begin));
        });
        let mut seen = seen.into_inner().unwrap();
        seen.sort_unstable();
        seen
    };
    let boards = Boards::default();
    let [(0, inside), _] = time(&boards)[..] else {
        panic!("two PEs");
    };
    let [(0, beside), _] = time(&AsProcesses(1))[..] else {
        panic!("two PEs");
    };
    // Clocks tell whole nanoseconds, from different moments on.
    assert!(
        inside.abs_diff(beside).as_nanos() <= 1,
        "{inside:?} {beside:?}"
    );
}
