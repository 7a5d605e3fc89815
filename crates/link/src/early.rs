//! Frames that came before one that is missing.
//!
//! In the paper a receiver keeps no frame, and a loss sends everything again that was on its way (Go-Back-N).
//! A host has memory for a few frames. Then only what is missing is sent again, and the frames
//! behind it wait here for their turn.

use std::collections::VecDeque;

/// The early frames of one link, in order. The first place is that of the next frame expected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Early {
    frames: VecDeque<Option<Box<[u8]>>>,
    kept: usize,
}

impl Early {
    /// Keeps a frame that is `ahead` of the next one expected; whether it was not there before.
    pub(crate) fn keep(&mut self, ahead: u16, frame: &[u8]) -> bool {
        let at = usize::from(ahead);
        if self.frames.len() <= at {
            self.frames.resize(at + 1, None);
        }
        match self.frames.get_mut(at) {
            Some(place @ None) => {
                *place = Some(frame.into());
                self.kept += 1;
                true
            }
            _ => false,
        }
    }

    /// Takes the next frame expected away, if it is here.
    pub(crate) fn take(&mut self) -> Option<Box<[u8]>> {
        let frame = self.frames.front_mut()?.take()?;
        self.kept -= 1;
        Some(frame)
    }

    /// The next frame expected has been delivered.
    pub(crate) fn advance(&mut self) {
        self.take();
        self.frames.pop_front();
    }

    /// How many frames are missing before the first one that is here; 0 if that is the next one. `None` if none
    /// is here.
    pub(crate) fn missing(&self) -> Option<u16> {
        if self.kept == 0 {
            return None;
        }
        let missing = self.frames.iter().position(Option::is_some)?;
        // `keep` was told a u16.
        u16::try_from(missing).ok()
    }

    pub(crate) const fn kept(&self) -> usize {
        self.kept
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        let frames: usize = self.frames.iter().flatten().map(|frame| frame.len()).sum();
        self.frames.capacity() * size_of::<Option<Box<[u8]>>>() + frames
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
        assert_eq!(
            early.heap_bytes() / size_of::<Option<Box<[u8]>>>(),
            early.frames.capacity()
        );
    }

    /// The sender was impatient: the frame came a second time before it was taken.
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
