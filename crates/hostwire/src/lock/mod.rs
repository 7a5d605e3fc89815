//! Locks: a queue, so that no PE starves, in a word that every PE has at the same place.
//!
//! | half of the word | at the lock's home PE | at every PE |
//! |---|---|---|
//! | high 32 bits | the last in the queue, plus one; 0 if the lock is free | 0 |
//! | low 32 bits | | the PE behind this one, plus one; bit 31: this PE waits |
//!
//! (The lock of Mellor-Crummey and Scott.) A PE waits for a word of its own memory to
//! change, so it can sleep, and passing the lock on costs two stores. All words are zero
//! again when no PE wants the lock.

mod front;

use std::sync::atomic::Ordering;

use hostwire_transport::{Operation, PeId, Request, TransportError};

use crate::attachment::Attachment;
use crate::error::{Error, Misbehaviour, Result};
use crate::taken::Queued;

pub use front::{Guard, Lock};

const WAITS: u32 = 1 << 31;

/// Why a lock is not taken or given back.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The job has failed.
    #[error(transparent)]
    Job(#[from] Error),
    /// Caller's fault: no thread of this PE has the lock.
    #[error("this PE does not hold the lock")]
    NotHeld,
    /// The word of the lock was overwritten: it is free although this PE holds it.
    #[error("the lock is not set")]
    NotSet,
    /// The word of the lock was overwritten.
    #[error(
        "the lock holds {got:#x}, which no PE stored: it has to be 0 before its first use, and is \
         the library's from then on"
    )]
    Damaged {
        /// What should be the number of a PE, plus one.
        got: u32,
    },
}

/// How a PE waits for its own half of a lock: until the function gives it.
pub type Wait<'a> = &'a dyn Fn(&mut dyn FnMut() -> Result<Option<u32>>) -> Result<u32>;

/// A lock of a job, for those who build one: see the [module text](self). Made by
/// [`Attachment::lock`].
pub struct RawLock<'a> {
    attachment: &'a Attachment,
    /// The word, in a segment.
    offset_bytes: usize,
    home: PeId,
    /// This PE, plus one.
    me: u32,
}

impl Attachment {
    /// The lock in the word at `offset_bytes`, a multiple of 8, of all segments.
    pub fn lock(&self, offset_bytes: usize) -> RawLock<'_> {
        RawLock {
            attachment: self,
            offset_bytes,
            // Many locks should not all be at home in one place.
            home: (offset_bytes / 8 % self.pes as usize) as PeId,
            me: self.pe + 1,
        }
    }
}

