//! Point-to-point messages: tagged, in order, of any length.
//!
//! Short messages travel through the ring of the pair, and those of up
//! to 32 KiB through the eager buffer beside it. A longer message
//! is announced by one line of the ring and then moved by rendezvous, in one copy where
//! either side lies in symmetric memory: see [`long`]. Which receive gets which message,
//! and how much is kept of those that no receive takes yet, is in [`matching`].
//!
//! All of it is bytes and state machines that are polled: [`Sending`] and [`Receiving`], by
//! a call that waits ([`blocking`]) or in the background ([`requests`]).

mod audit;
mod awaited;
mod background;
mod blocking;
mod buffer;
mod free_list;
mod header;
pub(crate) mod long;
mod matching;
mod meeting;
mod pattern;
mod peer;
mod peers;
mod probe;
mod receive;
mod remote;
mod requests;
mod rooms;
#[cfg(all(test, target_os = "linux"))]
mod rooms_seen;
mod send;
mod short;
mod target;

use std::sync::Arc;

pub use buffer::Buffer;
use hostwire_transport::ring::{PAYLOAD_BYTES, SendOrder, Taken};
use hostwire_transport::{PeId, TransportError, Wire};
pub(crate) use pattern::Pattern;
pub use pattern::{Envelope, Source, Tag};
use peer::{Arriving, Inbound, Peer};
use peers::Peers;
pub(crate) use receive::Receiving;
pub(crate) use remote::{ATOMIC_BYTES_MAX, Asking, KEPT_BYTES_MAX, PLACES_MAX};
pub use remote::{Deed, Event, Use};
pub use requests::Finished;
pub(crate) use requests::QueueId;
use requests::Requests;
pub use requests::Ticket;
use rooms::Rooms;
#[cfg(all(test, target_os = "linux"))]
pub(crate) use rooms_seen::Memory;
pub(crate) use send::{Payload, Sending};
pub use short::{Glance, Received};
pub(crate) use target::Target;

use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::layout::{Layout, Mail};

/// The longest message of two lines.
const PAIR_BYTES: usize = 2 * PAYLOAD_BYTES;
/// What a PE keeps of messages that no receive takes yet, of all others together.
const KEPT_BYTES: usize = 64 << 20;
/// At least this much of each.
const KEPT_BYTES_EACH_MIN: usize = 64 << 10;

/// Messages of a PE that a turn of progress sets aside, at most. What stays in the ring goes straight to its receive,
/// if that is started by the next turn; and what stands behind it is reached in some more.
const ASIDES_MAX: usize = 8;

/// What comes of a team all the same: short, and about to be received.
const SHORT_BYTES: usize = 4 << 10;

/// Who a message is for. A pair's ring carries both kinds, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The program.
    User,
    /// The collectives of a team; for a station, which has none, a message without a tag.
    Team,
}

impl Kind {
    /// The ring's kind of a message that is all there.
    fn whole(self) -> u8 {
        match self {
            Self::User => 1,
            Self::Team => 2,
        }
    }

    /// The ring's kind of the announcement of a long message.
    fn announced(self) -> u8 {
        match self {
            Self::User => 3,
            Self::Team => 4,
        }
    }
}

/// What a PE says, once, where it is to be known that it uses a ring.
const TALKS: u64 = 1;

/// Rings that the short ways look at for a message of anybody: a line of memory each. Fitted.
const TALKING_MAX: usize = 16;

/// All rings of a PE.
pub(crate) struct Messages {
    peers: Peers,
    /// Those whose rings may have something in them; never this PE itself.
    talking: Vec<PeId>,
    /// By PE, whether it is one of those: for a scan that touches little memory.
    talks: Vec<bool>,
    /// Which of those a receive from anybody looks at first.
    turn: usize,
    /// Messages that are set aside, of all PEs, and how many ever were.
    asides: usize,
    arrivals: u64,
    spare: free_list::FreeList,
    /// What is kept of one PE before it is told to announce its messages.
    budget_bytes: usize,
    /// What can come all the same, until it has heard that.
    slack_bytes: usize,
    pub(crate) requests: Requests,
    /// PEs to which sends in the background have not begun.
    sending: Vec<PeId>,
    /// Whose long message is in the staging memory: of which PE, and its number.
    staging: Option<(PeId, u32)>,
    /// Whose eager buffers are open.
    rooms: Rooms,
    wire: Arc<dyn Wire>,
    layout: Layout,
    audit: audit::Audit,
    order: SendOrder,
    /// Something has changed that another thread of this PE may wait for.
    news: bool,
    /// Others may begin to talk.
    listens: bool,
    claims: meeting::Claims,
    /// What others may do with registered memory of a station.
    pub(crate) remote: remote::RemoteShared,
    /// What a peer did that no correct peer does, where only what needs that peer is to fail.
    accused: Option<Error>,
    /// Peers come one by one, and one at fault costs what needs it and nothing else.
    is_station: bool,
}

