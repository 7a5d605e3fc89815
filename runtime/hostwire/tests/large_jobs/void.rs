//! The first PEs of a job, on one host, and a wire to all others that takes what is stored to them and counts it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use hostwire::{Layout, Sizes};
use hostwire_transport::shm::{Shm, ShmOptions, local_part};
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::wire::Capabilities;
use hostwire_transport::{PeId, Route, TransportError, Window, Wire, Wires};

/// Stores by target.
type Stores = Arc<Mutex<BTreeMap<PeId, usize>>>;

/// See the [module text](self).
pub(crate) struct Host {
    near: Vec<Arc<Shm>>,
    stores: Stores,
}

impl Host {
    /// The first `here` PEs of a job of `pes`.
    pub(crate) fn new(pes: u32, here: u32, sizes: Sizes) -> Self {
        let bytes = Layout::new(pes, sizes).unwrap().segment_bytes();
        let members: Vec<PeId> = (0..here).collect();
        let near = local_part(pes, &members, bytes, ShmOptions::default()).unwrap();
        Self {
            near: near.into_iter().map(Arc::new).collect(),
            stores: Stores::default(),
        }
    }

    /// The wires of a PE that exists.
    pub(crate) fn wire(&self, pe: PeId) -> Arc<dyn Wire> {
        let near: Arc<dyn Wire> = Arc::clone(&self.near[pe as usize]) as _;
        let far = Void {
            near: Arc::clone(&near),
            stores: Arc::clone(&self.stores),
        };
        Arc::new(Wires::new(near, [Arc::new(far) as Arc<dyn Wire>]).unwrap())
    }

    /// The last of the PEs that exist ends.
    pub(crate) fn end_last(&mut self) {
        drop(self.near.pop());
    }

    /// How much was stored to PEs that do not exist.
    pub(crate) fn stored(&self) -> usize {
        let stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        stores.values().sum()
    }
}

struct Void {
    near: Arc<dyn Wire>,
    stores: Stores,
}

impl Void {
    fn count(&self, pe: PeId) -> Result<(), TransportError> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        *stores.entry(pe).or_default() += 1;
        Ok(())
    }
}

impl Wire for Void {
    fn pe(&self) -> PeId {
        self.near.pe()
    }

    fn pes(&self) -> u32 {
        self.near.pes()
    }

    fn segment(&self) -> &Window {
        self.near.segment()
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        (pe < self.pes() && self.near.route(pe).is_none()).then_some(Route::Carried)
    }

    fn store(&self, pe: PeId, _: usize, _: &[u8]) -> Result<(), TransportError> {
        self.count(pe)
    }

    fn store_word(&self, pe: PeId, _: usize, _: u64) -> Result<(), TransportError> {
        self.count(pe)
    }

    fn store_line(&self, pe: PeId, _: usize, _: u64, _: &[u8]) -> Result<(), TransportError> {
        self.count(pe)
    }

    fn fence(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn poll(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SHARED
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities::NONE
    }
}
