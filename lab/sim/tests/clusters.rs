//! Every cluster of `examples/clusters` is run, not only planned: messages between the first and
//! the last processor, and a put to each kind of target.

use std::path::{Path, PathBuf};

use crate::common::clusters::load;
use hostwire_plan::{Cluster, Fabric, GlobalAddress, LinkRole, Plan};
use hostwire_sim::experiments::jobs::{Order, Pair, ping_pong, put};
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::machine::htx::HtxCluster;
use hostwire_sim::machine::{Machine, WireEnd};
use hostwire_sim::models::ht::opteron::{Op, OpteronConfig, Script};
use hostwire_sim::tca::{Config, Device, DeviceAddress, SubCluster};
use hostwire_sim::wire::{Settings, run};
use hostwire_transport::Wire;

fn examples() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/clusters");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // Those of thousands of nodes are in a folder; tests of jobs in virtual time run them.
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    let text = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path, text)
    };
    paths.into_iter().map(text).collect()
}

/// Stores by hand from a socket to each of others: the first, a middle and the last line of their
/// memory, of a whole line and of one dword.
fn store_from(machine: &mut Machine, from: usize, targets: &[usize]) {
    let (mut ops, mut wanted) = (Vec::new(), Vec::new());
    for &to in targets {
        let id = machine.sockets()[to].id;
        let memory = machine.plan().processor(id).unwrap().memory;
        let offsets = [1 << 20, memory.bytes / 2, memory.bytes - 128];
        for address in offsets.map(|offset| memory.start.0 + offset) {
            for (at, bytes) in [(address, 64), (address + 64, 4)] {
                let data = vec![(1 + wanted.len()) as u8; bytes];
                ops.push(Op::Store {
                    address: at,
                    data: data.clone(),
                });
                wanted.push((to, at, data));
            }
        }
    }
    ops.push(Op::Fence);
    machine.start(from, Script::new(ops)).unwrap();
    machine.sim.run().unwrap_or_else(|error| panic!("{error}"));
    for (to, address, data) in wanted {
        let name = &machine.sockets()[to].name;
        assert_eq!(
            load(machine, to, address, data.len()),
            data,
            "{address:#x} of {name}"
        );
    }
}

/// From the first socket: its own system, a direct neighbour, and the farthest node.
fn targets(machine: &Machine) -> Vec<usize> {
    let sockets = machine.sockets();
    let hops = |to: usize| {
        let GlobalAddress(start) = machine
            .plan()
            .processor(sockets[to].id)
            .unwrap()
            .memory
            .start;
        let from = sockets[0].id;
        let route = machine
            .plan()
            .route_from_processor(from, GlobalAddress(start));
        route.unwrap().len()
    };
    let others = 1..sockets.len();
    let sibling = others
        .clone()
        .find(|to| sockets[*to].system == sockets[0].system);
    let neighbour = machine.wires().iter().find_map(|wire| {
        let [
            WireEnd::Socket { socket: a, .. },
            WireEnd::Socket { socket: b, .. },
        ] = wire.ends
        else {
            return None;
        };
        (wire.role == LinkRole::Fabric && a.min(b) == 0).then_some(a.max(b))
    });
    let farthest = others.clone().max_by_key(|to| hops(*to));
    let mut targets: Vec<_> = [sibling, neighbour, farthest, others.clone().last()]
        .into_iter()
        .flatten()
        .collect();
    targets.sort_unstable();
    targets.dedup();
    targets
}

/// A store from the first chip to every device of the last one, and back.
fn run_peach2(plan: &Plan) {
    let mut cluster = SubCluster::new(plan, &Config::default()).unwrap();
    let last = cluster.nodes() as u16 - 1;
    for (from, to) in [(0, last), (last, 0)] {
        for device in [Device::Gpu0, Device::Gpu1, Device::Host, Device::Internal] {
            let place = DeviceAddress::new(to, device, 0x10_0000);
            let bytes = [from as u8 + 1; 32];
            cluster.store(from, place, &bytes).unwrap();
            cluster.settle().unwrap();
            assert_eq!(
                cluster.memory(place, 32).unwrap(),
                bytes,
                "{device:?} of {to}"
            );
        }
    }
}

/// Each PE stores to all others, and each finds what the others have stored.
fn run_boards(mut cluster: HtxCluster) {
    let pes = cluster.hosts().len();
    let ran = run(&mut cluster, &Settings::new(pes, 1 << 16), &|wire| {
        let me = wire.pe();
        for pe in (0..wire.pes()).filter(|pe| *pe != me) {
            wire.store(pe, 64 * me as usize, &[me as u8 + 1; 60])
                .unwrap();
        }
        wire.quiet().unwrap();
        for pe in (0..wire.pes()).filter(|pe| *pe != me) {
            let mut got = [0; 60];
            let memory = wire.segment().memory();
            while got[59] == 0 {
                wire.poll().unwrap();
                memory.copy_out(64 * pe as usize, &mut got).unwrap();
            }
            assert_eq!(got, [pe as u8 + 1; 60]);
        }
    });
    ran.unwrap_or_else(|error| panic!("{error}"));
    for host in 0..pes {
        let counters = cluster.board(host).unwrap().counters();
        // Two messages for 60 bytes, to each.
        assert!(counters.sent >= 2 * (pes as u64 - 1), "{counters:?}");
    }
}

#[test]
fn every_example_cluster_runs() {
    let mut ran = 0;
    for (path, text) in examples() {
        let cluster = hostwire_plan::cluster("example", text.as_bytes());
        ran += 1;
        let plan = match cluster.unwrap_or_else(|e| panic!("{e}")) {
            Cluster::AddressMap(plan) => plan,
            Cluster::Htx(plan) => {
                run_boards(HtxCluster::new(plan, &OpteronConfig::opteron_246()).unwrap());
                continue;
            }
        };
        if plan.fabric() == Fabric::Peach2 {
            run_peach2(&plan);
            continue;
        }
        let mut machine = booted(&text).unwrap_or_else(|error| panic!("{error}"));
        let last = machine.sockets().len() - 1;
        let targets = targets(&machine);
        store_from(&mut machine, 0, &targets);
        for to in targets {
            store_from(&mut machine, to, &[0]);
        }
        if machine.sockets()[0].system == machine.sockets()[last].system {
            continue;
        }
        let name = path.display();
        let pong = ping_pong(&mut Pair::new(&mut machine, [0, last]), 2_000, Order::Weak);
        let pong = pong.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(pong.half_round_trip_ns > 200.0, "{name}: {pong:?}");
        let mut machine = booted(&text).unwrap_or_else(|error| panic!("{error}"));
        let put = put(&mut Pair::new(&mut machine, [last, 0]), 10_000, Order::Weak);
        let put = put.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(put.arrived_mib_s > 100.0, "{name}: {put:?}");
    }
    assert_eq!(ran, 20, "an example is missing");
}
