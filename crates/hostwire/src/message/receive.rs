//! Receiving, as a state machine that is polled.

use hostwire_transport::ring::Head;
use hostwire_transport::{PeId, TransportError};

use super::long::{Announcement, Delivery, expect_count, load_count, pieces, store_count};
use super::{Found, Kind, Messages};
use crate::error::{Error, Result};
use crate::inner::Inner;
use crate::layout::{CHUNK_BYTES, CHUNKS, Mail};

/// Where a message goes.
#[derive(Debug)]
pub(crate) enum Target<'a> {
    /// Private memory of fixed size.
    Bytes(&'a mut [u8]),
    /// Private memory that grows to fit.
    Vec(&'a mut Vec<u8>),
    /// The own segment: offset and room.
    Segment(usize, usize),
}

/// One message on its way in.
pub(crate) struct Receiving<'a> {
    from: PeId,
    kind: Kind,
    tag: u32,
    /// A message must be a multiple of this.
    element_bytes: usize,
    target: Target<'a>,
    /// Private copy of a message that goes to the segment through the ring.
    bounce: Vec<u8>,
    state: State,
}

enum State {
    /// No message that matches has arrived.
    Matching,
    /// Its lines are being taken from the ring.
    Taking(Found, usize),
    /// The line that announces a long one is being taken.
    TakingAnnouncement(Found),
    /// The sender puts it straight to its place.
    Direct(Announcement),
    /// It comes through staging.
    Staged(Announcement, u64),
    Done(usize),
}

impl<'a> Receiving<'a> {
    pub(crate) fn new(
        from: PeId,
        kind: Kind,
        tag: u32,
        element_bytes: usize,
        target: Target<'a>,
    ) -> Self {
        Self {
            from,
            kind,
            tag,
            element_bytes,
            target,
            bounce: Vec::new(),
            state: State::Matching,
        }
    }

    /// Goes on with a message whose first lines are in `target` already.
    pub(crate) fn go_on(mut self, head: Head) -> Self {
        self.state = State::Taking(Found::Ring(head), head.len_bytes);
        self
    }

    /// Whether a message has been matched: from then on it must be polled to its end.
    pub(crate) fn has_begun(&self) -> bool {
        !matches!(self.state, State::Matching)
    }

    /// Goes on as far as it can. Returns the bytes of the message when it is all there.
    #[inline]
    pub(crate) fn poll(&mut self, inner: &Inner, messages: &mut Messages) -> Result<Option<usize>> {
        loop {
            let goes_on = match self.state {
                State::Matching => self.find(messages)?,
                State::Taking(found, len) => self.take(inner, messages, found, len)?,
                State::TakingAnnouncement(found) => self.answer(inner, messages, found)?,
                State::Direct(announcement) => self.finish_direct(inner, announcement)?,
                State::Staged(announcement, taken) => self.unstage(inner, announcement, taken)?,
                State::Done(len) => return Ok(Some(len)),
            };
            if !goes_on {
                return Ok(None);
            }
        }
    }

    #[inline]
    fn find(&mut self, messages: &mut Messages) -> Result<bool> {
        let peer = messages.peer(self.from)?;
        let Some(found) = peer.find(self.kind, self.tag)? else {
            return Ok(false);
        };
        let (len, long) = peer.measure(found)?;
        if long {
            self.state = State::TakingAnnouncement(found);
        } else {
            self.check_length(len)?;
            self.state = State::Taking(found, len);
        }
        Ok(true)
    }

    /// An error, with the message still in place, if it does not fit.
    #[inline]
    fn check_length(&self, message_bytes: usize) -> Result<()> {
        let room_bytes = match &self.target {
            Target::Bytes(bytes) => bytes.len(),
            Target::Vec(_) => usize::MAX,
            Target::Segment(_, room) => *room,
        };
        if message_bytes > room_bytes {
            return Err(Error::MessageTooLong {
                from: self.from,
                message_bytes,
                room_bytes,
            });
        }
        if !message_bytes.is_multiple_of(self.element_bytes) {
            return Err(Error::MessageShape {
                from: self.from,
                message_bytes,
                element_bytes: self.element_bytes,
            });
        }
        Ok(())
    }

    #[inline]
    fn take(
        &mut self,
        inner: &Inner,
        messages: &mut Messages,
        found: Found,
        len: usize,
    ) -> Result<bool> {
        let peer = messages.peer(self.from)?;
        let out = match &mut self.target {
            Target::Bytes(bytes) => &mut bytes[..len],
            Target::Vec(bytes) => {
                bytes.resize(len, 0);
                &mut bytes[..]
            }
            Target::Segment(..) => {
                self.bounce.resize(len, 0);
                &mut self.bounce[..]
            }
        };
        if !peer.take(found, out)? {
            return Ok(false);
        }
        if let Target::Segment(offset, _) = self.target {
            inner.segment().put(offset, &self.bounce)?;
        }
        self.state = State::Done(len);
        Ok(true)
    }

