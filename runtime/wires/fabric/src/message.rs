//! The messages of the wire: short stores, and requests between peers.
//!
//! A message is a head and records, all numbers little-endian:
//!
//! | bytes | head |
//! |---|---|
//! | 0 to 7 | a number that the PEs of the job know, and no others |
//! | 8 to 15 | the number of the message: they count from 1 for each pair of PEs |
//! | 16 to 19 | the PE that sends it |
//! | 20 to 23 | 0 |
//!
//! | bytes | record |
//! |---|---|
//! | 0 to 7 | where it goes, as a [place](hostwire_address::Place); 0 if it goes nowhere |
//! | 8 to 11 | bytes of its data |
//! | 12 | its kind |
//! | 13 to 15 | 0 |
//! | from 16 | its data, and zeros up to a multiple of 8 |

/// Bytes of a head.
pub(super) const HEAD_BYTES: usize = 24;
/// Bytes of a record before its data.
pub(super) const RECORD_BYTES: usize = 16;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Bytes to be stored.
    Store = 1,
    /// A word to be stored in one piece.
    Word = 2,
    /// A line: its first word is visible last.
    Line = 3,
    /// Wake the PE: something was written by RDMA.
    Bell = 4,
    /// Say when the messages up to this one have been applied.
    Echo = 5,
    /// The messages up to the one with the number in the data have been applied.
    Echoed = 6,
    /// This PE ends in good order; nothing comes after it.
    Farewell = 7,
    /// Give the key of the registered memory at this place.
    Wanted = 8,
    /// The requested key, the address of the first byte, and the number of bytes. Without data
    /// there is no key.
    Key = 9,
    /// The key of the registered memory at this place is not valid any more.
    Forget = 10,
}

impl Kind {
    fn of(code: u8) -> Option<Self> {
        use Kind::*;
        let all = [
            Store, Word, Line, Bell, Echo, Echoed, Farewell, Wanted, Key, Forget,
        ];
        all.into_iter().find(|kind| *kind as u8 == code)
    }
}

/// The head of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) job: u64,
    pub(super) number: u64,
    pub(super) from: u32,
}

impl Head {
    /// The head of a message; `None` if the message is too short.
    pub(super) fn of(message: &[u8]) -> Option<Self> {
        Some(Self {
            job: u64_at(message, 0)?,
            number: u64_at(message, 8)?,
            from: u32_at(message, 16)?,
        })
    }
}

/// A record of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record<'a> {
    pub(super) kind: Kind,
    pub(super) place: usize,
    pub(super) data: &'a [u8],
}

/// The records of a message. `None` in place of an invalid one; nothing follows it.
pub(super) fn records(message: &[u8]) -> impl Iterator<Item = Option<Record<'_>>> {
    let mut rest = message.get(HEAD_BYTES..).unwrap_or_default();
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (record, behind) = first_record(rest).unzip();
        rest = behind.unwrap_or_default();
        Some(record)
    })
}

fn first_record(bytes: &[u8]) -> Option<(Record<'_>, &[u8])> {
    let len = u32_at(bytes, 8)? as usize;
    let end = RECORD_BYTES + len;
    let record = Record {
        kind: Kind::of(*bytes.get(12)?)?,
        place: usize::try_from(u64_at(bytes, 0)?).ok()?,
        data: bytes.get(RECORD_BYTES..end)?,
    };
    Some((record, bytes.get(end.next_multiple_of(8)..)?))
}

/// A message to be sent: room for the head, then records.
#[derive(Debug)]
pub(super) struct Outgoing(Vec<u8>);

impl Outgoing {
    /// A message without records.
    pub(super) fn new() -> Self {
        Self(vec![0; HEAD_BYTES])
    }

    /// A message of one record.
    pub(super) fn one(kind: Kind, place: usize, parts: &[&[u8]]) -> Self {
        let data: usize = parts.iter().map(|part| part.len()).sum();
        let mut bytes = Vec::with_capacity(HEAD_BYTES + RECORD_BYTES + data.next_multiple_of(8));
        bytes.resize(HEAD_BYTES, 0);
        let mut message = Self(bytes);
        message.push(kind, place, parts);
        message
    }

