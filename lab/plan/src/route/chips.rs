//! The addresses behind each port of the PEACH2 chips below nodes.
//!
//! A chip has one lower and one upper bound for each port, so the addresses that pass it by one port
//! have to lie together, apart from those that pass it by another port. Addresses that never come to
//! the chip may lie anywhere.

use super::NextHops;
use crate::address_map::AddressMap;
use crate::htx::Device;
use crate::registers::peach2::{NORTH, PORTS};
use crate::spec::AdapterKind;
use crate::topology::{Chips, Topology};
use hostwire_address::AddressRange;

/// For each port of a chip the addresses that leave by it.
pub(crate) type Bounds = [Option<AddressRange>; PORTS as usize];

/// Two ports of a chip whose bounds would overlap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overlap {
    pub chip: usize,
    pub ports: [u8; 2],
}

/// The bounds of all chips, by number.
pub(crate) fn bounds(
    topology: &Topology,
    map: &AddressMap,
    next: &NextHops,
) -> Result<Vec<Bounds>, Overlap> {
    let Some(chips) = &topology.below.chips else {
        return Ok(Vec::new());
    };
    let mut bounds = vec![Bounds::default(); chips.tables.len()];
    let across = across(chips);
    let gates = topology.gates();
    for gate in gates.iter().filter(|gate| gate.kind == AdapterKind::Peach2) {
        for (to, range) in map.parts() {
            let arrival = next.arrival(gate.network, to);
            let Some(arrival) = arrival.filter(|_| next.leave_by(gate, to.0)) else {
                continue;
            };
            let target = gates[arrival].member;
            // The ports by which a TLP leaves chips on its way, port north of the last one included.
            let mut at = Some(gate.member);
            for _ in 0..across.len() {
                let Some(chip) = at else {
                    break;
                };
                let port = match chip == target {
                    true => NORTH,
                    false => chips.tables[chip][target],
                };
                let bound = &mut bounds[chip][usize::from(port)];
                *bound = Some(hull(*bound, range));
                at = across[chip].get(usize::from(port)).copied().flatten();
            }
        }
    }
    for (chip, bounds) in bounds.iter().enumerate() {
        for a in 0..PORTS {
            for b in a + 1..PORTS {
                if overlap(bounds[usize::from(a)], bounds[usize::from(b)]) {
                    let ports = [a, b];
                    return Err(Overlap { chip, ports });
                }
            }
        }
    }
    Ok(bounds)
}

/// For each chip and port the chip at the other end of the cable.
fn across(chips: &Chips) -> Vec<[Option<usize>; PORTS as usize]> {
    let mut across = vec![[None; PORTS as usize]; chips.tables.len()];
    for cable in &chips.cables {
        let [a, b] = cable.ends;
        for (here, there) in [(a, b), (b, a)] {
            if let (Device::Host(chip), Device::Host(peer)) = (here.device, there.device) {
                across[chip][usize::from(here.port)] = Some(peer);
            }
        }
    }
    across
}

fn hull(bound: Option<AddressRange>, more: AddressRange) -> AddressRange {
    let Some(bound) = bound else {
        return more;
    };
    let start = bound.start.min(more.start);
    AddressRange {
        start,
        bytes: bound.end().max(more.end()) - start.0,
    }
}

fn overlap(a: Option<AddressRange>, b: Option<AddressRange>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.start.0 < b.end() && b.start.0 < a.end(),
        _ => false,
    }
}
