//! Which part of the borrowed memory belongs to whom.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::paging::Page;

/// Who has a part: the number of a client.
pub type Owner = u32;

/// The parts of the borrowed memory, in pages.
#[derive(Debug)]
pub struct Room {
    /// By first page: the end.
    free: BTreeMap<Page, Page>,
    /// By first page: the end, and the owner.
    used: BTreeMap<Page, (Page, Owner)>,
    pages: Page,
}

impl Room {
    /// All of it free.
    pub fn new(pages: Page) -> Self {
        let free = (pages > 0).then_some((0, pages));
        Self {
            free: free.into_iter().collect(),
            used: BTreeMap::new(),
            pages,
        }
    }

    /// All pages there are.
    pub fn pages(&self) -> Page {
        self.pages
    }

    /// Pages that are free.
    pub fn free_pages(&self) -> Page {
        self.free.iter().map(|(start, end)| end - start).sum()
    }

    /// Takes `count` pages: the first place where they fit.
    pub fn take(&mut self, count: Page, owner: Owner) -> Option<Range<Page>> {
        if count == 0 {
            return None;
        }
        let mut places = self.free.iter();
        let (start, end) = places.find(|(start, end)| *end - *start >= count)?;
        let (start, end) = (*start, *end);
        self.free.remove(&start);
        if start + count < end {
            self.free.insert(start + count, end);
        }
        self.used.insert(start, (start + count, owner));
        Some(start..start + count)
    }

    /// The part that `page` lies in, and whose it is.
    pub fn part_of(&self, page: Page) -> Option<(Range<Page>, Owner)> {
        let (start, (end, owner)) = self.used.range(..=page).next_back()?;
        (page < *end).then_some((*start..*end, *owner))
    }

    /// The pieces of `pages` that belong to `owner`.
    pub fn owned(&self, pages: &Range<Page>, owner: Owner) -> Vec<Range<Page>> {
        let first = self
            .part_of(pages.start)
            .map_or(pages.start, |(it, _)| it.start);
        let parts = self.used.range(first..pages.end.max(first));
        let parts = parts.filter(|(_, (_, its))| *its == owner);
        let pieces = parts.map(|(start, (end, _))| pages.start.max(*start)..pages.end.min(*end));
        pieces.filter(|piece| piece.start < piece.end).collect()
    }

    /// All parts of `owner`.
    pub fn all_of(&self, owner: Owner) -> Vec<Range<Page>> {
        self.owned(&(0..self.pages), owner)
    }

    /// Gives back what `owner` has of `pages`, and says which pieces these were.
    pub fn give_back(&mut self, pages: &Range<Page>, owner: Owner) -> Vec<Range<Page>> {
        let pieces = self.owned(pages, owner);
        for piece in &pieces {
            self.release(piece);
        }
        pieces
    }

    /// Frees a piece of one part. What is before and behind it stays in use.
    fn release(&mut self, piece: &Range<Page>) {
        let Some((part, owner)) = self.part_of(piece.start) else {
            return;
        };
        self.used.remove(&part.start);
        if part.start < piece.start {
            self.used.insert(part.start, (piece.start, owner));
        }
        if piece.end < part.end {
            self.used.insert(piece.end, (part.end, owner));
        }
        let (mut start, mut end) = (piece.start, piece.end);
        if let Some((before, its_end)) = self.free.range(..start).next_back()
            && *its_end == start
        {
            start = *before;
        }
        if let Some(its_end) = self.free.remove(&end) {
            end = its_end;
        }
        self.free.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_grows_together() {
        let mut room = Room::new(100);
        let a = room.take(10, 1).unwrap();
        let b = room.take(20, 1).unwrap();
        let c = room.take(70, 2).unwrap();
        assert_eq!((a.clone(), b.clone(), c), (0..10, 10..30, 30..100));
        assert_eq!(room.take(1, 1), None);
        assert_eq!(room.give_back(&(0..100), 1), [a, b]);
        assert_eq!(room.free_pages(), 30);
        assert_eq!(room.take(30, 3), Some(0..30));
    }

    #[test]
    fn a_piece_of_a_part_can_be_given_back_by_its_owner_only() {
        let mut room = Room::new(100);
        room.take(50, 1).unwrap();
        assert_eq!(room.give_back(&(10..20), 2), []);
        assert_eq!(room.give_back(&(10..20), 1), vec![10..20_u32]);
        assert_eq!(room.part_of(9), Some((0..10, 1)));
        assert_eq!(room.part_of(15), None);
        assert_eq!(room.part_of(20), Some((20..50, 1)));
        assert_eq!(room.all_of(1), [0..10, 20..50]);
        assert_eq!(room.give_back(&(5..30), 1), [5..10, 20..30]);
        assert_eq!(room.free_pages(), 75);
    }
}
