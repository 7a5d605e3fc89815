//! Locks: a queue, so that no PE starves, in a word that every PE has at the same place.
//!
//! | half of the word | at the lock's home PE | at every PE |
//! |---|---|---|
//! | high 32 bits | the last in the queue, plus one; 0 if the lock is free | 0 |
//! | | or bit 31, and a PE that has ended in the queue | the same |
//! | low 32 bits | | the PE behind this one, plus one; bit 31: this PE waits |
//!
//! (The lock of Mellor-Crummey and Scott.) A PE waits for a word of its own memory to
//! change, so it can sleep, and passing the lock on costs two stores. All words are zero
//! again when no PE wants the lock.
//!
//! If a PE ends in the queue, nobody knows any more which PE is behind it, and work under the lock may be half done.
//! The PE behind it watches it, and then breaks the lock for all: PEs that wait and PEs that ask later get an error. A
//! PE that gives the lock back may have to wait until the PE behind it has announced itself. It waits only while a PE
//! lives that may be the one.

mod job_lock;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;

use hostwire_transport::{Operation, PeId, Request, TransportError};
pub use job_lock::{Guard, Lock};

use crate::attachment::{Attachment, Watch};
use crate::error::{Error, Misbehaviour, Result};
use crate::held_locks::Queued;

const WAITS: u32 = 1 << 31;
/// In the other half: the lock is broken.
const BROKEN: u32 = 1 << 31;

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

