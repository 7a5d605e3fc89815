//! Receiving, as a state machine that is polled.

use std::time::Instant;

use hostwire_transport::PeId;
use hostwire_transport::ring::{Head, Taken};

use super::Messages;
use super::buffer::Buffer;
use super::header::{Form, Header};
use super::long::{
    Announcement, Delivery, Origin, copy_out, expect_count, is_coherent, load_count, next_to_tell,
    pieces, store_count, unless_lost,
};
use super::matching::Found;
use super::pattern::{Envelope, Pattern};
use super::peer::{Arriving, Aside, Body};
use super::requests::{Ticket, named};
use super::target::Target;
use crate::error::{Error, Misbehaviour, Result};
use crate::inner::Inner;
use crate::layout::{CHUNK_BYTES, CHUNKS, Count};

/// Messages from this length on are copied straight from private memory of their sender: see
/// bench/results/2026-11-23-mpi.
pub(super) const COPIED_BYTES_MIN: usize = 64 << 10;
/// As much at a time, so that one message does not keep the others.
pub(super) const COPIED_BYTES: usize = 1 << 20;
/// Messages from this length on are put to symmetric memory by their senders. Shorter ones are there earlier through the eager
/// buffer. Fitted.
const PUT_BYTES_MIN: usize = 8 << 10;

/// How a long message comes, if it can.
fn wanted(announcement: Announcement) -> RecvState {
    match announcement.source {
        Origin::Private(_) if announcement.len_bytes >= COPIED_BYTES_MIN => {
            RecvState::Copying(announcement, 0)
        }
        _ => RecvState::Accepting(announcement),
    }
}

/// One message on its way in.
pub(crate) struct Receiving<'a> {
    pattern: Pattern,
    /// A message must be a multiple of this.
    element_bytes: usize,
    target: Target<'a>,
    /// Of a message that is too long it takes the beginning.
    cuts: bool,
    /// Private copy of a message that goes to the segment through the ring.
    bounce: Vec<u8>,
    /// Its name, if it is in the background.
    ticket: Option<Ticket>,
    /// What is known of the message, once there is one.
    envelope: Envelope,
    state: RecvState,
}

#[derive(Debug, Clone, Copy)]
enum RecvState {
    /// No message that matches has arrived.
    Matching,
    /// Its lines are being taken from the ring, without so many bytes at the front.
    Taking(usize),
    /// It is a long one, and its sender waits to hear how it is wanted.
    Accepting(Announcement),
    /// It is being copied out of private memory of its sender: so many bytes of it have been.
    Copying(Announcement, usize),
    /// The sender puts it straight to its place.
    Direct(u32),
    /// It comes through staging: so many pieces of it have been taken out, and whether they come past the caches.
    Staged(Announcement, u64, bool),
    /// It is all there; its sender has to hear so.
    Telling,
    Done,
}

impl<'a> Receiving<'a> {
    pub(crate) fn new(pattern: Pattern, element_bytes: usize, target: Target<'a>) -> Self {
        Self {
            pattern,
            element_bytes,
            target,
            cuts: false,
            bounce: Vec::new(),
            ticket: None,
            envelope: Envelope {
                from: 0,
                tag: 0,
                data: 0,
                has_data: false,
                len_bytes: 0,
            },
            state: RecvState::Matching,
        }
    }

    /// Becomes a new one, of bytes, that cuts.
    #[inline(always)]
    pub(super) fn begin_anew(&mut self, pattern: Pattern, target: Target<'a>, ticket: Ticket) {
        self.pattern = pattern;
        self.element_bytes = 1;
        match core::mem::replace(&mut self.target, target) {
            // So it is: one that has ended has given it away. Then nothing is called.
            Target::Nowhere => {}
            old => drop(old),
        }
        self.cuts = true;
        self.drop_bounce();
        self.ticket = Some(ticket);
        self.state = RecvState::Matching;
    }

    /// Mostly there is none.
    #[inline(always)]
    fn drop_bounce(&mut self) {
        if self.bounce.capacity() > 0 {
            self.bounce = Vec::new();
        }
    }

    /// The memory for so many bytes, if it is as simple as that.
    #[inline(always)]
    pub(super) fn room_for(&mut self, len: usize) -> Option<&mut [u8]> {
        match &mut self.target {
            Target::Owned(buffer) if self.element_bytes == 1 => buffer.bytes_mut().get_mut(..len),
            _ => None,
        }
    }

