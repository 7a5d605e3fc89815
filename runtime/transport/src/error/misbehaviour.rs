//! How a peer broke the protocol.

/// How a peer broke the protocol of a wire. The memory or the frame is that of this peer; another
/// PE may have written there, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// The receiver of a message ring frees lines that it does not have.
    #[error("credit of a message ring: expected {min} to {max} lines, got {got}")]
    Credit {
        /// The lines that it had freed before.
        min: u64,
        /// The lines that were sent.
        max: u64,
        /// The value that it wrote.
        got: u64,
    },
    /// It says that it has stored more bytes of a message in the eager buffer than the message has.
    #[error(
        "bytes of a message in the eager buffer: expected at most {len_bytes}, got {got_bytes}"
    )]
    EagerBytes {
        /// Those of the message.
        len_bytes: usize,
        /// Those that it says are there.
        got_bytes: u64,
    },
    /// A line that it says it has stored is not in the ring.
    #[error(
        "a line in its message ring that has been overwritten, or was never stored: expected line \
         {line} of the {stored} that it has stored, got stamp {got} instead of {expected}"
    )]
    MissingLine {
        /// The number of the line.
        line: u64,
        /// How many lines it says it has stored.
        stored: u64,
        /// The stamp of that line.
        expected: u32,
        /// The stamp that is there.
        got: u32,
    },
    /// A line has a stamp of another turn around the ring.
    #[error("stamp of a line in its message ring: expected {next} or {before}, got {got}")]
    Stamp {
        /// That of the line that comes next.
        next: u32,
        /// That of the line that was there before.
        before: u32,
        /// The stamp that is there.
        got: u32,
    },
    /// The first line of a message cannot be one.
    #[error(
        "first line of a message in its ring: expected kind 1 to 7 with at most {bytes_max} bytes, \
         got kind {kind} with {len_bytes} bytes"
    )]
    FirstLine {
        /// The longest message that the ring takes.
        bytes_max: usize,
        /// Its kind.
        kind: u8,
        /// The length of the message, as it says.
        len_bytes: usize,
    },
    /// A further line of a message does not continue it.
    #[error(
        "further line of a message in its ring: expected a continued line with {rest_bytes} bytes \
         to come, got kind {kind} with {len_bytes} bytes"
    )]
    NextLine {
        /// The bytes of the message that are still to come.
        rest_bytes: usize,
        /// The kind of the line.
        kind: u8,
        /// The length that it says.
        len_bytes: usize,
    },
    /// A record of a message cannot be applied.
    #[error(
        "a record of its message: expected a store within the segments, got {len_bytes} bytes at \
         {offset_bytes}"
    )]
    Record {
        /// Where it goes.
        offset_bytes: usize,
        /// How long it is.
        len_bytes: usize,
    },
    /// Its frames are against the rules of a link.
    #[cfg(target_os = "linux")]
    #[error("its frames: expected none beyond its credits and the segment, got: {0}")]
    Frames(hostwire_link::Misbehaviour),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::TransportError;

    #[test]
    fn texts_name_the_peer_the_place_and_both_values() {
        let credit = Misbehaviour::Credit {
            min: 8,
            max: 12,
            got: 13,
        };
        let missing = Misbehaviour::MissingLine {
            line: 7,
            stored: 9,
            expected: 3,
            got: 2,
        };
        let stamp = Misbehaviour::Stamp {
            next: 3,
            before: 2,
            got: 9,
        };
        let first = Misbehaviour::FirstLine {
            bytes_max: 100,
            kind: 0,
            len_bytes: 200,
        };
        let next = Misbehaviour::NextLine {
            rest_bytes: 10,
            kind: 1,
            len_bytes: 20,
        };
        for (how, text) in [
            (
                credit,
                "credit of a message ring: expected 8 to 12 lines, got 13",
            ),
            (
                missing,
                "a line in its message ring that has been overwritten, or was never stored: expected \
                 line 7 of the 9 that it has stored, got stamp 2 instead of 3",
            ),
            (
                stamp,
                "stamp of a line in its message ring: expected 3 or 2, got 9",
            ),
            (
                first,
                "first line of a message in its ring: expected kind 1 to 7 with at most 100 bytes, \
                 got kind 0 with 200 bytes",
            ),
            (
                next,
                "further line of a message in its ring: expected a continued line with 10 bytes to \
                 come, got kind 1 with 20 bytes",
            ),
        ] {
            let error = TransportError::PeerMisbehaved { pe: 3, how };
            assert_eq!(
                error.to_string(),
                format!("PE 3 broke the protocol: {text}")
            );
        }
    }
}
