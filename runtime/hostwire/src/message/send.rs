//! Sending, as a state machine that is polled.

use hostwire_transport::{PeId, TransportError};

use super::buffer::Buffer;
use super::header::{PREFIX_BYTES, entry};
use super::long::{
    Announcement, DELIVERED, Delivery, Origin, expect_count, load_count, next_to_tell, pieces,
    place, store_count,
};
use super::pattern::Envelope;
use super::requests::Ticket;
use super::{Kind, Messages};
use crate::error::{Error, Misbehaviour, Result};
use crate::inner::Inner;
use crate::layout::{CHUNK_BYTES, CHUNKS, Count};

/// What is sent.
pub(crate) enum Payload<'a> {
    /// Private memory.
    Bytes(&'a [u8]),
    /// The own segment: offset and length.
    Segment(usize, usize),
    /// Private memory that the send owns.
    Owned(Box<dyn Buffer>),
}

impl Payload<'_> {
    fn len_bytes(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Segment(_, len) => *len,
            Self::Owned(buffer) => buffer.bytes().len(),
        }
    }

    /// It, if it is private memory.
    #[inline]
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Owned(buffer) => Some(buffer.bytes()),
            Self::Segment(..) => None,
        }
    }

    fn to_vec(&self, inner: &Inner) -> Result<Vec<u8>> {
        Ok(match *self {
            Self::Segment(offset, len) => {
                let mut bytes = vec![0; len];
                inner.segment().get(offset, &mut bytes)?;
                bytes
            }
            _ => self.bytes().unwrap_or_default().to_vec(),
        })
    }

    /// Puts bytes `start .. start + len` of it to `offset_bytes` in the segment of `pe`.
    fn put(
        &self,
        inner: &Inner,
        pe: PeId,
        offset_bytes: usize,
        start: usize,
        len: usize,
    ) -> Result<()> {
        if let Some(bytes) = self.bytes() {
            return inner.put(pe, offset_bytes, &bytes[start..start + len]);
        }
        match *self {
            Self::Segment(source, _) => inner.put_own(pe, offset_bytes, source + start, len),
            _ => Ok(()),
        }
    }
}

/// One message on its way out.
pub(crate) struct Sending<'a> {
    to: PeId,
    kind: Kind,
    tag: u64,
    data: Option<u64>,
    payload: Payload<'a>,
    /// It ends when its receiver has taken it: not before.
    is_confirmed: bool,
    /// Its name, if it is in the background.
    ticket: Option<Ticket>,
    state: SendState,
}

#[derive(Debug, Clone, Copy)]
enum SendState {
    /// Waiting for room in the ring.
    Begin,
    /// Announced; waiting for the receiver's answer.
    Announced(u32),
    /// Going through staging.
    Staging(Pieces),
    /// All of it is put; the receiver has to hear so.
    Telling,
    /// All of it is in the ring, which has so many lines by then; the receiver is to be asked whether it
    /// has taken it.
    Asking(u64),
    /// The receiver is asked.
    Asked(u64),
    Done,
}

/// How far a message is that goes through staging.
#[derive(Debug, Clone, Copy)]
struct Pieces {
    number: u32,
    past_caches: bool,
    /// Pieces that are put, and those that the receiver has taken out, as far as it has said so.
    put: u64,
    freed: u64,
}

impl<'a> Sending<'a> {
    pub(crate) fn new(to: PeId, kind: Kind, tag: u64, payload: Payload<'a>) -> Self {
        Self {
            to,
            kind,
            tag,
            data: None,
            payload,
            is_confirmed: false,
            ticket: None,
            state: SendState::Begin,
        }
    }

    pub(crate) fn with_data(mut self, data: Option<u64>) -> Self {
        self.data = data;
        self
    }

    /// It ends when a receive has all of it; or, if it is short and no receive takes it, when it is set aside there.
    /// Only in the background.
    pub(crate) fn that_is_confirmed(mut self) -> Self {
        self.is_confirmed = true;
        self
    }

    pub(super) fn set_ticket(&mut self, ticket: Ticket) {
        self.ticket = Some(ticket);
    }

    pub(super) fn to(&self) -> PeId {
        self.to
    }

    /// Whether its place among the messages to that PE is taken.
    pub(super) fn has_begun(&self) -> bool {
        !matches!(self.state, SendState::Begin)
    }

    /// Whether it needs to be polled, because nobody says when it can go on.
    pub(super) fn goes_on_by_itself(&self) -> bool {
        matches!(
            self.state,
            SendState::Staging(_) | SendState::Telling | SendState::Asking(_)
        )
    }

