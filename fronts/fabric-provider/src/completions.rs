//! Completions of operations, in their order. Each is made where it stays.
//!
//! A value that is moved right after it was made is loaded in larger pieces than it was stored in. Such a load waits
//! until all earlier stores have left the core, also those of a message that was just sent. This would take as long as
//! everything else.

use crate::cq::Entry;

/// Room at the beginning. A power of two, and so is what follows.
const ROOM: usize = 64;

/// A queue that grows.
#[derive(Default)]
pub(crate) struct Completions {
    /// None, or a power of two of them.
    places: Vec<Entry>,
    /// The place of the first one, modulo the number of places.
    first: usize,
    len: usize,
}

impl Completions {
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A place behind all others, with whatever was there before.
    #[inline(always)]
    pub(crate) fn push(&mut self) -> &mut Entry {
        if self.len == self.places.len() {
            self.grow();
        }
        let at = self.place(self.len);
        self.len += 1;
        &mut self.places[at]
    }

    #[inline(always)]
    pub(crate) fn get(&self, index: usize) -> Option<&Entry> {
        (index < self.len).then(|| &self.places[self.place(index)])
    }

    /// Forgets so many of the first ones, or all.
    #[inline(always)]
    pub(crate) fn forget(&mut self, count: usize) {
        let count = count.min(self.len);
        self.first = self.first.wrapping_add(count);
        self.len -= count;
    }

    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        // Without places there is nothing to index.
        self.first.wrapping_add(index) & self.places.len().wrapping_sub(1)
    }

    #[cold]
    fn grow(&mut self) {
        let places = self.places.len();
        if places > 0 {
            self.places.rotate_left(self.first % places);
        }
        self.first = 0;
        let room = (2 * places).max(ROOM);
        self.places.resize(room, Entry::NOTHING);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    #[test]
    fn they_come_out_in_their_order_whatever_room_there_is() {
        let (mut ends, mut plain) = (Completions::default(), VecDeque::new());
        assert!(ends.get(0).is_none());
        for turn in 0..1000_u64 {
            for number in 0..turn % 7 {
                let tag = turn * 10 + number;
                ends.push().entry.tag = tag;
                plain.push_back(tag);
            }
            // More come than go, until all go.
            let gone = if turn % 200 == 199 {
                plain.len()
            } else {
                (turn % 5) as usize
            };
            let tag = |index| ends.get(index).map(|end| end.entry.tag);
            assert!((0..).map_while(tag).eq(plain.iter().copied()));
            ends.forget(gone);
            plain.drain(..gone.min(plain.len()));
            assert_eq!(ends.len(), plain.len());
            assert!(ends.get(plain.len()).is_none());
        }
        assert!(ends.places.len().is_power_of_two() && ends.places.len() > ROOM);
    }
}
