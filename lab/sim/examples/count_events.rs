//! Events for `scripts/instructions.sh` to count the instructions of: every socket of a mesh stores lines to every other one,
//! after the boot, which does not count. Each event is handled in a function of its own, which callgrind knows by its name.

#![allow(missing_docs)]

use std::hint::black_box;

use hostwire_sim::engine::Stepped;
use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::models::Fabric;
use hostwire_sim::models::ht::opteron::{LINE_BYTES, Op, Script};

const CLUSTER: &str = "\
[link]
width = \"8bit\"
frequency = \"800MHz\"
[topology]
kind = \"mesh\"
size = [2, 4]
[topology.node]
memory = \"256MiB\"
links = 8
";
/// Lines from each socket to each other one.
const LINES: u64 = 16;
/// Queues and tables have grown by then.
const WARM_UP_EVENTS: usize = 1_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut machine = booted(CLUSTER)?;
    let sockets = machine.sockets().iter();
    let memories: Vec<u64> = sockets
        .filter_map(|socket| Some(machine.plan().processor(socket.id)?.memory.start.0))
        .collect();
    for from in 0..memories.len() {
        let others = (1..memories.len()).map(|distance| (from + distance) % memories.len());
        let lines = others.flat_map(|to| {
            let first = memories[to] + (1 << 20) + from as u64 * LINES * LINE_BYTES;
            (0..LINES).map(move |line| first + line * LINE_BYTES)
        });
        let stores = lines.map(|address| Op::Store {
            address,
            data: vec![7; LINE_BYTES as usize],
        });
        machine.start(from, Script::new(stores.collect()));
    }
    for _ in 0..WARM_UP_EVENTS {
        machine.sim.step().ok_or("the run is too short")?;
    }
    count(&mut machine.sim);
    Ok(machine.sim.check_stall()?)
}

/// What is called from here counts: see `bench/instructions/callgrind.rs`.
#[inline(never)]
fn count(sim: &mut Fabric) {
    while black_box(row_sim_event(sim)).is_some() {}
}

#[inline(never)]
fn row_sim_event(sim: &mut Fabric) -> Option<Stepped> {
    sim.step()
}
