mod receive;
mod types;

pub use self::types::{Credits, Delivery, Departure, Filled, Identity, Progress, Ticket, Transmit};

use std::collections::{HashMap, VecDeque};

use hostwire_packet::ht::{LINE_LEN, MASKED_LEN_MAX, PacketRepr, VirtualChannel};
use hostwire_packet::htoe::HEADER_LEN;

use crate::config::Config;
use crate::counters::Counters;
use crate::error::{CloseReason, ConfigError, Misbehaviour, OpenError, ReleaseError, SendError};
use crate::event::Event;
use crate::link::{EndpointShared, Keys, Lines, Link, LinkState, Out, buffer_len};
use crate::names::{Called, LinkId, Node};
use crate::put::first_packet;
use crate::time::Ns;
use crate::timers::Timers;

/// All virtual links of one node: bytes and a clock in, frames and deadlines
/// out. Does no I/O and never blocks.
///
/// Drive it like this:
/// 1. [`receive`](Self::receive) every frame that comes, apply what it
///    delivers, [`release`](Self::release) the buffers, and do the same with frames that
///    [`take_early`](Self::take_early) gives;
/// 2. send every frame that [`poll_transmit`](Self::poll_transmit) gives;
/// 3. when nothing is left to do, wait until [`deadline`](Self::deadline), call
///    [`on_timeout`](Self::on_timeout), and continue with 2.
///
/// Apply posted packets before the next `poll_transmit`: its frames acknowledge them, and an ack means that
/// they are visible.
#[derive(Clone, Debug)]
pub struct Endpoint {
    shared: EndpointShared,
    links: Vec<Link>,
    by_node: HashMap<Node, u16>,
    /// Links that may have something to send, each once: served in turn.
    ready: VecDeque<u16>,
    timers: Timers,
    events: VecDeque<Event>,
    /// The state that belongs to no link.
    counters: Counters,
    incarnation: u64,
}

