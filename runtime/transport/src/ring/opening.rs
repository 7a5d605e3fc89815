//! Closing an [eager buffer](super::eager) and opening it again, so that its memory can be given back.
//!
//! A receiver cannot see whether its sender is storing into the buffer, so it gives nothing back without its consent. The layer above
//! carries three messages, all of them in the rings of the pair and in the order of these:
//!
//! | message | from | then |
//! |---|---|---|
//! | *close* | the receiver | the sender stores nothing more there ([`RingSender::close_eager`]), and then answers |
//! | *closed* | the sender | the receiver gives the memory back ([`RingReceiver::close_eager`]) |
//! | *open* | the receiver | the sender may store there again ([`RingSender::open_eager`]) |
//!
//! | *ask* | the sender | the receiver may open it |
//!
//! The receiver finds *closed* behind all lines that the sender has stored before. So it has taken each message out of the buffer, no byte
//! in it is waited for, and no store to it is on its way. What was taken is counted on: an opened buffer goes on where it was closed.
//! While it is closed, messages go in lines if they fit half of a ring, or are announced. A line that says that a message is in a closed
//! buffer is one that no sender stores.

use super::eager::{EagerOrder, lines_bytes_max};
use super::{CreditLoad, CreditStore, LineLoad, LineStore, RingReceiver, RingSender, lines_for};

/// While its buffer is closed, a sender asks for it before a message that would go through it, and again when so many of them were announced,
/// or had to look for room for their lines.
const DETOURS_PER_ASK: u32 = 4;

impl<S: LineStore, C: CreditLoad> RingSender<S, C> {
    /// Works out anew which messages go in which way.
    pub(super) fn settle_lengths(&mut self) {
        let (longest, lines) = (self.ring_bytes_max(), self.eager_lines_bytes_max());
        let is_open = self.eager.is_some() && !self.opening.is_closed;
        (self.lines_bytes_max, self.takes_bytes_max) = match is_open {
            true if self.opening.announced => (lines, longest),
            true => (lines, self.message_bytes_max()),
            // The next one takes the way on which the layer above asks.
            false if self.is_ask_due() => (usize::MAX, lines),
            false => (usize::MAX, longest),
        };
    }

    /// The longest message that goes in lines while the eager buffer is open.
    fn eager_lines_bytes_max(&self) -> usize {
        let order = match self.is_eager_whole() {
            true => EagerOrder::Whole,
            false => EagerOrder::Pieces,
        };
        lines_bytes_max(self.ring_bytes_max(), order)
    }

    /// What the receiver says with its credit, which was looked for because a message takes so many lines.
    #[inline]
    pub(super) fn heed_opening(&mut self, announced: bool, lines: u64) {
        self.opening.announced = announced && !self.is_eager_whole();
        if lines > lines_for(self.eager_lines_bytes_max()) {
            self.opening.detours = self.opening.detours.saturating_add(1);
        }
        self.settle_lengths();
    }

    /// Whether the eager buffer, if there is one, may be used.
    pub fn is_eager_open(&self) -> bool {
        !self.opening.is_closed
    }

    /// From now on messages go in other ways than through the eager buffer.
    pub fn close_eager(&mut self) {
        self.opening.is_closed = true;
        self.has_asked();
    }

    /// The eager buffer may be used again.
    pub fn open_eager(&mut self) {
        self.opening.is_closed = false;
        self.has_asked();
    }

    fn is_ask_due(&self) -> bool {
        self.opening.is_closed && self.opening.detours >= DETOURS_PER_ASK && self.eager.is_some()
    }

    /// Whether the receiver is to be asked to open the eager buffer, before a message of so many bytes. It then has to be
    /// [said](Self::has_asked) that it was.
    pub fn wants_eager(&self, len: usize) -> bool {
        let lines = self.eager_lines_bytes_max();
        self.is_ask_due() && (lines + 1..=self.message_bytes_max()).contains(&len)
    }

    /// The receiver was asked to open it.
    pub fn has_asked(&mut self) {
        self.set_detours(0);
    }

    /// The next message for which it would be of use is to ask for it.
    pub fn ask_soon(&mut self) {
        self.set_detours(DETOURS_PER_ASK);
    }

    /// A message of so many bytes was announced.
    pub fn has_announced(&mut self, len: usize) {
        if self.opening.is_closed && len <= self.message_bytes_max() {
            self.set_detours(self.opening.detours.saturating_add(1));
        }
    }

    fn set_detours(&mut self, detours: u32) {
        self.opening.detours = detours;
        self.settle_lengths();
    }
}

impl<L: LineLoad, C: CreditStore> RingReceiver<L, C> {
    /// Whether there is an eager buffer through which messages may come.
    pub fn is_eager_open(&self) -> bool {
        self.eager.is_some()
    }

    /// How many messages have come through it since the beginning, modulo 2^32.
    pub fn eager_messages(&self) -> u32 {
        let eager = self.eager.as_ref().or(self.closed.as_ref());
        eager.map_or(0, |incoming| incoming.messages())
    }

    /// Closes the eager buffer and gives its memory back, if it was used: the sender has said that it does not use it any more, and all that
    /// was stored before has been taken.
    pub fn close_eager(&mut self) {
        if let Some(incoming) = self.eager.take() {
            if incoming.messages() > 0 {
                self.load.give_back_eager();
            }
            self.closed = Some(incoming);
        }
    }

    /// Messages may come through it again.
    pub fn open_eager(&mut self) {
        if let Some(incoming) = self.closed.take() {
            self.eager = Some(incoming);
        }
    }
}
