//! How the two ends of a link find each other, again and again.
//!
//! Each end has an *incarnation*, a number that grows with every life of the endpoint
//! and every opening of the link. A session is a pair of incarnations. The two ends exchange
//! them by reset frames. The first one names only its sender. As soon as an end knows the
//! incarnation of the other end, its reset frames say with which key and link id it accepts
//! frames *of this pair*, and how they are numbered. An end that has received such a frame
//! is open and may send.
//!
//! - A key is new for every pair. So a frame of an earlier session has another key, as long
//!   as the endpoint that chose the key lives.
//! - The numbers of a session begin far from where those of the previous session ended. A
//!   stale frame may have the same key (one time in 65536, and only if the endpoint that
//!   chose it was restarted), but its number cannot belong to this session. So one living
//!   end protects both.
//! - An incarnation lower than one seen before belongs to the past.

use hostwire_packet::htoe::{self, FrameRepr, HeaderRepr, OVERHEAD, SessionRepr};

use super::{EndpointShared, Link, LinkState};
use crate::config::{ADDED_BYTES_MAX, Config, FRAME_LEN_MIN, FRAMES_IN_FLIGHT_MAX};
use crate::counters::DropCause;
use crate::credits::{Ledger, Wallet};
use crate::error::{CloseReason, Misbehaviour};
use crate::names::Called;
use crate::seq::Seq;
use crate::time::Ns;

/// Distance between the numbers of one session and the next.
const SESSION_GAP: u16 = 2 * FRAMES_IN_FLIGHT_MAX;

/// MTUs that are tried if the path seems not to take long frames: that of Ethernet, the
/// minimum of IPv6, and the minimum for hosts in IPv4. The shortest frame of all is tried
/// last.
const SHORTER: [usize; 3] = [1500, 1280, 576];

const _: () = assert!(SHORTER[2] - ADDED_BYTES_MAX >= FRAME_LEN_MIN);

/// Reset frames sent with each length.
const TRIES_PER_LENGTH: u32 = 4;

/// Gives keys, each different from the 65534 before it, and first numbers.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    next_key: u16,
    random: u64,
}

impl Keys {
    pub(crate) fn new(random: u64) -> Self {
        Self {
            next_key: (random >> 48) as u16,
            random,
        }
    }

    /// A key; not 0, which reset frames carry.
    fn next_key(&mut self) -> u16 {
        self.next_key = self.next_key.wrapping_add(1);
        if self.next_key == 0 {
            self.next_key = 1;
        }
        self.next_key
    }

    /// SplitMix64, because none of these numbers has to be secret.
    fn first_number(&mut self) -> u16 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as u16
    }
}

/// This end's knowledge of the session.
#[derive(Clone, Debug)]
pub(crate) struct Session {
    incarnation: u64,
    /// 0: not known.
    peer_incarnation: u64,
    /// Lower incarnations belong to the past.
    peer_incarnation_min: u64,
    /// Key that frames from the peer have to carry; 0 before the peer is known.
    key: u16,
    first: Option<Seq>,
    peer_key: u16,
    peer_link: u16,
    /// Longest reset frame heard.
    heard_len: u16,
    opened_at: Ns,
    hello_at: Ns,
    tries: u32,
    hello_due: bool,
    close: Option<htoe::CloseReason>,
    close_due: bool,
    epoch: u32,
}

impl Session {
    pub(super) const fn new(incarnation: u64) -> Self {
        Self {
            incarnation,
            peer_incarnation: 0,
            peer_incarnation_min: 1,
            key: 0,
            first: None,
            peer_key: 0,
            peer_link: 0,
            heard_len: 0,
            opened_at: Ns(0),
            hello_at: Ns::MAX,
            tries: 0,
            hello_due: false,
            close: None,
            close_due: false,
            epoch: 0,
        }
    }

    pub(super) const fn key(&self) -> u16 {
        self.key
    }

    pub(super) const fn peer_key(&self) -> u16 {
        self.peer_key
    }

    pub(super) const fn peer_link(&self) -> u16 {
        self.peer_link
    }

    pub(super) const fn opened_at(&self) -> Ns {
        self.opened_at
    }

    pub(super) const fn hello_at(&self) -> Ns {
        self.hello_at
    }

    pub(super) const fn tries(&self) -> u32 {
        self.tries
    }

    /// Identifies a session of the link, for callers that hold its buffers.
    pub(crate) const fn epoch(&self) -> u32 {
        self.epoch
    }

    pub(super) const fn frame_is_due(&self) -> bool {
        self.hello_due || self.close_due
    }

    /// Whether this was the key of the session that has ended.
    pub(super) const fn was(&self, key: u16) -> bool {
        key != 0 && self.key == key
    }

    pub(super) const fn tell_again(&mut self) {
        self.close_due = self.close.is_some() && self.peer_incarnation != 0;
    }

