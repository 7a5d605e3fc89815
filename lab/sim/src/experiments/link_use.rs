//! Use of the links of a simulation, of whatever family.

use serde::{Deserialize, Deserializer, Serialize, de};

use crate::engine::{ComponentId, Ps};
use crate::machine::htx::rtl::counters_rtl;
use crate::models::Fabric;
use crate::models::ethernet::{self, Host};
use crate::models::flit::Flit;
use crate::models::ht;
use crate::models::ht::cable::Cable;
use crate::models::ht::link_port::LinkPortCounters;
use crate::models::ht::nic::Nic;
use crate::models::ht::switch::Switch;
use crate::models::htea::adapter::Adapter;
use crate::models::link::{End, Family, Link};
use crate::models::pcie;

/// Use of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkUse {
    /// The link, by its two ends.
    pub link: String,
    /// Which end transmits: "A" is the one named first.
    pub from: &'static str,
    /// Bytes of data.
    pub payload_bytes: u64,
    /// Share of the time in which the transmitter was occupied, 0 to 1.
    pub utilisation: f64,
}

/// As it is in a file.
#[derive(Deserialize)]
struct WrittenLinkUse {
    link: String,
    from: String,
    payload_bytes: u64,
    utilisation: f64,
}

impl<'de> Deserialize<'de> for LinkUse {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<LinkUse, D::Error> {
        let written = WrittenLinkUse::deserialize(input)?;
        let from = match written.from.as_str() {
            "A" => "A",
            "B" => "B",
            other => return Err(de::Error::unknown_variant(other, &["A", "B"])),
        };
        Ok(LinkUse {
            link: written.link,
            from,
            payload_bytes: written.payload_bytes,
            utilisation: written.utilisation,
        })
    }
}

/// The use of all links from a moment on: HyperTransport, PCI Express, links of today, cables of HTX
/// boards, Ethernet.
pub(super) struct LinkWatch(Vec<Crossed>);

/// What has crossed a link so far, by direction: from end A, from end B.
struct Crossed {
    link: String,
    directions: [Direction; 2],
}

#[derive(Clone, Copy, Default)]
struct Direction {
    payload_bytes: u64,
    busy: Ps,
}

impl LinkWatch {
    /// From now on. What is watched has all its links.
    pub(super) fn new(sim: &Fabric) -> LinkWatch {
        LinkWatch(crossed(sim))
    }

    /// Every direction of every link, over `time`.
    pub(super) fn used(&self, sim: &Fabric, time: Ps) -> Vec<LinkUse> {
        let time_s = time.as_s().max(f64::MIN_POSITIVE);
        let links = self.0.iter().zip(crossed(sim));
        let links = links.flat_map(|(before, now)| {
            let directions = before.directions.into_iter().zip(now.directions);
            ["A", "B"]
                .into_iter()
                .zip(directions)
                .map(move |(from, (before, after))| LinkUse {
                    link: now.link.clone(),
                    from,
                    payload_bytes: after.payload_bytes.saturating_sub(before.payload_bytes),
                    utilisation: (after.busy - before.busy).as_s() / time_s,
                })
        });
        links.collect()
    }

    /// As [`used`](Self::used), without the directions that carried no data.
    pub(super) fn used_at_all(&self, sim: &Fabric, time: Ps) -> Vec<LinkUse> {
        let mut links = self.used(sim, time);
        links.retain(|link| link.payload_bytes > 0);
        links
    }
}

/// The use of the same links in several runs, one behind the other.
#[derive(Default)]
pub(super) struct LinkSum {
    links: Vec<LinkUse>,
    time: Ps,
}

impl LinkSum {
    /// Adds a run that took `time`.
    pub(super) fn add(&mut self, run: Vec<LinkUse>, time: Ps) {
        let all = self.time + time;
        let share = time.as_s() / all.as_s().max(f64::MIN_POSITIVE);
        if self.links.is_empty() {
            self.links = run;
        } else {
            for (sum, link) in self.links.iter_mut().zip(run) {
                sum.payload_bytes += link.payload_bytes;
                sum.utilisation += (link.utilisation - sum.utilisation) * share;
            }
        }
        self.time = all;
    }

