//! Memory of other hosts by plain loads and stores, over HTX boards.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_plan::Cluster;
use hostwire_plan::htx::REGION_BASE;
use hostwire_sim::engine::Ps;
use hostwire_sim::experiments::file::{Experiment, Monitor, RunResult, read};
use hostwire_sim::experiments::pgas_cluster::KERNELS;
use hostwire_sim::machine::htx::{Boards, HtxCluster};
use hostwire_sim::models::DeviceEvent;
use hostwire_sim::models::ht::nic::{Nic, NicConfig};
use hostwire_sim::models::ht::opteron::{
    Arrival, Local, Op, Opteron, OpteronConfig, OpteronEvent, Outcome,
};
use hostwire_sim::models::memory::{
    Access, AccessKind, CacheConfig, Config, Medium, MemorySystem, Region, RegionKind,
};
use hostwire_sim::record::Recording;
use proptest::prelude::*;

const PAIR: &str = "\
fabric = \"htx\"
[board]
link_width = \"16bit\"
link_frequency = \"400MHz\"
user_frequency = \"200MHz\"
[[node]]
name = \"left\"
memory = \"64MiB\"
cores = 2
[[node]]
name = \"right\"
memory = \"64MiB\"
[[cable]]
from = \"left.p0\"
to = \"right.p0\"
[[region]]
of = \"right\"
at = \"left\"
size = \"1MiB\"
offset = \"16MiB\"
";

fn cluster(file: &str, processor: &OpteronConfig, nic: &NicConfig) -> HtxCluster {
    match hostwire_plan::cluster("boards.toml", file.as_bytes()) {
        Ok(Cluster::Htx(plan)) => {
            let boards = Boards {
                nic: nic.clone(),
                ..Boards::default()
            };
            HtxCluster::with_boards(plan, processor, &boards).unwrap()
        }
        Ok(Cluster::AddressMap(_)) => panic!("not a cluster of boards"),
        Err(rejected) => panic!("{rejected}"),
    }
}

fn pair() -> HtxCluster {
    cluster(
        PAIR,
        &OpteronConfig::opteron_246(),
        &NicConfig::htx_board(0),
    )
}

/// Outcomes of operations, with the times at which they came.
type Seen = Rc<RefCell<Vec<(Ps, Outcome)>>>;

/// Puts a program of these operations on a core of a host.
fn start(cluster: &mut HtxCluster, host: usize, ops: Vec<Op>) -> Seen {
    let seen = Seen::default();
    let log = Rc::clone(&seen);
    let mut ops = ops.into_iter();
    let program = move |local: Local<'_>, outcome: Outcome| {
        log.borrow_mut().push((local.now, outcome));
        ops.next().unwrap_or(Op::Halt)
    };
    let component = cluster.hosts()[host].host;
    let model: &mut Opteron = cluster.sim.component_mut(component).unwrap();
    let core = model.load(program).unwrap();
    let now = cluster.sim.now();
    let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
    cluster.sim.inject(now, component, event).unwrap();
    seen
}

fn memory(cluster: &mut HtxCluster, host: usize) -> &mut Opteron {
    let component = cluster.hosts()[host].host;
    cluster.sim.component_mut(component).unwrap()
}

fn ahead(address: u64, bytes: usize) -> Op {
    Op::LoadAhead { address, bytes }
}

const DRAIN: Op = Op::AwaitLoads { in_flight: 0 };

fn arrivals(seen: &Seen) -> Vec<Arrival> {
    let seen = seen.borrow();
    let arrived = seen.iter().filter_map(|(_, outcome)| match outcome {
        Outcome::Arrived(arrived) => Some(arrived.clone()),
        _ => None,
    });
    arrived.flatten().collect()
}

