//! Sending, as a state machine that is polled.

use hostwire_transport::{PeId, TransportError};

use super::long::{Announcement, Delivery, expect_count, load_count, pieces, store_count};
use super::{Kind, Messages};
use crate::error::Result;
use crate::inner::Inner;
use crate::layout::{CHUNK_BYTES, CHUNKS, Mail, NOT_YET};

/// What is sent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// Private memory.
    Bytes(&'a [u8]),
    /// The own segment: offset and length.
    Segment(usize, usize),
}

impl Source<'_> {
    fn len_bytes(self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Segment(_, len) => len,
        }
    }

    /// Puts bytes `start .. start + len` of it to `offset_bytes` in the segment of `pe`.
    fn put(
        self,
        inner: &Inner,
        pe: PeId,
        offset_bytes: usize,
        start: usize,
        len: usize,
    ) -> Result<()> {
        match self {
            Self::Bytes(bytes) => inner.put(pe, offset_bytes, &bytes[start..start + len]),
            Self::Segment(source, _) => match inner.window(pe) {
                Some(window) => {
                    window.memory().copy_from(
                        offset_bytes,
                        inner.segment().memory(),
                        source + start,
                        len,
                    )?;
                    window.stored(offset_bytes, len);
                    Ok(())
                }
                None => {
                    let mut bytes = vec![0; len];
                    inner.segment().get(source + start, &mut bytes)?;
                    inner.put(pe, offset_bytes, &bytes)
                }
            },
        }
    }
}

/// One message on its way out.
pub(crate) struct Sending<'a> {
    to: PeId,
    kind: Kind,
    tag: u32,
    source: Source<'a>,
    state: State,
}

enum State {
    /// Waiting for room in the ring.
    Begin,
    /// Announced; waiting for the receiver's answer.
    Announced(u32),
    /// Going through staging.
    Staging {
        number: u32,
        put: u64,
        freed: u64,
    },
    Done,
}

impl<'a> Sending<'a> {
    pub(crate) fn new(to: PeId, kind: Kind, tag: u32, source: Source<'a>) -> Self {
        Self {
            to,
            kind,
            tag,
            source,
            state: State::Begin,
        }
    }

    /// Goes on as far as it can. Returns true when the source may be reused.
    #[inline]
    pub(crate) fn poll(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        loop {
            match self.state {
                State::Begin => {
                    if !self.begin(inner, messages)? {
                        return Ok(false);
                    }
                }
                State::Announced(number) => {
                    if !self.deliver(inner, number)? {
                        return Ok(false);
                    }
                }
                State::Staging { number, put, freed } => {
                    if !self.stage(inner, number, put, freed)? {
                        return Ok(false);
                    }
                }
                State::Done => return Ok(true),
            }
        }
    }

    #[inline]
    fn begin(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        messages.open(self.to)?;
        let peer = messages.peer(self.to)?;
        if let Source::Bytes(bytes) = self.source
            && bytes.len() <= peer.sender.message_bytes_max()
            && self.to != inner.pe
        {
            if !peer.sender.try_send(self.kind.whole(), self.tag, bytes)? {
                return Ok(false);
            }
            self.state = State::Done;
            return Ok(true);
        }
        self.begin_otherwise(inner, messages)
    }

    #[cold]
    fn begin_otherwise(&mut self, inner: &Inner, messages: &mut Messages) -> Result<bool> {
        let peer = messages.peer(self.to)?;
        let len_bytes = self.source.len_bytes();
        let fits = len_bytes <= peer.sender.message_bytes_max();
        if self.to == inner.pe || fits {
            let bytes = match self.source {
                Source::Bytes(bytes) => bytes.to_vec(),
                Source::Segment(offset, len) => {
                    let mut bytes = vec![0; len];
                    inner.segment().get(offset, &mut bytes)?;
                    bytes
                }
            };
            if self.to == inner.pe {
                peer.send_to_self(self.kind, self.tag, bytes);
            } else if !peer.sender.try_send(self.kind.whole(), self.tag, &bytes)? {
                return Ok(false);
            }
            self.state = State::Done;
            return Ok(true);
        }
        let announcement = Announcement {
            number: peer.announced.wrapping_add(1),
            len_bytes,
            source: match self.source {
                Source::Bytes(_) => None,
                Source::Segment(offset, _) => Some(offset),
            },
        };
        let accepted = inner.layout.mail(self.to, Mail::Accepted);
        let not_yet = NOT_YET | u64::from(announcement.number);
        inner.segment().put_word(accepted, not_yet)?;
        // The receiver may load the source as soon as it reads this.
        inner.wire.fence()?;
        if !peer
            .sender
            .try_send(self.kind.announced(), self.tag, &announcement.emit())?
        {
            return Ok(false);
        }
        peer.announced = announcement.number;
        self.state = State::Announced(announcement.number);
        Ok(true)
    }

    /// Looks for the receiver's answer and does what it says.
    fn deliver(&mut self, inner: &Inner, number: u32) -> Result<bool> {
        let segment = inner.segment();
        let accepted = segment.load_word(inner.layout.mail(self.to, Mail::Accepted))?;
        if accepted == NOT_YET | u64::from(number) {
            return Ok(false);
        }
        if accepted != u64::from(number) {
            return Err(TransportError::misbehaved(
                self.to,
                "number of the long message it accepts",
                number,
                accepted,
            )
            .into());
        }
        let word = segment.load_word(inner.layout.mail(self.to, Mail::Delivery))?;
        self.state = match Delivery::from_word(self.to, word)? {
            Delivery::Fetched => State::Done,
            Delivery::Direct(offset) => {
                let len = self.source.len_bytes();
                self.source
                    .put(inner, self.to, offset, 0, len)
                    .map_err(|_| {
                        TransportError::misbehaved(
                            self.to,
                            "place it wants a long message at",
                            "an offset in its segment",
                            offset,
                        )
                    })?;
                store_count(inner, self.to, Mail::Delivered, number, 1)?;
                State::Done
            }
            Delivery::Staged => {
                expect_count(inner, self.to, Mail::Freed, number)?;
                State::Staging {
                    number,
                    put: 0,
                    freed: 0,
                }
            }
        };
        Ok(true)
    }

    /// Puts as many pieces as staging has room for.
    fn stage(&mut self, inner: &Inner, number: u32, put: u64, freed: u64) -> Result<bool> {
        let len = self.source.len_bytes();
        let all = pieces(len);
        let freed = load_count(inner, self.to, Mail::Freed, number, freed, put)?;
        let may = all.min(freed + CHUNKS);
        let staging = inner.layout.staging();
        for piece in put..may {
            let start = piece as usize * CHUNK_BYTES;
            let at = staging + (piece % CHUNKS) as usize * CHUNK_BYTES;
            self.source
                .put(inner, self.to, at, start, CHUNK_BYTES.min(len - start))?;
            store_count(inner, self.to, Mail::Delivered, number, piece + 1)?;
        }
        self.state = if may == all {
            State::Done
        } else {
            State::Staging {
                number,
                put: may,
                freed,
            }
        };
        Ok(may > put)
    }
}
