//! Sending and receiving as calls that wait: the short way first.

use std::cell::Cell;

use hostwire_transport::PeId;
use hostwire_transport::ring::{PAYLOAD_BYTES, Sent, Taken};

use super::pattern::{Envelope, Pattern, Source};
use super::{Kind, PAIR_BYTES, Payload, Receiving, Sending, Target};
use crate::board::Activity;
use crate::core::messages::Company;
use crate::error::{Error, Result};
use crate::inner::{Inner, Watch};

impl Inner {
    /// Sends `bytes` to `to`; waits until they may be reused. Where it is a part of what a
    /// team does, `company` is that team's.
    #[inline]
    pub(crate) fn send(
        &self,
        kind: Kind,
        company: Company<'_>,
        to: PeId,
        tag: u64,
        bytes: &[u8],
    ) -> Result<()> {
        self.send_or(kind, to, tag, bytes, |sending| {
            self.run_send(sending, company, to)
        })
    }

    /// The short ways, or else what `otherwise` does.
    #[inline(always)]
    fn send_or(
        &self,
        kind: Kind,
        to: PeId,
        tag: u64,
        bytes: &[u8],
        otherwise: impl FnOnce(Sending<'_>) -> Result<()>,
    ) -> Result<()> {
        let sent = match u32::try_from(tag) {
            Ok(tag) if bytes.len() <= PAYLOAD_BYTES => self.send_line(kind.whole(), to, tag, bytes),
            Ok(tag) if bytes.len() <= PAIR_BYTES => self.send_pair(kind.whole(), to, tag, bytes),
            _ => Sent::No,
        };
        match sent {
            Sent::Yes => Ok(()),
            Sent::Ring => self.ring(to),
            Sent::No if self.send_slowly(kind, to, tag, bytes)? => Ok(()),
            Sent::No => otherwise(Sending::new(to, kind, tag, Payload::Bytes(bytes))),
        }
    }

    /// Not inlined, and calls nothing: so it saves no registers.
    #[inline(never)]
    fn send_line(&self, kind: u8, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        match self.messages_at_once() {
            Some(mut messages) if self.is_there(to) => messages
                .outbound(to)
                .map_or(Sent::No, |ring| ring.send_line_at_once(kind, tag, bytes)),
            _ => Sent::No,
        }
    }

    #[inline(never)]
    fn send_pair(&self, kind: u8, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        match self.messages_at_once() {
            Some(mut messages) if self.is_there(to) => messages
                .outbound(to)
                .map_or(Sent::No, |ring| ring.send_pair_at_once(kind, tag, bytes)),
            _ => Sent::No,
        }
    }

    /// The message is stored, but its receiver may sleep.
    #[cold]
    #[inline(never)]
    fn ring(&self, to: PeId) -> Result<()> {
        self.messages().peer(to)?.sender.ring()?;
        Ok(())
    }

    /// The way of messages of more than two lines, and of those that wires do not map.
    #[cold]
    #[inline(never)]
    fn send_slowly(&self, kind: Kind, to: PeId, tag: u64, bytes: &[u8]) -> Result<bool> {
        match self.is_there(to) {
            true => self.messages().send_now(to, (kind, tag, None), bytes),
            false => Ok(false),
        }
    }

    /// Polls `sending` to its end.
    pub(crate) fn run_send(
        &self,
        mut sending: Sending<'_>,
        company: Company<'_>,
        to: PeId,
    ) -> Result<()> {
        self.check(to)?;
        let _busy = self.status.during(Activity::Sending, Some(to));
        let members = company.members;
        let sent = self.wait_in(company, Watch::Next { members, next: to }, || {
            let sent = sending.poll(self, &mut self.messages())?;
            Ok(sent.then_some(()))
        });
        if sent == Err(Error::Interrupted) {
            sending.give_up(self, &mut self.messages())?;
        }
        sent
    }

    /// Receives a message into the front of `out` and says how many bytes it has.
    /// `company` as in [`send`](Self::send).
    #[inline]
    pub(crate) fn receive(
        &self,
        kind: Kind,
        company: Company<'_>,
        from: PeId,
        tag: u64,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<usize> {
        if let Ok(short) = u32::try_from(tag)
            && self.is_here()
            && self.receive_at_once(kind, from, short, out)
        {
            return Ok(out.len());
        }
        self.receive_slowly(kind, company, from, tag, element_bytes, out)
    }

    #[inline(always)]
    fn receive_at_once(&self, kind: Kind, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        if out.len() <= PAYLOAD_BYTES {
            self.receive_line(kind.whole(), from, tag, out)
        } else {
            self.receive_lines(kind.whole(), from, tag, out)
        }
    }

    /// As [`send_line`](Self::send_line).
    #[inline(never)]
    fn receive_line(&self, kind: u8, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        let polls = self.spins();
        match self.messages_at_once() {
            Some(mut messages) => messages
                .inbound(from)
                .is_some_and(|ring| ring.take_line_at_once(kind, tag, out, polls)),
            None => false,
        }
    }

    #[inline(never)]
    fn receive_lines(&self, kind: u8, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        let polls = self.spins();
        let Some(mut messages) = self.messages_at_once() else {
            return false;
        };
        messages
            .inbound(from)
            .is_some_and(|ring| match out.len() <= PAIR_BYTES {
                true => ring.take_pair_at_once(kind, tag, out, polls),
                false => ring.take_long_at_once(kind, tag, out, polls),
            })
    }

    #[inline(never)]
    fn receive_slowly(
        &self,
        kind: Kind,
        company: Company<'_>,
        from: PeId,
        tag: u64,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<usize> {
        self.check_is_here()?;
        let mut begun = None;
        if let Ok(short) = u32::try_from(tag) {
            if self.return_credit(from)? && self.receive_at_once(kind, from, short, out) {
                return Ok(out.len());
            }
            let mut messages = self.messages();
            match messages.receive_now(from, kind, short, element_bytes, out)? {
                Taken::All(len) => return Ok(len),
                Taken::Part(head) => begun = Some(head),
                Taken::Nothing => {}
            }
        }
        let pattern = Pattern::new(kind, from, tag);
        let receiving = Receiving::new(pattern, element_bytes, Target::Bytes(out));
        let receiving = match begun {
            Some(head) => receiving.go_on(from, head),
            None => receiving,
        };
        let got = self.run_receive(receiving, company, Source::Pe(from))?;
        Ok(got.len_bytes)
    }

    fn return_credit(&self, from: PeId) -> Result<bool> {
        let mut messages = self.messages();
        Ok(messages.peer(from)?.receiver.return_credit()?)
    }

    /// Polls `receiving` to its end and says what is known of the message.
    pub(crate) fn run_receive(
        &self,
        mut receiving: Receiving<'_>,
        company: Company<'_>,
        from: Source,
    ) -> Result<Envelope> {
        let received =
            self.await_message(company, from, || receiving.poll(self, &mut self.messages()));
        if received.is_err() && receiving.has_begun() {
            receiving.give_up(self, &mut self.messages());
        }
        received
    }

    /// Waits until `poll` has a message of `from`.
    pub(crate) fn await_message(
        &self,
        company: Company<'_>,
        from: Source,
        poll: impl FnMut() -> Result<Option<Envelope>>,
    ) -> Result<Envelope> {
        let members = company.members;
        let (watch, peer) = match from {
            Source::Pe(next) => (Watch::Next { members, next }, Some(next)),
            Source::Any => (Watch::Anybody, None),
        };
        let _busy = self.status.during(Activity::Receiving, peer);
        self.wait_in(company, watch, poll)
    }

    /// Polls both to their ends. A message that is refused does not keep the program's own
    /// from being sent; for a team it is the end.
    pub(crate) fn run_exchange(
        &self,
        company: Company<'_>,
        (to, mut send): (PeId, Sending<'_>),
        (from, mut receive): (PeId, Receiving<'_>),
    ) -> Result<Envelope> {
        let (sent, received) = (Cell::new(false), Cell::new(false));
        let watch = Watch::Pair {
            members: company.members,
            to: (to, &sent),
            from: (from, &received),
        };
        let is_of_team = receive.pattern().kind == Kind::Team;
        let mut got = None;
        let exchanged = self.wait_in(company, watch, || {
            let messages = &mut *self.messages();
            if !sent.get() {
                sent.set(send.poll(self, messages)?);
            }
            if got.is_none() {
                got = match receive.poll(self, messages) {
                    Ok(envelope) => envelope.map(Ok),
                    Err(error) if is_of_team => return Err(error),
                    Err(error) => Some(Err(error.into_refusal()?)),
                };
                received.set(got.is_some());
            }
            Ok((sent.get() && got.is_some()).then_some(()))
        });
        if exchanged.is_err() && receive.has_begun() && !received.get() {
            receive.give_up(self, &mut self.messages());
        }
        exchanged?;
        got.unwrap_or(Err(Error::Cancelled))
    }
}
