//! A whole cluster: sockets, southbridges and links, put together from a plan.
//!
//! The machine is hardware before any firmware has run. Registers hold reset
//! values, links are down. [`reset`](Machine::reset) trains the links by what
//! the registers at both ends say; [`crate::firmware`] does the rest.

mod adapters;
mod below;
mod build;
mod error;
pub mod htx;
mod training;

pub use below::{Below, ChipDoor};
pub use error::BuildError;
pub use training::{Reset, TrainingFailure};

use hostwire_plan::{LinkRole, Plan, ProcessorId};

use crate::engine::{ComponentId, Ps};
use crate::models::DeviceEvent;
use crate::models::Fabric;
use crate::models::ht::Link;
use crate::models::ht::cable::Wiring;
use crate::models::ht::opteron::{Opteron, OpteronEvent, Program};
use crate::models::ht::southbridge::Southbridge;

use htx::BoardNetwork;

/// A processor of the cluster.
#[derive(Clone, Debug)]
pub struct Socket {
    /// Its place in the plan.
    pub id: ProcessorId,
    /// Its name in reports.
    pub name: String,
    /// The component.
    pub component: ComponentId,
    /// Its system: sockets that are reset and configured together.
    pub system: usize,
    /// It has the southbridge and boots the others.
    pub bootstrap: bool,
}

/// One end of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireEnd {
    /// Link `link` of socket `socket`.
    Socket {
        /// Index in [`Machine::sockets`].
        socket: usize,
        /// Link of that socket.
        link: u8,
    },
    /// A southbridge.
    Southbridge {
        /// The component.
        component: ComponentId,
    },
    /// An adapter of any kind.
    Adapter {
        /// The component.
        component: ComponentId,
    },
}

/// A link with what is at its ends.
#[derive(Clone, Debug)]
pub struct Wire {
    /// The component.
    pub link: ComponentId,
    /// End A and end B.
    pub ends: [WireEnd; 2],
    /// Its use in the plan. Hardware does not know this.
    pub role: LinkRole,
    /// Highest clock that the medium carries.
    pub mhz_max: u32,
}

/// The cluster.
pub struct Machine {
    /// The simulation that everything lives in.
    pub sim: Fabric,
    plan: Plan,
    sockets: Vec<Socket>,
    wires: Vec<Wire>,
    systems: usize,
    adapters: Vec<ComponentId>,
    boards: BoardNetwork,
    chips: Vec<ComponentId>,
    pcie: Vec<PcieWire>,
    wiring: Wiring,
    dma_from_bytes: u64,
}

/// A PCI Express link: of a bridge, or between chips.
#[derive(Clone, Debug)]
pub struct PcieWire {
    /// The component.
    pub link: ComponentId,
    /// The names of its ends.
    pub ends: [String; 2],
}

impl Machine {
    /// The plan that the machine was built from.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// All sockets, by node and processor.
    pub fn sockets(&self) -> &[Socket] {
        &self.sockets
    }

    /// All links.
    pub fn wires(&self) -> &[Wire] {
        &self.wires
    }

    /// Number of systems.
    pub fn systems(&self) -> usize {
        self.systems
    }

    /// A socket's component.
    ///
    /// # Panics
    /// If there is no such socket.
    pub fn socket(&self, socket: usize) -> &Opteron {
        self.sim
            .component(self.sockets[socket].component)
            .expect("sockets are Opterons")
    }

    /// A socket's component, to change it between events.
    ///
    /// # Panics
    /// If there is no such socket.
    pub fn socket_mut(&mut self, socket: usize) -> &mut Opteron {
        self.sim
            .component_mut(self.sockets[socket].component)
            .expect("sockets are Opterons")
    }

    /// Index of a processor of the plan.
    pub fn find(&self, id: ProcessorId) -> Option<usize> {
        self.sockets.iter().position(|socket| socket.id == id)
    }

    /// The link component of a wire.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn link(&self, wire: usize) -> &Link {
        self.sim
            .component(self.wires[wire].link)
            .expect("wires are links")
    }

    /// The link component of a wire, to set it up between events.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn link_mut(&mut self, wire: usize) -> &mut Link {
        self.sim
            .component_mut(self.wires[wire].link)
            .expect("wires are links")
    }

    /// Replaces the medium of a wire by one that carries at most `mhz_max`. The planner knows
    /// media by their kind; a bad one shows at the next reset.
    ///
    /// # Panics
    /// If there is no such wire.
    pub fn limit_medium(&mut self, wire: usize, mhz_max: u32) {
        self.wires[wire].mhz_max = mhz_max;
    }

    /// The southbridge behind a wire end.
    pub fn southbridge_mut(&mut self, component: ComponentId) -> Option<&mut Southbridge> {
        self.sim.component_mut(component)
    }

    /// The wire of a socket's link, and its far end.
    pub fn across(&self, socket: usize, link: u8) -> Option<(usize, WireEnd)> {
        let here = WireEnd::Socket { socket, link };
        self.wires
            .iter()
            .enumerate()
            .find_map(|(index, wire)| match wire.ends {
                [a, b] if a == here => Some((index, b)),
                [a, b] if b == here => Some((index, a)),
                _ => None,
            })
    }

    /// Loads a program on the next free core of a socket and starts it now.
    /// `None` if no core is free.
    pub fn start(&mut self, socket: usize, program: impl Program + 'static) -> Option<u8> {
        let core = self.socket_mut(socket).load(program)?;
        let (now, component) = (self.sim.now(), self.sockets[socket].component);
        let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
        self.sim.inject(now, component, event).ok()?;
        Some(core)
    }

    /// The adapters, as in the plan: HTEA adapters, HTX boards, bridges.
    pub fn adapters(&self) -> &[ComponentId] {
        &self.adapters
    }

    /// The HTX boards and their switches.
    pub fn boards(&self) -> &BoardNetwork {
        &self.boards
    }

    /// The PEACH2 chips, as in the plan.
    pub fn chips(&self) -> &[ComponentId] {
        &self.chips
    }

    /// Puts of programs over the chip of their socket go by its controller from so many bytes on.
    pub fn dma_from_bytes(&self) -> u64 {
        self.dma_from_bytes
    }

    /// The PCI Express links.
    pub fn pcie(&self) -> &[PcieWire] {
        &self.pcie
    }

    /// Lets time pass.
    pub fn pass(&mut self, time: Ps) {
        self.sim.run_until(self.sim.now() + time);
    }
}
