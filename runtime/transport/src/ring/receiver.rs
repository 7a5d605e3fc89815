//! The receiving end of a ring.

use super::eager::Incoming;
use super::eager_destination::Destination;
use super::line::{load, load_behind, load_header};
use super::{
    ANNOUNCED, CreditStore, FRONT_BYTES, FRONT_WORDS, HOLD, Header, KIND_CONTINUED, LineLoad,
    PAYLOAD_BYTES, PlainLine, Position, Slots,
};
use crate::error::{Misbehaviour, PeId, TransportError};
use crate::sync::Ordering;

/// How many lines ahead are prefetched. Fitted.
pub(super) const LINES_AHEAD: u64 = 4;
/// Polls for a further line of a message whose first line has arrived. Few under loom, where each adds a state.
pub(super) const POLLS_PER_LINE: u32 = if cfg!(loom) { 2 } else { 1000 };

/// The first line of a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The kind that the sender gave, 1 to 7.
    pub kind: u8,
    /// The tag of the message.
    pub tag: u32,
    /// Bytes of the whole message.
    pub len_bytes: usize,
}

/// How far [`RingReceiver::take_now`] got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The whole message, of this many bytes.
    All(usize),
    /// Some of its lines; the rest must follow into the same buffer, by
    /// [`RingReceiver::take`].
    Part(Head),
    /// Nothing.
    Nothing,
}

/// The receiving end of a ring. See the [module text](super).
///
/// [`peek`](Self::peek) says what comes next, [`take`](Self::take) takes it.
#[derive(Debug)]
pub struct RingReceiver<L, C> {
    pub(super) load: L,
    credit: C,
    peer: PeId,
    /// The next line.
    pub(super) next: Position,
    /// The number of freed lines that the sender has been told; so much less that a batch is owed, if it is owed for eager bytes.
    returned: u64,
    /// Lines before this one may be taken [at once](Self::take_line_at_once): what is held back is less than a batch then, no message is at
    /// hand, and lines are plain.
    at_once: u64,
    /// What is asked of the sender: to send no messages ([`HOLD`]), or to announce long ones ([`ANNOUNCED`]).
    asked: u64,
    /// Bytes already taken of the message at hand.
    pub(super) taken_bytes: usize,
    /// The first line of the message at hand, once seen.
    head: Option<Head>,
    /// The eager buffer, where there is one that is open.
    pub(super) eager: Option<Box<Incoming>>,
    /// The same while it is closed.
    pub(super) closed: Option<Box<Incoming>>,
}

impl<L: LineLoad, C: CreditStore> RingReceiver<L, C> {
    /// The receiving end of a fresh (zeroed) ring from `peer`.
    pub fn new(load: L, credit: C, peer: PeId, slots: Slots) -> Self {
        let mut receiver = Self {
            eager: load.eager().map(|eager| Box::new(Incoming::new(eager))),
            load,
            credit,
            peer,
            next: Position::new(slots),
            returned: 0,
            at_once: 0,
            asked: 0,
            taken_bytes: 0,
            head: None,
            closed: None,
        };
        receiver.settle();
        receiver
    }

    /// Works out anew what the shortest ways look at.
    #[inline]
    fn settle(&mut self) {
        let is_plain = self.head.is_none() && self.load.plain(0).is_some();
        let batch = self.next.slots.credit_batch();
        self.at_once = if is_plain {
            self.returned.wrapping_add(batch)
        } else {
            0
        };
    }

    #[inline]
    pub(super) fn set_head(&mut self, head: Option<Head>) {
        self.head = head;
        self.settle();
    }

    #[inline]
    pub(super) fn set_returned(&mut self, lines: u64) {
        self.returned = lines;
        self.settle();
    }

    /// Whether a message is at hand.
    pub(super) fn has_head(&self) -> bool {
        self.head.is_some()
    }

    /// Whether the next line may be taken at once.
    #[inline(always)]
    pub(super) fn may_take(&self) -> bool {
        self.next.line < self.at_once
    }

