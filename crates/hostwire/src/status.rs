//! The writing side of the [board](crate::board): tells the launcher what this PE does.

use std::sync::atomic::Ordering;

use hostwire_transport::Memory;
use hostwire_transport::PeId;

use crate::board::{Activity, RECORD_BYTES, Record};

/// One relaxed store per change; nothing if no launcher reads it.
#[derive(Debug, Default)]
pub(crate) struct Status {
    board: Option<(Memory, usize)>,
}

impl Status {
    /// Writes to the record of `pe` if `board` has one.
    pub(crate) fn new(board: Option<Memory>, pe: PeId) -> Self {
        let offset = pe as usize * RECORD_BYTES;
        Self {
            board: board
                .filter(|memory| memory.word(offset).is_ok())
                .map(|memory| (memory, offset)),
        }
    }

    /// Says what this PE is doing, and with whom.
    #[inline]
    pub(crate) fn set(&self, activity: Activity, peer: Option<PeId>) {
        if let Some((memory, offset)) = &self.board
            && let Ok(word) = memory.word(*offset)
        {
            word.store(Record { activity, peer }.to_word(), Ordering::Relaxed);
        }
    }

    /// Says so until the guard is dropped, which says that the PE computes again.
    #[inline]
    pub(crate) fn during(&self, activity: Activity, peer: Option<PeId>) -> During<'_> {
        self.set(activity, peer);
        During(self)
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
