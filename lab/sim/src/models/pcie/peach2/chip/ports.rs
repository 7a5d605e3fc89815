//! The ports of a chip as registers show them: on or off, their roles, their links.
//!
//! A chip begins with all links as they were built; ports that nobody switches are always open.

use hostwire_packet::pcie::CreditCost;
use hostwire_plan::registers::peach2::{NORTH, PORTS};

use crate::engine::{Context, Ps};
use crate::models::DeviceEvent;
use crate::models::link::{LinkEvent, PortState};
use crate::models::pcie::Role;

use super::management::Interrupts;
use super::registers::{
    CONTROL_ON, CONTROL_ROOT, Effect, PORT_CONTROL, PORT_PENDING, PORT_STATUS, PORT_STRIDE,
    PORTS_AT, STATUS_CABLE, STATUS_RECONFIGURING, STATUS_UP,
};
use super::{Chip, ChipEvent, Dropped, Origin};

const EAST: u8 = 0;
const SOUTH: u8 = 2;

/// One port.
#[derive(Clone, Copy, Debug)]
struct Port {
    is_on: bool,
    /// As the link has told, if the port was switched once.
    link: PortState,
    /// TLPs in the chip for this port.
    pending: u64,
}

/// How a port of a chip is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortView {
    /// Its role.
    pub role: Role,
    /// It is switched on, and the board has a link there.
    pub is_on: bool,
    /// As its link has told last; errors and trainings are counted once the port was switched.
    pub link: PortState,
    /// TLPs in the chip that are to leave by it.
    pub pending: u64,
}

/// A port that nobody has switched.
const BUILT: Port = Port {
    is_on: true,
    link: PortState {
        is_up: true,
        is_plugged: true,
        errors: 0,
        trainings: 0,
    },
    pending: 0,
};

/// All ports, and the role of port south.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ports {
    all: [Port; PORTS as usize],
    south: Role,
    is_reconfiguring: bool,
}

impl Ports {
    pub(super) fn new() -> Ports {
        Ports {
            all: [BUILT; PORTS as usize],
            south: Role::Endpoint,
            is_reconfiguring: false,
        }
    }

    /// Ports east and west have fixed roles; so has north, to the host (section III.D).
    fn role(&self, port: u8) -> Role {
        match port {
            EAST | NORTH => Role::Endpoint,
            SOUTH => self.south,
            _ => Role::RootComplex,
        }
    }

    fn get(&mut self, port: u8) -> Option<&mut Port> {
        self.all.get_mut(usize::from(port))
    }

    /// Whether TLPs may be routed to this port.
    pub(super) fn is_open(&self, port: u8) -> bool {
        let port = self.all.get(usize::from(port));
        port.is_none_or(|port| port.is_on && port.link.is_up)
    }

    /// Whether TLPs can leave by this port: one that is off still carries what it has taken.
    pub(super) fn is_up(&self, port: u8) -> bool {
        let port = self.all.get(usize::from(port));
        port.is_none_or(|port| port.link.is_up)
    }

    /// A TLP is on its way to a port.
    pub(super) fn take(&mut self, port: u8) {
        if let Some(port) = self.get(port) {
            port.pending += 1;
        }
    }

    /// A TLP has left, or was dropped. Whether it was the last one.
    pub(super) fn has_left(&mut self, port: u8) -> bool {
        self.get(port).is_some_and(|port| {
            port.pending = port.pending.saturating_sub(1);
            port.pending == 0
        })
    }
}

impl Chip {
    /// Says what the FPGA image makes of port south.
    pub fn set_south(&mut self, role: Role) {
        self.ports.south = role;
    }

    /// Says that the link at a port is down, and the port off.
    pub fn darken(&mut self, port: u8) {
        if let Some(port) = self.ports.get(port) {
            port.is_on = false;
            port.link.is_up = false;
        }
    }

    /// How a port is now, outside of simulated time.
    pub fn port(&self, port: u8) -> PortView {
        let index = usize::from(port);
        let has_link = self.links.get(index).is_some_and(Option::is_some);
        let known = self.ports.all.get(index).copied().unwrap_or(BUILT);
        PortView {
            role: self.ports.role(port),
            is_on: has_link && known.is_on,
            link: PortState {
                is_up: has_link && known.link.is_up,
                is_plugged: has_link && known.link.is_plugged,
                ..known.link
            },
            pending: known.pending,
        }
    }

    /// A register as a program of the management processor reads it.
    pub(super) fn register(&mut self, offset: u64) -> u64 {
        self.show_ports();
        self.shown(offset)
    }

