//! Frames to be sent.

use hostwire_packet::ht::{LINE_LEN, NOP_LEN};
use hostwire_packet::htoe::{Contents, FrameRepr, HEADER_LEN, HeaderRepr, OVERHEAD, seal};

use super::send::{NOPS_WITH_PACKETS_MAX, PACKETS_AT};
use super::{EndpointShared, Link, LinkState};
use crate::config::Config;
use crate::pool::BufferId;
use crate::time::Ns;

/// A frame counts as nearly full if it lacks at most so many bytes: less than two lines.
const PADDING_MAX: usize = 2 * LINE_LEN - 1;

/// A frame that is ready to go.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Out {
    /// In a buffer of the pool.
    Kept {
        buffer: BufferId,
        start: usize,
        len: usize,
    },
    /// In the scratch buffer.
    Scratch { len: usize },
}

/// With a window of `frames_max`, a sender asks for an ack in one of so many frames: four times per round. A
/// power of two.
pub const fn frames_per_question(frames_max: u16) -> u16 {
    match frames_max / 4 {
        0 => 1,
        quarter => 1 << quarter.ilog2(),
    }
}

impl Link {
    /// The next frame that has to be sent now, if there is one.
    pub(crate) fn next_frame(&mut self, now: Ns, shared: &mut EndpointShared) -> Option<Out> {
        if self.session.frame_is_due()
            && let Some(len) = self.session_frame(shared)
        {
            self.counters.sessions_sent += 1;
            return Some(self.sent(Out::Scratch { len }, len));
        }
        if self.state != LinkState::Open {
            return None;
        }
        self.drain_queues(shared);
        if self.nak_due && self.early.missing().is_some() {
            // Only an ack frame says how many are missing.
            return self.transmit_ack(shared);
        }
        if !self.frame_is_ready(now, &shared.config) && self.bare_frame_is_due(now, &shared.config)
        {
            // Credits, or a frame only to be acknowledged. It is sent below,
            // unless there is no buffer for it now.
            if now >= self.keepalive_at(&shared.config) {
                self.ack_wanted = true;
            }
            if self.start_frame(shared) {
                self.hold.flush();
            }
        }
        if self.frame_is_ready(now, &shared.config) {
            let out = self.transmit(shared);
            self.has_left(now, &shared.config);
            return Some(out);
        }
        if self.ack_is_due(now) {
            return self.transmit_ack(shared);
        }
        None
    }

    /// Whether [`next_frame`](Self::next_frame) would give a frame. It may return true
    /// although there is none.
    pub(crate) fn has_work(&mut self, now: Ns, config: &Config) -> bool {
        match self.state {
            LinkState::Closed(_) | LinkState::Opening => self.session.frame_is_due(),
            LinkState::Open => {
                self.session.frame_is_due()
                    || self.frame_is_ready(now, config)
                    || self.ack_is_due(now)
                    || self.bare_frame_is_due(now, config)
            }
        }
    }

    /// Whether the frame at the cursor may go. A frame that is not full waits for more
    /// packets if another one has just left. A frame that follows no other, or that has
    /// to carry an ack or credits, does not wait.
    fn frame_is_ready(&mut self, now: Ns, config: &Config) -> bool {
        let cursor = self.flight.cursor();
        let allowed = match self.probing {
            true => 1,
            false => self.frames_allowed(),
        };
        if cursor >= self.flight.len().min(allowed) || !(self.probing || self.is_its_time(now)) {
            return false;
        }
        cursor < self.flight.sealed()
            || !self.flight.cursor_is_last()
            || self.ack_wanted
            || now >= self.ack_at
            || now >= self.credit_at
            || self.nak_due
            || self.hold_is_over(now, config)
    }

    #[inline]
    fn is_its_time(&self, now: Ns) -> bool {
        now >= self.pace.leaves_at(self.congestion.gap_ns())
    }

    fn hold_is_over(&mut self, now: Ns, config: &Config) -> bool {
        let is_full = self.filling_is_full();
        now >= self.hold.leaves_at(config.packing.hold_ns, is_full)
    }

    /// Whether a frame without packets has to be sent: to return credits, or to check that the peer lives.
    fn bare_frame_is_due(&self, now: Ns, config: &Config) -> bool {
        (now >= self.credit_at || now >= self.keepalive_at(config))
            && !self.probing
            && self.flight.cursor() == self.flight.len()
            && self.flight.len() < self.frames_allowed()
    }

    /// Frames that may be kept here now: those that may be in flight, and those that the peer keeps.
    #[inline]
    pub(crate) fn frames_allowed(&self) -> usize {
        usize::from(self.congestion.frames()) + self.flight.kept()
    }

    fn ack_is_due(&self, now: Ns) -> bool {
        now >= self.ack_at || self.nak_due || self.probe_due || self.question_is_due()
    }

    /// An ack is wanted, and no other frame can ask for it.
    fn question_is_due(&self) -> bool {
        self.ack_wanted && self.flight.cursor() == self.flight.len() && !self.flight.is_empty()
    }

