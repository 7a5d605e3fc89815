//! Asking: an operation on memory of another station, as a state machine that is polled.

use hostwire_transport::PeId;

use super::super::Messages;
use super::super::buffer::{Buffer, Gone};
use super::super::header::ANSWER;
use super::super::pattern::Envelope;
use super::super::receive::COPIED_BYTES_MIN;
use super::super::requests::{Ticket, Work};
use super::lent::Copying;
use super::words::{
    CAN_COPY, COPIES, HAS_DATA, HEADER_BYTES, Header, Message, PLACE_BYTES, WANTS_OLD, What,
    bad_length,
};
use super::{Event, OPERATIONS_MAX};
use crate::error::{Error, Misbehaviour, PeerWord, Result};
use crate::inner::Inner;
use hostwire_station::memory_region::{Atomic, MemoryRegions, Refusal, RegionRange, Rights};

/// What is done to memory of another station.
#[derive(Debug, Clone)]
pub enum Deed {
    /// The bytes of the buffer go there. With data, the program there gets an [`Event`].
    Put {
        /// 8 bytes beside, if there are any.
        data: Option<u64>,
    },
    /// The bytes there come into the buffer.
    Get,
    /// Each number there is changed.
    Atomic {
        /// How.
        atomic: Atomic,
        /// A number for each; none if the operation needs none.
        operands: Vec<u8>,
        /// For operations that compare.
        compares: Vec<u8>,
        /// Whether what was there comes into the buffer.
        wants_old: bool,
    },
}

/// One operation on its way.
pub(crate) struct Asking {
    pub(super) to: PeId,
    deed: Deed,
    pub(super) places: Vec<RegionRange>,
    /// Of all places.
    pub(super) len: usize,
    pub(super) buffer: Box<dyn Buffer>,
    ticket: Option<Ticket>,
    pub(super) state: AskState,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum AskState {
    /// Its place among the operations is not taken.
    Begin,
    /// So many bytes of a put are in the ring.
    Putting(usize),
    /// All of it is in the ring; so many bytes of the answer have come.
    Waiting(usize),
    /// As `Waiting`, and the owner may say where the bytes are.
    MayCopy,
    /// The bytes are copied out of private memory of the owner.
    Copying(Copying),
    /// They have been copied, or cannot be: the owner is to hear it.
    Telling(bool),
    /// It is to say whether they were what was asked for.
    Copied,
    Done,
}

impl Asking {
    /// - `places`: as many bytes as the buffer has, if bytes of it go or come; at most
    ///   [`PLACES_MAX`](super::PLACES_MAX).
    pub(crate) fn new(
        to: PeId,
        deed: Deed,
        places: Vec<RegionRange>,
        buffer: Box<dyn Buffer>,
    ) -> Self {
        let len: u64 = places.iter().map(|place| place.len).sum();
        Self {
            to,
            deed,
            places,
            len: len as usize,
            buffer,
            ticket: None,
            state: AskState::Begin,
        }
    }

    pub(in super::super) fn set_ticket(&mut self, ticket: Ticket) {
        self.ticket = Some(ticket);
    }

    pub(in super::super) fn to(&self) -> PeId {
        self.to
    }

    /// Whether all of it is in the ring: what is sent later may follow.
    pub(in super::super) fn has_left(&self) -> bool {
        !matches!(self.state, AskState::Begin | AskState::Putting(_))
    }

    /// Whether it needs to be polled, because nobody says when it can go on.
    pub(in super::super) fn goes_on_by_itself(&self) -> bool {
        matches!(self.state, AskState::Copying(_) | AskState::Telling(_))
    }

    pub(in super::super) fn envelope(&self, own: PeId) -> Envelope {
        Envelope {
            from: own,
            tag: 0,
            data: 0,
            has_data: false,
            len_bytes: self.len,
        }
    }

    /// What it had. It has ended.
    pub(in super::super) fn take_buffer(&mut self) -> Box<dyn Buffer> {
        // Of no bytes, and so without memory.
        core::mem::replace(&mut self.buffer, Box::new(Gone))
    }

