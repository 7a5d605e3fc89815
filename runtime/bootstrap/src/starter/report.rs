//! What a starter says.

use super::behind::News;
use super::frame::{Message, Reader, Writer};
use super::how::How;

/// One of the outputs of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a PE has written on the board of its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The PE.
    pub pe: u32,
    /// The first word of its record.
    pub activity: u64,
    /// The word with the PE that it has lost.
    pub lost: u64,
}

/// What a starter says to the launcher.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report {
    /// The first one.
    Hello {
        /// The version of hostwire on the host.
        version: String,
        /// The kind of machine, which all hosts of a job have in common. Other versions may say other things there.
        machine: Vec<u8>,
    },
    /// It cannot start what was described: why.
    Refused(String),
    /// It can.
    Ready,
    /// The PEs run.
    Started,
    /// Bytes of PMI from a PE.
    Pmi {
        /// The PE.
        pe: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// What a PE has written.
    Output {
        /// The PE.
        pe: u32,
        /// Where.
        stream: Stream,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// A PE writes no more there.
    Closed {
        /// The PE.
        pe: u32,
        /// Where.
        stream: Stream,
    },
    /// The process of a PE has ended.
    Ended {
        /// How.
        how: How,
        /// What it was doing.
        last: Look,
        /// Where its memory was written, if a signal ended it; else nothing.
        core: String,
    },
    /// What a PE that has not ended is doing.
    Seen {
        /// Whether it is on its way out.
        is_dying: bool,
        /// What it was doing.
        last: Look,
    },
    /// All that have not ended were seen.
    Looked,
    /// So many bytes of input have been taken.
    Took(u32),
    /// PE 0 reads no more.
    InputClosed,
    /// What the wire of a PE has counted: its record.
    Counters {
        /// The PE.
        pe: u32,
        /// The record.
        record: Vec<u8>,
    },
    /// Nothing is left of the job on this host.
    Swept,
    /// The starter is there.
    Beat,
    /// Something of a host behind this one.
    Behind {
        /// The launcher's number of that host.
        host: u32,
        /// What.
        news: News,
    },
}

impl Report {
    /// The PE that it is about, if it is about one.
    pub fn pe(&self) -> Option<u32> {
        match self {
            Self::Pmi { pe, .. }
            | Self::Output { pe, .. }
            | Self::Closed { pe, .. }
            | Self::Counters { pe, .. } => Some(*pe),
            Self::Ended { last, .. } | Self::Seen { last, .. } => Some(last.pe),
            _ => None,
        }
    }
}

impl Stream {
    fn code(self) -> u8 {
        match self {
            Self::Stdout => 1,
            Self::Stderr => 2,
        }
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        match reader.byte()? {
            1 => Ok(Self::Stdout),
            2 => Ok(Self::Stderr),
            _ => Err("an output that no PE has"),
        }
    }
}

impl Look {
    fn write(self, writer: Writer) -> Writer {
        writer.number(self.pe).long(self.activity).long(self.lost)
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Ok(Self {
            pe: reader.number()?,
            activity: reader.long()?,
            lost: reader.long()?,
        })
    }
}

impl Message for Report {
    fn write(&self) -> (u8, Writer) {
        let writer = Writer::default();
        match self {
            Self::Hello { version, machine } => (0, writer.bytes(version.as_bytes()).rest(machine)),
            Self::Refused(why) => (1, writer.bytes(why.as_bytes())),
            Self::Ready => (2, writer),
            Self::Started => (3, writer),
            Self::Pmi { pe, bytes } => (4, writer.number(*pe).rest(bytes)),
            Self::Output { pe, stream, bytes } => {
                (5, writer.number(*pe).byte(stream.code()).rest(bytes))
            }
            Self::Closed { pe, stream } => (6, writer.number(*pe).byte(stream.code())),
            Self::Ended { how, last, core } => {
                (7, last.write(how.write(writer)).bytes(core.as_bytes()))
            }
            Self::Seen { is_dying, last } => (8, last.write(writer.flag(*is_dying))),
            Self::Looked => (9, writer),
            Self::Took(bytes) => (10, writer.number(*bytes)),
            Self::InputClosed => (11, writer),
            Self::Counters { pe, record } => (12, writer.number(*pe).rest(record)),
            Self::Swept => (13, writer),
            Self::Beat => (14, writer),
            Self::Behind { host, news } => (15, news.write(writer.number(*host))),
        }
    }

    fn read(kind: u8, reader: &mut Reader<'_>) -> Option<Result<Self, &'static str>> {
        if kind > 15 {
            return None;
        }
        let mut read = || {
            Ok(match kind {
                0 => Self::Hello {
                    version: reader.text()?,
                    machine: reader.rest(),
                },
                1 => Self::Refused(reader.text()?),
                2 => Self::Ready,
                3 => Self::Started,
                4 => Self::Pmi {
                    pe: reader.number()?,
                    bytes: reader.rest(),
                },
                5 => Self::Output {
                    pe: reader.number()?,
                    stream: Stream::read(reader)?,
                    bytes: reader.rest(),
                },
                6 => Self::Closed {
                    pe: reader.number()?,
                    stream: Stream::read(reader)?,
                },
                7 => Self::Ended {
                    how: How::read(reader)?,
                    last: Look::read(reader)?,
                    core: reader.text()?,
                },
                8 => Self::Seen {
                    is_dying: reader.flag()?,
                    last: Look::read(reader)?,
                },
                9 => Self::Looked,
                10 => Self::Took(reader.number()?),
                11 => Self::InputClosed,
                12 => Self::Counters {
                    pe: reader.number()?,
                    record: reader.rest(),
                },
                13 => Self::Swept,
                14 => Self::Beat,
                _ => Self::Behind {
                    host: reader.number()?,
                    news: News::read(reader)?,
                },
            })
        };
        Some(read())
    }
}
