//! Memory of other hosts by plain loads and stores.
//!
//! A request of the host for an address in a [region](super::RemoteRegion) is carried to the
//! board of the owner as it is, with the address changed to that in the owner's memory. There the
//! completer writes, or reads with a tag of its own; the answer is carried back with the tag of
//! the requester, which its host matches.
//!
//! Nothing here can deadlock: a board takes every read and every answer that comes, because it
//! has a place for each tag of each host, and it frees its own tag before the answer has found
//! room in a link port.

use std::collections::{BTreeMap, VecDeque};

use crate::engine::{Context, Wait};
use crate::models::DeviceEvent;
use crate::models::ht::link_port::Message;
use crate::models::ht::{Carried, Command, Packet, Port, VirtualChannel};

use super::{Nic, NicEvent, UNIT};

/// What a board did for memory of other hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RemoteCounters {
    /// Reads of its host that it sent.
    pub reads_sent: u64,
    /// Writes of its host that it sent.
    pub writes_sent: u64,
    /// Reads that it did for other hosts.
    pub reads_served: u64,
    /// Writes that it did for other hosts.
    pub writes_served: u64,
    /// Most reads for other hosts that were under way at once.
    pub in_flight_max: usize,
}

/// State of it.
#[derive(Default)]
pub(super) struct Remote {
    /// By the tag here: the requester, and its tag.
    serving: BTreeMap<u8, (u16, u8)>,
    /// Answers that wait for room in their link port.
    answers: VecDeque<Box<Message>>,
    pub(super) counters: RemoteCounters,
}

impl Remote {
    pub(super) fn sent(&mut self, carried: Option<Carried>) {
        match carried.map(Carried::channel) {
            Some(VirtualChannel::NonPosted) => self.counters.reads_sent += 1,
            Some(_) => self.counters.writes_sent += 1,
            None => {}
        }
    }

    pub(super) fn answer(&mut self, message: Box<Message>) {
        self.answers.push_back(message);
    }

    pub(super) fn waits(&self, host: Option<&Port>) -> Option<Wait> {
        (!self.serving.is_empty()).then(|| Wait {
            resource: format!("the host's answer to {} reads", self.serving.len()),
            holder: host.map(Port::link),
        })
    }
}

/// Whether a board takes such a packet even while its buffers for messages are full.
pub(super) fn always_taken(carried: Carried) -> bool {
    carried.channel() != VirtualChannel::Posted
}

impl Nic {
    /// A message has passed the completer.
    pub(super) fn arrived(&mut self, message: Box<Message>, ctx: &mut Context<'_, DeviceEvent>) {
        match message.carried {
            // The host has at most as many reads under way as the HT-Core has places.
            Some(carried) if carried.channel() == VirtualChannel::Response => {
                self.send_to_host(carried.packet(message.payload), ctx);
            }
            _ => {
                self.received.push_back(message);
                self.complete(ctx);
            }
        }
    }

    /// Whether the host's link has room for what this message becomes.
    pub(super) fn can_complete(&self, message: &Message) -> bool {
        let channel = match message.carried {
            Some(carried) => carried.channel(),
            None => VirtualChannel::Posted,
        };
        let room = self.host.as_ref().is_some_and(|host| host.room(channel));
        room && (channel != VirtualChannel::NonPosted || self.free_tag().is_some())
    }

    fn free_tag(&self) -> Option<u8> {
        let mut tags = 0..self.config.read_tags.clamp(1, 32);
        tags.find(|tag| !self.remote.serving.contains_key(tag))
    }

    /// Does to the host's memory what another host asks for.
    pub(super) fn serve(
        &mut self,
        carried: Carried,
        message: Message,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let mut packet = Packet {
            unit_id: UNIT,
            ..carried.packet(message.payload)
        };
        match self.free_tag() {
            Some(tag) if carried.channel() == VirtualChannel::NonPosted => {
                packet.tag = tag;
                let serving = &mut self.remote.serving;
                serving.insert(tag, (message.source, carried.tag));
                let counters = &mut self.remote.counters;
                counters.reads_served += 1;
                counters.in_flight_max = counters.in_flight_max.max(serving.len());
            }
            _ => self.remote.counters.writes_served += 1,
        }
        self.counters.stages.completed = ctx.now();
        self.send_to_host(packet, ctx);
    }

    /// The host has answered a read for another host.
    pub(super) fn answered(&mut self, packet: Box<Packet>, ctx: &mut Context<'_, DeviceEvent>) {
        self.release(&packet, ctx);
        let Some((destination, tag)) = self.remote.serving.remove(&packet.tag) else {
            return;
        };
        let carried = Carried {
            tag,
            ..Carried::of(&packet)
        };
        let message = Box::new(Message {
            destination,
            source: self.config.id,
            payload: packet.data,
            carried: Some(carried),
        });
        let cycles = self.config.requester_cycles + self.config.network_out_cycles;
        let time = self.config.user(cycles);
        self.to_self(time, NicEvent::Answer { message }, ctx);
        // A tag is free.
        self.complete(ctx);
    }

    /// Sends answers while their link ports have room.
    pub(super) fn send_answers(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        while let Some(message) = self.remote.answers.front() {
            let port = self.output(message.destination);
            if port.is_some_and(|port| !self.links[port].has_room()) {
                return;
            }
            let Some(message) = self.remote.answers.pop_front() else {
                return;
            };
            match port {
                Some(port) => self.links[port].send(*message, ctx),
                None => self.counters.unroutable += 1,
            }
        }
    }

    /// Answers a read that has no way; a write is lost.
    pub(super) fn refuse(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        if matches!(packet.command, Command::Read { .. }) {
            let abort = Packet {
                tag: packet.tag,
                unit_id: packet.unit_id,
                ..Packet::new(Command::MasterAbort, 0)
            };
            self.send_to_host(abort, ctx);
        }
    }
}
