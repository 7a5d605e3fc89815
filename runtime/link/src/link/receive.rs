//! Received frames of a link.

use hostwire_packet::ht::VirtualChannel;
use hostwire_packet::htoe::{FrameRepr, FrameType, HeaderRepr};

use super::{EndpointShared, Link, LinkState};
use crate::config::{Config, FRAMES_IN_FLIGHT_MAX};
use crate::counters::DropCause;
use crate::credits::Buffers;
use crate::error::Misbehaviour;
use crate::flight::Acked;
use crate::seq::{HALF, Seq};
use crate::time::Ns;

impl Link {
    /// Checks that a data or ack frame belongs to this session.
    pub(crate) fn admit(&mut self, header: &HeaderRepr) -> Result<(), DropCause> {
        match self.state {
            // The peer does not know that the session has ended: inform it again.
            LinkState::Closed(_) if self.session.was(header.key) => {
                self.session.tell_again();
                Err(DropCause::NotOpen)
            }
            LinkState::Closed(_) | LinkState::Opening => Err(DropCause::NotOpen),
            LinkState::Open if self.session.key() == header.key => Ok(()),
            LinkState::Open => Err(DropCause::Stale),
        }
    }

    /// Takes a data or ack frame of this session. `Ok(true)`: it was the next one, and its packets have to
    /// be delivered.
    pub(crate) fn receive(
        &mut self,
        now: Ns,
        frame: &FrameRepr<'_>,
        shared: &mut EndpointShared,
    ) -> Result<bool, DropCause> {
        let header = frame.header();
        if !is_near(Seq(header.sequence), self.expected) {
            return Err(DropCause::Stale);
        }
        self.heard(now, &shared.config);
        if header.marked {
            self.congestion.marked(self.flight.reached_seq());
        }
        if let Some(ack) = header.ack {
            if let Some(missing) = frame.missing() {
                self.gap = (Seq(ack), missing);
            }
            self.receive_ack(now, Seq(ack), header.nak, shared)?;
        }
        let delivered = match header.frame_type {
            FrameType::Data => self.receive_data(now, frame, shared),
            _ => {
                self.counters.acks_received += 1;
                // The header says how many frames were sent before it.
                let missed = Seq(header.sequence).ahead_of(self.expected);
                if (1..HALF).contains(&missed) {
                    self.sees_gap();
                }
                if header.ack_wanted {
                    self.ack_at = now;
                }
                Ok(false)
            }
        }?;
        self.counters.bytes_received += frame.buffer_len() as u64;
        // Credits may have come, or frames become free.
        self.drain_queues(shared);
        self.close_if_finished(now, shared);
        Ok(delivered)
    }

    /// The network has marked a frame of this session on its way here. The next frame tells the peer. A mark
    /// needs no frame of its own, because the peer's window shrinks only once per round trip.
    pub(crate) const fn note_mark(&mut self) {
        self.counters.frames_marked += 1;
        self.mark_due = true;
    }

    fn receive_ack(
        &mut self,
        now: Ns,
        ack: Seq,
        nak: bool,
        shared: &mut EndpointShared,
    ) -> Result<(), DropCause> {
        match self.flight.read_ack(ack) {
            Acked::Bad => return Err(DropCause::BadAck),
            // Such an old nak has already been handled.
            Acked::Old => return Ok(()),
            Acked::Nothing => {}
            Acked::Frames(frames) => self.acknowledged(now, frames, shared),
        }
        if nak && self.flight.sealed() > 0 && self.nak_is_news(now, &shared.config) {
            self.counters.naks_received += 1;
            self.nak_served = true;
            self.congestion.lost(self.flight.reached_seq());
            match self.gap {
                (at, missing) if at == ack && missing > 0 => self.flight.repair(missing),
                _ => self.flight.go_back(),
            }
            self.arm(now, &shared.config);
        }
        Ok(())
    }

    /// Whether this nak asks for a repair: there was no repair yet, or it was lost. A repair counts as lost
    /// if it left so long ago that the peer should have had it when it sent this nak.
    fn nak_is_news(&self, now: Ns, config: &Config) -> bool {
        let repaired_at = self
            .flight
            .front_sent_at()
            .filter(|_| self.flight.cursor() > 0);
        !self.nak_served || repaired_at.is_some_and(|at| now > at.after(self.rtt.usual_ns(config)))
    }

    fn acknowledged(&mut self, now: Ns, frames: usize, shared: &mut EndpointShared) {
        let mut newest = None;
        let mut any_resent = false;
        for _ in 0..frames {
            let Some(slot) = self.flight.pop() else { break };
            shared.pool.give_back(slot.buffer);
            self.posted_acked += u64::from(slot.posted);
            any_resent |= slot.resent;
            newest = Some(slot);
        }
        // Karn's algorithm: the link cannot know which of two transmissions was answered.
        // If earlier acks were lost, it may have been the second one of any frame. But if
        // every frame is sent twice from the beginning, such a sample is better than none.
        if let Some(slot) = newest
            && (!any_resent || self.rtt.smoothed_ns().is_none())
        {
            let trip_ns = now.since(slot.sent_at);
            self.rtt.sample(trip_ns, &shared.config);
            self.congestion.sample(trip_ns);
        }
        self.rtt.progress();
        // At most FRAMES_IN_FLIGHT_MAX.
        let numbers = (self.flight.base(), self.flight.reached_seq());
        self.congestion
            .acknowledged(frames as u16, numbers, &shared.config);
        self.probing = false;
        self.nak_served = false;
        self.timeouts = 0;
        self.progress_at = now;
        // RFC 6298, (5.2) and (5.3)
        match self.flight.sealed() {
            0 => self.disarm(),
            _ => self.arm(now, &shared.config),
        }
    }

