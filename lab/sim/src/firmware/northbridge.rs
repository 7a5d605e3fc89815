//! Northbridge, memory types, memory controllers.

use crate::models::ht::opteron::registers::{NODE_ID, NODES_MAX, ROUTING, msr};
use hostwire_plan::registers::Register;

use super::links::is_link_setting;
use super::{Boot, BootFailure, Measure};

impl Boot<'_> {
    /// NodeID, routing rows and address ranges, as planned.
    ///
    /// The farthest processor comes first and every NodeID last, because an
    /// access still travels by the enumeration's numbers.
    pub(super) fn init_northbridges(&mut self, system: usize) -> Result<(), BootFailure> {
        if !self.options.does(Measure::NorthbridgeInit) {
            self.note(system, "northbridge init: left out");
            return Ok(());
        }
        // All processors that the plan knows, found or not.
        let all = self
            .machine
            .sockets()
            .iter()
            .filter(|socket| socket.system == system)
            .count() as u8;
        for node in (0..all).rev() {
            self.read(system, node, 0, NODE_ID)?;
            let socket = self.reach(system, node)?;
            let identity = |register: Register| match register {
                Register::Config {
                    function: 0,
                    offset,
                } => {
                    offset == NODE_ID
                        || (ROUTING..ROUTING + 4 * u16::from(NODES_MAX)).contains(&offset)
                }
                _ => false,
            };
            let ranges =
                |r: Register| !is_link_setting(r) && !identity(r) && !matches!(r, Register::Msr(_));
            for write in self.planned(system, node, ranges) {
                self.apply(system, node, &write)?;
            }
            // From here on the node answers to its final number only.
            for write in self.planned(system, node, identity) {
                self.tick(system);
                if let Register::Config { function, offset } = write.register {
                    let registers = &mut self.machine.socket_mut(socket).registers;
                    let old = u64::from(registers.read(function, offset));
                    registers.write(function, offset, write.apply(old) as u32);
                }
            }
            let opteron = self.machine.socket(socket);
            let dram = (0..8)
                .filter(|&index| opteron.registers.dram_range(index).is_some())
                .count();
            let mmio = (0..8)
                .filter(|&index| opteron.registers.mmio_range(index).is_some())
                .count();
            let id = opteron.registers.node_id();
            let name = self.machine.sockets()[socket].name.clone();
            self.note(
                system,
                format!("northbridge: {name} is node {id}, {dram} DRAM and {mmio} MMIO ranges"),
            );
        }
        Ok(())
    }

    /// Memory types on every core.
    pub(super) fn init_msrs(&mut self, system: usize) -> Result<(), BootFailure> {
        for node in 0..self.found[system].len() as u8 {
            let socket = self.found[system][usize::from(node)];
            if !self.options.does(Measure::MsrInit) {
                self.usual_msrs(socket);
                continue;
            }
            for write in self.planned(system, node, |register| {
                matches!(register, Register::Msr(_))
            }) {
                self.tick(system);
                if let Register::Msr(number) = write.register {
                    let registers = &mut self.machine.socket_mut(socket).registers;
                    let old = registers.read_msr(number);
                    registers.write_msr(number, write.apply(old));
                }
            }
        }
        let text = match self.options.does(Measure::MsrInit) {
            true => {
                "MSRs: local memory write-back, remote memory I/O and write-combining or uncached"
            }
            false => "MSRs: left out; as usual, everything write-back",
        };
        self.note(system, text);
        Ok(())
    }

    /// The settings of firmware without TCCluster: local memory is memory, and
    /// everything that is not excluded is write-back.
    fn usual_msrs(&mut self, socket: usize) {
        let id = self.machine.sockets()[socket].id;
        let end = self
            .machine
            .plan()
            .processor(id)
            .map_or(0, |plan| plan.memory.end());
        let registers = &mut self.machine.socket_mut(socket).registers;
        registers.write_msr(msr::MTRR_DEFAULT, 1 << 11 | 6);
        registers.write_msr(msr::SYSCFG, 1 << 21);
        registers.write_msr(msr::TOP_MEM2, end);
    }

    pub(super) fn init_memory(&mut self, system: usize) -> Result<(), BootFailure> {
        if !self.options.does(Measure::MemoryInit) {
            self.note(system, "memory init: left out");
            return Ok(());
        }
        self.machine.pass(self.options.times.memory_init);
        for socket in self.found[system].clone() {
            self.machine.socket_mut(socket).memory_ready = true;
            let bytes = self.machine.socket(socket).config().memory_bytes;
            let name = self.machine.sockets()[socket].name.clone();
            self.note(system, format!("memory: {name} has {} MiB", bytes >> 20));
        }
        Ok(())
    }

    pub(super) fn exit_car(&mut self, system: usize) -> Result<(), BootFailure> {
        if self.options.does(Measure::ExitCar) {
            self.car[system] = false;
            self.note(system, "cache-as-RAM: firmware and stack moved to memory");
        } else {
            self.note(system, "cache-as-RAM: not left, code still comes from ROM");
        }
        Ok(())
    }
}
