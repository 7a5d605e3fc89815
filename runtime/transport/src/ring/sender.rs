//! The sending end of a ring.

use super::eager::{Opening, Outgoing};
use super::line::{store, store_behind};
use super::{
    ANNOUNCED, CreditLoad, FRONT_BYTES, FRONT_WORDS, HOLD, Header, KIND_CONTINUED, LineStore,
    PAYLOAD_BYTES, Position, Slots, lines_for,
};
use crate::error::{Misbehaviour, PeId, TransportError};

/// How many lines ahead [`RingSender::expect`] prefetches. Fitted: with cores far from each other and two lines a
/// message, 2, 3, 5, 6 gave 7.4 to 7.8 million messages a second, 4 gave 8.9, and 8 or more, as none, 5.0 to 5.2.
const LINES_AHEAD: u64 = 4;

/// How far [`RingSender::send_line_at_once`] got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// Everything is done.
    Yes,
    /// The message is stored, but its receiver may sleep: [`RingSender::ring`].
    Ring,
    /// Nothing is done; [`RingSender::try_send`] has to look.
    No,
}

/// The lines of a message, or of its rest: slot, header and payload of each. `next` is the line after them.
struct Lines<'a> {
    next: &'a mut Position,
    kind: u8,
    tag: u32,
    rest: &'a [u8],
}