    fn receive_data(
        &mut self,
        now: Ns,
        frame: &FrameRepr<'_>,
        shared: &mut EndpointShared,
    ) -> Result<bool, DropCause> {
        let header = frame.header();
        match Seq(header.sequence).ahead_of(self.expected) {
            0 => {}
            ahead if ahead < HALF => {
                self.sees_gap();
                if header.ack_wanted {
                    self.ack_at = now;
                }
                return Err(DropCause::OutOfOrder);
            }
            _ => {
                // The ack was lost, or the sender sent again too early.
                self.ack_at = now;
                return Err(DropCause::Duplicate);
            }
        }
        let taken = taken(frame);
        if let Err(channel) = self.ledger.fill(&taken) {
            let granted = self.ledger.granted(channel);
            let used = taken[channel.index()];
            let how = Misbehaviour::CreditOverrun {
                channel,
                granted_command: granted.command,
                granted_data: granted.data,
                used_command: used.command,
                used_data: used.data,
            };
            self.misbehaved(now, how, shared);
            return Err(DropCause::Misbehaved);
        }
        let nops = frame.nops().len();
        if nops > 0 {
            self.counters.nops_received += nops as u64;
            if let Err(channel) = self.wallet.add(frame.all_credits()) {
                self.misbehaved(now, Misbehaviour::CreditExcess { channel }, shared);
                return Err(DropCause::Misbehaved);
            }
        }
        self.expected = self.expected.plus(1);
        self.gap_seen = false;
        self.nak_due = false;
        self.step_early(shared);
        self.unacked = self.unacked.saturating_add(1);
        self.ack_at = if header.ack_wanted || self.unacked >= shared.config.ack_frames {
            now
        } else {
            self.ack_at.min(now.after(shared.config.ack_delay_ns))
        };
        self.counters.frames_received += 1;
        for channel in VirtualChannel::ALL {
            let packets = taken[channel.index()].command;
            self.counters.packets_received[channel.index()] += u64::from(packets);
        }
        Ok(true)
    }

    /// Keeps a frame that came before the next expected one, if there is room. Returns whether it is kept,
    /// now or from before.
    pub(crate) fn keep_early(
        &mut self,
        sequence: u16,
        bytes: &[u8],
        shared: &mut EndpointShared,
    ) -> bool {
        let ahead = Seq(sequence).ahead_of(self.expected);
        if shared.early_frames >= shared.config.early_frames_max
            || !(1..=FRAMES_IN_FLIGHT_MAX).contains(&ahead)
        {
            return false;
        }
        if self.early.keep(ahead, bytes) {
            shared.early_frames += 1;
            self.counters.frames_early += 1;
        }
        true
    }

    /// The next expected frame, if it came early.
    pub(crate) fn take_early(&mut self, shared: &mut EndpointShared) -> Option<Box<[u8]>> {
        let frame = self.early.take()?;
        shared.early_frames -= 1;
        Some(frame)
    }

    /// The next expected frame has come. The one after it may be here already, or there may be another gap.
    fn step_early(&mut self, shared: &mut EndpointShared) {
        let kept = self.early.kept();
        self.early.advance();
        shared.early_frames -= kept - self.early.kept();
        if self.early.missing().is_some_and(|missing| missing > 0) {
            self.sees_gap();
        }
    }

    /// One nak is sent per gap: further frames after the gap bring no news. Every frame that is sent anyway
    /// repeats the nak.
    fn sees_gap(&mut self) {
        if !self.gap_seen {
            self.gap_seen = true;
            self.nak_due = true;
        }
    }

    /// When owed credits have to be sent.
    pub(crate) const fn credits_due_at(&self) -> Ns {
        self.credit_at
    }

    /// Buffers are free again.
    pub(crate) fn release(
        &mut self,
        now: Ns,
        taken: &[Buffers; 3],
        config: &Config,
    ) -> Result<(), VirtualChannel> {
        self.ledger.empty(taken)?;
        if self.ledger.owes() {
            self.credit_at = if self.ledger.urgent(&config.credit_batch) {
                self.credit_at.min(now)
            } else {
                self.credit_at.min(now.after(config.credit_delay_ns))
            };
        }
        Ok(())
    }
}

/// Whether a number can belong to this session: so many frames may be in flight.
/// Numbers of the previous session are further away, so even the ack of a stale frame is ignored.
fn is_near(sequence: Seq, expected: Seq) -> bool {
    let ahead = sequence.ahead_of(expected);
    ahead.min(expected.ahead_of(sequence)) <= FRAMES_IN_FLIGHT_MAX
}

/// Buffers that the packets of a frame take, by channel.
pub(crate) fn taken(frame: &FrameRepr<'_>) -> [Buffers; 3] {
    VirtualChannel::ALL.map(|channel| frame.taken(channel).into())
}
