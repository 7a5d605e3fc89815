//! Messages between processes that no launcher brought together.
//!
//! A [`Station`] is known by its [`Name`], which goes to others by whatever means there are: libfabric's
//! users exchange it as the address of an endpoint. Who has the name gives the station a number
//! of its own choice ([`Station::number`]) and sends to it; the two meet at the first message.
//!
//! Messages are those of a job: in order of a pair, with tags of 64 bits, masks and any source, of any
//! length, bounded at the receiver. Nothing is known of others but that they hold a name: see
//! [`hostwire_station`].

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

pub use hostwire_station::Name;
use hostwire_station::{
    Contacts, Environment, ModelledContacts, Network, NetworkPlace, NetworkWire, Options,
    PEERS_MAX, Stations, Terms,
};
pub use hostwire_transport::owner_lock::{Guard, OwnerLock};
use hostwire_transport::ring::Sent;
use hostwire_transport::{Loss, PeId, Wire};
pub use hostwire_virtual::is_inherited as is_in_virtual_time;
pub use progress::Progress;
pub use progress_thread::{MakesProgress, ProgressThread};
use virtual_time::VirtualTime;

use crate::attach;
use crate::attachment::Attachment;
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::layout::{self, Layout, Sizes};
use crate::message::{Asking, Kind, Pattern, Payload, QueueId, Receiving, Sending, Target};
pub use crate::message::{Buffer, Deed, Event, Finished, Glance, Received, Use};
use crate::message::{Envelope, Source, Tag, Ticket};
use crate::settings::{Settings, WireName};
pub use hostwire_station::memory_region::{
    Atomic, Change, MemoryRegion, MemoryRegions, Number, Refusal, RegionRange, Rights, Witness,
};

/// Longer messages than in a job go through the ring: a station has few peers at a time, and no
/// symmetric memory for the rest.
const SIZES: Sizes = Sizes {
    ring_bytes: 16 << 10,
    eager_bytes: 64 << 10,
    heap_bytes: 4096,
    ..Sizes::USUAL
};

/// Places in memory of another that an operation may be about.
pub const PLACES_MAX: usize = crate::message::PLACES_MAX;
/// The most bytes that an atomic operation changes.
pub const ATOMIC_BYTES_MAX: usize = crate::message::ATOMIC_BYTES_MAX;
/// A get of at most so many bytes brings what was there when the owner came to it. A longer one may
/// bring bytes of puts that were started later.
pub const KEPT_BYTES_MAX: usize = crate::message::KEPT_BYTES_MAX;

/// Two kinds of messages, which never match each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// They are told apart by their tags.
    Tagged,
    /// They have no tag: it is 0.
    Plain,
}

impl Lane {
    #[inline(always)]
    fn kind(self) -> Kind {
        match self {
            Self::Tagged => Kind::User,
            Self::Plain => Kind::Team,
        }
    }
}

/// What a message says beside its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Label {
    /// Of which kind it is.
    pub lane: Lane,
    /// Its tag.
    pub tag: u64,
    /// 8 bytes that go with it, if any do.
    pub data: Option<u64>,
}

/// Which messages are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    /// Of which kind they are.
    pub lane: Lane,
    /// Who sent them.
    pub from: Source,
    /// Their tags.
    pub tag: Tag,
}

impl Wanted {
    #[inline(always)]
    fn pattern(self) -> Pattern {
        Pattern::new(self.lane.kind(), self.from, self.tag)
    }
}

/// A message that was taken out of turn: see [`Station::claim`].
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Claim(u64);

/// See the [module text](self). Any thread may use it.
///
/// Dropping it is its end: peers learn of it, and have what was sent by then.
pub struct Station {
    inner: Inner,
    contacts: Arc<dyn Contacts>,
    /// Whether contacts may have news, if they say so.
    news: Option<Arc<AtomicBool>>,
    /// See [`looks_max`](Self::looks_max).
    looks_max: AtomicU32,
    /// There is, or was, a station to which the wire leads only while somebody looks at it.
    looks_at_wire: AtomicBool,
    /// Where time is that of a model.
    virtual_time: Option<VirtualTime>,
    queue: QueueId,
    /// Stations that broke the protocol, and how: this one has parted from them.
    parted: Mutex<BTreeMap<PeId, Error>>,
}

