//! A wire around another wire.
//!
//! All stores of a PE to others pass through a [`Stage`]. The route to every other PE is
//! [`Route::Carried`], whatever the inner wire offers, so that nothing bypasses the stage: gets
//! and atomics become requests to agents, by stores.

#[cfg(test)]
pub(crate) mod log;
mod store;

use core::time::Duration;
use std::sync::Arc;

use hostwire_address::SegmentId;

pub use store::Store;

use crate::addresses::Addresses;
use crate::error::{Loss, PeId, TransportError};
use crate::fork_guard::ForkGuard;
use crate::route::Route;
use crate::wait::WaitLimits;
use crate::window::Window;
use crate::wire::{self, Capabilities, Wire};

/// Processes stores on their way to a wire.
///
/// It is never called in a copy of the process.
pub trait Stage: Send + Sync {
    /// Takes a store to another PE. The wire can make this store. Nothing is stored when an
    /// error is returned.
    fn store(&self, wire: &dyn Wire, pe: PeId, store: Store<'_>) -> Result<(), TransportError> {
        store.send(wire, pe)
    }

    /// Returns when the wire has all earlier stores to `pe`, or to all.
    fn settle(&self, wire: &dyn Wire, pe: Option<PeId>) -> Result<(), TransportError> {
        let _ = (wire, pe);
        Ok(())
    }

    /// Called while a thread waits. The stage sends stores that it holds back without need.
    fn look(&self, wire: &dyn Wire) {
        let _ = wire;
    }

    /// As [`look`](Self::look), by a thread that is about to sleep.
    fn rest(&self, wire: &dyn Wire) {
        self.look(wire);
    }

    /// No store follows. May be called twice.
    fn finish(&self, wire: &dyn Wire) {
        let _ = self.settle(wire, None);
    }

    /// See [`Lifetime::close_recording`](crate::wire::Lifetime::close_recording).
    fn close_recording(&self, wire: &dyn Wire) -> Result<(), TransportError> {
        let _ = wire;
        Ok(())
    }

    /// Its counters; see [`Counting::tally`](crate::wire::Counting::tally).
    fn tally(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
}

/// A stage that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Open;

impl Stage for Open {}

/// A wire of which only posted stores are used, as on a network.
pub type StoresOnly = Wrapped<Open>;

impl StoresOnly {
    /// Around `wire`.
    ///
    /// # Errors
    /// As [`Wrapped::around`].
    pub fn new(wire: Arc<dyn Wire>) -> Result<Self, TransportError> {
        Self::around(wire, Open)
    }
}

/// See the [module text](self).
pub struct Wrapped<S: Stage> {
    fork_guard: ForkGuard,
    wire: Arc<dyn Wire>,
    /// By PE: whether the wire leads there.
    leads: Box<[bool]>,
    addresses: Addresses,
    stage: S,
}

impl<S: Stage> Wrapped<S> {
    /// `wire`, with a stage before it.
    ///
    /// # Errors
    /// As [`ForkGuard::new`]; [`TransportError::Environment`] if there are more PEs than addresses.
    pub fn around(wire: Arc<dyn Wire>, stage: S) -> Result<Self, TransportError> {
        let leads = (0..wire.pes()).map(|pe| wire.route(pe).is_some());
        let segment = wire.segment().memory();
        Ok(Self {
            fork_guard: ForkGuard::new(wire.pe())?,
            addresses: Addresses::new(wire.pes(), segment)?,
            leads: leads.collect(),
            stage,
            wire,
        })
    }

    /// The stage that stores pass through.
    pub fn stage(&self) -> &S {
        &self.stage
    }

    fn pass(&self, pe: PeId, store: Store<'_>) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        if pe == self.wire.pe() {
            return store.send(&*self.wire, pe);
        }
        if self.leads.get(pe as usize) != Some(&true) {
            let pes = self.pes();
            return Err(TransportError::NoSuchPe { pe, pes });
        }
        store.address(&self.addresses, pe)?;
        self.stage.store(&*self.wire, pe, store)
    }

    fn look(&self) {
        if self.fork_guard.is_here() {
            self.stage.look(&*self.wire);
        }
    }

    fn rest(&self) {
        if self.fork_guard.is_here() {
            self.stage.rest(&*self.wire);
        }
    }

    fn settle(&self, pe: Option<PeId>) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        self.stage.settle(&*self.wire, pe)
    }
}

impl<S: Stage> Wire for Wrapped<S> {
    fn pe(&self) -> PeId {
        self.wire.pe()
    }

    fn pes(&self) -> u32 {
        self.wire.pes()
    }

    fn segment(&self) -> &Window {
        self.wire.segment()
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let route = self.wire.route(pe)?;
        Some(match pe == self.wire.pe() {
            true => route,
            false => Route::Carried,
        })
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.pass(pe, Store::bytes(offset_bytes, src))
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.pass(pe, Store::word(offset_bytes, value))
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.pass(pe, Store::line(offset_bytes, header, payload))
    }

    fn fence(&self) -> Result<(), TransportError> {
        let settled = self.settle(None);
        settled.and(self.wire.fence())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        let settled = self.settle(None);
        settled.and(self.wire.quiet())
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.look();
        self.wire.poll()
    }

