//! Pieces to devices of one other PE: where they land, and their state.

use hostwire_transport::PeId;
use zerocopy::IntoBytes;

use crate::error::Result;
use crate::tca::door::{HEAD_WORDS, Head, Outcome, SLOTS};
use crate::tca::shared::TcaShared;

/// Names a piece: its slot and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Landed {
    slot: usize,
    number: u64,
}

/// See the [module text](self).
#[derive(Debug, Default)]
pub(super) struct Channel {
    /// The number of the last piece. Piece `n` has slot `n % SLOTS`.
    last: u64,
    /// Slots with a piece whose outcome has not been read.
    busy: [bool; SLOTS],
}

impl Channel {
    /// Puts a piece, of `len` bytes at `own` of this PE's segment, if there is a slot for it.
    pub(super) fn send(
        &mut self,
        shared: &TcaShared,
        pe: PeId,
        head: Head,
        (own, len): (usize, usize),
    ) -> Result<Option<Landed>> {
        let number = self.last + 1;
        let slot = (number % SLOTS as u64) as usize;
        if self.busy[slot] {
            return Ok(None);
        }
        let (inner, door) = (&shared.inner, &shared.door);
        if len > 0 {
            inner.put_own(pe, door.landing(inner.pe, slot), own, len)?;
        }
        let at = door.head(inner.pe, slot);
        let words: [u64; HEAD_WORDS] = head.words();
        inner.put(pe, at + 8, words.as_bytes())?;
        inner.put_word(pe, at, number)?;
        inner.fence_of(pe)?;
        self.last = number;
        self.busy[slot] = true;
        Ok(Some(Landed { slot, number }))
    }

    /// How a piece has ended. Given only once.
    pub(super) fn outcome(
        &mut self,
        shared: &TcaShared,
        pe: PeId,
        piece: Landed,
    ) -> Result<Option<Outcome>> {
        let word = shared
            .inner
            .segment()
            .load_word(shared.door.ack(pe, piece.slot))?;
        let outcome = Outcome::read(word, piece.number);
        if outcome.is_some() {
            self.busy[piece.slot] = false;
        }
        Ok(outcome)
    }
}
