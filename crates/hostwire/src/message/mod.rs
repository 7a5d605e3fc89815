//! Point-to-point messages: tagged, ordered per pair and tag, of any length.
//!
//! Short messages travel through the ring of the pair. A message that does not fit half
//! a ring is announced there by one line and then moved by rendezvous, in one copy where
//! either side lies in symmetric memory: see [`long`].
//!
//! A message matches by sender, kind and tag. What arrives while another tag is wanted
//! is set aside in private memory, up to [`SET_ASIDE_BYTES_MAX`] per sender.

mod audit;
mod blocking;
pub(crate) mod long;
mod receive;
mod send;

use std::collections::VecDeque;
use std::sync::Arc;

use hostwire_transport::ring::{
    CreditInlet, Head, Inlet, Outlet, RingReceiver, RingSender, SendOrder, Taken, WordOutlet,
};
use hostwire_transport::{PeId, Transport, TransportError};

use crate::error::Result;
use crate::layout::{Layout, Mail};

use long::Announcement;
pub(crate) use receive::{Receiving, Target};
pub(crate) use send::{Sending, Source};

/// Most bytes of messages of one sender that wait for a `recv` with their tag.
pub const SET_ASIDE_BYTES_MAX: usize = 256 << 20;
/// Most of them that are taken out of the ring only to make room in it: beyond this a
/// sender that nobody receives from has to wait.
const DRAINED_BYTES_MAX: usize = 64 << 20;

/// Who a message is for. A pair's ring carries both kinds, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The program.
    User,
    /// The collectives of a team.
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

/// All rings of a PE.
pub(crate) struct Messages {
    peers: Vec<Peer>,
    /// Those whose rings may have something in them; never this PE itself.
    talking: Vec<PeId>,
    /// By PE, whether it is one of those: for a scan that touches little memory.
    talks: Vec<bool>,
    wire: Arc<dyn Transport>,
    layout: Layout,
    audit: audit::Audit,
    order: SendOrder,
}

/// The two rings of a pair.
pub(crate) struct Peer {
    pe: PeId,
    /// It is this PE itself.
    own: bool,
    /// The ring to it may be used: it is not the PE itself, whose messages never enter a ring,
    /// and it knows that this PE talks.
    open: bool,
    sender: RingSender<Outlet, CreditInlet>,
    receiver: RingReceiver<Inlet, WordOutlet>,
    aside: VecDeque<Aside>,
    aside_bytes: usize,
    /// A message on its way from the ring to `aside`.
    moving: Option<Aside>,
    /// A receive has taken a part of the message at hand.
    taking: bool,
    /// The number of the last long message to this peer.
    announced: u32,
}

/// A message that nobody wanted yet.
struct Aside {
    kind: u8,
    tag: u32,
    bytes: Vec<u8>,
}

impl Messages {
    pub(crate) fn new(wire: &Arc<dyn Transport>, layout: &Layout) -> Result<Self> {
        let own = wire.pe();
        let is_known = layout.talk(0).is_none();
        let peer = |pe: PeId| -> Result<Peer> {
            let slots = layout.slots();
            let segment = wire.segment();
            Ok(Peer {
                pe,
                own: pe == own,
                open: is_known && pe != own,
                sender: RingSender::new(
                    Outlet::new(wire, pe, layout.ring(own), slots)?,
                    CreditInlet::new(segment, layout.mail(pe, Mail::Credit))?,
                    pe,
                    slots,
                ),
                receiver: RingReceiver::new(
                    Inlet::new(segment, layout.ring(pe), slots)?,
                    WordOutlet::new(wire, pe, layout.mail(own, Mail::Credit))?,
                    pe,
                    slots,
                ),
                aside: VecDeque::new(),
                aside_bytes: 0,
                moving: None,
                taking: false,
                announced: 0,
            })
        };
        Ok(Self {
            peers: (0..wire.pes()).map(peer).collect::<Result<_>>()?,
            // Nothing enters the ring from this PE to itself, but what others write there.
            talking: (0..wire.pes())
                .filter(|pe| is_known && *pe != own)
                .collect(),
            talks: (0..wire.pes()).map(|pe| is_known || pe == own).collect(),
            wire: Arc::clone(wire),
            layout: *layout,
            audit: audit::Audit::default(),
            order: SendOrder::default(),
        })
    }

