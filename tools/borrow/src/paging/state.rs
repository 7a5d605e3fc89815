//! What the pager knows of each page.

use std::ops::Range;

use super::Page;
use super::streams::Way;

const RESIDENT: u8 = 1;
/// The program may write it.
const WRITABLE: u8 = 2;
const SAVED: u8 = 4;
/// It may stay when its turn to leave comes.
const SECOND_CHANCE: u8 = 8;

/// A byte of flags per page, and when it left.
#[derive(Debug)]
pub(super) struct Table {
    flags: Vec<u8>,
    /// How many pages had left when this one did. 0: it never did.
    left_at: Vec<u32>,
    removals: u32,
    resident: usize,
}

impl Table {
    pub fn new(pages: usize) -> Self {
        Self {
            flags: vec![0; pages],
            left_at: vec![0; pages],
            removals: 0,
            resident: 0,
        }
    }

    pub fn resident(&self) -> usize {
        self.resident
    }

    pub fn contains(&self, page: Page) -> bool {
        (page as usize) < self.flags.len()
    }

    fn get(&self, page: Page) -> u8 {
        self.flags.get(page as usize).copied().unwrap_or(0)
    }

    fn each(&mut self, pages: Range<Page>) -> impl Iterator<Item = &mut u8> {
        let range = pages.start as usize..(pages.end as usize).min(self.flags.len());
        self.flags.get_mut(range).unwrap_or_default().iter_mut()
    }

    pub fn is_resident(&self, page: Page) -> bool {
        self.get(page) & RESIDENT != 0
    }

    pub fn is_writable(&self, page: Page) -> bool {
        self.get(page) & WRITABLE != 0
    }

    /// The longest part at the start of the range whose pages all agree with the first one in `mask`.
    fn while_alike(&self, pages: Range<Page>, mask: u8) -> Range<Page> {
        let first = self.get(pages.start) & mask;
        let end = pages
            .clone()
            .find(|page| self.get(*page) & mask != first)
            .unwrap_or(pages.end);
        pages.start..end
    }

    /// The parts of a range, each as long as its pages agree in `mask`.
    fn parts(&self, pages: Range<Page>, mask: u8) -> Vec<(Range<Page>, u8)> {
        let mut rest = pages;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            let part = self.while_alike(rest.clone(), mask);
            rest.start = part.end;
            let flags = self.get(part.start) & mask;
            parts.push((part, flags));
        }
        parts
    }

    fn those(&self, pages: Range<Page>, mask: u8, flags: u8) -> Vec<Range<Page>> {
        let parts = self.parts(pages, mask).into_iter();
        let parts = parts.filter(|(_, has)| *has == flags);
        parts.map(|(part, _)| part).collect()
    }

    /// Parts that are here.
    pub fn present(&self, pages: Range<Page>) -> Vec<Range<Page>> {
        self.those(pages, RESIDENT, RESIDENT)
    }

    /// Parts that are not here.
    pub fn absent(&self, pages: Range<Page>) -> Vec<Range<Page>> {
        self.those(pages, RESIDENT, 0)
    }

    /// Parts that are here and may have been written.
    pub fn dirty(&self, pages: Range<Page>) -> Vec<Range<Page>> {
        let both = RESIDENT | WRITABLE;
        self.those(pages, both, both)
    }

    /// The longest part at the end of the range whose pages all agree with the last one in `mask`.
    fn up_to_end_alike(&self, pages: Range<Page>, mask: u8) -> Range<Page> {
        let last = self.get(pages.end.saturating_sub(1)) & mask;
        let other = pages.clone().rfind(|page| self.get(*page) & mask != last);
        other.map_or(pages.start, |page| page + 1)..pages.end
    }

    /// The first page of a range, as a program goes that way, and its next neighbours in the range that are also
    /// present, or also absent.
    pub fn alike_in_residence(&self, pages: Range<Page>, way: Way) -> Range<Page> {
        match way {
            Way::Up => self.while_alike(pages, RESIDENT),
            Way::Down => self.up_to_end_alike(pages, RESIDENT),
        }
    }

    /// As [`alike_in_residence`](Self::alike_in_residence), but also alike in whether they may be written.
    pub fn alike_in_access(&self, pages: Range<Page>, way: Way) -> Range<Page> {
        match way {
            Way::Up => self.while_alike(pages, RESIDENT | WRITABLE),
            Way::Down => self.up_to_end_alike(pages, RESIDENT | WRITABLE),
        }
    }

    /// All parts, and whether they have been saved.
    pub fn by_saved(&self, pages: Range<Page>) -> impl Iterator<Item = (Range<Page>, bool)> {
        let parts = self.parts(pages, SAVED).into_iter();
        parts.map(|(part, flags)| (part, flags != 0))
    }

    /// Absent pages have become present.
    pub fn came(&mut self, pages: Range<Page>, is_writable: bool) {
        self.resident += pages.len();
        let more = match is_writable {
            true => RESIDENT | WRITABLE,
            false => RESIDENT,
        };
        self.each(pages).for_each(|flags| *flags |= more);
    }

    /// Present pages have become absent.
    pub fn left(&mut self, pages: Range<Page>) {
        self.resident -= pages.len();
        self.removals = self.removals.wrapping_add(pages.len() as u32).max(1);
        let range = pages.start as usize..pages.end as usize;
        let removals = self.removals;
        let left_at = self.left_at.get_mut(range).unwrap_or_default();
        left_at.fill(removals);
        self.each(pages)
            .for_each(|flags| *flags &= !(RESIDENT | WRITABLE));
    }

    pub fn set_writable(&mut self, pages: Range<Page>, is_writable: bool) {
        self.each(pages).for_each(|flags| match is_writable {
            true => *flags |= WRITABLE,
            false => *flags &= !WRITABLE,
        });
    }

    pub fn set_saved(&mut self, pages: Range<Page>) {
        self.each(pages).for_each(|flags| *flags |= SAVED);
    }

    /// Forgets all about these pages.
    pub fn clear(&mut self, pages: Range<Page>) {
        let mut here = 0;
        self.each(pages.clone()).for_each(|flags| {
            here += usize::from(*flags & RESIDENT != 0);
            *flags = 0;
        });
        self.resident -= here;
        let range = pages.start as usize..(pages.end as usize).min(self.left_at.len());
        self.left_at.get_mut(range).unwrap_or_default().fill(0);
    }

    /// A page comes again. If few others have left since, it may stay longer than they.
    pub fn note_return(&mut self, page: Page, soon: u32) {
        let left_at = self.left_at.get(page as usize).copied().unwrap_or(0);
        let is_soon = left_at != 0 && self.removals.wrapping_sub(left_at) < soon;
        if let (true, Some(flags)) = (is_soon, self.flags.get_mut(page as usize)) {
            *flags |= SECOND_CHANCE;
        }
    }

    /// Whether one of these pages had a second chance, which it has used now.
    pub fn take_second_chance(&mut self, pages: Range<Page>) -> bool {
        let mut had = false;
        self.each(pages).for_each(|flags| {
            had |= *flags & SECOND_CHANCE != 0;
            *flags &= !SECOND_CHANCE;
        });
        had
    }
}