    /// Whether its receiver is asked for nothing but whether it has taken it.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.state, SendState::Asked(_))
    }

    /// Whether its receiver, which has ended, had taken it: all that was missing is a word about that.
    pub(super) fn was_taken(&self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        Ok(match self.state {
            SendState::Announced(number) => {
                let answer = messages.peer(self.to)?.far().unaccepted.take(number);
                answer.is_some_and(|word| {
                    matches!(Delivery::from_word(self.to, word), Ok(Delivery::Fetched))
                })
            }
            SendState::Staging(Pieces {
                number, put, freed, ..
            }) => {
                put == pieces(self.payload.len_bytes())
                    && load_count(inner, self.to, Count::Freed, number, freed, put)? == put
            }
            SendState::Asking(lines) | SendState::Asked(lines) => {
                messages.peer(self.to)?.sender.lines_taken()? >= lines
            }
            SendState::Done => true,
            SendState::Begin | SendState::Telling => false,
        })
    }

    pub(super) fn envelope(&self, own: PeId) -> Envelope {
        Envelope {
            from: own,
            tag: self.tag,
            data: self.data.unwrap_or(0),
            has_data: self.data.is_some(),
            len_bytes: self.payload.len_bytes(),
        }
    }

    /// The number of its announcement, if its receiver has not answered that.
    pub(super) fn unanswered(&self) -> Option<u32> {
        match self.state {
            SendState::Announced(number) => Some(number),
            _ => None,
        }
    }

    /// Its caller waits no longer. What its receiver knows of goes on without it, with a copy of the bytes.
    pub(crate) fn give_up(self, inner: &Inner, messages: &mut Messages) -> Result<()> {
        if matches!(self.state, SendState::Begin | SendState::Done) {
            return Ok(());
        }
        let bytes = Box::new(self.payload.to_vec(inner)?);
        let mut rest = Sending::new(self.to, self.kind, self.tag, Payload::Owned(bytes));
        (rest.data, rest.state) = (self.data, self.state);
        messages.adopt_send(rest);
        Ok(())
    }

    /// The memory that it owns. It has ended.
    pub(super) fn take_buffer(&mut self) -> Option<Box<dyn Buffer>> {
        match core::mem::replace(&mut self.payload, Payload::Bytes(&[])) {
            Payload::Owned(buffer) => Some(buffer),
            _ => None,
        }
    }

    /// Goes on as far as it can. Returns true when the payload may be reused.
    #[inline]
    pub(crate) fn poll(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        loop {
            let goes_on = match self.state {
                SendState::Begin => self.begin(inner, messages)?,
                SendState::Announced(number) => self.deliver(inner, messages, number)?,
                SendState::Staging(pieces) => self.stage(inner, pieces)?,
                SendState::Telling => self.finish(messages.flush(self.to)?),
                SendState::Asking(lines) => self.ask(messages, lines)?,
                SendState::Asked(_) => false,
                SendState::Done => return Ok(true),
            };
            if !goes_on {
                return Ok(false);
            }
        }
    }

    fn finish(&mut self, now: bool) -> bool {
        if now {
            self.state = SendState::Done;
        }
        now
    }

    #[inline]
    fn begin(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        if !messages.open(self.to)? {
            return Ok(false);
        }
        // Those in the background that were started before go first.
        if self.ticket.is_none()
            && messages.peer(self.to)?.has_outbox()
            && !messages.send_outbox(inner, self.to)?
        {
            return Ok(false);
        }
        if self.to == inner.pe {
            let bytes = self.payload.to_vec(inner)?;
            let message = (self.kind, self.envelope(inner.pe));
            messages.send_to_self(inner, message, bytes)?;
            return Ok(self.finish(true));
        }
        let peer = messages.peer(self.to)?;
        let (kind, prefix) = entry(self.kind, self.tag, self.data);
        let len = self.payload.len_bytes() + prefix.map_or(0, |_| PREFIX_BYTES);
        // It need not be copied twice, where that takes longer than an answer of the receiver.
        let is_fetched =
            matches!(self.payload, Payload::Segment(..)) && !peer.sender.is_eager_whole();
        if !is_fetched && peer.sender.wants_eager(len) {
            messages.ask_for_room(self.to)?;
        }
        let peer = messages.peer(self.to)?;
        let is_sent = match is_fetched {
            true => len <= peer.sender.ring_bytes_max(),
            false => peer.sender.takes(len),
        };
        if !is_sent {
            return self.announce(inner, messages);
        }
        if !peer.sender.has_room_for(len, false)? {
            return match peer.sender.is_held() {
                true => self.announce(inner, messages),
                false => Ok(false),
            };
        }
        let copied = match &self.payload {
            Payload::Segment(..) => Some(self.payload.to_vec(inner)?),
            _ => None,
        };
        let bytes = copied.as_deref().or(self.payload.bytes());
        let (tag, bytes) = (self.tag as u32, bytes.unwrap_or_default());
        let sent = peer.sender.try_send_whole(kind, tag, prefix, bytes)?;
        if sent && self.is_confirmed {
            self.state = SendState::Asking(peer.sender.lines_stored());
            return Ok(true);
        }
        Ok(self.finish(sent))
    }

    /// Asks the receiver, behind the message, whether it has taken it.
    fn ask(&mut self, messages: &mut Messages, lines: u64) -> Result<bool> {
        let Some(ticket) = self.ticket else {
            return Ok(self.finish(true));
        };
        if messages.ask_whether_taken(self.to, ticket)? {
            self.state = SendState::Asked(lines);
        }
        Ok(false)
    }

    /// Says that there is a message, and leaves it here until its receiver wants it.
    #[cold]
    fn announce(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        let peer = messages.peer(self.to)?;
        let announcement = Announcement {
            number: peer.announced.wrapping_add(1),
            len_bytes: self.payload.len_bytes(),
            source: match &self.payload {
                Payload::Segment(offset, _) => Origin::Segment(*offset),
                // They stay there until the receiver has answered.
                Payload::Owned(buffer) if inner.wire.lends_private(self.to) => {
                    Origin::Private(buffer.bytes().as_ptr() as u64)
                }
                _ => Origin::Hidden,
            },
            data: self.data,
            tag_high: (self.tag >> 32) as u32,
        };
        // The receiver may load the source as soon as it reads this.
        inner.wire.fence()?;
        let (kind, tag) = (self.kind.announced(), self.tag as u32);
        let (line, len) = announcement.emit();
        if !peer.sender.try_send_held(kind, tag, &line[..len])? {
            return Ok(false);
        }
        peer.announced = announcement.number;
        peer.sender.has_announced(announcement.len_bytes);
        peer.far().unaccepted.add(announcement.number, self.ticket);
        self.state = SendState::Announced(announcement.number);
        Ok(true)
    }

    /// Looks for the receiver's answer and does what it says.
    fn deliver(&mut self, inner: &Inner, messages: &mut Messages, number: u32) -> Result<bool> {
        if self.ticket.is_none() && !messages.is_idle(self.to) {
            messages.pump(inner, self.to, None)?;
        }
        let Some(word) = messages.peer(self.to)?.far().unaccepted.take(number) else {
            return Ok(false);
        };
        self.state = match Delivery::from_word(self.to, word)? {
            Delivery::Fetched => SendState::Done,
            Delivery::Direct(offset) => {
                let len = self.payload.len_bytes();
                self.payload
                    .put(inner, self.to, offset, 0, len)
                    .map_err(|error| misplaced(error, self.to, offset, len))?;
                messages.answer(self.to, number, DELIVERED)?;
                SendState::Telling
            }
            Delivery::Staged { past_caches } => {
                expect_count(inner, self.to, Count::Freed, number)?;
                SendState::Staging(Pieces {
                    number,
                    past_caches,
                    put: 0,
                    freed: 0,
                })
            }
        };
        Ok(true)
    }

    /// Puts as many pieces as staging has room for.
    fn stage(&mut self, inner: &Inner, at_hand: Pieces) -> Result<bool> {
        let Pieces {
            number,
            past_caches,
            put,
            freed,
        } = at_hand;
        let len = self.payload.len_bytes();
        let all = pieces(len);
        let freed = load_count(inner, self.to, Count::Freed, number, freed, put)?;
        let may = all.min(freed + CHUNKS);
        let mut piece = put;
        while piece < may {
            let next = next_to_tell(inner, self.to, piece, all).min(may);
            let at = place(inner, piece);
            let start = piece as usize * CHUNK_BYTES;
            let end = len.min(next as usize * CHUNK_BYTES);
            match self.payload.bytes() {
                Some(bytes) => {
                    inner.put_pieces(self.to, at, &bytes[start..end], past_caches)?;
                }
                None => self.payload.put(inner, self.to, at, start, end - start)?,
            }
            store_count(inner, self.to, Count::Delivered, number, next)?;
            piece = next;
        }
        let is_done = may == all && (!self.is_confirmed || freed == all);
        self.state = if is_done {
            SendState::Done
        } else {
            SendState::Staging(Pieces {
                put: may,
                freed,
                ..at_hand
            })
        };
        Ok(may > put || is_done)
    }
}

/// The peer is at fault for a place that it does not have, and for nothing else.
fn misplaced(error: Error, to: PeId, offset_bytes: usize, len_bytes: usize) -> Error {
    match error {
        Error::Misused(TransportError::OutOfRange { .. }) => Error::PeerMisbehaved {
            pe: to,
            how: Misbehaviour::Destination {
                offset_bytes,
                len_bytes,
            },
        },
        other => other,
    }
}
