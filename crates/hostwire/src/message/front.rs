//! What the first line of a message says.
//!
//! | kind | of | behind the header |
//! |---|---|---|
//! | 1, 2 | the program, a team | the message; its tag is that of the header |
//! | 3, 4 | the program, a team | an [`Announcement`] |
//! | 5 | the program | the upper half of the tag and the data, then the message |
//! | 6 | | a word about the long message whose number is in the tag: see `long` |
//!
//! So the tag of 64 bits and the data cost nothing where the tag fits the header and there
//! are no data; else 16 bytes of the first line.

use hostwire_transport::PeId;

use super::Kind;
use super::long::Announcement;
use super::pattern::Envelope;
use super::peer::Peer;
use crate::error::{Error, PeerWord, Result};

/// The ring's kind of a message with its upper half of a tag and data in front.
const WIDE: u8 = 5;
/// The ring's kind of a word about a long message.
pub(super) const ANSWER: u8 = 6;
const ANSWER_BYTES: usize = 8;

/// What stands in front of a wide message.
pub(super) const PREFIX_BYTES: usize = 16;

/// How a message of this PE enters a ring: the kind, and what stands in front of it.
pub(super) fn entry(kind: Kind, tag: u64, data: u64) -> (u8, Option<[u8; PREFIX_BYTES]>) {
    if tag >> 32 == 0 && data == 0 {
        return (kind.whole(), None);
    }
    let mut prefix = [0; PREFIX_BYTES];
    prefix[..8].copy_from_slice(&(tag >> 32).to_le_bytes());
    prefix[8..].copy_from_slice(&data.to_le_bytes());
    (WIDE, Some(prefix))
}

/// What comes next in a ring.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    Message(Front),
    /// A word about the long message of this number.
    Answer(u32, u64),
}

/// A message whose first line is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Front {
    pub(super) kind: Kind,
    pub(super) envelope: Envelope,
    pub(super) form: Form,
}

/// How it comes.
#[derive(Debug, Clone, Copy)]
pub(super) enum Form {
    /// Whole, behind so many bytes.
    Whole(usize),
    /// Its first line is all that is in the ring.
    Announced(Announcement),
}

impl Peer {
    /// Looks at what comes next in the ring, of which nothing has been taken.
    #[inline]
    pub(super) fn look(&mut self) -> Result<Option<Next>> {
        let Some(head) = self.receiver.peek()? else {
            return Ok(None);
        };
        let mut front = Front {
            kind: Kind::User,
            envelope: Envelope {
                from: self.pe,
                tag: head.tag.into(),
                data: 0,
                len_bytes: head.len_bytes,
            },
            form: Form::Whole(0),
        };
        match head.kind {
            1 => {}
            2 => front.kind = Kind::Team,
            WIDE => {
                let [high, data] = self.words(head.len_bytes, PREFIX_BYTES)?;
                front.envelope.tag |= self.upper_half(high)?;
                front.envelope.data = data;
                front.envelope.len_bytes -= PREFIX_BYTES;
                front.form = Form::Whole(PREFIX_BYTES);
            }
            ANSWER => {
                let [word] = self.words(head.len_bytes, ANSWER_BYTES)?;
                return Ok(Some(Next::Answer(head.tag, word)));
            }
            3 | 4 => {
                if head.kind == Kind::Team.announced() {
                    front.kind = Kind::Team;
                }
                if head.len_bytes != Announcement::BYTES {
                    return Err(self.bad_length(head.len_bytes, Announcement::BYTES));
                }
                let mut bytes = [0; Announcement::BYTES];
                self.receiver.front(&mut bytes);
                let announcement = Announcement::parse(self.pe, &bytes)?;
                front.envelope.tag |= u64::from(announcement.tag_high) << 32;
                front.envelope.data = announcement.data;
                front.envelope.len_bytes = announcement.len_bytes;
                front.form = Form::Announced(announcement);
            }
            other => {
                let kinds = 1..=u64::from(ANSWER);
                return Err(PeerWord::LineKind.out_of(kinds, self.pe, other.into()));
            }
        }
        Ok(Some(Next::Message(front)))
    }

    /// The first words of the line at hand, of a message of at least `least` bytes.
    fn words<const N: usize>(&self, len: usize, least: usize) -> Result<[u64; N]> {
        if len < least || (N == 1 && len != least) {
            return Err(self.bad_length(len, least));
        }
        let mut words = [0; N];
        let mut bytes = [0; PREFIX_BYTES];
        self.receiver.front(&mut bytes[..N * 8]);
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        Ok(words)
    }

    fn upper_half(&self, word: u64) -> Result<u64> {
        match word >> 32 {
            0 => Ok(word << 32),
            _ => Err(bad_tag(self.pe, word)),
        }
    }

    #[cold]
    fn bad_length(&self, len: usize, least: usize) -> Error {
        PeerWord::FirstLineBytes.out_of(least as u64..=u64::MAX, self.pe, len as u64)
    }
}

#[cold]
pub(super) fn bad_tag(pe: PeId, word: u64) -> Error {
    PeerWord::TagHigh.out_of(0..=u64::from(u32::MAX), pe, word)
}
