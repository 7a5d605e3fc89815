//! The records on the socket between a PE and its modelled device.

/// Bytes of a command.
pub(super) const COMMAND_BYTES: usize = 40;
/// Bytes of an answer.
pub(super) const ANSWER_BYTES: usize = 16;

/// What a device does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Operation {
    /// Maps `len` zeroed bytes; the answer is their address, or an error number, negative.
    Allocate = 1,
    /// Gives back the mapping in which address `a` is.
    Release = 2,
    /// `len` bytes from offset `b` of the bounce memory to address `a`.
    Write = 3,
    /// `len` bytes from address `a` to offset `b` of the bounce memory.
    Read = 4,
    /// `len` bytes from address `b` to address `a`.
    Copy = 5,
    /// The answer is the descriptor of the file behind address `a`, or an error number, negative.
    File = 6,
    /// Maps `len` bytes of descriptor `b` of process `a`; the answer is their address, or an error number,
    /// negative.
    Open = 7,
}

impl Operation {
    fn of(code: u64) -> Option<Self> {
        let all = [
            Self::Allocate,
            Self::Release,
            Self::Write,
            Self::Read,
            Self::Copy,
            Self::File,
            Self::Open,
        ];
        all.into_iter().find(|one| *one as u64 == code)
    }
}

/// One command. Commands are done in order; an answer also answers all earlier commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) operation: Operation,
    pub(super) number: u64,
    pub(super) a: u64,
    pub(super) b: u64,
    pub(super) len: u64,
}

impl Command {
    pub(super) fn bytes(&self) -> [u8; COMMAND_BYTES] {
        let words = [self.operation as u64, self.number, self.a, self.b, self.len];
        let mut bytes = [0; COMMAND_BYTES];
        for (place, word) in bytes.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    pub(super) fn read(bytes: &[u8; COMMAND_BYTES]) -> Option<Self> {
        let [operation, number, a, b, len] = words(bytes);
        let operation = Operation::of(operation)?;
        Some(Self {
            operation,
            number,
            a,
            b,
            len,
        })
    }
}

/// The answer of the device when it has done a command and all before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) number: u64,
    /// The value of this command.
    pub(super) value: i64,
}

impl Answer {
    pub(super) fn bytes(&self) -> [u8; ANSWER_BYTES] {
        let mut bytes = [0; ANSWER_BYTES];
        let (number, value) = bytes.split_at_mut(8);
        number.copy_from_slice(&self.number.to_ne_bytes());
        value.copy_from_slice(&self.value.to_ne_bytes());
        bytes
    }

    pub(super) fn read(bytes: &[u8; ANSWER_BYTES]) -> Self {
        let [number, value] = words(bytes);
        let value = value as i64;
        Self { number, value }
    }
}

pub(super) fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    for (word, place) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        let mut one = [0; 8];
        one.copy_from_slice(place);
        *word = u64::from_ne_bytes(one);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_five_words() {
        let command = Command {
            operation: Operation::Read,
            number: 7,
            a: 0x1000,
            b: 64,
            len: 9,
        };
        let mut bytes = [0; COMMAND_BYTES];
        for (at, word) in [4_u8, 7, 0, 64, 9].into_iter().enumerate() {
            bytes[at * 8] = word;
        }
        bytes[17] = 0x10;
        assert_eq!(command.bytes(), bytes);
        assert_eq!(Command::read(&bytes), Some(command));
        bytes[0] = 8;
        assert_eq!(Command::read(&bytes), None);
        let answer = Answer {
            number: 3,
            value: -12,
        };
        assert_eq!(Answer::read(&answer.bytes()), answer);
    }
}
