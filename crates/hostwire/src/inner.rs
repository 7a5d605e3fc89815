//! What all parts of a job share: the wire, the short way around it, and waiting.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::time::Duration;

use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};
use hostwire_transport::{Capabilities, PeId, Transport, TransportError, Window};

use crate::agent::Agent;
use crate::error::{Error, Result};
use crate::layout::{Layout, Mail};
use crate::lost::Lost;
use crate::message::Messages;
use crate::status::Status;
use crate::symmetric::Heap;

/// See the [module text](self).
pub(crate) struct Inner {
    pub(crate) wire: Arc<dyn Transport>,
    pub(crate) pe: PeId,
    pub(crate) pes: u32,
    pub(crate) capabilities: Capabilities,
    pub(crate) layout: Layout,
    pub(crate) heap: RefCell<Heap>,
    pub(crate) messages: RefCell<Messages>,
    pub(crate) status: Status,
    pub(crate) agent: Arc<Agent>,
    /// Bit `i`: this PE is in a team in slot `i`.
    pub(crate) team_slots: Cell<u64>,
    /// Symmetric objects whose handles were dropped here, by offset in the segment.
    pub(crate) dropped: RefCell<Vec<usize>>,
    /// The segments that stores reach directly.
    windows: Box<[Option<Window>]>,
    limits: WaitLimits,
    pub(crate) lost: Arc<Lost>,
}

