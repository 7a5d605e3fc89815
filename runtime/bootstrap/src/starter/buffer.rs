//! Cuts a stream of bytes into frames.

use std::marker::PhantomData;

use hostwire_transport::printable;

use super::GREETING;
use super::frame::{FRAME_BYTES_MAX, FrameError, Message};

/// The most bytes before the greeting.
const NOISE_BYTES_MAX: usize = 64 << 10;

/// Bytes that have arrived and are to be cut into messages of the kind `M`.
#[derive(Debug)]
pub struct Received<M> {
    bytes: Vec<u8>,
    /// Bytes before this place have been taken.
    taken: usize,
    of: PhantomData<M>,
}

impl<M> Default for Received<M> {
    fn default() -> Self {
        Self {
            bytes: Vec::new(),
            taken: 0,
            of: PhantomData,
        }
    }
}

impl<M: Message> Received<M> {
    /// Adds bytes of the stream.
    pub fn extend(&mut self, bytes: &[u8]) {
        if self.taken > 0 {
            self.bytes.drain(..self.taken);
            self.taken = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole message, if it has arrived. After an error the stream cannot be used any more.
    ///
    /// # Errors
    /// [`FrameError`].
    pub fn next_message(&mut self) -> Result<Option<M>, FrameError> {
        let rest = self.bytes.get(self.taken..).unwrap_or_default();
        let Some((head, rest)) = rest.split_first_chunk::<4>() else {
            return Ok(None);
        };
        let got_bytes = u32::from_le_bytes(*head) as usize;
        if !(1..=FRAME_BYTES_MAX).contains(&got_bytes) {
            return Err(FrameError::Length { got_bytes });
        }
        let Some(body) = rest.get(..got_bytes) else {
            return Ok(None);
        };
        let message = M::parse(body)?;
        self.taken += head.len() + got_bytes;
        Ok(Some(message))
    }
}

/// Why the other end is no starter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("something else answers there; it begins with {begin:?}")]
pub struct GreetingError {
    begin: String,
}

/// Waits for the greeting in a stream, and drops what comes before it.
#[derive(Debug, Default)]
pub struct Greeted {
    bytes: Vec<u8>,
}

impl Greeted {
    /// Adds bytes of the stream. The bytes behind the greeting, once it has come.
    ///
    /// # Errors
    /// [`GreetingError`], if it should have come by now.
    pub fn extend(&mut self, bytes: &[u8]) -> Result<Option<Vec<u8>>, GreetingError> {
        self.bytes.extend_from_slice(bytes);
        let mut windows = self.bytes.windows(GREETING.len());
        if let Some(at) = windows.position(|window| window == GREETING) {
            let behind = self.bytes.split_off(at + GREETING.len());
            return Ok(Some(behind));
        }
        match self.bytes.len() > NOISE_BYTES_MAX {
            true => Err(GreetingError {
                begin: self.noise(),
            }),
            false => Ok(None),
        }
    }

    /// What has come in place of a greeting, as far as a line shows it.
    pub fn noise(&self) -> String {
        let begin = self.bytes.get(..64).unwrap_or(&self.bytes);
        printable(String::from_utf8_lossy(begin).trim())
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
