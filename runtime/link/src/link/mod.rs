//! One virtual link: this endpoint's half of it.

#[cfg(test)]
mod project;
mod receive;
mod send;
mod session;
mod transmit;

pub(crate) use self::receive::taken;
pub(crate) use self::send::{Lines, buffer_len};
pub(crate) use self::session::{Keys, Session};
pub(crate) use self::transmit::Out;
pub use self::transmit::frames_per_question;

use crate::config::Config;
use crate::congestion::Congestion;
use crate::counters::Counters;
use crate::credits::{Ledger, Wallet};
use crate::early::Early;
use crate::error::{CloseReason, Misbehaviour};
use crate::event::Event;
use crate::flight::Flight;
use crate::names::{Called, LinkId, Node};
use crate::pace::Pace;
use crate::packing::FrameHold;
use crate::pool::Pool;
use crate::queue::Queues;
use crate::rtt::Rtt;
use crate::seq::Seq;
use crate::silence::{self, Verdict};
use crate::time::Ns;

/// The state that all links of an endpoint share.
#[derive(Clone, Debug)]
pub(crate) struct EndpointShared {
    pub(crate) config: Config,
    pub(crate) node: Node,
    pub(crate) job: u64,
    pub(crate) pool: Pool,
    pub(crate) keys: Keys,
    /// See [`Config::shortest_wait_ns`].
    pub(crate) soonest_ns: u64,
    /// Early frames of all links.
    pub(crate) early_frames: usize,
    /// Frames that are not kept are built here: acks, reset, close.
    pub(crate) scratch: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LinkState {
    Closed(CloseReason),
    Opening,
    Open,
}

/// If a link reads its clock so much too late, this process has not run in between. The value is far below any
/// sensible `dead_after_ns`, and far above the time between two turns of a process on a busy machine.
const LATE_NS: u64 = 100_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub(crate) id: u16,
    pub(crate) peer: Node,
    /// The peer's numbers for both ends.
    pub(crate) called: Called,
    pub(crate) state: LinkState,
    pub(crate) session: Session,
    pub(crate) counters: Counters,
    /// Whether the endpoint has it in its list of links with something to
    /// send.
    pub(crate) listed: bool,
    /// Whether its opening or closing still has to be reported.
    pub(crate) news: bool,

    // Sending.
    pub(crate) wallet: Wallet,
    pub(crate) queues: Queues,
    pub(crate) flight: Flight,
    /// Limits the frames in flight.
    congestion: Congestion,
    pace: Pace,
    /// Longest frame on this link: what both ends and the path take.
    pub(crate) frame_len: usize,
    /// When the packed frame leaves.
    hold: FrameHold,
    /// An ack is wanted for all frames sent.
    ack_wanted: bool,
    /// No more packets are taken; the link is closed when all are acknowledged.
    finishing: bool,
    posted_accepted: u64,
    posted_acked: u64,

    // Retransmission, sending.
    pub(crate) rtt: Rtt,
    rto_at: Ns,
    /// When the peer is asked whether it misses a frame, see [`probe`](Self::probe).
    probe_at: Ns,
    probes: u32,
    /// After a timeout only one frame is sent until something is acknowledged.
    probing: bool,
    timeouts: u32,
    progress_at: Ns,
    /// The gap that the peer has reported is being repaired.
    nak_served: bool,
    /// The gap at this number, and how many frames are missing in it, as the peer says.
    gap: (Seq, u16),

    // Receiving.
    pub(crate) ledger: Ledger,
    pub(crate) expected: Seq,
    pub(crate) heard_at: Ns,
    /// When the kernel of the peer's host last answered, if the caller asks it.
    pub(crate) host_answered_at: Option<Ns>,
    ack_at: Ns,
    unacked: u16,
    pub(crate) early: Early,
    /// The gap at `expected` has been reported.
    gap_seen: bool,
    nak_due: bool,
    /// The peer has to be told that the network has marked its frames.
    mark_due: bool,
    /// The peer has to be asked whether it misses a frame.
    probe_due: bool,
    credit_at: Ns,
}

