//! Puts, gets and atomic operations on registered memory of a station, which its owner does.
//!
//! An operation goes through the ring of the pair in its place among the messages, and is done when
//! the owner comes to it: so all operations and messages of a pair have one order. What is put goes
//! with it, in pieces that fit the eager buffer, or the ring. The owner answers each operation, in their order; answers go
//! in front of everything else that it has for the ring, and are never waited for by what it takes
//! out of one. So two that ask each other for more than fits their rings do not block each other.
//!
//! The bytes of a long put stay with who asks, if the owner has said in an answer that it can copy them:
//! it does so, straight to their places, when it comes to the put, and to what follows only then.
//!
//! The bytes of a long get are copied by who asks, if both sides can: see [`lent`].
//!
//! Nothing grows without bound: an owner owes a peer at most [`OPERATIONS_MAX`] answers, and what a
//! peer asks beyond is no correct peer's. Of what it owes it keeps at most [`KEPT_BYTES_MAX`] each;
//! the bytes of a longer get are read as they leave, or are copied.

mod ask;
mod lent;
mod serve;
mod words;

use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) use ask::Asking;
pub use ask::Deed;
use hostwire_transport::PeId;
pub(crate) use serve::{Pull, Serving};
pub(crate) use words::{ATOMIC_BYTES_MAX, PLACES_MAX};

use super::Messages;
use super::requests::Ticket;
use crate::error::Result;
use hostwire_station::memory_region::{MemoryRegions, RegionRange, Rights, Witness};

/// Operations of a pair that have no answer yet, at most.
const OPERATIONS_MAX: usize = 64;
/// What a get is answered with as it was when the owner came to it. A longer one may have bytes of
/// what was put later.
pub(crate) const KEPT_BYTES_MAX: usize = 4096;
/// Events and uses that nobody has taken, at most, and what is on its way then.
const EVENTS_MAX: usize = 1024;

/// A put has ended that brought 8 bytes for the program beside the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Whose put.
    pub from: PeId,
    /// The 8 bytes.
    pub data: u64,
    /// How many bytes were put.
    pub len_bytes: usize,
}

/// A peer, or this station, has done something with its memory.
pub struct Use {
    /// What it was.
    pub did: Rights,
    /// Who of the regions is to learn of it.
    pub witnesses: Vec<Arc<dyn Witness>>,
}

/// What all peers have in common.
#[derive(Default)]
pub(crate) struct RemoteShared {
    /// What others may use.
    pub(crate) regions: Arc<MemoryRegions>,
    pub(crate) events: VecDeque<Event>,
    pub(crate) uses: VecDeque<Use>,
}

impl RemoteShared {
    /// Whether something was done here that nobody has taken note of.
    #[inline(always)]
    pub(crate) fn has_notes(&self) -> bool {
        !self.events.is_empty() || !self.uses.is_empty()
    }

    /// Whether the program should take events before peers hear that their puts have ended.
    fn is_full(&self) -> bool {
        self.events.len() >= EVENTS_MAX || self.uses.len() >= EVENTS_MAX
    }

    /// An operation on these places has ended.
    fn tell(&mut self, places: &[RegionRange], did: Rights) {
        let witnesses = self.regions.witnesses(places);
        self.uses.push_back(Use { did, witnesses });
    }
}

impl Messages {
    /// How many of `left` bytes go to `pe` in one message, behind so many of what it is. `None` while there is no room for them.
    fn piece_to(&mut self, pe: PeId, behind: usize, left: usize) -> Result<Option<usize>> {
        let sender = &mut self.peer(pe)?.sender;
        let now = left.min(sender.held_bytes_max() - behind);
        let has_room = sender.has_room_for(behind + now, true)?;
        // Once for a piece: words that ask again and again would take the room for it.
        if has_room && sender.wants_eager(behind + now) {
            self.ask_for_room(pe)?;
        }
        Ok(has_room.then_some(now))
    }
}

/// What is on its way between this station and a peer.
#[derive(Default)]
pub(crate) struct Remote {
    /// Own operations that have no answer yet, in their order.
    asked: VecDeque<Ticket>,
    /// The peer has said that it can copy private memory of this process.
    is_read: bool,
    serving: Serving,
}