    /// Whether bytes come back into the buffer.
    fn wants_bytes(&self) -> bool {
        let is_some = self.len > 0;
        match self.deed {
            Deed::Put { .. } => false,
            Deed::Get => is_some,
            Deed::Atomic { wants_old, .. } => wants_old && is_some,
        }
    }

    /// Goes on as far as it can. Returns true when it has been done.
    pub(crate) fn poll(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        loop {
            match self.state {
                AskState::Begin if self.to == inner.pe => {
                    self.do_here(inner.pe, messages)?;
                    self.state = AskState::Done;
                }
                AskState::Begin => {
                    if !self.begin(messages)? {
                        return Ok(false);
                    }
                }
                AskState::Putting(sent) => {
                    if !self.put_more(messages, sent)? {
                        return Ok(false);
                    }
                }
                AskState::Copying(copying) => {
                    if !self.copy_more(messages, copying)? {
                        return Ok(false);
                    }
                }
                AskState::Telling(has_copied) => {
                    if !self.tell_owner(messages, has_copied)? {
                        return Ok(false);
                    }
                }
                AskState::Waiting(_) | AskState::MayCopy | AskState::Copied => return Ok(false),
                AskState::Done => return Ok(true),
            }
        }
    }

    /// - `stays`: of a put, the owner gets its bytes.
    fn header(&self, stays: bool) -> Header {
        let mut header = match &self.deed {
            Deed::Put { .. } if stays => Header::new(What::PutFrom),
            Deed::Put { .. } => Header::new(What::Put),
            Deed::Get => Header::new(What::Get),
            Deed::Atomic { .. } => Header::new(What::Atomic),
        };
        match &self.deed {
            Deed::Put { data: Some(data) } => {
                header.flags = HAS_DATA;
                header.word = *data;
            }
            Deed::Atomic {
                atomic, wants_old, ..
            } => {
                header.flags = if *wants_old { WANTS_OLD } else { 0 };
                (header.number, header.change) = (atomic.number as u8, atomic.change as u8);
            }
            _ => {}
        }
        header
    }

    fn begin(&mut self, messages: &mut Messages) -> Result<bool> {
        let Some(ticket) = self.ticket.filter(|_| messages.can_open(self.to)) else {
            return Ok(false);
        };
        let peer = messages.peer(self.to)?;
        let remote = &peer.far().remote;
        if remote.asked.len() >= OPERATIONS_MAX {
            return Ok(false);
        }
        let is_read = remote.is_read && self.len >= COPIED_BYTES_MIN;
        let stays = is_read && messages.wire.lends_private(self.to);
        let is_long_get = matches!(self.deed, Deed::Get) && self.len >= COPIED_BYTES_MIN;
        let may_copy = is_long_get && messages.can_copy(self.to)?;
        if stays {
            // The owner may copy as soon as it reads this.
            messages.wire.fence()?;
        }
        let mut header = self.header(stays);
        if may_copy {
            header.flags = CAN_COPY;
        }
        let mut bytes = header.emit(&self.places);
        let mut now = 0;
        match &self.deed {
            // They stay there until the answer.
            Deed::Put { .. } if stays => {
                let at = self.buffer.bytes().as_ptr() as u64;
                bytes.extend_from_slice(&at.to_le_bytes());
                now = self.len;
            }
            Deed::Put { .. } => {
                let Some(piece) = messages.piece_to(self.to, bytes.len(), self.len)? else {
                    return Ok(false);
                };
                now = piece;
                bytes.extend_from_slice(&self.buffer.bytes()[..now]);
            }
            Deed::Get => {}
            Deed::Atomic {
                operands, compares, ..
            } => {
                bytes.extend_from_slice(operands);
                bytes.extend_from_slice(compares);
            }
        }
        let peer = messages.peer(self.to)?;
        if !peer.sender.try_send_held(ANSWER, 0, &bytes)? {
            return Ok(false);
        }
        peer.far().remote.asked.push_back(ticket);
        self.state = match may_copy {
            true => AskState::MayCopy,
            false => self.behind(now),
        };
        Ok(true)
    }