impl Link {
    pub(crate) fn new(
        id: u16,
        peer: Node,
        called: Called,
        incarnation: u64,
        config: &Config,
    ) -> Self {
        Self {
            id,
            peer,
            called,
            state: LinkState::Closed(CloseReason::NotOpened),
            session: Session::new(incarnation),
            counters: Counters::default(),
            listed: false,
            news: false,
            wallet: Wallet::default(),
            queues: Queues::default(),
            flight: Flight::default(),
            congestion: Congestion::new(config),
            pace: Pace::default(),
            frame_len: config.frame_len_max,
            hold: FrameHold::default(),
            ack_wanted: false,
            finishing: false,
            posted_accepted: 0,
            posted_acked: 0,
            rtt: Rtt::new(config),
            rto_at: Ns::MAX,
            probe_at: Ns::MAX,
            probes: 0,
            probing: false,
            timeouts: 0,
            progress_at: Ns(0),
            nak_served: false,
            gap: (Seq(0), 0),
            ledger: Ledger::default(),
            expected: Seq(0),
            heard_at: Ns(0),
            host_answered_at: None,
            ack_at: Ns::MAX,
            unacked: 0,
            early: Early::default(),
            gap_seen: false,
            nak_due: false,
            mark_due: false,
            probe_due: false,
            credit_at: Ns::MAX,
        }
    }

    /// Everything that belongs to one session, as at its beginning.
    fn clean(&mut self, now: Ns, shared: &mut EndpointShared) {
        let end = self.flight.end_seq();
        for slot in self.flight.drain() {
            shared.pool.give_back(slot.buffer);
        }
        // The next numbering keeps away from all numbers of this one.
        self.flight.restart(end);
        self.queues.clear();
        self.wallet = Wallet::default();
        self.ledger = Ledger::default();
        self.rtt = Rtt::new(&shared.config);
        self.congestion = Congestion::new(&shared.config);
        self.pace = Pace::default();
        // The first packet of a link follows nothing.
        self.hold = FrameHold::default();
        self.ack_wanted = false;
        self.finishing = false;
        self.posted_accepted = 0;
        self.posted_acked = 0;
        self.disarm();
        self.probing = false;
        self.timeouts = 0;
        self.progress_at = now;
        self.nak_served = false;
        self.gap = (Seq(0), 0);
        shared.early_frames -= self.early.kept();
        self.early.clear();
        self.heard_at = now;
        self.ack_at = Ns::MAX;
        self.unacked = 0;
        self.gap_seen = false;
        self.nak_due = false;
        self.mark_due = false;
        self.probe_due = false;
        self.credit_at = Ns::MAX;
    }

    /// Ends the session. `tell` sends the peer a close frame.
    #[cold]
    pub(crate) fn close(
        &mut self,
        now: Ns,
        reason: CloseReason,
        tell: bool,
        shared: &mut EndpointShared,
    ) {
        if matches!(self.state, LinkState::Closed(_)) {
            return;
        }
        self.clean(now, shared);
        self.state = LinkState::Closed(reason);
        self.session.ended(reason, tell);
        self.news = true;
    }

    #[cold]
    pub(crate) fn misbehaved(&mut self, now: Ns, how: Misbehaviour, shared: &mut EndpointShared) {
        self.close(now, CloseReason::Misbehaved(how), true, shared);
    }

    /// Closes the link when nothing is left to be acknowledged.
    pub(crate) fn finish(&mut self, now: Ns, shared: &mut EndpointShared) {
        match self.state {
            LinkState::Closed(_) => {}
            LinkState::Opening => self.close(now, CloseReason::Finished, true, shared),
            LinkState::Open => {
                self.finishing = true;
                self.request_ack();
                self.close_if_finished(now, shared);
            }
        }
    }

    fn close_if_finished(&mut self, now: Ns, shared: &mut EndpointShared) {
        if self.finishing && self.flight.is_empty() && self.queues.is_empty() {
            self.close(now, CloseReason::Finished, true, shared);
        }
    }

