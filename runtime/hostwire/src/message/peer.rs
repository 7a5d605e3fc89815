//! All that this PE knows of its messages with one other.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use hostwire_transport::copy_choice::{Choice, Trials};
use hostwire_transport::ring::{CreditInlet, Inlet, Outlet, RingReceiver, RingSender, WordOutlet};
use hostwire_transport::{PeId, Wire};

use super::Kind;
use super::awaited::Awaited;
use super::long::Announcement;
use super::pattern::Envelope;
use super::remote::{Pull, Remote};
use super::requests::Ticket;
use super::rooms::Rooms;
use crate::error::{PeerWord, Result};
use crate::layout::{Layout, Mail};

/// What a message that was set aside takes beside its bytes, about.
pub(super) const ASIDE_BYTES: usize = 64;

/// The two rings of a pair.
pub(crate) struct Peer {
    pub(super) pe: PeId,
    /// It is this PE itself, whose messages never enter a ring.
    pub(super) own: bool,
    /// It knows that this PE talks.
    pub(super) told: bool,
    /// The next message is in the ring, from its first line on.
    pub(super) plain: bool,
    pub(super) sender: Outbound,
    pub(super) receiver: Inbound,
    /// Lines that were taken out of its ring when a short message was last sent to it.
    pub(super) taken_at_send: u64,
    /// Messages that nobody wanted yet, in the order in which they were sent.
    pub(super) aside: VecDeque<Aside>,
    /// What those of them that are here whole take.
    pub(super) aside_bytes: usize,
    /// It is told to announce all messages.
    pub(super) held: bool,
    /// There is no way to it: a station that this one has not met, or that has ended.
    pub(super) shut: bool,
    /// Where the message goes whose lines are on their way.
    pub(super) arriving: Arriving,
    /// The number of the last message that was announced to it.
    pub(super) announced: u32,
    /// The number of the last one that it has announced.
    pub(super) heard: u32,
    /// What only long messages and those in the background need: most peers have none.
    far: Option<Box<Far>>,
}

/// See [`Peer::far`].
pub(super) struct Far {
    /// Own long messages that it has not accepted yet, by number.
    pub(super) unaccepted: Awaited,
    /// Long messages of it that it is to put to their places, by number.
    pub(super) undelivered: Awaited,
    /// Sends in the background that have not begun, in their order.
    pub(super) outbox: VecDeque<Ticket>,
    /// Words about long messages that found no room in the ring.
    pub(super) backlog: VecDeque<(u32, u64)>,
    /// Operations on registered memory.
    pub(super) remote: Remote,
    /// Whether pieces in staging go past the caches.
    pub(super) past_caches: Copies,
    /// Whether bytes that this PE could [copy itself](super::long::Origin::Private) come through staging.
    pub(super) through_staging: Copies,
    /// The number of one that does, if it is measured, and since when.
    pub(super) measured: Option<(u32, Instant)>,
}

impl Default for Far {
    fn default() -> Self {
        Self {
            unaccepted: Awaited::default(),
            undelivered: Awaited::default(),
            outbox: VecDeque::new(),
            backlog: VecDeque::new(),
            remote: Remote::default(),
            // Between far cores of some processors, ordinary copies of long messages take eight times as long.
            past_caches: Copies::new(true),
            // Where both PEs share a core, staging takes many times as long.
            through_staging: Copies::new(false),
            measured: None,
        }
    }
}

/// In which of two ways its long messages are copied.
pub(super) struct Copies {
    trials: Trials,
    pub(super) choice: Choice,
}

impl Copies {
    fn new(wanted: bool) -> Self {
        Self {
            trials: Trials::default(),
            choice: Choice::new(wanted),
        }
    }

    /// Whether the next message goes that way.
    pub(super) fn next(&mut self) -> bool {
        self.trials.next(self.choice.is_staged())
    }
}

/// A message that nobody wanted yet.
pub(super) struct Aside {
    pub(super) kind: Kind,
    pub(super) envelope: Envelope,
    /// Its place among those of all PEs, in the order in which they were set aside whole.
    pub(super) arrival: u64,
    pub(super) body: Body,
}

pub(super) enum Body {
    Whole(Vec<u8>),
    Announced(Announcement),
}

/// Who takes the lines of a message that is not all there yet.
pub(super) enum Arriving {
    Nothing,
    /// A call that waits for it, into memory that is not known here.
    Caller,
    /// A receive in the background.
    Request(Ticket),
    /// It is about registered memory.
    Remote(Vec<u8>),
    /// It is all there: a put whose bytes are being copied out of memory of its sender.
    Pulling(Box<Pull>),
    /// It is set aside, without so many bytes at its front.
    Aside(Box<Aside>, usize),
}

