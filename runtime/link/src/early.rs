//! Frames that arrived before an earlier one that is missing.
//!
//! In the paper a receiver keeps no frames, and after a loss all frames in flight are sent again (Go-Back-N). A
//! host has memory for some frames. So only missing frames are sent again, and the frames after them wait here
//! for their turn.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The early frames of one link, in order. Missing frames take no memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Early {
    /// By place: each expected frame has one, counted from the beginning of the session.
    frames: BTreeMap<u64, Box<[u8]>>,
    /// The place of the next frame expected.
    next: u64,
}

impl Early {
    /// Keeps a frame that is `ahead` of the next expected one. Returns whether it is new.
    pub(crate) fn keep(&mut self, ahead: u16, frame: &[u8]) -> bool {
        let place = self.frames.entry(self.next + u64::from(ahead));
        let is_new = matches!(place, Entry::Vacant(_));
        place.or_insert_with(|| frame.into());
        is_new
    }

    /// Takes the next expected frame, if it is here.
    pub(crate) fn take(&mut self) -> Option<Box<[u8]>> {
        self.frames.remove(&self.next)
    }

    /// The next frame expected has been delivered.
    #[inline]
    pub(crate) fn advance(&mut self) {
        if !self.frames.is_empty() {
            self.take();
        }
        self.next += 1;
    }

    /// How many frames are missing before the first one that is here; 0 if that is the next one. `None` if none
    /// is here.
    #[inline]
    pub(crate) fn missing(&self) -> Option<u16> {
        let (first, _) = self.frames.first_key_value()?;
        // `keep` got a u16.
        u16::try_from(first - self.next).ok()
    }

    pub(crate) fn kept(&self) -> usize {
        self.frames.len()
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Nodes of a tree are half full at least.
    pub(crate) fn heap_bytes(&self) -> usize {
        let frames: usize = self.frames.values().map(|frame| frame.len()).sum();
        2 * self.frames.len() * size_of::<(u64, Box<[u8]>)>() + frames
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_wait_for_their_turn() {
        let mut early = Early::default();
        assert_eq!(early.missing(), None);
        assert!(early.keep(3, b"three"));
        assert!(early.keep(2, b"two"));
        assert!(!early.keep(3, b"again"));
        assert_eq!((early.missing(), early.kept()), (Some(2), 2));
        assert_eq!(early.take(), None);
        early.advance();
        early.advance();
        assert_eq!(early.missing(), Some(0));
        assert_eq!(early.take().as_deref(), Some(&b"two"[..]));
        assert_eq!(early.missing(), Some(1));
        early.advance();
        assert_eq!(early.take().as_deref(), Some(&b"three"[..]));
        early.advance();
        assert_eq!((early.missing(), early.kept()), (None, 0));
        early.advance();
        assert_eq!(early.heap_bytes(), 0);
    }

    #[test]
    fn a_gap_takes_no_memory() {
        let mut near = Early::default();
        let mut far = Early::default();
        assert!(near.keep(1, b"frame"));
        assert!(far.keep(8192, b"frame"));
        assert_eq!(far.missing(), Some(8192));
        assert_eq!(far.heap_bytes(), near.heap_bytes());
    }

    /// The sender sent too early again: the frame came a second time before it was taken.
    #[test]
    fn a_frame_that_was_delivered_otherwise_is_gone() {
        let mut early = Early::default();
        assert!(early.keep(1, b"one"));
        early.advance();
        early.advance();
        assert_eq!(
            (early.missing(), early.kept(), early.take()),
            (None, 0, None)
        );
    }
}
