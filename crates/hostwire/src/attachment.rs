//! A process's place in its job, below every way to program it: the wire, the short way
//! around it, the agent, who is lost, and waiting.
//!
//! [`Job`](crate::Job) stands on one, and so does the OpenSHMEM library. It is for those
//! who build such a thing; programs want `Job`. Unlike a job it may be used by several
//! threads at a time.

use std::cell::Cell;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_address::{Place, SegmentId};
use hostwire_transport::operation::apply;
use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};
use hostwire_transport::{Memory, Origin, PeId, Route, Transport, TransportError, Window};

use crate::agent::{Agent, AgentMode};
use crate::registry::Registry;
pub use hostwire_transport::{Operation, Request};

use crate::board::Activity;
use crate::counters::Publisher;
use crate::error::{Error, Result};
use crate::launch::{Bootstrap, LaunchStep, Launched, Nodes};
use crate::layout::{Layout, Sizes};
use crate::lost::{Lost, Watcher};
pub use crate::status::During;
use crate::status::Status;
pub use crate::symmetric::{Block, Heap};
use crate::taken::Taken;

/// The longest nap where nothing but the end of a sleep would tell the time.
const NAP_MAX: Duration = Duration::from_micros(10);

/// See the [module text](self).
///
/// In a copy of the process that joined, a child that it forks for one, operations give
/// [`Error::Copied`], and dropping it does nothing to the PE.
pub struct Attachment {
    origin: Origin,
    pub(crate) wire: Arc<dyn Transport>,
    pub(crate) pe: PeId,
    pub(crate) pes: u32,
    pub(crate) layout: Layout,
    pub(crate) status: Status,
    pub(crate) agent: Arc<Agent>,
    /// Memory of this PE that it has registered.
    registry: Arc<Registry>,
    /// How the segment of each PE is reached.
    routes: Box<[Route]>,
    limits: WaitLimits,
    pub(crate) lost: Arc<Lost>,
    workers: Mutex<Workers>,
    nodes: Nodes,
    /// Where the counters of the wire are shown.
    publisher: Option<Arc<Publisher>>,
    /// Whether they are printed at the end, and have not been yet.
    prints: AtomicBool,
    launcher: Mutex<Option<Box<dyn Bootstrap>>>,
    /// Locks of the job that threads of this PE hold or wait for.
    pub(crate) taken: Taken,
}

/// The threads of an attachment.
#[derive(Default)]
struct Workers {
    /// While they work: how.
    mode: Option<AgentMode>,
    agent: Option<JoinHandle<()>>,
    watcher: Option<Watcher>,
}

