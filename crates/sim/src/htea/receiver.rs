//! The HyperTransport side of the accelerator's node, and the credits that go back.

use std::collections::VecDeque;

use super::config::Config;
use super::egress::Egress;
use super::event::{Event, Frame};
use crate::engine::{Component, ComponentId, Context, Ps};

pub(super) struct Receiver {
    config: Config,
    /// When the way to the accelerator takes the next packet.
    free: Ps,
    /// Credits owed to each sender.
    owed: Vec<u64>,
    /// Where the NOPs of each sender arrive.
    ingresses: Vec<ComponentId>,
    stages: Vec<Stage>,
    pub(super) counters: ReceiverCounters,
}

struct Stage {
    egress: Egress,
    /// Frames that have not left, each with the time at which its end does.
    frames: VecDeque<(Ps, Frame)>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ReceiverCounters {
    pub(super) packets: u64,
    pub(super) nop_frames: u64,
    pub(super) nops: u64,
    /// Time that frames of NOPs waited for their stage, together.
    pub(super) waited: u128,
    /// When the last packet so far was out of its queue.
    pub(super) delivered: Ps,
    /// When the last packet so far was out of the adapter.
    pub(super) end: Ps,
}

impl Receiver {
    pub(super) fn new(config: Config) -> Receiver {
        let stage = || Stage {
            egress: Egress::new(config.timing),
            frames: VecDeque::new(),
        };
        Receiver {
            free: Ps::ZERO,
            owed: (0..config.senders()).map(|_| 0).collect(),
            ingresses: Vec::new(),
            stages: (0..config.stages_out).map(|_| stage()).collect(),
            counters: ReceiverCounters::default(),
            config,
        }
    }

    /// Says where the NOPs of the next sender go.
    pub(super) fn attach(&mut self, ingress: ComponentId) {
        self.ingresses.push(ingress);
    }

    pub(super) fn owed(&self) -> u64 {
        self.owed.iter().sum()
    }

    /// Bytes of NOPs on each port.
    pub(super) fn wire_bytes(&self) -> impl Iterator<Item = u64> + '_ {
        let stages = self.stages.iter();
        stages.map(|stage| stage.egress.wire_bytes)
    }

    /// Packets leave one after the other; each gives its buffer back.
    fn deliver(&mut self, frame: Frame, ctx: &mut Context<'_, Event>) {
        let packets = u64::from(frame.packets);
        let packet = self.config.timing.out_of_adapter();
        let start = ctx.now().max(self.free);
        self.free = start + packet * packets;
        self.counters.packets += packets;
        self.counters.delivered = self.counters.delivered.max(ctx.now());
        self.counters.end = self.free;
        let link = usize::from(frame.link);
        let batch = self.config.credit_batch();
        let Some(&owed_before) = self.owed.get(link) else {
            return;
        };
        let full = (owed_before + packets) / batch;
        if let Some(owed) = self.owed.get_mut(link) {
            *owed = (owed_before + packets) % batch;
        }
        for nth in 1..=full {
            // The packet that fills the batch.
            let gone = nth * batch - owed_before;
            self.return_credits(frame.link, start + packet * gone, ctx);
        }
    }

    fn return_credits(&mut self, link: u16, ready: Ps, ctx: &mut Context<'_, Event>) {
        let number = usize::from(link) % self.stages.len().max(1);
        let Some(stage) = self.stages.get_mut(number) else {
            return;
        };
        let nops = self.config.nops_per_frame;
        let passage = stage.egress.push(ready, 0, nops);
        self.counters.nop_frames += 1;
        self.counters.nops += nops;
        self.counters.waited += u128::from((passage.start - ready).0);
        let frame = Frame {
            link,
            packets: 0,
            // At most 255, as checked.
            nops: nops as u16,
            number: 0,
        };
        if stage.frames.is_empty() {
            ctx.schedule_at(ctx.me(), passage.tail, Event::Left(number as u16));
        }
        stage.frames.push_back((passage.tail, frame));
    }

    fn left(&mut self, number: u16, ctx: &mut Context<'_, Event>) {
        let Some(stage) = self.stages.get_mut(usize::from(number)) else {
            return;
        };
        let Some((_, frame)) = stage.frames.pop_front() else {
            return;
        };
        if let Some((tail, _)) = stage.frames.front() {
            ctx.schedule_at(ctx.me(), *tail, Event::Left(number));
        }
        if let Some(ingress) = self.ingresses.get(usize::from(frame.link)) {
            ctx.schedule(*ingress, self.config.timing.switch, Event::Arrive(frame));
        }
    }
}

impl Component<Event> for Receiver {
    fn handle(&mut self, event: Event, ctx: &mut Context<'_, Event>) {
        match event {
            Event::Deliver(frame) => self.deliver(frame, ctx),
            Event::Left(stage) => self.left(stage, ctx),
            _ => {}
        }
    }
}