impl<'a> Lines<'a> {
    #[inline(always)]
    fn new(next: &'a mut Position, kind: u8, tag: u32, rest: &'a [u8]) -> Self {
        Self {
            next,
            kind,
            tag,
            rest,
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (usize, u64, &'a [u8]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (now, later) = self.rest.split_at(self.rest.len().min(PAYLOAD_BYTES));
        let header = Header::new(self.next.stamp, self.kind, self.rest.len(), self.tag);
        let slot = self.next.slot();
        self.next.advance();
        self.kind = KIND_CONTINUED;
        self.rest = later;
        Some((slot, header.0, now))
    }
}

/// The sending end of a ring. See the [module text](super).
#[derive(Debug)]
pub struct RingSender<S, C> {
    pub(super) store: S,
    pub(super) credit: C,
    pub(super) peer: PeId,
    /// The next line.
    pub(super) next: Position,
    /// Lines that messages may take, counted from the beginning, as last seen. None more during a hold.
    pub(super) granted: u64,
    /// Lines that messages may take [at once](Self::send_line_at_once): `granted` where lines are plain and the ring is open, else 0.
    at_once: u64,
    /// Messages may enter the ring at once, as far as its user is concerned.
    open: bool,
    /// Lines for which there is room, counted from the beginning, as last seen.
    room: u64,
    /// The receiver takes no more messages for now: see [`super::RingReceiver::hold`].
    held: bool,
    /// The eager buffer, where there is one.
    pub(super) eager: Option<Box<Outgoing>>,
    /// Whether it may be used.
    pub(super) opening: Opening,
    /// Longer messages go through it.
    pub(super) lines_bytes_max: usize,
    /// Longer ones are to be announced.
    pub(super) takes_bytes_max: usize,
}

impl<S: LineStore, C: CreditLoad> RingSender<S, C> {
    /// The sending end of a fresh ring to `peer`.
    pub fn new(store: S, credit: C, peer: PeId, slots: Slots) -> Self {
        let longest = slots.message_bytes_max();
        // It is of no use if it takes no longer messages than the ring.
        let eager = store.eager();
        let eager = eager.filter(|(bytes, _)| bytes.message_bytes_max() > longest);
        let mut sender = Self {
            lines_bytes_max: usize::MAX,
            takes_bytes_max: longest,
            opening: Opening::default(),
            eager: eager.map(|(bytes, order)| Box::new(Outgoing::new(bytes, order))),
            store,
            credit,
            peer,
            next: Position::new(slots),
            granted: slots.count(),
            at_once: 0,
            open: true,
            room: slots.count(),
            held: false,
        };
        sender.settle();
        sender.settle_lengths();
        sender
    }

    /// Says whether messages may enter the ring at once, which they may at first.
    #[inline]
    pub fn set_open(&mut self, open: bool) {
        self.open = open;
        self.settle();
    }

    /// Whether messages may enter the ring at once, as far as its user is concerned.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Works out anew what the shortest ways look at.
    #[inline]
    fn settle(&mut self) {
        self.at_once = if self.open && self.is_mapped() {
            self.granted
        } else {
            0
        };
    }

    /// The shortest way for messages of up to [`PAYLOAD_BYTES`]: stores one into coherent memory if the ring is
    /// [open](Self::set_open) and credit is known. Calls no function.
    #[inline(always)]
    pub fn send_line_at_once(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Sent {
        let at = self.next;
        if payload.len() > PAYLOAD_BYTES || at.line >= self.at_once {
            return Sent::No;
        }
        let Some(line) = self.store.plain(at.line) else {
            return Sent::No;
        };
        let header = Header::new(at.stamp, kind, payload.len(), tag);
        store(line, header.0, payload);
        self.next.advance();
        self.sent()
    }

    /// The same for messages of two lines.
    #[inline(always)]
    pub fn send_pair_at_once(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Sent {
        let at = self.next;
        let Some((front, back)) = payload.split_at_checked(PAYLOAD_BYTES) else {
            return Sent::No;
        };
        if back.len() > PAYLOAD_BYTES || at.line + 1 >= self.at_once {
            return Sent::No;
        }
        let lines = (self.store.plain(at.line), self.store.plain(at.line + 1));
        let (Some(line), Some(second)) = lines else {
            return Sent::No;
        };
        // In the order of addresses. Measured: a core that stores lines downwards gets them one after the other.
        let header = Header::new(at.stamp, kind, payload.len(), tag);
        store(line, header.0, front);
        let continued = Header::new(at.stamp_behind(), KIND_CONTINUED, back.len(), tag);
        store(second, continued.0, back);
        self.next.advance_by_two();
        self.sent()
    }

    /// The same for messages of up to [`FEW_BYTES_MAX`](super::FEW_BYTES_MAX). For answers: messages that follow each other are
    /// faster through the eager buffer, because the ring is full soon.
    #[inline(always)]
    pub fn send_few_at_once(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Sent {
        let mut at = self.next;
        if at.line + lines_for(payload.len()) > self.at_once {
            return Sent::No;
        }
        let (mut kind, mut rest) = (kind, payload);
        while let Some(line) = self.store.plain(at.line) {
            let header = Header::new(at.stamp, kind, rest.len(), tag);
            at.advance();
            match rest.split_first_chunk::<PAYLOAD_BYTES>() {
                Some((now, behind)) if !behind.is_empty() => {
                    store(line, header.0, now);
                    (kind, rest) = (KIND_CONTINUED, behind);
                }
                _ => {
                    store(line, header.0, rest);
                    self.next = at;
                    return self.sent();
                }
            }
        }
        Sent::No
    }

    /// As [`try_send_whole`](Self::try_send_whole), into coherent memory if the ring is [open](Self::set_open).
    #[inline(never)]
    pub fn send_whole_at_once(
        &mut self,
        kind: u8,
        tag: u32,
        front: Option<[u64; FRONT_WORDS]>,
        payload: &[u8],
    ) -> Sent {
        if self.next.line >= self.at_once {
            return Sent::No;
        }
        if let Some(message) = self.eager_message(kind, tag, front, payload)
            && self.takes(FRONT_BYTES + message.3.len())
            && self.store_eager(message, self.granted)
        {
            return self.sent();
        }
        match self.try_send_whole(kind, tag, front, payload) {
            Ok(true) => Sent::Yes,
            _ => Sent::No,
        }
    }

    /// The same for messages of up to two lines with a [front](Self::try_send_behind).
    #[inline(always)]
    pub fn send_behind_at_once(
        &mut self,
        kind: u8,
        tag: u32,
        front: [u64; FRONT_WORDS],
        payload: &[u8],
    ) -> Sent {
        let at = self.next;
        let header = Header::new(at.stamp, kind, FRONT_BYTES + payload.len(), tag);
        let first = self.store.plain(at.line);
        let Some((now, back)) = payload.split_at_checked(PAYLOAD_BYTES - FRONT_BYTES) else {
            if at.line >= self.at_once {
                return Sent::No;
            }
            let Some(line) = first else {
                return Sent::No;
            };
            store_behind(line, header.0, front, payload);
            self.next.advance();
            return self.sent();
        };
        if back.len() > PAYLOAD_BYTES || at.line + 1 >= self.at_once {
            return Sent::No;
        }
        let second = self.store.plain(at.line + 1);
        let (Some(line), Some(second)) = (first, second) else {
            return Sent::No;
        };
        store_behind(line, header.0, front, now);
        if back.is_empty() {
            self.next.advance();
        } else {
            let continued = Header::new(at.stamp_behind(), KIND_CONTINUED, back.len(), tag);
            store(second, continued.0, back);
            self.next.advance_by_two();
        }
        self.sent()
    }

    /// Prefetches the next lines, for a sender that sends message after message. Behind a store that waits for its
    /// line, a core has room for the stores of about one message, so without this the lines come one by one. Between a
    /// message and its answer this would take lines from the receiver that polls them.
    #[inline(always)]
    pub fn expect(&self) {
        let Position { line, slots, .. } = self.next;
        self.store.expect(slots.slot(line + LINES_AHEAD));
        self.store.expect(slots.slot(line + LINES_AHEAD + 1));
    }

    #[inline(always)]
    fn sent(&self) -> Sent {
        if self.store.receiver_looks() {
            Sent::Yes
        } else {
            Sent::Ring
        }
    }

    /// Must follow [`Sent::Ring`].
    ///
    /// # Errors
    /// What the store gives.
    #[cold]
    pub fn ring(&self) -> Result<(), TransportError> {
        self.store.message_stored()
    }

    /// Stores a message, with a [front](Self::try_send_behind) or without one, if the receiver [takes](Self::takes) it and has room
    /// for all of it.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    #[inline]
    pub fn try_send_whole(
        &mut self,
        kind: u8,
        tag: u32,
        front: Option<[u64; FRONT_WORDS]>,
        payload: &[u8],
    ) -> Result<bool, TransportError> {
        let len = payload.len() + front.map_or(0, |_| FRONT_BYTES);
        match front {
            _ if !self.takes(len) => Ok(false),
            Some(front) => self.try_send_behind(kind, tag, front, payload),
            None => self.try_send(kind, tag, payload),
        }
    }

    /// Stores a message if the receiver has room for all of it.
    ///
    /// - `kind`: 1 to 7, the caller's own.
    /// - `payload`: at most [`message_bytes_max`](Self::message_bytes_max) bytes.
    ///
    /// Returns false, having stored nothing, if there is no credit, or if the receiver
    /// [takes no messages](Self::is_held).
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if the payload is too long for the ring,
    /// [`TransportError::PeerMisbehaved`] if the receiver's credit is impossible, or
    /// what the store gives.
    #[inline]
    pub fn try_send(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Result<bool, TransportError> {
        debug_assert_ne!(kind, KIND_CONTINUED);
        if let Some(message) = self.eager_message(kind, tag, None, payload) {
            return self.try_send_eager(message, false);
        }
        let lines = lines_for(payload.len());
        if self.granted - self.next.line < lines && !self.look_for_credit(lines, payload.len())? {
            return Ok(false);
        }
        self.store_message(kind, tag, payload)?;
        Ok(true)
    }

    /// As [`try_send`](Self::try_send), for a message in two parts: words, each with its least
    /// byte first, and the payload.
    ///
    /// # Errors
    /// As `try_send`.
    pub fn try_send_behind(
        &mut self,
        kind: u8,
        tag: u32,
        front: [u64; FRONT_WORDS],
        payload: &[u8],
    ) -> Result<bool, TransportError> {
        debug_assert!(kind != KIND_CONTINUED);
        let len = FRONT_BYTES + payload.len();
        if let Some(message) = self.eager_message(kind, tag, Some(front), payload) {
            return self.try_send_eager(message, false);
        }
        let lines = lines_for(len);
        if self.granted - self.next.line < lines && !self.look_for_credit(lines, len)? {
            return Ok(false);
        }
        let now = payload.len().min(PAYLOAD_BYTES - FRONT_BYTES);
        let (now, rest) = payload.split_at(now);
        let header = Header::new(self.next.stamp, kind, len, tag).0;
        self.store.begin_message()?;
        let mut next = self.next;
        if let Some(line) = self.store.plain(next.line) {
            store_behind(line, header, front, now);
            next.advance();
            if !rest.is_empty() {
                let lines = Lines::new(&mut next, KIND_CONTINUED, tag, rest);
                self.store.store_lines(lines)?;
            }
        } else {
            let mut line = [0; PAYLOAD_BYTES];
            for (bytes, word) in line.as_chunks_mut::<8>().0.iter_mut().zip(front) {
                *bytes = word.to_le_bytes();
            }
            line[FRONT_BYTES..][..now.len()].copy_from_slice(now);
            let first = core::iter::once((next.slot(), header, &line[..FRONT_BYTES + now.len()]));
            next.advance();
            let lines = Lines::new(&mut next, KIND_CONTINUED, tag, rest);
            self.store.store_lines(first.chain(lines))?;
        }
        self.next = next;
        self.store.message_stored()?;
        Ok(true)
    }

    /// Whether there is room for a message of `len` bytes. `held`: it is sent in spite of a hold.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if the receiver's credit is impossible.
    #[inline]
    pub fn has_room_for(&mut self, len: usize, held: bool) -> Result<bool, TransportError> {
        match self.is_eager(len) {
            true => {
                let body = len - FRONT_BYTES;
                Ok(self.has_eager_room(body, held) || self.look_for_eager_room(body, held)?)
            }
            false => self.has_room(lines_for(len), held),
        }
    }

    /// As [`try_send`](Self::try_send), for messages that the receiver also takes during a hold.
    ///
    /// - `payload`: at most [`held_bytes_max`](Self::held_bytes_max) bytes.
    ///
    /// # Errors
    /// As `try_send`.
    pub fn try_send_held(
        &mut self,
        kind: u8,
        tag: u32,
        payload: &[u8],
    ) -> Result<bool, TransportError> {
        if let Some(message) = self.eager_message(kind, tag, None, payload) {
            return self.try_send_eager(message, true);
        }
        let lines = lines_for(payload.len());
        if self.room - self.next.line < lines {
            self.look_for_credit(lines, payload.len())?;
            if self.room - self.next.line < lines {
                return Ok(false);
            }
        }
        self.store_message(kind, tag, payload)?;
        self.settle_hold();
        Ok(true)
    }

    /// After a line that was stored in spite of a hold: others still may not follow.
    #[inline(always)]
    pub(super) fn settle_hold(&mut self) {
        if self.held {
            self.granted = self.next.line;
            self.settle();
        }
    }

    /// Lines that may be stored, counted from the beginning, as last seen. `held`: of a message that is sent in spite of a hold.
    #[inline(always)]
    pub(super) fn lines_allowed(&self, held: bool) -> u64 {
        if held { self.room } else { self.granted }
    }

    #[inline]
    pub(super) fn has_room(&mut self, lines: u64, held: bool) -> Result<bool, TransportError> {
        if self.lines_allowed(held) - self.next.line >= lines {
            return Ok(true);
        }
        self.look_for_credit(lines, 0)?;
        Ok(self.lines_allowed(held) - self.next.line >= lines)
    }

    /// Whether the receiver has said that it takes only messages of [`try_send_held`](Self::try_send_held). Known after
    /// a message found no credit.
    pub fn is_held(&self) -> bool {
        self.held
    }

    #[inline(always)]
    fn store_message(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Result<(), TransportError> {
        self.store.begin_message()?;
        self.store_lines(kind, tag, payload)?;
        self.store.message_stored()
    }

    #[inline(always)]
    fn store_line(
        &mut self,
        kind: u8,
        rest: usize,
        tag: u32,
        now: &[u8],
    ) -> Result<(), TransportError> {
        let at = self.next;
        let header = Header::new(at.stamp, kind, rest, tag);
        self.store.store_line(at.slot(), header.0, now)?;
        self.next.advance();
        Ok(())
    }

    #[inline]
    fn store_lines(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Result<(), TransportError> {
        if payload.len() <= PAYLOAD_BYTES {
            return self.store_line(kind, payload.len(), tag, payload);
        }
        let mut next = self.next;
        let lines = Lines::new(&mut next, kind, tag, payload);
        self.store.store_lines(lines)?;
        self.next = next;
        Ok(())
    }

    /// How many lines have been stored since the beginning.
    pub fn lines_stored(&self) -> u64 {
        self.next.line
    }

    /// How many lines the receiver has taken, as far as it has said so.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if the receiver's credit is impossible.
    pub fn lines_taken(&mut self) -> Result<u64, TransportError> {
        self.look_for_credit(0, 0)?;
        Ok(self.room - self.next.slots.count())
    }

    /// Where the lines go.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// The longest message that [`try_send`](Self::try_send) takes.
    #[inline]
    pub fn message_bytes_max(&self) -> usize {
        let eager = self.eager.as_ref().map(|out| out.eager.message_bytes_max());
        self.ring_bytes_max().max(eager.unwrap_or(0))
    }

    /// Whether messages are stored into coherent memory.
    #[inline(always)]
    pub fn is_mapped(&self) -> bool {
        self.store.plain(0).is_some()
    }

    /// Whether a message of so many bytes is to be [sent](Self::try_send): it is not too long, the receiver does not
    /// [want it announced](super::RingReceiver::want_announced), as far as we have looked, and the eager buffer
    /// [is open](Self::is_eager_open).
    #[inline]
    pub fn takes(&self, len: usize) -> bool {
        len <= self.takes_bytes_max
    }

    /// Whether the eager buffer is far away: an announcement would take longer than the copy that it saves.
    #[inline]
    pub fn is_eager_whole(&self) -> bool {
        self.eager.as_ref().is_some_and(|out| out.is_whole)
    }

    /// The longest message that [`try_send_held`](Self::try_send_held) takes now.
    #[inline]
    pub fn held_bytes_max(&self) -> usize {
        match self.is_eager_open() {
            true => self.message_bytes_max(),
            false => self.ring_bytes_max(),
        }
    }

    /// The longest message that goes in lines.
    #[inline]
    pub fn ring_bytes_max(&self) -> usize {
        self.next.slots.message_bytes_max()
    }

    #[cold]
    #[inline(never)]
    pub(super) fn look_for_credit(
        &mut self,
        lines: u64,
        len: usize,
    ) -> Result<bool, TransportError> {
        if len > self.next.slots.message_bytes_max() {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: len,
                segment_bytes: self.next.slots.message_bytes_max(),
            });
        }
        let word = self.credit.load_credit();
        let freed = word & !(HOLD | ANNOUNCED);
        let known = self.room - self.next.slots.count();
        if freed < known || freed > self.next.line {
            return Err(TransportError::PeerMisbehaved {
                pe: self.peer,
                how: Misbehaviour::Credit {
                    min: known,
                    max: self.next.line,
                    got: freed,
                },
            });
        }
        self.room = freed + self.next.slots.count();
        self.held = word & HOLD != 0;
        self.heed_opening(word & ANNOUNCED != 0, lines);
        self.granted = if self.held { self.next.line } else { self.room };
        self.settle();
        Ok(self.granted - self.next.line >= lines)
    }
}