#[test]
fn loads_get_what_the_owner_has_and_stores_get_there() {
    let mut cluster = pair();
    let bytes: Vec<u8> = (0..64).collect();
    memory(&mut cluster, 1).memory.write(16 << 20, &bytes);
    let ops = vec![
        ahead(REGION_BASE, 64),
        ahead(REGION_BASE + 8, 8),
        ahead(REGION_BASE + 4, 4),
        DRAIN,
        Op::Load {
            address: REGION_BASE + 2,
            bytes: 5,
        },
        Op::Store {
            address: REGION_BASE + 0x1000,
            data: bytes.clone(),
        },
        Op::Store {
            address: REGION_BASE + 0x2003,
            data: vec![7; 3],
        },
        ahead(REGION_BASE + 0x2000, 8),
        DRAIN,
    ];
    let seen = start(&mut cluster, 0, ops);
    cluster.sim.run().unwrap();
    let data: Vec<Vec<u8>> = arrivals(&seen)
        .into_iter()
        .map(|arrival| arrival.data.unwrap())
        .collect();
    assert_eq!(data[0], bytes);
    assert_eq!(data[1], bytes[8..16]);
    assert_eq!(data[2], bytes[4..8]);
    assert_eq!(data[3], [0, 0, 0, 7, 7, 7, 0, 0], "behind the store");
    let loaded = Outcome::Loaded(bytes[2..7].to_vec());
    assert!(seen.borrow().iter().any(|(_, outcome)| *outcome == loaded));
    let mut there = vec![0; 64];
    memory(&mut cluster, 1)
        .memory
        .read((16 << 20) + 0x1000, &mut there);
    assert_eq!(there, bytes);
    let counters = [0, 1].map(|host| cluster.board(host).map(Nic::remote_counters).unwrap());
    // Three ahead, one of five bytes in two dwords, one ahead; a line, and bytes of two dwords.
    assert_eq!((counters[0].reads_sent, counters[0].writes_sent), (6, 3));
    assert_eq!(
        (counters[1].reads_served, counters[1].writes_served),
        (6, 3)
    );
    let answered = memory(&mut cluster, 0).counters().unmatched_responses;
    assert_eq!(answered, 0);
}

/// A region ends where it ends, and nobody answers behind it.
#[test]
fn outside_of_regions_there_is_nothing() {
    let mut cluster = pair();
    let ops = vec![ahead(REGION_BASE + (1 << 20), 8), DRAIN];
    let seen = start(&mut cluster, 0, ops);
    cluster.sim.run().unwrap();
    assert!(arrivals(&seen).is_empty(), "a page fault");
    let aborted = seen.borrow().iter().any(|(_, o)| *o == Outcome::Aborted);
    assert!(aborted);
}

/// 8 bytes, 16 bit at 400 MHz, user logic at 200 MHz, 25 inches of cable: every part by hand.
#[test]
fn an_unloaded_read_takes_the_sum_of_its_parts() {
    let mut cluster = pair();
    let seen = start(&mut cluster, 0, vec![ahead(REGION_BASE, 8), DRAIN]);
    cluster.sim.run().unwrap();
    let arrival = &arrivals(&seen)[0];
    let parts = [
        13_000 + 17_500,    // Issue and way out of the processor.
        750,                // Until the next bit time of the link.
        8 * 625 + 5_000,    // 8 bytes on a link of 1.6 GB/s, its propagation.
        11 * 2_500,         // HT-Core in.
        10 * 5_000,         // Requester, network port out.
        8 * 5_000 + 5_000,  // 16 bytes, two per clock of 200 MHz; cable.
        (6 + 5) * 5_000,    // Network port in, completer.
        7 * 2_500,          // HT-Core out.
        8 * 625 + 5_000,    // Link to the owner.
        17_500 + 60_000,    // Northbridge, memory.
        17_500,             // Northbridge.
        12 * 625 + 5_000,   // 4 and 8 bytes on the link.
        11 * 2_500,         // HT-Core in.
        10 * 5_000,         // Requester, network port out.
        10 * 5_000 + 5_000, // 20 bytes; cable.
        (6 + 5) * 5_000,    // Network port in, completer.
        7 * 2_500,          // HT-Core out.
        12 * 625 + 5_000,   // Link.
        17_500,             // Way into the processor.
    ];
    assert_eq!(
        (arrival.arrived - arrival.issued).0,
        parts.iter().sum::<u64>()
    );
}

/// However many tags there are, no more reads are under way, and nothing is lost.
#[test]
fn tags_limit_what_is_under_way() {
    for (source_tags, read_tags) in [(32, 32), (3, 32), (32, 2), (1, 1)] {
        let processor = OpteronConfig {
            source_tags,
            ..OpteronConfig::opteron_246()
        };
        let nic = NicConfig {
            read_tags,
            ..NicConfig::htx_board(0)
        };
        let mut cluster = cluster(PAIR, &processor, &nic);
        let ops = |first: u64| {
            let loads = (0..100).map(|n| ahead(REGION_BASE + first + 64 * n, 64));
            loads.chain([DRAIN]).collect::<Vec<_>>()
        };
        let seen = [0, 1 << 16].map(|first| start(&mut cluster, 0, ops(first)));
        cluster.sim.run().unwrap();
        assert!(seen.iter().all(|seen| arrivals(seen).len() == 100));
        let served = cluster.board(1).unwrap().remote_counters();
        assert_eq!(served.reads_served, 200);
        let most = usize::from(source_tags.min(read_tags));
        assert!(served.in_flight_max <= most, "{served:?}");
        assert!(served.in_flight_max >= most.min(3), "{served:?}");
    }
}

