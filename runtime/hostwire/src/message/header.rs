//! What the first line of a message says.
//!
//! | kind | of | behind the header |
//! |---|---|---|
//! | 1, 2 | the program, a team | the message; its tag is that of the header |
//! | 3, 4 | the program, a team | an [`Announcement`] |
//! | 5 | the program | the upper half of the tag and the data, then the message |
//! | 7 | a team | the same |
//! | 6 | | 8 bytes: a word about the long message whose number is in the tag: see `long`; more: an operation on registered memory or an answer to one, see `remote` |
//!
//! So the tag of 64 bits and the data cost nothing where the tag fits the header and there
//! are no data; else 16 bytes of the first line.

use hostwire_transport::PeId;
use hostwire_transport::ring::{FRONT_BYTES, FRONT_WORDS, Head};

use super::Kind;
use super::long::Announcement;
use super::pattern::Envelope;
use super::peer::Peer;
use crate::error::{Error, PeerWord, Result};

/// The ring's kind of a message with its upper half of a tag and data in front.
const WIDE: u8 = 5;
/// The same of a team.
const WIDE_OF_TEAM: u8 = 7;
/// The ring's kind of a word about a long message.
pub(super) const ANSWER: u8 = 6;
const ANSWER_BYTES: usize = 8;

/// What stands in front of a wide message.
pub(super) const PREFIX_BYTES: usize = FRONT_BYTES;

/// How a message of this PE enters a ring: the kind, and what stands in front of it.
#[inline]
pub(super) fn entry(kind: Kind, tag: u64, data: Option<u64>) -> (u8, Option<[u64; FRONT_WORDS]>) {
    if tag >> 32 == 0 && data.is_none() {
        return (kind.whole(), None);
    }
    let prefix = [upper_word(tag, data), data.unwrap_or(0)];
    let wide = match kind {
        Kind::User => WIDE,
        Kind::Team => WIDE_OF_TEAM,
    };
    (wide, Some(prefix))
}

/// That data were sent, in the word of the upper half of the tag.
const HAS_DATA: u64 = 1 << 32;

/// The upper half of a tag, and whether there are data.
pub(super) fn upper_word(tag: u64, data: Option<u64>) -> u64 {
    tag >> 32 | data.map_or(0, |_| HAS_DATA)
}

/// See [`upper_word`]: the upper half of a tag, and data if there are any.
pub(super) fn from_upper_word(pe: PeId, word: u64, data: u64) -> Result<(u32, Option<u64>)> {
    let high = u32::try_from(word & !HAS_DATA).map_err(|_| bad_tag(pe, word))?;
    match (word & HAS_DATA != 0, data) {
        (true, data) => Ok((high, Some(data))),
        (false, 0) => Ok((high, None)),
        (false, data) => Err(PeerWord::NoData.out_of(0..=0, pe, data)),
    }
}

/// What comes next in a ring.
#[derive(Debug, Clone, Copy)]
pub(super) enum Next {
    Message(Header),
    /// A word about the long message of this number.
    Answer(u32, u64),
    /// So many bytes about registered memory.
    Remote(usize),
}

/// A message whose first line is there.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
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

/// The kind of a message that comes whole, and whether it has a [prefix](PREFIX_BYTES), by the ring's kind.
#[inline(always)]
fn whole_kind(of_ring: u8) -> Option<(Kind, bool)> {
    match of_ring {
        1 => Some((Kind::User, false)),
        2 => Some((Kind::Team, false)),
        WIDE => Some((Kind::User, true)),
        WIDE_OF_TEAM => Some((Kind::Team, true)),
        _ => None,
    }
}

/// The message with this first line, whose first words these are, and whether these are a [prefix](PREFIX_BYTES).
/// `None` if something is wrong with the line: [`Peer::look`] says what.
#[inline(always)]
pub(super) fn short(
    pe: PeId,
    head: Head,
    [high, data]: [u64; FRONT_WORDS],
) -> Option<(Kind, Envelope, bool)> {
    let (kind, is_wide) = whole_kind(head.kind)?;
    let mut envelope = Envelope {
        from: pe,
        tag: u64::from(head.tag),
        data: 0,
        has_data: false,
        len_bytes: head.len_bytes,
    };
    if !is_wide {
        return Some((kind, envelope, false));
    }
    let has_data = high & HAS_DATA != 0;
    let is_sound = (high & !HAS_DATA) >> 32 == 0 && (has_data || data == 0);
    envelope.tag |= high << 32;
    envelope.data = data;
    envelope.has_data = has_data;
    envelope.len_bytes = head.len_bytes.checked_sub(PREFIX_BYTES)?;
    is_sound.then_some((kind, envelope, true))
}

impl Peer {
    /// Looks at what comes next in the ring, of which nothing has been taken.
    #[inline]
    pub(super) fn look(&mut self) -> Result<Option<Next>> {
        let Some(head) = self.receiver.peek()? else {
            return Ok(None);
        };
        let mut front = Header {
            kind: Kind::User,
            envelope: Envelope {
                from: self.pe,
                tag: head.tag.into(),
                data: 0,
                has_data: false,
                len_bytes: head.len_bytes,
            },
            form: Form::Whole(0),
        };
        if let Some((kind, is_wide)) = whole_kind(head.kind) {
            front.kind = kind;
            if is_wide {
                let [high, data] = self.words(head.len_bytes, PREFIX_BYTES)?;
                let (high, data) = from_upper_word(self.pe, high, data)?;
                front.envelope.tag |= u64::from(high) << 32;
                front.envelope.set_data(data);
                front.envelope.len_bytes -= PREFIX_BYTES;
                front.form = Form::Whole(PREFIX_BYTES);
            }
            return Ok(Some(Next::Message(front)));
        }
        match head.kind {
            ANSWER if head.len_bytes > ANSWER_BYTES => {
                return Ok(Some(Next::Remote(head.len_bytes)));
            }
            ANSWER => {
                let [word] = self.words(head.len_bytes, ANSWER_BYTES)?;
                return Ok(Some(Next::Answer(head.tag, word)));
            }
            3 | 4 => {
                if head.kind == Kind::Team.announced() {
                    front.kind = Kind::Team;
                }
                let mut line = [0; Announcement::BYTES_MAX];
                let Some(bytes) = line.get_mut(..head.len_bytes) else {
                    return Err(self.bad_length(head.len_bytes, Announcement::BYTES));
                };
                self.receiver.front(bytes);
                let announcement = Announcement::parse(self.pe, bytes)?;
                front.envelope.tag |= u64::from(announcement.tag_high) << 32;
                front.envelope.set_data(announcement.data);
                front.envelope.len_bytes = announcement.len_bytes;
                front.form = Form::Announced(announcement);
            }
            other => {
                let kinds = 1..=u64::from(WIDE_OF_TEAM);
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

    #[cold]
    fn bad_length(&self, len: usize, least: usize) -> Error {
        PeerWord::FirstLineBytes.out_of(least as u64..=u64::MAX, self.pe, len as u64)
    }
}

#[cold]
fn bad_tag(pe: PeId, word: u64) -> Error {
    PeerWord::TagHigh.out_of(0..=u64::from(u32::MAX) | HAS_DATA, pe, word)
}