    /// The event for its opening or closing.
    #[cold]
    pub(crate) fn event(&self) -> Event {
        let (link, peer) = (LinkId(self.id), self.peer);
        match self.state {
            LinkState::Closed(reason) => Event::Closed { link, peer, reason },
            LinkState::Opening | LinkState::Open => Event::Opened {
                link,
                peer,
                frame_len: self.frame_len,
            },
        }
    }

    /// The packed frame leaves with the next transmission.
    pub(crate) fn flush(&mut self) {
        if self.flight.has_filling() || !self.queues.is_empty() {
            self.hold.flush();
        }
    }

    /// The sending of frames is over.
    pub(crate) const fn is_sent(&mut self, now: Ns) {
        self.hold.left(now);
    }

    /// Gives memory back, because the link has sent nothing for long.
    #[cold]
    fn rest(&mut self, now: Ns, shared: &mut EndpointShared) {
        self.flight.rest();
        self.queues.rest();
        shared.pool.trim(now, shared.config.keepalive_ns);
    }

    /// As [`flush`](Self::flush), and the peer is asked for an ack.
    pub(crate) fn request_ack(&mut self) {
        self.flush();
        self.ack_wanted |= !self.flight.is_empty() || !self.queues.is_empty();
    }

    /// Posted packets accepted so far.
    pub(crate) const fn posted_accepted(&self) -> u64 {
        self.posted_accepted
    }

    /// Of those, how many the peer has acknowledged.
    pub(crate) const fn posted_acked(&self) -> u64 {
        self.posted_acked
    }

    /// The effects of time on the link.
    pub(crate) fn on_timer(&mut self, now: Ns, shared: &mut EndpointShared) {
        match self.state {
            LinkState::Closed(_) => {}
            LinkState::Opening => {
                let tried_ns = now.since(self.session.opened_at());
                if tried_ns >= shared.config.open_timeout_ns && self.session.tries() >= 4 {
                    let reason = CloseReason::Unreachable { after_ns: tried_ns };
                    self.close(now, reason, false, shared);
                } else {
                    self.session.on_timer(now, &shared.config);
                }
            }
            LinkState::Open if now >= self.rto_at => self.on_timeout(now, shared),
            LinkState::Open if now >= self.probe_at => self.probe(now, &shared.config),
            LinkState::Open => {
                let moved_ns = now.since(self.progress_at);
                if moved_ns >= shared.config.keepalive_ns && self.flight.is_empty() {
                    self.rest(now, shared);
                }
            }
        }
    }

    /// Begins to wait for an ack of what was sent.
    fn arm(&mut self, now: Ns, config: &Config) {
        self.probes = 0;
        self.rto_at = now.after(self.rtt.rto_ns(config));
        self.set_probe(now, config);
    }

    fn set_probe(&mut self, now: Ns, config: &Config) {
        let at = now.after(self.rtt.probe_ns(config, self.probes));
        self.probe_at = if at < self.rto_at { at } else { Ns::MAX };
    }

    /// Nothing waits for an ack.
    const fn disarm(&mut self) {
        self.rto_at = Ns::MAX;
        self.probe_at = Ns::MAX;
    }

    /// Called when no ack has come for two round trips. If the last frames are lost, no later frame shows this. So
    /// the peer is asked, long before the timeout, and answers with a nak if it misses a frame. The question carries
    /// the number of the last frame sent. It has the effect of sending the last frame again (RFC 8985, section 7),
    /// with fewer bytes.
    fn probe(&mut self, now: Ns, config: &Config) {
        self.probe_due = self.flight.sealed() > 0;
        self.probes += 1;
        self.set_probe(now, config);
    }

