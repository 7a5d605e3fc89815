//! The counters and fault reports of a socket.

use std::collections::BTreeMap;

use crate::engine::Ps;
use crate::models::ht::Packet;

use super::route::AbortReason;

/// Incidents kept; later ones are only counted.
const INCIDENTS_MAX: usize = 100;

/// Counters of a socket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpteronCounters {
    /// Writes that the cores sent over links.
    pub writes_out: u64,
    /// Stores of the cores that went on their way, to a link or to local memory.
    pub stores_sent: u64,
    /// Writes that reached memory.
    pub writes: u64,
    /// Their bytes.
    pub write_bytes: u64,
    /// When the first one was visible.
    pub first_write: Option<Ps>,
    /// When the last one was visible.
    pub last_write: Ps,
    /// Writes lost because memory was not initialised.
    pub writes_lost: u64,
    /// Packets passed on from link to link.
    pub forwarded: u64,
    /// Requests that no register claimed, by reason.
    pub aborts: BTreeMap<AbortReason, u64>,
    /// Responses that no read of this socket expected.
    pub unmatched_responses: u64,
    /// Interrupts of this coherent domain.
    pub interrupts: u64,
    /// Interrupts that came over a non-coherent link, so from another system.
    pub foreign_interrupts: u64,
}

/// Something that should not have happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Incident {
    /// When.
    pub time: Ps,
    /// What, as a sentence.
    pub what: String,
}

#[derive(Default)]
pub(super) struct Status {
    pub(super) counters: OpteronCounters,
    pub(super) incidents: Vec<Incident>,
}

impl Status {
    pub(super) fn incident(&mut self, time: Ps, what: String) {
        if self.incidents.len() < INCIDENTS_MAX {
            self.incidents.push(Incident { time, what });
        }
    }

    pub(super) fn abort(&mut self, time: Ps, reason: AbortReason, packet: &Packet) {
        *self.counters.aborts.entry(reason).or_default() += 1;
        self.incident(
            time,
            format!("request to {:#x} aborted: {reason}", packet.address),
        );
    }

    pub(super) fn wrote(&mut self, time: Ps, packet: &Packet) {
        let counters = &mut self.counters;
        counters.writes += 1;
        counters.write_bytes += packet.data.len() as u64;
        counters.first_write.get_or_insert(time);
        counters.last_write = time;
    }
}
