//! The pieces between two hosts, as each of the two sees them.

use std::collections::VecDeque;

use crate::engine::Ps;
use crate::models::flit::{Piece, PieceKind};

/// Go-Back-N between two hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndToEnd {
    /// Pieces to one host that may be unacknowledged.
    pub window: u64,
    /// The receiver acknowledges every so many pieces.
    pub ack_pieces: u64,
    /// Or when one has waited for so long.
    pub ack_wait: Ps,
    /// Without an acknowledgement for so long a sender repeats.
    pub timeout: Ps,
    /// Length of an acknowledgement in a frame, header included.
    pub ack_bytes: u16,
}

/// Pieces to a host.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    /// Those that were not sent.
    pub(super) queue: VecDeque<Piece>,
    /// Those that were sent and not acknowledged.
    kept: VecDeque<Piece>,
    next_number: u32,
    /// The next one of `kept` to be sent again.
    repeat_at: Option<usize>,
    /// When something was sent or acknowledged last.
    last: Ps,
    /// Pieces that were sent again.
    pub(super) resent: u64,
}

impl Outbound {
    /// The next piece, if one may go. With a `window`, pieces are kept until they are
    /// acknowledged.
    pub(super) fn next(&mut self, window: Option<u64>, now: Ps) -> Option<Piece> {
        if let Some(at) = self.repeat_at {
            let piece = *self.kept.get(at)?;
            self.repeat_at = (at + 1 < self.kept.len()).then_some(at + 1);
            self.resent += 1;
            self.last = now;
            return Some(piece);
        }
        if window.is_some_and(|window| self.kept.len() as u64 >= window) {
            return None;
        }
        let mut piece = self.queue.pop_front()?;
        piece.number = self.next_number;
        self.next_number = self.next_number.wrapping_add(1);
        if window.is_some() {
            self.kept.push_back(piece);
            self.last = now;
        }
        Some(piece)
    }

    /// Everything before `number` has arrived; one that was not sent has no effect.
    pub(super) fn acknowledge(&mut self, number: u32, now: Ps) {
        let Some(first) = self.kept.front().map(|piece| piece.number) else {
            return;
        };
        let done = number.wrapping_sub(first) as usize;
        if done == 0 || done > self.kept.len() {
            return;
        }
        self.kept.drain(..done);
        self.last = now;
        self.repeat_at = match self.repeat_at {
            Some(at) if !self.kept.is_empty() => Some(at.saturating_sub(done)),
            _ => None,
        };
    }

    /// Begins to send again all that is not acknowledged.
    pub(super) fn repeat(&mut self) {
        self.repeat_at = (!self.kept.is_empty()).then_some(0);
    }

    pub(super) fn timeout_at(&self, timeout: Ps) -> Option<Ps> {
        (!self.kept.is_empty()).then_some(self.last + timeout)
    }

    pub(super) fn check_timeout(&mut self, now: Ps, timeout: Ps) {
        if self.timeout_at(timeout).is_some_and(|at| at <= now) {
            self.repeat();
            self.last = now;
        }
    }

    /// Pieces that have not arrived for certain.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len() + self.kept.len()
    }
}

/// Pieces from a host.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbound {
    expected: u32,
    /// Pieces since the last acknowledgement, and when the first of them came.
    unacknowledged: u64,
    since: Option<Ps>,
    nak_owed: bool,
    nak_sent: bool,
}

impl Inbound {
    /// Whether this piece is the next one.
    pub(super) fn take(&mut self, number: u32, now: Ps) -> bool {
        let is_next = number == self.expected;
        let is_gap = number.wrapping_sub(self.expected) < 1 << 31 && !is_next;
        if is_gap {
            // One Nak until the right one comes.
            self.nak_owed |= !self.nak_sent;
            self.nak_sent = true;
            return false;
        }
        self.unacknowledged += 1;
        self.since.get_or_insert(now);
        if is_next {
            self.expected = self.expected.wrapping_add(1);
            self.nak_sent = false;
        }
        is_next
    }

