//! The state on which the future of a link depends when no time passes: for the model
//! checker.

use std::hash::{Hash, Hasher};

use super::{EndpointShared, Link, LinkState};
use crate::time::Ns;

impl Link {
    /// Feeds everything except counters and times. Under the settings of the model a time
    /// is either over or never, and only this is fed.
    pub(crate) fn project(&self, now: Ns, state: &mut impl Hasher) {
        matches!(self.state, LinkState::Opening).hash(state);
        matches!(self.state, LinkState::Open).hash(state);
        self.session.project(state);
        for channel in hostwire_packet::ht::VirtualChannel::ALL {
            (self.wallet.has(channel), self.ledger.granted(channel)).hash(state);
            (self.ledger.filled(channel), self.ledger.owed(channel)).hash(state);
            self.queues.len(channel).hash(state);
        }
        (self.flight.base().0, self.flight.len()).hash(state);
        (self.flight.sealed(), self.flight.cursor()).hash(state);
        for slot in self.flight.slots() {
            (slot.nops, slot.packets, slot.packets_len, slot.sealed).hash(state);
        }
        (self.expected.0, self.unacked).hash(state);
        self.congestion.frames().hash(state);
        for flag in [
            self.hold.is_flushed(),
            self.ack_wanted,
            self.finishing,
            self.probing,
            self.nak_served,
            self.gap_seen,
            self.nak_due,
            self.mark_due,
            self.probe_due,
            self.ack_at <= now,
            self.credit_at <= now,
            self.rto_at == Ns::MAX,
        ] {
            flag.hash(state);
        }
    }

    /// Lets the timer of the link run out at once; `false` if there is no timer.
    pub(crate) fn ring(&mut self, now: Ns, shared: &mut EndpointShared) -> bool {
        match self.state {
            LinkState::Closed(_) => false,
            LinkState::Opening => self.session.ring(),
            LinkState::Open if self.rto_at == Ns::MAX => false,
            LinkState::Open => {
                self.on_timeout(now, shared);
                true
            }
        }
    }

    /// Whether a timer will run out.
    pub(crate) fn has_timer(&self) -> bool {
        match self.state {
            LinkState::Closed(_) => false,
            LinkState::Opening => true,
            LinkState::Open => self.rto_at != Ns::MAX,
        }
    }
}
