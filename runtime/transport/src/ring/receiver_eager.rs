//! Taking messages out of the [eager buffer](super::eager).

use core::ops::Range;

use super::eager::{self, Area, Front, Incoming, Owed, Summary};
use super::eager_destination::Destination;
use super::receiver::{POLLS_PER_LINE, RingReceiver, Taken};
use super::{CreditStore, FRONT_BYTES, FRONT_WORDS, Head, Header, KIND_CONTINUED, LineLoad};
use crate::error::{Misbehaviour, TransportError};

impl<L: LineLoad, C: CreditStore> RingReceiver<L, C> {
    /// Whether the message that [`peek`](Self::peek) has found is in the eager buffer.
    #[inline(always)]
    pub fn is_eager(&self) -> bool {
        self.eager.as_ref().is_some_and(|it| it.at_hand.is_some())
    }

    /// As [`front_at_once`](Self::front_at_once), of a message in the eager buffer.
    #[inline(always)]
    pub fn eager_front_at_once(&self, tag: u32) -> Option<EagerFront> {
        let (summary, words) = self.eager_line(tag)?;
        Some(EagerFront {
            tag,
            summary,
            words,
        })
    }

    /// Prefetches where the next message is, if it is like the last one, and that was a short one in the eager buffer: for who
    /// looks at the next line again and again. Else its bytes would begin to come only when its line is here, which takes as
    /// long again. Longer ones are left to the sender, who may be storing them.
    #[inline(always)]
    pub fn expect_eager(&self) {
        if let Some((at, len)) = self.eager.as_ref().and_then(|it| it.expected()) {
            self.load.expect_eager(at, len);
        }
    }

    /// Takes the message that [`eager_front_at_once`](Self::eager_front_at_once) has found, without its first `skip` bytes: none, or
    /// [`FRONT_BYTES`]. If it fills `out`, and all of it is there when its line is.
    #[inline(always)]
    pub fn take_eager_at_once(&mut self, front: EagerFront, skip: usize, out: &mut [u8]) -> bool {
        let EagerFront { summary, words, .. } = front;
        let body_len = summary.len_bytes - FRONT_BYTES;
        let is_there = summary.is_whole | (body_len <= eager::PIECE_BYTES);
        if summary.len_bytes != skip + out.len() || !is_there {
            return false;
        }
        let Some(incoming) = &self.eager else {
            return false;
        };
        let (area, position) = incoming.place(body_len, summary.is_whole);
        if incoming.is_to_measure(area, body_len, summary.is_staged) {
            // The long way does that.
            return false;
        }
        let (in_front, body) = out.split_at_mut(FRONT_BYTES - skip);
        if let Ok(in_front) = <&mut [u8; FRONT_BYTES]>::try_from(in_front) {
            for (bytes, word) in in_front.as_chunks_mut().0.iter_mut().zip(words) {
                *bytes = word.to_le_bytes();
            }
        }
        let [(at, first), (begin, second)] = area.ranges(position, body_len);
        self.load
            .eager_bytes(at, &mut body[first], summary.is_staged);
        if !second.is_empty() {
            self.load
                .eager_bytes(begin, &mut body[second], summary.is_staged);
        }
        // No message is at hand, so little is to be worked out anew.
        let owed = (self.eager.as_mut()).map(|it| it.advance(body_len, summary.is_whole));
        self.next.advance();
        if owed != Some(Owed::Little) {
            self.owe(owed);
        }
        true
    }

