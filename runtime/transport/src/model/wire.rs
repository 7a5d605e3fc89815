//! The wire of a run: windows onto modelled memory, and nothing else.

use core::time::Duration;

use super::door;
use super::machine::Aperture;
use super::segment::Kind;
use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::route::Route;
use crate::visibility::Visibility;
use crate::wait::WaitLimits;
use crate::window::Window;
use crate::wire::{self, Capabilities, Wire};

/// The wire of one PE of a [`run`](super::run).
#[derive(Debug)]
pub struct ModelWire {
    pe: PeId,
    visibility: Visibility,
    windows: Vec<Window>,
}

impl ModelWire {
    /// The wire of `pe`. The run has begun.
    pub(super) fn new(
        pe: PeId,
        pes: u32,
        segment_bytes: usize,
        visibility: Visibility,
    ) -> Result<Self, TransportError> {
        let kind = |to: PeId| match visibility {
            Visibility::Flushed => Kind::Flushed,
            Visibility::WriteCombining if to != pe => Kind::WriteCombining,
            _ => Kind::Coherent,
        };
        // In one piece. Nothing is ever stored there, but an allocator clears what it has given before, and in the second run of a large job
        // those of all pairs were some GiB.
        let each_bytes = segment_bytes.next_multiple_of(64);
        let all = Memory::anonymous(each_bytes * pes as usize);
        let window = |to: PeId| {
            let addresses = all.part(to as usize * each_bytes, segment_bytes)?;
            let window = match to == pe {
                true => Window::own(addresses.clone(), visibility),
                false => Window::new(addresses.clone(), visibility),
            };
            door::with(|machine| {
                machine.map(Aperture {
                    addresses,
                    pe: pe as usize,
                    segment: to as usize,
                    kind: kind(to),
                });
            });
            window
        };
        Ok(Self {
            pe,
            visibility,
            windows: (0..pes).map(window).collect::<Result<_, _>>()?,
        })
    }

    fn peer(&self, pe: PeId) -> Result<&Window, TransportError> {
        let pes = self.pes();
        self.windows
            .get(pe as usize)
            .ok_or(TransportError::NoSuchPe { pe, pes })
    }
}

impl Wire for ModelWire {
    fn pe(&self) -> PeId {
        self.pe
    }

    fn pes(&self) -> u32 {
        self.windows.len() as u32
    }

    fn segment(&self) -> &Window {
        &self.windows[self.pe as usize]
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        self.windows.get(pe as usize).cloned().map(Route::Mapped)
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
        self.visibility.fence();
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.visibility.quiet();
        Ok(())
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits {
            spins: 2,
            yields: 2,
            ..WaitLimits::SLEEP_ONLY
        }
    }

    fn poll(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            liveness: Some(self),
            clock: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Liveness for ModelWire {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.peer(pe)?;
        let (asks, pe) = (self.pe as usize, pe as usize);
        let ended = door::with(|machine| machine.has_ended(asks, pe));
        Ok(ended == Some(false))
    }

    fn loss(&self, _pe: PeId) -> Loss {
        Loss::Ended
    }

    fn give_up(&self, _pe: PeId) {}
}

impl wire::Clock for ModelWire {
    fn is_in_virtual_time(&self) -> bool {
        false
    }

    fn now(&self) -> Duration {
        wire::now()
    }

    fn nap(&self, _time: Duration) {
        door::turn();
    }

    fn yield_now(&self) {
        door::turn();
    }
}

impl Drop for ModelWire {
    fn drop(&mut self) {
        let pe = self.pe as usize;
        door::with(|machine| machine.pes[pe].ended = true);
    }
}
