//! Whose eager buffers have memory at this PE.
//!
//! A buffer that was used keeps its pages, and a PE may hear from thousands of others in turn. So only so many buffers of a PE are open
//! at a time: see [`Sizes::eager_memory_bytes`](crate::Sizes::eager_memory_bytes). If all of a job may be, all are, from the beginning to the
//! end, and nothing of this happens. Else a sender asks for its buffer, and until it is open its messages go in lines or are announced. For
//! each one that asks, the buffer of the pair is closed that has brought nothing for longest: see `opening.rs` of the rings, which says why no
//! byte is lost.
//!
//! All this is words about no message, in the rings of the pair, each with number 0.

use std::collections::VecDeque;

use hostwire_transport::{PeId, Route, Visibility};

use super::long::unless_lost;
use super::{Messages, Peer};
use crate::error::{Error, Misbehaviour, Result};
use crate::layout::Layout;

/// To the sender: it may use its eager buffer.
pub(super) const OPEN: u64 = 8;
/// To the sender: it may not.
pub(super) const CLOSE: u64 = 12;
/// To the receiver: it does not, from here on.
pub(super) const CLOSED: u64 = 16;
/// To the receiver: it would like to.
pub(super) const ASK: u64 = 20;

/// While as many ask as there are open buffers, these are looked at so often. One that has brought nothing for as long may be closed.
const LOOKS: u64 = 4;

/// See the [module text](self).
pub(super) struct Rooms {
    most: usize,
    /// Buffers of PEs with a lower number are open at first.
    first_closed: PeId,
    /// How often a PE has asked for its buffer.
    asks: u64,
    /// Those that may bring messages, and whose memory can be given back.
    open: Vec<Room>,
    /// Those that have asked and wait until another one is closed, and when they did.
    waiting: VecDeque<(PeId, u64)>,
}

/// An open buffer.
struct Room {
    pe: PeId,
    /// Messages that it had brought when this was last looked at.
    brought: u32,
    /// How often a PE had asked when it was last seen to bring one.
    since: u64,
    /// Its sender is told to close it, and has not answered.
    is_closing: bool,
}

impl Rooms {
    /// Those of a job, or of a station, whose peers come one by one.
    pub(super) fn new(layout: &Layout, pes: u32, is_station: bool) -> Self {
        let most = layout.eager_rooms();
        let fit = most >= pes.saturating_sub(1);
        Self {
            most: most as usize,
            first_closed: match is_station || fit {
                true => most.saturating_add(1),
                false => 0,
            },
            asks: 0,
            open: Vec::new(),
            waiting: VecDeque::new(),
        }
    }

    /// So many at a time, at a station.
    #[cfg(test)]
    pub(super) fn set_most(&mut self, most: usize) {
        (self.most, self.first_closed) = (most, most as PeId + 1);
    }

    /// How many buffers are open whose memory can be given back.
    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    fn forget(&mut self, pe: PeId) {
        self.open.retain(|room| room.pe != pe);
        self.waiting.retain(|(waiting, _)| *waiting != pe);
    }
}

impl Peer {
    /// At first: closes the buffers that are to be asked for.
    pub(super) fn close_at_first(&mut self, rooms: &Rooms, own_number: PeId) {
        if own_number >= rooms.first_closed {
            self.sender.close_eager();
            self.sender.ask_soon();
        }
        if self.pe >= rooms.first_closed {
            self.receiver.close_eager();
        }
    }
}

impl Messages {
    /// Asks `pe` to open the buffer to it, if that is due before a message of so many bytes.
    #[cold]
    pub(super) fn ask_for_room(&mut self, pe: PeId) -> Result<()> {
        self.peer(pe)?.sender.has_asked();
        self.answer(pe, 0, ASK)
    }

    /// A word of `pe` about the buffer to it, or from it.
    pub(super) fn heed_of_rooms(&mut self, pe: PeId, word: u64) -> Result<()> {
        let closing = self.rooms.open.iter();
        let closing = closing
            .enumerate()
            .find(|(_, room)| room.pe == pe && room.is_closing);
        let closing = closing.map(|(at, _)| at);
        let peer = self.peer(pe)?;
        let is_open = peer.sender.is_eager_open();
        match (word, closing) {
            (OPEN, _) if !is_open => peer.sender.open_eager(),
            (CLOSE, _) if is_open => {
                peer.sender.close_eager();
                self.say_of_room(pe, CLOSED)?;
            }
            (CLOSED, Some(at)) => {
                peer.receiver.close_eager();
                self.rooms.open.swap_remove(at);
                self.open_next()?;
            }
            // It asks again before it has heard.
            (ASK, _) if peer.receiver.is_eager_open() => {}
            (ASK, _) => self.grant(pe)?,
            _ => {
                let how = Misbehaviour::Unasked { number: 0 };
                return Err(Error::PeerMisbehaved { pe, how });
            }
        }
        Ok(())
    }

