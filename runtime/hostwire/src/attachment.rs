//! A process's place in its job, below all programming interfaces: the wire, the direct way to mapped
//! memory, the agent, lost peers, and waiting.
//!
//! [`Job`](crate::Job) stands on one, and so does the OpenSHMEM library. It is for libraries like these
//! two; programs use `Job`. Any number of threads may use it.

mod gone;
mod lifecycle;
mod posted;
mod registered;
mod routes;
mod wait;

use std::cell::Cell;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use hostwire_address::Place;
use hostwire_bootstrap::{Bootstrap, Launched, Nodes};
use hostwire_transport::operation::apply;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::{ForkGuard, PeId, Route, TransportError, Visibility, Window, Wire};
pub use hostwire_transport::{Operation, Request};
use posted::Posted;
use routes::Routes;

pub use crate::agent::Getting;
use crate::agent::{Agent, AgentMode};
use crate::board::Activity;
use crate::counters::Publisher;
use crate::error::Result;
pub use crate::heap::{Block, Heap};
use crate::held_locks::HeldLocks;
use crate::layout::{Layout, Sizes};
pub use crate::lost::Departure;
use crate::lost::{Lost, Watcher};
use crate::registry::Registry;
use crate::slots::Slots;
pub use crate::status::During;
use crate::status::Status;

/// See the [module text](self).
///
/// In a copy of the process that joined, for example a forked child, operations give [`Error::Copied`](crate::Error::Copied).
/// Dropping the attachment there does not affect the PE.
pub struct Attachment {
    fork_guard: ForkGuard,
    pub(crate) wire: Arc<dyn Wire>,
    /// The own segment.
    segment: Window,
    pub(crate) pe: PeId,
    pub(crate) pes: u32,
    pub(crate) layout: Layout,
    pub(crate) status: Status,
    pub(crate) agent: Arc<Agent>,
    /// Memory of this PE that it has registered.
    registry: Arc<Registry>,
    /// How the segment of each PE is reached.
    routes: Routes,
    /// See [`is_plain`](Self::is_plain).
    is_plain: bool,
    /// See [`Clock::is_in_virtual_time`](hostwire_transport::wire::Clock::is_in_virtual_time).
    is_in_virtual_time: bool,
    /// Stores to some PEs may stay here until something follows them.
    keeps_stores: bool,
    /// By PE, for PEs to which stores are posted.
    posted: Box<[Posted]>,
    limits: WaitLimits,
    pub(crate) slots: Slots,
    pub(crate) lost: Arc<Lost>,
    workers: Mutex<Workers>,
    nodes: Nodes,
    /// Where the counters of the wire are shown.
    publisher: Option<Arc<Publisher>>,
    /// Whether they are printed at the end, and have not been yet.
    prints: AtomicBool,
    launcher: Mutex<Option<Box<dyn Bootstrap>>>,
    /// Whether a wait should end: see [`end_waits_if`](Self::end_waits_if).
    interrupt: OnceLock<Box<Interrupt>>,
    /// Locks of the job that threads of this PE hold or wait for.
    pub(crate) taken: HeldLocks,
}

/// Whether the current wait of the calling thread should end.
type Interrupt = dyn Fn() -> bool + Send + Sync;

/// The threads of an attachment.
#[derive(Default)]
struct Workers {
    /// How they work; nothing while they are stopped.
    mode: Option<AgentMode>,
    agent: Option<JoinHandle<()>>,
    watcher: Option<Watcher>,
}

/// Which PEs a wait depends on: it fails if they die or leave the job.
#[derive(Debug, Clone, Copy)]
pub enum Watch<'a> {
    /// `next` has to do something: it must neither die nor leave the job. `members` must not die: the
    /// team for which `next` acts, or nobody.
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
    /// All of these have to reach the end of the job.
    TheEnd(&'a [PeId]),
    /// All of these have to do something.
    All(&'a [PeId]),
    /// Any PE may write the awaited word. Each loss is reported once.
    Anybody,
}

/// How long a wait has taken: what is done meanwhile depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// Not long.
    Quick,
    /// Each sleep is as long as it may be.
    Slow,
}

impl Attachment {
    /// One over a wire that is already connected.
    pub fn over(wire: Arc<dyn Wire>, sizes: Sizes) -> Result<Self> {
        let nodes = Nodes::one(wire.pes());
        Self::over_hosts(wire, sizes, nodes)
    }

    /// The same, of PEs on these hosts.
    pub fn over_hosts(wire: Arc<dyn Wire>, sizes: Sizes, nodes: Nodes) -> Result<Self> {
        let launched = Launched {
            launcher: None,
            nodes,
        };
        Self::assemble(wire, sizes, Status::default(), launched)
    }