impl Station {
    /// Opens one, which others can reach from now on.
    ///
    /// # Errors
    /// [`Error::Environment`]: no memory, no descriptors, no thread.
    pub fn open() -> Result<Self> {
        Self::with(Arc::default())
    }

    /// As [`open`](Self::open); what is and will be in `regions` can be used by whoever can reach the
    /// station. Several stations may have the same.
    ///
    /// # Errors
    /// As `open`.
    pub fn with(regions: Arc<MemoryRegions>) -> Result<Self> {
        let job = |pes| Layout::new(pes, SIZES).map(|layout| layout.segment_bytes());
        match ModelledContacts::inherited(job)? {
            Some(contacts) => Self::in_virtual_time(contacts, regions),
            None => Self::over(options()?, regions),
        }
    }

    /// As [`open`](Self::open), and as if the kernel let no process copy from the memory of another: long
    /// messages go through staging memory, in two copies.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_apart() -> Result<Self> {
        let lends = false;
        let options = Options {
            lends,
            ..options()?
        };
        Self::over(options, Arc::default())
    }

    /// As [`with`](Self::with), and as if this were one of several hosts, which are numbered: it meets those
    /// of other numbers as it does those of other hosts, at the loopback interface. Those of [`open`](Self::open)
    /// are on another host than all of these.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_on_host(host: u64, regions: Arc<MemoryRegions>) -> Result<Self> {
        let settings = Settings::from_env()?;
        let place = NetworkPlace::Loopback { host };
        let named = settings.wire.named().map(WireName::name);
        let wire = Environment::read()?.wire(named);
        let network = wire.map(|wire| network(&settings, wire, place));
        let lends = true;
        Self::over(Options { lends, network }, regions)
    }

    fn over(options: Options, regions: Arc<MemoryRegions>) -> Result<Self> {
        let wire = Arc::new(Stations::open(terms()?, options)?);
        let attachment = Attachment::over(Arc::clone(&wire) as Arc<dyn Wire>, SIZES)?;
        Ok(Self::among(wire, Inner::alone(attachment)?, regions, None))
    }

    /// One among those of a job, all of whom it knows.
    fn in_virtual_time(contacts: ModelledContacts, regions: Arc<MemoryRegions>) -> Result<Self> {
        let wire = Arc::clone(contacts.wire()) as Arc<dyn Wire>;
        let wire = attach::as_settings_want(wire, &Settings::from_env()?)?;
        let inner = Inner::new(Attachment::over(wire, SIZES)?)?;
        let contacts = Arc::new(contacts);
        let time = VirtualTime::new(Arc::clone(&contacts));
        Ok(Self::among(contacts, inner, regions, Some(time)))
    }

    fn among(
        contacts: Arc<dyn Contacts>,
        inner: Inner,
        regions: Arc<MemoryRegions>,
        virtual_time: Option<VirtualTime>,
    ) -> Self {
        let queue = {
            let messages = &mut *inner.messages();
            messages.remote.regions = regions;
            messages.requests.open_queue()
        };
        Self {
            inner,
            news: contacts.news(),
            looks_at_wire: AtomicBool::new(virtual_time.is_some()),
            looks_max: AtomicU32::new(match virtual_time {
                None => progress::LOOKS,
                Some(_) => u32::MAX,
            }),
            virtual_time,
            contacts,
            queue,
            parted: Mutex::default(),
        }
    }

    /// What others need to reach it.
    pub fn name(&self) -> Name {
        self.contacts.name()
    }

    /// The number of the station of this name, here and from now on. 0 is this one.
    ///
    /// # Errors
    /// [`Error::Environment`] if it cannot be reached from here: see [`Stations::number`].
    pub fn number(&self, name: &Name) -> Result<PeId> {
        let pe = self.contacts.number(name)?;
        self.inner.messages().know(pe + 1)?;
        Ok(pe)
    }

    /// The name of a station that has a number.
    pub fn name_of(&self, pe: PeId) -> Option<Name> {
        self.contacts.name_of(pe)
    }

    /// Sends bytes, if that takes no wait: then they may be reused. Meets `to` before.
    ///
    /// What a message to a station of this host takes that has been met is in the function of the caller: a result that
    /// goes through memory would be loaded in other pieces than it was stored in, and such a load waits for the lines of the
    /// message to leave the core.
    ///
    /// # Errors
    /// [`Error::PeerLost`] if it has ended; [`Error::NoSuchPe`]; [`Error::Environment`] if it does not
    /// answer.
    #[inline(always)]
    pub fn send_at_once(&self, to: PeId, label: Label, bytes: &[u8]) -> Result<bool> {
        match self.send_to_mapped(to, label, bytes) {
            true => Ok(true),
            false => self.meet_and_send(to, label, bytes),
        }
    }

    #[inline(always)]
    fn send_to_mapped(&self, to: PeId, label: Label, bytes: &[u8]) -> bool {
        if self.may_have_news() || !self.is_here() {
            return false;
        }
        let Some(mut messages) = self.inner.messages_at_once() else {
            return false;
        };
        let entry = (label.lane.kind(), label.tag, label.data);
        match messages.send_short(to, entry, bytes) {
            Sent::Yes => true,
            Sent::No => false,
            Sent::Ring => {
                messages.ring_peer(to);
                true
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn meet_and_send(&self, to: PeId, label: Label, bytes: &[u8]) -> Result<bool> {
        self.meet(to)?;
        let entry = (label.lane.kind(), label.tag, label.data);
        let sent = self.inner.messages().send_now(to, entry, bytes);
        // Not `map_err`: it would move the whole of a result of which a few bytes have just been stored, and
        // wait for them to leave the core behind the lines of the message.
        match sent {
            Ok(sent) => Ok(sent),
            Err(error) => Err(self.part_for(error)),
        }
    }

    /// Starts to send what `buffer` has. Meets `to` before.
    ///
    /// # Errors
    /// As [`send_at_once`](Self::send_at_once).
    pub fn send(&self, to: PeId, label: Label, buffer: Box<dyn Buffer>) -> Result<Ticket> {
        let payload = Payload::Owned(buffer);
        let sending = Sending::new(to, label.lane.kind(), label.tag, payload);
        self.start_send(to, sending.with_data(label.data))
    }

    /// As [`send`](Self::send), and ends when `to` has taken the message: into the buffer of a receive, or, if
    /// it is short and no receive takes it, to keep it for one. For that, `to` has to make progress.
    ///
    /// # Errors
    /// As [`send_at_once`](Self::send_at_once).
    pub fn send_confirmed(
        &self,
        to: PeId,
        label: Label,
        buffer: Box<dyn Buffer>,
    ) -> Result<Ticket> {
        let payload = Payload::Owned(buffer);
        let sending = Sending::new(to, label.lane.kind(), label.tag, payload);
        self.start_send(to, sending.with_data(label.data).that_is_confirmed())
    }

    fn start_send(&self, to: PeId, sending: Sending<'static>) -> Result<Ticket> {
        self.meet(to)?;
        let messages = &mut *self.inner.messages();
        let ticket = messages.start_send(&self.inner, self.queue, sending)?;
        // It may have ended since the two met.
        if !self.inner.is_there(to) {
            messages.requests.fail(to, &self.lost(to));
        }
        Ok(ticket)
    }

    /// Receives a message into the front of `room`, if it is a short one that a receive would get at once: then
    /// that is done. Nothing means no more than that [`receive`](Self::receive) has to look. As of
    /// [`send_at_once`](Self::send_at_once), all of it is in the function of the caller.
    #[inline(always)]
    pub fn receive_at_once(&self, wanted: Wanted, room: &mut [u8]) -> Option<Envelope> {
        if !self.is_here() {
            return None;
        }
        let mut messages = self.inner.messages_at_once()?;
        messages.receive_short(&wanted.pattern(), room)
    }

    /// Starts to receive a message that was or will be sent, into the front of `room`. Of a longer
    /// message, the end is dropped: its envelope says how long it was.
    ///
    /// # Errors
    /// [`Error::NoSuchPe`]; [`Error::PeerMisbehaved`].
    #[inline(always)]
    pub fn receive(&self, wanted: Wanted, room: Box<dyn Buffer>) -> Result<Ticket> {
        // Who has ended is not waited for.
        if !self.may_have_news()
            && self.is_here()
            && let Some(mut messages) = self.inner.messages_at_once()
            && messages.is_silent(wanted.from)
        {
            let target = Target::Owned(room);
            return Ok(messages.post(self.queue, wanted.pattern(), target));
        }
        self.look_and_receive(wanted, room)
    }

    #[inline(never)]
    fn look_and_receive(&self, wanted: Wanted, room: Box<dyn Buffer>) -> Result<Ticket> {
        let room = Cell::new(Some(room));
        self.in_spite_of_peers(|| {
            self.inner.check_is_here()?;
            let messages = &mut *self.inner.messages();
            let pattern = wanted.pattern();
            let ticket = messages.start_receive_into(&self.inner, self.queue, pattern, &room)?;
            if let Source::Pe(pe) = wanted.from
                && !self.inner.is_there(pe)
            {
                messages.requests.fail(pe, &self.lost(pe));
            }
            Ok(ticket)
        })
    }

    /// The message that a receive gets, now and as long as none gets it.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn peek(&self, wanted: Wanted) -> Result<Option<Envelope>> {
        let probe = || {
            let messages = &mut *self.inner.messages();
            messages.probe(&self.inner, &wanted.pattern())
        };
        self.look(|| self.in_spite_of_peers(probe))
    }

    /// As [`peek`](Self::peek), and takes it out of turn: only
    /// [`receive_claimed`](Self::receive_claimed) gets it.
    ///
    /// # Errors
    /// As [`receive`](Self::receive).
    pub fn claim(&self, wanted: Wanted) -> Result<Option<(Claim, Envelope)>> {
        let claim = || {
            let messages = &mut *self.inner.messages();
            messages.claim(&self.inner, &wanted.pattern())
        };
        let claimed = self.look(|| self.in_spite_of_peers(claim))?;
        Ok(claimed.map(|(number, envelope)| (Claim(number), envelope)))
    }

    /// Starts to receive a message that was claimed; without room, to drop it. `None` if its sender
    /// has ended before all of it was here.
    ///
    /// # Errors
    /// [`Error::PeerMisbehaved`].
    pub fn receive_claimed(
        &self,
        claim: Claim,
        room: Option<Box<dyn Buffer>>,
    ) -> Result<Option<Ticket>> {
        let target = room.map_or(Target::Nowhere, Target::Owned);
        let any = Pattern::new(Kind::User, Source::Any, Tag::ANY);
        let receiving = Receiving::new(any, 1, target).that_cuts();
        self.inner.check_is_here()?;
        let messages = &mut *self.inner.messages();
        messages.receive_claimed(&self.inner, self.queue, claim.0, receiving)
    }

    /// Starts to do something with memory of `to`, in its place among what is sent to it. It ends when
    /// the owner has done it: what was put is in that memory then, for whoever looks. Its end is
    /// told as that of a send. Meets `to` before.
    ///
    /// - `places`: at most [`PLACES_MAX`]; they have as many bytes as `buffer`, if bytes of it go or
    ///   come. If it is an atomic operation, whole numbers, of [`ATOMIC_BYTES_MAX`] at most.
    ///
    /// The end is [`Error::MemoryRefused`] if there is no such memory: then nothing was changed, unless
    /// it was unregistered meanwhile.
    ///
    /// # Errors
    /// As [`send_at_once`](Self::send_at_once); [`Error::Length`] if lengths do not fit.
    pub fn ask(
        &self,
        to: PeId,
        deed: Deed,
        places: Vec<RegionRange>,
        buffer: Box<dyn Buffer>,
    ) -> Result<Ticket> {
        lengths::check(&deed, &places, buffer.bytes().len())?;
        self.meet(to)?;
        let asking = Asking::new(to, deed, places, buffer);
        let messages = &mut *self.inner.messages();
        let ticket = messages.start_ask(&self.inner, self.queue, asking)?;
        if !self.inner.is_there(to) {
            messages.requests.fail(to, &self.lost(to));
        }
        Ok(ticket)
    }

    /// The next put with data that has ended here. As long as too many wait to be taken, peers do not
    /// hear that theirs have ended.
    pub fn take_event(&self) -> Option<Event> {
        self.inner.check_is_here().ok()?;
        self.inner.messages().remote.events.pop_front()
    }

    /// How many [events](Self::take_event) there are.
    pub fn events(&self) -> usize {
        match self.is_here() {
            true => self.inner.messages().remote.events.len(),
            false => 0,
        }
    }

    /// The next operation on memory here that has ended, of peers and of this station. As long as too
    /// many wait to be taken, peers do not hear that theirs have ended.
    pub fn take_use(&self) -> Option<Use> {
        self.inner.check_is_here().ok()?;
        self.inner.messages().remote.uses.pop_front()
    }

    /// Whether peers wait for this station to say that it has done something with its memory: it says
    /// so when it makes progress.
    pub fn owes(&self) -> bool {
        self.is_here() && self.inner.messages().owes()
    }

    /// Ends a receive that has no message yet, or a send of which nothing has left: `true`; its end is
    /// then told with [`Error::Cancelled`]. Anything else goes on: `false`.
    ///
    /// # Errors
    /// [`Error::Copied`].
    pub fn cancel(&self, ticket: Ticket) -> Result<bool> {
        self.inner.check_is_here()?;
        self.inner.messages().cancel(self.queue, ticket)
    }

    /// The receive under way whose buffer has this [mark](Buffer::mark): of several the one that was
    /// posted first.
    pub fn receive_marked(&self, mark: usize) -> Option<Ticket> {
        self.inner.check_is_here().ok()?;
        let messages = self.inner.messages();
        messages.requests.receive_marked(self.queue, mark)
    }

    fn parted(&self) -> MutexGuard<'_, BTreeMap<PeId, Error>> {
        self.parted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// If this error is that a peer broke the protocol, this station has no more to do with it.
    fn part_for(&self, error: Error) -> Error {
        let Error::PeerMisbehaved { pe, .. } = error else {
            return error;
        };
        if pe == self.inner.pe() || self.parted().contains_key(&pe) {
            return error;
        }
        self.parted().insert(pe, error.clone());
        // It is told by what ends: nothing else has to be done here.
        let _ = self.inner.messages().ended(&self.inner, pe, &error);
        self.inner.lost.end(pe, Loss::Ended);
        self.contacts.part(pe);
        error
    }

    fn meet(&self, to: PeId) -> Result<()> {
        if to == self.inner.pe() && self.virtual_time.is_none() {
            return self.inner.check_is_here();
        }
        if !self.inner.is_there(to) {
            let parted = self.parted().get(&to).cloned();
            return Err(parted.unwrap_or_else(|| self.lost(to)));
        }
        let met = self.contacts.meet(to).map_err(Error::from);
        // News of others as well, which this has nothing to do with.
        let heard = self.in_spite_of_peers(|| self.hear());
        match met {
            Ok(()) => heard,
            Err(error @ Error::Environment { .. }) if self.virtual_time.is_none() => {
                self.not_met(to, error)
            }
            Err(error) => Err(error),
        }
    }

    /// Nobody else learns that there is no way to it, so what was started before ends now: it would wait for ever.
    #[cold]
    fn not_met(&self, to: PeId, error: Error) -> Result<()> {
        match self.inner.messages().not_met(to, &error)? {
            true => Err(error),
            false => Ok(()),
        }
    }

    fn lost(&self, pe: PeId) -> Error {
        let loss = self.inner.wire().loss(pe);
        Error::PeerLost { pe, loss }
    }
}

impl Drop for Station {
    /// Before the buffers go whose messages have not ended.
    fn drop(&mut self) {
        self.contacts.lend_no_more();
        if !self.is_here() {
            return;
        }
        self.inner.messages().say_what_was_taken();
        if self.virtual_time.is_some() {
            self.inner.wire().finish();
        }
    }
}

fn terms() -> Result<Terms> {
    let segment = Layout::new(PEERS_MAX, SIZES)?.segment_bytes();
    Ok(Terms {
        version: layout::VERSION,
        segment_bytes: segment as u64,
    })
}

/// What the environment says.
fn options() -> Result<Options> {
    let settings = Settings::from_env()?;
    let environment = Environment::read()?;
    let wire = environment.wire(settings.wire.named().map(WireName::name));
    let place = NetworkPlace::Interfaces(environment.interfaces);
    let network = wire.map(|wire| network(&settings, wire, place));
    let lends = true;
    Ok(Options { lends, network })
}

fn network(settings: &Settings, wire: NetworkWire, place: NetworkPlace) -> Network {
    Network {
        place,
        wire,
        is_sealed: !settings.insecure_wire,
        lost_after: Duration::from_secs(settings.lost_after_s),
        faults: settings.faults,
    }
}

mod lengths;
mod progress;
mod progress_thread;

#[cfg(test)]
mod tests;
mod virtual_time;