    /// Bytes of all runs together, and the mean use over their time.
    pub(super) fn links(self) -> Vec<LinkUse> {
        self.links
    }
}

fn crossed(sim: &Fabric) -> Vec<Crossed> {
    sim.ids().flat_map(|id| crossed_by(sim, id)).collect()
}

fn crossed_by(sim: &Fabric, id: ComponentId) -> Vec<Crossed> {
    let one = |directions| {
        let name = name(sim, id);
        // The link of a host to its board has the name of a slot.
        let link = match name.strip_suffix(".htx") {
            Some(host) => format!("{host} - its board"),
            None => name.to_owned(),
        };
        vec![Crossed { link, directions }]
    };
    if let Some(link) = sim.component::<ht::Link>(id) {
        one(of_link(link))
    } else if let Some(directions) = of_board_as_rtl(sim, id) {
        one(directions)
    } else if let Some(link) = sim.component::<pcie::Link>(id) {
        one(of_link(link))
    } else if let Some(link) = sim.component::<Link<Flit>>(id) {
        one(of_link(link))
    } else if let Some(cable) = sim.component::<Cable>(id) {
        one(of_cable(sim, cable))
    } else if let Some(switch) = sim.component::<ethernet::Switch>(id) {
        of_ethernet(sim, switch, name(sim, id))
    } else {
        Vec::new()
    }
}

fn name(sim: &Fabric, id: ComponentId) -> &str {
    sim.name(id).unwrap_or_default()
}

fn of_link<F: Family>(link: &Link<F>) -> [Direction; 2] {
    [End::A, End::B].map(|end| {
        let counters = link.counters(end);
        Direction {
            payload_bytes: counters.payload_bytes,
            busy: counters.busy,
        }
    })
}

/// The link of a host to a board that is RTL.
fn of_board_as_rtl(sim: &Fabric, id: ComponentId) -> Option<[Direction; 2]> {
    let of = |end| {
        let counters = counters_rtl(sim, id, end)?;
        Some(Direction {
            payload_bytes: counters.payload_bytes,
            busy: counters.busy,
        })
    };
    Some([of(End::A)?, of(End::B)?])
}

/// A cable between boards and switches: what its ports have sent and got.
fn of_cable(sim: &Fabric, cable: &Cable) -> [Direction; 2] {
    let ports = cable.ends().map(|end| {
        let counters = end.and_then(|(device, port)| port_counters(sim, device, port));
        counters.unwrap_or_default()
    });
    let [a, b] = ports;
    let [first, second] = cable.ends();
    let mut from_second = (b, a);
    if first.is_some() && first == second {
        // A port that is looped back sends to the first end only.
        from_second = Default::default();
    }
    [(a, b), from_second].map(|(out, into)| Direction {
        payload_bytes: into.delivered_bytes,
        busy: out.busy,
    })
}

fn port_counters(sim: &Fabric, device: ComponentId, port: u8) -> Option<LinkPortCounters> {
    let of_board = sim.component::<Nic>(device);
    let of_board = of_board.and_then(|board| board.link_port(port));
    let of_switch = sim.component::<Switch>(device);
    let of_switch = of_switch.and_then(|switch| switch.port(port));
    Some(of_board.or(of_switch)?.counters)
}

/// The cables of an Ethernet switch; end A is the host.
fn of_ethernet(sim: &Fabric, switch: &ethernet::Switch, hub: &str) -> Vec<Crossed> {
    let hosts = switch.hosts().iter().enumerate();
    let cables = hosts.map(|(number, host)| {
        let of_adapter = sim.component::<Adapter>(*host);
        let of_adapter = of_adapter.map(|adapter| adapter.counters().data_bytes);
        let of_host = sim.component::<Host>(*host).map(Host::data_bytes);
        let data_bytes = of_adapter.or(of_host).unwrap_or_default();
        let [up, down] = switch.busy(number);
        let directions = [(data_bytes[0], up), (data_bytes[1], down)];
        Crossed {
            link: format!("{} - {hub}", name(sim, *host)),
            directions: directions.map(|(payload_bytes, busy)| Direction {
                payload_bytes,
                busy,
            }),
        }
    });
    cables.collect()
}
