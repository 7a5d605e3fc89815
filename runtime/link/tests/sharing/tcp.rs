//! A TCP stream beside links, with limited transmit and complete selective acks (RFC 5681, RFC 6675).

use std::collections::{BTreeMap, BTreeSet};

const INITIAL: f64 = 10.0;
/// Shortest timeout, of Linux.
const RTO_NS: u64 = 200_000_000;

/// What loss takes from a window, and what a round trip adds.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    left_by_loss: f64,
    growth: f64,
}

impl Control {
    /// RFC 5681.
    pub const RENO: Self = Self {
        left_by_loss: 0.5,
        growth: 1.0,
    };
    /// RFC 9438, 4.3: the Reno-friendly region, where CUBIC is in a local network. It gets as much as Reno,
    /// but keeps the queue longer.
    pub const CUBIC: Self = Self {
        left_by_loss: 0.7,
        growth: 3.0 * (1.0 - 0.7) / (1.0 + 0.7),
    };
}

/// Segments of one stream that has always something to send.
#[derive(Debug)]
pub struct Tcp {
    control: Control,
    window: f64,
    threshold: f64,
    /// The next segment that was never sent.
    next: u64,
    /// Sent, not acknowledged: each with its place in the order of sending.
    flying: BTreeMap<u64, u64>,
    sent: u64,
    lost: BTreeSet<u64>,
    /// A loss of a segment before this one has been answered.
    recovers_to: u64,
    expected: u64,
    early: BTreeSet<u64>,
    arrived: u64,
    rto_at: u64,
}

impl Tcp {
    pub fn new(control: Control) -> Self {
        Self {
            control,
            window: INITIAL,
            threshold: f64::INFINITY,
            next: 0,
            flying: BTreeMap::new(),
            sent: 0,
            lost: BTreeSet::new(),
            recovers_to: 0,
            expected: 0,
            early: BTreeSet::new(),
            arrived: 0,
            rto_at: u64::MAX,
        }
    }

    /// Segments that have arrived, each counted once.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    pub fn deadline(&self) -> u64 {
        self.rto_at
    }

    /// The number of the segment that goes next, if one may.
    pub fn send(&mut self, now: u64) -> Option<u64> {
        if now >= self.rto_at {
            self.threshold = (self.window / 2.0).max(2.0);
            self.window = 1.0;
            self.lost.extend(self.flying.keys());
            self.flying.clear();
            self.recovers_to = self.next;
            self.rto_at = u64::MAX;
        }
        if self.flying.len() >= self.window as usize {
            return None;
        }
        let number = self.lost.pop_first().unwrap_or_else(|| {
            self.next += 1;
            self.next - 1
        });
        self.sent += 1;
        self.flying.insert(number, self.sent);
        if self.rto_at == u64::MAX {
            self.rto_at = now + RTO_NS;
        }
        Some(number)
    }

    /// A segment arrives; the ack names it.
    pub fn receive(&mut self, number: u64) -> u64 {
        if number >= self.expected && self.early.insert(number) {
            self.arrived += 1;
            while self.early.remove(&self.expected) {
                self.expected += 1;
            }
        }
        number
    }

    /// The ack of a segment arrives.
    pub fn acked(&mut self, now: u64, number: u64) {
        let Some(acked) = self.flying.remove(&number) else {
            return;
        };
        self.rto_at = now + RTO_NS;
        // Segments that were sent at least three before it.
        let lost = |(number, sent): (&u64, &u64)| (sent + 3 < acked).then_some(*number);
        for number in self.flying.iter().filter_map(lost).collect::<Vec<_>>() {
            self.flying.remove(&number);
            self.lost.insert(number);
            if number >= self.recovers_to {
                self.recovers_to = self.next;
                self.window = (self.window * self.control.left_by_loss).max(2.0);
                self.threshold = self.window;
            }
        }
        self.window += match self.window < self.threshold {
            true => 1.0,
            false => self.control.growth / self.window,
        };
    }
}
