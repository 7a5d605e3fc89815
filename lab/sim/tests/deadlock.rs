//! A ring in which all nodes send all the way round in one direction: the planner
//! refuses such routes, because posted writes have one virtual channel. Written into
//! the registers by hand they stop the cluster, and the report names the cycle.

use crate::common::clusters::{address, machine};
use hostwire_sim::engine::RunError;
use hostwire_sim::firmware::boot_all;
use hostwire_sim::machine::{Machine, TrainingFailure};
use hostwire_sim::models::ht::opteron::registers::MMIO_BASE;
use hostwire_sim::models::ht::opteron::{Op, Script};

const NODES: usize = 4;

fn ring() -> Machine {
    let mut text =
        String::from("[link]\nwidth = \"16bit\"\nfrequency = \"800MHz\"\nmedium = \"coax\"\n");
    for node in 0..NODES {
        text += &format!("[[node]]\nname = \"n{node}\"\nmemory = \"8GiB\"\nsouthbridge = \"l0\"\n");
    }
    for node in 0..NODES {
        text += &format!(
            "[[cable]]\nfrom = \"n{node}.l1\"\nto = \"n{}.l2\"\n",
            (node + 1) % NODES
        );
    }
    let mut machine = machine(&text);
    boot_all(&mut machine).unwrap_or_else(|e| panic!("{e}"));
    machine
}

/// Everything remote leaves by link 1.
fn one_way(machine: &mut Machine) {
    for node in 0..NODES {
        let registers = &mut machine.socket_mut(node).registers;
        for range in (0..8)
            .filter(|&range| registers.mmio_range(range).is_some_and(|r| r.link != 0))
            .collect::<Vec<_>>()
        {
            let limit = MMIO_BASE + 8 * u16::from(range) + 4;
            let old = registers.read(1, limit);
            registers.write(1, limit, old & !0x70 | 1 << 4);
        }
    }
}

/// Every node, on every core, to the node before it: all the way round.
fn send(machine: &mut Machine) {
    for node in 0..NODES {
        let to = address(machine, ((node + NODES - 1) % NODES) as u16, 0);
        for core in 0..4u64 {
            let store = |line: u64| Op::Store {
                address: to + (core << 20) + 64 * line,
                data: vec![1; 64],
            };
            machine
                .start(node, Script::new((0..2_000).map(store).collect()))
                .unwrap();
        }
    }
}

#[test]
fn planned_routes_deliver_everything() {
    let mut machine = ring();
    send(&mut machine);
    machine.sim.run().unwrap();
    for node in 0..NODES {
        assert_eq!(machine.socket(node).counters().writes, 8_000);
    }
}

#[test]
fn one_way_routes_deadlock_and_the_report_names_the_cycle() {
    let mut machine = ring();
    one_way(&mut machine);
    send(&mut machine);
    let Err(RunError::Stalled { report, .. }) = machine.sim.run() else {
        panic!("must deadlock")
    };
    let cycle = report.cycle.as_ref().expect("a cycle");
    assert_eq!(
        cycle.len(),
        2 * NODES + 1,
        "four nodes and four links: {cycle:?}"
    );
    let text = report.to_string();
    assert!(
        text.contains("posted") && text.contains("credit from end A"),
        "{text}"
    );
}

/// A link that never trained loses no store without a report: the error of the waiting PE names
/// the link, why it is down, and the device that dropped the stores.
#[test]
fn a_link_that_never_trained_is_named() {
    let mut machine = ring();
    // Behind the planner's back: a clock that the cable does not carry.
    let wire = (0..machine.wires().len())
        .find(|wire| {
            machine
                .link(*wire)
                .mode()
                .is_some_and(|mode| mode.mhz == 800)
        })
        .unwrap();
    let failure = TrainingFailure::TooFast {
        mhz: 2_400,
        max: 800,
    };
    machine.link_mut(wire).take_down(failure.to_string());
    let name = machine
        .sim
        .name(machine.wires()[wire].link)
        .unwrap()
        .to_string();
    send(&mut machine);
    let Err(RunError::Stalled { report, .. }) = machine.sim.run() else {
        panic!("must stall")
    };
    let want =
        format!("{name} never trained: 2400 MHz is too fast for a medium of at most 800 MHz");
    assert!(report.to_string().contains(&want), "{report}");
    let queued = format!("{name} waits for initialisation of the link");
    assert!(report.to_string().contains(&queued), "{report}");
}
