//! One end of a link: what it wants to send, may send, and keeps.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use crate::engine::{ComponentId, Ps};

use super::config::{End, Terms};
use super::family::{Family, Number, Received, Unit};

/// Counters of one direction, since the link was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Packets, repeated ones each time.
    pub packets: u64,
    /// Packets that were sent again.
    pub replayed: u64,
    /// Control units: NOPs or DLLPs.
    pub controls: u64,
    /// Bytes of data, those of repeated packets once.
    pub payload_bytes: u64,
    /// Bytes on the wires, without periodic CRCs.
    pub wire_bytes: u64,
    /// Units with a wrong CRC that the receiver of this direction saw.
    pub crc_errors: u64,
    /// When the first packet began.
    pub first_begin: Option<Ps>,
    /// When the last packet began.
    pub last_begin: Ps,
    /// When the last packet ended.
    pub last_end: Ps,
    /// Time in which the transmitter was occupied, periodic CRCs included.
    pub busy: Ps,
    /// Packets that were lost because the cable was pulled or the port was off.
    pub lost: u64,
}

/// A packet that waits for its turn. The values that decide about its turn are copied here,
/// because the packet itself is probably not in a cache.
#[derive(Debug)]
struct Queued<F: Family> {
    /// Order of submission.
    order: u64,
    passes_posted: bool,
    cost: F::Cost,
    packet: F::Packet,
}

/// A packet that was transmitted and not yet acknowledged.
#[derive(Debug)]
struct Kept<F: Family> {
    number: F::Number,
    cost: F::Cost,
    packet: F::Packet,
    begun: Ps,
}

/// State of one end: transmitting is its own direction, receiving the other one's.
#[derive(Debug)]
pub(super) struct Side<F: Family> {
    pub(super) device: Option<(ComponentId, u8)>,
    pub(super) layer: F,
    pub(super) busy: bool,
    pub(super) timer_armed: bool,
    /// Repetitions since something was acknowledged.
    pub(super) replays: u32,
    /// The number of the next packet from the other end.
    pub(super) expected: F::Number,
    pub(super) counters: LinkCounters,
    /// Transmissions of packets and of control units so far: they decide about damage.
    transmissions: [u32; 2],
    queues: [VecDeque<Queued<F>>; 3],
    submitted: u64,
    next_number: F::Number,
    kept: VecDeque<Kept<F>>,
    /// The next one of `kept` to send again.
    replay_at: Option<usize>,
}

impl<F: Family> Side<F> {
    pub(super) fn new(config: &F::Config, end: End) -> Side<F> {
        Side {
            device: None,
            layer: F::new(config, end),
            busy: false,
            timer_armed: false,
            replays: 0,
            expected: F::Number::FIRST,
            counters: LinkCounters::default(),
            transmissions: [0; 2],
            queues: Default::default(),
            submitted: 0,
            next_number: F::Number::FIRST,
            kept: VecDeque::new(),
            replay_at: None,
        }
    }

    /// Forgets all packets, as on a reset.
    pub(super) fn clear(&mut self) {
        self.busy = false;
        self.queues = Default::default();
        self.expected = F::Number::FIRST;
        self.next_number = F::Number::FIRST;
        self.kept.clear();
        self.replay_at = None;
    }

    #[inline]
    pub(super) fn push(&mut self, packet: F::Packet) {
        self.submitted += 1;
        let cost = F::cost(&packet);
        self.queues[F::index(F::channel(&cost))].push_back(Queued {
            order: self.submitted,
            passes_posted: F::passes_posted(&packet),
            cost,
            packet,
        });
    }

    /// Takes what is to be sent at `now`, if anything.
    #[inline]
    pub(super) fn next(&mut self, now: Ps, config: &F::Config, terms: &Terms) -> Option<Unit<F>> {
        let urgent = self.layer.urgent(now, self.expected, config);
        let unit = urgent.map(undamaged).or_else(|| match self.replay_at {
            Some(at) => self.repeated(at, now),
            None => self.fresh(now, terms),
        });
        unit.or_else(|| self.layer.idle(self.expected).map(undamaged))
    }

    fn repeated(&mut self, at: usize, now: Ps) -> Option<Unit<F>> {
        let kept = self.kept.get_mut(at)?;
        if F::TRAINING_STARTS_OVER {
            if self.layer.missing(&kept.cost).is_some() {
                return None;
            }
            self.layer.spend(&kept.cost);
        }
        kept.begun = now;
        self.replay_at = (at + 1 < self.kept.len()).then_some(at + 1);
        let kept = self.kept.get(at)?;
        Some(Unit::Packet {
            number: kept.number,
            packet: kept.packet.clone(),
            replayed: true,
            damaged: None,
        })
    }