    /// Reads the announcement and tells the sender how to deliver.
    fn answer(&mut self, inner: &Inner, messages: &mut Messages, found: Found) -> Result<bool> {
        let peer = messages.peer(self.from)?;
        let announcement = match found {
            // A look, not a take: the message stays if it does not fit.
            Found::Aside(index) => {
                let bytes = peer.aside.get(index).and_then(|m| m.bytes.first_chunk());
                let Some(bytes) = bytes else { return Ok(false) };
                let announcement = Announcement::parse(self.from, bytes)?;
                self.keep_if_unfit(&announcement)?;
                peer.take(found, &mut [])?;
                announcement
            }
            Found::Ring(_) => {
                // Out of the ring first, then as above.
                if !peer.set_aside()? {
                    return Ok(false);
                }
                self.state = State::TakingAnnouncement(Found::Aside(peer.aside.len() - 1));
                return Ok(true);
            }
        };
        let len = announcement.len_bytes;
        let delivery = if self.fetch(inner, &announcement)? {
            self.state = State::Done(len);
            Delivery::Fetched
        } else if let Target::Segment(offset, _) = self.target {
            self.state = State::Direct(announcement);
            Delivery::Direct(offset)
        } else {
            self.state = State::Staged(announcement, 0);
            Delivery::Staged
        };
        expect_count(inner, self.from, Mail::Delivered, announcement.number)?;
        let mail = |word| inner.layout.mail(inner.pe, word);
        inner.put_word(self.from, mail(Mail::Delivery), delivery.to_word())?;
        inner.put_word(self.from, mail(Mail::Accepted), announcement.number.into())?;
        Ok(true)
    }

    fn keep_if_unfit(&mut self, announcement: &Announcement) -> Result<()> {
        self.check_length(announcement.len_bytes).inspect_err(|_| {
            self.state = State::Matching;
        })
    }

    /// Copies the message straight from the sender's segment, if that can be done.
    fn fetch(&mut self, inner: &Inner, announcement: &Announcement) -> Result<bool> {
        let Some(source) = announcement.source else {
            return Ok(false);
        };
        let Some(window) = inner.load_window(self.from) else {
            return Ok(false);
        };
        let len = announcement.len_bytes;
        window
            .memory()
            .range(source, len)
            .map_err(|_| misplaced(self.from, source, len))?;
        match &mut self.target {
            Target::Bytes(bytes) => window.get(source, &mut bytes[..len])?,
            Target::Vec(bytes) => {
                bytes.resize(len, 0);
                window.get(source, bytes)?;
            }
            Target::Segment(offset, _) => {
                let own = inner.segment().memory();
                own.copy_from(*offset, window.memory(), source, len)?;
            }
        }
        Ok(true)
    }

    fn finish_direct(&mut self, inner: &Inner, announcement: Announcement) -> Result<bool> {
        let number = announcement.number;
        if load_count(inner, self.from, Mail::Delivered, number, 0, 1)? == 0 {
            return Ok(false);
        }
        self.state = State::Done(announcement.len_bytes);
        Ok(true)
    }

    /// Takes the pieces that have arrived out of staging.
    fn unstage(&mut self, inner: &Inner, announcement: Announcement, taken: u64) -> Result<bool> {
        let Announcement {
            number, len_bytes, ..
        } = announcement;
        let all = pieces(len_bytes);
        let most = all.min(taken + CHUNKS);
        let there = load_count(inner, self.from, Mail::Delivered, number, taken, most)?;
        for piece in taken..there {
            let start = piece as usize * CHUNK_BYTES;
            let end = (start + CHUNK_BYTES).min(len_bytes);
            let at = inner.layout.staging() + (piece % CHUNKS) as usize * CHUNK_BYTES;
            let out = match &mut self.target {
                Target::Bytes(bytes) => &mut bytes[start..end],
                Target::Vec(bytes) => {
                    // Grows with what really arrives, whatever was announced.
                    bytes.resize(end, 0);
                    &mut bytes[start..end]
                }
                Target::Segment(..) => &mut [],
            };
            inner.segment().get(at, out)?;
            store_count(inner, self.from, Mail::Freed, number, piece + 1)?;
        }
        self.state = if there == all {
            State::Done(len_bytes)
        } else {
            State::Staged(announcement, there)
        };
        Ok(there > taken)
    }
}

fn misplaced(pe: PeId, source: usize, len: usize) -> Error {
    TransportError::misbehaved(
        pe,
        "source of a long message",
        "bytes in its segment",
        format_args!("{len} bytes at {source}"),
    )
    .into()
}
