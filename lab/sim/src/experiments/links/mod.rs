//! Puts between hosts over links of today and one switch.
//!
//! The question: how much of the link is left for puts, and how long does the slowest of a hundred
//! take, when frames are lost or many send to one; with credits, pauses or neither, and with
//! repetition on the link or from end to end.

mod flow;
mod host;
mod preset;

use std::cell::RefCell;
use std::rc::Rc;

use serde::Serialize;

use crate::engine::{ComponentId, Ps, Summary};
use crate::models::flit::{FlitConfig, FlitEvent, Flow, Link, Retry, Switch, SwitchCounters};
use crate::models::link::{Damage, End};
use crate::models::{DeviceEvent, Fabric};
use crate::record::Recording;

use super::link_use::LinkUse;
use super::load::{Board, Latencies, Load, Pacing};
use super::{ExperimentError, Monitor};

pub use flow::EndToEnd;
use host::{Host, Setup};
pub use preset::{FlowChoice, Preset, RetryChoice};

/// A network and its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Network {
    /// What joins hosts and switch.
    #[serde(rename = "link")]
    pub preset: Preset,
    /// Rate of each direction; usually that of the preset.
    pub bytes_per_s: u64,
    /// Flow control.
    pub flow: FlowChoice,
    /// Who repeats.
    pub retry: RetryChoice,
    /// Hosts, 2 to 64.
    pub hosts: u16,
    /// The puts.
    #[serde(flatten)]
    pub load: Load,
    /// The host that incast and hot spot send to.
    pub to: u64,
    /// Everything else; its parameters are written elsewhere.
    #[serde(skip)]
    pub terms: NetworkTerms,
}

/// The figures of a network that its kind of link does not decide. Sources are in
/// `docs/sim/links-of-today.md`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkTerms {
    /// From a host's pins to the switch's.
    pub cable: Ps,
    /// From the end of a flit or frame at an input to its place at an output.
    pub switch: Ps,
    /// Buffers of a port: credits and pauses keep them from running over.
    pub buffer_bytes: u32,
    /// Repetition on a link.
    pub link_retry: Retry,
    /// Time that credits and acknowledgements of a link wait.
    pub control_wait: Ps,
    /// Repetition from end to end, without the length of its acknowledgements.
    pub end_to_end: EndToEnd,
    /// Flits or frames that are damaged, in a thousand million.
    pub lost_per_billion: u32,
    /// Start of what is random about them.
    pub damage_seed: u64,
}

impl Default for NetworkTerms {
    fn default() -> Self {
        NetworkTerms {
            cable: Ps::from_ns(10),
            switch: Ps::from_ns(250),
            buffer_bytes: 64 << 10,
            link_retry: Retry {
                places: 256,
                timeout: Ps::from_us(5),
            },
            control_wait: Ps::from_ns(50),
            end_to_end: EndToEnd {
                window: 256,
                ack_pieces: 16,
                ack_wait: Ps::from_us(1),
                timeout: Ps::from_us(100),
                ack_bytes: 0,
            },
            lost_per_billion: 0,
            damage_seed: 1,
        }
    }
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Latencies of all puts, and by flow.
    pub latencies: Latencies,
    /// Bytes of puts of all hosts together, as a share of what the links of all hosts that get
    /// something can carry.
    pub share: f64,
    /// The switch.
    pub switch: SwitchCounters,
    /// Flits and frames: on all links, damaged there, and sent again there.
    pub units: u64,
    /// Units that were damaged.
    pub damaged: u64,
    /// Sent again by a link.
    pub repeated: u64,
    /// Pieces that hosts sent again.
    pub resent: u64,
    /// Every direction of every link.
    pub links: Vec<LinkUse>,
    /// The cost of the simulation.
    pub summary: Summary,
}

impl Network {
    /// Runs until all puts have arrived.
    ///
    /// # Errors
    /// [`ExperimentError`] if they do not.
    pub fn run(
        &self,
        events_max: u64,
        monitor: &Monitor,
        recording: Option<&Recording>,
    ) -> Result<Ran, ExperimentError> {
        let count = usize::from(self.hosts);
        let board = Rc::new(RefCell::new(Board::new(Ps::ZERO, count)));
        let mut sim = Fabric::new();
        let built = self.build(&mut sim, &board);
        for host in &built.hosts {
            // The host is a component, and nothing has happened.
            let _ = sim.inject(Ps::ZERO, *host, wake());
        }
        if let Some(recording) = recording {
            recording.watch_all(&mut sim)?;
        }
        let summary = monitor.run_stepping(&mut sim, events_max, |sim| {
            let woken = board.borrow_mut().take_woken();
            for host in woken {
                if let Some(host) = built.hosts.get(host) {
                    let _ = sim.inject(sim.now(), *host, wake());
                }
            }
        })?;
        let hosts = built.hosts.iter();
        let hosts: Vec<&Host> = hosts.filter_map(|host| sim.component(*host)).collect();
        if let Some(failed) = hosts.iter().find_map(|host| host.failed.clone()) {
            return Err(ExperimentError::Links(failed));
        }
        let latencies = board.borrow_mut().finish()?;
        let links = built.links.iter();
        let links: Vec<&Link> = links.filter_map(|link| sim.component(*link)).collect();
        let counters = links
            .iter()
            .flat_map(|link| [End::A, End::B].map(|end| link.counters(end)));
        let counters: Vec<_> = counters.collect();
        Ok(Ran {
            share: self.share(&latencies),
            switch: sim
                .component::<Switch>(built.switch)
                .map(|switch| switch.counters)
                .unwrap_or_default(),
            units: counters.iter().map(|link| link.packets).sum(),
            damaged: counters.iter().map(|link| link.crc_errors).sum(),
            repeated: counters.iter().map(|link| link.replayed).sum(),
            resent: hosts.iter().map(|host| host.resent()).sum(),
            links: self.uses(&links, latencies.time),
            latencies,
            summary,
        })
    }