/// Three hosts in a ring of cables; each uses memory of both others, and has small queues.
fn ring() -> HtxCluster {
    let mut file = String::from("fabric = \"htx\"\n[board]\nport = \"sfp\"\n");
    for host in ["a", "b", "c"] {
        file += &format!("[[node]]\nname = \"{host}\"\nmemory = \"32MiB\"\n");
    }
    for (from, to) in [("a.p0", "b.p1"), ("b.p0", "c.p1")] {
        file += &format!("[[cable]]\nfrom = \"{from}\"\nto = \"{to}\"\n");
    }
    for of in ["a", "b", "c"] {
        for at in ["a", "b", "c"].into_iter().filter(|at| *at != of) {
            file += &format!("[[region]]\nof = \"{of}\"\nat = \"{at}\"\nsize = \"64KiB\"\n");
        }
    }
    let nic = NicConfig {
        receive_messages_max: 1,
        read_tags: 2,
        ..NicConfig::htx_board(0)
    };
    cluster(&file, &OpteronConfig::opteron_246(), &nic)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Each host sees its own stores, in order, as in memory of its own, whatever the others do;
    /// and nobody waits for ever.
    #[test]
    fn regions_are_memory(
        accesses in proptest::collection::vec(
            (0..3_usize, 0..2_u64, 0..16_u64, 1..65_usize, any::<u8>(), any::<bool>()),
            1..120,
        )
    ) {
        let mut cluster = ring();
        let mut ops: [Vec<Op>; 3] = Default::default();
        let mut wanted: [Vec<Vec<u8>>; 3] = Default::default();
        let mut oracle = vec![vec![0_u8; 2 << 16]; 3];
        for (host, region, line, bytes, value, store) in accesses {
            let at = (region << 16) + line * 64;
            let (first, end) = (at as usize, at as usize + bytes);
            if store {
                oracle[host][first..end].fill(value);
                ops[host].push(Op::Store {
                    address: REGION_BASE + at,
                    data: vec![value; bytes],
                });
            } else {
                let whole = first + bytes.next_multiple_of(4);
                wanted[host].push(oracle[host][first..whole].to_vec());
                ops[host].push(ahead(REGION_BASE + at, bytes));
            }
        }
        let seen: Vec<Seen> = ops
            .into_iter()
            .enumerate()
            .map(|(host, mut ops)| {
                ops.push(DRAIN);
                start(&mut cluster, host, ops)
            })
            .collect();
        prop_assert!(cluster.sim.run().is_ok());
        for (seen, wanted) in seen.iter().zip(wanted) {
            let got: Vec<_> = arrivals(seen).into_iter().filter_map(|a| a.data).collect();
            // Answers of one owner come in order; those of two may change places.
            let (mut got, mut wanted) = (got, wanted);
            got.sort();
            wanted.sort();
            prop_assert_eq!(got, wanted);
        }
    }
}

fn experiment(workload: &str) -> Experiment {
    let text = format!("cluster = \"pair.toml\"\n[workload]\nkind = \"remote-memory\"\n{workload}");
    let read = read("test.toml", text.as_bytes(), &|_| Ok(PAIR.into()));
    read.unwrap_or_else(|bad| panic!("{bad}"))
}

fn result(workload: &str, recording: Option<&Recording>) -> RunResult {
    let outcome = experiment(workload).run(&Monitor::default(), recording);
    outcome.unwrap_or_else(|e| panic!("{e}")).results.remove(0)
}

fn value(result: &RunResult, metric: &str) -> f64 {
    result.metric(metric).unwrap_or_else(|| panic!("{metric}"))
}

/// Requests and responses of a recording have the same tags.
#[test]
fn a_recording_has_a_response_for_each_read() {
    let recording = Recording::new();
    let workload = "pattern = \"random\"\nloads = 50\nread_size = \"64B\"\nin_flight = 4";
    let result = result(workload, Some(&recording));
    assert_eq!(value(&result, "remote_loads"), 50.0);
    let slices = recording.slices();
    let count = |interface: &str, what: &str| {
        let of = |slice: &&hostwire_sim::record::Slice| {
            slice.interface == interface && slice.what == what
        };
        slices.iter().filter(of).count()
    };
    for link in ["left.htx", "right.htx"] {
        assert_eq!(count(link, "read 64 B"), 50, "{link}");
        assert_eq!(count(link, "read response 64 B"), 50, "{link}");
    }
    assert_eq!(recording.skipped(), 0);
}

