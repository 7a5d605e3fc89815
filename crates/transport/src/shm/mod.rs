//! Shared memory between the processes of one host.
//!
//! Every PE's segment is a memfd that all PEs map. So stores, loads and atomics are
//! CPU instructions, a fence is a compiler matter on x86, and nothing needs an agent.

mod handover;
mod liveness;
mod local;
mod memfd;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Instant;

pub use handover::{Gathering, Hello, Ticket};
pub use local::local;
pub use memfd::map_whole;

use crate::error::{PeId, TransportError};
use crate::reach::Reach;
use crate::ring::PAYLOAD_BYTES;
use crate::transport::{Capabilities, Transport};
use crate::visibility::Visibility;
use crate::wait::WaitLimits;
use crate::window::Window;
use liveness::Liveness;

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
    pe: PeId,
    /// The own segment.
    file: OwnedFd,
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
    /// Makes this PE's segment of `segment_bytes` zeroed bytes and exchanges it with
    /// the peers. `ring_bytes` is only compared with theirs: they divide the segment. All
    /// PEs must be attached (a barrier of the launcher) before any asks whether another
    /// lives.
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
        let segment = memfd::create(&format!("hostwire-segment-{pe}"), segment_bytes)?;
        let hello = Hello {
            pe,
            pes,
            // Not the whole pages: PEs that asked for different sizes do not fit together.
            segment_bytes: asked_bytes as u64,
            ring_bytes: ring_bytes as u64,
        };
        let new_liveness = || memfd::create("hostwire-liveness", pes as usize);
        let roster = match meeting {
            Meeting::Alone => handover::Roster {
                segments: vec![segment],
                liveness: new_liveness()?,
            },
            Meeting::Host(gathering) => {
                gathering.serve(&hello, segment, new_liveness()?, deadline)?
            }
            Meeting::Guest(ticket) => handover::join(ticket, &hello, segment.as_fd(), deadline)?,
        };
        let liveness = Liveness::lock(roster.liveness, pe)?;
        Self::over(pe, &roster.segments, segment_bytes, liveness, options)
    }

    fn over(
        pe: PeId,
        segments: &[OwnedFd],
        segment_bytes: usize,
        liveness: Liveness,
        options: ShmOptions,
    ) -> Result<Self, TransportError> {
        // Before the first store that a sleeping peer relies on.
        crate::sync::registered();
        let (memory, stride_bytes) = memfd::map_side_by_side(segments, segment_bytes)?;
        let pes = segments.len() as u32;
        let file = segments[pe as usize]
            .try_clone()
            .map_err(|e| TransportError::environment("keeping the own segment open", e))?;
        let windows = (0..segments.len())
            .map(|pe| {
                let segment = memory.part(pe * stride_bytes, segment_bytes)?;
                Window::new(segment, options.visibility)
            })
            .collect::<Result<_, _>>()?;
        let plain = options.visibility == Visibility::Coherent && !options.stores_only;
        let reach = match plain {
            true => Some(Arc::new(Reach::new(
                memory,
                pes,
                segment_bytes,
                stride_bytes,
            )?)),
            false => None,
        };
        Ok(Self {
            pe,
            file,
            windows,
            reach,
            liveness,
            limits: WaitLimits::for_pes(pes),
            options,
        })
    }

    fn peer(&self, pe: PeId) -> Result<&Window, TransportError> {
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

    fn segment_file(&self) -> Option<BorrowedFd<'_>> {
        Some(self.file.as_fd())
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
        self.options.visibility.store_fence();
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
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
