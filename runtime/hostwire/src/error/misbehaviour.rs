//! How a peer broke the protocol.

use core::ops::RangeInclusive;

use hostwire_transport::PeId;

use super::Error;

/// How a peer broke the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// That of the wire: a message ring, or the frames of a link.
    #[error(transparent)]
    Wire(#[from] hostwire_transport::Misbehaviour),
    /// It stored a word that no correct PE stores there.
    #[error("{word}: expected {}, got {got}", range(*min, *max))]
    Word {
        /// Which word.
        word: PeerWord,
        /// The least value that a correct PE stores.
        min: u64,
        /// The greatest one; `u64::MAX` if there is none.
        max: u64,
        /// The value that is there.
        got: u64,
    },
    /// Its agent refuses an operation on its heap.
    #[error(
        "answer of its agent: expected an operation on its heap done, got operation {code} at \
         offset {offset_bytes} refused"
    )]
    Refused {
        /// The number of the operation.
        code: u8,
        /// Where in its segment.
        offset_bytes: usize,
    },
    /// It answers a long message that does not wait for an answer.
    #[error(
        "number of the long message that it answers: expected one that waits for an answer, got \
         {number}"
    )]
    Unasked {
        /// The number that it names.
        number: u32,
    },
    /// It answers an operation on its memory that does not wait for an answer.
    #[error("operation on its memory that it answers: expected one that waits for an answer")]
    UnaskedMemory,
    /// It asked for more than it may before there are answers.
    #[error("operations on memory of this PE without an answer: expected at most {max}, got more")]
    Unanswered {
        /// How many it may.
        max: usize,
    },
    /// It sent more than it has credit for.
    #[error(
        "bytes of its messages that nobody receives: expected at most {bytes_max}, got {got_bytes}"
    )]
    Unreceived {
        /// The credit.
        bytes_max: usize,
        /// What it sent.
        got_bytes: usize,
    },
    /// It says that a long message lies where its segment has no bytes.
    #[error(
        "source of a long message: expected bytes in its segment, got {len_bytes} bytes at \
         {offset_bytes}"
    )]
    Source {
        /// Where.
        offset_bytes: usize,
        /// How long the message is.
        len_bytes: usize,
    },
    /// It wants a long message where its segment has no bytes.
    #[error(
        "place it wants a long message at: expected bytes in its segment, got {len_bytes} bytes at \
         {offset_bytes}"
    )]
    Destination {
        /// Where.
        offset_bytes: usize,
        /// How long the message is.
        len_bytes: usize,
    },
    /// The word of a lock was overwritten. The PE is the lock's home.
    #[error("word of a lock: expected what its queue stored, got {got:#x}")]
    Lock {
        /// Half of the word.
        got: u32,
    },
}

/// A word that a peer stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerWord {
    /// In a barrier.
    #[error("its flag of a barrier")]
    BarrierFlag,
    /// In another operation of a team.
    #[error("its line of a collective operation")]
    TeamLine,
    /// From its agent.
    #[error("number of its agent's reply")]
    ReplyNumber,
    /// From its agent.
    #[error("status of its agent's reply")]
    ReplyStatus,
    /// In the announcement of a long message.
    #[error("number of a long message")]
    LongNumber,
    /// In the announcement of a long message.
    #[error("length of a long message")]
    LongBytes,
    /// In the announcement of a long message.
    #[error("source of a long message")]
    LongSource,
    /// In the answer to an announcement.
    #[error("way it wants a long message")]
    Delivery,
    /// In a count of pieces.
    #[error("number of the long message that it counts pieces of")]
    PiecesOf,
    /// In a count of pieces.
    #[error("pieces of a long message")]
    Pieces,
    /// In the header of a line.
    #[error("kind of a line in its message ring")]
    LineKind,
    /// In the header of a line.
    #[error("bytes in the first line of a long message, or of one with a long tag")]
    FirstLineBytes,
    /// In the first line of a message.
    #[error("upper half of a tag")]
    TagHigh,
    /// In a message about registered memory.
    #[error("kind of a message about memory, of an operation or of an answer")]
    MemoryWord,
    /// In a message about registered memory.
    #[error("places in memory that an operation is about")]
    MemoryPlaces,
    /// In a message about registered memory.
    #[error("bytes of an operation on memory, or of its answer")]
    MemoryBytes,
    /// In the first line of a message without data beside it.
    #[error("data beside a message that has none")]
    NoData,
}

impl PeerWord {
    /// This word of `pe` is `got`, where a correct PE stores one in `range`.
    #[cold]
    pub(crate) fn out_of(self, range: RangeInclusive<u64>, pe: PeId, got: u64) -> Error {
        let how = Misbehaviour::Word {
            word: self,
            min: *range.start(),
            max: *range.end(),
            got,
        };
        Error::PeerMisbehaved { pe, how }
    }
}

fn range(min: u64, max: u64) -> String {
    match max {
        max if max == min => min.to_string(),
        u64::MAX => format!("at least {min}"),
        max => format!("{min} to {max}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_the_peer_the_word_and_both_values() {
        let word = |range, got| PeerWord::Pieces.out_of(range, 3, got);
        let how = |how| Error::PeerMisbehaved { pe: 3, how };
        for (error, text) in [
            (
                word(2..=5, 6),
                "pieces of a long message: expected 2 to 5, got 6",
            ),
            (
                word(2..=2, 3),
                "pieces of a long message: expected 2, got 3",
            ),
            (
                word(2..=u64::MAX, 1),
                "pieces of a long message: expected at least 2, got 1",
            ),
            (
                how(Misbehaviour::Lock { got: 17 }),
                "word of a lock: expected what its queue stored, got 0x11",
            ),
            (
                how(Misbehaviour::Source {
                    offset_bytes: 9,
                    len_bytes: 7,
                }),
                "source of a long message: expected bytes in its segment, got 7 bytes at 9",
            ),
        ] {
            assert_eq!(
                error.to_string(),
                format!("PE 3 broke the protocol: {text}")
            );
        }
        let wire = hostwire_transport::Misbehaviour::Stamp {
            next: 3,
            before: 2,
            got: 9,
        };
        let error = hostwire_transport::TransportError::PeerMisbehaved { pe: 3, how: wire };
        assert_eq!(Error::from(error.clone()).to_string(), error.to_string());
    }
}
