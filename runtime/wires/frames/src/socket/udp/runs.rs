//! Which frames leave together: as one message, which the kernel splits into one datagram
//! per frame.

use super::super::SEND_BATCH_FRAMES;

/// A frame and the PE that it is for.
pub(super) type Frame<'a> = (u32, &'a [u8]);

/// The limits of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) frames: usize,
    /// Of all frames together.
    pub(super) bytes: usize,
}

impl Bounds {
    /// A frame is a message.
    pub(super) const ONE: Self = Self {
        frames: 1,
        bytes: usize::MAX,
    };

    /// How many of `frames`, from the first on, may be one message: they are for one PE
    /// and have one length, but the last may be shorter. An empty frame is always alone,
    /// because it would vanish in a message. At least 1, if there is one.
    fn fit(self, frames: &[Frame<'_>]) -> usize {
        let Some(((pe, first), rest)) = frames.split_first() else {
            return 0;
        };
        let mut bytes = first.len();
        let mut count = 1;
        for (to, frame) in rest {
            bytes = bytes.saturating_add(frame.len());
            let joins = to == pe && (1..=first.len()).contains(&frame.len());
            if !joins || count >= self.frames || bytes > self.bytes {
                break;
            }
            count += 1;
            if frame.len() < first.len() {
                break;
            }
        }
        count
    }
}

/// Frames in the order that they came in, as messages for one call.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    runs: [&'a [Frame<'a>]; SEND_BATCH_FRAMES],
    count: usize,
}

impl<'a> Batch<'a> {
    /// The messages of `frames`, from the first on: at most [`SEND_BATCH_FRAMES`] frames.
    pub(super) fn of(frames: &'a [Frame<'a>], bounds: Bounds) -> Self {
        let mut rest = frames.get(..SEND_BATCH_FRAMES).unwrap_or(frames);
        let mut batch = Self {
            runs: [&[]; SEND_BATCH_FRAMES],
            count: 0,
        };
        for run in &mut batch.runs {
            let Some((first, behind)) = rest.split_at_checked(bounds.fit(rest)) else {
                break;
            };
            if first.is_empty() {
                break;
            }
            (*run, rest) = (first, behind);
            batch.count += 1;
        }
        batch
    }

    /// The frames of each message; none is empty.
    pub(super) fn runs(&self) -> &[&'a [Frame<'a>]] {
        self.runs.get(..self.count).unwrap_or_default()
    }

    /// The number of frames in the first `messages` messages.
    pub(super) fn frames(&self, messages: usize) -> usize {
        let runs = self.runs().iter().take(messages);
        runs.map(|run| run.len()).sum()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BYTES: [u8; 64] = [7; 64];

    fn frames(of: &[(u32, usize)]) -> Vec<Frame<'static>> {
        of.iter().map(|(pe, len)| (*pe, &BYTES[..*len])).collect()
    }

    /// The lengths of the frames of each message.
    fn cut(of: &[(u32, usize)], bounds: Bounds) -> Vec<Vec<usize>> {
        let frames = frames(of);
        let batch = Batch::of(&frames, bounds);
        let lens = |run: &&[Frame<'_>]| run.iter().map(|(_, frame)| frame.len()).collect();
        batch.runs().iter().map(lens).collect()
    }

    const WIDE: Bounds = Bounds {
        frames: 64,
        bytes: 65_507,
    };

    #[test]
    fn one_length_and_one_shorter() {
        let to = |lens: &[usize]| -> Vec<(u32, usize)> { lens.iter().map(|l| (1, *l)).collect() };
        assert_eq!(cut(&[], WIDE), <[Vec<usize>; 0]>::default());
        assert_eq!(cut(&to(&[9]), WIDE), [vec![9]]);
        assert_eq!(cut(&to(&[9, 9, 9]), WIDE), [vec![9, 9, 9]]);
        assert_eq!(cut(&to(&[9, 9, 5, 5]), WIDE), [vec![9, 9, 5], vec![5]]);
        assert_eq!(cut(&to(&[5, 9, 9]), WIDE), [vec![5], vec![9, 9]]);
        assert_eq!(cut(&to(&[9, 0, 9]), WIDE), [vec![9], vec![0], vec![9]]);
        assert_eq!(cut(&to(&[0, 0]), WIDE), [vec![0], vec![0]]);
        assert_eq!(
            cut(&[(1, 9), (2, 9), (2, 9), (1, 9)], WIDE),
            [vec![9], vec![9, 9], vec![9]]
        );
    }

    #[test]
    fn a_message_has_bounds() {
        let nines = [(1, 9); 7];
        let three = Bounds { frames: 3, ..WIDE };
        assert_eq!(cut(&nines, three), [vec![9; 3], vec![9; 3], vec![9]]);
        let bytes = |bytes| Bounds { bytes, ..WIDE };
        assert_eq!(cut(&nines, bytes(36)), [vec![9; 4], vec![9; 3]]);
        assert_eq!(cut(&nines, bytes(35)), [vec![9; 3], vec![9; 3], vec![9]]);
        // The kernel has to refuse it.
        assert_eq!(cut(&[(1, 9)], bytes(8)), [vec![9]]);
        assert_eq!(cut(&nines, Bounds::ONE), vec![vec![9]; 7]);
    }

    #[test]
    fn a_call_has_bounds() {
        let many = [(1, 9); SEND_BATCH_FRAMES + 1];
        assert_eq!(cut(&many, WIDE), [vec![9; SEND_BATCH_FRAMES]]);
        let frames = frames(&many);
        let batch = Batch::of(&frames, Bounds::ONE);
        assert_eq!(batch.runs().len(), SEND_BATCH_FRAMES);
        assert_eq!(batch.frames(5), 5);
        assert_eq!(batch.frames(usize::MAX), SEND_BATCH_FRAMES);
    }

    /// Whether the kernel would make these frames from one message.
    fn is_message(run: &[Frame<'_>], bounds: Bounds) -> bool {
        let lens: Vec<usize> = run.iter().map(|(_, frame)| frame.len()).collect();
        match &lens[..] {
            [] => false,
            [_] => true,
            [same @ .., last] => {
                run.iter().all(|(pe, _)| *pe == run[0].0)
                    && same.iter().all(|len| *len == lens[0])
                    && (1..=lens[0]).contains(last)
                    && lens.len() <= bounds.frames
                    && lens.iter().sum::<usize>() <= bounds.bytes
            }
        }
    }

    proptest! {
        #[test]
        fn messages_are_as_long_as_can_be(
            of in prop::collection::vec((0_u32..2, prop::sample::select(vec![0_usize, 1, 8, 9])), 0..40),
            frames_max in 1_usize..9,
            bytes in 8_usize..60,
        ) {
            let bounds = Bounds { frames: frames_max, bytes };
            let all = frames(&of);
            let batch = Batch::of(&all, bounds);
            let again: Vec<_> = batch.runs().concat();
            prop_assert_eq!(&again[..], &all[..all.len().min(SEND_BATCH_FRAMES)]);
            let mut at = 0;
            for (number, run) in batch.runs().iter().enumerate() {
                prop_assert!(is_message(run, bounds), "{run:?}");
                prop_assert_eq!(batch.frames(number), at);
                at += run.len();
                if at < again.len() {
                    prop_assert!(!is_message(&all[at - run.len()..=at], bounds), "{run:?}");
                }
            }
        }
    }
}