impl Messages {
    /// Those with all PEs of a job.
    pub(crate) fn new(wire: &Arc<dyn Wire>, layout: &Layout) -> Result<Self> {
        Self::with(wire, layout, wire.pes(), false)
    }

    /// Those with the first PEs.
    fn with(wire: &Arc<dyn Wire>, layout: &Layout, pes: u32, is_station: bool) -> Result<Self> {
        let own = wire.pe();
        let is_known = !layout.has_talks();
        let others = (wire.pes() as usize).saturating_sub(1).max(1);
        let lines = layout.slots().count() as usize;
        let mut peers = Peers::of(pes);
        let rooms = Rooms::new(layout, wire.pes(), is_station);
        for pe in (0..pes).filter(|pe| is_known || *pe == own) {
            peers.keep(Peer::new(wire, layout, pe, &rooms)?);
        }
        Ok(Self {
            peers,
            // Nothing enters the ring from this PE to itself, but what others write there.
            talking: (0..pes).filter(|pe| is_known && *pe != own).collect(),
            listens: true,
            talks: (0..pes).map(|pe| is_known || pe == own).collect(),
            turn: 0,
            asides: 0,
            arrivals: 0,
            spare: free_list::FreeList::default(),
            budget_bytes: (KEPT_BYTES / others).max(KEPT_BYTES_EACH_MIN),
            slack_bytes: SHORT_BYTES
                + 2 * lines * (64 + peer::ASIDE_BYTES)
                + 2 * layout.eager(own).bytes.bytes(),
            requests: Requests::default(),
            claims: meeting::Claims::default(),
            remote: remote::RemoteShared::default(),
            accused: None,
            is_station,
            rooms,
            sending: Vec::new(),
            staging: None,
            wire: Arc::clone(wire),
            layout: *layout,
            audit: audit::Audit::default(),
            order: SendOrder::default(),
            news: false,
        })
    }

    #[inline]
    fn peer(&mut self, pe: PeId) -> Result<&mut Peer> {
        if self.peers.get(pe).is_none() {
            self.begin_peer(pe)?;
        }
        let pes = self.peers.known();
        self.peers
            .get_mut(pe)
            .ok_or_else(|| TransportError::NoSuchPe { pe, pes }.into())
    }

    /// Keeps something of `pe` from now on, if there is such a PE. Both of a pair may begin at the same time: each makes only its
    /// own ends of the two rings, which begin with empty memory.
    #[cold]
    #[inline(never)]
    fn begin_peer(&mut self, pe: PeId) -> Result<()> {
        if pe < self.peers.known() {
            let mut peer = Peer::new(&self.wire, &self.layout, pe, &self.rooms)?;
            peer.sender.store_mut().set_order(self.order);
            self.peers.keep(peer);
        }
        Ok(())
    }

    /// The short way out: `bytes` as one message, if the ring takes it now.
    pub(crate) fn send_now(
        &mut self,
        to: PeId,
        (kind, tag, data): (Kind, u64, Option<u64>),
        bytes: &[u8],
    ) -> Result<bool> {
        let Some(peer) = self.peers.get_mut(to).filter(|peer| peer.sender.is_open()) else {
            return Ok(false);
        };
        let (kind, prefix) = header::entry(kind, tag, data);
        Ok(peer
            .sender
            .try_send_whole(kind, tag as u32, prefix, bytes)?)
    }

    /// The ring from `from`, if what it brings next is for whoever asks now.
    #[inline(always)]
    fn inbound(&mut self, from: PeId) -> Option<&mut Inbound> {
        if self.requests.has_posted() {
            return None;
        }
        let peer = self.peers.get_mut(from)?;
        peer.plain.then_some(&mut peer.receiver)
    }

    /// Whether there is nothing new in the ring of `from`, and nothing elsewhere for who asks
    /// now. A look at one line: what is damaged there, [`progress`](Self::progress) finds.
    #[inline(always)]
    fn is_idle(&self, from: PeId) -> bool {
        let peer = self.peers.get(from);
        peer.is_some_and(|peer| peer.plain && !peer.receiver.has_arrived())
    }