/// The rings to and from `pe`.
fn rings(wire: &Arc<dyn Wire>, layout: &Layout, pe: PeId) -> Result<Rings> {
    let own = wire.number_at(pe);
    let slots = layout.slots();
    let segment = wire.segment();
    let sender = RingSender::new(
        Outlet::new(wire, pe, layout.ring(own), slots)?.with_eager(Some(layout.eager(own)))?,
        CreditInlet::new(segment, layout.mail(pe, Mail::Credit))?
            .with_eager(layout.mail(pe, Mail::EagerCredit))?,
        pe,
        slots,
    );
    let receiver = RingReceiver::new(
        Inlet::new(segment, layout.ring(pe), slots)?.with_eager(segment, Some(layout.eager(pe)))?,
        WordOutlet::new(wire, pe, layout.mail(own, Mail::Credit))?
            .with_eager(layout.mail(own, Mail::EagerCredit)),
        pe,
        slots,
    );
    Ok((sender, receiver))
}

type Rings = (Outbound, Inbound);
/// The ring to a peer.
pub(super) type Outbound = RingSender<Outlet, CreditInlet>;
/// The ring from a peer.
pub(super) type Inbound = RingReceiver<Inlet, WordOutlet>;

impl Peer {
    pub(super) fn new(
        wire: &Arc<dyn Wire>,
        layout: &Layout,
        pe: PeId,
        rooms: &Rooms,
    ) -> Result<Self> {
        let own = wire.pe();
        let is_known = !layout.has_talks();
        let (sender, receiver) = rings(wire, layout, pe)?;
        let mut peer = Self {
            pe,
            own: pe == own,
            shut: false,
            told: is_known && pe != own,
            plain: pe != own,
            sender,
            receiver,
            taken_at_send: 0,
            aside: VecDeque::new(),
            aside_bytes: 0,
            held: false,
            arriving: Arriving::Nothing,
            announced: 0,
            heard: 0,
            far: None,
        };
        peer.close_at_first(rooms, wire.number_at(pe));
        peer.settle();
        Ok(peer)
    }

    /// From now on there is a way to it, over which nothing has gone.
    pub(super) fn connect(
        &mut self,
        wire: &Arc<dyn Wire>,
        layout: &Layout,
        rooms: &Rooms,
    ) -> Result<()> {
        (self.sender, self.receiver) = rings(wire, layout, self.pe)?;
        self.close_at_first(rooms, wire.number_at(self.pe));
        (self.shut, self.told) = (false, true);
        self.settle();
        Ok(())
    }

    /// Works out anew what the short ways look at.
    #[inline]
    pub(super) fn settle(&mut self) {
        self.sender
            .set_open(self.told && !self.shut && !self.has_outbox());
        let nothing = matches!(self.arriving, Arriving::Nothing);
        self.plain = !self.own && !self.shut && nothing && self.aside.is_empty();
    }

    pub(super) fn far(&mut self) -> &mut Far {
        self.far.get_or_insert_default()
    }

    pub(super) fn has_outbox(&self) -> bool {
        self.far.as_ref().is_some_and(|far| !far.outbox.is_empty())
    }

    pub(super) fn has_backlog(&self) -> bool {
        self.far.as_ref().is_some_and(|far| !far.backlog.is_empty())
    }

    /// Whether it has asked for something that it has no answer to.
    pub(super) fn owes(&self) -> bool {
        self.far.as_ref().is_some_and(|far| far.remote.owes())
    }

    /// Whether something of it was taken since this was last asked: what is sent now may be the answer.
    #[inline(always)]
    pub(super) fn is_answer(&mut self) -> bool {
        let taken = self.receiver.lines_taken();
        core::mem::replace(&mut self.taken_at_send, taken) != taken
    }

    /// Whether nothing has come and nothing is left to do for it.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        let nothing = matches!(self.arriving, Arriving::Nothing);
        nothing && self.receiver.is_idle() && !self.has_backlog() && !self.owes()
    }

    /// Takes the line of an announcement out of the ring.
    pub(super) fn take_announcement(&mut self, announcement: &Announcement) -> Result<()> {
        let expected = self.heard.wrapping_add(1);
        if announcement.number != expected {
            let (expected, got) = (u64::from(expected), u64::from(announcement.number));
            return Err(PeerWord::LongNumber.out_of(expected..=expected, self.pe, got));
        }
        self.heard = expected;
        self.receiver.take(&mut [])?;
        Ok(())
    }
}