    /// After so many bytes of a put.
    fn behind(&self, sent: usize) -> AskState {
        match self.deed {
            Deed::Put { .. } if sent < self.len => AskState::Putting(sent),
            _ => AskState::Waiting(0),
        }
    }

    fn put_more(&mut self, messages: &mut Messages, sent: usize) -> Result<bool> {
        let left = self.len - sent;
        let Some(piece) = messages.piece_to(self.to, HEADER_BYTES, left)? else {
            return Ok(false);
        };
        let end = sent + piece;
        let mut bytes = Header::new(What::More).emit(&[]);
        bytes.extend_from_slice(&self.buffer.bytes()[sent..end]);
        let is_sent = (messages.peer(self.to)?.sender).try_send_held(ANSWER, 0, &bytes)?;
        if is_sent {
            self.state = self.behind(end);
        }
        Ok(is_sent)
    }

    /// An operation on memory of this station itself.
    fn do_here(&mut self, own: PeId, messages: &mut Messages) -> Result<()> {
        let done = self.try_here(&messages.remote.regions);
        let did = done.map_err(|why| self.refused(why))?;
        messages.remote.tell(&self.places, did);
        messages.news = true;
        if let Deed::Put { data: Some(data) } = self.deed {
            messages.remote.events.push_back(Event {
                from: own,
                data,
                len_bytes: self.len,
            });
        }
        Ok(())
    }

    fn try_here(&mut self, regions: &MemoryRegions) -> core::result::Result<Rights, Refusal> {
        match &self.deed {
            Deed::Put { .. } => {
                regions.check(&self.places, Rights::WRITE)?;
                // The source may be part of the region.
                let bytes = self.buffer.bytes().to_vec();
                regions.store(&self.places, 0, &bytes)?;
                Ok(Rights::WRITE)
            }
            Deed::Get => {
                regions.check(&self.places, Rights::READ)?;
                let mut bytes = vec![0; self.len];
                regions.load(&self.places, 0, &mut bytes)?;
                self.buffer.bytes_mut().copy_from_slice(&bytes);
                Ok(Rights::READ)
            }
            Deed::Atomic {
                atomic,
                operands,
                compares,
                wants_old,
            } => {
                let did = atomic.rights(*wants_old);
                regions.check(&self.places, did)?;
                let old = regions.change(&self.places, *atomic, operands, compares)?;
                if *wants_old {
                    self.buffer.bytes_mut().copy_from_slice(&old);
                }
                Ok(did)
            }
        }
    }

    /// Whether all bytes are here, and only the owner's word is missing.
    fn has_copied(&self) -> bool {
        matches!(self.state, AskState::Copied)
    }

    fn refused(&self, why: Refusal) -> Error {
        let first = self.places.first().copied();
        let RegionRange { key, at, .. } = first.unwrap_or(RegionRange {
            key: 0,
            at: 0,
            len: 0,
        });
        Error::MemoryRefused {
            pe: self.to,
            key,
            at,
            len_bytes: self.len,
            why,
        }
    }
}

/// The most bytes of a message that does not belong to a put but to the places of one.
const _: () = assert!(HEADER_BYTES + super::PLACES_MAX * PLACE_BYTES < 1024);

impl Messages {
    /// Whether an operation may go to `to`: the two have met, and it is there.
    fn can_open(&self, to: PeId) -> bool {
        let peer = self.peers.get(to);
        peer.is_some_and(|peer| !peer.shut && peer.told)
    }