    /// As [`is_idle`](Self::is_idle), of all: nothing is there for who asks for a message of anybody. Of many it is not
    /// looked at.
    #[inline(always)]
    fn are_idle(&self) -> bool {
        let is_known = !self.listens && self.asides == 0 && self.talking.len() <= TALKING_MAX;
        is_known && self.talking.iter().all(|pe| self.is_idle(*pe))
    }

    /// The short way in: takes a message from the ring of `from` that is there, matches
    /// and fits `out`. What it does not take at once is left for [`Receiving`], which
    /// begins where this ends.
    fn receive_now(
        &mut self,
        from: PeId,
        kind: Kind,
        tag: u32,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<Taken> {
        let Some(receiver) = self.inbound(from) else {
            return Ok(Taken::Nothing);
        };
        let taken = receiver.take_now(kind.whole(), tag, element_bytes, out)?;
        if matches!(taken, Taken::Part(_)) {
            let peer = self.peer(from)?;
            peer.arriving = Arriving::Caller;
            peer.settle();
        }
        Ok(taken)
    }

    /// Tells `to`, before the first message, that this PE uses its ring from now on. Returns whether
    /// there is a ring yet.
    fn open(&mut self, to: PeId) -> Result<bool> {
        let peer = self.peer(to)?;
        if peer.told || peer.own {
            return Ok(true);
        }
        if peer.shut {
            return Ok(false);
        }
        audit::say_that_it_talks(&*self.wire, &self.layout, to)?;
        let peer = self.peer(to)?;
        peer.told = true;
        peer.settle();
        Ok(true)
    }

    /// Finds those that have begun to talk.
    fn listen(&mut self) -> Result<()> {
        if !self.layout.has_talks() {
            return Ok(());
        }
        let Self { talks, talking, .. } = self;
        let segment = self.wire.segment();
        // Whatever is there: it is a hint where to look.
        let mut found = |pe: PeId| {
            if let Some(talks) = talks.get_mut(pe as usize)
                && !core::mem::replace(talks, true)
            {
                talking.push(pe);
            }
        };
        if let Some(words) = self.layout.talks(segment.visibility()) {
            let take_back = |at, value| segment.put_word_unannounced(at, value);
            return Ok(words.look(|at| segment.load_word(at), take_back, found)?);
        }
        for pe in 0..self.peers.known() {
            if segment.load_word(self.layout.mail(pe, Mail::Talks))? != 0 {
                found(pe);
            }
        }
        Ok(())
    }

    /// Whether something has changed since the last call that another thread of this PE may wait
    /// for, and that no store of a peer tells it: a message of this PE to itself, a ring or the
    /// staging memory that is free again, something in the background that has ended.
    #[inline(always)]
    pub(crate) fn take_news(&mut self) -> bool {
        let ended = self.requests.take_ended();
        core::mem::take(&mut self.news) || ended
    }

    /// How messages leave from now on.
    pub(crate) fn set_order(&mut self, order: SendOrder) {
        self.peers
            .for_each(|peer| peer.sender.store_mut().set_order(order));
        self.order = order;
    }

    /// Whether messages may still be on their way out of this PE.
    pub(crate) fn are_weak(&self) -> bool {
        self.order == SendOrder::Weak
    }

    /// Makes room in the rings, and goes on with what is in the background.
    #[cold]
    pub(crate) fn progress(&mut self, inner: &Inner) -> Result<()> {
        if self.listens && self.talking.len() + 1 < self.peers.known() as usize {
            self.listen()?;
        }
        for index in 0..self.talking.len() {
            let Some(pe) = self.talking.get(index).copied() else {
                continue;
            };
            if self.peer(pe)?.is_idle() {
                continue;
            }
            if !self.pump_some(inner, pe)? {
                // Nobody else says that there is more.
                inner.segment().notify();
            }
            let peer = self.peer(pe)?;
            if !matches!(peer.arriving, Arriving::Caller) {
                peer.receiver.return_credit()?;
            }
            if peer.has_backlog() {
                self.flush(pe)?;
            }
            if self.peer(pe)?.owes() {
                self.answer_memory(pe)?;
            }
        }
        if !self.sending.is_empty() {
            let mut sending = core::mem::take(&mut self.sending);
            sending.retain(|pe| !matches!(self.send_outbox(inner, *pe), Ok(true)));
            self.sending.append(&mut sending);
        }
        if self.requests.has_runnable() {
            for ticket in self.requests.take_runnable() {
                self.run(inner, ticket);
            }
        }
        match self.accused.is_some() {
            true => self.accused.take().map_or(Ok(()), Err),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
