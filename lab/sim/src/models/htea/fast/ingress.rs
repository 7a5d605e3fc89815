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
    /// Frames that the MAC holds; 0 for any number.
    capacity: u64,
    /// The links whose frames have numbers.
    flows: Vec<Flow>,
    /// Frames before or in the stage, each with the time at which the stage is through.
    frames: VecDeque<(Ps, Frame)>,
    pub(super) counters: IngressCounters,
}

/// The receiving end of a link on which frames can be lost: Go-Back-N.
struct Flow {
    sender: ComponentId,
    /// The next frame in order.
    expected: u32,
    /// A Nak for it is out.
    refused: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct IngressCounters {
    pub(super) frames: u64,
    pub(super) packets: u64,
    pub(super) nops: u64,
    /// Frames with a request.
    pub(super) requests: u64,
    pub(super) wire_bytes: u64,
    /// Time between MAC and stage, of all frames together.
    pub(super) waited: u128,
    /// Longest time that a frame waited for the port of the switch.
    pub(super) switch_wait_max: Ps,
    /// Time that the stage was busy.
    pub(super) busy: Ps,
    /// Frames for which the MAC had no room.
    pub(super) lost: u64,
    /// Frames that came through the stage behind a lost one.
    pub(super) discarded: u64,
}

impl Ingress {
    pub(super) fn new(timing: Timing, target: ComponentId, credits_per_nop: u32) -> Ingress {
        Ingress {
            timing,
            target,
            credits_per_nop,
            tail: Ps::ZERO,
            free: Ps::ZERO,
            capacity: 0,
            flows: Vec::new(),
            frames: VecDeque::new(),
            counters: IngressCounters::default(),
        }
    }

    /// From now on the MAC holds `capacity` frames, and the senders, in the order of their links,
    /// number theirs.
    pub(super) fn limit(&mut self, capacity: u64, senders: &[ComponentId]) {
        self.capacity = capacity;
        let flow = |sender: &ComponentId| Flow {
            sender: *sender,
            expected: 0,
            refused: false,
        };
        self.flows = senders.iter().map(flow).collect();
    }

    fn is_full(&self, at: Ps) -> bool {
        let gone = self.frames.partition_point(|(done, _)| *done <= at);
        let held = self.frames.len() - gone;
        self.capacity > 0 && held as u64 >= self.capacity
    }

    /// Whether the frame is the next one of its link; informs the sender.
    fn accept(&mut self, frame: Frame, ctx: &mut Context<'_, Event>) -> bool {
        let answer = self.timing.answer();
        let Some(flow) = self.flows.get_mut(usize::from(frame.link)) else {
            return true;
        };
        if frame.number == flow.expected {
            flow.expected = flow.expected.wrapping_add(1);
            flow.refused = false;
            ctx.schedule(flow.sender, answer, Event::Ack(frame.number));
            return true;
        }
        // One Nak per gap; the sender's timer is for what is lost again.
        if frame.number > flow.expected && !flow.refused {
            flow.refused = true;
            ctx.schedule(flow.sender, answer, Event::Nak(flow.expected));
        }
        self.counters.discarded += 1;
        self.counters.packets -= u64::from(frame.packets);
        false
    }

    fn arrive(&mut self, frame: Frame, ctx: &mut Context<'_, Event>) {
        let (packets, words) = (u64::from(frame.packets), frame.words());
        let now = ctx.now();
        let wire = self.timing.wire(packets, words);
        self.tail = now.max(self.tail + wire);
        let ready = self.tail + self.timing.mac_in;
        if self.is_full(ready) {
            self.counters.lost += 1;
            self.counters.wire_bytes += wire_bytes(packets, words);
            return;
        }
        let start = ready.max(self.free);
        let work = self.timing.deencapsulate(packets, words);
        self.free = start + work;
        let counters = &mut self.counters;
        counters.frames += 1;
        counters.packets += packets;
        counters.nops += u64::from(frame.nops);
        counters.requests += u64::from(frame.asks() > 0);
        counters.wire_bytes += wire_bytes(packets, words);
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
        if frame.packets > 0 && self.accept(frame, ctx) {
            ctx.schedule(self.target, self.timing.queuing, Event::Deliver(frame));
        }
        if frame.nops > 0 {
            let credits = u32::from(frame.nops) * self.credits_per_nop;
            ctx.schedule(self.target, Ps::ZERO, Event::Credits(credits));
        }
        if frame.asks() > 0 {
            ctx.schedule(self.target, self.timing.queuing, Event::Asked(frame.asks()));
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
            _ => {}
        }
    }
}