    /// Asks `to` whether it has taken what stands before this in its ring, by a put of nothing: the answer
    /// ends `ticket`, a send. False if there is no room for it now.
    pub(in super::super) fn ask_whether_taken(&mut self, to: PeId, ticket: Ticket) -> Result<bool> {
        let peer = self.peer(to)?;
        if peer.far().remote.asked.len() >= OPERATIONS_MAX {
            return Ok(false);
        }
        let nothing = Header::new(What::Put).emit(&[]);
        if !peer.sender.try_send_held(ANSWER, 0, &nothing)? {
            return Ok(false);
        }
        peer.far().remote.asked.push_back(ticket);
        Ok(true)
    }

    /// An answer of `pe` to the operation that waits longest for one.
    pub(super) fn heed_memory(&mut self, pe: PeId, message: &Message<'_>) -> Result<()> {
        let word = message.header.word;
        self.peer(pe)?.far().remote.is_read = message.header.flags & COPIES != 0;
        match message.header.what {
            What::Refused => {
                let why = Refusal::from_code(word);
                let why = why.ok_or_else(|| PeerWord::MemoryWord.out_of(1..=4, pe, word))?;
                self.end_asked(pe, |asking| {
                    let asking = asking.ok_or_else(|| unasked(pe))?;
                    Ok(Some(Err(asking.refused(why))))
                })
            }
            What::Done => {
                if word == 0 || word > OPERATIONS_MAX as u64 {
                    return Err(PeerWord::MemoryWord.out_of(1..=OPERATIONS_MAX as u64, pe, word));
                }
                for _ in 0..word {
                    self.end_asked(pe, |asking| match asking {
                        Some(asking) if asking.wants_bytes() && !asking.has_copied() => {
                            Err(bad_length(pe, 0))
                        }
                        _ => Ok(Some(Ok(()))),
                    })?;
                }
                Ok(())
            }
            What::At => self.begin_copying(pe, message),
            _ => self.end_asked(pe, |asking| {
                let asking = asking.ok_or_else(|| unasked(pe))?;
                let got = match asking.state {
                    AskState::Waiting(got) => got,
                    AskState::MayCopy => 0,
                    _ => return Err(unasked(pe)),
                };
                let end = got + message.rest.len();
                let is_wanted = asking.wants_bytes() && !message.rest.is_empty();
                let room = asking.buffer.bytes_mut().get_mut(got..end);
                match room.filter(|_| is_wanted) {
                    Some(room) => room.copy_from_slice(message.rest),
                    None => return Err(bad_length(pe, message.rest.len())),
                }
                asking.state = AskState::Waiting(end);
                Ok((end == asking.len).then_some(Ok(())))
            }),
        }
    }

    /// Looks at the operation that waits longest for an answer of `pe`; ends it if `with` says so. A send that
    /// waits to be taken is none.
    pub(super) fn end_asked(
        &mut self,
        pe: PeId,
        with: impl FnOnce(Option<&mut Asking>) -> Result<Option<Result<()>>>,
    ) -> Result<()> {
        let asked = &self.peer(pe)?.far().remote.asked;
        let ticket = asked.front().copied().ok_or_else(|| unasked(pe))?;
        let Some(mut request) = self.requests.take(ticket) else {
            return Err(unasked(pe));
        };
        let own = self.wire.pe();
        let (looked, envelope) = match &mut request.work {
            // Of a put that has not left nothing is known.
            Work::Ask(asking) if asking.has_left() => (with(Some(asking)), asking.envelope(own)),
            Work::Send(sending) if sending.is_asked() => (with(None), sending.envelope(own)),
            _ => {
                self.requests.put_back(ticket, request);
                return Err(unasked(pe));
            }
        };
        let ended = match looked {
            Ok(Some(ended)) => ended,
            Ok(None) => {
                self.requests.put_back(ticket, request);
                return Ok(());
            }
            Err(error) => {
                self.requests.put_back(ticket, request);
                return Err(error);
            }
        };
        self.peer(pe)?.far().remote.asked.pop_front();
        self.requests
            .finish(ticket, request, ended.map(|()| envelope));
        Ok(())
    }
}

pub(super) fn unasked(pe: PeId) -> Error {
    let how = Misbehaviour::UnaskedMemory;
    Error::PeerMisbehaved { pe, how }
}
