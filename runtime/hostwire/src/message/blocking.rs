//! Sending and receiving as calls that wait: the short way first.

use std::cell::Cell;

use hostwire_transport::PeId;
use hostwire_transport::ring::{FEW_BYTES_MAX, PAYLOAD_BYTES, Sent, Taken};

use super::pattern::{Envelope, Pattern, Source};
use super::peer::{Inbound, Peer};
use super::{Kind, PAIR_BYTES, Payload, Receiving, Sending, Target};
use crate::board::Activity;
use crate::core::messages::Company;
use crate::error::{Error, Result};
use crate::inner::{Inner, Watch};

/// Words in the payload of a line.
const LINE_WORDS: usize = PAYLOAD_BYTES / 8;

impl Inner {
    /// Sends `bytes` of the program to `to`; waits until they may be reused.
    #[inline]
    pub(crate) fn send(&self, to: PeId, tag: u64, bytes: &[u8]) -> Result<()> {
        let sent = match (u32::try_from(tag), bytes.as_chunks()) {
            (Ok(tag), (words, [])) if words.len() <= LINE_WORDS => self.send_words(to, tag, words),
            (Ok(tag), _) if bytes.len() <= PAIR_BYTES => self.send_lines(to, tag, bytes),
            (Ok(tag), _) if bytes.len() <= FEW_BYTES_MAX => self.send_few(to, tag, bytes),
            (Ok(tag), _) => self.send_long(to, tag, bytes),
            (Err(_), _) => Sent::No,
        };
        match sent {
            Sent::Yes => Ok(()),
            sent => self.finish_sending(sent, to, tag, bytes),
        }
    }

    /// Whole words in one line. Not inlined, and calls nothing: so it saves few registers.
    #[inline(never)]
    fn send_words(&self, to: PeId, tag: u32, words: &[[u8; 8]]) -> Sent {
        let bytes = words.as_flattened();
        self.store_at_once(to, |peer, kind| {
            peer.sender.send_line_at_once(kind, tag, bytes)
        })
    }

    /// One line or two.
    #[inline(never)]
    fn send_lines(&self, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        self.store_at_once(to, |peer, kind| match bytes.len() {
            ..=PAYLOAD_BYTES => peer.sender.send_line_at_once(kind, tag, bytes),
            _ => peer.sender.send_pair_at_once(kind, tag, bytes),
        })
    }

    /// A few lines, if it may be an answer.
    #[inline(never)]
    fn send_few(&self, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        self.store_at_once(to, |peer, kind| match peer.is_answer() {
            true => peer.sender.send_few_at_once(kind, tag, bytes),
            false => peer.sender.send_whole_at_once(kind, tag, None, bytes),
        })
    }

    #[inline(never)]
    fn send_long(&self, to: PeId, tag: u32, bytes: &[u8]) -> Sent {
        self.store_at_once(to, |peer, kind| {
            peer.sender.send_whole_at_once(kind, tag, None, bytes)
        })
    }

    /// Lets `store` store a message of the program, unless something has to be looked at first.
    #[inline(always)]
    fn store_at_once(&self, to: PeId, store: impl FnOnce(&mut Peer, u8) -> Sent) -> Sent {
        match self.messages_at_once() {
            Some(mut messages) if self.lost.is_empty() => messages
                .peers
                .get_mut(to)
                .map_or(Sent::No, |peer| store(peer, Kind::User.whole())),
            _ => Sent::No,
        }
    }

    #[cold]
    #[inline(never)]
    fn finish_sending(&self, sent: Sent, to: PeId, tag: u64, bytes: &[u8]) -> Result<()> {
        match sent {
            Sent::Yes => Ok(()),
            // The message is stored, but its receiver may sleep.
            Sent::Ring => Ok(self.messages().peer(to)?.sender.ring()?),
            Sent::No => self.send_of(Kind::User, Company::NONE, to, tag, bytes),
        }
    }