impl Endpoint {
    /// An endpoint without links. `random` may be public, but should be different in
    /// each life of the process.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn new(config: Config, identity: Identity, random: u64) -> Result<Self, ConfigError> {
        config.check()?;
        if identity.incarnation == 0 {
            return Err(ConfigError {
                field: "incarnation",
                min: 1,
                max: u64::MAX,
                got: 0,
            });
        }
        Ok(Self {
            shared: EndpointShared {
                node: identity.node,
                job: identity.job,
                pool: crate::pool::Pool::new(
                    buffer_len(config.frame_len_max),
                    config.pool_frames_max,
                ),
                keys: Keys::new(random),
                soonest_ns: config.shortest_wait_ns(),
                early_frames: 0,
                scratch: vec![0; config.frame_len_max],
                config,
            },
            links: Vec::new(),
            by_node: HashMap::new(),
            ready: VecDeque::new(),
            timers: Timers::default(),
            events: VecDeque::new(),
            counters: Counters::default(),
            incarnation: identity.incarnation,
        })
    }

    /// The link to a peer; makes it if there is none. It is closed until it is
    /// [opened](Self::open).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn link(&mut self, peer: Node) -> Result<LinkId, OpenError> {
        let own = self.shared.node;
        self.link_as(peer, Called { own, peer })
    }

    /// As [`link`](Self::link), to a peer that numbers nodes by itself: `called` has its numbers for the two
    /// ends of the link.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn link_as(&mut self, peer: Node, called: Called) -> Result<LinkId, OpenError> {
        if peer == self.shared.node {
            return Err(OpenError::Loop(peer));
        }
        if let Some(&id) = self.by_node.get(&peer) {
            return Ok(LinkId(id));
        }
        let id = u16::try_from(self.links.len()).map_err(|_| OpenError::TooMany)?;
        let link = Link::new(id, peer, called, self.incarnation, &self.shared.config);
        self.links.push(link);
        self.by_node.insert(peer, id);
        self.timers.add_link();
        self.ready.reserve(self.links.len() - self.ready.len());
        Ok(LinkId(id))
    }

    /// Opens a link, or opens it again after it was closed. Both ends have to do this.
    /// [`Event::Opened`] or [`Event::Closed`] follows. Does nothing to a link that is
    /// open or opening.
    ///
    /// # Errors
    /// [`OpenError::NoLink`].
    pub fn open(&mut self, now: Ns, link: LinkId) -> Result<(), OpenError> {
        let state = self.links.get_mut(link.index());
        let state = state.ok_or(OpenError::NoLink(link))?;
        if matches!(state.state, LinkState::Closed(_)) {
            state.open(now, &mut self.shared);
            self.touch(now, link.0);
        }
        Ok(())
    }

    /// Accepts a packet for a peer: packed, or queued until there are credits.
    ///
    /// Order: packets of one channel arrive in the order in which they were
    /// accepted; posted packets arrive before non-posted packets and responses
    /// accepted after them (unless those have PassPW).
    ///
    /// # Errors
    /// [`SendError`]. Nothing was accepted then.
    ///
    /// # Cost
    /// No allocation in steady state.
    #[inline]
    pub fn send(&mut self, link: LinkId, packet: &PacketRepr<'_>) -> Result<(), SendError> {
        let state = self.links.get_mut(link.index());
        let state = state.ok_or(SendError::NoLink(link))?;
        if state.send(packet, &mut self.shared)? {
            self.list(link.0);
        }
        Ok(())
    }

    /// Accepts bytes to be stored at `address` on the peer's side; returns how
    /// many, which is less than all of them if room runs out. Bytes of one
    /// packet of up to 64 aligned bytes arrive together, others in any number
    /// of pieces, in order.
    ///
    /// # Shapes and units
    /// - `address`: byte address in the map that both ends share; any
    ///   alignment.
    /// - `data`: any length; nothing is sent for none.
    ///
    /// # Errors
    /// [`SendError`], if not one byte was accepted.
    pub fn put(&mut self, link: LinkId, address: u64, data: &[u8]) -> Result<usize, SendError> {
        let mut done = 0;
        while let Some(rest) = data.get(done..).filter(|rest| !rest.is_empty()) {
            let at = address.wrapping_add(done as u64);
            let accepted = match self.send_lines(link, at, rest) {
                Ok(0) => self.send_first(link, at, rest),
                lines => lines.map(|lines| lines * LINE_LEN),
            };
            match accepted {
                Ok(len) => done += len,
                Err(error) if done == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(done)
    }

    /// Accepts the bytes of a put that fit one packet, and returns their number.
    fn send_first(&mut self, link: LinkId, at: u64, data: &[u8]) -> Result<usize, SendError> {
        let mut scratch = [0; MASKED_LEN_MAX];
        let (packet, len) = first_packet(at, data, &mut scratch).map_err(SendError::Packet)?;
        self.send(link, &packet)?;
        Ok(len)
    }

    /// As [`put`](Self::put), but only if the bytes are one packet that joins a waiting
    /// frame, so that the caller need not read the clock. Returns whether it did.
    #[inline]
    pub fn join(&mut self, link: LinkId, address: u64, data: &[u8]) -> bool {
        let Some(state) = self.links.get_mut(link.index()) else {
            return false;
        };
        if let Ok(line) = data.try_into() {
            return state.join_line(address, line, &mut self.shared);
        }
        if data.len() > LINE_LEN || !state.lets_join() {
            return false;
        }
        let mut scratch = [0; MASKED_LEN_MAX];
        match first_packet(address, data, &mut scratch) {
            Ok((packet, len)) if len == data.len() => state.send(&packet, &mut self.shared).is_ok(),
            _ => false,
        }
    }

    /// As [`put`](Self::put), [`flush`](Self::flush) and [`poll_transmit`](Self::poll_transmit)
    /// at once, for bytes that are one packet and become a frame of their own. `None` if this
    /// simple case does not hold; then nothing was accepted.
    ///
    /// Call [`has_left`](Self::has_left) as soon as the frame has been sent: so no clock is
    /// read before.
    pub fn put_alone(&mut self, link: LinkId, address: u64, data: &[u8]) -> Option<Transmit<'_>> {
        let state = self.links.get_mut(link.index())?;
        if !self.ready.is_empty() || !state.can_send_alone() {
            return None;
        }
        if let (lines @ [_], []) = data.as_chunks::<LINE_LEN>() {
            let Lines::Packed { .. } = state.send_lines(address, lines, &mut self.shared) else {
                return None;
            };
        } else {
            let mut scratch = [0; MASKED_LEN_MAX];
            let (packet, len) = first_packet(address, data, &mut scratch).ok()?;
            if len != data.len() || !state.start_frame(&mut self.shared) {
                return None;
            }
            state.send(&packet, &mut self.shared).ok()?;
        }
        let departure = Departure {
            link,
            peer: state.peer,
            out: state.transmit(&mut self.shared),
        };
        Some(self.transmit_of(&departure))
    }

    /// When the frame of [`put_alone`](Self::put_alone) left.
    pub fn has_left(&mut self, now: Ns, link: LinkId) {
        if let Some(state) = self.links.get_mut(link.index()) {
            state.has_left(now, &self.shared.config);
            self.touch(now, link.0);
        }
    }

    /// Notes when the sending of [kept](Departure::is_kept) frames of a link was over. From then on the next
    /// frame waits for more packets.
    pub fn is_sent(&mut self, now: Ns, link: LinkId) {
        if let Some(state) = self.links.get_mut(link.index()) {
            state.is_sent(now);
        }
    }

    /// Frames of a link that have not been sent, including the one that is being packed.
    pub fn frames_unsent(&self, link: LinkId) -> usize {
        let link = self.links.get(link.index());
        link.map_or(0, Link::frames_unsent)
    }

    /// Accepts whole lines, as many as fit the current frame; 0 if they have to go the long way.
    #[inline]
    fn send_lines(&mut self, link: LinkId, at: u64, data: &[u8]) -> Result<usize, SendError> {
        let state = self.links.get_mut(link.index());
        let state = state.ok_or(SendError::NoLink(link))?;
        let (lines, _) = data.as_chunks::<LINE_LEN>();
        match state.send_lines(at, lines, &mut self.shared) {
            Lines::Packed { count, news } => {
                if news {
                    self.list(link.0);
                }
                Ok(count)
            }
            Lines::OneByOne => Ok(0),
            Lines::Full => Err(SendError::Full {
                peer: state.peer,
                channel: VirtualChannel::Posted,
            }),
        }
    }

    /// Sends what has been packed without waiting for more.
    pub fn flush(&mut self, link: LinkId) {
        if let Some(state) = self.links.get_mut(link.index()) {
            state.flush();
            self.list(link.0);
        }
    }

    /// A ticket for all posted packets accepted so far: [`progress`] says when they
    /// have arrived. Sends the packed frames and asks for an ack: this is the quiet of
    /// a link. `None` if there is no such link.
    ///
    /// [`progress`]: Self::progress
    pub fn ticket(&mut self, link: LinkId) -> Option<Ticket> {
        let ticket = self.accepted(link)?;
        self.ask_for(link, ticket);
        Some(ticket)
    }

    /// A ticket for all posted packets accepted so far, without asking for an ack.
    pub fn accepted(&self, link: LinkId) -> Option<Ticket> {
        let state = self.links.get(link.index())?;
        Some(Ticket {
            epoch: state.session.epoch(),
            posted: state.posted_accepted(),
        })
    }

    /// Sends the packed frames and asks for an ack, unless the packets before `ticket` have arrived.
    pub fn ask_for(&mut self, link: LinkId, ticket: Ticket) {
        let Some(state) = self.links.get_mut(link.index()) else {
            return;
        };
        if state.posted_acked() < ticket.posted {
            state.request_ack();
            self.list(link.0);
        }
    }

    /// The state of the packets before `ticket`.
    pub fn progress(&self, link: LinkId, ticket: Ticket) -> Progress {
        let Some(state) = self.links.get(link.index()) else {
            return Progress::Lost(CloseReason::NotOpened);
        };
        match state.state {
            LinkState::Closed(reason) => Progress::Lost(reason),
            _ if state.session.epoch() != ticket.epoch => Progress::Lost(CloseReason::NotOpened),
            _ if state.posted_acked() >= ticket.posted => Progress::Arrived,
            _ => Progress::Pending,
        }
    }

    /// Releases buffers that a [`Delivery`] filled, so that the peer gets its credits
    /// back. Does nothing if the session of the buffers has ended.
    ///
    /// # Errors
    /// [`ReleaseError`], caller's fault: more than are filled.
    pub fn release(&mut self, now: Ns, link: LinkId, filled: Filled) -> Result<(), ReleaseError> {
        let Some(state) = self.links.get_mut(link.index()) else {
            return Ok(());
        };
        if state.state != LinkState::Open || state.session.epoch() != filled.epoch {
            return Ok(());
        }
        state
            .release(now, &filled.buffers, &self.shared.config)
            .map_err(|channel| ReleaseError { channel })?;
        match state.credits_due_at() {
            // Nothing else has changed.
            at if at > now => self.timers.set_at_most(link.0, at),
            _ if state.listed => {}
            _ => self.touch(now, link.0),
        }
        Ok(())
    }

    /// The next frame to be sent, if there is one now. Links take turns, one
    /// frame each.
    #[inline]
    pub fn poll_transmit(&mut self, now: Ns) -> Option<Transmit<'_>> {
        let departure = self.poll_departure(now)?;
        Some(self.transmit_of(&departure))
    }

    /// As [`poll_transmit`](Self::poll_transmit), for callers that send several frames with
    /// one system call: [`frame`](Self::frame) shows the frames.
    #[inline]
    pub fn poll_departure(&mut self, now: Ns) -> Option<Departure> {
        match self.ready.is_empty() {
            true => None,
            false => self.next_departure(now),
        }
    }

    fn next_departure(&mut self, now: Ns) -> Option<Departure> {
        loop {
            let id = self.ready.pop_front()?;
            let Some(link) = self.links.get_mut(usize::from(id)) else {
                continue;
            };
            link.listed = false;
            let peer = link.peer;
            match link.next_frame(now, &mut self.shared) {
                Some(out) => {
                    self.touch(now, id);
                    return Some(Departure {
                        link: LinkId(id),
                        peer,
                        out,
                    });
                }
                None => self.arm(now, id),
            }
        }
    }

    /// The frame of a departure. It is valid until the next receive or timeout of the
    /// endpoint; if it is not [kept](Departure::is_kept), only until the next departure.
    #[inline]
    pub fn frame(&self, departure: &Departure) -> &[u8] {
        let frame = match departure.out {
            Out::Kept { buffer, start, len } => {
                self.shared.pool.bytes(buffer).get(start..start + len)
            }
            Out::Scratch { len } => self.shared.scratch.get(..len),
        };
        debug_assert!(frame.is_some_and(|frame| frame.len() >= HEADER_LEN));
        frame.unwrap_or_default()
    }

    fn transmit_of(&self, departure: &Departure) -> Transmit<'_> {
        Transmit {
            link: departure.link,
            peer: departure.peer,
            frame: self.frame(departure),
        }
    }

    /// When to call [`on_timeout`](Self::on_timeout); `None`: not before something else
    /// happens. May lie in the past. Ask for it when
    /// [`poll_transmit`](Self::poll_transmit) returns no more frames.
    pub fn deadline(&self) -> Option<Ns> {
        self.timers.next()
    }

    /// Does everything that is due by `now`: sends frames again, sends acks and credits
    /// that have waited, closes links to dead peers.
    #[inline]
    pub fn on_timeout(&mut self, now: Ns) {
        if self.timers.next().is_some_and(|at| at <= now) {
            self.do_what_is_due(now);
        }
    }

    fn do_what_is_due(&mut self, now: Ns) {
        while let Some(id) = self.timers.pop_due(now) {
            if let Some(link) = self.links.get_mut(usize::from(id)) {
                link.on_timer(now, &mut self.shared);
                self.touch(now, id);
            }
        }
    }

    /// The events of links since the last call.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Closes a link in good order: accepts no more packets, waits until all are
    /// acknowledged, and informs the peer.
    pub fn finish(&mut self, now: Ns, link: LinkId) {
        if let Some(state) = self.links.get_mut(link.index()) {
            state.finish(now, &mut self.shared);
            self.touch(now, link.0);
        }
    }

    /// Cuts off a peer that broke a rule of the layer above, and informs it.
    pub fn cut_off(&mut self, now: Ns, link: LinkId, how: Misbehaviour) {
        if let Some(state) = self.links.get_mut(link.index()) {
            state.misbehaved(now, how, &mut self.shared);
            self.touch(now, link.0);
        }
    }

    /// Notes that the network has marked the last frame of this peer that was given to
    /// [`receive`](Self::receive): "congestion experienced" of ECN, RFC 3168.
    pub fn note_mark(&mut self, peer: Node) {
        let id = self.by_node.get(&peer);
        if let Some(link) = id.and_then(|id| self.links.get_mut(usize::from(*id))) {
            link.note_mark();
        }
    }

    /// The peers of open links that have been silent for half of the limit. A caller that can ask the
    /// kernels of their hosts reports the answers with [`host_answered`](Self::host_answered) before
    /// [`on_timeout`](Self::on_timeout).
    pub fn in_doubt(&self, now: Ns) -> impl Iterator<Item = Node> + '_ {
        let config = &self.shared.config;
        let links = self.links.iter();
        links
            .filter(move |link| link.is_in_doubt(now, config))
            .map(|link| link.peer)
    }

    /// Sets when the kernel of a peer's host last answered; `None` if it is not asked any more.
    pub fn host_answered(&mut self, peer: Node, at: Option<Ns>) {
        let id = self.by_node.get(&peer);
        if let Some(link) = id.and_then(|id| self.links.get_mut(usize::from(*id))) {
            link.host_answered_at = at;
        }
    }

    /// Closes a link to a peer that is said to have ended, and informs it, in case it has not.
    pub fn give_up(&mut self, now: Ns, link: LinkId) {
        if let Some(state) = self.links.get_mut(link.index()) {
            state.close(now, CloseReason::GivenUp, true, &mut self.shared);
            self.touch(now, link.0);
        }
    }

    /// Whether the link may be used; `Err` if it is closed.
    ///
    /// # Errors
    /// Why it is closed.
    pub fn is_open(&self, link: LinkId) -> Result<bool, CloseReason> {
        match self.links.get(link.index()).map(|link| &link.state) {
            None => Err(CloseReason::NotOpened),
            Some(LinkState::Closed(reason)) => Err(*reason),
            Some(state) => Ok(*state == LinkState::Open),
        }
    }

    /// The peer at the other end.
    pub fn peer(&self, link: LinkId) -> Option<Node> {
        self.links.get(link.index()).map(|link| link.peer)
    }

    /// The links, in the order in which they were made.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        // At most as many as there are numbers.
        (0..self.links.len()).map(|id| LinkId(id as u16))
    }

    /// Credits of one channel of a link.
    pub fn credits(&self, link: LinkId, channel: VirtualChannel) -> Credits {
        self.links
            .get(link.index())
            .map(|link| Credits {
                has: link.wallet.has(channel),
                granted: link.ledger.granted(channel),
                filled: link.ledger.filled(channel),
                owed: link.ledger.owed(channel),
            })
            .unwrap_or_default()
    }

    /// Packets of one channel that wait for credits.
    pub fn queued(&self, link: LinkId, channel: VirtualChannel) -> usize {
        let link = self.links.get(link.index());
        link.map_or(0, |link| link.queues.len(channel))
    }

    /// Frames of a link that are packed and not acknowledged.
    pub fn frames_kept(&self, link: LinkId) -> usize {
        let link = self.links.get(link.index());
        link.map_or(0, |link| link.flight.len())
    }

    /// Frames of all links that are packed and not acknowledged.
    pub fn frames_kept_total(&self) -> usize {
        self.shared.pool.used()
    }

    /// Smoothed round trip time of a link, once one has been seen.
    pub fn round_trip_ns(&self, link: LinkId) -> Option<u64> {
        self.links.get(link.index())?.rtt.smoothed_ns()
    }

    /// Counters of one link.
    pub fn link_counters(&self, link: LinkId) -> Option<&Counters> {
        self.links.get(link.index()).map(|link| &link.counters)
    }

    /// Counters of all links together, and of frames that belong to none.
    pub fn counters(&self) -> Counters {
        let mut sum = self.counters;
        for link in &self.links {
            sum += &link.counters;
        }
        sum
    }

    /// Memory that the endpoint holds, in bytes.
    pub fn memory_bytes(&self) -> usize {
        let links: usize = self.links.iter().map(Link::heap_bytes).sum();
        links
            + self.links.capacity() * size_of::<Link>()
            + self.shared.pool.heap_bytes()
            + self.shared.scratch.capacity()
            + self.timers.heap_bytes()
            + self.ready.capacity() * size_of::<u16>()
            + self.by_node.capacity() * size_of::<(Node, u16)>()
    }

    /// Lists a link that may have something to send. The code that takes it off the list arms
    /// its timer.
    #[inline]
    fn list(&mut self, id: u16) {
        if let Some(link) = self.links.get_mut(usize::from(id))
            && !link.listed
        {
            link.listed = true;
            self.ready.push_back(id);
        }
    }

    /// Lists a link that has something to send, arms its timer, reports its events.
    fn touch(&mut self, now: Ns, id: u16) {
        let Some(link) = self.links.get_mut(usize::from(id)) else {
            return;
        };
        if link.news {
            link.news = false;
            self.events.push_back(link.event());
        }
        if !link.listed && link.has_work(now, &self.shared.config) {
            link.listed = true;
            self.ready.push_back(id);
        }
        // All waits that begin now last at least this long, except the wait to fill a frame. So an earlier
        // deadline remains valid.
        let soonest = now.after(self.shared.soonest_ns);
        if link.flight.has_filling() || self.timers.at(id) > soonest {
            self.arm(now, id);
        }
    }

    fn arm(&mut self, now: Ns, id: u16) {
        if let Some(link) = self.links.get(usize::from(id)) {
            let at = link.deadline(now, &self.shared.config);
            if at != Ns::MAX {
                self.timers.set_at_most(id, at);
            }
        }
    }
}

#[cfg(test)]
mod model;
