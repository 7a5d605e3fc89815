//! Pages that are in memory, of a swap device that holds them all.

use std::collections::HashMap;

use super::pages::PageHash;

/// Places for pages; the least recently used page leaves.
#[derive(Clone, Debug)]
pub(super) struct Residency {
    frames_max: usize,
    frames: Vec<Frame>,
    places: HashMap<u64, u32, PageHash>,
    /// Most and least recently used; meaningless while `frames` is empty.
    newest: u32,
    oldest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Frame {
    page: u64,
    dirty: bool,
    newer: u32,
    older: u32,
}

/// The result of touching a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Touched {
    Resident,
    /// It was brought in. The page whose place it took was written to before.
    BroughtIn {
        dirty_victim: bool,
    },
}

impl Residency {
    pub(super) fn new(frames_max: usize) -> Residency {
        Residency {
            // Frames are numbered with 32 bits.
            frames_max: frames_max.clamp(1, u32::MAX as usize),
            frames: Vec::new(),
            places: HashMap::default(),
            newest: 0,
            oldest: 0,
        }
    }

    /// Places for pages.
    pub(super) fn frames_max(&self) -> usize {
        self.frames_max
    }

    pub(super) fn touch(&mut self, page: u64, write: bool) -> Touched {
        if let Some(&place) = self.places.get(&page) {
            self.frames[place as usize].dirty |= write;
            self.renew(place);
            return Touched::Resident;
        }
        let mut frame = Frame {
            page,
            dirty: write,
            newer: 0,
            older: 0,
        };
        if self.frames.len() < self.frames_max {
            let place = self.frames.len() as u32;
            if place == 0 {
                self.oldest = place;
            } else {
                frame.older = self.newest;
                self.frames[self.newest as usize].newer = place;
            }
            self.frames.push(frame);
            self.newest = place;
            self.places.insert(page, place);
            return Touched::BroughtIn {
                dirty_victim: false,
            };
        }
        let place = self.oldest;
        let victim = self.frames[place as usize];
        self.places.remove(&victim.page);
        self.places.insert(page, place);
        self.renew(place);
        let taken = &mut self.frames[place as usize];
        (taken.page, taken.dirty) = (page, write);
        Touched::BroughtIn {
            dirty_victim: victim.dirty,
        }
    }

    /// Makes a frame the most recently used one.
    fn renew(&mut self, place: u32) {
        if place == self.newest {
            return;
        }
        let Frame { newer, older, .. } = self.frames[place as usize];
        self.frames[newer as usize].older = older;
        match place == self.oldest {
            true => self.oldest = newer,
            false => self.frames[older as usize].newer = newer,
        }
        self.frames[self.newest as usize].newer = place;
        self.frames[place as usize].older = self.newest;
        self.newest = place;
    }

    /// Resident pages and whether they are dirty, the most recently used first.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u64, bool)> {
        let mut at = self.newest;
        (0..self.frames.len()).map(move |_| {
            let frame = self.frames[at as usize];
            at = frame.older;
            (frame.page, frame.dirty)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn as_a_plain_list(
            frames in 1..8usize,
            touches in prop::collection::vec((0..12u64, any::<bool>()), 0..200),
        ) {
            let mut residency = Residency::new(frames);
            // Most recently used first.
            let mut list: Vec<(u64, bool)> = Vec::new();
            for (page, write) in touches {
                let expected = match list.iter().position(|held| held.0 == page) {
                    Some(at) => {
                        let held = list.remove(at);
                        list.insert(0, (page, held.1 | write));
                        Touched::Resident
                    }
                    None => {
                        list.insert(0, (page, write));
                        let victim = (list.len() > frames).then(|| list.pop()).flatten();
                        Touched::BroughtIn { dirty_victim: victim.is_some_and(|held| held.1) }
                    }
                };
                prop_assert_eq!(residency.touch(page, write), expected);
                prop_assert_eq!(residency.pages().collect::<Vec<_>>(), list.clone());
            }
        }
    }
}
