//! Frames in a stream of bytes: each follows its length.

use std::io::IoSliceMut;

/// Bytes of the length in front of a frame.
pub(crate) const PREFIX_BYTES: usize = 4;

/// Longest frame: the header, 16 NOPs and a burst of 255 lines (the most that a frame can count),
/// sealed.
pub(crate) const FRAME_LEN_MAX: usize =
    16 + 16 * 4 + 8 + 255 * 64 + 4 + hostwire_link::seal::OVERHEAD;

/// A peer gave a length that no frame has. From then on the beginnings of frames are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("length of a frame on a TCP connection: expected 1 to {FRAME_LEN_MAX} bytes, got {got}")]
pub(crate) struct BadLength {
    /// The length that it gave.
    pub(crate) got: u32,
}

/// The bytes before a frame.
pub(crate) const fn prefix(frame: &[u8]) -> [u8; PREFIX_BYTES] {
    (frame.len() as u32).to_be_bytes()
}

pub(super) fn len_of(prefix: [u8; PREFIX_BYTES]) -> Result<usize, BadLength> {
    match u32::from_be_bytes(prefix) {
        len if (1..=FRAME_LEN_MAX as u32).contains(&len) => Ok(len as usize),
        got => Err(BadLength { got }),
    }
}

/// Splits a stream that comes in pieces into frames. Keeps only a frame that has begun.
#[derive(Debug, Default)]
pub(crate) struct Incoming {
    prefix: [u8; PREFIX_BYTES],
    /// Bytes of it that have come.
    prefix_bytes: usize,
    /// Room for a frame. Made when a frame comes in two pieces for the first time.
    begun: Box<[u8]>,
    /// Bytes of it that have come.
    begun_bytes: usize,
    /// Its length; 0 if none has begun.
    begun_len: usize,
}

impl Incoming {
    /// The places for the next bytes: after those of the frame that has begun, then in `buffer`.
    pub(crate) fn places<'a>(&'a mut self, buffer: &'a mut [u8]) -> [IoSliceMut<'a>; 2] {
        let begun = self.begun.get_mut(self.begun_bytes..self.begun_len);
        [begun.unwrap_or_default(), buffer].map(IoSliceMut::new)
    }

    /// Gives all complete frames to `take`, after `bytes` more were read into the
    /// [`places`](Self::places).
    ///
    /// # Errors
    /// [`BadLength`], peer's fault: nothing after it can be understood.
    pub(crate) fn take(
        &mut self,
        bytes: usize,
        buffer: &mut [u8],
        mut take: impl FnMut(&mut [u8]),
    ) -> Result<(), BadLength> {
        let of_begun = bytes.min(self.begun_len - self.begun_bytes);
        self.begun_bytes += of_begun;
        if self.begun_len > 0 && self.begun_bytes == self.begun_len {
            take(self.begun.get_mut(..self.begun_len).unwrap_or_default());
            (self.begun_bytes, self.begun_len) = (0, 0);
        }
        let mut rest = buffer.get_mut(..bytes - of_begun).unwrap_or_default();
        while !rest.is_empty() {
            let missing = PREFIX_BYTES - self.prefix_bytes;
            let (head, behind) = rest.split_at_mut(missing.min(rest.len()));
            let place = self.prefix.get_mut(self.prefix_bytes..);
            for (to, from) in place.unwrap_or_default().iter_mut().zip(&*head) {
                *to = *from;
            }
            self.prefix_bytes += head.len();
            if self.prefix_bytes < PREFIX_BYTES {
                return Ok(());
            }
            self.prefix_bytes = 0;
            let len = len_of(self.prefix)?;
            if behind.len() < len {
                self.begin(len, behind);
                return Ok(());
            }
            let (frame, behind) = behind.split_at_mut(len);
            take(frame);
            rest = behind;
        }
        Ok(())
    }

    fn begin(&mut self, len: usize, bytes: &[u8]) {
        if self.begun.is_empty() {
            self.begun = vec![0; FRAME_LEN_MAX].into();
        }
        if let Some(place) = self.begun.get_mut(..bytes.len()) {
            place.copy_from_slice(bytes);
        }
        (self.begun_bytes, self.begun_len) = (bytes.len(), len);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The frames of a stream that arrives in pieces of these lengths, in turn, in a buffer of
    /// `room` bytes.
    fn taken(stream: &[u8], lens: &[usize], room: usize) -> Result<Vec<Vec<u8>>, BadLength> {
        let mut incoming = Incoming::default();
        let mut buffer = vec![0; room];
        let mut got = Vec::new();
        let (mut at, mut turn) = (0, 0);
        while at < stream.len() {
            let most = lens[turn % lens.len()].min(stream.len() - at);
            turn += 1;
            let mut bytes = 0;
            for place in &mut incoming.places(&mut buffer) {
                let len = place.len().min(most - bytes);
                place[..len].copy_from_slice(&stream[at + bytes..][..len]);
                bytes += len;
            }
            at += bytes;
            incoming.take(bytes, &mut buffer, |frame| got.push(frame.to_vec()))?;
        }
        Ok(got)
    }

    fn stream(frames: &[Vec<u8>]) -> Vec<u8> {
        let parts = frames
            .iter()
            .map(|frame| [&prefix(frame)[..], frame].concat());
        parts.collect::<Vec<_>>().concat()
    }

    #[test]
    fn literal_bytes() {
        assert_eq!(prefix(&[7; 0x102]), [0, 0, 1, 2]);
        let bytes = [0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 1, 5, 0, 0, 0];
        for lens in [&[15][..], &[1], &[4, 2], &[5, 3]] {
            assert_eq!(taken(&bytes, lens, 64), Ok(vec![vec![7, 8, 9], vec![5]]));
        }
    }

    #[test]
    fn a_length_that_none_has_ends_the_stream() {
        for got in [0, FRAME_LEN_MAX as u32 + 1, u32::MAX] {
            let mut bytes = stream(&[vec![1; 5]]);
            bytes.extend(got.to_be_bytes());
            bytes.push(9);
            for lens in [&[100][..], &[1], &[3]] {
                assert_eq!(taken(&bytes, lens, 64), Err(BadLength { got }));
            }
        }
        let longest = vec![vec![3; FRAME_LEN_MAX]];
        assert_eq!(taken(&stream(&longest), &[1000], 1000), Ok(longest));
    }

    proptest! {
        #[test]
        fn however_the_stream_is_split_the_frames_are_the_same(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..90), 0..40),
            lens in prop::collection::vec(1_usize..200, 1..9),
            room in 1_usize..120,
        ) {
            prop_assert_eq!(taken(&stream(&frames), &lens, room), Ok(frames));
        }
    }
}
