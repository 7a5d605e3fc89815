//! Shared memory between the processes of one host.
//!
//! The segments of all PEs are in one memfd that all PEs map. So stores, loads and atomics are CPU
//! instructions, a fence costs no instruction on x86, and no agent is needed.

mod bells;
pub mod handover;
mod host;
pub mod key;
mod liveness;
mod local;
mod memfd;
mod plot;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use bells::{Bells, Sleepers};
use handover::{Files, Own};
pub use handover::{Gathering, Hello, MORE_MAX, Ticket};
pub use host::Host;
pub use liveness::{LivenessWatch, Lives};
pub use local::{local, local_hosts, local_part};
pub use memfd::{check_file_limit, create as create_file, lone, map_kept, map_part, map_whole};
pub use plot::{Plot, STRIDE_ALIGN_BYTES};

use crate::error::{Loss, PeId, TransportError};
use crate::fork_guard::ForkGuard;
use crate::membership::Membership;
use crate::memory::Memory;
use crate::reach::Reach;
use crate::route::Route;
use crate::terms::Terms;
use crate::visibility::Visibility;
use crate::wait::{UNRUNG_SLEEP_MAX, WaitLimits};
use crate::window::{Bell, Window};
use crate::wire::{self, Capabilities, Wire};
use liveness::Liveness;

/// The longest sleep of a PE that peers of other kernels cannot wake. Sleeps grow from a millisecond to this.
/// So the sleeps at most double the length of a wait.
const FAR_SLEEP_MAX: Duration = Duration::from_millis(8);

/// How a [`Shm`] presents itself. The default is its real contract. The others let tests run all layers above
/// as over another wire.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShmOptions {
    /// The contract that windows declare and obey.
    pub visibility: Visibility,
}

/// The shared-memory transport.
#[derive(Debug)]
pub struct Shm {
    fork_guard: ForkGuard,
    host: Host,
    /// By number on this host.
    windows: Vec<Window>,
    reach: Option<Arc<Reach>>,
    liveness: Liveness,
    limits: WaitLimits,
    sharing: Sharing,
    /// Present if PEs of several kernels ring each other.
    bells: Option<Bells>,
    /// Descriptors that the first PE of the host gave with the memory.
    more: Vec<(u32, OwnedFd)>,
}

/// How PEs share the memory of a wire.
#[derive(Debug, Clone, Copy)]
pub struct Sharing {
    /// The contract that windows declare and obey.
    pub visibility: Visibility,
    /// All PEs are on one kernel, so its futexes reach them.
    pub is_rung: bool,
    /// How many share the CPUs of this kernel.
    pub sharers: u32,
}

/// How a PE meets its peers.
pub enum Meeting {
    /// There are no peers.
    Alone,
    /// This is PE 0, and the others hold its ticket.
    Host(Gathering),
    /// This is another PE, with the ticket of PE 0.
    Guest(Ticket),
}

impl Sharing {
    fn new(options: ShmOptions, sharers: u32) -> Self {
        Self {
            visibility: options.visibility,
            is_rung: true,
            sharers,
        }
    }
}

impl Shm {
    /// Gives each PE of a host a segment of zeroed bytes, as long as the `terms` say: the first makes
    /// them, the others get them. All PEs must be attached (a barrier of the launcher) before any checks
    /// whether another lives.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: no memory, no descriptors, no peers by
    /// `deadline`, or peers that do not fit.
    pub fn attach(
        host: Host,
        terms: &Terms,
        meeting: Meeting,
        deadline: Instant,
        options: ShmOptions,
    ) -> Result<Self, TransportError> {
        // A size that cannot exist, if it does not fit a register.
        let segment_bytes = usize::try_from(terms.segment_bytes).unwrap_or(usize::MAX);
        let segment_bytes = whole_pages(segment_bytes)?;
        let (pe, pes) = (host.local(), host.count());
        let plot = Plot::new(pes, segment_bytes)?;
        let make = || {
            Ok::<_, TransportError>(Files {
                memory: plot.create()?,
                liveness: memfd::create("hostwire-liveness", pes as usize)?,
                more: Vec::new(),
            })
        };
        let files = match meeting {
            Meeting::Alone => make()?,
            Meeting::Host(gathering) => gathering.serve(&Own { pe, pes, terms }, make, deadline)?,
            Meeting::Guest(ticket) => {
                let terms = terms.to_words();
                handover::join(ticket, &Hello { pe, pes, terms }, deadline)?
            }
        };
        let liveness = Liveness::lock(files.liveness, pe)?;
        let memory = plot.map(files.memory)?;
        Ok(Self {
            more: files.more,
            ..Self::over(
                host,
                plot,
                memory,
                liveness,
                Sharing::new(options, pes),
                None,
            )?
        })
    }

    /// The descriptors that came with the memory, with their numbers: [`Gathering::with_more`].
    pub fn take_more(&mut self) -> Vec<(u32, OwnedFd)> {
        core::mem::take(&mut self.more)
    }

    /// The wire of PEs whose segments lie in `memory` as the plot says, followed by the membership of the job.
    pub fn over_region(
        host: Host,
        plot: Plot,
        memory: Memory,
        lives: Box<dyn Lives>,
        sharing: Sharing,
        bells: Option<Bells>,
    ) -> Result<Self, TransportError> {
        Self::over(host, plot, memory, Liveness::Other(lives), sharing, bells)
    }

