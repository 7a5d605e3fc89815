//! The receiving end of a ring.

use super::{CreditStore, Header, KIND_CONTINUED, LineLoad, PAYLOAD_BYTES, Slots, Stamp};
use crate::error::{PeId, TransportError};

/// The first line of a message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// What the sender called it, 1 to 7.
    pub kind: u8,
    /// The tag of the message.
    pub tag: u32,
    /// Bytes of the whole message.
    pub len_bytes: usize,
}

/// The receiving end of a ring. See the [module text](super).
///
/// [`peek`](Self::peek) says what comes next, [`take`](Self::take) takes it.
#[derive(Debug)]
pub struct RingReceiver<L, C> {
    load: L,
    credit: C,
    peer: PeId,
    slots: Slots,
    /// Lines taken since the beginning; the number of the next one.
    received: u64,
    /// What the sender has been told of that.
    returned: u64,
    /// Bytes already taken of the message at hand.
    taken_bytes: usize,
    /// The first line of the message at hand, once seen.
    head: Option<Head>,
}

impl<L: LineLoad, C: CreditStore> RingReceiver<L, C> {
    /// The receiving end of a fresh (zeroed) ring from `peer`.
    pub fn new(load: L, credit: C, peer: PeId, slots: Slots) -> Self {
        Self {
            load,
            credit,
            peer,
            slots,
            received: 0,
            returned: 0,
            taken_bytes: 0,
            head: None,
        }
    }

    /// The message that comes next, if its first line is there.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if the slot holds what no sender stores.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<Head>, TransportError> {
        if let Some(head) = self.head {
            return Ok(Some(head));
        }
        let Some(header) = self.next_header()? else {
            return Ok(None);
        };
        let head = Head {
            kind: header.kind(),
            tag: header.tag(),
            len_bytes: header.len_bytes(),
        };
        if head.kind == KIND_CONTINUED || head.len_bytes > self.slots.message_bytes_max() {
            return Err(self.bad_first_line(head));
        }
        self.head = Some(head);
        Ok(Some(head))
    }

    /// Takes the message that [`peek`](Self::peek) found into the front of `out`, as
    /// far as its lines have arrived. Call it again with the same `out` until it
    /// returns true. What does not fit `out` is dropped.
    ///
    /// # Errors
    /// [`TransportError::PeerMisbehaved`] if a line is not the one that has to
    /// follow; or what returning the credit gives.
    #[inline]
    pub fn take(&mut self, out: &mut [u8]) -> Result<bool, TransportError> {
        let Some(head) = self.peek()? else {
            return Ok(false);
        };
        loop {
            let rest = head.len_bytes - self.taken_bytes;
            if self.taken_bytes > 0 {
                let Some(header) = self.next_header()? else {
                    return Ok(false);
                };
                if header.kind() != KIND_CONTINUED || header.len_bytes() != rest {
                    return Err(self.bad_next_line(rest, header));
                }
            }
            let now = rest.min(PAYLOAD_BYTES);
            let room = out.len().saturating_sub(self.taken_bytes).min(now);
            if room > 0 {
                let dst = &mut out[self.taken_bytes..self.taken_bytes + room];
                self.load.payload(self.slots.slot(self.received), dst);
            }
            self.received += 1;
            if self.received - self.returned >= self.slots.credit_batch() {
                self.credit.store_credit(self.received)?;
                self.returned = self.received;
            }
            if now == rest {
                self.taken_bytes = 0;
                self.head = None;
                return Ok(true);
            }
            self.taken_bytes += now;
        }
    }

    /// The header of the next slot, if this lap has written it.
    #[inline]
    fn next_header(&self) -> Result<Option<Header>, TransportError> {
        let lap = self.slots.lap(self.received);
        let header = Header(self.load.header(self.slots.slot(self.received)));
        if header.stamp() == Stamp::of_lap(lap) {
            Ok(Some(header))
        } else if header.stamp() == Stamp::before_lap(lap) {
            Ok(None)
        } else {
            Err(self.bad_stamp(lap, header))
        }
    }

    #[cold]
    fn bad_stamp(&self, lap: u64, header: Header) -> TransportError {
        TransportError::misbehaved(
            self.peer,
            "stamp of a line in its message ring",
            format_args!("{} or {}", Stamp::of_lap(lap).0, Stamp::before_lap(lap).0),
            header.stamp().0,
        )
    }

    #[cold]
    fn bad_first_line(&self, head: Head) -> TransportError {
        TransportError::misbehaved(
            self.peer,
            "first line of a message in its ring",
            format_args!(
                "kind 1 to 7 with at most {} bytes",
                self.slots.message_bytes_max()
            ),
            format_args!("kind {} with {} bytes", head.kind, head.len_bytes),
        )
    }

    #[cold]
    fn bad_next_line(&self, rest: usize, header: Header) -> TransportError {
        TransportError::misbehaved(
            self.peer,
            "further line of a message in its ring",
            format_args!("a continued line with {rest} bytes to come"),
            format_args!("kind {} with {} bytes", header.kind(), header.len_bytes()),
        )
    }
}