    fn build(&self, sim: &mut Fabric, board: &Rc<RefCell<Board>>) -> Built {
        let shape = self.preset.shape();
        let room_bytes = match self.flow {
            FlowChoice::Drop => Some(u64::from(self.terms.buffer_bytes)),
            FlowChoice::Credits | FlowChoice::Pause => None,
        };
        let switch = sim.add("switch", Switch::new(shape, self.terms.switch, room_bytes));
        let mut built = Built {
            switch,
            hosts: Vec::new(),
            links: Vec::new(),
        };
        let senders = self.load.senders(usize::from(self.hosts));
        for (me, messages) in (0..self.hosts).zip(senders) {
            let link = sim.add(format!("link {me}"), Link::new(self.link(me)));
            let host = Host::new(Setup {
                me,
                hosts: self.hosts,
                link,
                shape,
                cut: self.preset.cut(),
                end_to_end: self.end_to_end(),
                in_flight_max: match self.load.pacing {
                    Pacing::Open { .. } => u64::MAX,
                    Pacing::Closed { in_flight } => in_flight,
                },
                messages,
                board: Rc::clone(board),
            });
            let host = sim.add(format!("host {me}"), host);
            if let Some(link) = sim.component_mut::<Link>(link) {
                link.attach(End::A, host, 0);
                link.attach(End::B, switch, me as u8);
            }
            if let Some(switch) = sim.component_mut::<Switch>(switch) {
                switch.plug(link);
            }
            built.hosts.push(host);
            built.links.push(link);
        }
        built
    }

    fn link(&self, host: u16) -> FlitConfig {
        let terms = &self.terms;
        FlitConfig {
            bytes_per_s: self.bytes_per_s,
            propagation: terms.cable,
            shape: self.preset.shape(),
            flow: match self.flow {
                FlowChoice::Credits => Flow::Credits {
                    bytes: terms.buffer_bytes,
                },
                FlowChoice::Pause => Flow::Pause {
                    stop_bytes: terms.buffer_bytes / 2,
                    go_bytes: terms.buffer_bytes / 4,
                },
                FlowChoice::Drop => Flow::Drop,
            },
            retry: (self.retry == RetryChoice::Link).then_some(terms.link_retry),
            control_wait: terms.control_wait,
            damage: [0u64, 1].map(|direction| match terms.lost_per_billion {
                0 => Damage::Never,
                hits => Damage::Random {
                    hits,
                    of: 1_000_000_000,
                    seed: terms
                        .damage_seed
                        .wrapping_add(u64::from(host) << 1 | direction),
                },
            }),
        }
    }

    /// Over links of every kind, hosts repeat what a switch drops.
    fn end_to_end(&self) -> Option<EndToEnd> {
        let needed = self.retry == RetryChoice::EndToEnd || self.flow == FlowChoice::Drop;
        needed.then_some(EndToEnd {
            ack_bytes: self.preset.ack_bytes(),
            ..self.terms.end_to_end
        })
    }

    fn share(&self, latencies: &Latencies) -> f64 {
        let flows = latencies.flows(|host| host.to_string());
        let mut targets: Vec<&str> = flows.iter().map(|flow| flow.to.as_str()).collect();
        targets.sort_unstable();
        targets.dedup();
        let most = targets.len() as f64 * self.bytes_per_s as f64;
        latencies.bytes as f64 / (latencies.time.as_ns() * 1e-9).max(1e-12) / most.max(1.0)
    }

    fn uses(&self, links: &[&Link], time: Ps) -> Vec<LinkUse> {
        let ends = [(End::A, "A"), (End::B, "B")];
        let uses = links.iter().enumerate().flat_map(|(host, link)| {
            ends.map(|(end, from)| {
                let counters = link.counters(end);
                LinkUse {
                    link: format!("host {host} - switch"),
                    from,
                    payload_bytes: counters.payload_bytes,
                    utilisation: counters.busy.as_ns() / time.as_ns().max(1e-3),
                }
            })
        });
        uses.filter(|link| link.utilisation > 0.0).collect()
    }
}

/// The components of a network.
struct Built {
    switch: ComponentId,
    hosts: Vec<ComponentId>,
    links: Vec<ComponentId>,
}

fn wake() -> DeviceEvent {
    DeviceEvent::FlitDevice(FlitEvent::Wake)
}
