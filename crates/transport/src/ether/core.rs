//! The endpoint of a PE and its socket: what is behind the lock.

use std::collections::HashSet;
use std::time::Duration;

use hostwire_link::seal::{self, SealError, Seals};
use hostwire_link::{
    CloseReason, Counters, Departure, DropCause, Endpoint, Event, LinkId, Node, Ns, SendError,
    Transmit,
};
use hostwire_packet::htoe::sealed;

use super::FrameNumbers;
use super::apply::take_frame;
use super::outbox::Outbox;
use super::own::Own;
use super::socket::{SEND_BATCH_FRAMES, Socket};
use super::tally::SocketCounters;

/// What one packet can carry.
const LINE_BYTES: usize = 64;

/// Looks at the receive ring for one at the clock.
const GLANCES: u32 = 64;

/// Looks at the receive ring in a row. Each takes a nanosecond or two while nothing comes, and
/// what else a PE that waits looks at takes fifty.
const GLANCES_IN_A_ROW: u32 = 16;

/// Stores of a stream for one at the clock.
const JOINED_PER_CLOCK: u32 = 64;

/// Frames of a stream of stores that leave together.
const STREAM_FRAMES: usize = 16;

/// Targets in turn that frames are held for.
const HELD_MAX: usize = 64;

/// How long a frame that is not full waits for more stores. Longer than it takes to send one,
/// or each would leave alone.
pub(super) const HOLD_NS: u64 = 50_000;

/// When frames that the system had no room for are sent again.
const SEND_AGAIN: Duration = Duration::from_micros(50);

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Core {
    pub(super) endpoint: Endpoint,
    pub(super) socket: Socket,
    counters: SocketCounters,
    pub(super) own: Own,
    guard: Guard,
    outbox: Outbox,
    /// Frames that leave together, or did last.
    departures: Vec<Departure>,
    glances: u32,
    /// Links that were stored to since somebody looked: stores may wait there for more.
    held: Vec<LinkId>,
    joined: u32,
    /// Whether the last store was the first one to its target.
    lone: bool,
    /// When frames left last.
    sent_at: Ns,
    /// Whether frames wait for more that could leave.
    defers: bool,
    /// Links whose loss a quiet has told of.
    told: HashSet<LinkId>,
    begin_ns: u64,
    /// When the agent will look again by itself, while it sleeps.
    pub(super) agent_wakes: Option<Ns>,
    /// Whether somebody else than the agent has looked for frames since it did.
    pub(super) driven: bool,
    /// Whether a PE that waits has.
    pub(super) looked: bool,
}

/// Encryption, or none.
#[derive(Debug)]
struct Guard {
    seals: Option<Seals<FrameNumbers>>,
    /// Of frames that the endpoint never sees.
    counters: Counters,
}

impl Guard {
    /// Whether frames are encrypted.
    const fn seals(&self) -> bool {
        self.seals.is_some()
    }

    /// Puts a frame into the outbox, encrypted where that is asked for.
    #[inline]
    fn pass(&mut self, peer: Node, frame: &[u8], outbox: &mut Outbox) {
        outbox.push(peer.0, |place| self.seal(peer, frame, place));
    }

    /// The frame in what has come; nothing if it is dropped.
    fn open<'a>(&mut self, bytes: &'a mut [u8]) -> Option<&'a [u8]> {
        let opened = match &mut self.seals {
            Some(seals) => seals.open(bytes).map(|(_, frame)| frame),
            None if sealed::Repr::is_sealed(bytes) => Err(DropCause::Sealed),
            None => Ok(&*bytes),
        };
        opened.map_err(|cause| self.counters.drop_frame(cause)).ok()
    }

    /// Writes what is to be sent in place of a frame; its length. 0 for nothing at all.
    fn seal(&mut self, peer: Node, frame: &[u8], place: &mut [u8]) -> usize {
        let Some(seals) = &mut self.seals else {
            return copy(frame, place);
        };
        // Frames are shorter than a place by the overhead, and only peers are sent to. What is
        // left is a copy of the process, which sends nothing.
        let len = seals.seal(peer, frame, place);
        debug_assert!(matches!(len, Ok(_) | Err(SealError::Copied)), "{len:?}");
        len.unwrap_or(0)
    }
}

/// As `Instant`, in one number: it is read for every frame.
fn clock_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Counted from when the machine started: neither negative nor near the end.
    (now.tv_sec as u64).saturating_mul(1_000_000_000) + now.tv_nsec as u64
}

fn copy(frame: &[u8], place: &mut [u8]) -> usize {
    match place.get_mut(..frame.len()) {
        Some(place) => {
            place.copy_from_slice(frame);
            frame.len()
        }
        None => 0,
    }
}

