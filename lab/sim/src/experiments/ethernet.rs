//! Hosts that send lines to each other by the project's own links, over a bad network.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_link::{Config as LinkConfig, Endpoint, Identity, Node};
use serde::Serialize;

use crate::engine::{ComponentId, Ps, Summary};
use crate::models::ethernet::{
    EtherEvent, Host, HostConfig, Log, Switch, SwitchConfig, SwitchCounters,
};
use crate::models::{DeviceEvent, Fabric};
use crate::record::Recording;

use super::link_use::{LinkUse, LinkWatch};
use super::load::{Arrived, Latencies};
use super::{ExperimentError, Monitor};

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Towards {
    /// All to the first host.
    Incast,
    /// Each to the next one, the last to the first.
    Ring,
}

/// A network and its work.
#[derive(Clone, Debug)]
pub struct Ethernet {
    /// Hosts, 2 to 64.
    pub hosts: u16,
    /// Who sends to whom.
    pub towards: Towards,
    /// Lines of 64 bytes that each sender sends.
    pub lines: u64,
    /// Parameters of the links.
    pub link: LinkConfig,
    /// Parameters of the hosts' ports.
    pub port: HostConfig,
    /// The switch, and what goes wrong.
    pub switch: SwitchConfig,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Latencies of all lines, and by flow.
    pub latencies: Latencies,
    /// Frames in the switch.
    pub switch: SwitchCounters,
    /// Frames that endpoints sent again.
    pub resent: u64,
    /// Every direction of every cable.
    pub links: Vec<LinkUse>,
    /// The cost of the simulation.
    pub summary: Summary,
}

/// Bytes of a line.
pub(super) const LINE_BYTES: u64 = 64;
/// Longest run: beyond it the links would give up.
const TIME_MAX: Ps = Ps(3_600 * 1_000_000_000_000);

impl Ethernet {
    fn target(&self, me: u16) -> Option<u16> {
        match self.towards {
            Towards::Incast => (me != 0).then_some(0),
            Towards::Ring => Some((me + 1) % self.hosts),
        }
    }

    /// Runs until all lines have arrived.
    ///
    /// # Errors
    /// [`ExperimentError`] if they do not, or a line arrives twice, out of order or damaged.
    pub fn run(
        &self,
        events_max: u64,
        monitor: &Monitor,
        recording: Option<&Recording>,
    ) -> Result<Ran, ExperimentError> {
        let senders = (0..self.hosts).filter(|host| self.target(*host).is_some());
        let left = senders.count() as u64 * self.lines;
        let log = Rc::new(RefCell::new(Log::new(usize::from(self.hosts), left)));
        let mut sim = Fabric::new();
        let switch = sim.add("switch", Switch::new(self.switch));
        let mut hosts = Vec::new();
        for me in 0..self.hosts {
            let host = self
                .host(me, switch, &log)
                .map_err(ExperimentError::Ethernet)?;
            let host = sim.add(format!("host {me}"), host);
            if let Some(switch) = sim.component_mut::<Switch>(switch) {
                switch.plug(host);
            }
            // The host is a component, and nothing has happened.
            let _ = sim.inject(Ps::ZERO, host, DeviceEvent::Ethernet(EtherEvent::Start));
            hosts.push(host);
        }
        if let Some(recording) = recording {
            recording.watch_all(&mut sim)?;
        }
        let links = LinkWatch::new(&sim);
        monitor.run_until(&mut sim, events_max, |sim| {
            let log = log.borrow();
            log.left == 0 || log.failed.is_some() || sim.now() > TIME_MAX
        })?;
        let mut log = log.borrow_mut();
        if let Some(failed) = log.failed.take() {
            return Err(ExperimentError::Ethernet(failed));
        }
        if log.left > 0 {
            let text = format!("{} lines have not arrived", log.left);
            return Err(ExperimentError::Ethernet(text));
        }
        self.ran(&mut log, &sim, (switch, &hosts), &links)
    }

    fn ran(
        &self,
        log: &mut Log,
        sim: &Fabric,
        (switch, hosts): (ComponentId, &[ComponentId]),
        links: &LinkWatch,
    ) -> Result<Ran, ExperimentError> {
        let arrived = std::mem::take(&mut log.arrived).into_iter();
        let arrived = arrived.map(|(from, to, latency)| Arrived {
            flow: (u32::from(from), u32::from(to)),
            bytes: LINE_BYTES,
            latency,
        });
        let latencies = Latencies::of(arrived.collect(), log.last);
        let endpoints = hosts.iter().filter_map(|host| sim.component::<Host>(*host));
        let resent = endpoints.map(|host| host.endpoint().counters().frames_resent);
        Ok(Ran {
            latencies: latencies.ok_or(ExperimentError::NoMeasurement("no line"))?,
            switch: sim
                .component::<Switch>(switch)
                .map(|switch| switch.counters)
                .unwrap_or_default(),
            resent: resent.sum(),
            links: links.used(sim, log.last),
            summary: sim.summary(),
        })
    }

    fn host(&self, me: u16, switch: ComponentId, log: &Rc<RefCell<Log>>) -> Result<Host, String> {
        let identity = Identity {
            node: Node(u32::from(me)),
            job: 1,
            incarnation: 1,
        };
        let random = self.switch.seed ^ u64::from(me) << 32;
        let endpoint = Endpoint::new(self.link.clone(), identity, random);
        let endpoint = endpoint.map_err(|error| error.to_string())?;
        // The last frames of a host that has nothing to send are acknowledgements.
        let peers: Vec<u16> = (0..self.hosts)
            .filter(|peer| self.target(me) == Some(*peer) || self.target(*peer) == Some(me))
            .collect();
        let work = (peers.as_slice(), self.target(me), self.lines);
        Host::new(self.port, (me, switch), endpoint, work, log)
    }
}
