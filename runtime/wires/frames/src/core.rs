//! The endpoint of a host and its socket: the state under the lock.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use hostwire_link::packing::{Leave, Look, Packing, Timings, Turn};
use hostwire_link::seal::{self, SealError, Seals};
use hostwire_link::{
    CloseReason, Counters, Departure, DropCause, Endpoint, LinkId, Node, Ns, Progress, SendError,
    Ticket,
};
use hostwire_packet::htoe::sealed;
use hostwire_transport::error::{PeId, TransportError};

use super::alarm::Alarm;
use super::apply::take_frame;
use super::control::Kernels;
use super::ended_pes::Told;
use super::outbox::Outbox;
use super::own::Own;
use super::socket::{SEND_BATCH_FRAMES, Socket};
use super::tally::SocketCounters;
use super::{Address, FrameNumbers, Lead, Meets};

/// How often this kernel is asked for answers of the kernels of silent peers: much more often than
/// those answer.
const ASK_KERNELS_NS: u64 = 100_000_000;
/// Frames of strangers are opened no more often than this, so that they cost little time.
const HEAR_STRANGER_NS: u64 = 1_000_000;
/// What one packet can carry.
const LINE_BYTES: usize = 64;

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct FramesCore {
    pub(super) endpoint: Endpoint,
    pub(super) socket: Socket,
    /// See [`Socket::piece_bytes`].
    pub(super) piece_bytes: usize,
    counters: SocketCounters,
    pub(super) own: Own,
    guard: Guard,
    outbox: Outbox,
    /// Frames that leave together, or the last ones that did.
    departures: Vec<Departure>,
    /// The links of numbered frames that are being sent.
    leaving: Vec<LinkId>,
    /// Decides when frames leave.
    packing: Packing,
    alarm: Alarm,
    /// The last stores to a link, if they are only signals.
    signals: HashMap<LinkId, Signals>,
    /// Links whose loss a quiet has reported.
    told: HashSet<LinkId>,
    /// PEs whose death a quiet has reported.
    told_pes: Told,
    /// Is told when links open and close.
    meets: Option<Meets>,
    /// Knows whether the hosts of silent peers answer.
    kernels: Option<Arc<dyn Kernels>>,
    kernels_asked_at: Ns,
    stranger_heard_at: Ns,
    /// See [`FrameSocket::moves`](super::socket::FrameSocket::moves).
    moves: u32,
    /// The addresses of stations that this one has met.
    stations: Vec<Option<Address>>,
    begin_ns: u64,
}

/// Consecutive words for which no quiet waits.
#[derive(Debug, Clone, Copy)]
struct Signals {
    before: Ticket,
    end: Ticket,
}

/// Encryption, or none.
#[derive(Debug)]
struct Guard {
    seals: Option<Seals<FrameNumbers>>,
    /// Counts frames that the endpoint never sees.
    counters: Counters,
}

impl Guard {
    /// Whether frames are encrypted.
    const fn seals(&self) -> bool {
        self.seals.is_some()
    }

    /// Puts a frame into the outbox, encrypted if required.
    #[inline]
    fn pass(&mut self, peer: Node, frame: &[u8], outbox: &mut Outbox) {
        outbox.push(peer.0, |place| self.seal(peer, frame, place));
    }

    /// Opens received bytes: returns the frame, and its maker if it was encrypted. Nothing if it is
    /// dropped.
    fn open<'a>(&mut self, bytes: &'a mut [u8]) -> Option<(Option<Node>, &'a [u8])> {
        let opened = match &mut self.seals {
            Some(seals) => seals.open(bytes).map(|(maker, frame)| (Some(maker), frame)),
            None if sealed::Repr::is_sealed(bytes) => Err(DropCause::Sealed),
            None => Ok((None, &*bytes)),
        };
        opened.map_err(|cause| self.counters.drop_frame(cause)).ok()
    }

    /// Writes the sealed form of a frame, and returns its length; 0 if nothing may be sent.
    fn seal(&mut self, peer: Node, frame: &[u8], place: &mut [u8]) -> usize {
        let Some(seals) = &mut self.seals else {
            return copy(frame, place);
        };
        // Places have room for the overhead, and frames go only to peers. So this fails only in a
        // copy of the process, which sends nothing.
        let len = seals.seal(peer, frame, place);
        debug_assert!(matches!(len, Ok(_) | Err(SealError::Copied)), "{len:?}");
        len.unwrap_or(0)
    }
}

