use core::fmt;

use crate::bits::{need, room, word_at};
use crate::error::{Error, Result};

/// Length of a Sync in bytes.
pub const LEN: usize = 4;

/// View of a Sync: 32 ones, sent without end to bring a chain down to reset.
///
/// | bits | field |
/// |---|---|
/// | `[31:0]` | all ones; the command is 111111 |
#[derive(Clone, Copy, Debug)]
pub struct Packet<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks that all bits are one.
    ///
    /// # Errors
    /// [`Error::Truncated`], or [`Error::Value`] if a bit is zero.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = need("ht.sync", buffer.as_ref(), LEN)?;
        let dword = u32::from_le_bytes(word_at(bytes, 0));
        if dword != u32::MAX {
            return Err(Error::Value {
                field: "ht.sync",
                expected: "0xffffffff",
                got: dword.into(),
            });
        }
        Ok(Self { buffer })
    }

    /// The buffer behind the view.
    pub fn into_inner(self) -> T {
        self.buffer
    }
}

/// A Sync as a value. It has no fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Repr;

impl Repr {
    /// Reads the Sync at the start of `bytes`.
    ///
    /// # Errors
    /// As [`Packet::new_checked`].
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        Packet::new_checked(bytes).map(|_| Self)
    }

    /// Bytes that [`emit`](Self::emit) writes.
    pub const fn buffer_len(&self) -> usize {
        LEN
    }

    /// Writes the Sync to the start of `buffer`; returns its length.
    ///
    /// # Errors
    /// [`Error::BufferTooSmall`], with nothing written.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        room("ht.sync", buffer, LEN)?.fill(0xff);
        Ok(LEN)
    }
}

impl fmt::Display for Repr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sync")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_and_emit() {
        assert_eq!(Repr::parse(&[0xff; 4]), Ok(Repr));
        let mut bytes = [0; 5];
        assert_eq!(Repr.emit(&mut bytes), Ok(4));
        assert_eq!(bytes, [0xff, 0xff, 0xff, 0xff, 0]);
    }

    #[test]
    fn a_zero_bit_is_no_sync() {
        assert_eq!(
            Repr::parse(&[0xff, 0xff, 0x7f, 0xff]),
            Err(Error::Value {
                field: "ht.sync",
                expected: "0xffffffff",
                got: 0xff7f_ffff
            })
        );
    }
}