    /// Whether a word is one of these.
    pub(super) fn is_of_rooms(number: u32, word: u64) -> bool {
        number == 0 && [OPEN, CLOSE, CLOSED, ASK].contains(&word)
    }

    /// Opens the buffer from `pe`, or has another one closed for it.
    fn grant(&mut self, pe: PeId) -> Result<()> {
        self.rooms.asks += 1;
        if self.rooms.open.len() < self.rooms.most || !self.gives_back(pe) {
            return self.open_room(pe);
        }
        let (asks, patience) = (self.rooms.asks, self.rooms.most as u64);
        if asks.is_multiple_of(patience.div_ceil(LOOKS)) {
            self.look_who_talks();
        }
        let waiting = self.rooms.waiting.iter_mut();
        let waiting = waiting.rev().find(|(waiting, _)| *waiting == pe);
        // If the first one that was told to close does not answer, another one may.
        if waiting
            .as_ref()
            .is_some_and(|(_, since)| asks - since < patience)
        {
            return Ok(());
        }
        let silent = |room: &&mut Room| !room.is_closing && asks - room.since >= patience;
        let rooms = self.rooms.open.iter_mut().filter(silent);
        let Some(room) = rooms.min_by_key(|room| room.since) else {
            return Ok(());
        };
        let silent = room.pe;
        let peer = self.peers.get(silent);
        let brought = peer.map_or(0, |peer| peer.receiver.eager_messages());
        if brought != room.brought {
            // Since then.
            (room.brought, room.since) = (brought, asks);
            return Ok(());
        }
        room.is_closing = true;
        match waiting {
            Some((_, since)) => *since = asks,
            None => self.rooms.waiting.push_back((pe, asks)),
        }
        self.say_of_room(silent, CLOSE)
    }

    /// Notes which of the open buffers have brought something.
    fn look_who_talks(&mut self) {
        let Self { rooms, peers, .. } = self;
        for room in &mut rooms.open {
            let peer = peers.get(room.pe);
            let brought = peer.map_or(0, |peer| peer.receiver.eager_messages());
            if brought != room.brought {
                (room.brought, room.since) = (brought, rooms.asks);
            }
        }
    }

    /// One has been closed.
    fn open_next(&mut self) -> Result<()> {
        match self.rooms.waiting.pop_front() {
            Some((pe, _)) => self.open_room(pe),
            None => Ok(()),
        }
    }

    fn open_room(&mut self, pe: PeId) -> Result<()> {
        self.peer(pe)?.receiver.open_eager();
        self.note_room(pe)?;
        self.say_of_room(pe, OPEN)
    }

    /// The buffer from `pe` is open.
    fn note_room(&mut self, pe: PeId) -> Result<()> {
        if self.gives_back(pe) {
            let brought = self.peer(pe)?.receiver.eager_messages();
            self.rooms.open.push(Room {
                pe,
                brought,
                since: self.rooms.asks,
                is_closing: false,
            });
        }
        Ok(())
    }

    /// Whether memory into which `pe` stores can be given back: where it maps anonymous memory of this host. Elsewhere a device may know the
    /// pages, or they are not the kernel's.
    fn gives_back(&self, pe: PeId) -> bool {
        let route = self.wire.route(pe);
        let is_coherent = matches!(&route, Some(Route::Mapped(window)) if window.visibility() == Visibility::Coherent);
        is_coherent && self.wire.segment().memory().give_back(0, 0) == Ok(true)
    }

    /// There is a way to `pe`, over which nothing has gone.
    pub(super) fn meet_room(&mut self, pe: PeId) -> Result<()> {
        self.rooms.forget(pe);
        match self.peer(pe)?.receiver.is_eager_open() {
            true => self.note_room(pe),
            false => Ok(()),
        }
    }

    /// `pe` has ended.
    pub(super) fn leave_room(&mut self, pe: PeId) -> Result<()> {
        let had_room = self.rooms.open.iter().any(|room| room.pe == pe);
        self.rooms.forget(pe);
        match had_room {
            true => {
                self.peer(pe)?.receiver.close_eager();
                self.open_next()
            }
            false => Ok(()),
        }
    }

    fn say_of_room(&mut self, pe: PeId, word: u64) -> Result<()> {
        unless_lost(self.answer(pe, 0, word))
    }
}