    /// When an acknowledgement is due.
    pub(super) fn ack_at(&self, terms: &EndToEnd) -> Option<Ps> {
        let since = self.since?;
        match self.nak_owed || self.unacknowledged >= terms.ack_pieces {
            true => Some(since),
            false => Some(since + terms.ack_wait),
        }
    }

    /// What is to be said to the sender now, with the number of the next piece.
    pub(super) fn owed(&mut self, now: Ps, terms: &EndToEnd) -> Option<(PieceKind, u32)> {
        let is_due = self.nak_owed || self.ack_at(terms).is_some_and(|at| at <= now);
        if !is_due {
            return None;
        }
        self.unacknowledged = 0;
        self.since = None;
        match std::mem::take(&mut self.nak_owed) {
            true => Some((PieceKind::Nak, self.expected)),
            false => Some((PieceKind::Ack, self.expected)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMS: EndToEnd = EndToEnd {
        window: 4,
        ack_pieces: 2,
        ack_wait: Ps(100),
        timeout: Ps(1_000),
        ack_bytes: 50,
    };

    fn outbound(pieces: u16) -> Outbound {
        let piece = |payload_bytes| Piece {
            from: 0,
            to: 1,
            number: 0,
            bytes: 80,
            kind: PieceKind::Data {
                message: 0,
                payload_bytes,
            },
        };
        Outbound {
            queue: (0..pieces).map(piece).collect(),
            ..Outbound::default()
        }
    }

    fn numbers(flow: &mut Outbound, now: Ps) -> Vec<u32> {
        std::iter::from_fn(|| flow.next(Some(TERMS.window), now))
            .map(|piece| piece.number)
            .collect()
    }

    #[test]
    fn a_window_opens_with_acknowledgements() {
        let mut flow = outbound(9);
        assert_eq!(numbers(&mut flow, Ps(1)), [0, 1, 2, 3]);
        flow.acknowledge(2, Ps(5));
        assert_eq!(numbers(&mut flow, Ps(6)), [4, 5]);
        flow.acknowledge(9, Ps(7));
        assert_eq!(flow.waiting(), 7, "9 was never sent");
    }

    #[test]
    fn everything_behind_a_gap_is_sent_again() {
        let mut flow = outbound(4);
        numbers(&mut flow, Ps(1));
        flow.acknowledge(1, Ps(5));
        flow.repeat();
        assert_eq!(numbers(&mut flow, Ps(6)), [1, 2, 3]);
        assert_eq!(
            (flow.resent, flow.timeout_at(TERMS.timeout)),
            (3, Some(Ps(1_006)))
        );
        flow.check_timeout(Ps(1_005), TERMS.timeout);
        assert!(numbers(&mut flow, Ps(1_005)).is_empty());
        flow.check_timeout(Ps(1_006), TERMS.timeout);
        assert_eq!(numbers(&mut flow, Ps(1_006)), [1, 2, 3]);
    }

    #[test]
    fn a_gap_is_refused_once() {
        let mut flow = Inbound::default();
        assert!(flow.take(0, Ps(1)));
        assert_eq!(flow.owed(Ps(1), &TERMS), None);
        assert_eq!(flow.owed(Ps(101), &TERMS), Some((PieceKind::Ack, 1)));
        assert!(!flow.take(2, Ps(102)));
        assert_eq!(flow.owed(Ps(102), &TERMS), Some((PieceKind::Nak, 1)));
        assert!(!flow.take(3, Ps(103)));
        assert_eq!(flow.owed(Ps(103), &TERMS), None);
        assert!(flow.take(1, Ps(104)));
        assert!(!flow.take(0, Ps(105)), "it was here before");
        assert_eq!(flow.owed(Ps(105), &TERMS), Some((PieceKind::Ack, 2)));
    }
}