    pub(crate) fn assemble(
        wire: Arc<dyn Wire>,
        sizes: Sizes,
        status: Status,
        launched: Launched,
    ) -> Result<Self> {
        let layout = Layout::new(wire.pes(), sizes)?;
        wire.segment().memory().range(0, layout.segment_bytes())?;
        let (pe, pes) = (wire.pe(), wire.pes());
        let fork_guard = ForkGuard::new(pe)?;
        let status = status.of(fork_guard.clone());
        let routes = Routes::of(&*wire)?;
        let registry = Arc::new(Registry::default());
        let keeps_stores = routes
            .kinds()
            .any(|route| visibility(route) == Some(Visibility::WriteCombining));
        let needs_agent = routes.kinds().any(Route::needs_agent);
        let is_plain = routes
            .kinds()
            .all(|route| visibility(route) == Some(Visibility::Coherent));
        let posted = (0..pes).filter(|_| keeps_stores);
        Ok(Self {
            fork_guard,
            pe,
            pes,
            agent: Arc::new(Agent::new(
                (pes, needs_agent),
                layout,
                Arc::clone(&registry),
            )),
            registry,
            segment: wire.segment().clone(),
            is_plain,
            is_in_virtual_time: wire.is_in_virtual_time(),
            keeps_stores,
            posted: posted.map(|_| Posted::default()).collect(),
            routes,
            slots: Slots::default(),
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
            interrupt: OnceLock::new(),
            taken: HeldLocks::default(),
        })
    }

    /// Which PEs share a host.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// Whether this process is the one that joined the job, and no copy of it.
    #[inline(always)]
    pub fn is_here(&self) -> bool {
        self.fork_guard.is_here()
    }

