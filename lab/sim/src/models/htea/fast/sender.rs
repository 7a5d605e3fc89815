//! A sending node: packets come from its HyperTransport side as long as there is room, wait
//! for credits, and are packed.

use std::collections::VecDeque;

use hostwire_link::Ns;
use hostwire_link::packing::FrameHold;

use super::config::Config;
use super::egress::Egress;
use super::event::{Event, Frame};
use crate::engine::{Component, ComponentId, Context, Ps, Wait};

/// A payload waits for its packets for as long as it takes: the paper's rule.
const HOLD_NS: u64 = u64::MAX;

pub(super) struct Sender {
    config: Config,
    link: u16,
    /// Port of the switch towards the accelerator's node.
    ingress: ComponentId,
    /// Packets to be sent in all.
    total: u64,
    /// Of these, asked for by gets: all of them if nobody has to ask.
    asked: u64,
    /// Packets that have come from the HyperTransport side.
    arrived: u64,
    /// When the next packet comes, if there is room.
    next: Ps,
    /// Packets whose encapsulation has begun.
    sent: u64,
    /// Packets that have no credit.
    poor: u64,
    /// Packets with a credit, oldest first.
    rich: VecDeque<Run>,
    rich_packets: u64,
    /// Credits that no packet has.
    spare: u64,
    /// When a payload leaves that is being collected.
    payload: FrameHold,
    egress: Egress,
    /// Frames that may be lost and sent again; unused if no frame can be lost.
    retry: Retry,
    /// When a `Wake` comes.
    wake: Option<Ps>,
    /// Until when credits are counted.
    counted: Ps,
    pub(super) counters: SenderCounters,
}

/// Go-Back-N, the sending end.
#[derive(Clone, Copy, Debug, Default)]
struct Retry {
    /// Frames sent once.
    frames: u32,
    /// The number of these, from the first on, that have arrived.
    acked: u32,
    /// The next frame to be sent again.
    again: Option<u32>,
    /// When the sender has waited too long.
    deadline: Ps,
    /// A `Timeout` comes.
    armed: bool,
}

/// Packets that got their credits one every `period`.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: Ps,
    period: Ps,
    packets: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SenderCounters {
    pub(super) frames: u64,
    pub(super) frame_bytes: u64,
    /// Frames sent again.
    pub(super) resent: u64,
    /// Time with a credit and without encapsulation, of all packets together.
    pub(super) waited: u128,
    /// Credits times picoseconds, until the last packet was sent.
    pub(super) credit_time: u128,
    /// When the encapsulation of the last packet began.
    pub(super) end: Ps,
}

impl Sender {
    pub(super) fn new(config: Config, link: u16, total: u64, ingress: ComponentId) -> Sender {
        Sender {
            link,
            ingress,
            total,
            asked: if config.gets > 0 { 0 } else { total },
            arrived: 0,
            next: config.timing.mapping,
            sent: 0,
            poor: 0,
            rich: VecDeque::new(),
            rich_packets: 0,
            spare: config.credits(),
            payload: FrameHold::default(),
            egress: Egress::new(config.timing),
            retry: Retry::default(),
            // The first one is injected.
            wake: Some(Ps::ZERO),
            counted: Ps::ZERO,
            counters: SenderCounters::default(),
            config,
        }
    }

    /// Bytes that went out of its port.
    pub(super) fn wire_bytes(&self) -> u64 {
        self.egress.wire_bytes
    }

    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Credits of packets that wait, and of none.
    pub(super) fn credits(&self) -> u64 {
        self.spare + self.rich_packets
    }

    /// Packets that may have arrived: the outgoing buffers hold no more.
    fn room(&self) -> u64 {
        let held = self.sent.saturating_add(self.config.outgoing_packets());
        held.min(self.asked)
    }

    /// Lets packets come until now.
    fn advance(&mut self, now: Ps) {
        let room = self.room() - self.arrived;
        if room == 0 || self.next > now {
            return;
        }
        let period = self.config.timing.ht_packet;
        let packets = ((now - self.next).0 / period.0 + 1).min(room);
        let rich = packets.min(self.spare);
        self.credit(self.next, period, rich);
        self.spare -= rich;
        self.poor += packets - rich;
        self.arrived += packets;
        self.next += period * packets;
    }

    fn credit(&mut self, first: Ps, period: Ps, packets: u64) {
        if packets > 0 {
            self.rich_packets += packets;
            self.rich.push_back(Run {
                first,
                period,
                packets,
            });
        }
    }

    /// Counts credits up to now, before they change.
    fn count(&mut self, now: Ps) {
        if self.sent < self.total {
            let credits = u128::from(self.credits());
            self.counters.credit_time += credits * u128::from((now - self.counted).0);
            self.counted = now;
        }
    }

    fn take_credits(&mut self, credits: u64, now: Ps) {
        let rich = credits.min(self.poor);
        self.credit(now, Ps::ZERO, rich);
        self.poor -= rich;
        self.spare += credits - rich;
    }