    #[inline]
    fn fresh(&mut self, now: Ps, terms: &Terms) -> Option<Unit<F>> {
        if self.kept.len() >= terms.replay_places {
            return None;
        }
        let channel = self.next_channel()?;
        let Queued { cost, packet, .. } = self.queues[channel].pop_front()?;
        self.layer.spend(&cost);
        let number = self.next_number;
        self.next_number = number.next();
        if self.layer.keeps() {
            self.kept.push_back(Kept {
                number,
                cost,
                packet: packet.clone(),
                begun: now,
            });
        }
        Some(Unit::Packet {
            number,
            packet,
            replayed: false,
            damaged: None,
        })
    }

    /// The channel of the oldest packet that has its credits. Only posted packets, and those
    /// that say so, pass older posted ones.
    #[inline]
    fn next_channel(&self) -> Option<usize> {
        let oldest_posted = self.queues[0].front().map_or(u64::MAX, |head| head.order);
        let may_go = |channel: usize| {
            let head = self.queues[channel].front()?;
            let waits_for_posted =
                channel != 0 && !head.passes_posted && head.order > oldest_posted;
            let may = !waits_for_posted && self.layer.missing(&head.cost).is_none();
            may.then_some((head.order, channel))
        };
        let (_, channel) = (0..3).filter_map(may_go).min()?;
        Some(channel)
    }

    /// Decides whether this transmission is damaged.
    #[inline]
    pub(super) fn damage(&mut self, config: &mut F::Config, end: End, unit: &mut Unit<F>) {
        let (control, damaged) = match unit {
            Unit::Control { damaged, .. } => (true, damaged),
            Unit::Packet { damaged, .. } => (false, damaged),
        };
        let Some(damage) = F::damage(config, end, control) else {
            return;
        };
        let transmission = &mut self.transmissions[usize::from(control)];
        *transmission = transmission.wrapping_add(1);
        if damage.hits(u64::from(*transmission)) {
            *damaged = Some(NonZeroU32::new(*transmission).unwrap_or(NonZeroU32::MIN));
        }
    }

    #[inline]
    pub(super) fn count(&mut self, unit: &Unit<F>, bytes: u64, [begin, end]: [Ps; 2]) {
        let counters = &mut self.counters;
        counters.wire_bytes += bytes;
        counters.busy += end - begin;
        let Unit::Packet {
            packet, replayed, ..
        } = unit
        else {
            counters.controls += 1;
            return;
        };
        counters.packets += 1;
        if *replayed {
            counters.replayed += 1;
        } else {
            counters.payload_bytes += F::payload_bytes(packet);
        }
        counters.first_begin.get_or_insert(begin);
        counters.last_begin = begin;
        counters.last_end = end;
    }

    /// Everything before `next` has arrived; numbers that are not outstanding have no effect.
    #[inline]
    pub(super) fn acknowledge(&mut self, next: F::Number) {
        let Some(first) = self.kept.front().map(|kept| kept.number) else {
            return;
        };
        let done = next.after(first);
        if done == 0 || done > self.kept.len() {
            return;
        }
        self.kept.drain(..done);
        self.replays = 0;
        self.replay_at = match self.replay_at {
            Some(at) if !self.kept.is_empty() => Some(at.saturating_sub(done)),
            _ => None,
        };
    }

    /// Begins to repeat all packets that are not acknowledged. `false` if there are none.
    pub(super) fn replay(&mut self) -> bool {
        self.replay_at = (!self.kept.is_empty()).then_some(0);
        self.replay_at.is_some()
    }

    /// When the oldest packet will have waited for its acknowledgement too long.
    #[inline]
    pub(super) fn timeout_at(&self, now: Ps, terms: &Terms) -> Option<Ps> {
        let timeout = terms.replay_timeout?;
        let oldest = self.kept.front()?;
        let since = if self.replay_at.is_some() {
            now
        } else {
            oldest.begun
        };
        Some(since + timeout)
    }

    /// Places an undamaged packet among those that were received.
    #[inline]
    pub(super) fn place(&mut self, number: F::Number) -> Received {
        if number == self.expected {
            self.expected = number.next();
            return Received::InOrder;
        }
        if self.expected.after(number) <= F::Number::BEHIND_MAX {
            return Received::Duplicate;
        }
        Received::Gap
    }

    /// Heads of queues that miss a credit: channel, credit, packets in the queue, the head.
    pub(super) fn missing(
        &self,
    ) -> impl Iterator<Item = (F::Channel, &'static str, usize, &F::Packet)> {
        self.queues.iter().filter_map(|queue| {
            let head = queue.front()?;
            let credit = self.layer.missing(&head.cost)?;
            Some((F::channel(&head.cost), credit, queue.len(), &head.packet))
        })
    }

    /// Packets that wait: those that were not sent, and those that were not acknowledged.
    pub(super) fn waiting(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum::<usize>() + self.kept.len()
    }
}

fn undamaged<F: Family>(control: F::Control) -> Unit<F> {
    Unit::Control {
        control,
        damaged: None,
    }
}