    #[inline]
    pub(crate) fn peer(&mut self, pe: PeId) -> Result<&mut Peer> {
        let pes = self.peers.len() as u32;
        self.peers
            .get_mut(pe as usize)
            .ok_or_else(|| TransportError::NoSuchPe { pe, pes }.into())
    }

    /// The short way out: `bytes` as one message, if the ring takes it now.
    pub(crate) fn send_now(
        &mut self,
        to: PeId,
        kind: Kind,
        tag: u32,
        bytes: &[u8],
    ) -> Result<bool> {
        match self.peers.get_mut(to as usize) {
            Some(peer) if peer.open && bytes.len() <= peer.sender.message_bytes_max() => {
                Ok(peer.sender.try_send(kind.whole(), tag, bytes)?)
            }
            _ => Ok(false),
        }
    }

    /// The ring to `to`, if it is open.
    #[inline(always)]
    pub(crate) fn outbound(&mut self, to: PeId) -> Option<&mut RingSender<Outlet, CreditInlet>> {
        let peer = self.peers.get_mut(to as usize)?;
        peer.open.then_some(&mut peer.sender)
    }

    /// The ring from `from`, if the next message is in it and not set aside.
    #[inline(always)]
    pub(crate) fn inbound(&mut self, from: PeId) -> Option<&mut RingReceiver<Inlet, WordOutlet>> {
        let peer = self.peers.get_mut(from as usize)?;
        let is_next = peer.aside.is_empty() && peer.moving.is_none();
        is_next.then_some(&mut peer.receiver)
    }