    fn send(&mut self, ctx: &mut Context<'_, Event>) {
        let now = ctx.now();
        if let Some(number) = self.retry.again {
            if self.egress.free() > now {
                return self.wake_at(self.egress.free(), ctx);
            }
            self.counters.resent += 1;
            let next = number + 1;
            self.retry.again = (next < self.retry.frames).then_some(next);
            let each = self.config.packets_per_frame;
            let packets = each.min(self.total - u64::from(number) * each);
            let free = self.transmit(number, packets, ctx);
            return self.wake_at(free, ctx);
        }
        if self.can_lose() && self.outstanding() >= self.config.retry_frames {
            return;
        }
        let packets = self.config.packets_per_frame.min(self.asked - self.sent);
        if packets == 0 {
            return;
        }
        if self.egress.free() > now {
            return self.wake_at(self.egress.free(), ctx);
        }
        if !self.payload_is_ready() {
            // There is room for a payload: what is missing comes, if there are credits.
            if self.credits() >= packets {
                let missing = packets - self.rich_packets;
                let last = self.next + self.config.timing.ht_packet * (missing - 1);
                self.wake_at(last, ctx);
            }
            return;
        }
        self.count(now);
        self.pop(packets, now);
        self.payload.all_left();
        let full = self.room() == self.arrived;
        self.sent += packets;
        if full {
            self.next = self.next.max(now);
        }
        self.counters.end = now;
        let number = self.retry.frames;
        if self.can_lose() {
            self.retry.frames += 1;
        }
        let free = self.transmit(number, packets, ctx);
        if self.sent < self.asked {
            self.wake_at(free, ctx);
        }
    }

    /// Whether there is a payload with credits. No packet follows the last ones of all that is asked
    /// for: they wait for none.
    fn payload_is_ready(&mut self) -> bool {
        if self.rich_packets == self.asked - self.sent {
            self.payload.flush();
        }
        let is_full = self.rich_packets >= self.config.packets_per_frame;
        self.payload.leaves_at(HOLD_NS, is_full) < Ns::MAX
    }

    /// Whether frames can be lost.
    fn can_lose(&self) -> bool {
        self.config.incoming_frames > 0
    }

    /// Frames without an ack.
    fn outstanding(&self) -> u64 {
        u64::from(self.retry.frames - self.retry.acked)
    }

    /// Sends a frame; returns when the stage is free again.
    fn transmit(&mut self, number: u32, packets: u64, ctx: &mut Context<'_, Event>) -> Ps {
        let now = ctx.now();
        let passage = self.egress.push(now, packets, 0);
        self.counters.frames += 1;
        self.counters.frame_bytes += super::config::frame_bytes(packets, 0);
        let frame = Frame {
            link: self.link,
            // At most 20, as checked.
            packets: packets as u16,
            nops: 0,
            number,
        };
        let arrival = passage.tail + self.config.timing.switch;
        ctx.schedule_at(self.ingress, arrival, Event::Arrive(frame));
        if self.can_lose() && !self.retry.armed {
            self.retry.armed = true;
            self.retry.deadline = now + self.config.retry_timeout;
            ctx.schedule_at(ctx.me(), self.retry.deadline, Event::Timeout);
        }
        passage.free
    }

    /// All frames before `next` have come through; with `again`, that one is missing.
    fn answered(&mut self, next: u32, again: bool, now: Ps) {
        let retry = &mut self.retry;
        if next > retry.acked {
            retry.acked = next;
            retry.deadline = now + self.config.retry_timeout;
        }
        if again {
            retry.again = Some(next);
        }
        let last = retry.frames;
        retry.again = retry.again.map(|number| number.max(retry.acked));
        retry.again = retry.again.filter(|number| *number < last);
    }

    fn timeout(&mut self, ctx: &mut Context<'_, Event>) {
        self.retry.armed = self.outstanding() > 0;
        if !self.retry.armed {
            return;
        }
        let now = ctx.now();
        if now >= self.retry.deadline {
            self.retry.again = Some(self.retry.acked);
            self.retry.deadline = now + self.config.retry_timeout;
        }
        ctx.schedule_at(ctx.me(), self.retry.deadline, Event::Timeout);
    }

    fn wake_at(&mut self, time: Ps, ctx: &mut Context<'_, Event>) {
        if self.wake.is_none_or(|wake| time < wake) {
            self.wake = Some(time);
            ctx.schedule_at(ctx.me(), time, Event::Wake);
        }
    }

    /// Takes packets with credits, oldest first.
    fn pop(&mut self, packets: u64, now: Ps) {
        let mut left = packets;
        while left > 0
            && let Some(run) = self.rich.front_mut()
        {
            let taken = run.packets.min(left);
            let first = u128::from((now - run.first).0) * u128::from(taken);
            let pairs = u128::from(taken) * u128::from(taken - 1) / 2;
            self.counters.waited += first - pairs * u128::from(run.period.0);
            run.first += run.period * taken;
            run.packets -= taken;
            left -= taken;
            if run.packets == 0 {
                self.rich.pop_front();
            }
        }
        self.rich_packets -= packets - left;
    }
}

impl Component<Event> for Sender {
    fn handle(&mut self, event: Event, ctx: &mut Context<'_, Event>) {
        let now = ctx.now();
        self.advance(now);
        match event {
            Event::Wake if self.wake == Some(now) => self.wake = None,
            Event::Credits(credits) => {
                self.count(now);
                self.take_credits(u64::from(credits), now);
            }
            Event::Asked(packets) => {
                // Reads of memory that is idle begin now; others follow without a gap.
                if self.arrived == self.asked {
                    self.next = self.next.max(now + self.config.timing.mapping);
                }
                self.asked = (self.asked + u64::from(packets)).min(self.total);
            }
            Event::Ack(number) => self.answered(number + 1, false, now),
            Event::Nak(number) => self.answered(number, true, now),
            Event::Timeout => self.timeout(ctx),
            // A wake that an earlier one has replaced, and events for others.
            _ => return,
        }
        self.send(ctx);
    }

    fn waits(&self) -> Vec<Wait> {
        let left = self.total - self.sent;
        let wait = Wait {
            resource: format!("credits: {} held, {left} packets left", self.credits()),
            holder: None,
        };
        (left > 0).then_some(wait).into_iter().collect()
    }
}