    fn over(
        host: Host,
        plot: Plot,
        memory: Memory,
        liveness: Liveness,
        sharing: Sharing,
        bells: Option<Bells>,
    ) -> Result<Self, TransportError> {
        // Before the first store that a sleeping peer relies on.
        crate::sync::registered();
        let window = |local| {
            let segment = plot.segment(&memory, local)?;
            let window = match local == host.local() {
                true => Window::own(segment, sharing.visibility),
                false => Window::new(segment, sharing.visibility),
            }?;
            let rings = bells.as_ref().map(|bells| &bells.rings);
            Ok(match rings.and_then(|rings| rings.get(local as usize)) {
                Some(ring) => window.with_bell(Bell::Call(Arc::clone(ring))),
                None => window,
            })
        };
        let windows = (0..host.count())
            .map(window)
            .collect::<Result<_, TransportError>>()?;
        // The short way checks doorbells without the fence that a call needs.
        let plain = sharing.visibility == Visibility::Coherent && bells.is_none();
        let reach = plain.then(|| reach(&host, plot, &memory)).transpose()?;
        Ok(Self {
            fork_guard: ForkGuard::new(host.pe())?,
            windows,
            reach,
            liveness,
            limits: WaitLimits::for_pes(sharing.sharers),
            sharing,
            bells,
            host,
            more: Vec::new(),
        })
    }

    /// The PEs of this host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The segments of all PEs of this host, in the order of their numbers.
    pub fn windows(&self) -> &[Window] {
        &self.windows
    }

    /// A watch of the PEs of this host.
    pub fn watch(&self) -> LivenessWatch {
        self.liveness.watch()
    }

    fn peer(&self, pe: PeId) -> Result<&Window, TransportError> {
        self.fork_guard.check()?;
        let local = self.local(pe)?;
        // There are as many as there are PEs here.
        Ok(&self.windows[local as usize])
    }

    /// The number of `pe` on this host.
    #[inline]
    fn local(&self, pe: PeId) -> Result<u32, TransportError> {
        self.host.local_of(pe).ok_or(TransportError::NoSuchPe {
            pe,
            pes: self.pes(),
        })
    }
}

/// The segments of the run of PEs around this one with consecutive numbers, on the host and in the job.
fn reach(host: &Host, plot: Plot, memory: &Memory) -> Result<Arc<Reach>, TransportError> {
    let run = host.run();
    let first = host.pe() - (host.local() - run.start);
    let len_bytes = run.len() * plot.stride_bytes;
    let part = memory.part(plot.offset_bytes(run.start), len_bytes)?;
    let count = run.len() as u32;
    let reach = Reach::new(part, first, count, plot.segment_bytes, plot.stride_bytes)?;
    // A fact for all PEs of a job must be stored where all can read it.
    Ok(Arc::new(match count == host.pes() {
        true => reach.with_roll(Membership::new(plot.membership(memory)?, count)?),
        false => reach,
    }))
}

fn whole_pages(segment_bytes: usize) -> Result<usize, TransportError> {
    segment_bytes
        .checked_next_multiple_of(memfd::SEGMENT_ALIGN_BYTES)
        .ok_or(TransportError::OutOfRange {
            offset_bytes: 0,
            len_bytes: segment_bytes,
            segment_bytes: isize::MAX as usize,
        })
}

impl Wire for Shm {
    fn pe(&self) -> PeId {
        self.host.pe()
    }

    fn pes(&self) -> u32 {
        self.host.pes()
    }

    fn segment(&self) -> &Window {
        &self.windows[self.host.local() as usize]
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let local = self.host.local_of(pe)?;
        Some(Route::Mapped(self.windows.get(local as usize)?.clone()))
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.peer(pe)?.put(offset_bytes, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.peer(pe)?.put_word(offset_bytes, value)
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.peer(pe)?.put_line(offset_bytes, header, payload)
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        self.sharing.visibility.fence();
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        self.sharing.visibility.quiet();
        Ok(())
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }

    fn poll(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            liveness: Some(self),
            bell: Some(self),
            reach: self.reach.as_ref(),
            ..Capabilities::NONE
        }
    }
}

impl wire::Liveness for Shm {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        let local = self.local(pe)?;
        if local == self.host.local() {
            return Ok(true);
        }
        self.liveness.is_alive(local)
    }

    fn loss(&self, pe: PeId) -> Loss {
        self.local(pe)
            .map_or(Loss::Ended, |local| self.liveness.loss(local))
    }

    fn give_up(&self, _pe: PeId) {}
}

impl wire::Bell for Shm {
    /// If no peer could ring it, the doorbell stays at rest, so that peers have nothing to do.
    fn arm(&self, wanted: Duration) -> Duration {
        let limit = self.sleep_max(wanted);
        if self.bells.is_some() {
            self.segment().doorbell().arm_for_calls();
            return limit;
        }
        match self.sharing.is_rung {
            true => self.segment().doorbell().arm(limit),
            false => limit,
        }
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        match self.sharing {
            _ if self.bells.is_some() => wanted,
            Sharing { is_rung: false, .. } => wanted.min(FAR_SLEEP_MAX),
            Sharing {
                visibility: Visibility::Coherent,
                ..
            } => wanted,
            _ => wanted.min(UNRUNG_SLEEP_MAX),
        }
    }

    fn sleep(&self, limit: Duration) -> bool {
        if let Some(bells) = &self.bells {
            return bells.sleepers.sleep(self.segment().doorbell(), limit);
        }
        if self.sharing.is_rung {
            return self.segment().doorbell().sleep(limit);
        }
        std::thread::sleep(limit);
        false
    }
}