impl Core {
    pub(super) fn new(
        endpoint: Endpoint,
        socket: Socket,
        own: Own,
        seals: Option<Seals<FrameNumbers>>,
    ) -> Self {
        let frame_len_max = socket.frame_len_max();
        Self {
            endpoint,
            socket,
            counters: SocketCounters::default(),
            own,
            guard: Guard {
                seals,
                counters: Counters::default(),
            },
            outbox: Outbox::new(frame_len_max),
            departures: Vec::new(),
            glances: 0,
            held: Vec::new(),
            joined: 0,
            lone: false,
            sent_at: Ns(0),
            defers: false,
            told: HashSet::new(),
            begin_ns: clock_ns(),
            agent_wakes: None,
            driven: false,
            looked: false,
        }
    }

    /// The time since the wire was made. Never 0.
    pub(super) fn now(&self) -> Ns {
        Ns(clock_ns().saturating_sub(self.begin_ns).saturating_add(1))
    }

    /// As [`drive`](Self::drive), for who looks again and again: most looks cost only that
    /// of the receive ring, and the clock is read every few of them.
    pub(super) fn glance(&mut self) -> bool {
        self.glances = self.glances.wrapping_add(1);
        let looks_only = self.held.is_empty() && !self.glances.is_multiple_of(GLANCES);
        if looks_only && (0..GLANCES_IN_A_ROW).all(|_| self.socket.is_empty()) {
            return false;
        }
        self.let_go();
        self.drive()
    }

    /// Stores what joins other stores in a frame that waits for more; whether it is so.
    #[inline]
    pub(super) fn join(&mut self, link: LinkId, address: u64, data: &[u8]) -> bool {
        self.joined = self.joined.wrapping_add(1);
        !self.joined.is_multiple_of(JOINED_PER_CLOCK)
            && self.held.last() == Some(&link)
            && self.endpoint.join(link, address, data)
    }

    /// Sends a store that is one packet at once, if it is the first one to its target since
    /// somebody looked and nothing else is to be sent; whether it is so.
    #[inline]
    pub(super) fn put_alone(&mut self, link: LinkId, address: u64, data: &[u8]) -> bool {
        if data.len() > LINE_BYTES || !self.held.is_empty() || !self.outbox.is_empty() {
            return false;
        }
        let Some(transmit) = self.endpoint.put_alone(link, address, data) else {
            return false;
        };
        let (peer, frame) = (transmit.peer, transmit.frame);
        let socket = &mut self.socket;
        if self.guard.seals() || socket.send(&[(peer.0, frame)]).is_err() {
            self.guard.pass(peer, frame, &mut self.outbox);
            self.outbox.send_once(socket);
        }
        // The frame is on its way: what is left to do costs nobody time.
        let now = self.now();
        self.endpoint.has_left(now, link);
        self.sent_at = now;
        self.held.push(link);
        true
    }

    /// Stores to a link; what it takes of them. The first ones since somebody looked leave at
    /// once. Behind them a frame that is not full may wait for more: somebody has to look or
    /// [let go](Self::let_go).
    pub(super) fn put(
        &mut self,
        link: LinkId,
        address: u64,
        data: &[u8],
    ) -> Result<usize, SendError> {
        let accepted = self.endpoint.put(link, address, data)?;
        if self.held.last() != Some(&link) {
            if !self.held.contains(&link) {
                self.endpoint.flush(link);
                self.lone = true;
            }
            if self.held.len() == HELD_MAX {
                self.let_go();
            }
            self.held.push(link);
        }
        Ok(accepted)
    }

    /// Sends what is to be sent after stores to a link, unless it is part of a stream and
    /// more may leave with it.
    pub(super) fn transmit_stored(&mut self, link: LinkId) {
        let lone = core::mem::take(&mut self.lone);
        let streams =
            !lone && self.held.len() == 1 && self.endpoint.frames_unsent(link) <= STREAM_FRAMES;
        self.defers = streams;
        // The clock costs as much as a store.
        if streams && !self.joined.is_multiple_of(JOINED_PER_CLOCK) {
            return;
        }
        let now = self.now();
        if streams && now.since(self.sent_at) < HOLD_NS {
            return;
        }
        self.endpoint.on_timeout(now);
        self.transmit(now);
    }

    /// Who looks stores nothing more now: what waits for more need not.
    pub(super) fn let_go(&mut self) {
        if self.held.is_empty() {
            return;
        }
        while let Some(link) = self.held.pop() {
            self.endpoint.flush(link);
        }
    }

