//! A PE's side of the [board](crate::board): informs the launcher of the activity of this
//! PE, and learns which PEs have ended.

use std::sync::atomic::Ordering;

use hostwire_transport::{ForkGuard, Memory, PeId};

use crate::board::{Activity, ENDED, ENDED_AT, LOST_AT, RECORD_BYTES, Record};

/// One relaxed store per change; nothing if no launcher reads it, and nothing in a copy of
/// the process.
#[derive(Debug, Default)]
pub(crate) struct Status {
    board: Option<(Memory, usize)>,
    fork_guard: Option<ForkGuard>,
}

impl Status {
    /// Writes to the record of `pe` if `board` has one.
    pub(crate) fn new(board: Option<Memory>, pe: PeId) -> Self {
        let offset = pe as usize * RECORD_BYTES;
        Self {
            board: board
                .filter(|memory| memory.word(offset).is_ok())
                .map(|memory| (memory, offset)),
            fork_guard: None,
        }
    }

    /// From now on only this process writes to the board.
    pub(crate) fn of(self, fork_guard: ForkGuard) -> Self {
        Self {
            fork_guard: Some(fork_guard),
            ..self
        }
    }

    /// Says what this PE is doing, and with whom.
    #[inline]
    pub(crate) fn set(&self, activity: Activity, peer: Option<PeId>) {
        if let Some((memory, offset)) = &self.board
            && self.fork_guard.as_ref().is_none_or(ForkGuard::is_here)
            && let Ok(word) = memory.word(*offset)
        {
            word.store(Record { activity, peer }.to_word(), Ordering::Relaxed);
        }
    }

    /// The entries of the launcher and of this PE about others.
    pub(crate) fn obituaries(&self) -> Obituaries {
        Obituaries {
            board: self.board.clone(),
        }
    }

    /// Sets the activity until the guard is dropped; then the PE computes again.
    #[inline]
    pub(crate) fn during(&self, activity: Activity, peer: Option<PeId>) -> During<'_> {
        self.set(activity, peer);
        During(self)
    }
}

/// The PEs that have ended without leaving the job, as the launcher says, and the first
/// one that this PE has found.
#[derive(Debug, Default)]
pub(crate) struct Obituaries {
    board: Option<(Memory, usize)>,
}

impl Obituaries {
    /// Whether the launcher has stored this for `pe`.
    pub(crate) fn contains(&self, pe: PeId) -> bool {
        let at = pe as usize * RECORD_BYTES + ENDED_AT;
        let board = self.board.as_ref();
        let word = board.and_then(|(board, _)| board.word(at).ok());
        word.is_some_and(|word| word.load(Ordering::Acquire) == u64::from_ne_bytes(ENDED))
    }

    /// Tells the launcher that this PE has found `pe` to be lost, if it is the first.
    pub(crate) fn add(&self, pe: PeId) {
        if let Some((board, offset)) = &self.board
            && let Ok(word) = board.word(offset + LOST_AT)
        {
            let lost = (u64::from(pe) + 1).to_le();
            let _ = word.compare_exchange(0, lost, Ordering::Release, Ordering::Relaxed);
        }
    }
}

/// Says on the board that the PE computes again, when it is dropped.
pub struct During<'a>(&'a Status);

impl Drop for During<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(Activity::Computing, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_is_believed_when_it_says_that_a_pe_has_ended() {
        let board = Memory::anonymous(3 * RECORD_BYTES);
        let status = Status::new(Some(board.clone()), 0);
        status.set(Activity::Sending, Some(2));
        let obituaries = status.obituaries();
        assert!((0..4).all(|pe| !obituaries.contains(pe)));
        board.copy_in(2 * RECORD_BYTES + 8, b"hw-ended").unwrap();
        let ended = [0, 1, 2, 3, u32::MAX].map(|pe| obituaries.contains(pe));
        assert_eq!(ended, [false, false, true, false, false]);
        assert!(!Status::default().obituaries().contains(2));
    }

    #[test]
    fn the_first_loss_is_told_to_the_launcher() {
        let board = Memory::anonymous(2 * RECORD_BYTES);
        let obituaries = Status::new(Some(board.clone()), 1).obituaries();
        obituaries.add(0);
        obituaries.add(7);
        let mut bytes = [1; 2 * RECORD_BYTES];
        board.copy_out(0, &mut bytes).unwrap();
        let mut expected = [0; 2 * RECORD_BYTES];
        expected[80] = 1;
        assert_eq!(bytes, expected);
        Status::default().obituaries().add(0);
    }
}