impl RawLock<'_> {
    /// The PE where the end of its queue is.
    pub fn home(&self) -> PeId {
        self.home
    }

    /// Whether a thread of this PE has the lock, or waits for it.
    pub fn is_taken_here(&self) -> bool {
        self.attachment.taken.contains(self.offset_bytes)
    }

    /// Takes the lock. What was done under it before is visible then.
    ///
    /// # Errors
    /// [`LockError::Damaged`]; [`LockError::Job`]. A wait that has failed keeps its place in the queue: tried again, it goes on.
    /// The lock may be lost, if a PE in front has died.
    pub fn acquire(&self, wait: Wait<'_>) -> core::result::Result<(), LockError> {
        self.attachment.check_is_here()?;
        let taken = &self.attachment.taken;
        let queued = taken.take_turn(self.offset_bytes, true).flatten();
        let queued = match queued.map_or_else(|| self.join_queue(), |queued| Ok(Some(queued))) {
            Ok(Some(queued)) => queued,
            Ok(None) => return Ok(()),
            Err(error) => {
                taken.end_turn(self.offset_bytes);
                return Err(error);
            }
        };
        if let Queued::Behind(before) = queued {
            let told = self.half(before, self.offset_bytes, Operation::Or, self.me, 0);
            told.inspect_err(|_| taken.leave_turn(self.offset_bytes, queued))?;
        }
        let passed = self.own_when(wait, |own| own & WAITS == 0);
        passed.inspect_err(|_| taken.leave_turn(self.offset_bytes, Queued::Known))?;
        Ok(())
    }

    /// The place in the queue; `None` if nobody is in front.
    fn join_queue(&self) -> core::result::Result<Option<Queued>, LockError> {
        self.set_own(WAITS)?;
        match self.tail(Operation::Swap, self.me, 0)? {
            0 => Ok(None),
            before => Ok(Some(Queued::Behind(self.named(before)?))),
        }
    }

    /// Takes the lock if it is free, and returns whether it did.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn try_acquire(&self) -> core::result::Result<bool, LockError> {
        self.attachment.check_is_here()?;
        let taken = &self.attachment.taken;
        match taken.take_turn(self.offset_bytes, false) {
            None => Ok(false),
            Some(None) => {
                let is_mine = self.take_if_free();
                if !matches!(is_mine, Ok(true)) {
                    taken.end_turn(self.offset_bytes);
                }
                Ok(is_mine?)
            }
            // It may have been passed on meanwhile.
            Some(Some(queued)) => {
                let is_mine = self.own().map(|own| own & WAITS == 0);
                if !matches!(is_mine, Ok(true)) {
                    taken.leave_turn(self.offset_bytes, queued);
                }
                Ok(is_mine?)
            }
        }
    }

    fn take_if_free(&self) -> Result<bool> {
        self.set_own(WAITS)?;
        let is_mine = self.tail(Operation::CompareSwap, self.me, 0)? == 0;
        if !is_mine {
            self.set_own(0)?;
        }
        Ok(is_mine)
    }

    /// Gives the lock to the next PE that wants it. What was done under it has to be visible
    /// before: the caller calls [`Attachment::quiet`].
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); [`LockError::NotHeld`]; [`LockError::NotSet`].
    pub fn release(&self, wait: Wait<'_>) -> core::result::Result<(), LockError> {
        self.attachment.check_is_here()?;
        if !self.is_taken_here() {
            return Err(LockError::NotHeld);
        }
        let behind = |own: u32| own & !WAITS;
        let mut next = behind(self.own()?);
        if next == 0 {
            let last = self.tail(Operation::CompareSwap, 0, self.me)?;
            if last == 0 {
                return Err(LockError::NotSet);
            }
            if last != self.me {
                // A PE is about to say that it is behind this one.
                next = behind(self.own_when(wait, |own| behind(own) != 0)?);
            }
        }
        self.set_own(0)?;
        if next != 0 {
            let next = self.named(next)?;
            self.half(next, self.offset_bytes, Operation::And, !WAITS, 0)?;
        }
        self.attachment.taken.end_turn(self.offset_bytes);
        Ok(())
    }

    /// The high half: little-endian, as all machines that hostwire runs on.
    fn tail(&self, operation: Operation, value: u32, compare: u32) -> Result<u32> {
        self.half(self.home, self.offset_bytes + 4, operation, value, compare)
    }

    fn half(
        &self,
        pe: PeId,
        offset_bytes: usize,
        operation: Operation,
        value: u32,
        compare: u32,
    ) -> Result<u32> {
        let request = Request {
            operation,
            offset_bytes,
            operand_bytes: 4,
            operand: value.into(),
            compare: compare.into(),
        };
        Ok(self.attachment.atomic(pe, request)? as u32)
    }

    fn set_own(&self, value: u32) -> core::result::Result<(), Error> {
        let own = self.attachment.segment().half(self.offset_bytes)?;
        own.store(value, Ordering::SeqCst);
        Ok(())
    }

    fn own(&self) -> Result<u32> {
        Ok(self.attachment.segment().load_word(self.offset_bytes)? as u32)
    }

    fn own_when(&self, wait: Wait<'_>, is_so: impl Fn(u32) -> bool) -> Result<u32> {
        wait(&mut || {
            let own = self.own()?;
            Ok(is_so(own).then_some(own))
        })
    }

    /// The PE that a word of the queue names.
    fn named(&self, got: u32) -> core::result::Result<PeId, LockError> {
        let pe = got.checked_sub(1).filter(|pe| *pe < self.attachment.pes);
        pe.ok_or(LockError::Damaged { got })
    }
}

fn damaged(home: PeId, got: u32) -> Error {
    Error::PeerMisbehaved {
        pe: home,
        how: Misbehaviour::Lock { got },
    }
}

impl LockError {
    /// As an error of a job, of a lock with this home.
    pub(crate) fn of_job(self, home: PeId) -> Error {
        match self {
            Self::Job(error) => error,
            Self::NotHeld => {
                let what = "giving a lock back";
                TransportError::misused(what, "one that this PE holds", "another one").into()
            }
            Self::NotSet => damaged(home, 0),
            Self::Damaged { got } => damaged(home, got),
        }
    }
}
