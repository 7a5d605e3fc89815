//! What the driver asks of the management processors: links, roles of ports south, one ring or two.
//!
//! Commands go through the registers of a node's own chip, by stores and loads of its host.

use hostwire_plan::registers::peach2::NORTH;

use crate::engine::{ComponentId, Ps};
use crate::models::link::LinkEvent;
use crate::models::pcie::Role;
use crate::models::pcie::peach2::chip::{
    COMMAND, Chip, ChipEvent, ManagementCommand as Command, PORT_STATUS, PORT_STRIDE, PORTS_AT,
    PortView, Reply, SHADOW, STATUS_CABLE, firmware,
};
use crate::models::{DeviceEvent, Fabric};

use super::build::{SOUTH, Start};
use super::cluster::SubCluster;
use super::device_address::Device;
use super::error::TcaError;

/// The driver gives up so long after the time that the slowest command needs.
const PATIENCE: Ps = Ps::from_us(1_000_000);
/// Mailbox and reply: command, port, reply.
const MAILBOX_BYTES: usize = 24;
const EAST: u8 = 0;
const WEST: u8 = 1;

impl SubCluster<'_> {
    /// The reset of the management processors ends: they switch their ports on, in the order east,
    /// west, south. Returns when the last link is up, or at once if all are. Ports south of a
    /// cluster that starts [`Start::Separate`] stay off.
    ///
    /// # Errors
    /// [`TcaError::LinkDown`] if links stay down; as [`wait`](Self::wait).
    pub fn power_up(&mut self) -> Result<Ps, TcaError> {
        let rings_only = self.config().start == Start::Separate;
        if !self.is_managed {
            self.is_managed = true;
            let limit = self.config().chip.training_limit;
            for index in 0..self.nodes() {
                let node = self.node(index as u16)?;
                let (chip, role) = (node.chip, node.south.0);
                let mut ports = vec![(EAST, Role::Endpoint), (WEST, Role::RootComplex)];
                if !rings_only {
                    ports.push((SOUTH, role));
                }
                if let Some(chip) = self.sim_mut().component_mut::<Chip>(chip) {
                    chip.load_program(firmware(&ports, limit));
                }
                self.inject(chip, DeviceEvent::Chip(ChipEvent::Boot));
            }
        }
        let chips = self.chips()?;
        let down = move |sim: &Fabric| {
            chips.iter().enumerate().find_map(|(node, chip)| {
                let chip = sim.component::<Chip>(*chip)?;
                let missing = |port: &u8| {
                    let view = chip.port(*port);
                    let is_wanted = !(rings_only && *port == SOUTH);
                    is_wanted && view.link.is_plugged && !view.link.is_up
                };
                let port = (0..NORTH).find(missing)?;
                Some((node as u16, port))
            })
        };
        if down(self.sim()).is_some() {
            self.steps(&mut |sim| down(sim).is_none())?;
        }
        match down(self.sim()) {
            None => Ok(self.now()),
            Some((node, port)) => Err(self.link_down(node, port)),
        }
    }

    /// Two rings become one network: ports south get the roles of the plan, their links train, and
    /// the chips route to the other ring. Other traffic goes on. Returns when the drivers know.
    ///
    /// # Errors
    /// [`TcaError::NoSouth`] if no cable joins two ports south; as
    /// [`open_south`](Self::open_south).
    pub fn couple(&mut self) -> Result<Ps, TcaError> {
        let nodes = self.south_nodes()?;
        for role in [Role::Endpoint, Role::RootComplex] {
            let planned = |node: &u16| self.node(*node).is_ok_and(|node| node.south.0 == role);
            let nodes: Vec<u16> = nodes.iter().copied().filter(planned).collect();
            self.set_roles(&nodes, role)?;
        }
        self.open_south()
    }

    /// One network becomes two rings. First all chips stop to route to port south and let what they
    /// hold for it leave; then the ports go off, when all that was on the cables has arrived.
    /// Programs' traffic to the other ring from then on is dropped and counted; a DMA to there ends
    /// with `NoRoute`.
    ///
    /// # Errors
    /// [`TcaError::NoSouth`], [`TcaError::Management`]; as [`wait`](Self::wait).
    pub fn separate(&mut self) -> Result<Ps, TcaError> {
        let nodes = self.south_nodes()?;
        self.commands(&nodes, Command::Detach)?;
        self.commands(&nodes, Command::Close)?;
        Ok(self.now())
    }

    /// Makes port south of a node a root complex or an endpoint, by partial reconfiguration. A
    /// port that is on goes off first, as in [`separate`](Self::separate). Nothing happens if it
    /// has this role.
    ///
    /// # Errors
    /// [`TcaError::Management`]; as [`wait`](Self::wait).
    pub fn set_south_role(&mut self, node: u16, role: Role) -> Result<Ps, TcaError> {
        self.set_roles(&[node], role)
    }

    /// The same for several nodes at once.
    fn set_roles(&mut self, nodes: &[u16], role: Role) -> Result<Ps, TcaError> {
        let (mut others, mut on) = (Vec::new(), Vec::new());
        for node in nodes {
            let view = self.port(*node, SOUTH)?;
            if view.role != role {
                others.push(*node);
                on.extend(view.is_on.then_some(*node));
            }
        }
        self.commands(&on, Command::Detach)?;
        self.commands(&on, Command::Close)?;
        let command = match role {
            Role::Endpoint => Command::BecomeEndpoint,
            Role::RootComplex => Command::BecomeRootComplex,
        };
        self.commands(&others, command)?;
        Ok(self.now())
    }

    /// Switches all ports south on and routes to the other ring, with the roles that the ports
    /// have.
    ///
    /// # Errors
    /// [`TcaError::SameRoles`], [`TcaError::NoCable`], [`TcaError::LinkDown`] for the first link
    /// that does not come up, [`TcaError::NoSouth`], [`TcaError::Management`]; as
    /// [`wait`](Self::wait).
    pub fn open_south(&mut self) -> Result<Ps, TcaError> {
        let nodes = self.south_nodes()?;
        let replies = self.commands(&nodes, Command::Open)?;
        let mut ended = nodes.iter().zip(replies);
        let failed = ended.find(|(_, reply)| *reply != Reply::Done);
        match failed {
            None => Ok(self.now()),
            Some((node, _)) => Err(self.link_down(*node, SOUTH)),
        }
    }

    /// The node at the other end of the cable in port south of `node`.
    pub fn south_peer(&self, node: u16) -> Option<u16> {
        let cable = self
            .south
            .iter()
            .find(|cable| cable.nodes.contains(&node))?;
        cable.nodes.into_iter().find(|end| *end != node)
    }

    /// Whether two nodes reach each other without ports south.
    pub fn in_one_ring(&self, a: u16, b: u16) -> bool {
        let Ok(target) = self.node(b) else {
            return false;
        };
        let south = self.node(a).map(|node| node.south.1);
        south.is_ok_and(|[mask, lower, upper]| !(lower..=upper).contains(&(target.base & mask)))
    }

    /// How a port of a node's chip is, outside of simulated time: 0 to 3 are east, west, south,
    /// north.
    ///
    /// # Errors
    /// [`TcaError::NoNode`].
    pub fn port(&self, node: u16, port: u8) -> Result<PortView, TcaError> {
        let chip = self.node(node)?.chip;
        let view = self
            .sim()
            .component::<Chip>(chip)
            .map(|chip| chip.port(port));
        view.ok_or(TcaError::NoNode {
            node,
            nodes: self.nodes(),
        })
    }

    /// A register of a node's own chip, as a program on its host loads it: it takes the time of
    /// the load. Offsets are those of the internal block.
    ///
    /// # Errors
    /// [`TcaError::NoNode`], [`TcaError::Refused`]; as [`wait`](Self::wait).
    pub fn register(&mut self, node: u16, offset: u64) -> Result<u64, TcaError> {
        let bytes = self.registers(node, offset, 8)?;
        Ok(word(&bytes, 0))
    }

    /// Pulls or plugs in the cable between two ports south that begins at `node`. A pulled cable
    /// loses what is on it.
    ///
    /// # Errors
    /// [`TcaError::NoSouth`] if the node has no such cable.
    pub fn plug_south(&mut self, node: u16, plugged: bool) -> Result<(), TcaError> {
        let cable = self.south.iter().find(|cable| cable.nodes.contains(&node));
        let link = cable.ok_or(TcaError::NoSouth)?.link;
        self.inject(link, DeviceEvent::Pcie(LinkEvent::Cable { plugged }));
        Ok(())
    }

    fn chips(&self) -> Result<Vec<ComponentId>, TcaError> {
        let nodes = 0..self.nodes() as u16;
        nodes.map(|node| Ok(self.node(node)?.chip)).collect()
    }

    /// The nodes whose ports south have cables, and running management processors.
    fn south_nodes(&mut self) -> Result<Vec<u16>, TcaError> {
        let cables = self.south.iter();
        let mut nodes: Vec<u16> = cables.flat_map(|cable| cable.nodes).collect();
        nodes.sort_unstable();
        if nodes.is_empty() {
            return Err(TcaError::NoSouth);
        }
        self.power_up_once()?;
        Ok(nodes)
    }

    /// Gives the same command for port south to several nodes at once, and waits for all.
    fn commands(&mut self, nodes: &[u16], command: Command) -> Result<Vec<Reply>, TcaError> {
        self.power_up_once()?;
        for node in nodes {
            let own = self.node(*node)?;
            let (host, port, routing) = (own.host, own.port, own.south.1);
            let block = own.base + Device::Internal.block() as u64 * own.block_bytes;
            if command == Command::Open {
                self.issue(host, port, block + SHADOW, &words(&routing));
            }
            let asked = [command as u64, u64::from(SOUTH)];
            self.issue(host, port, block + COMMAND, &words(&asked));
        }
        nodes
            .iter()
            .map(|node| self.reply(*node, command))
            .collect()
    }

    fn power_up_once(&mut self) -> Result<(), TcaError> {
        if self.is_managed {
            return Ok(());
        }
        self.power_up().map(drop)
    }

    fn reply(&mut self, node: u16, command: Command) -> Result<Reply, TcaError> {
        let config = self.config();
        let (link, chip) = (&config.link, &config.chip);
        let slowest = link.training + chip.reconfiguration + chip.training_limit;
        let until = self.now() + slowest + PATIENCE;
        while self.now() < until {
            let mailbox = self.registers(node, COMMAND, MAILBOX_BYTES)?;
            let reply = Reply::from_register(word(&mailbox, 2));
            if let (0, Some(reply)) = (word(&mailbox, 0), reply) {
                return Ok(reply);
            }
            let next = self.now() + self.config().driver_poll;
            self.sim_mut().run_until(next);
            self.look()?;
        }
        Err(TcaError::Management { node, command })
    }

    fn registers(&mut self, node: u16, offset: u64, len: usize) -> Result<Vec<u8>, TcaError> {
        let own = self.node(node)?;
        let (host, port) = (own.host, own.port);
        let block = own.base + Device::Internal.block() as u64 * own.block_bytes;
        let bytes = self.read(host, port, node, block + offset, len)?;
        bytes.ok_or(TcaError::Refused {
            target: super::DeviceAddress::new(node, Device::Internal, offset),
        })
    }

    /// Why a link is down, by what the registers of the chips at its ends say.
    fn link_down(&mut self, node: u16, port: u8) -> TcaError {
        let name = |cluster: &Self, node| {
            format!(
                "{}.{}",
                cluster.name(node),
                PORT_NAMES[usize::from(port % 4)]
            )
        };
        let here = name(self, node);
        let status = self.register(node, PORTS_AT + PORT_STRIDE * u64::from(port) + PORT_STATUS);
        if status.is_ok_and(|status| status & STATUS_CABLE == 0) {
            return TcaError::NoCable { port: here };
        }
        let cable = self.south.iter().find(|cable| cable.nodes.contains(&node));
        let ends = cable.filter(|_| port == SOUTH).map(|cable| cable.nodes);
        if let Some([a, b]) = ends
            && let (Ok(first), Ok(second)) = (self.port(a, port), self.port(b, port))
            && first.role == second.role
        {
            let ports = [name(self, a), name(self, b)];
            let role = first.role;
            return TcaError::SameRoles { ports, role };
        }
        TcaError::LinkDown { port: here }
    }
}

const PORT_NAMES: [&str; 4] = ["east", "west", "south", "north"];

fn words(values: &[u64]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

fn word(bytes: &[u8], index: usize) -> u64 {
    let place = bytes.get(index * 8..).and_then(|bytes| bytes.first_chunk());
    place.map_or(0, |word| u64::from_le_bytes(*word))
}
