//! Packets follow the registers, not the plan.

use crate::common::clusters::{self, FOUR_SUPERNODES, address, load, machine, store};
use hostwire_plan::GlobalAddress;
use hostwire_plan::registers::opteron::{Destination, Northbridge};
use hostwire_sim::firmware::boot_all;
use hostwire_sim::machine::Machine;
use hostwire_sim::models::ht::opteron::registers::{DRAM_BASE, MMIO_BASE};
use hostwire_sim::models::ht::opteron::route::{AbortReason, Origin, Target, route};

const CHAIN: &str = r#"
[link]
width = "16bit"
frequency = "800MHz"
medium = "coax"
[[node]]
name = "a"
memory = "8GiB"
southbridge = "l0"
[[node]]
name = "b"
memory = "8GiB"
southbridge = "l0"
[[node]]
name = "c"
memory = "8GiB"
southbridge = "l0"
[[cable]]
from = "a.l2"
to = "b.l1"
[[cable]]
from = "b.l2"
to = "c.l1"
"#;

const LINE: [u8; 64] = [0x5a; 64];

fn chain() -> Machine {
    let mut machine = machine(CHAIN);
    boot_all(&mut machine).unwrap_or_else(|e| panic!("{e}"));
    machine
}

/// Changes the MMIO range of socket `at` that holds `address`.
fn redirect(machine: &mut Machine, at: usize, address: u64, link: u32) {
    let registers = &mut machine.socket_mut(at).registers;
    let holds = |range: u8| {
        registers
            .mmio_range(range)
            .is_some_and(|r| (r.base..=r.limit).contains(&address))
    };
    let range = (0..8).find(|&range| holds(range)).unwrap();
    let limit = MMIO_BASE + 8 * u16::from(range) + 4;
    let old = registers.read(1, limit);
    registers.write(1, limit, old & !0x70 | link << 4);
}

#[test]
fn the_middle_node_forwards() {
    let mut machine = chain();
    let to = address(&machine, 2, 0x80);
    store(&mut machine, 0, to, &LINE).unwrap();
    assert_eq!(load(&machine, 2, to, 64), LINE);
    assert_eq!(machine.socket(1).counters().forwarded, 1);
}

#[test]
fn a_wrong_link_sends_the_packet_round_in_circles() {
    let mut machine = chain();
    let to = address(&machine, 2, 0x80);
    redirect(&mut machine, 1, to, 1);
    store(&mut machine, 0, to, &LINE).unwrap();
    assert_eq!(load(&machine, 2, to, 64), [0; 64]);
    let loops = |at: usize| {
        machine
            .socket(at)
            .counters()
            .aborts
            .get(&AbortReason::Loop)
            .copied()
    };
    assert_eq!(loops(0).or(loops(1)), Some(1));
}

#[test]
fn a_wrong_link_leads_nowhere() {
    let mut machine = chain();
    let to = address(&machine, 2, 0x80);
    redirect(&mut machine, 1, to, 3);
    store(&mut machine, 0, to, &LINE).unwrap();
    let aborts = &machine.socket(1).counters().aborts;
    assert_eq!(
        aborts.keys().collect::<Vec<_>>(),
        [&AbortReason::LinkDown { link: 3 }]
    );
}

#[test]
fn a_wrong_dram_range_swallows_the_packet() {
    let mut machine = chain();
    let to = address(&machine, 2, 0x80);
    let registers = &mut machine.socket_mut(1).registers;
    let (base, range) = ((to >> 24 << 16) as u32, DRAM_BASE + 8 * 5);
    registers.write(1, range + 4, base);
    registers.write(1, range, base | 3);
    store(&mut machine, 0, to, &LINE).unwrap();
    assert_eq!(load(&machine, 2, to, 64), [0; 64]);
    assert_eq!(
        load(&machine, 1, to, 64),
        LINE,
        "it is in the wrong node's memory"
    );
}

/// The planner decodes its register values in its own way; both must agree.
#[test]
fn planner_and_model_route_alike() {
    for text in [
        CHAIN,
        &FOUR_SUPERNODES,
        clusters::TWO_BOARDS,
        clusters::ONE_BOARD,
    ] {
        let mut machine = machine(text);
        boot_all(&mut machine).unwrap_or_else(|e| panic!("{e}"));
        for (index, socket) in machine.sockets().iter().enumerate() {
            let planned = machine.plan().processor(socket.id).unwrap();
            let northbridge = Northbridge::from_writes(&planned.registers);
            let opteron = machine.socket(index);
            for other in machine.sockets() {
                let memory = machine.plan().processor(other.id).unwrap().memory;
                for address in [
                    memory.start.0,
                    memory.start.0 + 0x1234_5678,
                    memory.last().0,
                ] {
                    let got = route(&opteron.registers, Origin::Link(9), address, u64::MAX);
                    let me = northbridge.node_id();
                    match northbridge.lookup(GlobalAddress(address)).unwrap() {
                        Destination::Memory { processor } if processor == me => {
                            assert_eq!(got, Target::Memory)
                        }
                        Destination::Link {
                            processor, link, ..
                        } if processor == me => {
                            assert_eq!(got, Target::Link(link.get()));
                        }
                        _ => assert!(matches!(got, Target::Link(_)), "{got:?}"),
                    }
                }
            }
        }
    }
}