    /// The short way in: takes a message from the ring of `from` that is there, matches
    /// and fits `out`. What it does not take at once is left for [`Receiving`], which
    /// begins where this ends.
    pub(crate) fn receive_now(
        &mut self,
        from: PeId,
        kind: Kind,
        tag: u32,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<Taken> {
        let Some(peer) = self.peers.get_mut(from as usize) else {
            return Ok(Taken::Nothing);
        };
        if !peer.aside.is_empty() || peer.moving.is_some() {
            return Ok(Taken::Nothing);
        }
        let taken = peer
            .receiver
            .take_now(kind.whole(), tag, element_bytes, out)?;
        peer.taking = matches!(taken, Taken::Part(_));
        Ok(taken)
    }

    /// Tells `to`, before the first message, that this PE uses its ring from now on.
    pub(crate) fn open(&mut self, to: PeId) -> Result<()> {
        let own = self.wire.pe();
        if let Some(peer) = self.peers.get_mut(to as usize)
            && !peer.open
            && to != own
        {
            audit::say_that_it_talks(&*self.wire, &self.layout, to)?;
            peer.open = true;
        }
        Ok(())
    }

    /// Finds those that have begun to talk.
    fn listen(&mut self) -> Result<()> {
        let segment = self.wire.segment();
        for (pe, talks) in (0..).zip(&mut self.talks) {
            // Whatever is there: nothing but its PE writes it, and it is a hint where to look.
            if let Some(at) = self.layout.talk(pe)
                && segment.load_word(at)? != 0
                && !*talks
            {
                *talks = true;
                self.talking.push(pe);
            }
        }
        Ok(())
    }

    /// How messages leave from now on.
    pub(crate) fn set_order(&mut self, order: SendOrder) {
        for peer in &mut self.peers {
            peer.sender.store_mut().set_order(order);
        }
        self.order = order;
    }

    /// Whether messages may still be on their way out of this PE.
    pub(crate) fn are_weak(&self) -> bool {
        self.order == SendOrder::Weak
    }

    /// Makes room in the rings.
    #[cold]
    pub(crate) fn drain(&mut self) -> Result<()> {
        if self.talking.len() + 1 < self.peers.len() {
            self.listen()?;
        }
        for pe in &self.talking {
            let Some(peer) = self.peers.get_mut(*pe as usize).filter(|peer| !peer.taking) else {
                continue;
            };
            while peer.aside_bytes < DRAINED_BYTES_MAX && peer.set_aside()? {}
            peer.receiver.return_credit()?;
        }
        Ok(())
    }
}

/// A message that matches, and where it is.
#[derive(Debug, Clone, Copy)]
enum Found {
    /// Next in the ring.
    Ring(Head),
    /// Set aside, at this index.
    Aside(usize),
}

impl Peer {
    /// The first message that matches, if it has arrived.
    #[inline]
    fn find(&mut self, kind: Kind, tag: u32) -> Result<Option<Found>> {
        let wanted = |got_kind: u8, got_tag: u32| {
            got_tag == tag && (got_kind == kind.whole() || got_kind == kind.announced())
        };
        if !self.aside.is_empty() || self.moving.is_some() {
            let stuck = self.moving.is_some() && !self.set_aside()?;
            let at = self.aside.iter().position(|m| wanted(m.kind, m.tag));
            if at.is_some() || stuck {
                return Ok(at.map(Found::Aside));
            }
        }
        while !self.own {
            let Some(head) = self.receiver.peek()? else {
                return Ok(None);
            };
            if wanted(head.kind, head.tag) {
                return Ok(Some(Found::Ring(head)));
            }
            if !self.set_aside()? {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Moves the next message out of the ring. Returns false while it is incomplete.
    #[cold]
    fn set_aside(&mut self) -> Result<bool> {
        if self.moving.is_none() {
            let Some(head) = self.receiver.peek()? else {
                return Ok(false);
            };
            if self.aside_bytes + head.len_bytes > SET_ASIDE_BYTES_MAX {
                return Err(TransportError::misbehaved(
                    self.pe,
                    "bytes of its messages that nobody receives",
                    format_args!("at most {SET_ASIDE_BYTES_MAX}"),
                    self.aside_bytes + head.len_bytes,
                )
                .into());
            }
            self.moving = Some(Aside {
                kind: head.kind,
                tag: head.tag,
                bytes: vec![0; head.len_bytes],
            });
        }
        if let Some(mut message) = self.moving.take() {
            if !self.receiver.take(&mut message.bytes)? {
                self.moving = Some(message);
                return Ok(false);
            }
            self.aside_bytes += message.bytes.len();
            self.aside.push_back(message);
        }
        Ok(true)
    }

    /// Puts a message of this PE to itself where `find` finds it.
    fn send_to_self(&mut self, kind: Kind, tag: u32, bytes: Vec<u8>) {
        self.aside_bytes += bytes.len();
        self.aside.push_back(Aside {
            kind: kind.whole(),
            tag,
            bytes,
        });
    }

    /// How many bytes a message has, and its announcement if it is long.
    fn measure(&self, found: Found) -> Result<(usize, bool)> {
        let (kind, len) = match found {
            Found::Ring(head) => (head.kind, head.len_bytes),
            Found::Aside(index) => self
                .aside
                .get(index)
                .map_or((0, 0), |message| (message.kind, message.bytes.len())),
        };
        let long = kind == Kind::User.announced() || kind == Kind::Team.announced();
        if long && len != Announcement::BYTES {
            return Err(TransportError::misbehaved(
                self.pe,
                "announcement of a long message",
                format_args!("{} bytes", Announcement::BYTES),
                len,
            )
            .into());
        }
        Ok((len, long))
    }

    /// Takes a found message into the front of `out`. Returns false while it is
    /// incomplete; `out` must be the same then.
    #[inline]
    fn take(&mut self, found: Found, out: &mut [u8]) -> Result<bool> {
        match found {
            Found::Ring(_) => {
                let done = self.receiver.take(out)?;
                self.taking = !done;
                Ok(done)
            }
            Found::Aside(index) => {
                if let Some(message) = self.aside.remove(index) {
                    self.aside_bytes -= message.bytes.len();
                    let len = message.bytes.len().min(out.len());
                    out[..len].copy_from_slice(&message.bytes[..len]);
                }
                Ok(true)
            }
        }
    }
}
