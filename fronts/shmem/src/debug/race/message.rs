//! Messages between detectors.

use super::access::{Access, Footprint};
use super::bytes::{Reader, Writer};
use super::clock::{self, Clock, Epoch};
use super::meetings::{Flow, Key};

/// The effect of an access on its word, at the owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Change {
    /// The code of a [`hostwire::attachment::Operation`].
    pub(super) operation: u8,
    pub(super) operand: u64,
    pub(super) compare: u64,
}

/// An access to memory of the PE that the message goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Touch<'a> {
    pub(super) access: Access,
    pub(super) name: &'a str,
    pub(super) footprint: Footprint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Message<'a> {
    /// The knowledge of this thread of the sender from here on.
    Clock {
        thread: u16,
        clock: Clock,
    },
    Touch(Touch<'a>),
    /// As `Touch`, to a word that the owner changes on behalf of the sender. A PE that sees the
    /// value knows what the sender did before. `data` is the epoch of the put whose arrival this
    /// word reports. With a question, it gets an answer.
    Word {
        touch: Touch<'a>,
        change: Option<Change>,
        data: Option<Epoch>,
        question: Option<u64>,
    },
    /// The lock at this offset is given up by a thread that has passed that epoch.
    Unlock {
        thread: u16,
        offset: usize,
        passed: Epoch,
    },
    /// It was taken.
    Lock {
        touch: Touch<'a>,
        question: u64,
    },
    /// A member has come to a collective operation.
    Come {
        key: Key,
        rank: usize,
        size: usize,
        flow: Flow,
        thread: u16,
        passed: Epoch,
        stores: Option<Epoch>,
        gives: bool,
        question: u64,
    },
    /// The old value of a word, and what is to be learned.
    Answer {
        question: u64,
        old: u64,
        known: Clock,
    },
    /// A race: the number of the pair of places, and the text.
    Report {
        pair: u64,
        text: &'a str,
    },
}

impl Touch<'_> {
    fn write(&self, to: &mut Writer) {
        self.access.write(to, self.name);
        self.footprint.write(to);
    }

    fn read<'a>(from: &mut Reader<'a>, pe: u32) -> Option<Touch<'a>> {
        let (access, name) = Access::read(from, pe)?;
        let footprint = Footprint::read(from)?;
        Some(Touch {
            access,
            name,
            footprint,
        })
    }
}

fn write_change(to: &mut Writer, change: Option<&Change>) {
    to.number(change.is_some().into());
    if let Some(change) = change {
        to.number(change.operation.into());
        to.number(change.operand);
        to.number(change.compare);
    }
}

fn write_option(to: &mut Writer, value: Option<u64>) {
    to.number(value.is_some().into());
    if let Some(value) = value {
        to.number(value);
    }
}

fn read_option(from: &mut Reader<'_>) -> Option<Option<u64>> {
    Some(match from.number()? {
        0 => None,
        _ => Some(from.number()?),
    })
}

impl<'a> Message<'a> {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        match self {
            Self::Clock { thread, clock } => {
                to.number(0);
                to.number((*thread).into());
                clock.write(&mut to);
            }
            Self::Touch(touch) => {
                to.number(1);
                touch.write(&mut to);
            }
            Self::Word {
                touch,
                change,
                data,
                question,
            } => {
                to.number(2);
                touch.write(&mut to);
                write_change(&mut to, change.as_ref());
                write_option(&mut to, *data);
                write_option(&mut to, *question);
            }
            Self::Unlock {
                thread,
                offset,
                passed,
            } => {
                to.number(3);
                to.number((*thread).into());
                to.number(*offset as u64);
                to.number(*passed);
            }
            Self::Lock { touch, question } => {
                to.number(4);
                touch.write(&mut to);
                to.number(*question);
            }
            Self::Come {
                key,
                rank,
                size,
                flow,
                thread,
                passed,
                stores,
                gives,
                question,
            } => {
                to.number(5);
                to.number(key.team);
                to.number(key.number);
                to.number(*rank as u64);
                to.number(*size as u64);
                to.number(flow.to_number());
                to.number((*thread).into());
                to.number(*passed);
                write_option(&mut to, *stores);
                to.number((*gives).into());
                to.number(*question);
            }
            Self::Answer {
                question,
                old,
                known,
            } => {
                to.number(6);
                to.number(*question);
                to.number(*old);
                known.write(&mut to);
            }
            Self::Report { pair, text } => {
                to.number(7);
                to.number(*pair);
                to.text(text);
            }
        }
        to.done()
    }

    /// The message that `pe` of so many sent, if it is one.
    pub(super) fn read(bytes: &'a [u8], pe: u32, pes: u32) -> Option<Self> {
        let mut from = Reader::new(bytes);
        let message = Self::read_any(&mut from, pe, pes)?;
        from.is_empty().then_some(message)
    }

    fn read_any(from: &mut Reader<'a>, pe: u32, pes: u32) -> Option<Self> {
        Some(match from.number()? {
            0 => Self::Clock {
                thread: clock::read_thread(from)?,
                clock: Clock::read(from, pes)?,
            },
            1 => Self::Touch(Touch::read(from, pe)?),
            2 => Self::Word {
                touch: Touch::read(from, pe)?,
                change: match from.number()? {
                    0 => None,
                    _ => Some(Change {
                        operation: from.small()?,
                        operand: from.number()?,
                        compare: from.number()?,
                    }),
                },
                data: read_option(from)?,
                question: read_option(from)?,
            },
            3 => Self::Unlock {
                thread: clock::read_thread(from)?,
                offset: from.small()?,
                passed: from.number()?,
            },
            4 => Self::Lock {
                touch: Touch::read(from, pe)?,
                question: from.number()?,
            },
            5 => Self::Come {
                key: Key {
                    team: from.number()?,
                    number: from.number()?,
                },
                rank: from.small()?,
                size: from.small().filter(|size| *size <= pes as usize)?,
                flow: Flow::from_number(from.number()?)?,
                thread: clock::read_thread(from)?,
                passed: from.number()?,
                stores: read_option(from)?,
                gives: from.number()? != 0,
                question: from.number()?,
            },
            6 => Self::Answer {
                question: from.number()?,
                old: from.number()?,
                known: Clock::read(from, pes)?,
            },
            7 => Self::Report {
                pair: from.number()?,
                text: from.text()?,
            },
            _ => return None,
        })
    }
}

