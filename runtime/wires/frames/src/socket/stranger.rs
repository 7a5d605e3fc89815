//! A frame from an unknown sender, which may be a peer at a new address.

use hostwire_packet::htoe::sealed;

/// Keeps one sealed frame, with its sender, until it has been looked at. What it says is not to be believed before it
/// has been opened.
#[derive(Debug)]
pub(super) struct Stranger<Sender> {
    sender: Option<Sender>,
    is_new: bool,
    frame: Vec<u8>,
}

impl<Sender> Default for Stranger<Sender> {
    fn default() -> Self {
        Self {
            sender: None,
            is_new: false,
            frame: Vec::new(),
        }
    }
}

impl<Sender: Copy> Stranger<Sender> {
    /// Keeps a frame, unless another one is kept or it is not sealed.
    #[cold]
    pub(super) fn keep(&mut self, sender: Sender, frame: &[u8]) {
        if !self.is_new && sealed::Repr::is_sealed(frame) {
            self.frame.clear();
            self.frame.extend_from_slice(frame);
            self.sender = Some(sender);
            self.is_new = true;
        }
    }

    /// The frame that is kept, once.
    pub(super) fn frame(&mut self) -> Option<&mut [u8]> {
        core::mem::take(&mut self.is_new).then_some(&mut *self.frame)
    }

    /// The sender of the last [frame](Self::frame), once.
    pub(super) const fn take_sender(&mut self) -> Option<Sender> {
        self.sender.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sealed_frame_is_kept_until_it_is_looked_at() {
        let sealed = |last: u8| {
            let header = sealed::Repr {
                destination: 0,
                source: 1,
                number: 7,
            };
            [&header.to_bytes()[..], &[last; 40]].concat()
        };
        let mut stranger = Stranger::default();
        stranger.keep(1, b"no sealed frame");
        assert_eq!(stranger.frame(), None);
        assert_eq!(stranger.take_sender(), None);
        stranger.keep(2, &sealed(2));
        stranger.keep(3, &sealed(3));
        assert_eq!(stranger.frame(), Some(&mut *sealed(2)));
        assert_eq!(stranger.frame(), None);
        assert_eq!(stranger.take_sender(), Some(2));
        stranger.keep(3, &sealed(3));
        assert_eq!(stranger.frame(), Some(&mut *sealed(3)));
    }
}
