//! A switch between links of today: buffers at its inputs, a queue for each output.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::engine::{Component, ComponentId, Context, Ps};
use crate::models::DeviceEvent;
use crate::models::link::{End, LinkEvent};

use super::{Cell, FlitEvent, Packer, Piece, Room, Shape};

/// What became of pieces in a switch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SwitchCounters {
    /// Pieces that came.
    pub pieces: u64,
    /// Lost for want of room.
    pub dropped: u64,
    /// Most bytes that have waited at an output.
    pub waiting_bytes_max: u64,
}

/// A port, with the link at its end B.
struct Port {
    link: ComponentId,
    /// The link has not yet begun to send what it got last.
    waits: bool,
    packer: Packer,
    /// Pieces for this output, with the port that each came from.
    queue: VecDeque<(u8, Piece)>,
    queue_bytes: u64,
}

/// The component. Hosts have the numbers of their ports.
pub struct Switch {
    shape: Shape,
    latency: Ps,
    /// Bytes that may wait at an output before more are thrown away; none: links keep them back.
    room_bytes: Option<u64>,
    ports: Vec<Port>,
    /// Its counters.
    pub counters: SwitchCounters,
}

impl Switch {
    /// A switch without links.
    pub fn new(shape: Shape, latency: Ps, room_bytes: Option<u64>) -> Switch {
        Switch {
            shape,
            latency,
            room_bytes,
            ports: Vec::new(),
            counters: SwitchCounters::default(),
        }
    }

    /// Plugs end B of a link in at the next port.
    pub fn plug(&mut self, link: ComponentId) {
        self.ports.push(Port {
            link,
            waits: false,
            packer: Packer::new(self.shape),
            queue: VecDeque::new(),
            queue_bytes: 0,
        });
    }

    fn forward(&mut self, from: u8, cell: &Cell, ctx: &mut Context<'_, DeviceEvent>) {
        for piece in &cell.pieces {
            self.counters.pieces += 1;
            let bytes = u64::from(piece.bytes);
            let Some(port) = self.ports.get_mut(usize::from(piece.to)) else {
                continue;
            };
            let waiting = port.queue_bytes + bytes;
            if self.room_bytes.is_some_and(|room| waiting > room) {
                self.counters.dropped += 1;
                self.release(from, piece.bytes.into(), ctx);
                continue;
            }
            self.counters.waiting_bytes_max = self.counters.waiting_bytes_max.max(waiting);
            port.queue_bytes = waiting;
            port.queue.push_back((from, *piece));
            self.send(piece.to.into(), ctx);
        }
    }

    /// Hands the next flit or frame of an output to its link, when that has begun the last one.
    fn send(&mut self, index: usize, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(port) = self.ports.get_mut(index).filter(|port| !port.waits) else {
            return;
        };
        let (queue, queue_bytes) = (&mut port.queue, &mut port.queue_bytes);
        let mut emptied: Vec<(u8, u32)> = Vec::new();
        let next = || {
            let (from, piece) = queue.pop_front()?;
            *queue_bytes -= u64::from(piece.bytes);
            emptied.push((from, piece.bytes.into()));
            Some(piece)
        };
        let Some(cell) = port.packer.pack(next) else {
            return;
        };
        port.waits = true;
        let submit = LinkEvent::Submit {
            end: End::B,
            packet: Rc::new(cell),
        };
        ctx.schedule(port.link, Ps::ZERO, DeviceEvent::Flit(submit));
        for (from, bytes) in emptied {
            self.release(from, bytes, ctx);
        }
    }

    fn release(&self, port: u8, bytes: u32, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(port) = self.ports.get(usize::from(port)) else {
            return;
        };
        let release = LinkEvent::Release {
            end: End::B,
            cost: Room { bytes },
        };
        ctx.schedule(port.link, Ps::ZERO, DeviceEvent::Flit(release));
    }
}

impl Component<DeviceEvent> for Switch {
    fn handle(&mut self, event: DeviceEvent, ctx: &mut Context<'_, DeviceEvent>) {
        match event {
            DeviceEvent::Flit(LinkEvent::Deliver { port, packet }) => {
                let forward = FlitEvent::Forward { port, cell: packet };
                ctx.schedule(ctx.me(), self.latency, DeviceEvent::FlitDevice(forward));
            }
            DeviceEvent::Flit(LinkEvent::Sent { port, .. }) => {
                let index = usize::from(port);
                if let Some(port) = self.ports.get_mut(index) {
                    port.waits = false;
                }
                self.send(index, ctx);
            }
            DeviceEvent::FlitDevice(FlitEvent::Forward { port, cell }) => {
                self.forward(port, &cell, ctx);
            }
            _ => {}
        }
    }
}