    /// A register as it was last written or shown, outside of simulated time.
    pub fn shown(&self, offset: u64) -> u64 {
        let bytes = self.registers.read(offset, 8);
        bytes
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word))
    }

    /// The same, written.
    pub(super) fn write_register(
        &mut self,
        offset: u64,
        value: u64,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let effect = self.registers.write(offset, &value.to_le_bytes());
        self.act(effect, ctx);
    }

    /// Brings the port registers up to date.
    pub(super) fn show_ports(&mut self) {
        for index in 0..PORTS {
            let at = PORTS_AT + PORT_STRIDE * u64::from(index);
            let view = self.port(index);
            let is_root = view.role == Role::RootComplex;
            let is_reconfiguring = index == SOUTH && self.ports.is_reconfiguring;
            let bit = |is_set: bool, bit: u64| if is_set { bit } else { 0 };
            let control = bit(view.is_on, CONTROL_ON) | bit(is_root, CONTROL_ROOT);
            let status = bit(view.link.is_up, STATUS_UP)
                | bit(view.link.is_plugged, STATUS_CABLE)
                | bit(is_reconfiguring, STATUS_RECONFIGURING);
            let link = view.link;
            let errors = u64::from(link.errors) | u64::from(link.trainings) << 32;
            let values = [
                (PORT_CONTROL, control),
                (PORT_STATUS, status),
                (PORT_STATUS + 8, errors),
                (PORT_PENDING, view.pending),
            ];
            for (offset, value) in values {
                self.registers.show(at + offset, value);
            }
        }
    }

    /// What a write to a register asks for.
    pub(super) fn act(&mut self, effect: Option<Effect>, ctx: &mut Context<'_, DeviceEvent>) {
        match effect {
            Some(Effect::Dma(kind)) => self.drive(ctx, |dma, env| dma.start(kind, env)),
            Some(Effect::Port(port)) => self.switch(port, ctx),
            Some(Effect::Mailbox) => self.raise(Interrupts::MAILBOX, ctx),
            None => {}
        }
    }

    /// The control register of a port was written. Port north is always on: the state of the
    /// other links has no effect on that to the host (section V).
    fn switch(&mut self, index: u8, ctx: &mut Context<'_, DeviceEvent>) {
        let at = PORTS_AT + PORT_STRIDE * u64::from(index) + PORT_CONTROL;
        let bytes = self.registers.read(at, 8);
        let control = bytes
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word));
        let on = control & CONTROL_ON != 0;
        let wanted = match control & CONTROL_ROOT {
            0 => Role::Endpoint,
            _ => Role::RootComplex,
        };
        let Some(port) = self.ports.get(index) else {
            return;
        };
        let was_on = port.is_on;
        if index == SOUTH && wanted != self.ports.south && !was_on && !on {
            if !self.ports.is_reconfiguring {
                self.ports.is_reconfiguring = true;
                let after = self.config.reconfiguration;
                let role = DeviceEvent::Chip(ChipEvent::Reconfigured { role: wanted });
                ctx.schedule(ctx.me(), after, role);
            }
            return;
        }
        let link = self.links.get(usize::from(index)).copied().flatten();
        let Some((link, end)) = link.filter(|_| index != NORTH) else {
            return;
        };
        if on && index == SOUTH && self.ports.is_reconfiguring {
            return;
        }
        let role = on.then_some(self.ports.role(index));
        if let Some(port) = self.ports.get(index) {
            port.is_on = on;
        }
        let switched = LinkEvent::Port { end, role };
        ctx.schedule(link, Ps::ZERO, DeviceEvent::Pcie(switched));
    }

    /// Partial reconfiguration is over.
    pub(super) fn reconfigured(&mut self, role: Role, ctx: &mut Context<'_, DeviceEvent>) {
        self.ports.south = role;
        self.ports.is_reconfiguring = false;
        self.raise(Interrupts::ROLE, ctx);
    }

    /// A link tells how it is.
    pub(super) fn hear(&mut self, index: u8, state: PortState, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(port) = self.ports.get(index) else {
            return;
        };
        port.link = state;
        if !state.is_up {
            self.purge(index, ctx);
        }
        self.raise(Interrupts::LINK, ctx);
    }

    /// TLPs that wait for a link that is down are lost.
    fn purge(&mut self, index: u8, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(queues) = self.leaving.get_mut(usize::from(index)) else {
            return;
        };
        let lost: Vec<_> = queues
            .iter_mut()
            .flat_map(|queue| queue.drain(..))
            .collect();
        for (origin, cost) in lost {
            self.lose(index, origin, cost, ctx);
        }
    }

    /// A TLP that has come to a port that has no link any more.
    pub(super) fn lose(
        &mut self,
        index: u8,
        origin: Origin,
        cost: CreditCost,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        self.counters.dropped += 1;
        self.counters.first_dropped.get_or_insert(Dropped::LinkDown);
        self.gone(index, ctx);
        match origin {
            Origin::Port { port, .. } => self.free(port, cost, Ps::ZERO, ctx),
            Origin::Dma => self.drive(ctx, |dma, env| dma.sent(env)),
            Origin::Chip => {}
        }
    }

    /// A TLP for this port is not in the chip any more.
    pub(super) fn gone(&mut self, index: u8, ctx: &mut Context<'_, DeviceEvent>) {
        if self.ports.has_left(index) && index != NORTH {
            self.raise(Interrupts::DRAINED, ctx);
        }
    }
}
