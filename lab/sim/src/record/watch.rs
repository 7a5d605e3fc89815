//! Watching links of all kinds.

use crate::engine::{ComponentId, Ps};
use crate::models::Fabric;
use crate::models::ethernet;
use crate::models::ht::cable::Cable;
use crate::models::ht::link_port::LinkPortConfig;
use crate::models::ht::nic::Nic;
use crate::models::ht::southbridge::Southbridge;
use crate::models::ht::switch::Switch;
use crate::models::ht::{Link, Unit, packet_bytes};
use crate::models::link::{self, End};
use crate::models::pcie;

use super::{Direction, Encapsulation, RecordError, Recording, encode, frames, nop_bytes};

impl From<End> for Direction {
    fn from(from: End) -> Direction {
        match from {
            End::A => Direction::AToB,
            End::B => Direction::BToA,
        }
    }
}

impl Recording {
    /// Records from now on what crosses all links, cables and Ethernets of a simulation, without
    /// NOPs and DLLPs and without the links of southbridges. Also records its events, if they are
    /// wanted.
    ///
    /// # Errors
    /// [`RecordError`] if the event trace cannot begin.
    pub fn watch_all(&self, sim: &mut Fabric) -> Result<(), RecordError> {
        self.watch_events(sim)?;
        if !self.has_links() {
            return Ok(());
        }
        let ids: Vec<ComponentId> = sim.ids().collect();
        let boards = ids.iter().filter_map(|id| sim.component::<Nic>(*id));
        let windows = boards.into_iter().any(|board| board.config().is_window());
        for id in ids {
            if let Some(link) = sim.component::<Link>(id) {
                if !leads_to_southbridge(link, sim) {
                    self.watch(sim, id, false);
                }
            } else if sim.component::<pcie::Link>(id).is_some() {
                self.watch_pcie(sim, id);
            } else if sim.component::<Cable>(id).is_some() {
                self.watch_cable(sim, id, windows);
            } else if sim.component::<ethernet::Switch>(id).is_some() {
                self.watch_ethernet(sim, id);
            }
        }
        Ok(())
    }

    /// Records everything that crosses the HyperTransport link `link` from now on; NOPs only if
    /// asked, since there are as many as packets. `false` if it is no such link.
    pub fn watch(&self, sim: &mut Fabric, link: ComponentId, nops: bool) -> bool {
        let name = name(sim, link);
        let Some(model) = sim.component_mut::<Link>(link) else {
            return false;
        };
        let interface = self.add_interface(name, Encapsulation::HyperTransport);
        let recording = self.clone();
        model.set_tap(Box::new(move |tapped| {
            let (what, bytes) = match tapped.unit {
                Unit::Control { .. } if !nops => return,
                Unit::Control { control: nop, .. } => {
                    ("NOP".to_string(), nop_bytes(&nop.credits, nop.acknowledge))
                }
                Unit::Packet { packet, .. } => (encode::name(packet), packet_bytes(packet)),
            };
            let (times, direction) = ([tapped.begin, tapped.end], Direction::from(tapped.from));
            match bytes {
                Ok(bytes) => recording.push(times, (interface, direction), what, bytes),
                Err(_) => recording.skip(),
            }
        }));
        true
    }

    fn watch_pcie(&self, sim: &mut Fabric, link: ComponentId) {
        let name = name(sim, link);
        let Some(link) = sim.component_mut::<pcie::Link>(link) else {
            return;
        };
        let interface = self.add_interface(name, Encapsulation::PciExpress);
        let recording = self.clone();
        link.set_tap(Box::new(move |tapped| {
            let link::Unit::Packet { number, packet, .. } = tapped.unit else {
                return;
            };
            let (times, direction) = ([tapped.begin, tapped.end], Direction::from(tapped.from));
            let bytes = packet.on_the_link(*number).unwrap_or_default();
            recording.push(times, (interface, direction), packet.name(), bytes);
        }));
    }

    /// A cable between boards and switches.
    fn watch_cable(&self, sim: &mut Fabric, cable: ComponentId, windows: bool) {
        let name = name(sim, cable);
        let ends = sim.component::<Cable>(cable).map(Cable::ends);
        let ports = ends.unwrap_or_default().map(|end| port(sim, end?));
        let Some(cable) = sim.component_mut::<Cable>(cable) else {
            return;
        };
        let interface = self.add_interface(name, Encapsulation::HtxBoard);
        let recording = self.clone();
        cable.set_tap(Box::new(move |tapped| {
            let port = &ports[tapped.from as usize];
            let time = port.map_or(Ps::ZERO, |port| port.time(tapped.frame));
            let times = [tapped.end.saturating_sub(time), tapped.end];
            let direction = Direction::from(tapped.from);
            match frames::board(tapped.frame, windows) {
                Ok((what, bytes)) => recording.push(times, (interface, direction), what, bytes),
                Err(_) => recording.skip(),
            }
        }));
    }

    /// All cables of an Ethernet switch: an interface for each, whose end A is the host.
    fn watch_ethernet(&self, sim: &mut Fabric, switch: ComponentId) {
        let hub = name(sim, switch);
        let hosts = sim.component::<ethernet::Switch>(switch);
        let hosts = hosts.map(ethernet::Switch::hosts).unwrap_or_default();
        let interfaces = hosts.iter().map(|host| {
            let name = format!("{} - {hub}", name(sim, *host));
            self.add_interface(name, Encapsulation::Ethernet)
        });
        let interfaces: Vec<u32> = interfaces.collect();
        let Some(model) = sim.component_mut::<ethernet::Switch>(switch) else {
            return;
        };
        let recording = self.clone();
        model.set_tap(Box::new(move |tapped| {
            let Some(interface) = interfaces.get(usize::from(tapped.host)) else {
                return;
            };
            let direction = match tapped.from_host {
                true => Direction::AToB,
                false => Direction::BToA,
            };
            let (what, bytes) = (
                frames::ethernet_name(tapped.frame),
                frames::ethernet(tapped.frame),
            );
            recording.push(
                [tapped.begin, tapped.end],
                (*interface, direction),
                what,
                bytes,
            );
        }));
    }
}

fn name(sim: &Fabric, id: ComponentId) -> String {
    sim.name(id).unwrap_or_default().to_owned()
}

fn leads_to_southbridge(link: &Link, sim: &Fabric) -> bool {
    let devices = [End::A, End::B].map(|end| link.device(end));
    let mut devices = devices.into_iter().flatten();
    devices.any(|device| sim.component::<Southbridge>(device).is_some())
}

/// The port of a board or a switch.
fn port(sim: &Fabric, (device, port): (ComponentId, u8)) -> Option<LinkPortConfig> {
    let of_board = sim.component::<Nic>(device);
    let of_board = of_board.and_then(|board| board.link_port(port));
    let of_switch = sim.component::<Switch>(device);
    let of_switch = of_switch.and_then(|switch| switch.port(port));
    of_board.or(of_switch).map(|port| *port.config())
}
