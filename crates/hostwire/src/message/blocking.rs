//! Sending and receiving as calls that wait: the short way first.

use hostwire_transport::PeId;
use hostwire_transport::ring::{Head, Taken};

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
        if self.is_there(to) && self.messages.borrow_mut().send_now(to, kind, tag, bytes)? {
            return Ok(());
        }
        self.send_slowly(kind, members, to, tag, bytes)
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
        let now = self.messages.borrow_mut().receive_now(
            from,
            kind,
            tag,
            element_bytes,
            out,
            self.spins(),
        )?;
        match now {
            Taken::All(len) => Ok(len),
            Taken::Part(head) => {
                self.receive_slowly(kind, members, from, tag, element_bytes, out, Some(head))
            }
            Taken::Nothing => {
                self.receive_slowly(kind, members, from, tag, element_bytes, out, None)
            }
        }
    }

    #[cold]
    #[inline(never)]
    #[expect(clippy::too_many_arguments, reason = "the one way on from `receive`")]
    fn receive_slowly(
        &self,
        kind: Kind,
        members: &[PeId],
        from: PeId,
        tag: u32,
        element_bytes: usize,
        out: &mut [u8],
        begun: Option<Head>,
    ) -> Result<usize> {
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