fn note_link(leaving: &mut Vec<LinkId>, departure: &Departure) {
    if departure.is_kept() && leaving.last() != Some(&departure.link()) {
        leaving.push(departure.link());
    }
}

/// As `Instant`, in one number: it is read for every frame.
pub(super) fn clock_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Counted from when the machine started: neither negative nor near the end.
    (now.tv_sec as u64).saturating_mul(1_000_000_000) + now.tv_nsec as u64
}

/// The time since `begin_ns`. Never 0.
fn now(begin_ns: u64) -> Ns {
    Ns(clock_ns().saturating_sub(begin_ns).saturating_add(1))
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

impl FramesCore {
    pub(super) fn new(
        endpoint: Endpoint,
        socket: Socket,
        alarm: Alarm,
        own: Own,
        seals: Option<Seals<FrameNumbers>>,
    ) -> Self {
        let frame_len_max = socket.frame_len_max();
        Self {
            endpoint,
            piece_bytes: socket.piece_bytes(),
            socket,
            counters: SocketCounters::default(),
            own,
            guard: Guard {
                seals,
                counters: Counters::default(),
            },
            outbox: Outbox::new(frame_len_max),
            departures: Vec::new(),
            leaving: Vec::new(),
            packing: Packing::new(Timings::SOCKET),
            alarm,
            signals: HashMap::new(),
            told: HashSet::new(),
            told_pes: Told::default(),
            meets: None,
            kernels: None,
            kernels_asked_at: Ns(0),
            stranger_heard_at: Ns(0),
            moves: 0,
            stations: Vec::new(),
            begin_ns: clock_ns(),
        }
    }

    /// For a station: `meets` is told when links open and close.
    pub(super) fn that_meets(mut self, meets: Meets) -> Self {
        self.meets = Some(meets);
        self
    }

    /// From now on `kernels` says whether the hosts of silent peers answer.
    pub(super) fn ask_kernels(&mut self, kernels: Arc<dyn Kernels>) {
        self.kernels = Some(kernels);
    }

    /// From now on frames can be sent to this station, and its frames are accepted.
    pub(super) fn add_station(&mut self, lead: &Lead) -> Result<(), TransportError> {
        let at = lead.pe as usize;
        let mut stations = self.stations.clone();
        stations.resize(stations.len().max(at + 1), None);
        if let Some(place) = stations.get_mut(at) {
            *place = Some(lead.address);
        }
        if let Err(error) = self.socket.set_peers(0, stations.clone()) {
            // The earlier ones were valid.
            self.socket.set_peers(0, self.stations.clone())?;
            return Err(error);
        }
        self.stations = stations;
        if let (Some(seals), Some((key, ends))) = (&mut self.guard.seals, &lead.keys) {
            seals.join(Node(lead.pe), lead.called(), key, *ends);
        }
        Ok(())
    }

    /// The time since the wire was made. Never 0.
    pub(super) fn now(&self) -> Ns {
        now(self.begin_ns)
    }

    /// As [`drive`](Self::drive), for threads that poll: most polls only check the receive ring, and
    /// the clock is read only in every few.
    pub(super) fn glance(&mut self) -> bool {
        if let Look::Peek(times) = self.packing.look()
            && (0..times).all(|_| self.socket.is_empty())
        {
            return false;
        }
        self.let_go();
        self.drive()
    }

    /// Stores bytes if they can join a waiting frame. Returns whether they could.
    #[inline]
    pub(super) fn join(&mut self, link: LinkId, address: u64, data: &[u8]) -> bool {
        self.packing.joins(link) && self.endpoint.join(link, address, data)
    }

    /// Sends a store of one packet at once, if it is the first one to its target since the last look
    /// and nothing else has to be sent. Returns whether it did.
    #[inline]
    pub(super) fn put_alone(&mut self, link: LinkId, address: u64, data: &[u8]) -> bool {
        if data.len() > LINE_BYTES || !self.packing.is_at_rest() || !self.outbox.is_empty() {
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
        // The frame has left, so the rest adds no latency.
        let now = self.now();
        self.endpoint.has_left(now, link);
        self.packing.left_alone(now, link);
        true
    }

    /// Stores to a link, and returns how much it takes. The first stores since the last look leave
    /// at once. After them a frame that is not full may wait for more, until a look or
    /// [`let_go`](Self::let_go).
    pub(super) fn put(
        &mut self,
        link: LinkId,
        address: u64,
        data: &[u8],
    ) -> Result<usize, SendError> {
        let accepted = self.endpoint.put(link, address, data)?;
        if self.packing.is_crowded() {
            self.let_go();
        }
        if self.packing.accepted(link) {
            self.endpoint.flush(link);
        }
        Ok(accepted)
    }

    /// Stores to a link by one of the ways above, and returns how much it takes.
    pub(super) fn offer(
        &mut self,
        link: LinkId,
        address: u64,
        data: &[u8],
    ) -> Result<usize, SendError> {
        if self.join(link, address, data) || self.put_alone(link, address, data) {
            return Ok(data.len());
        }
        self.put(link, address, data)
    }

    /// Sends frames after stores to a link, unless they are part of a stream and more may leave with
    /// them.
    pub(super) fn transmit_stored(&mut self, link: LinkId) {
        let unsent = self.endpoint.frames_unsent(link);
        let begin_ns = self.begin_ns;
        let now = match self.packing.behind_store(unsent, || now(begin_ns)) {
            Leave::Nothing => return,
            Leave::Ready(now) => now,
            Leave::All(now) => {
                for link in self.packing.targets() {
                    self.endpoint.flush(link);
                }
                now
            }
        };
        self.on_timeout(now);
        self.transmit(now);
    }

    /// A thread that looks stores nothing more now, so waiting frames need not wait longer.
    pub(super) fn let_go(&mut self) {
        while let Some(link) = self.packing.let_go() {
            self.endpoint.flush(link);
        }
    }

    /// Receives frames, does what is due, and sends frames. Returns whether any have come.
    pub(super) fn drive(&mut self) -> bool {
        let now = self.now();
        let Self {
            endpoint,
            socket,
            own,
            guard,
            ..
        } = self;
        let received = socket.receive(&mut |came, bytes| {
            if let Some((maker, frame)) = guard.open(bytes) {
                take_frame(endpoint, own, now, maker, frame);
                if came.is_marked {
                    endpoint.note_mark(Node(came.host));
                }
            }
        });
        if received.strangers > 0 {
            self.counters.strangers += received.strangers as u64;
            self.hear_stranger(now);
        }
        self.on_timeout(now);
        self.transmit(now);
        // In a job events are not needed: every operation checks its link.
        while let Some(event) = self.endpoint.poll_event() {
            if let Some(meets) = &self.meets {
                meets.tell(&event);
            }
        }
        received.frames > 0
    }

    /// A stranger whose frame only a peer can have sealed is that peer, at a new address. Without encryption nothing
    /// shows who it is.
    #[cold]
    fn hear_stranger(&mut self, now: Ns) {
        let Some(seals) = &mut self.guard.seals else {
            return;
        };
        if now.since(self.stranger_heard_at) < HEAR_STRANGER_NS {
            return;
        }
        self.stranger_heard_at = now;
        let Some(bytes) = self.socket.stranger() else {
            return;
        };
        if let Ok((maker, frame)) = seals.open(bytes) {
            take_frame(&mut self.endpoint, &self.own, now, Some(maker), frame);
            self.counters.moved += 1;
            if let Some(ip) = self.socket.has_moved(maker.0)
                && let Some(kernels) = &self.kernels
            {
                kernels.has_moved(maker.0, ip);
            }
        }
    }

    /// Whether the socket has become another one since the last call.
    pub(super) fn takes_socket(&mut self) -> bool {
        core::mem::replace(&mut self.moves, self.socket.moves()) != self.moves
    }

    /// Does what is due. Before a peer can be lost for its silence, the endpoint is told whether its
    /// host answers.
    #[inline]
    fn on_timeout(&mut self, now: Ns) {
        if now.since(self.kernels_asked_at) >= ASK_KERNELS_NS {
            self.tell_of_kernels(now);
        }
        self.endpoint.on_timeout(now);
    }

    #[inline(never)]
    fn tell_of_kernels(&mut self, now: Ns) {
        self.kernels_asked_at = now;
        let in_doubt: Vec<Node> = self.endpoint.in_doubt(now).collect();
        if !in_doubt.is_empty() {
            self.socket.follow();
        }
        let Some(kernels) = &self.kernels else {
            return;
        };
        for peer in in_doubt {
            let ago = kernels.answered_ago(peer.0);
            let at = ago.map(|ago| Ns(now.0.saturating_sub(ago.as_nanos() as u64)));
            self.endpoint.host_answered(peer, at);
        }
    }

    /// Sends all frames that have to leave now.
    pub(super) fn transmit(&mut self, now: Ns) {
        self.packing.transmits();
        while self.send_waiting(now) && self.take_departures(now) {}
    }

    /// Sends frames that wait because the system had no room. Returns whether all have left.
    fn send_waiting(&mut self, now: Ns) -> bool {
        if self.outbox.is_empty() {
            return true;
        }
        let unsent = &mut self.counters.unsent;
        let all = self.outbox.send(now, &mut self.socket, unsent);
        if all {
            self.have_left();
        }
        all
    }

    /// Takes frames that leave together: sends them, or leaves them to
    /// [`send_waiting`](Self::send_waiting). Returns whether there were any.
    fn take_departures(&mut self, now: Ns) -> bool {
        if !self.guard.seals() {
            return self.send_as_they_are(now);
        }
        while self.outbox.has_room()
            && let Some(departure) = self.endpoint.poll_departure(now)
        {
            note_link(&mut self.leaving, &departure);
            let frame = self.endpoint.frame(&departure);
            self.guard.pass(departure.peer(), frame, &mut self.outbox);
        }
        !self.outbox.is_empty()
    }

    /// Sends frames without a copy. Frames for which the system has no room are put into the outbox.
    fn send_as_they_are(&mut self, now: Ns) -> bool {
        let Self {
            endpoint,
            socket,
            departures,
            leaving,
            ..
        } = self;
        departures.clear();
        while departures.len() < SEND_BATCH_FRAMES
            && let Some(departure) = endpoint.poll_departure(now)
        {
            departures.push(departure);
            note_link(leaving, &departure);
            if !departure.is_kept() {
                break;
            }
        }
        let frame_of = |departure: &Departure| (departure.peer().0, endpoint.frame(departure));
        if departures.is_empty() {
            return false;
        }
        let sent = socket.send_batch(departures.iter().map(frame_of));
        let left = departures.get(sent.unwrap_or(0)..).unwrap_or_default();
        for (pe, frame) in left.iter().map(frame_of) {
            self.outbox.push(pe, |place| copy(frame, place));
        }
        if self.outbox.is_empty() {
            self.have_left();
        }
        true
    }

    /// The frames taken from the endpoint have been sent: from now on later stores wait for more.
    fn have_left(&mut self) {
        let now = self.now();
        self.packing.left(now);
        for link in self.leaving.drain(..) {
            self.endpoint.is_sent(now, link);
        }
    }

    /// The counters of the endpoint and of the code in front of it.
    pub(super) fn counters(&self) -> Counters {
        let mut counters = self.endpoint.counters();
        counters += &self.guard.counters;
        counters
    }

    /// The counters of the socket.
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

    /// Bytes that encryption adds to each frame.
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

    /// Notes a signal: a word for which no quiet waits. `before` is the link's state before it.
    pub(super) fn note_signal(&mut self, link: LinkId, before: Option<Ticket>) {
        let (Some(before), Some(after)) = (before, self.endpoint.accepted(link)) else {
            return;
        };
        // Another thread may have stored in between.
        if !after.follows(&before) {
            self.signals.remove(&link);
            return;
        }
        match self.signals.get_mut(&link) {
            Some(signals) if signals.end == before => signals.end = after,
            _ => {
                let signals = Signals { before, end: after };
                self.signals.insert(link, signals);
            }
        }
    }

    /// The last store to a link for which a quiet has to wait.
    pub(super) fn pending(&mut self, link: LinkId) -> Option<Ticket> {
        let all = self.endpoint.accepted(link)?;
        let ticket = match self.signals.get(&link) {
            Some(signals) if signals.end == all => signals.before,
            _ => all,
        };
        let is_pending = self.endpoint.progress(link, ticket) == Progress::Pending;
        if is_pending {
            self.endpoint.ask_for(link, ticket);
        }
        is_pending.then_some(ticket)
    }

    /// The PEs that have died, each of them once.
    pub(super) fn died(&mut self) -> Vec<PeId> {
        self.told_pes.news(self.own.ended())
    }

    /// Whether a PE has died and this has not been reported.
    pub(super) fn has_died(&mut self, pe: PeId) -> bool {
        self.told_pes.is_news(self.own.ended(), pe)
    }

    /// A waiting PE serves the wire itself.
    pub(super) const fn attend(&mut self) {
        self.packing.attends();
    }

    /// How long there is no work, if no frame comes.
    pub(super) fn idle_time(&self, at_most: Duration) -> Duration {
        let now = self.now();
        Duration::from_nanos(self.due(now).since(now)).min(at_most)
    }

    /// When there is work, if no frame comes.
    fn due(&self, now: Ns) -> Ns {
        let due = self.packing.due(self.endpoint.deadline());
        match self.outbox.is_empty() {
            true => due,
            false => due.min(now.after(self.packing.timings().again_ns)),
        }
    }

    /// A turn of the agent. Returns what it does next. If it has to wait, the alarm is set.
    pub(super) fn agent_turn(&mut self) -> Turn {
        if self.packing.begin_turn(self.now()) {
            self.let_go();
        }
        let came = self.drive();
        let now = self.now();
        let turn = self.packing.end_turn(now, came, self.due(now));
        match turn {
            Turn::Again => {}
            Turn::Aside(aside_ns) => self.set_alarm(now.after(aside_ns)),
            Turn::Sleep(until) => self.set_alarm(until),
        }
        turn
    }

    /// Makes sure that the agent wakes in time for the next work.
    pub(super) fn call_agent_in_time(&mut self) {
        if let Some(at) = self.packing.wake_agent_by(self.endpoint.deadline()) {
            self.set_alarm(at);
        }
    }

    /// When the agent wakes, unless it continues at once or cannot be woken earlier.
    #[cfg(test)]
    pub(super) const fn agent_wakes(&self) -> Option<Ns> {
        self.packing.agent_wakes()
    }

    /// Whether stores wait for more, and nothing else.
    #[cfg(test)]
    pub(super) fn stores_wait(&self) -> bool {
        self.packing.due(None) < Ns::MAX
    }

    /// What ends the waits of the agent.
    pub(super) const fn alarm(&self) -> &Alarm {
        &self.alarm
    }

    fn set_alarm(&mut self, at: Ns) {
        self.alarm.set(self.begin_ns.saturating_add(at.0));
    }
}