/// How a PE waits for its own half of a lock: until the function gives it, or a PE has ended.
pub type Wait<'a> = &'a dyn Fn(Watch<'_>, &mut dyn FnMut() -> Result<Option<u32>>) -> Result<u32>;

/// The PE behind, from a PE's own half.
const fn behind(own: u32) -> u32 {
    own & !WAITS
}

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
            // Spreads the homes of many locks over the PEs.
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

    /// Takes the lock. Earlier stores under the lock are then visible.
    ///
    /// # Errors
    /// [`LockError::Damaged`]; [`LockError::Job`]: [`Error::PeerLost`] or [`Error::PeerLeft`], if a PE that had the
    /// lock or waited for it has ended; all later calls give it too. An interrupted wait keeps its place in the queue:
    /// the next call continues it.
    pub fn acquire(&self, wait: Wait<'_>) -> core::result::Result<(), LockError> {
        self.attachment.check_is_here()?;
        let taken = &self.attachment.taken;
        let mut place = taken.take_turn(self.offset_bytes, true).flatten();
        let entered = self.enter(&mut place, wait);
        if entered.is_err() {
            self.leave_turn(place);
        }
        entered
    }

    /// `place` is the place of this PE in the queue; it is updated.
    fn enter(
        &self,
        place: &mut Option<Queued>,
        wait: Wait<'_>,
    ) -> core::result::Result<(), LockError> {
        self.check_is_whole(place)?;
        if place.is_none() {
            *place = self.join_queue()?;
        }
        if let Some(Queued::Behind(front)) = *place {
            if let Err(error) = self.half(front, self.offset_bytes, Operation::Or, self.me, 0) {
                return Err(self.failed(front, error, place));
            }
            *place = Some(Queued::Known(front));
        }
        if let Some(Queued::Known(front)) = *place {
            let passed = self.own_when(wait, front, |own| own & WAITS == 0);
            passed.map_err(|error| self.failed(front, error, place))?;
        }
        Ok(())
    }

    /// The place in the queue; `None` if nobody is in front.
    fn join_queue(&self) -> core::result::Result<Option<Queued>, LockError> {
        self.set_own(WAITS)?;
        match self.tail(Operation::Swap, self.me, 0)? {
            0 => Ok(None),
            broken if broken & BROKEN != 0 => {
                self.tail(Operation::Swap, broken, 0)?;
                Err(self.gone(self.ended(broken)?)?.into())
            }
            before => Ok(Some(Queued::Behind(self.named(before)?))),
        }
    }

    /// The error of a wait for `front`. If that PE has ended, no PE gets the lock any more.
    fn failed(&self, front: PeId, error: Error, place: &mut Option<Queued>) -> LockError {
        match error {
            Error::PeerLost { pe, .. } | Error::PeerLeft { pe } if pe == front => {
                self.break_for_all(front);
                *place = None;
            }
            _ => {}
        }
        match self.check_is_whole(place) {
            Ok(()) => error.into(),
            Err(broken) => broken,
        }
    }

    /// Gives the turn to another thread, which continues at the same place in the queue.
    fn leave_turn(&self, place: Option<Queued>) {
        let taken = &self.attachment.taken;
        match place {
            Some(place) => taken.leave_turn(self.offset_bytes, place),
            None => taken.end_turn(self.offset_bytes),
        }
    }

    /// Takes the lock if it is free, and returns whether it did.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    pub fn try_acquire(&self) -> core::result::Result<bool, LockError> {
        self.attachment.check_is_here()?;
        let Some(mut place) = self.attachment.taken.take_turn(self.offset_bytes, false) else {
            return Ok(false);
        };
        let is_mine = self.check_is_whole(&mut place).and_then(|()| match place {
            None => self.take_if_free(),
            // The PE in front may have passed the lock on meanwhile.
            Some(Queued::Behind(_) | Queued::Known(_)) => Ok(self.own()? & WAITS == 0),
            Some(Queued::Held) => Ok(true),
        });
        if !matches!(is_mine, Ok(true)) {
            self.leave_turn(place);
        }
        is_mine
    }

    fn take_if_free(&self) -> core::result::Result<bool, LockError> {
        self.set_own(WAITS)?;
        let is_mine = self.tail(Operation::CompareSwap, self.me, 0)? == 0;
        if !is_mine {
            self.set_own(0)?;
        }
        Ok(is_mine)
    }

    /// Gives the lock to the next PE that wants it. Stores made under it must be visible before: the caller calls
    /// [`Attachment::quiet`] first.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); [`LockError::NotHeld`]; [`LockError::NotSet`]. If it was interrupted, this PE
    /// still has the lock, and the next thread of this PE that asks gets it at once.
    pub fn release(&self, wait: Wait<'_>) -> core::result::Result<(), LockError> {
        self.attachment.check_is_here()?;
        if !self.is_taken_here() {
            return Err(LockError::NotHeld);
        }
        let mut place = Some(Queued::Held);
        let given = self
            .check_is_whole(&mut place)
            .and_then(|()| self.pass_on(wait, &mut place));
        match given {
            Ok(()) => self.leave_turn(None),
            Err(_) => self.leave_turn(place),
        }
        given
    }

    fn pass_on(
        &self,
        wait: Wait<'_>,
        place: &mut Option<Queued>,
    ) -> core::result::Result<(), LockError> {
        let mut next = behind(self.own()?);
        if next == 0 {
            let tail = self.tail(Operation::CompareSwap, 0, self.me);
            match tail.map_err(|error| self.failed(self.home, error, place))? {
                0 => {
                    *place = None;
                    return Err(LockError::NotSet);
                }
                last if last == self.me => return Ok(self.set_own(0)?),
                // Another PE has queued behind this one and is about to announce itself.
                last => match self.next(wait, last, place)? {
                    Some(found) => next = found,
                    None => return Ok(self.set_own(0)?),
                },
            }
        }
        let next = self.named(next)?;
        self.set_own(0)?;
        *place = None;
        let passed = self.half(next, self.offset_bytes, Operation::And, !WAITS, 0);
        passed
            .map(drop)
            .map_err(|error| self.failed(next, error, place))
    }

    /// Waits until the PE behind this one announces itself. `last` is the end of the queue. `None` if only PEs that
    /// have ended were behind: the lock is free then.
    fn next(
        &self,
        wait: Wait<'_>,
        last: u32,
        place: &mut Option<Queued>,
    ) -> core::result::Result<Option<u32>, LockError> {
        let end = self.named(last).inspect_err(|_| *place = None)?;
        loop {
            let error = match self.own_when(wait, end, |own| behind(own) != 0) {
                Ok(own) => return Ok(Some(behind(own))),
                Err(error) => error,
            };
            self.check_is_whole(place)?;
            match error {
                Error::PeerLost { pe, .. } | Error::PeerLeft { pe } if pe == end => {}
                error => return Err(error.into()),
            }
            // A living PE in the queue either announces itself to this one, or finds that the PE in front of it has
            // ended.
            if !self.somebody_waits() && self.tail(Operation::CompareSwap, 0, last)? == last {
                return Ok(None);
            }
        }
    }

    /// Whether another PE that lives is in the queue.
    fn somebody_waits(&self) -> bool {
        let mut others = (0..self.attachment.pes).filter(|pe| pe + 1 != self.me);
        others.any(|pe| {
            let lives = !matches!(self.attachment.is_lost(pe), Ok(true));
            // A PE that cannot be asked has ended meanwhile.
            lives
                && self
                    .half(pe, self.offset_bytes, Operation::Or, 0, 0)
                    .is_ok_and(|own| own & WAITS != 0)
        })
    }

    /// `ended` has ended in the queue, so no PE gets the lock any more. The home is told last. A PE that queues there
    /// later then finds the mark in its own word.
    fn break_for_all(&self, ended: PeId) {
        let all = 0..self.attachment.pes;
        for pe in all.filter(|pe| *pe != self.home).chain([self.home]) {
            // It is no error if that PE has ended, too.
            let _ = self.half(
                pe,
                self.offset_bytes + 4,
                Operation::Swap,
                BROKEN | ended,
                0,
            );
        }
    }

    /// An error if the lock is broken: this PE is in no queue then.
    fn check_is_whole(&self, place: &mut Option<Queued>) -> core::result::Result<(), LockError> {
        let high = (self.word()? >> 32) as u32;
        if high & BROKEN == 0 {
            return Ok(());
        }
        *place = None;
        Err(self.gone(self.ended(high)?)?.into())
    }

    /// The PE that has broken the lock.
    fn ended(&self, got: u32) -> core::result::Result<PeId, LockError> {
        let pe = got & !BROKEN;
        let is_one = pe < self.attachment.pes;
        is_one.then_some(pe).ok_or(LockError::Damaged { got })
    }

    /// That a PE has ended, as an error.
    fn gone(&self, pe: PeId) -> Result<Error> {
        Ok(match self.attachment.is_lost(pe)? {
            false if self.attachment.departure(pe)?.is_some() => Error::PeerLeft { pe },
            _ => self.attachment.lost.error(pe),
        })
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

    /// Both halves, at this PE.
    fn word(&self) -> Result<u64> {
        Ok(self.attachment.segment().load_word(self.offset_bytes)?)
    }

    fn own(&self) -> Result<u32> {
        Ok(self.word()? as u32)
    }

    /// Waits until `is_so` holds for the own half. Ends if `next`, which has to change it, has ended, or if the lock is
    /// broken.
    fn own_when(&self, wait: Wait<'_>, next: PeId, is_so: impl Fn(u32) -> bool) -> Result<u32> {
        let watch = Watch::Next { members: &[], next };
        wait(watch, &mut || {
            let word = self.word()?;
            match (word >> 32) as u32 {
                high if high & BROKEN != 0 => Err(self.gone(high & !BROKEN)?),
                _ => Ok(is_so(word as u32).then_some(word as u32)),
            }
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
    /// The error of a job for a lock with this home.
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
