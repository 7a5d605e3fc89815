//! A wire whose other PEs are a script: whenever this PE looks, one of them stores something.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::route::Route;
use crate::visibility::Visibility;
use crate::wait::WaitLimits;
use crate::window::Window;
use crate::wire::{self, Capabilities, Wire};

/// After this many looks beyond the end of the script a wait counts as endless.
const LOOKS_MAX: u32 = 20_000;

/// The next stores of the other PEs to the segment of this one; false when there are no
/// more.
pub type Peers = Box<dyn FnMut(&Window) -> bool + Send>;

/// See the [module text](self). PE 0 is real; when the script is over, the others have ended.
pub struct ScriptedWire {
    windows: Vec<Window>,
    is_mapped: bool,
    peers: Mutex<Peers>,
    have_ended: AtomicBool,
    looks: AtomicU32,
}

impl ScriptedWire {
    /// A job of `pes` PEs with segments of `segment_bytes`, mapped or with nothing but posted
    /// stores.
    pub fn new(pes: u32, segment_bytes: usize, is_mapped: bool, peers: Peers) -> Self {
        let window = |_| {
            let memory = Memory::anonymous(segment_bytes);
            Window::new(memory, Visibility::Coherent).expect("room for a doorbell")
        };
        Self {
            windows: (0..pes).map(window).collect(),
            is_mapped,
            peers: Mutex::new(peers),
            have_ended: AtomicBool::new(false),
            looks: AtomicU32::new(0),
        }
    }

    /// Lets the other PEs do one thing.
    ///
    /// # Panics
    /// If this PE still looks long after they have ended.
    pub fn step(&self) {
        if !self.have_ended.load(Ordering::Relaxed) {
            let goes_on = match self.peers.try_lock() {
                Ok(mut peers) => peers(&self.windows[0]),
                Err(_) => true,
            };
            self.have_ended.store(!goes_on, Ordering::Relaxed);
        } else {
            let looks = self.looks.fetch_add(1, Ordering::Relaxed);
            assert!(looks < LOOKS_MAX, "waits for ever for PEs that have ended");
        }
    }

    /// The segment of a PE as it really is.
    pub fn memory_of(&self, pe: PeId) -> &Window {
        &self.windows[pe as usize]
    }

    fn target(&self, pe: PeId) -> Result<&Window, TransportError> {
        let pes = self.pes();
        let window = self.windows.get(pe as usize);
        window.ok_or(TransportError::NoSuchPe { pe, pes })
    }
}

impl Wire for ScriptedWire {
    fn pe(&self) -> PeId {
        0
    }

    fn pes(&self) -> u32 {
        self.windows.len() as u32
    }

    fn segment(&self) -> &Window {
        &self.windows[0]
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let window = self.windows.get(pe as usize)?;
        Some(match self.is_mapped || pe == 0 {
            true => Route::Mapped(window.clone()),
            false => Route::Carried,
        })
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.target(pe)?.put(offset_bytes, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.target(pe)?.put_word(offset_bytes, value)
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.target(pe)?.put_line(offset_bytes, header, payload)
    }

    fn fence(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.step();
        Ok(false)
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SLEEP_ONLY
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            liveness: Some(self),
            bell: Some(self),
            clock: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Liveness for ScriptedWire {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        Ok(pe == 0 || !self.have_ended.load(Ordering::Relaxed))
    }

    fn loss(&self, _pe: PeId) -> Loss {
        Loss::Ended
    }

    fn give_up(&self, _pe: PeId) {}
}

impl wire::Bell for ScriptedWire {
    fn arm(&self, wanted: Duration) -> Duration {
        wanted
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        wanted
    }

    fn sleep(&self, _: Duration) -> bool {
        self.step();
        false
    }
}

impl wire::Clock for ScriptedWire {
    fn is_in_virtual_time(&self) -> bool {
        false
    }

    fn now(&self) -> Duration {
        wire::now()
    }

    fn nap(&self, _: Duration) {
        self.step();
    }

    fn yield_now(&self) {
        self.step();
    }
}
