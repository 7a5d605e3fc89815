//! A wire for tests that keeps a list of its calls.

use core::time::Duration;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Store;
use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::route::Route;
use crate::visibility::Visibility;
use crate::wait::WaitLimits;
use crate::window::Window;
use crate::wire::{self, Capabilities, Wire};

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    Store(PeId, Store<'static>),
    Fence(Option<PeId>),
    Quiet(Option<PeId>),
}

/// The wire of PE 0. Its time advances by a microsecond at each look at the clock.
pub(crate) struct Log {
    segment: Window,
    pes: u32,
    asked: Mutex<Vec<Asked>>,
    looks: AtomicU64,
}

impl Log {
    pub(crate) fn new(pes: u32) -> Self {
        let memory = Memory::anonymous(1 << 20);
        Self {
            segment: Window::own(memory, Visibility::Coherent).unwrap(),
            pes,
            asked: Mutex::default(),
            looks: AtomicU64::new(0),
        }
    }

    /// The calls since this was called last.
    pub(crate) fn take(&self) -> Vec<Asked> {
        core::mem::take(&mut self.asked.lock().unwrap())
    }

    fn push(&self, asked: Asked) -> Result<(), TransportError> {
        self.asked.lock().unwrap().push(asked);
        Ok(())
    }
}

impl Wire for Log {
    fn pe(&self) -> PeId {
        0
    }

    fn pes(&self) -> u32 {
        self.pes
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        (pe < self.pes).then(|| Route::Mapped(self.segment.clone()))
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.push(Asked::Store(
            pe,
            Store::bytes(offset_bytes, src).into_owned(),
        ))
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.push(Asked::Store(pe, Store::word(offset_bytes, value)))
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let line = Store::line(offset_bytes, header, payload);
        self.push(Asked::Store(pe, line.into_owned()))
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.push(Asked::Fence(None))
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.push(Asked::Quiet(None))
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SHARED
    }

    fn poll(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            per_target: Some(self),
            liveness: Some(self),
            clock: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::PerTarget for Log {
    fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.push(Asked::Fence(Some(pe)))
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.push(Asked::Quiet(Some(pe)))
    }
}

impl wire::Liveness for Log {
    fn is_alive(&self, _pe: PeId) -> Result<bool, TransportError> {
        Ok(true)
    }

    fn loss(&self, _pe: PeId) -> Loss {
        Loss::Ended
    }

    fn give_up(&self, _pe: PeId) {}
}

impl wire::Clock for Log {
    fn is_in_virtual_time(&self) -> bool {
        false
    }

    fn now(&self) -> Duration {
        Duration::from_micros(self.looks.fetch_add(1, Ordering::Relaxed))
    }

    fn nap(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn yield_now(&self) {
        std::thread::yield_now();
    }
}