    /// Whether the frame at the cursor asks for an ack.
    #[inline]
    fn wants_ack(&self, sequence: u16, cursor: usize, last: bool) -> bool {
        let frames_max = self.congestion.frames();
        // Four questions per round keep frames flowing, however slowly the peer acknowledges by itself. A
        // power of two saves a division. While few frames are in flight, no question is needed: nothing waits
        // for an ack, and an ack costs as much as a frame.
        let asks_every = frames_per_question(frames_max);
        self.probing
            || self.flight.ends_repair()
            || (self.ack_wanted && last)
            || ((self.congestion.limits() || 2 * cursor >= usize::from(frames_max))
                && sequence & (asks_every - 1) == 0)
            || cursor + 1 == self.frames_allowed()
    }

    /// The frame at the cursor, of which there is one. [`has_left`](Self::has_left) has to
    /// follow.
    pub(crate) fn transmit(&mut self, shared: &mut EndpointShared) -> Out {
        let cursor = self.flight.cursor();
        let last = self.flight.cursor_is_last();
        let sequence = self.flight.cursor_seq().0;
        let ack_wanted = self.wants_ack(sequence, cursor, last);
        let header = HeaderRepr {
            nak: self.gap_seen,
            ack_wanted,
            marked: self.mark_due,
            key: self.session.peer_key(),
            ..HeaderRepr::data(self.session.peer_link(), sequence, Some(self.expected.0))
        };
        let Some(slot) = self.flight.at_cursor() else {
            return Out::Scratch { len: 0 };
        };
        let bytes = shared.pool.bytes_mut(slot.buffer);
        if slot.sealed {
            slot.resent = true;
            self.counters.frames_resent += 1;
        } else {
            slot.sealed = true;
            let room = self.frame_len - OVERHEAD - usize::from(slot.packets_len);
            let nops_max = if slot.packets == 0 {
                usize::from(u8::MAX)
            } else {
                NOPS_WITH_PACKETS_MAX
            };
            let nops = self.ledger.nops_owed().min(nops_max).min(room / NOP_LEN);
            let start = if slot.packets == 0 {
                0
            } else {
                PACKETS_AT - HEADER_LEN - nops * NOP_LEN
            };
            let at = start + HEADER_LEN;
            let place = bytes.get_mut(at..at + nops * NOP_LEN).unwrap_or_default();
            let filled = self.ledger.fill_nops(place.as_chunks_mut().0);
            debug_assert_eq!(filled, Ok(()));
            slot.nops = nops as u8;
            slot.start = start as u16;
            self.counters.frames_sent += 1;
            self.counters.nops_sent += nops as u64;
            if !self.ledger.owes() {
                self.credit_at = Ns::MAX;
            }
        }
        let contents = Contents {
            nops: slot.nops,
            packets: slot.packets,
            len: u16::from(slot.nops) * NOP_LEN as u16 + slot.packets_len,
        };
        let start = usize::from(slot.start);
        let buffer = slot.buffer;
        let sealed = seal(
            &header,
            contents,
            bytes.get_mut(start..).unwrap_or_default(),
        );
        debug_assert!(sealed.is_ok());
        let mut len = OVERHEAD + usize::from(contents.len);
        if shared.config.pads_full_frames
            && let Some(padding) = bytes.get_mut(start + len..start + self.frame_len)
            && padding.len() <= PADDING_MAX
        {
            padding.fill(0);
            len = self.frame_len;
        }

        self.flight.advance();
        if last {
            self.hold.all_left();
            self.ack_wanted = false;
        }
        self.ack_sent();
        self.sent(Out::Kept { buffer, start, len }, len)
    }

    /// Notes when the frame before the cursor has left.
    pub(crate) fn has_left(&mut self, now: Ns, config: &Config) {
        let Some(slot) = self.flight.before_cursor() else {
            return;
        };
        slot.sent_at = now;
        self.pace.left(now, self.congestion.gap_ns());
        let (first_time, carries) = (!slot.resent, slot.packets > 0);
        self.flight.leap();
        if first_time && carries {
            self.hold.left(now);
        }
        if first_time && self.flight.sealed() == 1 {
            self.progress_at = now;
            self.timeouts = 0;
        }
        if self.rto_at == Ns::MAX {
            self.arm(now, config);
        }
    }

    /// A frame that carries only an ack. It is not sequenced and not kept: if it is
    /// lost, the next ack replaces it.
    fn transmit_ack(&mut self, shared: &mut EndpointShared) -> Option<Out> {
        let header = HeaderRepr {
            ack_wanted: self.probe_due || self.question_is_due(),
            marked: self.mark_due,
            sequence: self.flight.cursor_seq().0,
            ..HeaderRepr::ack(self.session.peer_link(), self.expected.0, self.gap_seen)
                .with_key(self.session.peer_key())
        };
        let frame = match self.early.missing() {
            Some(missing) if header.nak => FrameRepr::of_missing(header, missing),
            _ => FrameRepr::empty(header),
        };
        let len = frame.emit(&mut shared.scratch).ok()?;
        self.ack_wanted &= !self.question_is_due();
        self.probe_due = false;
        self.counters.acks_sent += 1;
        self.ack_sent();
        Some(self.sent(Out::Scratch { len }, len))
    }

    /// Every frame carries the ack.
    fn ack_sent(&mut self) {
        self.counters.naks_sent += u64::from(self.nak_due);
        self.ack_at = Ns::MAX;
        self.unacked = 0;
        self.nak_due = false;
        self.mark_due = false;
    }

    const fn sent(&mut self, out: Out, len: usize) -> Out {
        self.counters.bytes_sent += len as u64;
        out
    }
}
