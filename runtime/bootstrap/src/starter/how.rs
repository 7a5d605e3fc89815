//! How a process ended.

use super::frame::{Reader, Writer};

/// How the process of a PE ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signal(i32),
}

impl How {
    pub(super) fn write(self, writer: Writer) -> Writer {
        let (kind, number) = match self {
            Self::Exited(status) => (0, status),
            Self::Signal(signal) => (1, signal),
        };
        writer.byte(kind).number(number.cast_unsigned())
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, &'static str> {
        let kind = reader.byte()?;
        let number = reader.number()?.cast_signed();
        match kind {
            0 => Ok(Self::Exited(number)),
            1 => Ok(Self::Signal(number)),
            _ => Err("an end that no process has"),
        }
    }
}