    /// As [`take_now`](Self::take_now), of a message in the eager buffer.
    #[inline(never)]
    pub(super) fn take_eager_now(
        &mut self,
        (kind, tag): (u8, u32),
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<Taken, TransportError> {
        let found = self.eager_front_at_once(tag).filter(|_| !self.has_head());
        let Some(front) = found else {
            return Ok(Taken::Nothing);
        };
        let len = front.summary.len_bytes;
        if front.summary.kind != kind || len > out.len() || !len.is_multiple_of(element_bytes) {
            return Ok(Taken::Nothing);
        }
        let out = &mut out[..len];
        if self.take_eager_at_once(front, 0, out) {
            return Ok(Taken::All(len));
        }
        match (self.peek()?, self.take_behind(0, out)?) {
            (Some(head), false) => Ok(Taken::Part(head)),
            _ => Ok(Taken::All(len)),
        }
    }

    /// As [`peek`](Self::peek), if the next line is of a message in the eager buffer.
    pub(super) fn peek_eager(&mut self, tag: u32) -> Option<Head> {
        let front = self.eager_front_at_once(tag)?;
        self.eager.as_mut()?.at_hand = Some((front.summary, front.words));
        Some(front.head())
    }

    /// What the next line says, if it is there, has this tag, and is of a message in the eager buffer.
    #[inline(always)]
    fn eager_line(&self, tag: u32) -> Option<Front> {
        let eager = self.eager.as_ref()?.eager;
        let wanted = Header::new(self.next.stamp, KIND_CONTINUED, eager::LINE_BYTES, tag);
        let slot = self.next.slot();
        let [word, words @ ..] = match self.load.plain(self.next.line) {
            Some(_) if self.load.header(slot) != wanted.0 => return None,
            Some(line) => eager::words(line),
            None => self.words_elsewhere(wanted)?,
        };
        Some((Summary::parse(word, eager)?, words))
    }

    /// The first words of the next line, in memory that is not coherent, if it has this header.
    #[cold]
    #[inline(never)]
    fn words_elsewhere(&self, wanted: Header) -> Option<[u64; 1 + FRONT_WORDS]> {
        let slot = self.next.slot();
        if self.load.header(slot) != wanted.0 {
            return None;
        }
        let mut words = [[0; 8]; 1 + FRONT_WORDS];
        self.load.payload(slot, words.as_flattened_mut());
        Some(words.map(u64::from_le_bytes))
    }

    /// As [`take_behind`](Self::take_behind), of a message [in the eager buffer](Self::is_eager), to memory in the segment in which the
    /// ring lies: to so many bytes at `offset_bytes`.
    ///
    /// # Errors
    /// As `take_behind`, and [`TransportError::OutOfRange`] if these bytes do not lie in the segment.
    pub fn take_eager_to_segment(
        &mut self,
        skip: usize,
        offset_bytes: usize,
        room_bytes: usize,
    ) -> Result<bool, TransportError> {
        self.take_eager(skip, Destination::Segment(offset_bytes, room_bytes))
    }

    /// Takes the message at hand, as far as it is there.
    pub(super) fn take_eager(
        &mut self,
        skip: usize,
        mut out: Destination<'_>,
    ) -> Result<bool, TransportError> {
        let mut polls = POLLS_PER_LINE;
        let (len, is_whole) = loop {
            let Some(incoming) = &self.eager else {
                return Ok(false);
            };
            let Some((summary, front)) = incoming.at_hand else {
                return Ok(false);
            };
            let done = self.taken_bytes;
            if done == 0 && skip == 0 {
                out.store_front(&self.load, front)?;
            }
            let len = summary.len_bytes - FRONT_BYTES;
            let (area, begin) = incoming.place(len, summary.is_whole);
            let there = match summary.is_whole {
                true => len,
                false => self.eager_there(incoming, len)?,
            };
            if there > done {
                // What does not fit is dropped.
                let behind = FRONT_BYTES - skip;
                let from = (behind + done).min(out.len());
                let to = (behind + there).min(out.len());
                let place = (area, begin + done as u64);
                match done {
                    0 => self.copy_first(&mut out, place, from..to, summary.is_staged)?,
                    _ => out.copy(&self.load, place, from..to, summary.is_staged)?,
                }
                self.taken_bytes = there;
                polls = POLLS_PER_LINE;
            }
            if there == len {
                break (len, summary.is_whole);
            }
            polls -= 1;
            if polls == 0 {
                return Ok(false);
            }
        };
        self.end_eager(len, is_whole);
        Ok(true)
    }

    /// Copies the first bytes of a message, which are there.
    #[inline(always)]
    fn copy_first(
        &mut self,
        out: &mut Destination<'_>,
        place: (Area, u64),
        to: Range<usize>,
        is_staged: bool,
    ) -> Result<(), TransportError> {
        match &mut self.eager {
            Some(incoming) if incoming.is_to_measure(place.0, to.len(), is_staged) => {
                let (choice, bytes) = (incoming.choice(place.0), to.len());
                choice.watch(is_staged, bytes, || {
                    out.copy(&self.load, place, to, is_staged)
                })
            }
            _ => out.copy(&self.load, place, to, is_staged),
        }
    }

    /// How many bytes of the message at hand, of `len` bytes, are there.
    #[inline(always)]
    fn eager_there(&self, incoming: &Incoming, len: usize) -> Result<usize, TransportError> {
        let said = match len <= eager::PIECE_BYTES {
            true => 0,
            false => self.load.eager_said(),
        };
        incoming.there(said, len).map_err(|got_bytes| {
            self.misbehaved(Misbehaviour::EagerBytes {
                len_bytes: len,
                got_bytes,
            })
        })
    }

    /// The message at hand, of so many bytes in the eager buffer, has been taken.
    #[inline(always)]
    fn end_eager(&mut self, len: usize, is_whole: bool) {
        let Some(incoming) = &mut self.eager else {
            return;
        };
        let owed = incoming.advance(len, is_whole);
        self.next.advance();
        self.taken_bytes = 0;
        self.set_head(None);
        if owed != Owed::Little {
            self.owe(Some(owed));
        }
    }

    /// So much of an area has been taken.
    #[cold]
    #[inline(never)]
    fn owe(&mut self, owed: Option<Owed>) {
        let batch = self.next.slots.credit_batch();
        if self.owed() < batch {
            // So that a short message looks at one number alone.
            self.set_returned(self.next.line.wrapping_sub(batch));
        }
        if owed == Some(Owed::Half) {
            // The message is here whole. What is wrong shows with the next one.
            let _ = self.return_credit();
        }
    }
}

/// The line of a message in the eager buffer.
#[derive(Debug, Clone, Copy)]
pub struct EagerFront {
    tag: u32,
    summary: Summary,
    words: [u64; FRONT_WORDS],
}

impl EagerFront {
    /// What the first line of such a message says elsewhere.
    #[inline(always)]
    pub fn head(self) -> Head {
        Head {
            kind: self.summary.kind,
            tag: self.tag,
            len_bytes: self.summary.len_bytes,
        }
    }

    /// The first words of the message, each with its least byte first.
    #[inline(always)]
    pub fn words(self) -> [u64; FRONT_WORDS] {
        self.words
    }
}
