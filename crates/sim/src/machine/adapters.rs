//! Adapters for HyperTransport over Ethernet, their links and their switch.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_plan::LinkRole;

use crate::devices::cable::Medium;
use crate::devices::ethernet::{EtherEvent, Switch};
use crate::devices::ht::{Buffers, Link, LinkConfig};
use crate::devices::htea::{Adapter, AdapterConfig, Notes, switch};
use crate::devices::link::End;
use crate::devices::opteron::OpteronConfig;
use crate::devices::{DeviceEvent, Port};

use super::build::{BOARD_INCHES, BuildError};
use super::{Machine, Wire, WireEnd};

impl Machine {
    /// Adds the adapters of the plan. They begin to open their virtual links at once, as adapters
    /// do when power comes.
    pub(super) fn add_adapters(&mut self, config: &OpteronConfig) -> Result<(), BuildError> {
        let plans = self.plan.adapters().to_vec();
        if plans.is_empty() {
            return Ok(());
        }
        let network = *self.plan.ethernet();
        let number = |index: usize| u16::try_from(index).unwrap_or(u16::MAX);
        let parts = AdapterConfig::new(*self.plan.htea(), &network, number(plans.len()));
        let hub = self.sim.add("switch", Switch::new(switch(&network)));
        let notes = Rc::new(RefCell::new(Notes::default()));
        for (me, plan) in plans.iter().enumerate() {
            let port = plan.port;
            let failed = |cause| BuildError::Adapter { port, cause };
            let socket = self.find(port.processor).ok_or(BuildError::Peer { port })?;
            let targets = plan.targets.iter();
            let targets = targets.map(|(range, to)| (*range, number(*to))).collect();
            let adapter = Adapter::new(parts, (number(me), hub), targets, &notes);
            let name = format!("{}.adapter", self.sockets[socket].name);
            let component = self.sim.add(name, adapter.map_err(failed)?);
            self.adapters.push(component);
            if let Some(hub) = self.sim.component_mut::<Switch>(hub) {
                hub.plug(component);
            }
            let here = WireEnd::Socket {
                socket,
                link: port.link.get(),
            };
            self.add_adapter_wire([here, WireEnd::Adapter { component }], config.port_depth);
        }
        let all = self.adapters.clone();
        for (&component, plan) in all.iter().zip(&plans) {
            if let Some(adapter) = self.sim.component_mut::<Adapter>(component) {
                let port = plan.port;
                let connected = adapter.connect(&all);
                connected.map_err(|cause| BuildError::Adapter { port, cause })?;
            }
            // The adapter is a component, and nothing has happened.
            let start = DeviceEvent::Ethernet(EtherEvent::Start);
            let _ = self.sim.inject(self.sim.now(), component, start);
        }
        Ok(())
    }

    fn add_adapter_wire(&mut self, ends: [WireEnd; 2], depth: usize) {
        let (WireEnd::Socket { socket, link: port }, WireEnd::Adapter { component }) =
            (ends[0], ends[1])
        else {
            return;
        };
        let config = LinkConfig {
            propagation: Medium::Trace.propagation(BOARD_INCHES),
            buffers: [Buffers::FAM10H, Buffers::HT_CORE],
            ..LinkConfig::default()
        };
        let name = format!("{}.l{port} - adapter", self.sockets[socket].name);
        let link = self.sim.add(name, Link::new(config));
        self.attach(link, End::A, ends[0], depth);
        self.attach(link, End::B, ends[1], depth);
        if let Some(adapter) = self.sim.component_mut::<Adapter>(component) {
            adapter.attach(Port::new(link, End::B, depth));
        }
        self.wires.push(Wire {
            link,
            ends,
            role: LinkRole::Adapter,
            mhz_max: Medium::Trace.mhz_max(),
        });
    }
}
