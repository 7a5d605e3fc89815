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
    /// The gets of each link.
    gets: Vec<Gets>,
    /// The port that all stages share, if they do.
    shared: Option<ComponentId>,
    pub(super) counters: ReceiverCounters,
}

/// The gets of one link.
#[derive(Clone, Copy, Debug)]
struct Gets {
    /// Packets that no get has asked for.
    left: u64,
    /// Packets that have gone on to the accelerator.
    taken: u64,
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
            gets: Vec::new(),
            shared: None,
            counters: ReceiverCounters::default(),
            config,
        }
    }

    /// Says where the NOPs of the next sender go, and how many packets it has.
    pub(super) fn attach(&mut self, ingress: ComponentId, packets: u64) {
        self.ingresses.push(ingress);
        self.gets.push(Gets {
            left: packets,
            taken: 0,
        });
    }

    /// All stages share a port.
    pub(super) fn share(&mut self, port: ComponentId) {
        self.shared = Some(port);
    }

    /// The first gets of every link leave together.
    fn begin_gets(&mut self, ctx: &mut Context<'_, Event>) {
        for _ in 0..self.config.gets {
            for link in 0..self.gets.len() {
                self.ask(link as u16, ctx.now(), ctx);
            }
        }
    }

    /// The accelerator issues a get at that time; it has to be mapped as every packet.
    fn ask(&mut self, link: u16, at: Ps, ctx: &mut Context<'_, Event>) {
        let mapped = at + self.config.timing.mapping;
        ctx.schedule_at(ctx.me(), mapped, Event::Get(link));
    }

    /// A get goes to a sender, if it has packets that nobody asked for.
    fn get(&mut self, link: u16, ctx: &mut Context<'_, Event>) {
        let Some(gets) = self.gets.get_mut(usize::from(link)) else {
            return;
        };
        let asks = gets.left.min(self.config.get_packets);
        gets.left -= asks;
        if asks > 0 {
            // At most 2^20, as checked.
            let frame = Frame::get(link, asks as u32);
            self.leave(frame, ctx.now(), ctx);
        }
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
        self.finish_gets(frame.link, packets, ctx);
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

    /// Gets are answered in order: each that is complete makes room for another one.
    fn finish_gets(&mut self, link: u16, packets: u64, ctx: &mut Context<'_, Event>) {
        let each = self.config.get_packets.max(1);
        let gets = self.gets.get_mut(usize::from(link));
        let Some(gets) = gets.filter(|_| self.config.gets > 0) else {
            return;
        };
        let done = gets.taken / each;
        gets.taken += packets;
        let complete = done..gets.taken / each;
        for _ in complete {
            self.ask(link, self.free, ctx);
        }
    }

    fn return_credits(&mut self, link: u16, ready: Ps, ctx: &mut Context<'_, Event>) {
        let nops = self.config.nops_per_frame;
        let frame = Frame {
            link,
            packets: 0,
            // At most 255, as checked.
            nops: nops as u16,
            number: 0,
        };
        self.counters.nop_frames += 1;
        self.counters.nops += nops;
        let start = self.leave(frame, ready, ctx);
        self.counters.waited += u128::from((start - ready).0);
    }

    /// A frame takes its stage; returns when the stage begins with it.
    fn leave(&mut self, frame: Frame, ready: Ps, ctx: &mut Context<'_, Event>) -> Ps {
        let number = usize::from(frame.link) % self.stages.len().max(1);
        let Some(stage) = self.stages.get_mut(number) else {
            return ready;
        };
        let passage = stage.egress.push(ready, 0, frame.words());
        if stage.frames.is_empty() {
            ctx.schedule_at(ctx.me(), passage.tail, Event::Left(number as u16));
        }
        stage.frames.push_back((passage.tail, frame));
        passage.start
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
        let own = self.ingresses.get(usize::from(frame.link));
        if let Some(ingress) = self.shared.as_ref().or(own) {
            ctx.schedule(*ingress, self.config.timing.switch, Event::Arrive(frame));
        }
    }
}

impl Component<Event> for Receiver {
    fn handle(&mut self, event: Event, ctx: &mut Context<'_, Event>) {
        match event {
            Event::Wake => self.begin_gets(ctx),
            Event::Get(link) => self.get(link, ctx),
            Event::Deliver(frame) => self.deliver(frame, ctx),
            Event::Left(stage) => self.left(stage, ctx),
            _ => {}
        }
    }
}