    /// How many lines have been taken since the beginning.
    #[inline(always)]
    pub fn lines_taken(&self) -> u64 {
        self.next.line
    }

    /// Whether the next line has arrived. Its contents are not checked.
    #[inline(always)]
    pub fn has_arrived(&self) -> bool {
        Header(self.load.header(self.next.slot())).stamp() == self.next.stamp
    }

    /// Whether the next line has not arrived, and there is nothing else to do: no message at hand, no credit
    /// to return. A damaged line is not idle.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        let header = Header(self.load.header(self.next.slot()));
        header.stamp() == self.next.before && self.head.is_none() && !self.owes_credit()
    }

    /// The next message and the words after its header, if its first line is there, in coherent memory, and there
    /// is nothing else to do first. For messages whose kind says that these words are a
    /// [front](super::RingSender::try_send_behind). Kind [`KIND_CONTINUED`] is that of the line of a message in the eager buffer: see
    /// [`eager_front_at_once`](Self::eager_front_at_once). Returns credit that is owed. `None` only means that
    /// [`peek`](Self::peek) has to look.
    #[inline(always)]
    pub fn front_at_once(&mut self) -> Option<(Head, [u64; FRONT_WORDS])> {
        let owes = self.head.is_none() && self.owes_credit();
        let may_take = self.may_take() || owes && self.tells_credit();
        if !may_take {
            return None;
        }
        let line = self.load.plain(self.next.line)?;
        let header = Header(load_header(line));
        if header.stamp() != self.next.stamp {
            return None;
        }
        let head = Head {
            kind: header.kind(),
            tag: header.tag(),
            len_bytes: header.len_bytes(),
        };
        let words = [&line[1], &line[2]].map(|word| u64::from_le(word.load(Ordering::Relaxed)));
        Some((head, words))
    }

    /// Takes the message that [`front_at_once`](Self::front_at_once) has found, with its front or without it, if it fills
    /// `out` and has at most two lines, which have arrived. Returns whether it has taken it.
    #[inline(always)]
    pub fn take_front_at_once(&mut self, head: Head, has_front: bool, out: &mut [u8]) -> bool {
        let (load_first, skip): (fn(&PlainLine, &mut [u8]), usize) = match has_front {
            true => (load_behind, FRONT_BYTES),
            false => (load, 0),
        };
        let at = self.next;
        let Some(line) = self.load.plain(at.line) else {
            return false;
        };
        if head.len_bytes != skip + out.len() {
            return false;
        }
        let Some((now, back)) = out.split_at_mut_checked(PAYLOAD_BYTES - skip) else {
            load_first(line, out);
            self.next.advance();
            return true;
        };
        if back.is_empty() {
            load_first(line, now);
            self.next.advance();
            return true;
        }
        let Some(second) = self.load.plain(at.line + 1) else {
            return false;
        };
        if back.len() > PAYLOAD_BYTES {
            return false;
        }
        let continued = Header::new(at.stamp_behind(), KIND_CONTINUED, back.len(), head.tag);
        if !self.arrives(second, continued.0, POLLS_PER_LINE) {
            return false;
        }
        load_first(line, now);
        load(second, back);
        self.next.advance_by_two();
        true
    }

    /// The short way: takes the next message if it is there, has this kind and tag, and has a multiple of
    /// `element_bytes` that fits `out`. [`Taken::Nothing`] only means that the long way has to look.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if a line does not continue the message.
    pub fn take_now(
        &mut self,
        kind: u8,
        tag: u32,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<Taken, TransportError> {
        let header = Header(self.load.header(self.next.slot()));
        if header.kind() == KIND_CONTINUED && self.eager.is_some() && self.taken_bytes == 0 {
            return self.take_eager_now((kind, tag), element_bytes, out);
        }
        let len = header.len_bytes();
        let wanted = Header::new(self.next.stamp, kind, len, tag);
        let fits = len <= out.len() && len.is_multiple_of(element_bytes);
        if header != wanted || !fits || self.head.is_some() {
            return Ok(Taken::Nothing);
        }
        if len > PAYLOAD_BYTES {
            let head = Head {
                kind,
                tag,
                len_bytes: len,
            };
            return self.take_lines(head, out);
        }
        self.load.payload(self.next.slot(), &mut out[..len]);
        self.next.advance();
        Ok(Taken::All(len))
    }

    /// Takes a message of several lines whose first has arrived. The others are under way, so a short wait is worth
    /// while.
    fn take_lines(&mut self, head: Head, out: &mut [u8]) -> Result<Taken, TransportError> {
        if head.len_bytes > self.next.slots.message_bytes_max() {
            return Err(self.bad_first_line(head));
        }
        let mut rest = &mut out[..head.len_bytes];
        let mut kind = head.kind;
        while !rest.is_empty() {
            let mut polls = POLLS_PER_LINE;
            while !self.has_arrived() {
                polls -= 1;
                if polls == 0 {
                    self.set_head(Some(head));
                    self.taken_bytes = head.len_bytes - rest.len();
                    return Ok(Taken::Part(head));
                }
            }
            let header = Header(self.load.header(self.next.slot()));
            if header != Header::new(self.next.stamp, kind, rest.len(), head.tag) {
                return Err(self.bad_next_line(rest.len(), header));
            }
            let (now, later) = rest.split_at_mut(rest.len().min(PAYLOAD_BYTES));
            self.load
                .expect(self.next.slots.slot(self.next.line + LINES_AHEAD));
            self.load.payload(self.next.slot(), now);
            self.next.advance();
            rest = later;
            kind = KIND_CONTINUED;
        }
        self.return_credit_of_long();
        Ok(Taken::All(head.len_bytes))
    }

    /// A message that used most of the ring has been taken. The next one may need the room before the receiver is called again.
    #[inline(always)]
    pub(super) fn return_credit_of_long(&mut self) {
        if self.owed() >= self.next.slots.count() / 2 {
            // The message is complete. An error shows with the next one.
            let _ = self.return_credit();
        }
    }

    /// Returns the credit that is owed. What is wrong, [`return_credit`](Self::return_credit) says.
    #[cold]
    #[inline(never)]
    fn tells_credit(&mut self) -> bool {
        self.tell_credit().is_ok()
    }

    #[inline(always)]
    fn owes_credit(&self) -> bool {
        self.owed() >= self.next.slots.credit_batch()
    }

    /// Lines that the sender has not been told of; and a batch of them, at least, if there is a batch of eager bytes.
    #[inline(always)]
    pub(super) fn owed(&self) -> u64 {
        self.next.line.wrapping_sub(self.returned)
    }

    /// Tells the sender of freed lines once there is a batch of them, and returns whether there was.
    ///
    /// # Errors
    /// What storing the credit gives, unless the sender is lost.
    #[inline(always)]
    pub fn return_credit(&mut self) -> Result<bool, TransportError> {
        if !self.owes_credit() {
            return Ok(false);
        }
        self.tell_credit().map(|()| true)
    }

    /// Tells the sender of all freed lines, even if it has been told before.
    ///
    /// # Errors
    /// What storing the credit gives.
    pub fn return_all_credit(&mut self) -> Result<(), TransportError> {
        if self.next.line > 0 {
            self.tell_credit()?;
        }
        Ok(())
    }

    /// Tells the sender that it may send no messages for now, or that it may again. It learns of a hold when it
    /// next looks for credit. So messages that had credit before still come: at most a full ring.
    /// [`try_send_held`](super::RingSender::try_send_held) still sends.
    ///
    /// # Errors
    /// What storing the credit gives.
    pub fn hold(&mut self, held: bool) -> Result<(), TransportError> {
        self.ask(HOLD, held)
    }

    /// Tells the sender to announce messages that are too long for the lines, or to send them through the eager buffer again. For a receiver
    /// that knows a better place for them than private memory. As with a hold, some still come.
    ///
    /// # Errors
    /// What storing the credit gives.
    pub fn want_announced(&mut self, wanted: bool) -> Result<(), TransportError> {
        let is_asked = self.asked & ANNOUNCED != 0;
        match self.eager.is_some() && is_asked != wanted {
            true => self.ask(ANNOUNCED, wanted),
            false => Ok(()),
        }
    }

    fn ask(&mut self, what: u64, wanted: bool) -> Result<(), TransportError> {
        self.asked = self.asked & !what | if wanted { what } else { 0 };
        self.tell_credit()
    }

    #[inline(always)]
    fn tell_credit(&mut self) -> Result<(), TransportError> {
        unless_lost(self.credit.store_credit(self.next.line | self.asked))?;
        self.set_returned(self.next.line);
        if let Some(eager) = &mut self.eager
            && let Some(credit) = eager.credit()
        {
            unless_lost(self.credit.store_eager_credit(credit))?;
            eager.told();
        }
        Ok(())
    }

    /// Checks the sender's statement that it has stored `lines` lines since the beginning. Its word cannot be
    /// visible before these lines. 0 is no statement.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if the next line should be there but is not, or if so many lines do not
    /// fit the ring.
    pub fn check_stored(&self, lines: u64) -> Result<(), TransportError> {
        let next = self.next.line;
        if lines <= next || self.has_arrived() {
            return Ok(());
        }
        let header = Header(self.load.header(self.next.slot()));
        // The line may have come meanwhile.
        if header.stamp() == self.next.stamp {
            return Ok(());
        }
        Err(self.misbehaved(Misbehaviour::MissingLine {
            line: next,
            stored: lines,
            expected: self.next.stamp.0.into(),
            got: header.stamp().0.into(),
        }))
    }

    /// The next message, if its first line is there.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if the slot holds a line that no sender stores.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<Head>, TransportError> {
        if let Some(head) = self.head {
            return Ok(Some(head));
        }
        self.return_credit()?;
        let Some(header) = self.next_header()? else {
            return Ok(None);
        };
        let head = Head {
            kind: header.kind(),
            tag: header.tag(),
            len_bytes: header.len_bytes(),
        };
        let sound = match head.kind {
            KIND_CONTINUED => self.peek_eager(head.tag),
            _ => Some(head).filter(|it| it.len_bytes <= self.next.slots.message_bytes_max()),
        };
        let head = sound.ok_or_else(|| self.bad_first_line(head))?;
        self.set_head(Some(head));
        Ok(Some(head))
    }

    /// Copies the first bytes of the message that [`peek`](Self::peek) has found, before anything is taken: at most those of
    /// its first line, and [`FRONT_BYTES`] of a message in the eager buffer. The rest of `dst` stays as it is.
    pub fn front(&self, dst: &mut [u8]) {
        match self.eager.as_ref().and_then(|eager| eager.at_hand) {
            Some((_, front)) => {
                let front = front.map(u64::to_le_bytes);
                let front = front.as_flattened();
                let len = dst.len().min(front.len());
                dst[..len].copy_from_slice(&front[..len]);
            }
            None => self.load.payload(self.next.slot(), dst),
        }
    }

    /// Takes the message that [`peek`](Self::peek) found into the front of `out`, as
    /// far as its lines have arrived. Call it again with the same `out` until it
    /// returns true. Bytes that do not fit `out` are dropped.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if a line does not continue the message; or what returning the credit
    /// gives.
    #[inline]
    pub fn take(&mut self, out: &mut [u8]) -> Result<bool, TransportError> {
        self.take_behind(0, out)
    }

    /// As [`take`](Self::take), without the first `skip` bytes of the message: none, or
    /// [`FRONT_BYTES`].
    ///
    /// # Errors
    /// As `take`.
    #[inline]
    pub fn take_behind(&mut self, skip: usize, out: &mut [u8]) -> Result<bool, TransportError> {
        debug_assert!(skip == 0 || skip == FRONT_BYTES);
        let Some(head) = self.peek()? else {
            return Ok(false);
        };
        if self.is_eager() {
            return self.take_eager(skip, Destination::Bytes(out));
        }
        let slots = self.next.slots;
        loop {
            let rest = head.len_bytes - self.taken_bytes;
            if self.taken_bytes > 0 {
                let Some(header) = self.next_header_soon()? else {
                    return Ok(false);
                };
                if header.kind() != KIND_CONTINUED || header.len_bytes() != rest {
                    return Err(self.bad_next_line(rest, header));
                }
            }
            if rest > PAYLOAD_BYTES {
                self.load.expect(slots.slot(self.next.line + LINES_AHEAD));
            }
            let now = rest.min(PAYLOAD_BYTES);
            let at = self.taken_bytes.saturating_sub(skip);
            if self.taken_bytes == 0 && skip > 0 {
                let room = out.len().min(now.saturating_sub(skip));
                self.load.payload_behind(self.next.slot(), &mut out[..room]);
            } else if let Some(dst) = out.get_mut(at..at + now) {
                self.load.payload(self.next.slot(), dst);
            } else if let Some(dst) = out.get_mut(at..) {
                // Bytes that do not fit are dropped.
                self.load.payload(self.next.slot(), dst);
            }
            self.next.advance();
            // Done first, so that this line counts as taken even if no credit can be stored.
            let (is_first, is_last) = (self.taken_bytes == 0, now == rest);
            self.taken_bytes = if is_last { 0 } else { self.taken_bytes + now };
            if is_last {
                self.set_head(None);
            }
            if !is_first {
                // The rest of a long message needs the room that this part frees. After a
                // single line the answer of the program is more urgent.
                let told = self.return_credit();
                // A complete message is given. An error shows with the next one.
                if !is_last {
                    told?;
                }
            }
            if is_last {
                return Ok(true);
            }
        }
    }

    /// The header of a further line of a message, which is under way.
    #[inline(always)]
    fn next_header_soon(&self) -> Result<Option<Header>, TransportError> {
        for _ in 0..POLLS_PER_LINE {
            if self.has_arrived() {
                break;
            }
        }
        self.next_header()
    }

    /// The header of the next slot, if this lap has written it.
    #[inline]
    fn next_header(&self) -> Result<Option<Header>, TransportError> {
        let header = Header(self.load.header(self.next.slot()));
        if header.stamp() == self.next.stamp {
            return Ok(Some(header));
        }
        if header.stamp() == self.next.before {
            return Ok(None);
        }
        Err(self.bad_stamp(header))
    }

    #[cold]
    fn bad_stamp(&self, header: Header) -> TransportError {
        self.misbehaved(Misbehaviour::Stamp {
            next: self.next.stamp.0.into(),
            before: self.next.before.0.into(),
            got: header.stamp().0.into(),
        })
    }

    #[cold]
    fn bad_first_line(&self, head: Head) -> TransportError {
        self.misbehaved(Misbehaviour::FirstLine {
            bytes_max: self.next.slots.message_bytes_max(),
            kind: head.kind,
            len_bytes: head.len_bytes,
        })
    }

    #[cold]
    fn bad_next_line(&self, rest: usize, header: Header) -> TransportError {
        self.misbehaved(Misbehaviour::NextLine {
            rest_bytes: rest,
            kind: header.kind(),
            len_bytes: header.len_bytes(),
        })
    }

    pub(super) fn misbehaved(&self, how: Misbehaviour) -> TransportError {
        TransportError::PeerMisbehaved { pe: self.peer, how }
    }
}

/// A lost sender needs no credit, and its messages can still be taken.
fn unless_lost(told: Result<(), TransportError>) -> Result<(), TransportError> {
    match told {
        Err(TransportError::PeerLost { .. }) => Ok(()),
        other => other,
    }
}
