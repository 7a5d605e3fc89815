//! What the driver of a host knows of its ring and of the rings of others. All PEs of a host
//! share it.

use std::collections::VecDeque;
use std::ops::Range;

use crate::engine::Ps;
use crate::models::ht::Packet;
use crate::models::ht::opteron::WriteObserver;

use super::super::board::{Board, SharedBoard};
use super::Looks;

/// Slots of a receiver's ring that a sender leaves for what is not counted: two answers to many
/// messages, and one to a question.
pub(super) const ANSWER_SLOTS: u64 = 3;

/// A message in the ring.
#[derive(Debug)]
pub(super) struct Arrived {
    pub(super) at: Ps,
    pub(super) source: usize,
    pub(super) payload: Vec<u8>,
}

/// Another host, as the driver of this one sees it.
#[derive(Debug, Default, Clone)]
pub(in crate::wire) struct Peer {
    /// Puts and questions sent to it.
    pub(super) sent: u64,
    /// How many of these it has taken, as far as is known.
    pub(super) known: u64,
    /// Puts and questions of it that were taken.
    pub(super) taken: u64,
    /// How many of these it has been told.
    pub(super) told: u64,
    /// The value of `sent` at the last question, if that has no answer.
    pub(super) asked: Option<u64>,
}

/// A host's ring.
#[derive(Debug)]
pub(in crate::wire) struct Ring {
    /// The PEs of the host.
    pub(in crate::wire) pes: Vec<usize>,
    /// Messages that wait to be taken, the first come first.
    pub(super) arrived: VecDeque<Arrived>,
    /// One PE takes messages at a time, so that they stay in order.
    pub(super) is_taking: bool,
    pub(super) peers: Vec<Peer>,
}

impl Ring {
    pub(super) fn new(hosts: usize) -> Self {
        Self {
            pes: Vec::new(),
            arrived: VecDeque::new(),
            is_taking: false,
            peers: vec![Peer::default(); hosts],
        }
    }
}

impl Peer {
    /// The host reports how many it has taken, by the low bits. An older word is ignored.
    pub(super) fn learn(&mut self, taken: u16) {
        let news = taken.wrapping_sub(self.known as u16);
        if news < 1 << 15 && self.known + u64::from(news) <= self.sent {
            self.known += u64::from(news);
        }
        if self.asked.is_some_and(|asked| self.known >= asked) {
            self.asked = None;
        }
    }

    /// Tells it how many have been taken: the low bits for a header.
    pub(super) fn tell(&mut self) -> u16 {
        self.told = self.taken;
        self.taken as u16
    }
}

impl Board {
    pub(super) fn ring(&mut self, host: usize) -> Option<&mut Ring> {
        self.rings.get_mut(host)
    }

    pub(super) fn peer(&mut self, host: usize, of: usize) -> Option<&mut Peer> {
        self.rings.get_mut(host)?.peers.get_mut(of)
    }

    /// Whether a PE of this host still runs.
    pub(super) fn has_pes(&self, host: usize) -> bool {
        let pes = self.rings.get(host).map_or(&[][..], |ring| &ring.pes);
        let runs = |pe: &usize| self.pes.get(*pe).is_some_and(|pe| !pe.ended);
        pes.iter().any(runs)
    }
}

/// Told of every write to the memory of a host; notes what its board puts into the ring.
pub(super) struct RingObserver {
    pub(super) board: SharedBoard,
    pub(super) host: usize,
    /// Where the ring is.
    pub(super) ring: Range<u64>,
    /// The payload of the message whose status has not come.
    pub(super) payload: Vec<u8>,
    pub(super) looks: Looks,
}

impl WriteObserver for RingObserver {
    fn wrote(&mut self, now: Ps, packet: &Packet) {
        if !self.ring.contains(&packet.address) {
            return;
        }
        let in_slot = (packet.address - self.ring.start) % hostwire_plan::htx::SLOT_BYTES;
        if in_slot < STATUS {
            self.payload.clone_from(&packet.data);
            return;
        }
        let Some(source) = packet.data.get(4..6) else {
            return;
        };
        let source = source
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | usize::from(*byte));
        let slots = (self.ring.end - self.ring.start) / hostwire_plan::htx::SLOT_BYTES;
        let board = &mut *self.board.lock();
        if let Some(ring) = board.ring(self.host) {
            ring.arrived.push_back(Arrived {
                at: now,
                source,
                payload: std::mem::take(&mut self.payload),
            });
            if ring.arrived.len() as u64 > slots {
                // The board has written over a message that was not taken.
                ring.arrived.pop_front();
            }
        }
        board.wake_host(self.host, now, self.looks);
    }
}

/// Where the status of a slot is in it.
const STATUS: u64 = 64;

impl Board {
    /// The PEs of a host that sleep look at what is new in the ring, or what was taken from it.
    pub(super) fn wake_host(&mut self, host: usize, now: Ps, looks: Looks) {
        let pes = self
            .rings
            .get(host)
            .map_or(Vec::new(), |ring| ring.pes.clone());
        for pe in pes {
            self.wake_sleeper(pe, now, looks);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_around() {
        let mut peer = Peer {
            sent: 70_000,
            known: 65_530,
            asked: Some(65_541),
            ..Peer::default()
        };
        peer.learn(4);
        assert_eq!((peer.known, peer.asked), (65_540, Some(65_541)));
        peer.learn(65_535);
        assert_eq!(peer.known, 65_540, "an older word");
        peer.learn(5);
        assert_eq!((peer.known, peer.asked), (65_541, None));
        peer.learn(10_000);
        assert_eq!(peer.known, 65_541, "more than was sent");
    }
}