    /// Takes the beginning of a message that is too long, and drops the rest.
    pub(crate) fn that_cuts(mut self) -> Self {
        self.cuts = true;
        self
    }

    /// Goes on with a message of `from` whose first lines are in `target` already.
    pub(super) fn go_on(mut self, from: PeId, head: Head) -> Self {
        self.take_over(from, head.tag, head.len_bytes, RecvState::Taking(0));
        self
    }

    fn take_over(&mut self, from: PeId, tag: u32, len_bytes: usize, state: RecvState) {
        self.envelope = Envelope {
            from,
            tag: tag.into(),
            data: 0,
            has_data: false,
            len_bytes,
        };
        self.state = state;
    }

    /// The mark of the buffer that it owns.
    pub(super) fn mark(&self) -> Option<usize> {
        match &self.target {
            Target::Owned(buffer) | Target::Cut(buffer, _) => Some(buffer.mark()),
            _ => None,
        }
    }

    /// Its message has so many bytes: what is behind them, if it is for several.
    #[inline(always)]
    pub(super) fn take_rest(&mut self, len_bytes: usize) -> Option<Box<dyn Buffer>> {
        match &mut self.target {
            Target::Owned(buffer) => buffer.behind(len_bytes),
            _ => None,
        }
    }

    /// Whether a message has been matched: from then on it must be polled to its end.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.state, RecvState::Matching)
    }

    /// Whether its lines are being taken from the ring.
    pub(super) fn takes_lines(&self) -> bool {
        matches!(self.state, RecvState::Taking(_))
    }

    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    pub(super) fn set_ticket(&mut self, ticket: Ticket) {
        self.ticket = Some(ticket);
    }

    /// Whose message it is or has to be, if that is known.
    pub(super) fn peer(&self) -> Option<PeId> {
        match self.has_begun() {
            true => Some(self.envelope.from),
            false => named(self.pattern.from),
        }
    }

    /// Whether it needs to be polled, because nobody says when it can go on.
    pub(super) fn goes_on_by_itself(&self) -> bool {
        use RecvState::{Accepting, Copying, Staged, Telling};
        matches!(
            self.state,
            Accepting(_) | Copying(..) | Staged(..) | Telling
        )
    }

    /// The memory that it owns. It has ended.
    #[inline(always)]
    pub(super) fn take_buffer(&mut self) -> Option<Box<dyn Buffer>> {
        self.drop_bounce();
        match core::mem::replace(&mut self.target, Target::Nowhere) {
            Target::Owned(buffer) => Some(buffer),
            other => other.into_buffer(),
        }
    }

    /// Goes on as far as it can. Returns what is known of the message when it is all there.
    #[inline]
    pub(crate) fn poll(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
    ) -> Result<Option<Envelope>> {
        loop {
            let goes_on = match self.state {
                RecvState::Matching => self.find(inner, messages)?,
                RecvState::Taking(skip) => self.take(inner, messages, skip)?,
                RecvState::Accepting(announcement) => self.accept(inner, messages, announcement)?,
                RecvState::Copying(announcement, done) => {
                    self.copy(inner, messages, announcement, done)?
                }
                RecvState::Direct(number) => self.finish_direct(inner, messages, number)?,
                RecvState::Staged(announcement, taken, past_caches) => {
                    self.unstage(inner, messages, announcement, (taken, past_caches))?
                }
                RecvState::Telling => self.finish(messages.flush(self.envelope.from)?),
                RecvState::Done => return Ok(Some(self.envelope)),
            };
            if !goes_on {
                return Ok(None);
            }
        }
    }

    fn finish(&mut self, now: bool) -> bool {
        if now {
            self.state = RecvState::Done;
        }
        now
    }

    #[inline]
    fn find(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        if let Some((from, tag)) = self.pattern.exactly() {
            if messages.is_idle(from) {
                return Ok(false);
            }
            if let Target::Bytes(out) = &mut self.target {
                let (kind, element_bytes) = (self.pattern.kind, self.element_bytes);
                match messages.receive_now(from, kind, tag, element_bytes, out)? {
                    Taken::All(len_bytes) => {
                        self.take_over(from, tag, len_bytes, RecvState::Done);
                        return Ok(true);
                    }
                    Taken::Part(head) => {
                        self.take_over(from, tag, head.len_bytes, RecvState::Taking(0));
                        return Ok(true);
                    }
                    Taken::Nothing => {}
                }
            }
        }
        match messages.find(inner, &self.pattern)? {
            None => Ok(false),
            Some(found) => self.start(inner, messages, found).map(|()| true),
        }
    }

    /// Takes a message that was found for its own.
    pub(super) fn start(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        found: Found,
    ) -> Result<()> {
        match found {
            Found::Ring(front) => self.begin(messages, &front),
            Found::Aside(pe, index) => self.begin_aside(inner, messages, pe, index),
        }
    }

    /// As [`start`](Self::start), and gives what is behind the message, if it is for several.
    pub(super) fn start_one_of_several(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        found: Found,
    ) -> Result<Option<Box<dyn Buffer>>> {
        self.start(inner, messages, found)?;
        Ok(match self.has_begun() {
            true => self.take_rest(self.envelope.len_bytes),
            false => None,
        })
    }

    /// Takes the message whose first line is next in a ring for its own.
    #[inline]
    pub(super) fn begin(&mut self, messages: &mut Messages, front: &Header) -> Result<()> {
        self.check_length(&front.envelope)?;
        let peer = messages.peer(front.envelope.from)?;
        match front.form {
            Form::Whole(skip) => {
                peer.arriving = match self.ticket {
                    None => Arriving::Caller,
                    Some(ticket) => Arriving::Request(ticket),
                };
                peer.settle();
                self.state = RecvState::Taking(skip);
            }
            Form::Announced(announcement) => {
                peer.take_announcement(&announcement)?;
                self.state = wanted(announcement);
            }
        }
        self.envelope = front.envelope;
        Ok(())
    }

    fn begin_aside(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        pe: PeId,
        index: usize,
    ) -> Result<()> {
        if let Some(envelope) = messages.peer(pe)?.aside.get(index).map(|a| a.envelope) {
            self.check_length(&envelope)?;
        }
        match messages.take_aside(pe, index)? {
            Some(aside) => self.take_aside(inner, messages, aside),
            None => Ok(()),
        }
    }

    /// Takes a message that was set aside.
    pub(super) fn take_aside(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        aside: Aside,
    ) -> Result<()> {
        self.check_length(&aside.envelope)?;
        match aside.body {
            Body::Whole(bytes) => {
                self.take_bytes(inner, aside.envelope, &bytes)?;
                messages.spare.give(bytes);
            }
            Body::Announced(announcement) => self.state = wanted(announcement),
        }
        self.envelope = aside.envelope;
        Ok(())
    }

    /// Takes a message that is in private memory.
    pub(super) fn take_bytes(
        &mut self,
        inner: &Inner,
        envelope: Envelope,
        bytes: &[u8],
    ) -> Result<()> {
        self.check_length(&envelope)?;
        match self.target {
            Target::Segment(offset, _) => inner.segment().put(offset, bytes)?,
            Target::Nowhere => {}
            _ => self.target.part(0, bytes.len()).copy_from_slice(bytes),
        }
        self.envelope = envelope;
        self.state = RecvState::Done;
        Ok(())
    }

    /// An error, with the message still in place, if it does not fit.
    #[inline]
    fn check_length(&mut self, envelope: &Envelope) -> Result<()> {
        let Envelope {
            from,
            tag,
            len_bytes: message_bytes,
            ..
        } = *envelope;
        let room_bytes = self.target.room_bytes();
        if message_bytes > room_bytes && self.cuts {
            let target = core::mem::replace(&mut self.target, Target::Nowhere);
            self.target = match target {
                Target::Owned(buffer) => Target::Cut(buffer, Vec::new()),
                other => other,
            };
        } else if message_bytes > room_bytes {
            return Err(Error::MessageTooLong {
                from,
                tag,
                message_bytes,
                room_bytes,
            });
        }
        if !message_bytes.is_multiple_of(self.element_bytes) {
            return Err(Error::MessageShape {
                from,
                tag,
                message_bytes,
                element_bytes: self.element_bytes,
            });
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, inner: &Inner, messages: &mut Messages, skip: usize) -> Result<bool> {
        let len = self.envelope.len_bytes;
        let peer = messages.peer(self.envelope.from)?;
        let taken = match &mut self.target {
            Target::Segment(offset, _) if peer.receiver.is_eager() => {
                peer.receiver.want_announced(len >= PUT_BYTES_MIN)?;
                peer.receiver.take_eager_to_segment(skip, *offset, len)?
            }
            Target::Segment(offset, _) => {
                self.bounce.resize(len, 0);
                let taken = peer.receiver.take_behind(skip, &mut self.bounce)?;
                if taken {
                    inner.segment().put_unannounced(*offset, &self.bounce)?;
                }
                taken
            }
            target => peer.receiver.take_behind(skip, target.part(0, len))?,
        };
        if !taken {
            return Ok(false);
        }
        peer.arriving = Arriving::Nothing;
        peer.settle();
        messages.news = true;
        if let Target::Segment(offset, _) = self.target {
            // Other threads of this PE may wait for what is there.
            inner.segment().stored(offset, len);
        }
        self.state = RecvState::Done;
        Ok(true)
    }

    /// Tells the sender of a long message how to deliver it.
    fn accept(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        announcement: Announcement,
    ) -> Result<bool> {
        let (from, number) = (self.envelope.from, announcement.number);
        let delivery = if self.fetch(inner, &announcement)? {
            self.state = RecvState::Telling;
            Delivery::Fetched
        } else if let Target::Segment(offset, _) = self.target {
            messages
                .peer(from)?
                .far()
                .undelivered
                .add(number, self.ticket);
            self.state = RecvState::Direct(number);
            let is_long = announcement.len_bytes >= PUT_BYTES_MIN;
            messages.peer(from)?.receiver.want_announced(is_long)?;
            Delivery::Direct(offset)
        } else if messages.take_staging(inner, from, number) {
            // The eager buffer is the faster way, if the message is not too long for it.
            messages.peer(from)?.receiver.want_announced(false)?;
            expect_count(inner, from, Count::Delivered, number)?;
            let past_caches = match is_coherent(inner, from) {
                true => messages.peer(from)?.far().past_caches.next(),
                false => true,
            };
            if matches!(wanted(announcement), RecvState::Copying(..)) {
                let far = messages.peer(from)?.far();
                let is_measured = far.through_staging.choice.is_new(true);
                far.measured = is_measured.then(|| (number, Instant::now()));
            }
            self.state = RecvState::Staged(announcement, 0, past_caches);
            Delivery::Staged { past_caches }
        } else {
            return Ok(false);
        };
        messages.answer(from, number, delivery.to_word())?;
        Ok(true)
    }

    /// Copies the message straight from the sender's segment, if that can be done.
    fn fetch(&mut self, inner: &Inner, announcement: &Announcement) -> Result<bool> {
        let Origin::Segment(source) = announcement.source else {
            return Ok(false);
        };
        let from = self.envelope.from;
        let Some(window) = inner.load_window(from) else {
            return Ok(false);
        };
        let len = announcement.len_bytes;
        window
            .memory()
            .range(source, len)
            .map_err(|_| misplaced(from, source, len))?;
        match &mut self.target {
            Target::Segment(offset, _) => {
                let own = inner.segment();
                own.copy_from(*offset, window, source, len)?;
            }
            Target::Nowhere => {}
            target => window.get(source, target.part(0, len))?,
        }
        Ok(true)
    }

    /// Copies a piece of the message straight from private memory of the sender. Where that cannot be
    /// done, the message comes in another way, from its beginning.
    fn copy(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        announcement: Announcement,
        done: usize,
    ) -> Result<bool> {
        let (from, number) = (self.envelope.from, announcement.number);
        let (Origin::Private(address), Some(room)) = (announcement.source, self.target.room())
        else {
            self.state = RecvState::Accepting(announcement);
            return Ok(true);
        };
        let far = messages.peer(from)?.far();
        if done == 0 && far.through_staging.next() {
            self.state = RecvState::Accepting(announcement);
            return Ok(true);
        }
        let len = announcement.len_bytes.min(room.len());
        let end = len.min(done + COPIED_BYTES);
        let at = address.wrapping_add(done as u64);
        let mut copy = || end == done || inner.wire.copy_private(from, at, &mut room[done..end]);
        let is_copied = match done {
            0 => far.through_staging.choice.watch(false, end, copy),
            _ => copy(),
        };
        if !is_copied {
            self.state = RecvState::Accepting(announcement);
            return Ok(true);
        }
        if end < len {
            // Others get on meanwhile; and nobody but this PE wakes it to go on with it.
            self.state = RecvState::Copying(announcement, end);
            inner.segment().notify();
            return Ok(self.ticket.is_none());
        }
        self.target.fill();
        self.state = RecvState::Telling;
        messages.answer(from, number, Delivery::Fetched.to_word())?;
        Ok(true)
    }

    fn finish_direct(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        number: u32,
    ) -> Result<bool> {
        let from = self.envelope.from;
        if self.ticket.is_none() {
            messages.flush(from)?;
            if !messages.is_idle(from) {
                messages.pump(inner, from, None)?;
            }
        }
        let said = messages.peer(from)?.far().undelivered.take(number);
        Ok(self.finish(said.is_some()))
    }

    /// Takes the pieces that have arrived out of staging.
    fn unstage(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        announcement: Announcement,
        (taken, past_caches): (u64, bool),
    ) -> Result<bool> {
        let Announcement {
            number, len_bytes, ..
        } = announcement;
        let from = self.envelope.from;
        if messages.peer(from)?.has_backlog() {
            unless_lost(messages.flush(from))?;
        }
        let all = pieces(len_bytes);
        let most = all.min(taken + CHUNKS);
        let there = load_count(inner, from, Count::Delivered, number, taken, most)?;
        let mut piece = taken;
        while piece < there {
            let next = next_to_tell(inner, from, piece, all).min(there);
            let start = piece as usize * CHUNK_BYTES;
            let end = len_bytes.min(next as usize * CHUNK_BYTES);
            let part = self.target.part(start, end);
            copy_out(inner, messages.peer(from)?, (piece, past_caches), part)?;
            unless_lost(store_count(inner, from, Count::Freed, number, next))?;
            piece = next;
        }
        self.state = if there == all {
            let far = messages.peer(from)?.far();
            if let Some((_, since)) = far.measured.take_if(|(of, _)| *of == number) {
                let choice = &mut far.through_staging.choice;
                choice.note(true, len_bytes, since.elapsed());
            }
            messages.free_staging(from, number);
            RecvState::Done
        } else {
            RecvState::Staged(announcement, there, past_caches)
        };
        // One without bytes has no piece.
        Ok(there > taken || there == all)
    }

    /// Has nothing to do with its peer any more, which has failed.
    pub(super) fn let_go(&mut self, messages: &mut Messages) {
        if let RecvState::Staged(Announcement { number, .. }, ..) = self.state {
            messages.free_staging(self.envelope.from, number);
        }
    }

    /// Its caller waits no longer. What its peer is in the middle of goes on without it.
    pub(crate) fn give_up(mut self, inner: &Inner, messages: &mut Messages) {
        match self.state {
            RecvState::Matching | RecvState::Done => {}
            _ if !inner.is_there(self.envelope.from) => self.let_go(messages),
            state => {
                let mut rest = Receiving::new(self.pattern, 1, Target::Nowhere);
                (rest.envelope, rest.state) = (self.envelope, state);
                messages.adopt(rest);
            }
        }
    }
}

impl Messages {
    /// Takes the staging memory for a message, if nobody has it who could still use it.
    fn take_staging(&mut self, inner: &Inner, from: PeId, number: u32) -> bool {
        let is_free = self.staging.is_none_or(|(pe, _)| !inner.is_there(pe));
        if is_free {
            self.staging = Some((from, number));
        }
        is_free
    }

    /// `pe` uses it no more.
    pub(super) fn free_staging_of(&mut self, pe: PeId) {
        if let Some((from, number)) = self.staging
            && from == pe
        {
            self.free_staging(from, number);
        }
    }

    fn free_staging(&mut self, from: PeId, number: u32) {
        if self.staging == Some((from, number)) {
            self.staging = None;
            self.news = true;
        }
    }
}

fn misplaced(pe: PeId, offset_bytes: usize, len_bytes: usize) -> Error {
    let how = Misbehaviour::Source {
        offset_bytes,
        len_bytes,
    };
    Error::PeerMisbehaved { pe, how }
}