/// Whose end ends a wait that nothing else has ended.
#[derive(Debug, Clone, Copy)]
pub enum Watch<'a> {
    /// `next` has to do something: it must neither die nor leave the job. It does so for a
    /// team of which all members must live, or for no team.
    Next {
        /// Who has to live.
        members: &'a [PeId],
        /// Who has to do something.
        next: PeId,
    },
    /// The agent of this PE has to do something: it serves until the job is over.
    Agent(PeId),
    /// As `Next`, for both of two PEs, unless it has been done.
    Pair {
        /// Who has to live.
        members: &'a [PeId],
        /// One of the two, and whether it is done.
        to: (PeId, &'a Cell<bool>),
        /// The other one.
        from: (PeId, &'a Cell<bool>),
    },
    /// All have to come to the end of the job.
    TheEnd(&'a [PeId]),
    /// All of these have to do something.
    All(&'a [PeId]),
    /// Any PE may write the word waited for. Each loss is told once.
    Anybody,
}

/// How long a wait has taken, for what is done meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pace {
    /// Not long.
    Quick,
    /// Each sleep is as long as it may be.
    Slow,
}

/// How far a PE is on its way out of the job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Departure {
    /// Not at all.
    Here = 0,
    /// It will start nothing more.
    Leaving = 1,
    /// It knows that all PEs are leaving: its end is no loss.
    Gone = 2,
}

impl Attachment {
    /// Attaches to the job that this process was started in, as
    /// [`Job::attach`](crate::Job::attach) does. `sizes` gets what the environment says
    /// and the number of PEs. Nothing runs in the background yet:
    /// [`start`](Self::start).
    #[cfg(target_os = "linux")]
    pub fn join(sizes: impl FnOnce(Sizes, u32) -> Result<Sizes>) -> Result<Self> {
        crate::attach::join(sizes)
    }

    /// One over a wire that is already connected.
    pub fn over(wire: Arc<dyn Transport>, sizes: Sizes) -> Result<Self> {
        let launched = Launched::by_nobody(wire.pes());
        Self::assemble(wire, sizes, Status::default(), launched)
    }

    pub(crate) fn assemble(
        wire: Arc<dyn Transport>,
        sizes: Sizes,
        status: Status,
        launched: Launched,
    ) -> Result<Self> {
        let layout = Layout::new(wire.pes(), sizes)?;
        wire.segment().memory().range(0, layout.segment_bytes())?;
        let (pe, pes) = (wire.pe(), wire.pes());
        let origin = Origin::new(pe)?;
        let status = status.of(origin.clone());
        let routes = (0..pes).map(|pe| {
            let route = wire.route(pe);
            route.ok_or(Error::from(TransportError::NoSuchPe { pe, pes }))
        });
        let routes = routes.collect::<Result<Box<[Route]>>>()?;
        let registry = Arc::new(Registry::default());
        Ok(Self {
            origin,
            pe,
            pes,
            agent: Arc::new(Agent::new(&routes, layout, Arc::clone(&registry))),
            registry,
            routes,
            limits: wire.wait_limits(),
            lost: Arc::new(Lost::new(
                &wire,
                layout,
                launched.nodes.clone(),
                status.obituaries(),
            )?),
            status,
            layout,
            wire,
            workers: Mutex::default(),
            nodes: launched.nodes,
            publisher: None,
            prints: AtomicBool::new(false),
            launcher: Mutex::new(launched.launcher),
            taken: Taken::default(),
        })
    }

    /// Copies of this process cannot attach again: they would speak to the launcher in the
    /// name of this PE.
    pub(crate) fn remember(&self) {
        self.origin.remember();
    }

    /// Starts what works in the background: the agent, where the wire needs one, and the
    /// thread that looks whether peers live.
    pub fn start(&self, mode: AgentMode) -> Result<()> {
        self.origin.check()?;
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.mode = Some(mode);
        workers.agent = self.agent.start(&self.wire, mode)?;
        if mode == AgentMode::Thread && self.pes > 1 {
            let watcher = Watcher::start(
                Arc::clone(&self.wire),
                Arc::clone(&self.lost),
                self.publisher.clone(),
            )?;
            workers.watcher = Some(watcher);
            self.lost.set_watched(true);
        }
        Ok(())
    }

    /// Ends what works in the background. In a copy of the process nothing does.
    pub fn stop(&self) {
        if !self.is_here() {
            return;
        }
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        self.lost.set_watched(false);
        workers.mode = None;
        workers.watcher = None;
        self.agent.stop(&*self.wire);
        if let Some(thread) = workers.agent.take() {
            // It cannot have panicked with anything of ours to mend.
            let _ = thread.join();
        }
        self.show_counters();
    }

    /// Shows what the wire counts to others from now on, and prints it at the end if
    /// `prints`.
    #[cfg(target_os = "linux")]
    pub(crate) fn publish(&mut self, wire_name: &str, prints: bool) {
        if self.pes > 1 {
            self.publisher = Publisher::new(&*self.wire, wire_name).map(Arc::new);
            self.prints = AtomicBool::new(prints);
        }
    }

    /// The last values, on paper too if that was asked for.
    fn show_counters(&self) {
        if let Some(publisher) = &self.publisher {
            publisher.publish(&*self.wire);
        }
        if self.prints.swap(false, Ordering::Relaxed) {
            let text = crate::counters::text(self.pe, &self.wire.tally());
            // The user asked for it by HOSTWIRE_STATS; that nobody reads it is no error.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    /// Whether a thread looks for lost peers.
    pub(crate) fn is_watching(&self) -> bool {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.watcher.is_some()
    }

    /// Tells the launcher that this process is done with the job. Once is enough.
    pub fn leave_launcher(&self) -> Result<()> {
        self.origin.check()?;
        let mut launcher = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        match launcher.take() {
            Some(mut launcher) => launcher
                .finalize()
                .map_err(|fault| LaunchStep::Leave.failed(fault)),
            None => Ok(()),
        }
    }

    /// Whether the launcher is reached by PMI-1 or PMI-2: over one socket, which other libraries in
    /// this process may use, too.
    pub fn is_under_pmi(&self) -> bool {
        if !self.is_here() {
            return false;
        }
        let launcher = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        let name = launcher.as_ref().map(|launcher| launcher.name());
        matches!(name, Some("PMI-1" | "PMI-2"))
    }

    /// Asks the launcher to end the whole job with this exit status. Returns whether
    /// there is one to ask; it ends this process, too, so the caller should leave.
    ///
    /// # Errors
    /// [`Error::Launch`] if it is gone or cannot; [`Error::Copied`].
    pub fn abort(&self, status: i32, why: &str) -> Result<bool> {
        self.origin.check()?;
        // A thread that holds the lock is in the middle of leaving, and the job with it.
        let Ok(mut launcher) = self.launcher.try_lock() else {
            return Ok(false);
        };
        match &mut *launcher {
            None => Ok(false),
            Some(launcher) => launcher
                .abort(status, why)
                .map(|()| true)
                .map_err(|fault| LaunchStep::Abort.failed(fault)),
        }
    }

    /// Which PEs share a host.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Whether this process is the one that joined the job, and no copy of it.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        self.origin.is_here()
    }

    /// An error if it is a copy.
    ///
    /// # Errors
    /// [`Error::Copied`].
    #[inline(always)]
    pub fn check_is_here(&self) -> Result<()> {
        Ok(self.origin.check()?)
    }

    /// The number of this PE.
    #[inline(always)]
    pub fn pe(&self) -> PeId {
        self.pe
    }

    /// How many PEs the job has.
    #[inline(always)]
    pub fn pes(&self) -> u32 {
        self.pes
    }

    /// The wire.
    pub fn wire(&self) -> &Arc<dyn Transport> {
        &self.wire
    }

    /// How a segment is divided.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// How a wait spends its time.
    pub fn limits(&self) -> WaitLimits {
        self.limits
    }

    /// Says on the board what this PE is doing, and with whom.
    pub fn activity(&self, activity: Activity, peer: Option<PeId>) {
        self.status.set(activity, peer);
    }

    /// Has an atomic operation done to memory of `pe`, and returns the old value.
    pub fn atomic(&self, pe: PeId, request: Request) -> Result<u64> {
        if Place::is_registered(request.offset_bytes as u64) {
            return self.atomic_registered(pe, request);
        }
        if let Some(window) = self.atomic_window(pe) {
            let old = apply(window, &request)?;
            window.notify();
            return Ok(old);
        }
        self.check(pe)?;
        match (self.route(pe), self.wire.offload()) {
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.atomic(pe, request)?),
            _ => self.agent.ask(self, pe, request),
        }
    }

    /// The own segment.
    #[inline(always)]
    pub fn segment(&self) -> &Window {
        self.wire.segment()
    }

    /// How the segment of `pe` is reached; nothing if there is no such PE.
    pub fn route(&self, pe: PeId) -> Option<&Route> {
        self.routes.get(pe as usize)
    }

    /// The mapped segment of `pe`, if the wire maps it and `pe` is not known to be lost.
    #[inline(always)]
    pub fn window(&self, pe: PeId) -> Option<&Window> {
        match self.routes.get(pe as usize) {
            Some(Route::Mapped(window)) if !self.lost.contains(pe) => Some(window),
            _ => None,
        }
    }

    /// As [`window`](Self::window), if it may be loaded from.
    #[inline(always)]
    pub fn load_window(&self, pe: PeId) -> Option<&Window> {
        self.window(pe).filter(|window| window.allows_loads())
    }

    /// As [`window`](Self::window), if CPU atomics work there.
    #[inline(always)]
    pub(crate) fn atomic_window(&self, pe: PeId) -> Option<&Window> {
        self.window(pe).filter(|window| window.allows_atomics())
    }

    /// Copies `src` to `offset_bytes` in the segment of `pe`.
    #[inline(always)]
    pub fn put(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        // Registered memory lies outside of every window.
        if let Some(window) = self.window(pe)
            && window.put(offset_bytes, src).is_ok()
        {
            return Ok(());
        }
        self.put_elsewhere(pe, offset_bytes, src)
    }

    #[cold]
    #[inline(never)]
    fn put_elsewhere(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        if Place::is_registered(offset_bytes as u64) {
            return self.put_registered(pe, offset_bytes, src);
        }
        self.check(pe)?;
        Ok(self.wire.store(pe, offset_bytes, src)?)
    }

    /// Stores one word, after all earlier stores to `pe`.
    #[inline]
    pub fn put_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<()> {
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
    pub fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<()> {
        match self.load_window(pe) {
            Some(window) if window.get(offset_bytes, dst).is_ok() => Ok(()),
            _ => self.get_elsewhere(pe, offset_bytes, dst),
        }
    }

    #[cold]
    #[inline(never)]
    fn get_elsewhere(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<()> {
        if Place::is_registered(offset_bytes as u64) {
            return self.get_registered(pe, offset_bytes, dst);
        }
        self.check(pe)?;
        match (self.route(pe), self.wire.offload()) {
            // What is wrong with it, the window says again.
            (Some(Route::Mapped(window)), _) if window.allows_loads() => {
                Ok(window.get(offset_bytes, dst)?)
            }
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.get(pe, offset_bytes, dst)?),
            _ => self.agent.get(self, pe, offset_bytes, dst),
        }
    }

    /// An error if there is no such PE or it is known to be lost, and in a copy of the
    /// process.
    pub fn check(&self, pe: PeId) -> Result<()> {
        self.origin.check()?;
        if pe >= self.pes {
            Err(TransportError::NoSuchPe { pe, pes: self.pes }.into())
        } else if self.lost.contains(pe) {
            Err(self.lost.error(pe))
        } else {
            Ok(())
        }
    }

    /// Whether `pe` exists and is not known to be lost.
    #[inline(always)]
    pub fn is_there(&self, pe: PeId) -> bool {
        pe < self.pes && !self.lost.contains(pe)
    }

    /// How often a wait polls before it does anything else.
    #[inline(always)]
    pub fn spins(&self) -> u32 {
        self.limits.spins
    }

    /// Polls until there is a result.
    ///
    /// # Errors
    /// What `poll` gives; [`Error::PeerLost`] or [`Error::PeerLeft`] when a watched PE
    /// will not do what is waited for and `poll` still has nothing.
    #[inline]
    pub fn wait<R>(&self, watch: Watch<'_>, poll: impl FnMut() -> Result<Option<R>>) -> Result<R> {
        self.wait_and(watch, |_| self.progress(), poll)
    }

    /// As [`wait`](Self::wait), with something else to get on with meanwhile. The one
    /// place where a PE waits.
    #[inline]
    pub(crate) fn wait_and<R>(
        &self,
        watch: Watch<'_>,
        progress: impl Fn(Pace) -> Result<()>,
        poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.wait_before(None, watch, progress, poll)
    }

    /// As [`wait_and`](Self::wait_and), where `poll` may have something because of the time
    /// alone: no sleep is longer than until `deadline`, as [`Transport::now`] counts.
    #[inline]
    pub(crate) fn wait_before<R>(
        &self,
        deadline: Option<Duration>,
        watch: Watch<'_>,
        progress: impl Fn(Pace) -> Result<()>,
        mut poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        self.origin.check()?;
        let mut backoff = Backoff::new(self.limits);
        loop {
            if let Some(result) = poll()? {
                return Ok(result);
            }
            match backoff.step() {
                WaitStep::Spin => {}
                WaitStep::Pause => core::hint::spin_loop(),
                WaitStep::Look => {
                    if self.wire.poll()? {
                        backoff.came();
                    }
                }
                WaitStep::Work => progress(Pace::Quick)?,
                WaitStep::Yield => {
                    match self.wire.poll()? {
                        true => backoff.came(),
                        false => self.wire.yield_now(),
                    }
                    progress(Pace::Quick)?;
                }
                WaitStep::Nap(time) => {
                    match self.wire.poll()? {
                        true => backoff.came(),
                        false => self.wire.nap(time),
                    }
                    progress(Pace::Quick)?;
                }
                WaitStep::Sleep(limit) => {
                    let how_long = (limit, deadline);
                    let slept =
                        self.sleep_once(watch, how_long, &mut backoff, &progress, &mut poll)?;
                    if let Some(result) = slept {
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
        (limit, deadline): (Duration, Option<Duration>),
        backoff: &mut Backoff,
        progress: &dyn Fn(Pace) -> Result<()>,
        poll: &mut dyn FnMut() -> Result<Option<R>>,
    ) -> Result<Option<R>> {
        let pace = match limit < self.limits.sleep_max {
            true => Pace::Quick,
            false => Pace::Slow,
        };
        let limit = self.wire.arm(limit);
        progress(pace)?;
        if let Some(result) = poll()? {
            return Ok(Some(result));
        }
        let rung = self.sleep(limit, deadline);
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

    /// Sleeps until a peer stores, or for `limit`, and not beyond `deadline`. Returns whether a
    /// peer stored.
    fn sleep(&self, limit: Duration, deadline: Option<Duration>) -> bool {
        let Some(deadline) = deadline else {
            return self.wire.sleep(limit);
        };
        let left = deadline.saturating_sub(self.wire.now());
        if self.wire.sleeps_in_time() {
            return self.wire.sleep(limit.min(left));
        }
        self.wire.nap(left.min(NAP_MAX));
        false
    }

    /// Lets the wire and the agent work.
    pub fn progress(&self) -> Result<()> {
        self.origin.check()?;
        self.wire.poll()?;
        self.agent.serve(&*self.wire)
    }

    /// Why what is waited for will never happen, if that is so.
    fn find_gone(&self, watch: Watch<'_>) -> Result<Option<Error>> {
        match watch {
            Watch::Next { members, next } => self.find_absent(members, [next]),
            Watch::Agent(pe) => Ok(self.is_lost(pe)?.then(|| self.lost.error(pe))),
            Watch::Pair { members, to, from } => {
                let pending = [to, from].into_iter().filter(|(_, done)| !done.get());
                self.find_absent(members, pending.map(|(pe, _)| pe))
            }
            Watch::TheEnd(members) => self.find_the_end(members),
            Watch::All(members) => {
                for pe in members.iter().copied().filter(|pe| *pe != self.pe) {
                    // First: as in `find_absent`.
                    let left = self.departure(pe)?.is_some();
                    if self.is_said_to_be_lost(pe)? {
                        return Ok(Some(self.lost.error(pe)));
                    }
                    if left {
                        return Ok(Some(Error::PeerLeft { pe }));
                    }
                }
                Ok(None)
            }
            Watch::Anybody => self.find_newly_lost(),
        }
    }

    /// A member or one of `next` that has died, or one of `next` that leaves the job. Who
    /// leaves may do so because of a death, so departures are looked at first: such a death
    /// is seen then.
    fn find_absent(
        &self,
        members: &[PeId],
        next: impl IntoIterator<Item = PeId, IntoIter: Clone>,
    ) -> Result<Option<Error>> {
        let next = next.into_iter();
        let mut left = None;
        for pe in next.clone() {
            if left.is_none() && self.departure(pe)?.is_some() {
                left = Some(Error::PeerLeft { pe });
            }
        }
        for pe in next {
            if self.is_lost(pe)? {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        for pe in members.iter().copied() {
            if self.is_said_to_be_lost(pe)? {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        Ok(left)
    }

    /// Somebody who knows that all are leaving, or who has died without that.
    fn find_the_end(&self, members: &[PeId]) -> Result<Option<Error>> {
        for pe in members.iter().copied() {
            let lost = self.is_said_to_be_lost(pe)?;
            // Looked at second: what it stored before it ended counts.
            if self.departure(pe)? == Some(Departure::Gone) {
                return Ok(Some(Error::PeerLeft { pe }));
            }
            if lost {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        Ok(None)
    }

    /// An error if a PE that has not left in good order is newly found to be lost: for
    /// programs that wait by looking themselves.
    pub fn look_for_lost(&self) -> Result<()> {
        self.origin.check()?;
        self.find_newly_lost()?.map_or(Ok(()), Err)
    }

    fn find_newly_lost(&self) -> Result<Option<Error>> {
        let mut left = None;
        let mut others = 0;
        for pe in (0..self.pes).filter(|pe| *pe != self.pe) {
            let lost = self.is_said_to_be_lost(pe)?;
            match self.departure(pe)? {
                Some(_) => left = Some(Error::PeerLeft { pe }),
                None => others += 1,
            }
            if lost && self.departure(pe)? != Some(Departure::Gone) && self.lost.report(pe) {
                return Ok(Some(self.lost.error(pe)));
            }
        }
        // When all are leaving, nobody is there who could store anything.
        Ok(left.filter(|_| others == 0))
    }

    /// Tells all peers how far this PE is on its way out. A copy of the process tells nothing.
    pub fn tell_departure(&self, departure: Departure) {
        if self.is_here() {
            self.lost.tell_departure(&*self.wire, departure);
        }
    }

    /// How far `pe` says that it is.
    pub fn departure(&self, pe: PeId) -> Result<Option<Departure>> {
        let word = self.lost.departure(&*self.wire, pe)?;
        // Anything else is not from a correct peer, and says nothing.
        Ok([Departure::Leaving, Departure::Gone]
            .into_iter()
            .find(|departure| *departure as u64 == word))
    }

    /// Looks whether `pe` is lost. May cost a system call.
    pub fn is_lost(&self, pe: PeId) -> Result<bool> {
        self.origin.check()?;
        self.lost.look(&*self.wire, pe)
    }

    /// As [`is_lost`](Self::is_lost), but among hundreds of PEs it is left to the threads to
    /// look: for waits that depend on many.
    fn is_said_to_be_lost(&self, pe: PeId) -> Result<bool> {
        self.lost.look_or_hear(&*self.wire, pe)
    }

    /// Orders earlier stores before later ones, per target.
    #[inline]
    pub fn fence(&self) -> Result<()> {
        self.origin.check()?;
        Ok(self.wire.fence()?)
    }

    /// Orders earlier stores to `pe` before later ones to it.
    #[inline]
    pub fn fence_of(&self, pe: PeId) -> Result<()> {
        self.origin.check()?;
        Ok(self.wire.fence_of(pe)?)
    }

    /// Returns when all earlier stores are visible.
    #[inline]
    pub fn quiet(&self) -> Result<()> {
        self.origin.check()?;
        Ok(self.wire.quiet()?)
    }

    /// Returns when all earlier stores to `pe` are visible there.
    #[inline]
    pub fn quiet_of(&self, pe: PeId) -> Result<()> {
        self.origin.check()?;
        Ok(self.wire.quiet_of(pe)?)
    }
}

/// Registered memory.
impl Attachment {
    /// Lets peers put to memory of this PE, get from it and change it by atomics, until it is
    /// [unregistered](Self::unregister). Returns its number.
    ///
    /// # Errors
    /// [`Error::TooManySegments`]; [`Error::Environment`] if the agent, which may be needed from
    /// now on, cannot be started; [`Error::Copied`].
    pub fn register(&self, memory: Memory) -> Result<SegmentId> {
        self.origin.check()?;
        let (segment, window) = self.registry.add(memory)?;
        let registered = self.wire.register(segment, &window).map_err(Error::from);
        registered
            .and_then(|()| self.start_agent())
            .inspect_err(|_| self.unregister(segment))?;
        Ok(segment)
    }

    /// Peers do not reach it any more: when this returns, nothing more is stored there.
    pub fn unregister(&self, segment: SegmentId) {
        if self.is_here() {
            self.wire.unregister(segment);
            self.registry.remove(segment);
            self.agent.finish_serving();
        }
    }

    /// Not all wires reach registered memory: what they do not do, the agent does.
    fn start_agent(&self) -> Result<()> {
        self.agent.need();
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(mode), None) = (workers.mode, &workers.agent) {
            workers.agent = self.agent.start(&self.wire, mode)?;
        }
        Ok(())
    }

    /// How `pe`, which is there, is reached.
    fn registered_route(&self, pe: PeId, offset_bytes: usize) -> Result<Option<Route>> {
        self.check(pe)?;
        let (segment, _) = registered_place(pe, offset_bytes)?;
        if pe == self.pe {
            return Ok(self.registry.window(segment).map(Route::Mapped));
        }
        Ok(self.wire.registered_route(pe, segment))
    }

    fn put_registered(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<()> {
        let (_, offset) = registered_place(pe, offset_bytes)?;
        match self.registered_route(pe, offset_bytes)? {
            Some(Route::Mapped(window)) => {
                let put = window.put(offset, src);
                self.segment().notify();
                put.map_err(|_| not_registered(pe, offset_bytes))
            }
            Some(Route::Carried | Route::Offloaded) => {
                Ok(self.wire.store(pe, offset_bytes, src)?)
            }
            None if pe == self.pe => Err(not_registered(pe, offset_bytes)),
            None => self.agent.put(self, pe, offset_bytes, src),
        }
    }

    fn get_registered(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<()> {
        let (_, offset) = registered_place(pe, offset_bytes)?;
        match (
            self.registered_route(pe, offset_bytes)?,
            self.wire.offload(),
        ) {
            (Some(Route::Mapped(window)), _) if window.allows_loads() => window
                .get(offset, dst)
                .map_err(|_| not_registered(pe, offset_bytes)),
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.get(pe, offset_bytes, dst)?),
            _ if pe == self.pe => Err(not_registered(pe, offset_bytes)),
            _ => self.agent.get(self, pe, offset_bytes, dst),
        }
    }

    fn atomic_registered(&self, pe: PeId, request: Request) -> Result<u64> {
        let (_, offset_bytes) = registered_place(pe, request.offset_bytes)?;
        match (
            self.registered_route(pe, request.offset_bytes)?,
            self.wire.offload(),
        ) {
            (Some(Route::Mapped(window)), _) if window.allows_atomics() => {
                let there = Request {
                    offset_bytes,
                    ..request
                };
                let old = apply(&window, &there);
                self.segment().notify();
                old.map_err(|_| not_registered(pe, request.offset_bytes))
            }
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.atomic(pe, request)?),
            _ if pe == self.pe => Err(not_registered(pe, request.offset_bytes)),
            _ => self.agent.ask(self, pe, request),
        }
    }
}

/// The segment of a place in registered memory, and where in it the place is.
fn registered_place(pe: PeId, offset_bytes: usize) -> Result<(SegmentId, usize)> {
    match Place::of(offset_bytes as u64) {
        // An offset is below 2^40.
        Some(Place::Registered(segment, offset)) => Ok((segment, offset as usize)),
        _ => Err(not_registered(pe, offset_bytes)),
    }
}

#[cold]
fn not_registered(pe: PeId, offset_bytes: usize) -> Error {
    let (segment, offset_bytes) = match Place::of(offset_bytes as u64) {
        Some(Place::Registered(segment, offset)) => (segment.get(), offset),
        _ => (u16::MAX, offset_bytes as u64),
    };
    Error::NotRegistered {
        pe,
        segment,
        offset_bytes,
    }
}

/// The threads end with it. A copy of the process has none of them, only their handles, and
/// what it shares with the launcher is the PE's.
impl Drop for Attachment {
    fn drop(&mut self) {
        if self.is_here() {
            return self.stop();
        }
        let workers = self.workers.get_mut();
        core::mem::forget(core::mem::take(
            workers.unwrap_or_else(PoisonError::into_inner),
        ));
        let launcher = self.launcher.get_mut();
        core::mem::forget(launcher.unwrap_or_else(PoisonError::into_inner).take());
    }
}
