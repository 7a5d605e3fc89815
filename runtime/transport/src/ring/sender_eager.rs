//! Storing messages into the [eager buffer](super::eager).

use super::eager::{self, PIECE_BYTES, Room, Summary};
use super::line::store_behind;
use super::sender::RingSender;
use super::{CreditLoad, FRONT_BYTES, FRONT_WORDS, Header, KIND_CONTINUED, LineStore};
use crate::error::{Misbehaviour, TransportError};

/// A message for the eager buffer: its kind, its tag, its first words, and the other bytes.
pub(super) type EagerMessage<'a> = (u8, u32, [u64; FRONT_WORDS], &'a [u8]);

impl<S: LineStore, C: CreditLoad> RingSender<S, C> {
    /// The message, if it is for the eager buffer.
    #[inline(always)]
    pub(super) fn eager_message<'a>(
        &self,
        kind: u8,
        tag: u32,
        front: Option<[u64; FRONT_WORDS]>,
        payload: &'a [u8],
    ) -> Option<EagerMessage<'a>> {
        match front {
            Some(front) => {
                (self.is_eager(FRONT_BYTES + payload.len())).then_some((kind, tag, front, payload))
            }
            None if self.is_eager(payload.len()) => {
                let (front, body) = payload.split_first_chunk::<FRONT_BYTES>()?;
                let [low, high] = [0, 8].map(|at| front[at..].first_chunk().copied());
                let front = [low, high].map(|bytes| u64::from_le_bytes(bytes.unwrap_or_default()));
                Some((kind, tag, front, body))
            }
            None => None,
        }
    }

    /// Whether a message of so many bytes goes through the eager buffer.
    #[inline(always)]
    pub(super) fn is_eager(&self, len: usize) -> bool {
        len > self.lines_bytes_max
    }

    /// A message through the eager buffer. `held`: it is sent in spite of a hold.
    #[inline(never)]
    pub(super) fn try_send_eager(
        &mut self,
        message: EagerMessage<'_>,
        held: bool,
    ) -> Result<bool, TransportError> {
        let len = message.3.len();
        if !self.has_eager_room(len, held) && !self.look_for_eager_room(len, held)? {
            return Ok(false);
        }
        let is_sent = match self.store_eager(message, self.lines_allowed(held)) {
            true => {
                self.store.message_stored()?;
                true
            }
            false => self.store_whole(message)?,
        };
        self.settle_hold();
        Ok(is_sent)
    }

    /// A message into the eager buffer in coherent memory, if there is room for it as far as we have looked: its line is one of `lines`,
    /// counted from the beginning.
    ///
    /// Its words stay in registers until they are in the line: assembled in memory, they would be loaded in larger pieces than
    /// they were stored in, and such a load waits until all bytes of the message have left the core.
    #[inline(always)]
    pub(super) fn store_eager(
        &mut self,
        (kind, tag, front, body): EagerMessage<'_>,
        lines: u64,
    ) -> bool {
        let at = self.next;
        let may = at.line < lines;
        let Some(out) = self.eager.as_mut().filter(|out| may && !out.is_whole) else {
            return false;
        };
        // There may be room for more, which its receiver takes for no message.
        if FRONT_BYTES + body.len() > out.eager.message_bytes_max() {
            return false;
        }
        let (Some(line), Some(room)) = (self.store.plain(at.line), out.take(body.len())) else {
            return false;
        };
        let (first, rest) = body.split_at(body.len().min(PIECE_BYTES));
        put_eager(&self.store, &room, 0, first);
        let summary = Summary {
            kind,
            len_bytes: FRONT_BYTES + body.len(),
            is_staged: room.is_staged,
            is_whole: false,
        };
        let header = Header::new(at.stamp, KIND_CONTINUED, eager::LINE_BYTES, tag).0;
        let [low, high] = front;
        store_behind(line, header, [summary.word(), low, high], &[]);
        self.next.advance();
        if !rest.is_empty() {
            self.put_rest(&room, rest);
        }
        true
    }

    /// The bytes behind the first piece, while the receiver copies.
    #[inline(never)]
    fn put_rest(&self, room: &Room, rest: &[u8]) {
        // It may begin to copy. The bell of mapped memory is a word there: nothing fails.
        let _ = self.store.message_stored();
        let mut done = PIECE_BYTES;
        for piece in rest.chunks(PIECE_BYTES) {
            put_eager(&self.store, room, done, piece);
            done += piece.len();
            self.store.say_eager(room.said(done));
        }
    }

    /// A message through the eager buffer, whose line is stored behind all of it. False if there is no room.
    #[cold]
    #[inline(never)]
    fn store_whole(
        &mut self,
        (kind, tag, front, body): EagerMessage<'_>,
    ) -> Result<bool, TransportError> {
        let room = self.eager.as_mut().and_then(|out| out.take(body.len()));
        let Some(room) = room else {
            return Ok(false);
        };
        let summary = Summary {
            kind,
            len_bytes: FRONT_BYTES + body.len(),
            is_staged: false,
            is_whole: true,
        };
        let at = self.next;
        let header = Header::new(at.stamp, KIND_CONTINUED, eager::LINE_BYTES, tag);
        let line = summary.line(front);
        let ranges = room.area.ranges(room.position, body.len()).into_iter();
        let parts = ranges
            .filter(|(_, part)| !part.is_empty())
            .map(|(at, part)| (at, &body[part]));
        self.store.begin_message()?;
        self.store
            .store_behind(parts, (at.slot(), header.0, &line))?;
        self.next.advance();
        self.store.message_stored()?;
        Ok(true)
    }

    /// Whether there is room for a message with so many bytes in the eager buffer, as far as we have looked.
    #[inline(always)]
    pub(super) fn has_eager_room(&self, body: usize, held: bool) -> bool {
        let has_line = self.lines_allowed(held) > self.next.line;
        has_line && self.eager.as_ref().is_some_and(|out| out.has_room(body))
    }

    /// Looks for that room.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_eager_room(
        &mut self,
        body: usize,
        held: bool,
    ) -> Result<bool, TransportError> {
        // This word says whether the receiver takes any.
        self.look_for_credit(1, 0)?;
        let longest = self.message_bytes_max();
        if FRONT_BYTES + body > longest {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: FRONT_BYTES + body,
                segment_bytes: longest,
            });
        }
        if let Some(out) = &mut self.eager {
            let credit = self.credit.load_eager_credit();
            out.heed(credit).map_err(|(min, max, got)| {
                let how = Misbehaviour::Credit { min, max, got };
                TransportError::PeerMisbehaved { pe: self.peer, how }
            })?;
        }
        Ok(self.has_eager_room(body, held))
    }
}

/// Copies bytes of a message into the eager buffer, behind so many that are there.
#[inline(always)]
fn put_eager(store: &impl LineStore, room: &Room, done: usize, bytes: &[u8]) {
    let [(at, first), (begin, second)] = room.area.ranges(room.position + done as u64, bytes.len());
    store.store_eager(at, &bytes[first], room.is_staged);
    if !second.is_empty() {
        store.store_eager(begin, &bytes[second], room.is_staged);
    }
}
