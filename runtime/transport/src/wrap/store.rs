//! A store as a value.

use std::borrow::Cow;

use crate::addresses::Addresses;
use crate::error::{PeId, TransportError};
use crate::ring::PAYLOAD_BYTES;
use crate::wire::Wire;

const WORD_BYTES: usize = 8;
const LINE_BYTES: usize = WORD_BYTES + PAYLOAD_BYTES;

/// One store, without its target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store<'a> {
    offset_bytes: usize,
    what: What<'a>,
}

/// As the three functions of [`Wire`].
#[derive(Debug, Clone, PartialEq, Eq)]
enum What<'a> {
    Bytes(Cow<'a, [u8]>),
    Word(u64),
    Line { header: u64, payload: Cow<'a, [u8]> },
}

impl<'a> Store<'a> {
    /// As [`Wire::store`] makes it.
    pub(crate) fn bytes(offset_bytes: usize, src: &'a [u8]) -> Self {
        Self {
            offset_bytes,
            what: What::Bytes(src.into()),
        }
    }

    /// As [`Wire::store_word`] makes it.
    pub(crate) fn word(offset_bytes: usize, value: u64) -> Self {
        Self {
            offset_bytes,
            what: What::Word(value),
        }
    }

    /// As [`Wire::store_line`] makes it.
    pub(crate) fn line(offset_bytes: usize, header: u64, payload: &'a [u8]) -> Self {
        Self {
            offset_bytes,
            what: What::Line {
                header,
                payload: payload.into(),
            },
        }
    }

    /// Where it goes, as frames name it; an error if `pe` has no such place.
    pub(crate) fn address(&self, addresses: &Addresses, pe: PeId) -> Result<u64, TransportError> {
        let at = self.offset_bytes;
        match &self.what {
            What::Bytes(bytes) => addresses.of(pe, at, bytes.len(), 1),
            What::Word(_) => addresses.of(pe, at, WORD_BYTES, WORD_BYTES),
            What::Line { payload, .. } if payload.len() > PAYLOAD_BYTES => {
                Err(TransportError::OutOfRange {
                    offset_bytes: 0,
                    len_bytes: payload.len(),
                    segment_bytes: PAYLOAD_BYTES,
                })
            }
            What::Line { .. } => addresses.of(pe, at, LINE_BYTES, LINE_BYTES),
        }
    }

    /// Stores it to `pe`.
    ///
    /// # Errors
    /// Those of the wire.
    pub fn send(&self, wire: &dyn Wire, pe: PeId) -> Result<(), TransportError> {
        let at = self.offset_bytes;
        match &self.what {
            What::Bytes(bytes) => wire.store(pe, at, bytes),
            What::Word(value) => wire.store_word(pe, at, *value),
            What::Line { header, payload } => wire.store_line(pe, at, *header, payload),
        }
    }

    /// Whether it has to come after all earlier stores to its target.
    pub fn is_ordered(&self) -> bool {
        matches!(self.what, What::Word(_))
    }

    /// Whether its target may wait for it, and may then overwrite it at once.
    pub fn is_awaited(&self) -> bool {
        match &self.what {
            What::Bytes(bytes) => bytes.len() <= WORD_BYTES,
            What::Word(_) => true,
            What::Line { .. } => false,
        }
    }

    /// What it stores.
    pub fn contents(&self) -> Cow<'_, [u8]> {
        match &self.what {
            What::Bytes(bytes) => Cow::Borrowed(bytes),
            What::Word(value) => Cow::Owned(value.to_ne_bytes().to_vec()),
            What::Line { header, payload } => Cow::Owned(line_bytes(*header, payload)),
        }
    }

    #[cfg(test)]
    pub(crate) fn offset_bytes(&self) -> usize {
        self.offset_bytes
    }

    /// The same, with its own copy of the bytes.
    pub fn into_owned(self) -> Store<'static> {
        let owned = |bytes: Cow<'_, [u8]>| Cow::Owned(bytes.into_owned());
        Store {
            offset_bytes: self.offset_bytes,
            what: match self.what {
                What::Bytes(bytes) => What::Bytes(owned(bytes)),
                What::Word(value) => What::Word(value),
                What::Line { header, payload } => What::Line {
                    header,
                    payload: owned(payload),
                },
            },
        }
    }

    /// The same, with its bytes changed.
    pub(crate) fn changed(self, change: impl FnOnce(&mut [u8])) -> Store<'static> {
        let Store { offset_bytes, what } = self.into_owned();
        let what = match what {
            What::Bytes(mut bytes) => {
                change(bytes.to_mut());
                What::Bytes(bytes)
            }
            What::Word(value) => {
                let mut bytes = value.to_ne_bytes();
                change(&mut bytes);
                What::Word(u64::from_ne_bytes(bytes))
            }
            What::Line { header, payload } => {
                let mut line = line_bytes(header, &payload);
                change(&mut line);
                let (header, payload) = line.split_at(WORD_BYTES);
                let header = header.first_chunk().copied().unwrap_or_default();
                What::Line {
                    header: u64::from_ne_bytes(header),
                    payload: payload.to_vec().into(),
                }
            }
        };
        Store { offset_bytes, what }
    }
}

/// Header and payload, as they lie in memory.
fn line_bytes(header: u64, payload: &[u8]) -> Vec<u8> {
    [&header.to_ne_bytes(), payload].concat()
}