    fn wait_limits(&self) -> WaitLimits {
        self.wire.wait_limits()
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            registration: Some(self),
            // Capabilities that bypass the stage are not offered: every store passes through
            // it, one at a time.
            offload: None,
            chains: None,
            reach: None,
            batches: None,
            private_copies: None,
            per_target: Some(self),
            liveness: Some(self),
            lifetime: Some(self),
            counting: Some(self),
            bell: Some(self),
            clock: Some(self),
            numbering: self.wire.capabilities().numbering,
        }
    }
}

impl<S: Stage> wire::Registration for Wrapped<S> {
    fn registered_route(&self, pe: PeId, segment: SegmentId) -> Option<Route> {
        let route = self.wire.registered_route(pe, segment)?;
        match route {
            _ if pe == self.wire.pe() => Some(route),
            Route::Carried | Route::Read { .. } | Route::Offloaded => Some(Route::Carried),
            // The wire itself may not take stores to mapped memory.
            Route::Mapped(_) => None,
        }
    }

    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        self.wire.register(segment, window)
    }

    fn unregister(&self, segment: SegmentId) {
        self.wire.unregister(segment);
    }
}

impl<S: Stage> wire::PerTarget for Wrapped<S> {
    fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        let settled = self.settle(Some(pe));
        settled.and(self.wire.fence_of(pe))
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        let settled = self.settle(Some(pe));
        settled.and(self.wire.quiet_of(pe))
    }
}

impl<S: Stage> wire::Liveness for Wrapped<S> {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.wire.is_alive(pe)
    }

    fn loss(&self, pe: PeId) -> Loss {
        self.wire.loss(pe)
    }

    fn give_up(&self, pe: PeId) {
        self.wire.give_up(pe);
    }

    fn all_live(&self) -> bool {
        self.wire.all_live()
    }

    fn announce(&self, word: u64) -> bool {
        self.wire.announce(word)
    }

    fn announced(&self, pe: PeId) -> Option<u64> {
        self.wire.announced(pe)
    }
}

impl<S: Stage> wire::Lifetime for Wrapped<S> {
    fn begin(&self) -> Result<(), TransportError> {
        self.wire.begin()
    }

    fn finish(&self) {
        if self.fork_guard.is_here() {
            self.stage.finish(&*self.wire);
        }
        self.wire.finish();
    }

    fn close_recording(&self) -> Result<(), TransportError> {
        let closed = match self.fork_guard.is_here() {
            true => self.stage.close_recording(&*self.wire),
            false => Ok(()),
        };
        closed.and(self.wire.close_recording())
    }
}

impl<S: Stage> wire::Counting for Wrapped<S> {
    fn tally(&self) -> Vec<(String, u64)> {
        let mut tally = self.wire.tally();
        tally.extend(self.stage.tally());
        tally
    }
}

impl<S: Stage> wire::Bell for Wrapped<S> {
    fn arm(&self, wanted: Duration) -> Duration {
        self.rest();
        self.wire.arm(wanted)
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        self.wire.sleep_max(wanted)
    }

    fn sleep(&self, limit: Duration) -> bool {
        self.wire.sleep(limit)
    }
}

impl<S: Stage> wire::Clock for Wrapped<S> {
    fn is_in_virtual_time(&self) -> bool {
        self.wire.is_in_virtual_time()
    }

    fn now(&self) -> Duration {
        self.wire.now()
    }

    fn nap(&self, time: Duration) {
        self.rest();
        self.wire.nap(time);
    }

    /// Agents do not poll.
    fn yield_now(&self) {
        self.look();
        self.wire.yield_now();
    }
}

impl<S: Stage> Drop for Wrapped<S> {
    fn drop(&mut self) {
        if self.fork_guard.is_here() {
            self.stage.finish(&*self.wire);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::log::{Asked, Log};
    use super::*;
    use crate::wire::PerTarget;

    #[test]
    fn everything_but_the_own_segment_is_carried() {
        let log = Arc::new(Log::new(3));
        let wire = StoresOnly::new(Arc::clone(&log) as _).unwrap();
        let routes: Vec<_> = (0..4).map(|pe| wire.route(pe)).collect();
        assert!(
            matches!(
                routes[..],
                [
                    Some(Route::Mapped(_)),
                    Some(Route::Carried),
                    Some(Route::Carried),
                    None
                ]
            ),
            "{routes:?}"
        );
        assert!(wire.capabilities().reach.is_none());
        wire.store(1, 8192, b"bytes").unwrap();
        wire.store_word(2, 8192, 7).unwrap();
        wire.fence_of(2).unwrap();
        wire.store_line(1, 8192, 9, b"line").unwrap();
        wire.quiet().unwrap();
        let expected = [
            Asked::Store(1, Store::bytes(8192, b"bytes")),
            Asked::Store(2, Store::word(8192, 7)),
            Asked::Fence(Some(2)),
            Asked::Store(1, Store::line(8192, 9, b"line")),
            Asked::Quiet(None),
        ];
        assert_eq!(log.take(), expected);
    }
}