    /// Sends a message of any length. Where it is a part of what a team does, `company` is that team's.
    pub(crate) fn send_of(
        &self,
        kind: Kind,
        company: Company<'_>,
        to: PeId,
        tag: u64,
        bytes: &[u8],
    ) -> Result<()> {
        if self.is_there(to) && self.messages().send_now(to, (kind, tag, None), bytes)? {
            return Ok(());
        }
        let sending = Sending::new(to, kind, tag, Payload::Bytes(bytes));
        self.run_send(sending, company, to)
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

    /// Receives a message of the program into the front of `out` and says how many bytes it has.
    #[inline]
    pub(crate) fn receive(
        &self,
        from: PeId,
        tag: u64,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<usize> {
        let len = out.len();
        let is_taken = match (u32::try_from(tag), out.as_chunks_mut()) {
            (Ok(tag), (words, [])) if words.len() <= LINE_WORDS => {
                self.receive_words(from, tag, words)
            }
            (Ok(tag), _) => self.receive_lines(Kind::User.whole(), from, tag, out),
            (Err(_), _) => false,
        };
        match is_taken {
            true => Ok(len),
            false => self.receive_of_program(from, tag, element_bytes, out),
        }
    }

    /// As [`send_words`](Self::send_words).
    #[inline(never)]
    fn receive_words(&self, from: PeId, tag: u32, words: &mut [[u8; 8]]) -> bool {
        let (kind, polls) = (Kind::User.whole(), self.spins());
        let out = words.as_flattened_mut();
        self.take_at_once(from, |ring| ring.take_line_at_once(kind, tag, out, polls))
    }

    /// Takes a message of any length that fills `out`, if nothing has to be looked at first.
    #[inline(never)]
    fn receive_lines(&self, kind: u8, from: PeId, tag: u32, out: &mut [u8]) -> bool {
        let polls = self.spins();
        self.take_at_once(from, |ring| {
            if out.len() <= PAYLOAD_BYTES {
                ring.take_line_at_once(kind, tag, out, polls)
            } else if out.len() <= PAIR_BYTES {
                ring.take_pair_at_once(kind, tag, out, polls)
            } else if out.len() <= FEW_BYTES_MAX {
                ring.take_few_at_once(kind, tag, out, polls)
            } else {
                ring.take_long_at_once(kind, tag, out, polls)
            }
        })
    }

    /// Lets `take` take a message, unless something has to be looked at first.
    #[inline(always)]
    fn take_at_once(&self, from: PeId, take: impl FnOnce(&mut Inbound) -> bool) -> bool {
        match self.messages_at_once() {
            // In a copy of the process all PEs count as lost.
            Some(mut messages) if self.lost.is_empty() => messages.inbound(from).is_some_and(take),
            _ => false,
        }
    }

    #[cold]
    #[inline(never)]
    fn receive_of_program(
        &self,
        from: PeId,
        tag: u64,
        element_bytes: usize,
        out: &mut [u8],
    ) -> Result<usize> {
        self.receive_of(Kind::User, Company::NONE, from, tag, element_bytes, out)
    }

    /// Receives a message of a team into the front of `out` and says how many bytes it has.
    pub(crate) fn receive_of_team(
        &self,
        company: Company<'_>,
        from: PeId,
        tag: u64,
        out: &mut [u8],
    ) -> Result<usize> {
        let short = u32::try_from(tag).ok();
        match short.is_some_and(|tag| self.receive_lines(Kind::Team.whole(), from, tag, out)) {
            true => Ok(out.len()),
            false => self.receive_of(Kind::Team, company, from, tag, 1, out),
        }
    }

    /// Receives a message of any length into the front of `out`. Where it is a part of what a team does, `company` is
    /// that team's.
    fn receive_of(
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
            // What kept it from being taken at once may have been that credit.
            if self.return_credit(from)? && self.receive_lines(kind.whole(), from, short, out) {
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
