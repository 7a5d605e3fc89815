//! HTEA adapters and their switch; and the links of adapters of all kinds.

use std::cell::RefCell;
use std::rc::Rc;

use hostwire_plan::{AdapterKind, AdapterPlan, AddressRange, LinkRole, PortId};

use crate::engine::ComponentId;
use crate::models::DeviceEvent;
use crate::models::ethernet::{EtherEvent, Switch};
use crate::models::ht::Port;
use crate::models::ht::cable::Medium;
use crate::models::ht::carry::Notes;
use crate::models::ht::opteron::OpteronConfig;
use crate::models::ht::{Buffers, Link, LinkConfig};
use crate::models::htea::adapter::{Adapter, AdapterConfig, switch};
use crate::models::link::End;

use super::error::BuildError;
use super::{Machine, Wire, WireEnd};

/// The number of an adapter, of which a plan has at most 256 of a kind.
pub(super) fn small(number: usize) -> u16 {
    u16::try_from(number).unwrap_or(u16::MAX)
}

impl Machine {
    /// Adds the HTEA adapters of the plan. They begin to open their virtual links at once, as adapters
    /// do when power comes.
    pub(super) fn add_htea(&mut self, config: &OpteronConfig) -> Result<(), BuildError> {
        let plans = self.adapters_of(AdapterKind::Htea);
        if plans.is_empty() {
            return Ok(());
        }
        let network = *self.plan.ethernet();
        let parts = AdapterConfig::new(*self.plan.htea(), &network, small(plans.len()));
        let hub = self.sim.add("switch", Switch::new(switch(&network)));
        let notes = Rc::new(RefCell::new(Notes::default()));
        let mut all = vec![hub; plans.len()];
        for plan in &plans {
            let port = plan.port;
            let failed = |cause| BuildError::Adapter { port, cause };
            let me = (small(plan.member), hub);
            let adapter = Adapter::new(parts, me, self.targets_of(plan), &notes);
            let noun = plan.kind.name(plan.index);
            let name = format!("{}.{noun}", self.socket_name(port)?);
            let component = self.sim.add(name, adapter.map_err(failed)?);
            self.adapters.push(component);
            all[plan.member] = component;
            let host = (config.port_depth, Buffers::HT_CORE, config.port_depth);
            let here = self.add_adapter_wire((port, component), &noun, host)?;
            if let Some(adapter) = self.sim.component_mut::<Adapter>(component) {
                adapter.attach(here);
            }
        }
        if let Some(hub) = self.sim.component_mut::<Switch>(hub) {
            all.iter().for_each(|adapter| hub.plug(*adapter));
        }
        for plan in &plans {
            let (component, port) = (all[plan.member], plan.port);
            if let Some(adapter) = self.sim.component_mut::<Adapter>(component) {
                let connected = adapter.connect(&all);
                connected.map_err(|cause| BuildError::Adapter { port, cause })?;
            }
            // The adapter is a component, and nothing has happened.
            let start = DeviceEvent::Ethernet(EtherEvent::Start);
            let _ = self.sim.inject(self.sim.now(), component, start);
        }
        Ok(())
    }

    /// The adapters of a kind, in the order of the plan.
    pub(super) fn adapters_of(&self, kind: AdapterKind) -> Vec<AdapterPlan> {
        let adapters = self.plan.adapters().iter();
        let adapters = adapters.filter(|adapter| adapter.kind == kind);
        adapters.cloned().collect()
    }

    /// The addresses that an adapter sends to others of its kind, by their numbers.
    pub(super) fn targets_of(&self, adapter: &AdapterPlan) -> Vec<(AddressRange, u16)> {
        let all = self.plan.adapters();
        let targets = adapter.targets.iter();
        let targets = targets.map(|(range, to)| (*range, small(all[*to].member)));
        targets.collect()
    }

    /// The name of the processor that a port belongs to.
    pub(super) fn socket_name(&self, port: PortId) -> Result<String, BuildError> {
        let socket = self.find(port.processor).ok_or(BuildError::Peer { port })?;
        Ok(self.sockets[socket].name.clone())
    }

    /// The link between a processor and its adapter; the adapter's side of it. `depth`: transmit places
    /// of the processor, receive buffers and transmit places of the adapter.
    pub(super) fn add_adapter_wire(
        &mut self,
        (port, component): (PortId, ComponentId),
        noun: &str,
        (depth, buffers, depth_there): (usize, Buffers, usize),
    ) -> Result<Port, BuildError> {
        let socket = self.find(port.processor).ok_or(BuildError::Peer { port })?;
        let link = port.link.get();
        let ends = [
            WireEnd::Socket { socket, link },
            WireEnd::Adapter { component },
        ];
        let config = LinkConfig {
            propagation: self.wiring.propagation(Medium::Trace, None),
            buffers: [Buffers::FAM10H, buffers],
            ..LinkConfig::default()
        };
        let name = format!("{}.l{link} - {noun}", self.sockets[socket].name);
        let link = self.sim.add(name, Link::new(config));
        self.attach(link, End::A, ends[0], depth);
        self.attach(link, End::B, ends[1], depth);
        self.wires.push(Wire {
            link,
            ends,
            role: LinkRole::Adapter,
            mhz_max: Medium::Trace.mhz_max(),
        });
        Ok(Port::new(link, End::B, depth_there))
    }
}
