//! The shortest ways to take messages in lines: for who waits for the next message of one peer and knows its length.

use super::line::{load, load_behind, load_header};
use super::receiver::{LINES_AHEAD, POLLS_PER_LINE, RingReceiver};
use super::{CreditStore, Head, Header, KIND_CONTINUED, LineLoad, PAYLOAD_BYTES, PlainLine};
use crate::{arrival, opaque};

impl<L: LineLoad, C: CreditStore> RingReceiver<L, C> {
    /// The shortest way for messages of up to [`PAYLOAD_BYTES`]: polls coherent memory up to `polls` times for the
    /// next one, and takes it if it has this kind and tag and fills `out`. False only means that
    /// [`take_now`](Self::take_now) has to look. Calls no function.
    ///
    /// The expected header is computed before the wait, because every instruction after the arrival of a line adds
    /// latency.
    #[inline(always)]
    pub fn take_line_at_once(&mut self, kind: u8, tag: u32, out: &mut [u8], polls: u32) -> bool {
        let at = self.next;
        let len = out.len();
        if len > PAYLOAD_BYTES || !self.may_take() {
            return false;
        }
        let Some(line) = self.load.plain(at.line) else {
            return false;
        };
        let wanted = opaque::word(Header::new(at.stamp, kind, len, tag).0);
        if !self.arrives(line, wanted, polls) {
            return false;
        }
        load(line, out);
        self.next.advance();
        true
    }

    /// The same for messages of two lines.
    #[inline(always)]
    pub fn take_pair_at_once(&mut self, kind: u8, tag: u32, out: &mut [u8], polls: u32) -> bool {
        let at = self.next;
        let len = out.len();
        let Some((front, back)) = out.split_at_mut_checked(PAYLOAD_BYTES) else {
            return false;
        };
        if back.len() > PAYLOAD_BYTES || !self.may_take() {
            return false;
        }
        let lines = (self.load.plain(at.line), self.load.plain(at.line + 1));
        let (Some(line), Some(second)) = lines else {
            return false;
        };
        let wanted = opaque::word(Header::new(at.stamp, kind, len, tag).0);
        let continued = Header::new(at.stamp_behind(), KIND_CONTINUED, back.len(), tag);
        let continued = opaque::word(continued.0);
        // The second line follows at once. A separate path without a loop: after a wait the predictor has forgotten
        // the number of iterations of a short loop.
        if !self.arrives(line, wanted, polls) || !self.arrives(second, continued, polls) {
            return false;
        }
        load(line, front);
        load(second, back);
        self.next.advance_by_two();
        true
    }

    /// The same for messages of up to [`FEW_BYTES_MAX`](super::FEW_BYTES_MAX), in lines or in the eager buffer.
    #[inline(always)]
    pub fn take_few_at_once(&mut self, kind: u8, tag: u32, out: &mut [u8], polls: u32) -> bool {
        let mut at = self.next;
        let Some(mut line) = self.load.plain(at.line).filter(|_| self.may_take()) else {
            return false;
        };
        let wanted = opaque::word(Header::new(at.stamp, kind, out.len(), tag).0);
        if !self.arrives(line, wanted, polls) {
            return self.has_arrived() && self.take_whole_at_once(head(kind, tag, out), 0, out);
        }
        let mut rest = out;
        while rest.len() > PAYLOAD_BYTES {
            let (now, behind) = rest.split_at_mut(PAYLOAD_BYTES);
            load(line, now);
            rest = behind;
            at.advance();
            let Some(next) = self.load.plain(at.line) else {
                return false;
            };
            line = next;
            let wanted = Header::new(at.stamp, KIND_CONTINUED, rest.len(), tag);
            if !self.arrives(line, wanted.0, POLLS_PER_LINE) {
                return false;
            }
        }
        load(line, rest);
        at.advance();
        self.next = at;
        true
    }

    /// As [`take_line_at_once`](Self::take_line_at_once), for messages of any length.
    #[inline(always)]
    pub fn take_long_at_once(&mut self, kind: u8, tag: u32, out: &mut [u8], polls: u32) -> bool {
        let at = self.next;
        if !self.may_take() {
            return false;
        }
        let Some(line) = self.load.plain(at.line) else {
            return false;
        };
        // Whatever comes ends the wait.
        let any = Header::new(at.stamp, kind, 0, tag);
        if !self.arrives(line, any.0, polls) && !self.has_arrived() {
            return false;
        }
        self.take_whole_at_once(head(kind, tag, out), 0, out)
    }

    /// As [`take_front_at_once`](Self::take_front_at_once), of a message of any length, without its first `skip` bytes: none, or
    /// [`FRONT_BYTES`](super::FRONT_BYTES). What is wrong with its lines, [`take`](Self::take) says.
    #[inline(never)]
    pub fn take_whole_at_once(&mut self, head: Head, skip: usize, out: &mut [u8]) -> bool {
        if Header(self.load.header(self.next.slot())).kind() == KIND_CONTINUED {
            let found = self.eager_front_at_once(head.tag);
            return found
                .is_some_and(|it| it.head() == head && self.take_eager_at_once(it, skip, out));
        }
        let longest = self.next.slots.message_bytes_max();
        if head.len_bytes != skip + out.len() || !(1..=longest).contains(&head.len_bytes) {
            return false;
        }
        let mut at = self.next;
        let (mut kind, mut rest) = (head.kind, head.len_bytes);
        while rest > 0 {
            let Some(line) = self.load.plain(at.line) else {
                return false;
            };
            let wanted = Header::new(at.stamp, kind, rest, head.tag);
            if !self.arrives(line, wanted.0, POLLS_PER_LINE) {
                return false;
            }
            self.load.expect(at.slots.slot(at.line + LINES_AHEAD));
            let done = head.len_bytes - rest;
            let now = rest.min(PAYLOAD_BYTES);
            match done {
                0 if skip > 0 => load_behind(line, &mut out[..now - skip]),
                _ => load(line, &mut out[done - skip..][..now]),
            }
            at.advance();
            rest -= now;
            kind = KIND_CONTINUED;
        }
        self.next = at;
        self.return_credit_of_long();
        true
    }

    /// Whether `line` has this header within so many polls. Another message that comes
    /// ends the wait.
    #[inline(always)]
    pub(super) fn arrives(&self, line: &PlainLine, wanted: u64, polls: u32) -> bool {
        if load_header(line) == wanted {
            // Messages come one after the other. Prefetching the next lines here was measured to
            // take them away from the sender too early.
            return true;
        }
        // The low 16 bits are the stamp.
        arrival::comes(&line[0], wanted, polls)
    }
}

/// What is expected of a message that fills `out`.
#[inline(always)]
fn head(kind: u8, tag: u32, out: &[u8]) -> Head {
    Head {
        kind,
        tag,
        len_bytes: out.len(),
    }
}