/// Whose end ends a wait that nothing else has ended.
#[derive(Clone, Copy)]
pub(crate) enum Watch<'a> {
    /// `next` has to do something: it must neither die nor leave the job. It does so for a
    /// team of which all members must live, or for no team.
    Next { members: &'a [PeId], next: PeId },
    /// The agent of this PE has to do something: it serves until the job is over.
    Agent(PeId),
    /// As `Next`, for both of two PEs, unless it has been done.
    Pair {
        members: &'a [PeId],
        to: (PeId, &'a Cell<bool>),
        from: (PeId, &'a Cell<bool>),
    },
    /// All have to come to the end of the job.
    TheEnd(&'a [PeId]),
    /// Any PE may write the word waited for. Each loss is told once.
    Anybody,
}

/// How far a PE is on its way out of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Departure {
    /// It will start nothing more.
    Leaving = 1,
    /// It knows that all PEs are leaving: its end is no loss.
    Gone = 2,
}

impl Inner {
    pub(crate) fn new(
        wire: Arc<dyn Transport>,
        layout: Layout,
        status: Status,
        agent: Arc<Agent>,
    ) -> Result<Self> {
        let (pe, pes) = (wire.pe(), wire.pes());
        let windows = (0..pes).map(|pe| wire.window(pe).cloned()).collect();
        Ok(Self {
            pe,
            pes,
            capabilities: wire.capabilities(),
            heap: RefCell::new(Heap::new(layout.heap_bytes())),
            messages: RefCell::new(Messages::new(&wire, &layout)?),
            status,
            agent,
            team_slots: Cell::new(1),
            dropped: RefCell::new(Vec::new()),
            windows,
            limits: wire.wait_limits(),
            lost: Arc::new(Lost::new(&wire)),
            layout,
            wire,
        })
    }

    /// The own segment.
    #[inline(always)]
    pub(crate) fn segment(&self) -> &Window {
        self.wire.segment()
    }

    /// The mapped segment of `pe`, if the wire maps it and `pe` is not known to be lost.
    #[inline(always)]
    pub(crate) fn window(&self, pe: PeId) -> Option<&Window> {
        match self.windows.get(pe as usize) {
            Some(window) if !self.lost.contains(pe) => window.as_ref(),
            _ => None,
        }
    }

    /// As [`window`](Self::window), if CPU atomics work there.
    #[inline(always)]
    pub(crate) fn atomic_window(&self, pe: PeId) -> Option<&Window> {
        self.window(pe)
            .filter(|_| self.capabilities.cpu_atomics || pe == self.pe)
    }

    /// Copies `src` to `offset_bytes` in the segment of `pe`.
    #[inline(always)]
    pub(crate) fn put(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        match self.window(pe) {
            Some(window) => Ok(window.put(offset_bytes, src)?),
            None => self.put_by_wire(pe, offset_bytes, src),
        }
    }

    #[cold]
    #[inline(never)]
    fn put_by_wire(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        self.check(pe)?;
        Ok(self.wire.store(pe, offset_bytes, src)?)
    }

    /// Stores one word, after all earlier stores to `pe`.
    #[inline]
    pub(crate) fn put_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<()> {
        match self.window(pe) {
            Some(window) => Ok(window.put_word(offset_bytes, value)?),
            None => {
                self.check(pe)?;
                Ok(self.wire.store_word(pe, offset_bytes, value)?)
            }
        }
    }

    /// Copies bytes at `offset_bytes` in the segment of `pe` to `dst`.
    #[inline]
    pub(crate) fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<()> {
        match self.window(pe) {
            Some(window) if self.capabilities.loads || pe == self.pe => {
                Ok(window.get(offset_bytes, dst)?)
            }
            _ => {
                self.check(pe)?;
                self.agent.clone().get(self, pe, offset_bytes, dst)
            }
        }
    }

    /// An error if there is no such PE or it is known to be lost.
    pub(crate) fn check(&self, pe: PeId) -> Result<()> {
        if pe >= self.pes {
            Err(TransportError::NoSuchPe { pe, pes: self.pes }.into())
        } else if self.lost.contains(pe) {
            Err(Error::PeerLost { pe })
        } else {
            Ok(())
        }
    }

    /// Whether `pe` exists and is not known to be lost.
    #[inline(always)]
    pub(crate) fn is_there(&self, pe: PeId) -> bool {
        pe < self.pes && !self.lost.contains(pe)
    }

    /// How often a wait polls before it does anything else.
    #[inline(always)]
    pub(crate) fn spins(&self) -> u32 {
        self.limits.spins
    }

    /// Polls until there is a result. The one place where a PE waits.
    ///
    /// # Errors
    /// What `poll` gives; [`Error::PeerLost`] or [`Error::PeerLeft`] when a watched PE
    /// will not do what is waited for and `poll` still has nothing.
    #[inline]
    pub(crate) fn wait<R>(
        &self,
        watch: Watch<'_>,
        mut poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        let mut backoff = Backoff::new(self.limits);
        loop {
            if let Some(result) = poll()? {
                return Ok(result);
            }
            match backoff.step() {
                WaitStep::Spin => {}
                WaitStep::Pause => core::hint::spin_loop(),
                WaitStep::Yield => {
                    self.progress()?;
                    self.wire.yield_now();
                }
                WaitStep::Nap(time) => {
                    self.progress()?;
                    self.wire.nap(time);
                }
                WaitStep::Sleep(limit) => {
                    if let Some(result) = self.sleep_once(watch, limit, &mut backoff, &mut poll)? {
                        return Ok(result);
                    }
                }
            }
        }
    }

    #[cold]
    #[inline(never)]
    fn sleep_once<R>(
        &self,
        watch: Watch<'_>,
        limit: Duration,
        backoff: &mut Backoff,
        poll: &mut dyn FnMut() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let limit = self.wire.arm(limit);
        self.progress()?;
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        let rung = self.wire.sleep(limit);
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        if rung {
            backoff.rung_in_vain();
        }
        let Some(gone) = self.find_gone(watch)? else {
            return Ok(None);
        };
        // What it stored before is there by now.
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        match watch {
            // That may have been its part, and only the other one's is missing.
            Watch::Pair { .. } => self.find_gone(watch)?.map_or(Ok(None), Err),
            _ => Err(gone),
        }
    }

    /// Lets the wire and the agent work, and makes room in the rings, so that two PEs
    /// that send to each other before they receive do not wait for ever.
    pub(crate) fn progress(&self) -> Result<()> {
        self.wire.poll()?;
        self.agent.serve(&*self.wire)?;
        match self.messages.try_borrow_mut() {
            Ok(mut messages) => {
                if messages.are_weak() {
                    // What we wait for may be the answer to a message that is still here.
                    self.wire.fence()?;
                }
                messages.drain()
            }
            Err(_) => Ok(()),
        }
    }

    /// Why what is waited for will never happen, if that is so.
    fn find_gone(&self, watch: Watch<'_>) -> Result<Option<Error>> {
        match watch {
            Watch::Next { members, next } => self.find_absent(members, Some(next)),
            Watch::Agent(pe) => self.find_absent(&[pe], None),
            Watch::Pair { members, to, from } => {
                for (pe, done) in [to, from] {
                    if !done.get()
                        && let Some(gone) = self.find_absent(&[], Some(pe))?
                    {
                        return Ok(Some(gone));
                    }
                }
                self.find_absent(members, None)
            }
            Watch::TheEnd(members) => self.find_the_end(members),
            Watch::Anybody => self.find_newly_lost(),
        }
    }

    /// A member or `next` that has died, or `next` if it leaves the job.
    fn find_absent(&self, members: &[PeId], next: Option<PeId>) -> Result<Option<Error>> {
        for pe in next.iter().chain(members).copied() {
            if self.is_lost(pe)? {
                return Ok(Some(Error::PeerLost { pe }));
            }
        }
        match next {
            Some(pe) if self.departure(pe)?.is_some() => Ok(Some(Error::PeerLeft { pe })),
            _ => Ok(None),
        }
    }

    /// Somebody who knows that all are leaving, or who has died without that.
    fn find_the_end(&self, members: &[PeId]) -> Result<Option<Error>> {
        for pe in members.iter().copied() {
            let lost = self.is_lost(pe)?;
            // Looked at second: what it stored before it ended counts.
            if self.departure(pe)? == Some(Departure::Gone) {
                return Ok(Some(Error::PeerLeft { pe }));
            }
            if lost {
                return Ok(Some(Error::PeerLost { pe }));
            }
        }
        Ok(None)
    }

    fn find_newly_lost(&self) -> Result<Option<Error>> {
        let mut left = None;
        let mut others = 0;
        for pe in (0..self.pes).filter(|pe| *pe != self.pe) {
            let lost = self.is_lost(pe)?;
            match self.departure(pe)? {
                Some(_) => left = Some(Error::PeerLeft { pe }),
                None => others += 1,
            }
            if lost && self.departure(pe)? != Some(Departure::Gone) && self.lost.report(pe) {
                return Ok(Some(Error::PeerLost { pe }));
            }
        }
        // When all are leaving, nobody is there who could store anything.
        Ok(left.filter(|_| others == 0))
    }

    /// Tells all peers how far this PE is on its way out.
    pub(crate) fn tell_departure(&self, departure: Departure) {
        let at = self.layout.mail(self.pe, Mail::Departure);
        for pe in (0..self.pes).filter(|pe| *pe != self.pe) {
            // One that is lost need not know.
            let _ = self.put_word(pe, at, departure as u64);
        }
    }

    /// How far `pe` says that it is.
    pub(crate) fn departure(&self, pe: PeId) -> Result<Option<Departure>> {
        let at = self.layout.mail(pe, Mail::Departure);
        let word = self.segment().load_word(at)?;
        // Anything else is not from a correct peer, and says nothing.
        Ok([Departure::Leaving, Departure::Gone]
            .into_iter()
            .find(|departure| *departure as u64 == word))
    }

    fn is_lost(&self, pe: PeId) -> Result<bool> {
        self.lost.look(&*self.wire, pe)
    }

    /// Orders earlier stores before later ones, per target.
    #[inline]
    pub(crate) fn fence(&self) -> Result<()> {
        Ok(self.wire.fence()?)
    }

    /// Returns when all earlier stores are visible.
    #[inline]
    pub(crate) fn quiet(&self) -> Result<()> {
        Ok(self.wire.quiet()?)
    }
}
