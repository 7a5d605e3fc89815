//! A switch for NIC frames: link ports around a crossbar.
//!
//! Store and forward, one crossbar pass per message, output queues in the link
//! ports. A message that finds its output full stays in its input; the input
//! then accepts no frame, and the sender repeats. Parameters: `docs/sim/switch.md`.

use std::collections::VecDeque;

use crate::engine::{Component, ComponentId, Context, Ps, Wait};

use crate::models::DeviceEvent;
use crate::models::ht::Frame;
use crate::models::ht::link_port::{LinkPort, LinkPortConfig, LinkPortEvent, Message};

/// Parameters of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// Its link ports, all alike.
    pub port: LinkPortConfig,
    /// Clock of the crossbar in MHz.
    pub clock_mhz: u32,
    /// Cycles through the crossbar. Assumed: the paper says "several".
    pub crossbar_cycles: u64,
    /// Messages that an input holds.
    pub input_messages_max: usize,
}

impl Default for SwitchConfig {
    fn default() -> Self {
        SwitchConfig {
            port: LinkPortConfig::atoll(100),
            clock_mhz: 100,
            crossbar_cycles: 4,
            input_messages_max: 8,
        }
    }
}

/// The component.
pub struct Switch {
    config: SwitchConfig,
    ports: Vec<LinkPort>,
    inputs: Vec<VecDeque<(Ps, Message)>>,
    /// Output port by destination NIC.
    routes: Vec<u8>,
    /// Messages for NICs that no route knows.
    pub unroutable: u64,
}

impl Switch {
    /// A switch with `ports` ports; `routes[nic]` is the output port for a NIC.
    pub fn new(config: SwitchConfig, ports: u8, routes: Vec<u8>) -> Switch {
        Switch {
            ports: (0..ports)
                .map(|index| LinkPort::new(index, config.port))
                .collect(),
            inputs: (0..ports).map(|_| VecDeque::new()).collect(),
            config,
            routes,
            unroutable: 0,
        }
    }

    /// Plugs a cable in. `false` if there is no such port.
    pub fn connect(&mut self, port: u8, cable: ComponentId, end: u8) -> bool {
        self.ports
            .get_mut(usize::from(port))
            .map(|port| port.connect(cable, end))
            .is_some()
    }

    /// A link port, for its counters.
    pub fn port(&self, port: u8) -> Option<&LinkPort> {
        self.ports.get(usize::from(port))
    }

    fn receive(&mut self, port: u8, frame: Frame, ctx: &mut Context<'_, DeviceEvent>) {
        let at = usize::from(port);
        let (Some(link), Some(input)) = (self.ports.get_mut(at), self.inputs.get_mut(at)) else {
            return;
        };
        let room = input.len() < self.config.input_messages_max;
        if let Some(message) = link.receive(frame, room, ctx) {
            let crossed = Ps::from_cycles(self.config.crossbar_cycles, self.config.clock_mhz);
            input.push_back((ctx.now() + crossed, message));
            ctx.schedule(
                ctx.me(),
                crossed,
                DeviceEvent::LinkPort(LinkPortEvent::Crossed { port }),
            );
        }
    }

    /// Passes on what has crossed and finds room.
    fn pass(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        for input in &mut self.inputs {
            while let Some((ready, message)) = input.front() {
                let output = self.routes.get(usize::from(message.destination));
                let port = output.and_then(|&output| self.ports.get_mut(usize::from(output)));
                match port {
                    _ if *ready > ctx.now() => break,
                    Some(port) if !port.has_room() => break,
                    Some(port) => {
                        if let Some((_, message)) = input.pop_front() {
                            port.send(message, ctx);
                        }
                    }
                    None => {
                        self.unroutable += 1;
                        input.pop_front();
                    }
                }
            }
        }
    }
}

impl Component<DeviceEvent> for Switch {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Frame { port, frame } => self.receive(port, *frame, ctx),
            DeviceEvent::LinkPort(event) => {
                if let Some(port) = self.ports.get_mut(usize::from(event.port())) {
                    port.handle(&event, ctx);
                }
            }
            _ => {}
        }
        self.pass(ctx);
    }

    fn waits(&self) -> Vec<Wait> {
        let pending = self.ports.iter().filter(|port| port.pending() > 0);
        pending
            .map(|port| Wait {
                resource: format!("acknowledgement of {} messages", port.pending()),
                holder: port.cable(),
            })
            .collect()
    }
}
