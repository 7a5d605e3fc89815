//! Frames that are about to leave: several are sent with one call.

use hostwire_link::Ns;

use super::socket::{SEND_BATCH_FRAMES, SendError, Socket};

/// Longer than any queue of an interface takes to drain.
const FULL_MAX_NS: u64 = 2_000_000;

/// A queue of frames, each ready to be sent. Frames for which the system has no room wait
/// here, in order.
#[derive(Debug)]
pub(super) struct Outbox {
    places: Vec<OutFrame>,
    /// Places before this one have been sent.
    sent: usize,
    /// Places from this one on are free.
    end: usize,
    frame_len_max: usize,
    /// Since when the system has had no room.
    full_since: Option<Ns>,
}

#[derive(Debug)]
struct OutFrame {
    pe: u32,
    len: usize,
    bytes: Box<[u8]>,
}

impl OutFrame {
    fn frame(&self) -> (u32, &[u8]) {
        (self.pe, self.bytes.get(..self.len).unwrap_or_default())
    }
}

impl Outbox {
    pub(super) const fn new(frame_len_max: usize) -> Self {
        Self {
            places: Vec::new(),
            sent: 0,
            end: 0,
            frame_len_max,
            full_since: None,
        }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.sent == self.end
    }

    /// Whether it is worth while to add a frame before the next call.
    pub(super) const fn has_room(&self) -> bool {
        self.end < SEND_BATCH_FRAMES
    }

    /// Adds a frame for a PE. `write` puts it into its place and returns its length, or 0
    /// if there is nothing to send after all. Works even without [room](Self::has_room):
    /// memory is allocated at first need, and kept.
    pub(super) fn push(&mut self, pe: u32, write: impl FnOnce(&mut [u8]) -> usize) {
        if self.end == self.places.len() {
            self.places.push(OutFrame {
                pe,
                len: 0,
                bytes: vec![0; self.frame_len_max].into(),
            });
        }
        if let Some(place) = self.places.get_mut(self.end) {
            place.pe = pe;
            place.len = write(&mut place.bytes);
            self.end += usize::from(place.len > 0);
        }
    }

    /// Sends with one call as much as the system takes. The rest is sent by the next
    /// [`send`](Self::send).
    pub(super) fn send_once(&mut self, socket: &mut Socket) {
        if self.is_empty() {
            return;
        }
        self.sent += self.send_some(socket).unwrap_or(0);
        if self.is_empty() {
            self.sent = 0;
            self.end = 0;
        }
    }

    /// Sends as many frames as possible. Returns whether all have left. Frames that the
    /// system refuses are counted in `unsent`: they are lost, and the link sends them
    /// again. The same happens to a frame that blocks others for long: it may be longer
    /// than the next interface takes, and never find room.
    pub(super) fn send(&mut self, now: Ns, socket: &mut Socket, unsent: &mut u64) -> bool {
        while !self.is_empty() {
            match self.send_some(socket) {
                Ok(sent) => {
                    self.sent += sent;
                    self.full_since = None;
                }
                Err(SendError::Full) if !self.is_stuck(now) => return false,
                Err(SendError::Full | SendError::Refused) => {
                    *unsent += 1;
                    self.sent += 1;
                    self.full_since = None;
                }
            }
        }
        self.sent = 0;
        self.end = 0;
        true
    }

    /// Sends with one call. Returns how many have left.
    fn send_some(&self, socket: &mut Socket) -> Result<usize, SendError> {
        let waiting = self.places.get(self.sent..self.end).unwrap_or_default();
        let sent = socket.send_batch(waiting.iter().map(OutFrame::frame))?;
        Ok(sent.clamp(1, waiting.len()))
    }

    /// Whether there has been no room for long.
    fn is_stuck(&mut self, now: Ns) -> bool {
        let since = *self.full_since.get_or_insert(now);
        now.0.saturating_sub(since.0) > FULL_MAX_NS
    }
}
