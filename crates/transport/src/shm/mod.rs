//! Shared memory between the processes of one host.
//!
//! The segments of all PEs are in one memfd that all PEs map. So stores, loads and atomics
//! are CPU instructions, a fence is a compiler matter on x86, and nothing needs an agent.

pub(crate) mod handover;
mod key;
mod liveness;
mod local;
mod memfd;
mod plot;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

use handover::Files;
pub use handover::{Gathering, Hello, Ticket};
pub use local::local;
pub use memfd::map_whole;

use crate::error::{PeId, TransportError};
use crate::origin::Origin;
use crate::reach::Reach;
use crate::ring::PAYLOAD_BYTES;
use crate::roll::Roll;
use crate::transport::{Capabilities, Transport};
use crate::visibility::Visibility;
use crate::wait::WaitLimits;
use crate::window::Window;
use liveness::Liveness;
use plot::Plot;

/// How a [`Shm`] presents itself. The default is what the wire is; the rest lets tests
/// run every layer above as if over another wire.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShmOptions {
    /// The contract that windows declare and obey.
    pub visibility: Visibility,
    /// Hide everything but posted stores.
    pub stores_only: bool,
}

/// The shared-memory transport.
#[derive(Debug)]
pub struct Shm {
    origin: Origin,
    pe: PeId,
    /// All segments, and where the own one lies in it.
    file: OwnedFd,
    offset_bytes: usize,
    windows: Vec<Window>,
    reach: Option<Arc<Reach>>,
    liveness: Liveness,
    limits: WaitLimits,
    options: ShmOptions,
}

/// How a PE gets at its peers.
pub enum Meeting {
    /// There are none.
    Alone,
    /// This is PE 0, and the others hold its ticket.
    Host(Gathering),
    /// This is another PE, with the ticket of PE 0.
    Guest(Ticket),
}

impl Shm {
    /// Gives each PE a segment of `segment_bytes` zeroed bytes: PE 0 makes them, the others
    /// get them. `ring_bytes` is only compared with that of the others: they divide the
    /// segment. All PEs must be attached (a barrier of the launcher) before any asks whether
    /// another lives.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: no memory, no descriptors, no peers by
    /// `deadline`, or peers that do not fit.
    pub fn attach(
        pe: PeId,
        pes: u32,
        segment_bytes: usize,
        ring_bytes: usize,
        meeting: Meeting,
        deadline: Instant,
        options: ShmOptions,
    ) -> Result<Self, TransportError> {
        let asked_bytes = segment_bytes;
        let segment_bytes = whole_pages(asked_bytes)?;
        let plot = Plot::new(pes, segment_bytes)?;
        let hello = Hello {
            pe,
            pes,
            // Not the whole pages: PEs that asked for different sizes do not fit together.
            segment_bytes: asked_bytes as u64,
            ring_bytes: ring_bytes as u64,
        };
        let make = || {
            Ok::<_, TransportError>(Files {
                memory: plot.create()?,
                liveness: memfd::create("hostwire-liveness", pes as usize)?,
            })
        };
        let files = match meeting {
            Meeting::Alone => make()?,
            Meeting::Host(gathering) => gathering.serve(&hello, make, deadline)?,
            Meeting::Guest(ticket) => handover::join(ticket, &hello, deadline)?,
        };
        let liveness = Liveness::lock(files.liveness, pe)?;
        Self::over(pe, plot, files.memory, liveness, options)
    }

    fn over(
        pe: PeId,
        plot: Plot,
        file: OwnedFd,
        liveness: Liveness,
        options: ShmOptions,
    ) -> Result<Self, TransportError> {
        // Before the first store that a sleeping peer relies on.
        crate::sync::registered();
        let memory = plot.map(&file)?;
        let pes = plot.pes;
        let windows = (0..pes)
            .map(|pe| Window::new(plot.segment(&memory, pe)?, options.visibility))
            .collect::<Result<_, _>>()?;
        let plain = options.visibility == Visibility::Coherent && !options.stores_only;
        let reach = match plain {
            true => {
                let roll = Roll::new(plot.roll(&memory)?, pes)?;
                let reach = Reach::new(memory, pes, plot.segment_bytes, plot.stride_bytes)?;
                Some(Arc::new(reach.with_roll(roll)))
            }
            false => None,
        };
        Ok(Self {
            origin: Origin::new(pe)?,
            pe,
            file,
            offset_bytes: plot.offset_bytes(pe),
            windows,
            reach,
            liveness,
            limits: WaitLimits::for_pes(pes),
            options,
        })
    }

    fn peer(&self, pe: PeId) -> Result<&Window, TransportError> {
        self.origin.check()?;
        self.windows
            .get(pe as usize)
            .ok_or(TransportError::NoSuchPe {
                pe,
                pes: self.pes(),
            })
    }
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

impl Transport for Shm {
    fn pe(&self) -> PeId {
        self.pe
    }

    fn pes(&self) -> u32 {
        self.windows.len() as u32
    }

    fn capabilities(&self) -> Capabilities {
        if self.options.stores_only {
            return Capabilities {
                visibility: self.options.visibility,
                ..Capabilities::STORES_ONLY
            };
        }
        Capabilities {
            mapped_stores: true,
            loads: self.options.visibility != Visibility::WriteCombining,
            cpu_atomics: self.options.visibility == Visibility::Coherent,
            visibility: self.options.visibility,
        }
    }

    fn segment(&self) -> &Window {
        &self.windows[self.pe as usize]
    }

    fn window(&self, pe: PeId) -> Option<&Window> {
        if self.options.stores_only && pe != self.pe {
            return None;
        }
        self.windows.get(pe as usize)
    }

    fn reach(&self) -> Option<&Arc<Reach>> {
        self.reach.as_ref()
    }

    fn segment_file(&self) -> Option<(BorrowedFd<'_>, usize)> {
        Some((self.file.as_fd(), self.offset_bytes))
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
        let window = self.peer(pe)?;
        window.memory().line(offset_bytes)?;
        if payload.len() > PAYLOAD_BYTES {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: payload.len(),
                segment_bytes: PAYLOAD_BYTES,
            });
        }
        window.memory().copy_in(offset_bytes + 8, payload)?;
        window.put_word(offset_bytes, header)
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.origin.check()?;
        self.options.visibility.store_fence();
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.origin.check()?;
        self.options.visibility.store_fence();
        crate::sync::fence(crate::sync::Ordering::SeqCst);
        Ok(())
    }

    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        if pe == self.pe {
            return Ok(true);
        }
        self.liveness.is_alive(pe)
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }
}
