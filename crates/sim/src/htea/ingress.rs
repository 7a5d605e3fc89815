//! A port of the switch, the MAC behind it, and the de-encapsulation stage of that port.
//!
//! All three take frames in turn, so that the times of a frame are known as soon as it is at
//! the switch.

use std::collections::VecDeque;

use super::config::{Timing, wire_bytes};
use super::event::{Event, Frame};
use crate::engine::{Component, ComponentId, Context, Ps};

pub(super) struct Ingress {
    timing: Timing,
    /// Sender or receiver behind it.
    target: ComponentId,
    credits_per_nop: u32,
    /// When the end of the last frame leaves the switch.
    tail: Ps,
    /// When the stage can take the next frame.
    free: Ps,
    /// Frames before or in the stage, each with the time at which the stage is through.
    frames: VecDeque<(Ps, Frame)>,
    pub(super) counters: IngressCounters,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IngressCounters {
    pub(super) frames: u64,
    pub(super) packets: u64,
    pub(super) nops: u64,
    pub(super) wire_bytes: u64,
    /// Time between MAC and stage, of all frames together.
    pub(super) waited: u128,
    /// Longest time that a frame waited for the port of the switch.
    pub(super) switch_wait_max: Ps,
    /// Time that the stage was busy.
    pub(super) busy: Ps,
}

impl Ingress {
    pub(super) fn new(timing: Timing, target: ComponentId, credits_per_nop: u32) -> Ingress {
        Ingress {
            timing,
            target,
            credits_per_nop,
            tail: Ps::ZERO,
            free: Ps::ZERO,
            frames: VecDeque::new(),
            counters: IngressCounters::default(),
        }
    }

    fn arrive(&mut self, frame: Frame, ctx: &mut Context<'_, Event>) {
        let (packets, nops) = (u64::from(frame.packets), u64::from(frame.nops));
        let now = ctx.now();
        let wire = self.timing.wire(packets, nops);
        self.tail = now.max(self.tail + wire);
        let ready = self.tail + self.timing.mac_in;
        let start = ready.max(self.free);
        let work = self.timing.deencapsulate(packets, nops);
        self.free = start + work;
        let counters = &mut self.counters;
        counters.frames += 1;
        counters.packets += packets;
        counters.nops += nops;
        counters.wire_bytes += wire_bytes(packets, nops);
        counters.waited += u128::from((start - ready).0);
        counters.switch_wait_max = counters.switch_wait_max.max(self.tail - now);
        counters.busy += work;
        if self.frames.is_empty() {
            ctx.schedule_at(ctx.me(), self.free, Event::Deencapsulated);
        }
        self.frames.push_back((self.free, frame));
    }

    fn deencapsulated(&mut self, ctx: &mut Context<'_, Event>) {
        let Some((_, frame)) = self.frames.pop_front() else {
            return;
        };
        if frame.packets > 0 {
            ctx.schedule(self.target, self.timing.queuing, Event::Deliver(frame));
        }
        if frame.nops > 0 {
            let credits = u32::from(frame.nops) * self.credits_per_nop;
            ctx.schedule(self.target, Ps::ZERO, Event::Credits(credits));
        }
        if let Some((done, _)) = self.frames.front() {
            ctx.schedule_at(ctx.me(), *done, Event::Deencapsulated);
        }
    }
}

impl Component<Event> for Ingress {
    fn handle(&mut self, event: Event, ctx: &mut Context<'_, Event>) {
        match event {
            Event::Arrive(frame) => self.arrive(frame, ctx),
            Event::Deencapsulated => self.deencapsulated(ctx),
            Event::Wake | Event::Deliver(_) | Event::Left(_) | Event::Credits(_) => {}
        }
    }
}