    /// Adds a record. Its data is the concatenation of these parts.
    pub(super) fn push(&mut self, kind: Kind, place: usize, parts: &[&[u8]]) {
        let Self(bytes) = self;
        let len: usize = parts.iter().map(|part| part.len()).sum();
        bytes.extend_from_slice(&(place as u64).to_le_bytes());
        bytes.extend_from_slice(&(len as u32).to_le_bytes());
        bytes.extend_from_slice(&[kind as u8, 0, 0, 0]);
        for part in parts {
            bytes.extend_from_slice(part);
        }
        bytes.resize(bytes.len().next_multiple_of(8), 0);
    }

    /// Whether it has no record.
    pub(super) fn is_empty(&self) -> bool {
        self.0.len() == HEAD_BYTES
    }

    /// How long it is.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Its bytes, with this head.
    pub(super) fn with_head(&mut self, head: Head) -> &[u8] {
        let Self(bytes) = self;
        if let Some(place) = bytes.get_mut(..HEAD_BYTES) {
            let (job, rest) = place.split_at_mut(8);
            let (number, rest) = rest.split_at_mut(8);
            let (from, _) = rest.split_at_mut(4);
            job.copy_from_slice(&head.job.to_le_bytes());
            number.copy_from_slice(&head.number.to_le_bytes());
            from.copy_from_slice(&head.from.to_le_bytes());
        }
        bytes
    }
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(word))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head {
        job: 0x0102_0304_0506_0708,
        number: 9,
        from: 3,
    };

    #[rustfmt::skip]
    const BYTES: [u8; 72] = [
        8, 7, 6, 5, 4, 3, 2, 1,   9, 0, 0, 0, 0, 0, 0, 0,   3, 0, 0, 0,   0, 0, 0, 0,
        0, 16, 0, 0, 0, 0, 0, 0,   3, 0, 0, 0,   1, 0, 0, 0,   0xa, 0xb, 0xc, 0, 0, 0, 0, 0,
        64, 0, 0, 0, 0, 0, 0, 0,   8, 0, 0, 0,   2, 0, 0, 0,   1, 0, 0, 0, 0, 0, 0, 0,
    ];

    #[test]
    fn messages_are_these_bytes_and_come_back() {
        let mut message = Outgoing::one(Kind::Store, 4096, &[&[0xa], &[0xb, 0xc]]);
        message.push(Kind::Word, 64, &[&1_u64.to_le_bytes()]);
        assert_eq!(message.len(), BYTES.len());
        assert_eq!(message.with_head(HEAD), BYTES);
        assert_eq!(Head::of(&BYTES), Some(HEAD));
        let read: Vec<_> = records(&BYTES).map(Option::unwrap).collect();
        let store = Record {
            kind: Kind::Store,
            place: 4096,
            data: &[0xa, 0xb, 0xc],
        };
        let word = Record {
            kind: Kind::Word,
            place: 64,
            data: &[1, 0, 0, 0, 0, 0, 0, 0],
        };
        assert_eq!(read, [store, word]);
    }

    #[test]
    fn what_is_no_message_is_found() {
        assert_eq!(Head::of(&BYTES[..19]), None);
        assert_eq!(records(&BYTES[..HEAD_BYTES]).count(), 0);
        // Cut off anywhere in its only record, a message has none.
        for len in HEAD_BYTES + 1..HEAD_BYTES + 24 {
            let read: Vec<_> = records(&BYTES[..len]).collect();
            assert_eq!(read, [None], "{len}");
        }
        for (at, value, why) in [
            (HEAD_BYTES + 12, 0, "no kind"),
            (HEAD_BYTES + 12, 11, "no kind"),
            (HEAD_BYTES + 11, 0xff, "longer than the message"),
        ] {
            let mut bytes = BYTES;
            bytes[at] = value;
            assert_eq!(records(&bytes).next(), Some(None), "{why}");
        }
    }
}
