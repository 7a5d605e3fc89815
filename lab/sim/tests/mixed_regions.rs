//! Regions of other nodes' memory in clusters of sockets, over boards that also carry writes between islands.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_plan::htx::REGION_BASE;
use hostwire_sim::engine::Ps;
use hostwire_sim::engine::random::Random;
use hostwire_sim::experiments::file::{Monitor, read};
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::nic::Nic;
use hostwire_sim::models::ht::opteron::{Arrival, Local, Op, Outcome};

const SEVERAL: &str = include_str!("../clusters/several.toml");

/// Two islands; the user's board is on the second processor of its node.
const TWO: &str = r#"
[board]
link_width = "16bit"
link_frequency = "400MHz"
user_frequency = "200MHz"

[[supernode]]
name = "user"
memory = "1GiB"
processors = 2
board = "p1.l2"

[[node]]
name = "owner"
memory = "1GiB"
board = "l2"

[[cable]]
from = "user.board.p0"
to = "owner.board.p0"

[[region]]
of = "owner.board"
at = "user.board"
size = "1MiB"
offset = "32MiB"
"#;
const OFFSET: u64 = 32 << 20;

fn socket(machine: &Machine, name: &str) -> usize {
    let mut sockets = machine.sockets().iter();
    sockets.position(|socket| socket.name == name).unwrap()
}

/// The first address of a socket's memory.
fn base(machine: &Machine, name: &str) -> u64 {
    let socket = socket(machine, name);
    let id = machine.sockets()[socket].id;
    machine.plan().processor(id).unwrap().memory.start.0
}

type Seen = Rc<RefCell<Vec<Outcome>>>;

/// Puts a program of these operations on a core of a socket.
fn start(machine: &mut Machine, name: &str, ops: Vec<Op>) -> Seen {
    let seen = Seen::default();
    let log = Rc::clone(&seen);
    let mut ops = ops.into_iter();
    let program = move |_: Local<'_>, outcome: Outcome| {
        log.borrow_mut().push(outcome);
        ops.next().unwrap_or(Op::Halt)
    };
    let socket = socket(machine, name);
    machine.start(socket, program).unwrap();
    seen
}

fn arrivals(seen: &Seen) -> Vec<Arrival> {
    let seen = seen.borrow();
    let arrived = seen.iter().filter_map(|outcome| match outcome {
        Outcome::Arrived(arrived) => Some(arrived.clone()),
        _ => None,
    });
    arrived.flatten().collect()
}

fn ahead(address: u64, bytes: usize) -> Op {
    Op::LoadAhead { address, bytes }
}

const DRAIN: Op = Op::AwaitLoads { in_flight: 0 };

/// Loads get what the owner has, stores get there; also from the processor without the board.
#[test]
fn loads_and_stores_reach_the_owner() {
    for name in ["user.p0", "user.p1"] {
        let mut machine = booted(TWO).unwrap();
        let owner = socket(&machine, "owner");
        let memory = base(&machine, "owner") + OFFSET;
        let bytes: Vec<u8> = (0..64).collect();
        machine.socket_mut(owner).memory.write(memory, &bytes);
        let ops = vec![
            ahead(REGION_BASE, 64),
            ahead(REGION_BASE + 8, 8),
            DRAIN,
            Op::Load {
                address: REGION_BASE + 2,
                bytes: 5,
            },
            Op::Store {
                address: REGION_BASE + 0x1000,
                data: bytes.clone(),
            },
            Op::Fence,
            // A load goes behind the stores of its processor.
            ahead(REGION_BASE + 0x1000, 16),
            DRAIN,
        ];
        let seen = start(&mut machine, name, ops);
        machine.sim.run().unwrap();
        let data: Vec<_> = arrivals(&seen)
            .into_iter()
            .map(|a| a.data.unwrap())
            .collect();
        assert_eq!(data[0], bytes, "{name}");
        assert_eq!(data[1], bytes[8..16], "{name}");
        assert_eq!(data[2], bytes[..16], "{name}");
        assert!(
            seen.borrow()
                .contains(&Outcome::Loaded(bytes[2..7].to_vec()))
        );
        let mut got = vec![0; 64];
        machine.socket(owner).memory.read(memory + 0x1000, &mut got);
        assert_eq!(got, bytes, "{name}");
    }
}

/// From one processor the board is two coherent crossings further: a hop there and one back.
#[test]
fn the_other_processor_takes_two_hops_more() {
    let [own, other] = ["user.p1", "user.p0"].map(|name| {
        let mut machine = booted(TWO).unwrap();
        let seen = start(&mut machine, name, vec![ahead(REGION_BASE, 8), DRAIN]);
        machine.sim.run().unwrap();
        let load = arrivals(&seen).remove(0);
        load.arrived - load.issued
    });
    let more = other - own;
    // Two northbridges that pass it on, two crossings of a short link.
    let hop = booted(TWO).unwrap().socket(0).config().hop;
    assert!(
        more > hop + hop && more < Ps::from_ns(200),
        "{own}, {other}"
    );
}

