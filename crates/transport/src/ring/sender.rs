//! The sending end of a ring.

use super::{
    CreditLoad, Header, KIND_CONTINUED, LineStore, PAYLOAD_BYTES, Slots, Stamp, lines_for,
};
use crate::error::{PeId, TransportError};

/// The sending end of a ring. See the [module text](super).
#[derive(Debug)]
pub struct RingSender<S, C> {
    store: S,
    credit: C,
    peer: PeId,
    slots: Slots,
    /// Lines stored since the beginning; the number of the next one.
    sent: u64,
    /// Lines that may be stored since the beginning, as far as we have looked.
    granted: u64,
}

impl<S: LineStore, C: CreditLoad> RingSender<S, C> {
    /// The sending end of a fresh ring to `peer`.
    pub fn new(store: S, credit: C, peer: PeId, slots: Slots) -> Self {
        Self {
            store,
            credit,
            peer,
            slots,
            sent: 0,
            granted: slots.count(),
        }
    }

    /// Stores a message if the receiver has room for all of it.
    ///
    /// - `kind`: 1 to 7, the caller's own.
    /// - `payload`: at most [`Slots::message_bytes_max`] bytes.
    ///
    /// Returns false, having stored nothing, if there is no credit.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if the payload is too long for the ring,
    /// [`TransportError::PeerMisbehaved`] if the receiver's credit is impossible, or
    /// what the store gives.
    #[inline]
    pub fn try_send(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Result<bool, TransportError> {
        debug_assert_ne!(kind, KIND_CONTINUED);
        let lines = lines_for(payload.len());
        if self.granted - self.sent < lines && !self.look_for_credit(lines, payload.len())? {
            return Ok(false);
        }
        let mut kind = kind;
        let mut rest = payload;
        loop {
            let (now, later) = rest.split_at(rest.len().min(PAYLOAD_BYTES));
            let stamp = Stamp::of_lap(self.slots.lap(self.sent));
            let header = Header::new(stamp, kind, rest.len(), tag);
            self.store
                .store_line(self.slots.slot(self.sent), header.0, now)?;
            self.sent += 1;
            if later.is_empty() {
                break;
            }
            kind = KIND_CONTINUED;
            rest = later;
        }
        self.store.message_stored();
        Ok(true)
    }

    /// The longest message this ring takes.
    pub fn message_bytes_max(&self) -> usize {
        self.slots.message_bytes_max()
    }

    #[cold]
    #[inline(never)]
    fn look_for_credit(&mut self, lines: u64, len: usize) -> Result<bool, TransportError> {
        if len > self.slots.message_bytes_max() {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: len,
                segment_bytes: self.slots.message_bytes_max(),
            });
        }
        let freed = self.credit.load_credit();
        let known = self.granted - self.slots.count();
        if freed < known || freed > self.sent {
            return Err(TransportError::misbehaved(
                self.peer,
                "credit of a message ring",
                format_args!("{known} to {} lines", self.sent),
                freed,
            ));
        }
        self.granted = freed + self.slots.count();
        Ok(self.granted - self.sent >= lines)
    }
}
