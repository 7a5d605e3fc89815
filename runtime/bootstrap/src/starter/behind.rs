//! Hosts behind a host: what a starter does for starters that it has started itself.
//!
//! It carries the bytes of their connections to the launcher and back, and does not look into them.

use super::frame::{Reader, Writer};
use super::how::How;

/// What a starter is to do for a host behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Errand {
    /// Start the starter of that host.
    Reach {
        /// The command that reaches it: words with spaces between them.
        ssh: String,
        /// The host, as that command takes it.
        target: String,
        /// Whether hostwire is to be copied there first.
        copies: bool,
    },
    /// Bytes for its starter.
    Bytes(Vec<u8>),
    /// The program comes next in these bytes: the one that this starter has got itself.
    Program,
    /// No more bytes come.
    Close,
    /// Use the connection no more.
    Cut,
}

/// What a starter says of a host behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// Bytes of its starter.
    Bytes(Vec<u8>),
    /// What the command says that reaches it.
    Said(Vec<u8>),
    /// So many more of the launcher's bytes have gone to its starter; with 0, bytes of a copy.
    Passed(u32),
    /// The connection has ended; with the end of the command, if that is known.
    Left(Option<How>),
}

impl Errand {
    pub(super) fn write(&self, writer: Writer) -> Writer {
        match self {
            Self::Reach {
                ssh,
                target,
                copies,
            } => writer
                .byte(0)
                .bytes(ssh.as_bytes())
                .bytes(target.as_bytes())
                .flag(*copies),
            Self::Bytes(bytes) => writer.byte(1).rest(bytes),
            Self::Program => writer.byte(2),
            Self::Close => writer.byte(3),
            Self::Cut => writer.byte(4),
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Ok(match reader.byte()? {
            0 => Self::Reach {
                ssh: reader.text()?,
                target: reader.text()?,
                copies: reader.flag()?,
            },
            1 => Self::Bytes(reader.rest()),
            2 => Self::Program,
            3 => Self::Close,
            4 => Self::Cut,
            _ => return Err("an errand that nobody knows"),
        })
    }
}

impl News {
    pub(super) fn write(&self, writer: Writer) -> Writer {
        match self {
            Self::Bytes(bytes) => writer.byte(0).rest(bytes),
            Self::Said(bytes) => writer.byte(1).rest(bytes),
            Self::Passed(bytes) => writer.byte(2).number(*bytes),
            Self::Left(None) => writer.byte(3),
            Self::Left(Some(how)) => how.write(writer.byte(4)),
        }
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        Ok(match reader.byte()? {
            0 => Self::Bytes(reader.rest()),
            1 => Self::Said(reader.rest()),
            2 => Self::Passed(reader.number()?),
            3 => Self::Left(None),
            4 => Self::Left(Some(How::read(reader)?)),
            _ => return Err("news that nobody knows"),
        })
    }
}