/// Beside more writes than all buffers hold, both ways over the same cable: every load ends, with the right
/// bytes, and no write is lost.
#[test]
fn loads_end_beside_streams_of_writes() {
    let mut machine = booted(TWO).unwrap();
    let (owner, user) = (base(&machine, "owner"), base(&machine, "user.p0"));
    let at = socket(&machine, "owner");
    let mut random = Random::new(7);
    let bytes: Vec<u8> = (0..1 << 16).map(|_| random.below(256) as u8).collect();
    machine.socket_mut(at).memory.write(owner + OFFSET, &bytes);
    let stream = |to: u64| {
        let lines = (0..300_u64).map(move |line| Op::Store {
            address: to + (4 << 20) + 64 * line,
            data: vec![line as u8; 64],
        });
        lines.chain([Op::Fence]).collect::<Vec<_>>()
    };
    start(&mut machine, "user.p1", stream(owner));
    start(&mut machine, "owner", stream(user));
    let mut places = Vec::new();
    let mut ops = Vec::new();
    for _ in 0..200 {
        let place = random.below((1 << 16) / 64) * 64;
        places.push(place);
        ops.push(ahead(REGION_BASE + place, 64));
        ops.push(Op::AwaitLoads { in_flight: 7 });
    }
    ops.push(DRAIN);
    let [near, far] = ["user.p1", "user.p0"].map(|name| start(&mut machine, name, ops.clone()));
    machine.sim.run().unwrap();
    for seen in [near, far] {
        let loads = arrivals(&seen);
        assert_eq!(loads.len(), places.len());
        for load in loads {
            let from = (load.address - REGION_BASE) as usize;
            assert_eq!(load.data.unwrap(), bytes[from..from + 64]);
        }
    }
    for (name, start) in [("owner", owner), ("user.p0", user)] {
        let socket = socket(&machine, name);
        for line in [0, 150, 299_u64] {
            let mut got = [0; 64];
            let memory = &machine.socket(socket).memory;
            memory.read(start + (4 << 20) + 64 * line, &mut got);
            assert_eq!(got, [line as u8; 64], "{name}: line {line}");
        }
    }
    let nics = machine.boards().nics.iter();
    let served: u64 = nics
        .map(|nic| machine.sim.component::<Nic>(*nic).unwrap())
        .map(|nic| nic.remote_counters().reads_served)
        .sum();
    assert_eq!(served, 400);
}

fn ran(experiment: &str) -> hostwire_sim::experiments::file::Outcome {
    let cluster = |_: &str| Ok(SEVERAL.as_bytes().to_vec());
    let experiment = read("regions.toml", experiment.as_bytes(), &cluster);
    let experiment = experiment.unwrap_or_else(|rejected| panic!("{rejected}"));
    experiment.run(&Monitor::default(), None).unwrap()
}

/// The workload runs on a file with all parts, and its parameters can be swept.
#[test]
fn the_workload_reads_regions_below_sockets() {
    let outcome = ran(
        "cluster = \"several.toml\"\n[workload]\nkind = \"remote-memory\"\n\
         size = \"8B\"\nloads = 100\nlocal = \"1MiB\"\npattern = \"random\"\nin_flight = 4\n\
         [sweep]\nkey = \"parameters.htx.read_tags\"\nvalues = [1, 32]\n",
    );
    let metric = |result: usize, name: &str| {
        let mut metrics = outcome.results[result].metrics.iter();
        metrics.find(|metric| metric.name == name).unwrap().value
    };
    // 1 of 257 MiB is local.
    assert!(metric(1, "remote_loads") > 90.0);
    assert!(metric(0, "latency_mean") > metric(1, "latency_mean"));
    let flows = &outcome.results[0].flows;
    assert_eq!(flows.len(), 1);
    assert_eq!((&*flows[0].from, &*flows[0].to), ("b1", "hub.p1"));
}

/// What a file cannot ask for.
#[test]
fn faults_are_named() {
    let cluster = |_: &str| Ok(SEVERAL.as_bytes().to_vec());
    let text =
        "cluster = \"several.toml\"\n[workload]\nkind = \"remote-memory\"\nprocessors = 99\n";
    let rejected = read("regions.toml", text.as_bytes(), &cluster).unwrap_err();
    assert!(
        rejected.to_string().contains("expected at most 8"),
        "{rejected}"
    );
    let plain = |_: &str| Ok(include_bytes!("../clusters/two-boards.toml").to_vec());
    let rejected = read("regions.toml", text.as_bytes(), &plain).unwrap_err();
    let text = rejected.to_string();
    assert!(text.contains("or nodes with a `board`"), "{text}");
}
