//! Clusters of HTX boards: hosts, switches and cables between link ports.
//!
//! An HTX board carries messages, so that such a cluster has no common address map: a message names
//! its destination, and each device has a table from destinations to link ports. A host can use
//! regions of other hosts' memory, at addresses of its own.

mod build;
mod device;
mod hardware;
mod net;
mod read;
mod region;
mod report;
mod route;

pub(crate) use build::build;
pub(crate) use net::Lendable;
pub(crate) use read::{Board, CableSpec, HostSpec, Spec, SwitchSpec};
pub(crate) use read::{read_board, read_cable, read_switch};
pub(crate) use region::{RegionSpec, read as read_region};
pub(crate) use route::{Routed, choose_parts, route_cables};

use serde::Serialize;

pub use device::BoardKind;
pub use region::REGION_BASE;

use crate::diagnostic::{Diagnostic, Findings};
use crate::file::{Length, Section};

/// Hosts a cluster of HTX boards can have.
pub const HOSTS_MAX: usize = 1024;
/// Bytes of a slot of a board's ring: a line of payload and a line of status.
pub const SLOT_BYTES: u64 = 128;
/// Where the ring lies in the memory of a host.
pub const RING_BASE: u64 = 1 << 20;
/// Slots that each sender needs in the ring of a host, for flow control by software.
pub const SENDER_SLOTS_MIN: u64 = 8;

/// What a link port puts its bits on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PortKind {
    /// The parallel LVDS connector: a word per clock of the user logic.
    Atoll,
    /// A serial transceiver of 4 Gbit/s.
    Sfp,
}

impl PortKind {
    /// Link ports of this kind that a board has.
    ///
    /// Source: HTX board paper, section 3: six SFPs, or three and a dual ATOLL connector.
    pub const fn ports_max(self) -> u8 {
        match self {
            PortKind::Atoll => 2,
            PortKind::Sfp => 6,
        }
    }

    /// Its name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            PortKind::Atoll => "atoll",
            PortKind::Sfp => "sfp",
        }
    }
}

/// A host with its board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    /// Its name in the file.
    pub name: String,
    /// Memory of the host.
    pub memory_bytes: u64,
    /// Cores of its processor.
    pub cores: u8,
    /// Width of the HyperTransport link to the board.
    pub link_width_bits: u8,
    /// Its clock.
    pub link_mhz: u32,
    /// Clock of the user logic of the board.
    pub user_mhz: u32,
    /// What the board is.
    #[serde(skip_serializing_if = "BoardKind::is_model")]
    pub device: BoardKind,
    /// Its link ports.
    pub port: PortKind,
    /// How many there are.
    pub ports: u8,
    /// Slots of the ring in which messages arrive.
    pub ring_slots: u64,
    /// Link port by destination host. That of the host itself says nothing.
    pub routes: Vec<u8>,
}

/// A switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Switch {
    /// Its name in the file.
    pub name: String,
    /// Its link ports.
    pub port: PortKind,
    /// How many there are.
    pub ports: u8,
    /// Clock of its crossbar, and of its ATOLL ports.
    pub clock_mhz: u32,
    /// Link port by destination host.
    pub routes: Vec<u8>,
}

/// A device with link ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Device {
    /// The board of the host with this number.
    Host(usize),
    /// The switch with this number.
    Switch(usize),
}

/// A link port of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LinkPort {
    /// The device.
    pub device: Device,
    /// Its port.
    pub port: u8,
}

/// A cable between two link ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cable {
    /// Its ends.
    pub ends: [LinkPort; 2],
    /// Its length, if given.
    #[serde(rename = "length_um")]
    pub length: Option<Length>,
}

/// A part of a host's memory that another host uses by plain loads and stores. Below sockets a board stands
/// for the processor that it is plugged into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The host whose memory it is.
    pub of: usize,
    /// The host that uses it.
    pub at: usize,
    /// Its size.
    pub bytes: u64,
    /// Its first address at the host that uses it.
    pub address: u64,
    /// Where it lies in the memory of its owner.
    pub offset: u64,
}

/// How routes were chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scheme {
    /// Shortest paths.
    Minimal,
    /// Along a spanning tree.
    Tree,
    /// As the file says.
    File,
}

/// A planned and checked cluster of HTX boards.
///
/// Every message from a host to another follows the tables of [`Host::routes`] and
/// [`Switch::routes`], always the same way, so that messages of a host to another stay in order.
#[derive(Clone, Debug, PartialEq)]
pub struct HtxPlan {
    pub(crate) hosts: Vec<Host>,
    pub(crate) switches: Vec<Switch>,
    pub(crate) cables: Vec<Cable>,
    pub(crate) regions: Vec<Region>,
    pub(crate) scheme: Scheme,
    pub(crate) warnings: Vec<Diagnostic>,
}

impl HtxPlan {
    /// The hosts, in the order of the file. A message names a host by its number here.
    pub fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// The switches.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// The cables.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// The regions, in the order of the file; those of one host lie one behind the other.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// How routes were chosen.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Findings that did not stop the plan.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// The link ports by which a message leaves devices on its way, that of the sender first.
    /// Empty where the two are one host or do not exist.
    pub fn route(&self, from: usize, to: usize) -> Vec<LinkPort> {
        let mut hops = Vec::new();
        let mut at = Device::Host(from);
        while from.max(to) < self.hosts.len() && at != Device::Host(to) {
            let table = match at {
                Device::Host(host) => self.hosts.get(host).map(|host| &host.routes),
                Device::Switch(switch) => self.switches.get(switch).map(|at| &at.routes),
            };
            let port = table.and_then(|routes| routes.get(to)).copied();
            let here = port.map(|port| LinkPort { device: at, port });
            let next = here.and_then(|here| self.across(here));
            let (Some(here), Some(next)) = (here, next) else {
                return Vec::new();
            };
            hops.push(here);
            if hops.len() > self.hosts.len() + self.switches.len() {
                return Vec::new();
            }
            at = next.device;
        }
        hops
    }

    /// The other end of the cable in a port.
    pub fn across(&self, port: LinkPort) -> Option<LinkPort> {
        self.cables.iter().find_map(|cable| match cable.ends {
            [a, b] if a == port => Some(b),
            [a, b] if b == port => Some(a),
            _ => None,
        })
    }

    /// A port with the name of its device.
    pub fn port_name(&self, port: LinkPort) -> String {
        let name = match port.device {
            Device::Host(host) => self.hosts.get(host).map(|host| &host.name),
            Device::Switch(switch) => self.switches.get(switch).map(|switch| &switch.name),
        };
        format!("{}.p{}", name.map_or("?", String::as_str), port.port)
    }

    /// The plan as text.
    pub fn text(&self) -> String {
        report::text(self)
    }

    /// The plan as JSON, indented.
    ///
    /// # Errors
    /// None in practice: all values have a JSON form.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        report::json(self)
    }

    /// The topology as a Graphviz graph.
    pub fn dot(&self) -> String {
        report::dot(self)
    }
}

/// Plans the cluster that a file describes.
pub(crate) fn plan(file: Section<'_>, out: &mut Findings) -> Option<HtxPlan> {
    let (spec, is_read) = out.step(|out| read::read(file, out));
    if !is_read {
        return None;
    }
    let (net, is_built) = out.step(|out| {
        let net = build::build(&spec, out)?;
        build::check_rings(&spec.hosts, out);
        hardware::check(&spec, &net, out);
        Some(net)
    });
    let net = net.filter(|_| is_built)?;
    let plan = route::choose(net, out);
    (!out.has_errors()).then_some(plan).flatten()
}
