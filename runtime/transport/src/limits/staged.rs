//! Bytes from the private memory of one side into that of the other, through shared memory and
//! nothing else.
//!
//! The bytes are copied twice and cross from one core to the other, like those of a message
//! between two private buffers. A copy by one core into memory that no other core reads does not
//! move bytes between cores, so it is no limit for such messages.

use crate::error::TransportError;
use crate::memory::Memory;
use crate::sync::{AtomicU64, Ordering};

/// How the bytes are copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Copies {
    /// By ordinary copies: out of the cache of one core into that of the other.
    Ordinary,
    /// See [`Memory::copy_in_staged`].
    Staged,
}

/// One end of staging memory: pieces in turn, with a count of those that are stored and a count of
/// those that are taken out. Both sides copy at the same time.
#[derive(Debug)]
pub struct Staging<'a> {
    memory: &'a Memory,
    offset_bytes: usize,
    piece_bytes: usize,
    pieces: u64,
    copies: Copies,
    stored: &'a AtomicU64,
    taken: &'a AtomicU64,
    done: u64,
}

impl<'a> Staging<'a> {
    /// One end of `pieces` times `piece_bytes` bytes at `offset_bytes`. Both counts begin at 0.
    pub fn new(
        (memory, offset_bytes): (&'a Memory, usize),
        (piece_bytes, pieces): (usize, u64),
        copies: Copies,
        (stored, taken): (&'a AtomicU64, &'a AtomicU64),
    ) -> Self {
        Self {
            memory,
            offset_bytes,
            piece_bytes: piece_bytes.max(1),
            pieces: pieces.max(1),
            copies,
            stored,
            taken,
            done: 0,
        }
    }

    fn place(&self) -> usize {
        self.offset_bytes + (self.done % self.pieces) as usize * self.piece_bytes
    }

    /// Sends `bytes`.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if the staging memory is not there.
    pub fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        for piece in bytes.chunks(self.piece_bytes) {
            while self.done - self.taken.load(Ordering::Acquire) >= self.pieces {}
            match self.copies {
                Copies::Ordinary => self.memory.copy_in(self.place(), piece)?,
                Copies::Staged => self.memory.copy_in_staged(self.place(), piece)?,
            }
            self.done += 1;
            self.stored.store(self.done, Ordering::Release);
        }
        Ok(())
    }

    /// Receives as many bytes as `into` has.
    ///
    /// # Errors
    /// As [`send`](Self::send).
    pub fn receive(&mut self, into: &mut [u8]) -> Result<(), TransportError> {
        for piece in into.chunks_mut(self.piece_bytes) {
            while self.stored.load(Ordering::Acquire) <= self.done {}
            match self.copies {
                Copies::Ordinary => self.memory.copy_out(self.place(), piece)?,
                Copies::Staged => self.memory.copy_out_staged(self.place(), piece)?,
            }
            self.done += 1;
            self.taken.store(self.done, Ordering::Release);
        }
        Ok(())
    }
}