    pub(super) fn on_timer(&mut self, now: Ns, config: &Config) {
        if now >= self.hello_at {
            self.hello_due = true;
            self.tries = self.tries.saturating_add(1);
            // Doubles for each frame of one length; the shortest length is repeated for
            // ever.
            let first = self.step().min(SHORTER.len() as u32 + 1) * TRIES_PER_LENGTH;
            let sent = self.tries.saturating_sub(1).saturating_sub(first);
            self.hello_at = now.after(config.hello_ns.saturating_mul(1 << sent.min(6)));
        }
    }

    fn begin(&mut self, now: Ns) {
        // The first life of a link has the incarnation of its endpoint.
        if self.epoch > 0 {
            self.incarnation = self.incarnation.saturating_add(1);
        }
        self.epoch += 1;
        self.peer_incarnation = 0;
        self.key = 0;
        self.heard_len = 0;
        self.opened_at = now;
        self.hello_at = now;
        self.tries = 0;
        self.hello_due = false;
        self.close = None;
        self.close_due = false;
    }

    pub(super) fn ended(&mut self, reason: CloseReason, tell: bool) {
        self.hello_due = false;
        self.hello_at = Ns::MAX;
        self.peer_incarnation_min = match reason {
            CloseReason::Restarted { now, .. } => now,
            _ => self.peer_incarnation_min.max(self.peer_incarnation),
        };
        self.close = match reason {
            CloseReason::Finished => Some(htoe::CloseReason::Finished),
            CloseReason::Misbehaved(how) => Some(how.on_the_wire()),
            CloseReason::Silent { .. }
            | CloseReason::HostSilent { .. }
            | CloseReason::Stopped { .. }
            | CloseReason::Stalled { .. }
            | CloseReason::GivenUp => Some(htoe::CloseReason::Silent),
            _ => None,
        };
        self.close_due = tell && self.peer_incarnation != 0;
    }

    /// Length of the next reset frame while the link opens: as long as any frame may be, so
    /// that its arrival proves that the path takes such frames.
    fn hello_len(&self, config: &Config) -> usize {
        let step = self.step() as usize;
        let longest = config.frame_len_max;
        let shorter = SHORTER.map(|mtu| mtu.saturating_sub(config.added_bytes));
        let lengths = [longest]
            .into_iter()
            .chain(shorter.into_iter().filter(|&len| len < longest));
        lengths.into_iter().nth(step).unwrap_or(FRAME_LEN_MIN)
    }

    /// How often the length of reset frames has been made shorter.
    fn step(&self) -> u32 {
        self.tries.saturating_sub(1) / TRIES_PER_LENGTH
    }

    /// This is the first answer of the peer. Reset frames may have become shorter only
    /// because the peer was not there to receive the long ones. That says nothing about the
    /// path, so begin again with the longest.
    fn start_over(&mut self, now: Ns, config: &Config) {
        if self.step() > 0 {
            self.tries = 0;
            self.hello_at = now;
            self.on_timer(now, config);
        }
    }

    fn repr(&self, link: u16, called: Called, ready: bool, shared: &EndpointShared) -> SessionRepr {
        SessionRepr {
            job: shared.job,
            source_incarnation: self.incarnation,
            destination_incarnation: self.peer_incarnation,
            source_node: called.own.0,
            destination_node: called.peer.0,
            virtual_link: link,
            key: self.key,
            frame_len_max: shared.config.frame_len_max as u16,
            heard_len: self.heard_len,
            buffers: shared.config.buffers,
            ready,
            reason: None,
        }
    }
}

impl Link {
    /// Starts looking for the peer.
    pub(crate) fn open(&mut self, now: Ns, shared: &mut EndpointShared) {
        self.clean(now, shared);
        self.session.begin(now);
        self.session.on_timer(now, &shared.config);
        self.state = LinkState::Opening;
    }

    /// Takes a reset frame from the peer of this link, for this endpoint.
    /// `frame_len` counts its padding.
    pub(crate) fn receive_reset(
        &mut self,
        now: Ns,
        header: &HeaderRepr,
        hello: &SessionRepr,
        frame_len: usize,
        shared: &mut EndpointShared,
    ) -> Result<(), DropCause> {
        let session = &mut self.session;
        if let LinkState::Closed(_) = self.state {
            if hello.source_incarnation == session.peer_incarnation {
                session.tell_again();
            }
            return Err(DropCause::NotOpen);
        }
        let to = hello.destination_incarnation;
        let oldest = session.peer_incarnation_min.max(session.peer_incarnation);
        if (to != 0 && to != session.incarnation) || hello.source_incarnation < oldest {
            return Err(DropCause::Stale);
        }
        if hello.source_incarnation != session.peer_incarnation {
            if self.state == LinkState::Open {
                let reason = CloseReason::Restarted {
                    before: session.peer_incarnation,
                    now: hello.source_incarnation,
                };
                self.close(now, reason, false, shared);
                return Ok(());
            }
            session.start_over(now, &shared.config);
            session.peer_incarnation = hello.source_incarnation;
            session.key = shared.keys.next_key();
            session.heard_len = 0;
            let first = match session.first {
                None => Seq(shared.keys.first_number()),
                Some(_) => self.flight.base().plus(SESSION_GAP),
            };
            session.first = Some(first);
            self.flight.restart(first);
        }
        self.heard_at = now;
        let heard_len = u16::try_from(frame_len).unwrap_or(u16::MAX);
        session.heard_len = session.heard_len.max(heard_len);
        session.hello_due |= !hello.ready;
        // Not before the peer has received a frame as long as the present ones: after a
        // restart it may have received only shorter ones.
        let heard_len = hello.heard_len.max(FRAME_LEN_MIN as u16);
        let is_heard = usize::from(heard_len) >= session.hello_len(&shared.config);
        if to != 0 && self.state == LinkState::Opening && is_heard {
            self.opened(now, header, hello, shared);
        }
        Ok(())
    }

