//! The waits of a socket, for the report of a stall.

use crate::engine::Wait;
use crate::models::ht::Port;
use crate::models::ht::VirtualChannel;

use super::Opteron;
use super::core::Waiting;
use super::registers::LINKS;
use super::route::{Origin, Target, route};

impl Opteron {
    /// The faults of requests that are never answered and of stores that never arrive.
    pub(super) fn lost_requests(&self) -> Vec<String> {
        let counters = &self.status.counters;
        let aborts = counters.aborts.iter();
        let mut lost: Vec<_> = aborts
            .map(|(reason, count)| format!("has dropped {count} requests: {reason}"))
            .collect();
        if counters.writes_lost > 0 {
            let count = counters.writes_lost;
            lost.push(format!(
                "has lost {count} writes: memory is not initialised"
            ));
        }
        lost
    }

    /// The waits of the cores.
    pub(super) fn core_waits(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for (index, core) in self.cores.iter().enumerate() {
            let (resource, holder) = match &core.waiting {
                Waiting::Nothing if core.posted.is_empty() => continue,
                Waiting::Nothing | Waiting::Posting => {
                    let head = core
                        .posted
                        .front()
                        .map(|packet| packet.address)
                        .unwrap_or(0);
                    let target = route(
                        &self.registers,
                        Origin::Core,
                        head,
                        self.config.memory_bytes,
                    );
                    let holder = match target {
                        Target::Link(link) => {
                            self.ports[usize::from(link)].as_ref().map(Port::link)
                        }
                        _ => None,
                    };
                    (
                        format!("room for {} posted stores", core.posted.len()),
                        holder,
                    )
                }
                Waiting::Response { address, line_fill } => {
                    let why = if *line_fill {
                        " (the store's line fill: the window is mapped write-back)"
                    } else {
                        ""
                    };
                    (format!("the response to a read of {address:#x}{why}"), None)
                }
                Waiting::Change { address, cached } => {
                    let why = if *cached {
                        " (mapped cacheable: a remote store does not invalidate it)"
                    } else {
                        ""
                    };
                    (format!("a store to {address:#x}{why}"), None)
                }
                Waiting::Loads => (format!("{} loads ahead", core.ahead), None),
                Waiting::Tag => ("a free source tag".to_string(), None),
                Waiting::Wake => ("a wake-up".to_string(), None),
            };
            waits.push(Wait {
                resource: format!("core {index}: {resource}"),
                holder,
            });
        }
        waits
    }

    /// Packets that wait for room on another link.
    pub(super) fn stuck_inputs(&self) -> Vec<Wait> {
        let mut waits = Vec::new();
        for port in 0..LINKS {
            for channel in VirtualChannel::ALL {
                let queue = self.inputs.queue(port, channel);
                let Some(head) = queue.front() else { continue };
                let target = route(
                    &self.registers,
                    Origin::Link(port),
                    head.address,
                    self.config.memory_bytes,
                );
                let holder = match target {
                    Target::Link(link) => self.ports[usize::from(link)]
                        .as_ref()
                        .map(|port| port.link()),
                    _ => None,
                };
                let resource = format!(
                    "room for {} {channel} packets from link {port}, the first {head}",
                    queue.len(),
                );
                waits.push(Wait { resource, holder });
            }
        }
        waits
    }
}
