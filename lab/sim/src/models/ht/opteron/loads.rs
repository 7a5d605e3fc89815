//! Reads of the cores: tags, requests, responses.

use crate::engine::{Context, Ps};
use crate::models::DeviceEvent;
use crate::models::ht::{Command, Packet, VirtualChannel};

use super::core::Waiting;
use super::program::Arrival;
use super::route::{Origin, Target, route};
use super::{Opteron, OpteronEvent};

/// A read that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    core: u8,
    /// `Some`: it is a load ahead. `None`: the core waits for it.
    ahead: Option<Ahead>,
}

#[derive(Clone, Copy, Debug)]
struct Ahead {
    address: u64,
    dwords: u8,
    issued: Ps,
}

impl Opteron {
    /// Sends a read for which the core waits.
    pub(super) fn core_read(
        &mut self,
        core: u8,
        packet: Packet,
        delay: Ps,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let Some(tag) = self.tag(core) else { return };
        match self.read_target(&packet, ctx) {
            Some(link) => {
                self.reads.insert(tag, Pending { core, ahead: None });
                self.send_read(link, packet, tag, delay, ctx);
            }
            None => {
                self.cores[usize::from(core)].abort();
                self.step_after(core, Ps::ZERO, ctx);
            }
        }
    }

    /// Sends a read for which the core does not wait.
    pub(super) fn load_ahead(
        &mut self,
        core: u8,
        packet: Packet,
        is_local: bool,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let Command::Read { dwords } = packet.command else {
            return;
        };
        let Some(tag) = self.tag(core) else { return };
        let ahead = Ahead {
            address: packet.address,
            dwords,
            issued: ctx.now(),
        };
        let link = match is_local {
            true => None,
            false => self.read_target(&packet, ctx),
        };
        let begun = is_local || link.is_some();
        if let Some(core) = self.cores.get_mut(usize::from(core)) {
            core.goes_on();
            core.ahead += usize::from(begun);
            if !begun {
                core.arrived.push(Arrival {
                    address: ahead.address,
                    issued: ahead.issued,
                    arrived: ctx.now(),
                    data: None,
                });
            }
        }
        if begun {
            let ahead = Some(ahead);
            self.reads.insert(tag, Pending { core, ahead });
        }
        match link {
            Some(link) => self.send_read(link, packet, tag, self.config.io_read_first, ctx),
            None if is_local => {
                let event = DeviceEvent::Opteron(OpteronEvent::Loaded { tag });
                ctx.schedule(ctx.me(), self.config.memory_read, event);
            }
            None => {}
        }
        self.step_after(core, self.config.load_issue(), ctx);
    }

    /// A free tag. If there is none, the core waits for it.
    fn tag(&mut self, core: u8) -> Option<u8> {
        let free = self.free_tag();
        if free.is_none() {
            self.cores[usize::from(core)].waiting = Waiting::Tag;
            self.tag_queue.push_back(core);
        }
        free
    }

    /// A tag that no read has.
    pub(super) fn free_tag(&self) -> Option<u8> {
        let mut tags = 0..self.config.source_tags.max(1);
        tags.find(|tag| !self.reads.contains_key(tag) && !self.crossings.contains_key(tag))
    }

    /// The link by which a read of a core leaves.
    fn read_target(&mut self, packet: &Packet, ctx: &Context<'_, DeviceEvent>) -> Option<u8> {
        let (address, memory_bytes) = (packet.address, self.config.memory_bytes);
        match route(&self.registers, Origin::Core, address, memory_bytes) {
            Target::Link(link) => Some(link),
            Target::Memory => None,
            Target::Abort(reason) => {
                self.status.abort(ctx.now(), reason, packet);
                None
            }
        }
    }

    fn send_read(
        &mut self,
        link: u8,
        mut packet: Packet,
        tag: u8,
        delay: Ps,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        packet.tag = tag;
        // On coherent links the requester's NodeID stands here; on
        // non-coherent ones the host is unit 0.
        packet.unit_id = if self.registers.link_noncoherent(link) {
            0
        } else {
            self.registers.node_id()
        };
        packet.number = self.number(ctx);
        if let Some(port) = &mut self.ports[usize::from(link)] {
            port.reserve(VirtualChannel::NonPosted);
            port.submit(Box::new(packet), delay + self.config.io_read_out(), ctx);
        }
    }

    /// The data of a read have come over a link.
    pub(super) fn response(&mut self, packet: &Packet, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(pending) = self.reads.remove(&packet.tag) else {
            self.status.counters.unmatched_responses += 1;
            let text = format!(
                "response with tag {} matches no read of this node",
                packet.tag
            );
            self.status.incident(ctx.now(), text);
            return;
        };
        self.pass_tag(ctx);
        let aborted = packet.command == Command::MasterAbort;
        if let Some(ahead) = pending.ahead {
            let data = (!aborted).then(|| packet.data.clone());
            self.arrive(pending.core, ahead, data, ctx);
            return;
        }
        let Some(core) = self.cores.get_mut(usize::from(pending.core)) else {
            return;
        };
        match aborted {
            true => core.abort(),
            false => core.response(&packet.data),
        }
        self.step_after(pending.core, Ps::ZERO, ctx);
    }

    /// A load ahead of local memory is over.
    pub(super) fn loaded(&mut self, tag: u8, ctx: &mut Context<'_, DeviceEvent>) {
        let Some(pending) = self.reads.remove(&tag) else {
            return;
        };
        self.pass_tag(ctx);
        if let Some(ahead) = pending.ahead {
            let mut data = vec![0; usize::from(ahead.dwords) * 4];
            self.memory.read(ahead.address, &mut data);
            self.arrive(pending.core, ahead, Some(data), ctx);
        }
    }

    fn arrive(
        &mut self,
        index: u8,
        ahead: Ahead,
        data: Option<Vec<u8>>,
        ctx: &mut Context<'_, DeviceEvent>,
    ) {
        let Some(core) = self.cores.get_mut(usize::from(index)) else {
            return;
        };
        core.ahead = core.ahead.saturating_sub(1);
        core.arrived.push(Arrival {
            address: ahead.address,
            issued: ahead.issued,
            arrived: ctx.now(),
            data,
        });
        if core.waiting == Waiting::Loads {
            // One step, even if more arrive at this time.
            core.waiting = Waiting::Nothing;
            self.step_after(index, Ps::ZERO, ctx);
        }
    }

    /// A tag is free: the core that has waited longest goes on, or a read that crosses.
    pub(super) fn pass_tag(&mut self, ctx: &mut Context<'_, DeviceEvent>) {
        match self.tag_queue.pop_front() {
            Some(core) => self.step_after(core, Ps::ZERO, ctx),
            None => self.pump_crossings(ctx),
        }
    }

    fn step_after(&self, core: u8, time: Ps, ctx: &mut Context<'_, DeviceEvent>) {
        let event = DeviceEvent::Opteron(OpteronEvent::Step { core });
        ctx.schedule(ctx.me(), time, event);
    }
}
