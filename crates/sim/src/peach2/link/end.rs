//! One end of a link: what it transmits, and what it has received.

use std::collections::VecDeque;

use hostwire_packet::pcie::{CreditClass, DllpRepr, SequenceNumber};

use crate::engine::{ComponentId, Ps};
use crate::peach2::tlp::Tlp;

use super::config::{Credits, LinkConfig};
use super::credit::Counter;

const CLASSES: [CreditClass; 3] = [
    CreditClass::Posted,
    CreditClass::NonPosted,
    CreditClass::Completion,
];

/// A TLP that was transmitted and not yet acknowledged.
struct Kept {
    sequence: SequenceNumber,
    tlp: Tlp,
    begun: Ps,
}

/// The next unit on the wire.
pub(super) enum Next {
    Tlp {
        sequence: SequenceNumber,
        tlp: Tlp,
        replayed: bool,
    },
    Dllp(DllpRepr),
}

/// State of one end. Transmitting is its own direction, receiving the other one's.
pub(super) struct EndState {
    pub(super) device: Option<(ComponentId, u8)>,
    pub(super) busy: bool,
    pub(super) timer_armed: bool,
    /// Transmissions of TLPs and of DLLPs so far: they decide about damage.
    pub(super) transmissions: [u64; 2],
    /// Replays since something was acknowledged.
    pub(super) replays: u32,
    queues: [VecDeque<(u64, Tlp)>; 3],
    submitted: u64,
    consumed: [Counter; 3],
    limit: [Counter; 3],
    next_sequence: SequenceNumber,
    kept: VecDeque<Kept>,
    /// The next one of `kept` to send again.
    replay_at: Option<usize>,
    expected: SequenceNumber,
    nak_sent: bool,
    allocated: [Counter; 3],
    acknowledge_since: Option<Ps>,
    nak_owed: bool,
    update_since: [Option<Ps>; 3],
}

/// The reaction to an undamaged TLP.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Received {
    InOrder,
    Duplicate,
    Gap,
}

impl EndState {
    pub(super) fn new(own: &Credits, other: &Credits) -> EndState {
        let counters = |credits: &Credits| {
            [0, 1, 2].map(|class| Counter::new(credits.header[class], credits.data[class]))
        };
        EndState {
            device: None,
            busy: false,
            timer_armed: false,
            transmissions: [0; 2],
            replays: 0,
            queues: Default::default(),
            submitted: 0,
            consumed: Default::default(),
            limit: counters(other),
            next_sequence: SequenceNumber::MIN,
            kept: VecDeque::new(),
            replay_at: None,
            expected: SequenceNumber::MIN,
            nak_sent: false,
            allocated: counters(own),
            acknowledge_since: None,
            nak_owed: false,
            update_since: [None; 3],
        }
    }

    pub(super) fn push(&mut self, tlp: Tlp) {
        self.submitted += 1;
        self.queues[tlp.class() as usize].push_back((self.submitted, tlp));
    }

    /// Takes what is to be sent at `now`, if anything.
    pub(super) fn next(&mut self, now: Ps, config: &LinkConfig) -> Option<Next> {
        if self.nak_owed || self.overdue(now, config) {
            return self.next_dllp().map(Next::Dllp);
        }
        self.next_replay(now)
            .or_else(|| self.next_new(now, config))
            .or_else(|| self.next_dllp().map(Next::Dllp))
    }

    fn overdue(&self, now: Ps, config: &LinkConfig) -> bool {
        let owed = self.update_since.iter().chain([&self.acknowledge_since]);
        let oldest = owed.flatten().min();
        oldest.is_some_and(|since| now >= *since + config.dllp_wait)
    }

    fn next_dllp(&mut self) -> Option<DllpRepr> {
        // The number before the expected one.
        let last = (self.expected.get() + 4095) % 4096;
        let sequence = SequenceNumber::new(last).unwrap_or(SequenceNumber::MIN);
        if self.nak_owed {
            self.nak_owed = false;
            self.acknowledge_since = None;
            return Some(DllpRepr::Nak { sequence });
        }
        if self.acknowledge_since.take().is_some() {
            return Some(DllpRepr::Ack { sequence });
        }
        let class = CLASSES
            .into_iter()
            .find(|class| self.update_since[*class as usize].is_some())?;
        self.update_since[class as usize] = None;
        Some(self.allocated[class as usize].update(class))
    }

