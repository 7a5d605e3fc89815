//! Bytes for which a connection had no room. They leave before all others.

use super::framing::{PREFIX_BYTES, prefix};

/// Most bytes that wait, plus one frame: more than a link has in flight.
const BYTES_MAX: usize = 2 << 20;

/// Frames that the link counts as sent, and the rest of a frame that has begun to leave.
#[derive(Debug, Default)]
pub(super) struct Rest {
    bytes: Vec<u8>,
    /// Bytes before this have left.
    left: usize,
}

impl Rest {
    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.get(self.left..).unwrap_or_default()
    }

    /// Notes that so many bytes have left.
    pub(super) fn have_left(&mut self, bytes: usize) {
        self.left += bytes;
        if self.left >= self.bytes.len() {
            self.left = 0;
            self.bytes.clear();
        }
    }

    /// Keeps frames whose first `left` bytes, with prefixes, have left. Returns how many of the frames
    /// have left or are kept. A frame that has begun is always kept.
    pub(super) fn keep(&mut self, frames: &[(u32, &[u8])], mut left: usize) -> usize {
        for (at, (_, frame)) in frames.iter().enumerate() {
            let len = PREFIX_BYTES + frame.len();
            if left >= len {
                left -= len;
                continue;
            }
            if left == 0 && self.bytes().len() > BYTES_MAX {
                return at;
            }
            if self.left > 0 {
                self.bytes.drain(..self.left);
                self.left = 0;
            }
            let prefix = prefix(frame);
            self.bytes.extend(prefix.iter().chain(*frame).skip(left));
            left = 0;
        }
        frames.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_left_is_kept_in_order() {
        let frames: [(u32, &[u8]); 3] = [(1, b"ab"), (1, b"c"), (1, b"def")];
        let whole = b"\0\0\0\x02ab\0\0\0\x01c\0\0\0\x03def";
        for left in 0..=whole.len() {
            let mut rest = Rest::default();
            assert_eq!(rest.keep(&frames, left), 3);
            assert_eq!(rest.bytes(), &whole[left..]);
            assert_eq!(rest.is_empty(), left == whole.len());
            let again = rest.bytes().len() / 2;
            rest.have_left(again);
            assert_eq!(rest.keep(&frames[1..2], 0), 1);
            let expected = [&whole[left + again..], b"\0\0\0\x01c"].concat();
            assert_eq!(rest.bytes(), expected);
            rest.have_left(expected.len());
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn memory_is_bounded_and_a_frame_that_has_begun_is_finished() {
        let mut rest = Rest::default();
        let frame = vec![7; 16_000];
        let frames: Vec<(u32, &[u8])> = vec![(1, &frame); 200];
        let kept = rest.keep(&frames, 3);
        let bytes = rest.bytes().len();
        assert_eq!(bytes, kept * 16_004 - 3);
        assert!(
            (BYTES_MAX + 1..BYTES_MAX + 16_005).contains(&bytes),
            "{bytes}"
        );
        assert_eq!(rest.keep(&frames, 0), 0);
        assert_eq!(rest.keep(&frames, 1), 1);
    }
}
