//! Configuration accesses through the fabric.

use crate::machine::WireEnd;
use crate::models::ht::opteron::registers::{INIT_CONTROL, LINKS, ROUTE_TABLE_DISABLED};

use super::coherent::TEMPORARY;
use super::{Boot, BootFailure};

/// Sockets an access may pass; a coherent system has eight.
const HOPS_MAX: usize = 8;

impl Boot<'_> {
    /// The bootstrap processor of a system.
    pub(super) fn bsp(&self, system: usize) -> Result<usize, BootFailure> {
        self.bootstrap[system].ok_or(BootFailure::NoBootstrap { system })
    }

    /// Follows the request rows from the bootstrap processor to NodeID `node`.
    pub(super) fn reach(&self, system: usize, node: u8) -> Result<usize, BootFailure> {
        let unreachable = |why: String| BootFailure::Unreachable { node, why };
        let mut at = self.bsp(system)?;
        for _ in 0..HOPS_MAX {
            let registers = &self.machine.socket(at).registers;
            let name = &self.machine.sockets()[at].name;
            // With the routing table off a processor takes every request as its own.
            if registers.read(0, INIT_CONTROL) & ROUTE_TABLE_DISABLED != 0
                && at != self.bsp(system)?
            {
                return Ok(at);
            }
            if registers.node_id() == node {
                return Ok(at);
            }
            let (request, _, _) = registers.routing_row(node);
            // No other processor has the temporary number, so the access reaches the
            // one that keeps it.
            if request & 1 != 0 && node == TEMPORARY && at != self.bsp(system)? {
                return Ok(at);
            }
            if request & 1 != 0 {
                return Err(unreachable(format!(
                    "{name} keeps it, but is node {}",
                    registers.node_id()
                )));
            }
            let link = (0..LINKS).find(|link| request >> (1 + link) & 1 == 1);
            let link = link.ok_or_else(|| unreachable(format!("{name} has no route")))?;
            if !registers.link_ready(link) || registers.link_noncoherent(link) {
                return Err(unreachable(format!(
                    "link {link} of {name} is not up and coherent"
                )));
            }
            match self.machine.across(at, link) {
                Some((_, WireEnd::Socket { socket, .. })) => at = socket,
                _ => {
                    return Err(unreachable(format!(
                        "no processor at link {link} of {name}"
                    )));
                }
            }
        }
        Err(unreachable(
            "the routing rows go round in circles".to_string(),
        ))
    }

    /// Reads a register of node `node`.
    pub(super) fn read(
        &mut self,
        system: usize,
        node: u8,
        function: u8,
        offset: u16,
    ) -> Result<u32, BootFailure> {
        self.tick(system);
        let socket = self.reach(system, node)?;
        Ok(self.machine.socket(socket).registers.read(function, offset))
    }

    /// Writes the bits of `mask` in a register of node `node`.
    pub(super) fn set(
        &mut self,
        system: usize,
        node: u8,
        (function, offset): (u8, u16),
        mask: u32,
        value: u32,
    ) -> Result<(), BootFailure> {
        self.tick(system);
        let socket = self.reach(system, node)?;
        let registers = &mut self.machine.socket_mut(socket).registers;
        let old = registers.read(function, offset);
        registers.write(function, offset, old & !mask | value & mask);
        Ok(())
    }
}