/// More reads under way: more bandwidth, until a link is full; then only more latency.
#[test]
fn bandwidth_is_reads_under_way_over_latency() {
    let run = |in_flight: u64| {
        let keys = format!("loads = 400\nread_size = \"64B\"\nin_flight = {in_flight}");
        let result = result(&keys, None);
        let [bandwidth, mean, count, busiest] = [
            "bandwidth",
            "latency_mean",
            "in_flight_mean",
            "busiest_link",
        ]
        .map(|metric| value(&result, metric));
        let by_little = count * 64.0 / mean * 1e9 / f64::from(1 << 20);
        assert!((bandwidth / by_little - 1.0).abs() < 1e-9);
        assert!(count <= in_flight as f64 + 1e-9, "{count} of {in_flight}");
        (bandwidth, mean, busiest)
    };
    let [one, two, many, most] = [1, 2, 16, 32].map(run);
    assert!((two.0 / one.0 - 2.0).abs() < 0.05, "{one:?} {two:?}");
    assert!(many.2 > 95.0, "the cable back is full: {many:?}");
    assert!(
        most.0 < many.0 * 1.02 && most.1 > many.1 * 1.5,
        "{many:?} {most:?}"
    );
}

/// The same on any machine.
#[test]
fn hashes_are_pinned() {
    let workloads = [
        "loads = 100",
        "pattern = \"random\"\nloads = 100\nread_size = \"64B\"\nin_flight = 8\nprocessors = 2",
        "pattern = \"stream\"\nelements = 2_000\nlocal = \"64KiB\"",
    ];
    let hashes = workloads.map(|workload| result(workload, None).run.event_hash);
    assert_eq!(
        hashes,
        ["9b6f3ab703cce716", "6c4a9dd48c0a7751", "088222e97a0ac7d7"]
    );
}

/// One processor that blocks finds on the links what the memory system charges, if that has the
/// costs of one load and one store: for loads to the picosecond, except for the link's bit times
/// and NOPs.
#[test]
fn the_fast_model_agrees_with_unloaded_links() {
    let alone = value(&result("loads = 1\nsize = \"8B\"", None), "latency_mean");
    let loads = result("loads = 1_000", None);
    let time = value(&loads, "time");
    let medium = Medium {
        read: Ps((alone * 1e3) as u64),
        read_bytes: 8,
        // Eight stores are issued, and nobody waits for them.
        write: OpteronConfig::opteron_246().store_line,
        write_bytes: 64,
    };
    let system = |cache: Option<u64>, local: Option<u64>| {
        let own = local.map(|bytes| {
            let medium = Medium::uniform(OpteronConfig::opteron_246().memory_read);
            Region::new("left", RegionKind::Local, bytes, medium)
        });
        let remote = Region::new("right", RegionKind::Remote, 1 << 20, medium);
        let caches = cache.map(|bytes| CacheConfig {
            bytes,
            ways: 4,
            hit: Ps::ZERO,
        });
        MemorySystem::new(Config {
            regions: own.into_iter().chain([remote]).collect(),
            caches: caches.into_iter().collect(),
            page_bytes: 256,
            ..Config::default()
        })
        .unwrap()
    };
    let mut fast = system(None, None);
    for line in 0..1_000 {
        fast.access(Access {
            address: line * 64,
            bytes: 64,
            kind: AccessKind::Load,
        })
        .unwrap();
    }
    let ratio = time / fast.time().as_ns();
    assert!((ratio - 1.0).abs() < 0.003, "{time} {:?}", fast.time());

    let keys = "pattern = \"stream\"\nelements = 1_000\ncache = \"8KiB\"\npage = \"256B\"\n\
                local = \"512KiB\"\nwork = \"100ns\"";
    let time = value(&result(keys, None), "time");
    let mut fast = system(Some(8 << 10), Some(512 << 10));
    for kernel in KERNELS {
        for access in kernel.accesses_of(1_000) {
            fast.work(Ps::from_ns(100));
            fast.access(access).unwrap();
        }
    }
    let ratio = time / fast.time().as_ns();
    assert!((ratio - 1.0).abs() < 0.01, "{time} {:?}", fast.time());
}

/// What was a constant of loads and of the HT-Core is a parameter.
#[test]
fn loads_and_the_ht_core_are_as_the_file_says() {
    const WORKLOAD: &str = "loads = 400\nread_size = \"64B\"\nin_flight = 16";
    let time = |parameters: &str| {
        let result = result(&format!("{WORKLOAD}\n{parameters}"), None);
        result.run.virtual_time_ns
    };
    let usual = time("");
    let same = "[parameters]\nload_issue_per_mille = 125\ncore_places = 32\nnop_credits = 3\n\
                core_command_credits = 32\ncore_data_credits = 32\n";
    assert_eq!(time(same), usual);
    assert_ne!(time("[parameters]\ncore_command_credits = 1\n"), usual);
    // Issue takes longer than the link then: 400 times at least.
    let slow = "[parameters]\nstore_line = \"100ns\"\nload_issue_per_mille = 10_000\n";
    assert!(time(slow) > 400.0 * 1_000.0);
    assert!(time("[parameters]\nstore_line = \"100ns\"\n") < 400.0 * 1_000.0);
}