    /// Receives what has come, does what is due and sends what is to be sent. Returns
    /// whether anything has come.
    pub(super) fn drive(&mut self) -> bool {
        let now = self.now();
        let Self {
            endpoint,
            socket,
            own,
            guard,
            ..
        } = self;
        let received = socket.receive(&mut |bytes| {
            if let Some(frame) = guard.open(bytes) {
                take_frame(endpoint, own, now, frame);
            }
        });
        self.counters.strangers += received.strangers as u64;
        self.endpoint.on_timeout(now);
        self.transmit(now);
        // Nobody waits for events: every operation looks at its link.
        while let Some(Event::Opened { .. } | Event::Closed { .. }) = self.endpoint.poll_event() {}
        received.frames > 0
    }

    /// Sends what is to be sent.
    pub(super) fn transmit(&mut self, now: Ns) {
        self.defers = false;
        while self.send_waiting(now) && self.take_departures(now) {}
    }

    /// Sends what waits because the system had no room; whether all has left.
    fn send_waiting(&mut self, now: Ns) -> bool {
        if self.outbox.is_empty() {
            return true;
        }
        let unsent = &mut self.counters.unsent;
        let all = self.outbox.send(now, &mut self.socket, unsent);
        if all {
            self.sent_at = now;
        }
        all
    }

    /// Takes frames that are to leave together: sends them, or leaves them to
    /// [`send_waiting`](Self::send_waiting). Whether there were any.
    fn take_departures(&mut self, now: Ns) -> bool {
        if !self.guard.seals() {
            return self.send_as_they_are(now);
        }
        while self.outbox.has_room()
            && let Some(Transmit { peer, frame, .. }) = self.endpoint.poll_transmit(now)
        {
            self.guard.pass(peer, frame, &mut self.outbox);
        }
        !self.outbox.is_empty()
    }

    /// Sends frames from where they are kept. Those that the system has no room for are put
    /// into the outbox.
    fn send_as_they_are(&mut self, now: Ns) -> bool {
        let Self {
            endpoint,
            socket,
            departures,
            ..
        } = self;
        departures.clear();
        while departures.len() < SEND_BATCH_FRAMES
            && let Some(departure) = endpoint.poll_departure(now)
        {
            departures.push(departure);
            if !departure.is_kept() {
                break;
            }
        }
        let frame_of = |departure: &Departure| (departure.peer().0, endpoint.frame(departure));
        if departures.is_empty() {
            return false;
        }
        let sent = socket.send_batch(departures.iter().map(frame_of));
        if sent.is_ok() {
            self.sent_at = now;
        }
        let left = departures.get(sent.unwrap_or(0)..).unwrap_or_default();
        for (pe, frame) in left.iter().map(frame_of) {
            self.outbox.push(pe, |place| copy(frame, place));
        }
        true
    }

    /// What the endpoint and what stands before it have counted.
    pub(super) fn counters(&self) -> Counters {
        let mut counters = self.endpoint.counters();
        counters += &self.guard.counters;
        counters
    }

    /// What the wire has counted beside those.
    pub(super) fn socket_counters(&self) -> SocketCounters {
        let mut counters = self.counters;
        counters += &self.socket.counters();
        counters
    }

    /// Longest frame of the endpoint.
    pub(super) fn frame_len_max(socket: &Socket, is_sealed: bool) -> usize {
        let added = Self::added_bytes(is_sealed);
        socket.frame_len_max().saturating_sub(added)
    }

    /// What stands between it and the socket adds so much to each.
    pub(super) const fn added_bytes(is_sealed: bool) -> usize {
        if is_sealed { seal::OVERHEAD } else { 0 }
    }

    /// Why the link to a PE is closed.
    pub(super) fn closed(&self, link: LinkId) -> Option<CloseReason> {
        self.endpoint.is_open(link).err()
    }

    /// True the first time that it is called for a link.
    pub(super) fn tell_loss(&mut self, link: LinkId) -> bool {
        self.told.insert(link)
    }

    /// How long nothing has to be done, if nothing comes.
    pub(super) fn idle_time(&self, at_most: Duration) -> Duration {
        let at_most = match self.outbox.is_empty() && !self.defers {
            true => at_most,
            false => at_most.min(SEND_AGAIN),
        };
        match self.endpoint.deadline() {
            Some(at) => Duration::from_nanos(at.0.saturating_sub(self.now().0)).min(at_most),
            None => at_most,
        }
    }

    /// Whether the agent sleeps beyond the next deadline.
    pub(super) fn agent_oversleeps(&self) -> bool {
        match (self.agent_wakes, self.endpoint.deadline()) {
            (Some(_), _) if self.defers => true,
            (Some(wakes), Some(deadline)) => deadline < wakes,
            _ => false,
        }
    }
}
