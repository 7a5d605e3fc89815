//! Non-coherent enumeration: devices on I/O links get UnitIDs.

use crate::machine::WireEnd;
use crate::models::ht::opteron::registers::LINKS;

use super::{Boot, BootFailure, Measure};

/// Configuration reads of one device: identity, class, capability walk.
const READS_PER_DEVICE: usize = 64;

impl Boot<'_> {
    pub(super) fn enumerate_io(&mut self, system: usize) -> Result<(), BootFailure> {
        if !self.options.does(Measure::IoEnumeration) {
            self.note(system, "non-coherent enumeration: left out");
            return Ok(());
        }
        let begin = self.machine.sim.now();
        for socket in self.found[system].clone() {
            for link in 0..LINKS {
                self.tick(system);
                if self.machine.socket(socket).registers.link_noncoherent(link) {
                    self.enumerate_chain(system, socket, link)?;
                }
            }
        }
        let took = self.machine.sim.now() - begin;
        self.note(
            system,
            format!(
                "non-coherent enumeration: done in {:.1} us",
                took.as_ns() / 1e3
            ),
        );
        Ok(())
    }

    fn enumerate_chain(
        &mut self,
        system: usize,
        socket: usize,
        link: u8,
    ) -> Result<(), BootFailure> {
        let name = self.machine.sockets()[socket].name.clone();
        if self.options.does(Measure::IgnoreInIoEnumeration) && self.is_tccluster(socket, link) {
            self.note(
                system,
                format!("non-coherent enumeration: {name} link {link} is TCCluster, ignored"),
            );
            return Ok(());
        }
        match self.machine.across(socket, link) {
            Some((_, WireEnd::Southbridge { component })) => {
                (0..READS_PER_DEVICE).for_each(|_| self.tick(system));
                let Some(bridge) = self.machine.southbridge_mut(component) else {
                    return Ok(());
                };
                bridge.base_unit_id = 1;
                let last = bridge.base_unit_id + bridge.unit_count - 1;
                self.note(system, format!("non-coherent enumeration: {name} link {link}: southbridge, UnitID 1 to {last}"));
                Ok(())
            }
            Some((_, WireEnd::Adapter { .. })) => {
                (0..READS_PER_DEVICE).for_each(|_| self.tick(system));
                self.note(
                    system,
                    format!("non-coherent enumeration: {name} link {link}: adapter, UnitID 1"),
                );
                Ok(())
            }
            // A configuration read is non-posted. The processor at the other end
            // routes the response to itself.
            Some((_, WireEnd::Socket { .. })) => Err(BootFailure::NoAnswer { socket: name, link }),
            None => Ok(()),
        }
    }
}
