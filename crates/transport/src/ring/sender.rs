//! The sending end of a ring.

use super::{
    CreditLoad, Header, KIND_CONTINUED, LineStore, PAYLOAD_BYTES, Position, Slots, lines_for,
};
use crate::error::{PeId, TransportError};

/// The sending end of a ring. See the [module text](super).
#[derive(Debug)]
pub struct RingSender<S, C> {
    store: S,
    credit: C,
    peer: PeId,
    /// The next line.
    next: Position,
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
            next: Position::new(slots),
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
        if payload.len() <= PAYLOAD_BYTES && self.granted != self.next.line {
            let header = Header::new(self.next.stamp, kind, payload.len(), tag);
            self.store
                .store_message(self.next.slot(), header.0, payload)?;
            self.next.advance();
            return Ok(true);
        }
        self.try_send_lines(kind, tag, payload)
    }

    #[inline]
    fn try_send_lines(
        &mut self,
        kind: u8,
        tag: u32,
        payload: &[u8],
    ) -> Result<bool, TransportError> {
        let lines = lines_for(payload.len());
        if self.granted - self.next.line < lines && !self.look_for_credit(lines, payload.len())? {
            return Ok(false);
        }
        self.store.begin_message()?;
        self.store_lines(kind, tag, payload)?;
        self.store.message_stored()?;
        Ok(true)
    }

    #[inline(always)]
    fn store_line(
        &mut self,
        kind: u8,
        rest: usize,
        tag: u32,
        now: &[u8],
    ) -> Result<(), TransportError> {
        self.store_line_at(self.next, kind, rest, tag, now)?;
        self.next.advance();
        Ok(())
    }

    #[inline(always)]
    fn store_line_at(
        &mut self,
        at: Position,
        kind: u8,
        rest: usize,
        tag: u32,
        now: &[u8],
    ) -> Result<(), TransportError> {
        let header = Header::new(at.stamp, kind, rest, tag);
        self.store.store_line(at.slot(), header.0, now)
    }

    #[inline]
    fn store_lines(&mut self, kind: u8, tag: u32, payload: &[u8]) -> Result<(), TransportError> {
        if payload.len() <= PAYLOAD_BYTES {
            return self.store_line(kind, payload.len(), tag, payload);
        }
        if payload.len() <= 2 * PAYLOAD_BYTES {
            return self.store_two_lines(kind, tag, payload);
        }
        let mut kind = kind;
        let mut rest = payload;
        while let Some((now, later)) = rest.split_at_checked(PAYLOAD_BYTES) {
            self.store_line(kind, rest.len(), tag, now)?;
            kind = KIND_CONTINUED;
            rest = later;
        }
        if !rest.is_empty() {
            self.store_line(kind, rest.len(), tag, rest)?;
        }
        Ok(())
    }

    /// The second line first: by the time the receiver sees the line that it polls, the
    /// other is there, too, and comes along with it. With more lines it pays to let the
    /// receiver begin while the rest is being written.
    #[inline(always)]
    fn store_two_lines(
        &mut self,
        kind: u8,
        tag: u32,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let (first, second) = payload.split_at(PAYLOAD_BYTES);
        let head = self.next;
        self.next.advance();
        self.store_line(KIND_CONTINUED, second.len(), tag, second)?;
        self.store_line_at(head, kind, payload.len(), tag, first)?;
        self.store.expect(self.next.slots.slot(self.next.line + 1));
        Ok(())
    }

    /// Where the lines go.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.store
    }

    /// The longest message this ring takes.
    pub fn message_bytes_max(&self) -> usize {
        self.next.slots.message_bytes_max()
    }

    #[cold]
    #[inline(never)]
    fn look_for_credit(&mut self, lines: u64, len: usize) -> Result<bool, TransportError> {
        if len > self.next.slots.message_bytes_max() {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: len,
                segment_bytes: self.next.slots.message_bytes_max(),
            });
        }
        let freed = self.credit.load_credit();
        let known = self.granted - self.next.slots.count();
        if freed < known || freed > self.next.line {
            return Err(TransportError::misbehaved(
                self.peer,
                "credit of a message ring",
                format_args!("{known} to {} lines", self.next.line),
                freed,
            ));
        }
        self.granted = freed + self.next.slots.count();
        Ok(self.granted - self.next.line >= lines)
    }
}