    fn next_replay(&mut self, now: Ps) -> Option<Next> {
        let at = self.replay_at?;
        let kept = self.kept.get_mut(at)?;
        kept.begun = now;
        let next = Next::Tlp {
            sequence: kept.sequence,
            tlp: kept.tlp.clone(),
            replayed: true,
        };
        self.replay_at = (at + 1 < self.kept.len()).then_some(at + 1);
        Some(next)
    }

    /// The oldest TLP that has its credits; reads and completions do not pass writes.
    fn next_new(&mut self, now: Ps, config: &LinkConfig) -> Option<Next> {
        if self.kept.len() >= config.replay_places {
            return None;
        }
        let posted = self.queues[0].front().map(|(number, _)| *number);
        let may_go = |class: usize| {
            let (number, tlp) = self.queues[class].front()?;
            let waits_for_posted = class != 0 && posted.is_some_and(|posted| posted < *number);
            let has_credit = self.consumed[class].allows(self.limit[class], &tlp.cost());
            (!waits_for_posted && has_credit).then_some((*number, class))
        };
        let (_, class) = (0..3).filter_map(may_go).min()?;
        let (_, tlp) = self.queues[class].pop_front()?;
        self.consumed[class].add(&tlp.cost());
        let sequence = self.next_sequence;
        self.next_sequence = sequence.next();
        self.kept.push_back(Kept {
            sequence,
            tlp: tlp.clone(),
            begun: now,
        });
        Some(Next::Tlp {
            sequence,
            tlp,
            replayed: false,
        })
    }

    /// Everything up to `sequence` has arrived; numbers that are not outstanding have no
    /// effect.
    pub(super) fn acknowledge(&mut self, sequence: SequenceNumber) {
        let Some(first) = self.kept.front().map(|kept| kept.sequence) else {
            return;
        };
        let done = usize::from(sequence.ahead_of(first)) + 1;
        // An older number than the first: nothing new.
        if done > self.kept.len() {
            return;
        }
        self.kept.drain(..done);
        self.replays = 0;
        self.replay_at = match self.replay_at {
            Some(at) if !self.kept.is_empty() => Some(at.saturating_sub(done)),
            _ => None,
        };
    }

    /// Begins to repeat all TLPs without an Ack. False if there are none.
    pub(super) fn replay(&mut self) -> bool {
        self.replay_at = (!self.kept.is_empty()).then_some(0);
        self.replay_at.is_some()
    }

    /// When the oldest TLP will have waited for its Ack too long.
    pub(super) fn timeout_at(&self, now: Ps, config: &LinkConfig) -> Option<Ps> {
        let oldest = self.kept.front()?;
        let since = if self.replay_at.is_some() {
            now
        } else {
            oldest.begun
        };
        Some(since + config.replay_timeout)
    }

    /// The other end announced its limit for TLPs of a class.
    pub(super) fn update(&mut self, class: CreditClass, header: u8, data: u16) {
        self.limit[class as usize] = Counter::new(header, data);
    }

    /// A sound TLP has come in.
    pub(super) fn receive(&mut self, sequence: SequenceNumber, now: Ps) -> Received {
        if sequence == self.expected {
            self.expected = sequence.next();
            self.nak_sent = false;
            self.acknowledge_since.get_or_insert(now);
            return Received::InOrder;
        }
        // Half of the numbers lie behind, half ahead.
        if self.expected.ahead_of(sequence) <= 2048 {
            self.acknowledge_since.get_or_insert(now);
            return Received::Duplicate;
        }
        self.refuse();
        Received::Gap
    }

    /// A TLP came in that cannot be used: one Nak until the right one comes.
    pub(super) fn refuse(&mut self) {
        if !self.nak_sent {
            self.nak_sent = true;
            self.nak_owed = true;
        }
    }

    /// The device has emptied buffers.
    pub(super) fn release(&mut self, cost: &hostwire_packet::pcie::CreditCost, now: Ps) {
        let class = cost.class as usize;
        self.allocated[class].add(cost);
        self.update_since[class].get_or_insert(now);
    }

    /// An UpdateFC was lost: it is due again.
    pub(super) fn repeat_update(&mut self, class: CreditClass, now: Ps) {
        self.update_since[class as usize].get_or_insert(now);
    }

    /// TLPs that wait, by class, with whether they wait for credits.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (CreditClass, usize, bool)> {
        CLASSES.into_iter().filter_map(|class| {
            let queue = &self.queues[class as usize];
            let (_, tlp) = queue.front()?;
            let credit =
                self.consumed[class as usize].allows(self.limit[class as usize], &tlp.cost());
            Some((class, queue.len(), !credit))
        })
    }

    /// Transmitted and not acknowledged.
    pub(super) fn unacknowledged(&self) -> usize {
        self.kept.len()
    }
}