    /// An error if it is a copy.
    ///
    /// # Errors
    /// [`Error::Copied`](crate::Error::Copied).
    #[inline(always)]
    pub fn check_is_here(&self) -> Result<()> {
        Ok(self.fork_guard.check()?)
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
    pub fn wire(&self) -> &Arc<dyn Wire> {
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
            self.let_time_pass()?;
            return Ok(old);
        }
        self.check(pe)?;
        match (self.route(pe), self.wire.offload()) {
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.atomic(pe, request)?),
            _ => self.agent.ask(self, pe, request),
        }
    }

    /// In virtual time an operation that only the CPU does lets time pass, as a load in a wait does.
    /// Without this, a program that waits in a loop of such operations would never see time pass.
    #[inline(always)]
    fn let_time_pass(&self) -> Result<()> {
        match self.is_in_virtual_time {
            true => self.progress(),
            false => Ok(()),
        }
    }

    /// The own segment.
    #[inline(always)]
    pub fn segment(&self) -> &Window {
        &self.segment
    }

    /// Whether the CPU stores to and loads from the segments of all PEs, and they are cache-coherent.
    #[inline(always)]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Whether PEs share cores: a wait should leave its core soon.
    #[inline(always)]
    pub fn is_crowded(&self) -> bool {
        self.limits.pauses == 0
    }

    /// Whether a word of the own segment can be marked as unused by an atomic operation that is also
    /// atomic with respect to the stores of peers.
    pub(crate) fn marks_words(&self) -> bool {
        self.segment.visibility() == Visibility::Coherent
    }

    /// How the segment of `pe` is reached; nothing if there is no such PE.
    pub fn route(&self, pe: PeId) -> Option<&Route> {
        self.routes.get(pe)
    }

    /// The mapped segment of `pe`, if the wire maps it and `pe` is not known to be lost.
    #[inline(always)]
    pub fn window(&self, pe: PeId) -> Option<&Window> {
        match self.routes.near(pe) {
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
        let Some(window) = self.window(pe) else {
            return self.put_elsewhere(pe, offset_bytes, src, None);
        };
        match window.put(offset_bytes, src) {
            Ok(()) => {
                self.note(window, pe, offset_bytes);
                Ok(())
            }
            Err(refused) => self.put_elsewhere(pe, offset_bytes, src, Some(refused)),
        }
    }

    /// As [`put`](Self::put), for bytes in staging: a word that follows tells `pe` about them, and `pe`
    /// takes them out soon.
    pub(crate) fn put_pieces(
        &self,
        pe: PeId,
        offset_bytes: usize,
        src: &[u8],
        past_caches: bool,
    ) -> Result<()> {
        match self.window(pe) {
            Some(window) if past_caches => Ok(window.put_staged(offset_bytes, src)?),
            Some(window) => Ok(window.put_unannounced(offset_bytes, src)?),
            None => self.put_elsewhere(pe, offset_bytes, src, None),
        }
    }

    /// Copies `len` bytes at `own_bytes` of the own segment to `offset_bytes` in that of `pe`.
    pub fn put_own(
        &self,
        pe: PeId,
        offset_bytes: usize,
        own_bytes: usize,
        len: usize,
    ) -> Result<()> {
        if let Some(window) = self.window(pe) {
            window.copy_from(offset_bytes, &self.segment, own_bytes, len)?;
            window.notify();
            self.note(window, pe, offset_bytes);
            return Ok(());
        }
        let mut bytes = vec![0; len];
        self.segment.get(own_bytes, &mut bytes)?;
        self.put_elsewhere(pe, offset_bytes, &bytes, None)
    }

    #[cold]
    #[inline(never)]
    fn put_elsewhere(
        &self,
        pe: PeId,
        offset_bytes: usize,
        src: &[u8],
        refused: Option<TransportError>,
    ) -> Result<()> {
        // Registered memory lies outside of every window.
        if Place::is_registered(offset_bytes as u64) {
            return self.put_registered(pe, offset_bytes, src);
        }
        self.check(pe)?;
        if let Some(refused) = refused {
            return Err(refused.into());
        }
        Ok(self.wire.store(pe, offset_bytes, src)?)
    }

    /// Stores one word, after all earlier stores to `pe`.
    #[inline]
    pub fn put_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<()> {
        match self.window(pe) {
            Some(window) => {
                window.put_word(offset_bytes, value)?;
                self.note(window, pe, offset_bytes);
                Ok(())
            }
            None => {
                self.check(pe)?;
                Ok(self.wire.store_word(pe, offset_bytes, value)?)
            }
        }
    }

    /// As [`put_word`](Self::put_word), but quiet does not wait for the word.
    #[inline(always)]
    pub fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<()> {
        match self.window(pe) {
            Some(_) => self.put_word(pe, offset_bytes, value),
            None => {
                self.check(pe)?;
                Ok(self.wire.signal_word(pe, offset_bytes, value)?)
            }
        }
    }

    /// Copies bytes at `offset_bytes` in the segment of `pe` to `dst`.
    #[inline]
    pub fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<()> {
        let window = self.load_window(pe);
        let refused = match window.map(|window| window.get(offset_bytes, dst)) {
            Some(Ok(())) => return self.let_time_pass(),
            Some(Err(refused)) => Some(refused),
            None => None,
        };
        self.get_elsewhere(pe, offset_bytes, dst, refused)
    }

    #[cold]
    #[inline(never)]
    fn get_elsewhere(
        &self,
        pe: PeId,
        offset_bytes: usize,
        dst: &mut [u8],
        refused: Option<TransportError>,
    ) -> Result<()> {
        // As in `put_elsewhere`.
        if Place::is_registered(offset_bytes as u64) {
            return self.get_registered(pe, offset_bytes, dst);
        }
        self.check(pe)?;
        if let Some(refused) = refused {
            return Err(refused.into());
        }
        match (self.route(pe), self.wire.offload()) {
            (Some(Route::Offloaded), Some(wire)) => Ok(wire.get(pe, offset_bytes, dst)?),
            (Some(Route::Read { from_bytes }), Some(wire)) if dst.len() >= *from_bytes => {
                Ok(wire.get(pe, offset_bytes, dst)?)
            }
            _ => self.agent.get(self, pe, offset_bytes, dst),
        }
    }

    /// As [`get`](Self::get), but if the agent of `pe` has to give the bytes, they are only asked for.
    /// Then they come with [`Getting::finish`]; otherwise they are in `dst` now.
    ///
    /// # Errors
    /// As `get`.
    pub fn begin_get(
        &self,
        pe: PeId,
        offset_bytes: usize,
        dst: &mut [u8],
    ) -> Result<Option<Getting>> {
        let is_asked = match self.route(pe) {
            Some(Route::Carried) => true,
            Some(Route::Read { from_bytes }) => dst.len() < *from_bytes,
            Some(Route::Mapped(window)) => !window.allows_loads(),
            Some(Route::Offloaded) | None => false,
        };
        if !is_asked || Place::is_registered(offset_bytes as u64) {
            return self.get(pe, offset_bytes, dst).map(|()| None);
        }
        self.check(pe)?;
        Getting::begin(self, pe, offset_bytes, dst.len()).map(Some)
    }

    /// An error if there is no such PE or it is known to be lost, and in a copy of the
    /// process.
    pub fn check(&self, pe: PeId) -> Result<()> {
        self.fork_guard.check()?;
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

    /// Orders earlier stores before later ones, per target.
    #[inline]
    pub fn fence(&self) -> Result<()> {
        self.fork_guard.check()?;
        Ok(self.wire.fence()?)
    }

    /// Orders earlier stores to `pe` before later ones to it.
    #[inline]
    pub fn fence_of(&self, pe: PeId) -> Result<()> {
        self.fork_guard.check()?;
        Ok(self.wire.fence_of(pe)?)
    }

    /// Returns when all earlier stores are visible.
    #[inline]
    pub fn quiet(&self) -> Result<()> {
        self.fork_guard.check()?;
        self.wire.quiet()?;
        match self.keeps_stores {
            true => self.hear_of_posted(0..self.pes),
            false => Ok(()),
        }
    }

    /// Returns when all earlier stores to `pe` are visible there.
    #[inline]
    pub fn quiet_of(&self, pe: PeId) -> Result<()> {
        self.fork_guard.check()?;
        self.wire.quiet_of(pe)?;
        match self.keeps_stores {
            true => self.hear_of_posted(core::iter::once(pe)),
            false => Ok(()),
        }
    }
}

fn visibility(route: &Route) -> Option<Visibility> {
    route.window().map(Window::visibility)
}