    fn on_timeout(&mut self, now: Ns, shared: &mut EndpointShared) {
        let config = &shared.config;
        let due_at = std::mem::replace(&mut self.rto_at, Ns::MAX);
        if self.flight.sealed() == 0 {
            return;
        }
        self.timeouts += 1;
        self.counters.timeouts += 1;
        self.excuse(now.since(due_at));
        if let Some(reason) = self.lost(now, config) {
            self.close(now, reason, true, shared);
            return;
        }
        self.rtt.back_off(config);
        self.arm(now, config);
        self.congestion.timed_out(self.flight.reached_seq());
        self.flight.go_back();
        self.probing = true;
    }

    /// The reason why the peer is lost, if it is.
    fn lost(&self, now: Ns, config: &Config) -> Option<CloseReason> {
        let stalled_ns = now.since(self.progress_at);
        // Four times: a process that was stopped finds its clock far ahead. It has to ask before it may report that
        // the peer does not answer.
        if stalled_ns < config.dead_after_ns || self.timeouts <= 4 {
            return None;
        }
        let silent_ns = now.since(self.heard_at);
        if silent_ns < config.dead_after_ns {
            return Some(CloseReason::Stalled { stalled_ns });
        }
        let host_silent_ns = self.host_answered_at.map(|at| now.since(at));
        match silence::judge(silent_ns, config.dead_after_ns, host_silent_ns) {
            Verdict::Waits => None,
            Verdict::Silent => Some(CloseReason::Silent { silent_ns }),
            Verdict::HostSilent => Some(CloseReason::HostSilent { silent_ns }),
            Verdict::Stopped => Some(CloseReason::Stopped { silent_ns }),
        }
    }

    /// A frame of the peer has come. A peer that was silent for long did not run, and could not acknowledge anything.
    /// So the time without acks counts only from now on.
    const fn heard(&mut self, now: Ns, config: &Config) {
        if self.is_in_doubt(now, config) {
            self.progress_at = now;
        }
        self.heard_at = now;
    }

    /// Whether the peer has been silent for half of the limit.
    pub(crate) const fn is_in_doubt(&self, now: Ns, config: &Config) -> bool {
        matches!(self.state, LinkState::Open)
            && now.since(self.heard_at) >= config.dead_after_ns / 2
    }

    /// The timer was due `late_ns` ago. If this process or the whole machine did not run for so long, it did not
    /// listen to the peer, so the peer is not to blame for its silence.
    fn excuse(&mut self, late_ns: u64) {
        if late_ns >= LATE_NS {
            self.progress_at = self.progress_at.after(late_ns);
            self.heard_at = self.heard_at.after(late_ns);
        }
    }

    /// The next time after `now` at which the link has something to do.
    pub(crate) fn deadline(&self, now: Ns, config: &Config) -> Ns {
        let ahead = |at: Ns| if at > now { at } else { Ns::MAX };
        match self.state {
            LinkState::Closed(_) => Ns::MAX,
            LinkState::Opening => ahead(self.session.hello_at()),
            LinkState::Open => ahead(self.rto_at)
                .min(ahead(self.probe_at))
                .min(ahead(self.ack_at))
                .min(ahead(self.credit_at))
                .min(ahead(self.hold_until(config)))
                .min(ahead(self.paced_until()))
                .min(ahead(self.keepalive_at(config))),
        }
    }

    fn hold_until(&self, config: &Config) -> Ns {
        if self.flight.has_filling() {
            self.hold.until(config.packing.hold_ns)
        } else {
            Ns::MAX
        }
    }

    /// When the frame at the cursor may leave, if there is one.
    fn paced_until(&self) -> Ns {
        match self.frames_unsent() {
            0 => Ns::MAX,
            _ => self.pace.leaves_at(self.congestion.gap_ns()),
        }
    }

    /// When the peer is asked whether it lives. Not while it has frames to acknowledge anyway.
    fn keepalive_at(&self, config: &Config) -> Ns {
        if self.flight.is_empty() {
            self.heard_at.after(config.keepalive_ns)
        } else {
            Ns::MAX
        }
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.flight.heap_bytes() + self.queues.heap_bytes() + self.early.heap_bytes()
    }
}