    fn opened(
        &mut self,
        now: Ns,
        header: &HeaderRepr,
        hello: &SessionRepr,
        shared: &mut EndpointShared,
    ) {
        // Every path takes the shortest frames, even if some of the padding of received
        // frames was cut off.
        let path_len = hello.heard_len.max(FRAME_LEN_MIN as u16);
        let path_len = path_len.min(hello.frame_len_max);
        let least = [("frames", path_len, FRAME_LEN_MIN as u16)]
            .into_iter()
            .chain(hello.buffers.map(|buffers| ("buffers", buffers, 1)))
            .find(|(_, got, min)| got < min);
        if let Some((field, got, min)) = least {
            self.misbehaved(now, Misbehaviour::Offer { field, min, got }, shared);
            return;
        }
        self.session.peer_key = hello.key;
        self.session.peer_link = hello.virtual_link;
        self.session.hello_at = Ns::MAX;
        self.frame_len = usize::from(path_len).min(shared.config.frame_len_max);
        self.wallet = Wallet::new(hello.buffers);
        self.ledger = Ledger::new(shared.config.buffers);
        self.expected = Seq(header.sequence);
        self.state = LinkState::Open;
        self.counters.opened += 1;
        self.news = true;
    }

    /// Takes a close frame from the peer of this link, for this endpoint.
    pub(crate) fn receive_close(
        &mut self,
        now: Ns,
        close: &SessionRepr,
        shared: &mut EndpointShared,
    ) -> Result<(), DropCause> {
        if matches!(self.state, LinkState::Closed(_)) {
            return Err(DropCause::NotOpen);
        }
        if close.source_incarnation != self.session.peer_incarnation
            || close.destination_incarnation != self.session.incarnation
        {
            return Err(DropCause::Stale);
        }
        let reason = match close.reason {
            None | Some(htoe::CloseReason::Finished) => CloseReason::PeerFinished,
            Some(reason) => CloseReason::CutOff(reason),
        };
        self.close(now, reason, false, shared);
        Ok(())
    }

    /// The reset or close frame that is due, in the scratch buffer.
    #[cold]
    pub(super) fn session_frame(&mut self, shared: &mut EndpointShared) -> Option<usize> {
        let ready = self.state == LinkState::Open;
        let session = &mut self.session;
        if session.close_due {
            session.close_due = false;
            let repr = SessionRepr {
                reason: session.close,
                ..session.repr(self.id, self.called, true, shared)
            };
            let frame = FrameRepr::of_session(HeaderRepr::close(session.peer_link), repr);
            return frame.emit(&mut shared.scratch).ok();
        }
        if !session.hello_due {
            return None;
        }
        session.hello_due = false;
        let first = session.first.unwrap_or_default();
        let repr = session.repr(self.id, self.called, ready, shared);
        // Once open, as long as the longest frame that the other end has received.
        let len = match ready {
            true => self.frame_len,
            false => session.hello_len(&shared.config),
        };
        let frame = FrameRepr::of_session(HeaderRepr::reset(0, first.0), repr);
        shared.scratch.get_mut(..len)?.fill(0);
        let emitted = frame.emit(&mut shared.scratch).ok()?;
        debug_assert!(emitted <= len && emitted == OVERHEAD + htoe::SESSION_LEN);
        Some(len)
    }
}

#[cfg(test)]
impl Session {
    pub(super) fn project(&self, state: &mut impl std::hash::Hasher) {
        use std::hash::Hash;
        (self.incarnation, self.peer_incarnation).hash(state);
        (self.peer_incarnation_min, self.key, self.peer_key).hash(state);
        (
            self.peer_link,
            self.heard_len,
            self.first.map(|first| first.0),
        )
            .hash(state);
        (self.hello_due, self.close, self.close_due, self.epoch).hash(state);
    }

    pub(super) fn ring(&mut self) -> bool {
        !std::mem::replace(&mut self.hello_due, true)
    }
}

#[cfg(test)]
impl Keys {
    /// Random numbers with which the first session begins at `first`.
    pub(crate) fn random_for(first: u16) -> u64 {
        (0..)
            .find(|&random| Self::new(random).first_number() == first)
            .unwrap_or_default()
    }
}
