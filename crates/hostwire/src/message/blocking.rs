//! Sending and receiving as calls that wait: the short way first.

use hostwire_transport::PeId;
use hostwire_transport::ring::{PAYLOAD_BYTES, Sent, Taken};

use super::{Kind, Receiving, Sending, Source, Target};
use crate::board::Activity;
use crate::error::Result;
use crate::inner::{Inner, Watch};

impl Inner {
    /// Sends `bytes` to `to`; waits until they may be reused. Where it is a part of what a
    /// team does, `members` are that team's.
    #[inline]
    pub(crate) fn send(
        &self,
        kind: Kind,
        members: &[PeId],
        to: PeId,
        tag: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let sent = if bytes.len() <= PAYLOAD_BYTES {
            self.send_line(kind.whole(), to, tag, bytes)
        } else {
            self.send_pair(kind.whole(), to, tag, bytes)
        };
        match sent {
            Sent::Yes => Ok(()),
            Sent::Ring => self.ring(to),
            Sent::No => self.send_slowly(kind, members, to, tag, bytes),
        }
    }

    /// Not inlined, and calls nothing: so it saves no registers.
    #[inline(never)]
    fn send_line(&self, kind: u8, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        match self.messages.try_borrow_mut() {
            Ok(mut messages) if self.is_there(to) => messages
                .outbound(to)
                .map_or(Sent::No, |ring| ring.send_line_at_once(kind, tag, bytes)),
            _ => Sent::No,
        }
    }

    #[inline(never)]
    fn send_pair(&self, kind: u8, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        match self.messages.try_borrow_mut() {
            Ok(mut messages) if self.is_there(to) => messages
                .outbound(to)
                .map_or(Sent::No, |ring| ring.send_pair_at_once(kind, tag, bytes)),
            _ => Sent::No,
        }
    }

    /// The message is stored, but its receiver may sleep.
    #[cold]
    #[inline(never)]
    fn ring(&self, to: PeId) -> Result<()> {
        self.messages.borrow_mut().peer(to)?.sender.ring()?;
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn send_slowly(
        &self,
        kind: Kind,
        members: &[PeId],
        to: PeId,
        tag: u32,
        bytes: &[u8],
    ) -> Result<()> {
        if self.is_there(to) && self.messages.borrow_mut().send_now(to, kind, tag, bytes)? {
            return Ok(());
        }
        let sending = Sending::new(to, kind, tag, Source::Bytes(bytes));
        self.run_send(sending, members, to)
    }

    /// Polls `sending` to its end.
    pub(crate) fn run_send(
        &self,
        mut sending: Sending<'_>,
        members: &[PeId],
        to: PeId,
    ) -> Result<()> {
        self.check(to)?;
        let _busy = self.status.during(Activity::Sending, Some(to));
        self.wait(Watch::Next { members, next: to }, || {
            let sent = sending.poll(self, &mut self.messages.borrow_mut())?;
            Ok(sent.then_some(()))
        })
    }

    /// Receives a message into the front of `out` and says how many bytes it has.
    /// `members` as in [`send`](Self::send).
    #[inline]
    pub(crate) fn receive(
        &self,
        kind: Kind,
        members: &[PeId],
        from: PeId,
        tag: u32,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<usize> {
        if self.is_here() && self.receive_at_once(kind, from, tag, out) {
            return Ok(out.len());
        }
        self.receive_slowly(kind, members, from, tag, element_bytes, out)
    }

    #[inline(always)]
    fn receive_at_once(&self, kind: Kind, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        if out.len() <= PAYLOAD_BYTES {
            self.receive_line(kind.whole(), from, tag, out)
        } else {
            self.receive_pair(kind.whole(), from, tag, out)
        }
    }

    /// As [`send_line`](Self::send_line).
    #[inline(never)]
    fn receive_line(&self, kind: u8, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        let polls = self.spins();
        match self.messages.try_borrow_mut() {
            Ok(mut messages) => messages
                .inbound(from)
                .is_some_and(|ring| ring.take_line_at_once(kind, tag, out, polls)),
            Err(_) => false,
        }
    }

    #[inline(never)]
    fn receive_pair(&self, kind: u8, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        let polls = self.spins();
        match self.messages.try_borrow_mut() {
            Ok(mut messages) => messages
                .inbound(from)
                .is_some_and(|ring| ring.take_pair_at_once(kind, tag, out, polls)),
            Err(_) => false,
        }
    }

    #[inline(never)]
    fn receive_slowly(
        &self,
        kind: Kind,
        members: &[PeId],
        from: PeId,
        tag: u32,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<usize> {
        self.check_is_here()?;
        if self
            .messages
            .borrow_mut()
            .peer(from)?
            .receiver
            .return_credit()?
            && self.receive_at_once(kind, from, tag, out)
        {
            return Ok(out.len());
        }
        let now = self
            .messages
            .borrow_mut()
            .receive_now(from, kind, tag, element_bytes, out)?;
        let begun = match now {
            Taken::All(len) => return Ok(len),
            Taken::Part(head) => Some(head),
            Taken::Nothing => None,
        };
        let receiving = Receiving::new(from, kind, tag, element_bytes, Target::Bytes(out));
        let receiving = match begun {
            Some(head) => receiving.go_on(head),
            None => receiving,
        };
        self.run_receive(receiving, members, from)
    }

    /// Polls `receiving` to its end and says how many bytes the message has.
    pub(crate) fn run_receive(
        &self,
        mut receiving: Receiving<'_>,
        members: &[PeId],
        from: PeId,
    ) -> Result<usize> {
        let _busy = self.status.during(Activity::Receiving, Some(from));
        let watch = Watch::Next {
            members,
            next: from,
        };
        self.wait(watch, || {
            receiving.poll(self, &mut self.messages.borrow_mut())
        })
    }
}
