//! Hand-over to the operating system, and its driver.

use crate::machine::WireEnd;
use crate::models::ht::opteron::registers::MemoryType;
use crate::models::ht::opteron::{Mapping, Op, Script};
use hostwire_plan::LinkRole;

use super::{Boot, BootFailure, Measure};

/// Vector of a system management call.
const SMC_VECTOR: u8 = 0xf2;

impl Boot<'_> {
    pub(super) fn hand_over(&mut self, system: usize) -> Result<(), BootFailure> {
        if self.car[system] {
            return Err(BootFailure::HandOver {
                why: "the cache still serves as memory",
            });
        }
        let bsp = self.bsp(system)?;
        let southbridge = self
            .machine
            .wires()
            .iter()
            .find_map(|wire| match wire.ends {
                [
                    WireEnd::Socket { socket, .. },
                    WireEnd::Southbridge { component },
                ] if socket == bsp && wire.role == LinkRole::Southbridge => Some(component),
                _ => None,
            });
        let enumerated = southbridge
            .and_then(|id| self.machine.southbridge_mut(id))
            .is_some_and(|s| s.base_unit_id > 0);
        if !enumerated {
            return Err(BootFailure::HandOver {
                why: "no disk: the southbridge has no UnitID",
            });
        }
        if self.options.does(Measure::CustomKernel) {
            self.note(
                system,
                "operating system: kernel without system management calls",
            );
        } else {
            self.note(system, "operating system: stock kernel");
            // It broadcasts its presence, as it does again and again.
            self.machine
                .start(bsp, Script::new(vec![Op::Broadcast { vector: SMC_VECTOR }]));
        }
        Ok(())
    }

    /// Maps local memory (all of it uncached: what a remote node may write must
    /// not be cached), and the windows onto remote memory write-combining.
    pub(super) fn map_remote(&mut self, system: usize) -> Result<(), BootFailure> {
        for socket in self.found[system].clone() {
            let id = self.machine.sockets()[socket].id;
            let Some(node) = self.machine.plan().node(id.node) else {
                continue;
            };
            let local = node.processors.iter().map(|processor| Mapping {
                first: processor.memory.start.0,
                last: processor.memory.last().0,
                page_type: Some(MemoryType::Uncached),
            });
            // MTRRs make windows write-combining where they suffice.
            let page_type = (!node.windows_write_combining).then_some(MemoryType::WriteCombining);
            let end = self.machine.plan().map().end();
            let windows = node.windows.iter().map(|window| Mapping {
                first: window.range.start.0,
                last: window.range.last().0,
                // No MTRR is for regions, which lie behind the map.
                page_type: match window.range.start < end {
                    true => page_type,
                    false => Some(MemoryType::WriteCombining),
                },
            });
            let maps_remote = self.options.does(Measure::RemoteMapping);
            let mappings: Vec<Mapping> = local.chain(windows.filter(|_| maps_remote)).collect();
            let (count, name) = (mappings.len(), self.machine.sockets()[socket].name.clone());
            self.machine.socket_mut(socket).mappings = mappings;
            self.note(system, format!("driver: {name} maps {count} ranges"));
        }
        Ok(())
    }
}
