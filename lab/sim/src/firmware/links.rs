//! Link settings that take effect at the warm reset: force non-coherent, width,
//! frequency, retry.

use crate::models::ht::opteron::registers::{
    FORCE_NONCOHERENT, LINK_CONTROL, LINK_EXT_CONTROL, LINK_RETRY,
};
use hostwire_plan::LinkRole;
use hostwire_plan::registers::{Register, RegisterWrite};

use super::{Boot, BootFailure, Measure};

/// Whether a register of the plan belongs to a link's settings: the capability
/// blocks in functions 0 and 4, retry, scrambling.
pub(super) fn is_link_setting(register: Register) -> bool {
    match register {
        Register::Config {
            function: 0,
            offset,
        } => {
            (LINK_CONTROL - 4..0x100).contains(&offset)
                || (LINK_RETRY..LINK_RETRY + 0x20).contains(&offset)
                || (LINK_EXT_CONTROL..LINK_EXT_CONTROL + 0x20).contains(&offset)
        }
        Register::Config { function: 4, .. } => true,
        _ => false,
    }
}

impl Boot<'_> {
    pub(super) fn configure_links(&mut self, system: usize) -> Result<(), BootFailure> {
        for node in 0..self.found[system].len() as u8 {
            self.force_noncoherent(system, node)?;
            self.raise_speed(system, node)?;
        }
        Ok(())
    }

    fn force_noncoherent(&mut self, system: usize, node: u8) -> Result<(), BootFailure> {
        if !self.options.does(Measure::ForceNoncoherent) {
            return Ok(());
        }
        let socket = self.found[system][usize::from(node)];
        let id = self.machine.sockets()[socket].id;
        let links = self
            .machine
            .plan()
            .processor(id)
            .map(|plan| plan.links.clone())
            .unwrap_or_default();
        for link in links
            .into_iter()
            .filter(|link| link.role == LinkRole::Fabric)
        {
            let bit = 1 << link.link.get();
            self.set(system, node, (0, FORCE_NONCOHERENT), bit, bit)?;
            let name = self.machine.sockets()[socket].name.clone();
            self.note(
                system,
                format!("force non-coherent: {name} link {}", link.link.get()),
            );
        }
        Ok(())
    }

    fn raise_speed(&mut self, system: usize, node: u8) -> Result<(), BootFailure> {
        if !self.options.does(Measure::LinkSpeed) {
            return Ok(());
        }
        for write in self.planned(system, node, is_link_setting) {
            self.apply(system, node, &write)?;
        }
        Ok(())
    }

    /// The plan's writes for a node that fit a condition.
    pub(super) fn planned(
        &self,
        system: usize,
        node: u8,
        wanted: impl Fn(Register) -> bool,
    ) -> Vec<RegisterWrite> {
        let socket = self.found[system].get(usize::from(node)).copied();
        let id = socket.map(|socket| self.machine.sockets()[socket].id);
        let plan = id.and_then(|id| self.machine.plan().processor(id));
        let writes = plan
            .map(|plan| plan.registers.as_slice())
            .unwrap_or_default();
        writes
            .iter()
            .filter(|write| wanted(write.register))
            .copied()
            .collect()
    }

    /// Makes one write of the plan in configuration space.
    pub(super) fn apply(
        &mut self,
        system: usize,
        node: u8,
        write: &RegisterWrite,
    ) -> Result<(), BootFailure> {
        match write.register {
            Register::Config { function, offset } => self.set(
                system,
                node,
                (function, offset),
                write.mask as u32,
                write.value as u32,
            ),
            _ => Ok(()),
        }
    }
}
