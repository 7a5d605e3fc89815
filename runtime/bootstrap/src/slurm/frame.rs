//! The messages between tasks of a step: bytes to values and back, without I/O.
//!
//! | bytes | |
//! |---|---|
//! | 0..4 | how many bytes follow, little endian |
//! | 4..8 | `hws` and the version, 1 |
//! | 8 | 0: values; 1: a refusal, and the rest is its text |
//! | 9..13, 13..17 | number of the sender, number of tasks |
//! | then, per value | number of the task 4, length of the key 1, key, length 4, value |

/// The longest frame that is accepted.
const FRAME_BYTES_MAX: usize = 256 << 20;
const MAGIC: [u8; 4] = *b"hws\x01";

/// The values that a task has put.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) rank: u32,
    pub(crate) key: String,
    pub(crate) value: Vec<u8>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame {
    Values {
        from: u32,
        tasks: u32,
        entries: Vec<Entry>,
    },
    Refusal(String),
}

/// Why bytes are no message of a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// Longer than anything that tasks send.
    #[error("a message of {got_bytes} bytes; the longest allowed is {FRAME_BYTES_MAX}")]
    TooLong {
        /// The length in its header.
        got_bytes: usize,
    },
    /// It does not begin as messages do, or it is of another version of hostwire.
    #[error("a message that begins with {got:02x?}, expected {MAGIC:02x?}")]
    NotOurs {
        /// How it begins.
        got: Vec<u8>,
    },
    /// It is truncated.
    #[error("a message of {len_bytes} bytes that ends too early")]
    CutOff {
        /// How long it is.
        len_bytes: usize,
    },
    /// A key is no text, or a kind of message is unknown.
    #[error("a message with an unknown {what}")]
    Unknown {
        /// `kind` or `key`.
        what: &'static str,
    },
}

impl Frame {
    pub(crate) fn emit(&self) -> Vec<u8> {
        let mut body = MAGIC.to_vec();
        match self {
            Self::Refusal(reason) => {
                body.push(1);
                body.extend(reason.bytes());
            }
            Self::Values {
                from,
                tasks,
                entries,
            } => {
                body.push(0);
                body.extend(from.to_le_bytes());
                body.extend(tasks.to_le_bytes());
                for Entry { rank, key, value } in entries {
                    body.extend(rank.to_le_bytes());
                    body.push(key.len() as u8);
                    body.extend(key.bytes());
                    body.extend((value.len() as u32).to_le_bytes());
                    body.extend(value);
                }
            }
        }
        let mut frame = (body.len() as u32).to_le_bytes().to_vec();
        frame.append(&mut body);
        frame
    }

    /// Whether a value can be sent at all.
    pub(crate) fn fits(key: &str, value: &[u8]) -> bool {
        (1..256).contains(&key.len()) && value.len() < FRAME_BYTES_MAX / 4
    }

    fn parse(body: &[u8]) -> Result<Self, FrameError> {
        let cut_off = || FrameError::CutOff {
            len_bytes: body.len(),
        };
        let mut rest = body;
        match take(&mut rest) {
            Some(MAGIC) => {}
            _ => {
                return Err(FrameError::NotOurs {
                    got: body.iter().take(MAGIC.len()).copied().collect(),
                });
            }
        }
        match take(&mut rest).ok_or_else(cut_off)? {
            [0] => {}
            [1] => return Ok(Self::Refusal(String::from_utf8_lossy(rest).into_owned())),
            [_] => return Err(FrameError::Unknown { what: "kind" }),
        }
        let from = u32::from_le_bytes(take(&mut rest).ok_or_else(cut_off)?);
        let tasks = u32::from_le_bytes(take(&mut rest).ok_or_else(cut_off)?);
        let mut entries = Vec::new();
        while !rest.is_empty() {
            let rank = u32::from_le_bytes(take(&mut rest).ok_or_else(cut_off)?);
            let [len] = take(&mut rest).ok_or_else(cut_off)?;
            let key = part(&mut rest, len.into()).ok_or_else(cut_off)?;
            let key =
                String::from_utf8(key.to_vec()).map_err(|_| FrameError::Unknown { what: "key" })?;
            let len = u32::from_le_bytes(take(&mut rest).ok_or_else(cut_off)?);
            let value = part(&mut rest, len as usize).ok_or_else(cut_off)?.to_vec();
            entries.push(Entry { rank, key, value });
        }
        Ok(Self::Values {
            from,
            tasks,
            entries,
        })
    }
}

/// Cuts a stream of bytes into messages.
#[derive(Debug, Default)]
pub(crate) struct FrameBuffer {
    bytes: Vec<u8>,
}

