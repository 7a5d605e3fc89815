//! What the launcher says.

use super::behind::Errand;
use super::frame::{Message, Reader, Writer};

/// The part of a job that a host has. Names and values are bytes, as the system has them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Description {
    /// The PEs of the whole job.
    pub pes: u32,
    /// The first PE of this host.
    pub first: u32,
    /// How many PEs this host has: at least one, and no more than the job.
    pub count: u32,
    /// How many further hosts it will be told to reach.
    pub behind: u32,
    /// After so many seconds of silence the launcher is gone.
    pub lost_after_s: u32,
    /// Where the PEs are started.
    pub folder: Vec<u8>,
    /// Whether they may be started elsewhere, if the host has no such folder.
    pub may_be_elsewhere: bool,
    /// `--bind`, as text.
    pub bind: String,
    /// What is put before the program, in words of the launcher's; nothing if there are none.
    pub front: Vec<Vec<u8>>,
    /// The program and its arguments.
    pub command: Vec<Vec<u8>>,
    /// Variables of the PEs, besides those that the starter has: names and values in turn.
    pub environment: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Description {
    fn write(&self) -> Writer {
        let Self {
            pes,
            first,
            count,
            behind,
            lost_after_s,
            folder,
            may_be_elsewhere,
            bind,
            front,
            command,
            environment,
        } = self;
        let pairs: Vec<&[u8]> = environment
            .iter()
            .flat_map(|(name, value)| [name.as_slice(), value])
            .collect();
        Writer::default()
            .number(*pes)
            .number(*first)
            .number(*count)
            .number(*behind)
            .number(*lost_after_s)
            .bytes(folder)
            .flag(*may_be_elsewhere)
            .bytes(bind.as_bytes())
            .list(front.iter())
            .list(command.iter())
            .list(pairs.iter())
    }

    fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let (pes, first, count) = (reader.number()?, reader.number()?, reader.number()?);
        let end = first.checked_add(count);
        if count == 0 || pes > crate::PES_MAX || end.is_none_or(|end| end > pes) {
            return Err("PEs that no job has");
        }
        let (behind, lost_after_s) = (reader.number()?, reader.number()?);
        let (folder, may_be_elsewhere, bind) = (reader.bytes()?, reader.flag()?, reader.text()?);
        let (front, command) = (reader.list()?, reader.list()?);
        let pairs = reader.list()?;
        if command.is_empty() || !pairs.len().is_multiple_of(2) {
            return Err("no program, or a variable without a value");
        }
        let (pairs, _) = pairs.as_chunks::<2>();
        let is_name = |name: &[u8]| !name.is_empty() && !name.contains(&b'=');
        let has_end = |bytes: &Vec<u8>| bytes.contains(&0);
        let wrong = pairs.iter().flatten().any(has_end);
        let wrong = wrong || front.iter().chain(&command).any(has_end);
        if wrong || has_end(&folder) || !pairs.iter().all(|[name, _]| is_name(name)) {
            return Err("a name that the system does not take");
        }
        let environment = pairs.iter().cloned().map(|[name, value]| (name, value));
        Ok(Self {
            pes,
            first,
            count,
            behind,
            lost_after_s,
            folder,
            may_be_elsewhere,
            bind,
            front,
            command,
            environment: environment.collect(),
        })
    }
}

/// What the launcher says to a starter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Order {
    /// The next bytes of the program, which then does not have to be on the host. All of them come before the description.
    Program(Vec<u8>),
    /// What to start. Nothing is started yet.
    Describe(Description),
    /// Start it.
    Go,
    /// Bytes of PMI for a PE.
    Pmi {
        /// The PE.
        pe: u32,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Standard input of PE 0.
    Input(Vec<u8>),
    /// Its end.
    InputEnd,
    /// A signal for a PE that has not ended, and for what it started; after its end, for the latter.
    Signal {
        /// The PE.
        pe: u32,
        /// The number of the signal.
        signal: i32,
    },
    /// A PE of any host has ended without leaving the job.
    NoteEnd {
        /// The PE.
        pe: u32,
    },
    /// Say what each PE is doing that has not ended.
    Look,
    /// So many bytes of output have been taken.
    Took(u32),
    /// The launcher is about to stop; its silence means nothing until it says something.
    Pause,
    /// The launcher is there.
    Beat,
    /// The job is over: end what is left.
    Done,
    /// Something for a host behind this one.
    Behind {
        /// The launcher's number of that host.
        host: u32,
        /// What to do.
        errand: Errand,
    },
}

impl Message for Order {
    fn write(&self) -> (u8, Writer) {
        let writer = Writer::default();
        match self {
            Self::Describe(description) => (0, description.write()),
            Self::Go => (1, writer),
            Self::Pmi { pe, bytes } => (2, writer.number(*pe).rest(bytes)),
            Self::Input(bytes) => (3, writer.rest(bytes)),
            Self::InputEnd => (4, writer),
            Self::Signal { pe, signal } => (5, writer.number(*pe).number(signal.cast_unsigned())),
            Self::NoteEnd { pe } => (6, writer.number(*pe)),
            Self::Look => (7, writer),
            Self::Took(bytes) => (8, writer.number(*bytes)),
            Self::Pause => (9, writer),
            Self::Beat => (10, writer),
            Self::Done => (11, writer),
            Self::Program(bytes) => (12, writer.rest(bytes)),
            Self::Behind { host, errand } => (13, errand.write(writer.number(*host))),
        }
    }

    fn read(kind: u8, reader: &mut Reader<'_>) -> Option<Result<Self, &'static str>> {
        if kind > 13 {
            return None;
        }
        let mut read = || {
            Ok(match kind {
                0 => Self::Describe(Description::read(reader)?),
                1 => Self::Go,
                2 => Self::Pmi {
                    pe: reader.number()?,
                    bytes: reader.rest(),
                },
                3 => Self::Input(reader.rest()),
                4 => Self::InputEnd,
                5 => Self::Signal {
                    pe: reader.number()?,
                    signal: reader.number()?.cast_signed(),
                },
                6 => Self::NoteEnd {
                    pe: reader.number()?,
                },
                7 => Self::Look,
                8 => Self::Took(reader.number()?),
                9 => Self::Pause,
                10 => Self::Beat,
                11 => Self::Done,
                12 => Self::Program(reader.rest()),
                _ => Self::Behind {
                    host: reader.number()?,
                    errand: Errand::read(reader)?,
                },
            })
        };
        Some(read())
    }
}