/// Reads a message of `pe` of so many, writes it and reads it again. `None` if it is no message;
/// else whether both are the same, and its blocks have no more bytes than lie from the first to the
/// last.
#[cfg(feature = "fuzzing")]
pub(crate) fn comes_back(bytes: &[u8], pe: u32, pes: u32) -> Option<bool> {
    let message = Message::read(bytes, pe, pes)?;
    let again = message.write();
    let is_same = again.len() <= bytes.len() && Message::read(&again, pe, pes) == Some(message);
    let (Message::Touch(touch) | Message::Word { touch, .. } | Message::Lock { touch, .. }) =
        Message::read(bytes, pe, pes)?
    else {
        return Some(is_same);
    };
    let blocks = touch.footprint.runs().size_hint().0;
    let distance = touch.footprint.distance();
    Some(is_same && distance.is_none_or(|distance| blocks <= 1 + distance.unsigned_abs()))
}

#[cfg(test)]
mod tests {
    use super::super::access::Kind;
    use super::super::clock::Who;
    use super::*;

    fn touch() -> Touch<'static> {
        Touch {
            access: Access {
                pe: 1,
                thread: 2,
                epoch: 5,
                fenced: 3,
                place: 1 << 50 | 77,
                kind: Kind::SignalAdd,
                slot: 4,
                is_open: true,
                name: 0,
            },
            name: "shmem_put_signal",
            footprint: Footprint::run(640, 8),
        }
    }

    fn all() -> Vec<Message<'static>> {
        let mut clock = Clock::new(3);
        clock.pass(Who { pe: 1, thread: 4 }, 9);
        vec![
            Message::Clock {
                thread: 511,
                clock: clock.clone(),
            },
            Message::Touch(touch()),
            Message::Word {
                touch: touch(),
                change: Some(Change {
                    operation: 5,
                    operand: u64::MAX,
                    compare: 1,
                }),
                data: Some(4),
                question: None,
            },
            Message::Unlock {
                thread: 1,
                offset: 4096,
                passed: 8,
            },
            Message::Lock {
                touch: touch(),
                question: 2,
            },
            Message::Come {
                key: Key {
                    team: u64::MAX,
                    number: 1,
                },
                rank: 2,
                size: 3,
                flow: Flow::From(1),
                thread: 0,
                passed: 6,
                stores: None,
                gives: true,
                question: 3,
            },
            Message::Answer {
                question: 3,
                old: 1,
                known: clock,
            },
            Message::Report {
                pair: 5,
                text: "race on",
            },
        ]
    }

    #[test]
    fn messages_are_bytes_and_back() {
        for message in all() {
            let bytes = message.write();
            assert_eq!(Message::read(&bytes, 1, 3), Some(message));
        }
    }

    #[test]
    fn what_is_cut_or_has_more_is_no_message() {
        for message in all() {
            let mut bytes = message.write();
            for len in 0..bytes.len() {
                assert_eq!(Message::read(&bytes[..len], 1, 3), None, "{message:?}");
            }
            bytes.push(0);
            assert_eq!(Message::read(&bytes, 1, 3), None);
        }
    }
}