impl FrameBuffer {
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message. After an error the stream cannot be used any more.
    pub(crate) fn next_frame(&mut self) -> Result<Option<Frame>, FrameError> {
        let Some((head, rest)) = self.bytes.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let len = u32::from_le_bytes(*head) as usize;
        if len > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong { got_bytes: len });
        }
        // A message of another protocol is recognised by its beginning, without waiting
        // for the rest.
        let begin = rest.get(..rest.len().min(MAGIC.len()).min(len));
        if begin != MAGIC.get(..begin.map_or(0, <[u8]>::len)) {
            return Frame::parse(rest.get(..rest.len().min(len)).unwrap_or_default()).map(Some);
        }
        let Some(body) = rest.get(..len) else {
            return Ok(None);
        };
        let frame = Frame::parse(body);
        self.bytes.drain(..4 + len);
        frame.map(Some)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (bytes, behind) = rest.split_first_chunk::<N>()?;
    *rest = behind;
    Some(*bytes)
}

fn part<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (bytes, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(rank: u32, key: &str, value: &[u8]) -> Entry {
        Entry {
            rank,
            key: key.into(),
            value: value.to_vec(),
        }
    }

    #[test]
    fn literal_frames() {
        let values = Frame::Values {
            from: 1,
            tasks: 4,
            entries: vec![entry(1, "ab", b"\0x")],
        };
        let bytes = b"\x1a\0\0\0hws\x01\0\x01\0\0\0\x04\0\0\0\x01\0\0\0\x02ab\x02\0\0\0\0x";
        assert_eq!(values.emit(), bytes);
        let refusal = Frame::Refusal("no".into());
        assert_eq!(refusal.emit(), b"\x07\0\0\0hws\x01\x01no");
        let mut buffer = FrameBuffer::default();
        buffer.extend(&[&bytes[..], b"\x07\0\0\0hws\x01\x01n"].concat());
        assert_eq!(buffer.next_frame(), Ok(Some(values)));
        assert_eq!(buffer.next_frame(), Ok(None));
        buffer.extend(b"o");
        assert_eq!(buffer.next_frame(), Ok(Some(refusal)));
    }

    #[test]
    fn bytes_that_are_no_frame_say_what_is_wrong() {
        let error = |bytes: &[u8]| {
            let mut buffer = FrameBuffer::default();
            buffer.extend(bytes);
            buffer.next_frame().unwrap_err()
        };
        assert_eq!(
            error(b"GET / HTTP/1.1\r\n"),
            FrameError::TooLong {
                got_bytes: 0x2054_4547
            }
        );
        let got = b"cmd=".to_vec();
        assert_eq!(error(b"\x20\0\0\0cmd=init"), FrameError::NotOurs { got });
        let got = b"hws\x02".to_vec();
        assert_eq!(error(b"\x05\0\0\0hws\x02\0"), FrameError::NotOurs { got });
        assert_eq!(error(b"\0\0\0\0"), FrameError::NotOurs { got: vec![] });
        assert_eq!(
            error(b"\x04\0\0\0hws\x01"),
            FrameError::CutOff { len_bytes: 4 }
        );
        assert_eq!(
            error(b"\x05\0\0\0hws\x01\x07"),
            FrameError::Unknown { what: "kind" }
        );
        assert_eq!(
            error(b"\x13\0\0\0hws\x01\0\x01\0\0\0\x04\0\0\0\x01\0\0\0\x09a"),
            FrameError::CutOff { len_bytes: 19 }
        );
    }

    proptest! {
        #[test]
        fn frames_come_back_in_any_pieces(
            entries in proptest::collection::vec(
                (any::<u32>(), "[a-z]{1,20}", proptest::collection::vec(any::<u8>(), 0..50)), 0..6),
            piece in 1usize..40,
        ) {
            let entries = entries.iter().map(|(rank, key, value)| entry(*rank, key, value)).collect();
            let frame = Frame::Values { from: 2, tasks: 9, entries };
            let mut buffer = FrameBuffer::default();
            let mut seen = Vec::new();
            for piece in [frame.emit(), frame.emit()].concat().chunks(piece) {
                buffer.extend(piece);
                while let Some(frame) = buffer.next_frame().unwrap() {
                    seen.push(frame);
                }
            }
            prop_assert_eq!(seen, [frame.clone(), frame]);
        }

        #[test]
        fn no_bytes_panic(
            mut bytes in proptest::collection::vec(any::<u8>(), 0..200),
            len in 0u32..200,
            headed in any::<bool>(),
        ) {
            if headed {
                bytes.splice(0..0, *b"hws\x01\0");
                bytes.splice(0..0, len.to_le_bytes());
            }
            let mut buffer = FrameBuffer::default();
            buffer.extend(&bytes);
            while let Ok(Some(_)) = buffer.next_frame() {}
        }
    }
}
