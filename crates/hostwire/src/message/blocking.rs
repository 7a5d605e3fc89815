//! Sending and receiving as calls that wait: the short way first.

use hostwire_transport::PeId;
use hostwire_transport::ring::{Head, Taken};

use super::{Kind, Receiving, Sending, Source, Target};
use crate::board::Activity;
use crate::error::Result;
use crate::inner::{Inner, Watch};

impl Inner {
    /// Sends `bytes` to `to`; waits until they may be reused.
    #[inline]
    pub(crate) fn send(&self, kind: Kind, to: PeId, tag: u32, bytes: &[u8]) -> Result<()> {
        if self.is_there(to) && self.messages.borrow_mut().send_now(to, kind, tag, bytes)? {
            return Ok(());
        }
        self.send_slowly(kind, to, tag, bytes)
    }

    #[cold]
    #[inline(never)]
    fn send_slowly(&self, kind: Kind, to: PeId, tag: u32, bytes: &[u8]) -> Result<()> {
        self.run_send(Sending::new(to, kind, tag, Source::Bytes(bytes)), to)
    }

    /// Polls `sending` to its end.
    pub(crate) fn run_send(&self, mut sending: Sending<'_>, to: PeId) -> Result<()> {
        self.check(to)?;
        let _busy = self.status.during(Activity::Sending, Some(to));
        self.wait(Watch::One(to), || {
            let sent = sending.poll(self, &mut self.messages.borrow_mut())?;
            Ok(sent.then_some(()))
        })
    }

    /// Receives a message into the front of `out` and says how many bytes it has.
    #[inline]
    pub(crate) fn receive(
        &self,
        kind: Kind,
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
                self.receive_slowly(kind, from, tag, element_bytes, out, Some(head))
            }
            Taken::Nothing => self.receive_slowly(kind, from, tag, element_bytes, out, None),
        }
    }

    #[cold]
    #[inline(never)]
    fn receive_slowly(
        &self,
        kind: Kind,
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
        self.run_receive(receiving, from)
    }

    /// Polls `receiving` to its end and says how many bytes the message has.
    pub(crate) fn run_receive(&self, mut receiving: Receiving<'_>, from: PeId) -> Result<usize> {
        let _busy = self.status.during(Activity::Receiving, Some(from));
        self.wait(Watch::One(from), || {
            receiving.poll(self, &mut self.messages.borrow_mut())
        })
    }
}
