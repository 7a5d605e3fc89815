//! All wires of a job as one: the only place where wires meet.
//!
//! Each PE is reached by one wire, so a wire's promises about the order of stores to one PE hold
//! here as well. An operation on all PEs goes to all wires.

use core::time::Duration;
use std::sync::Arc;

use hostwire_address::SegmentId;

use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::operation::Request;
use crate::reach::Reach;
use crate::route::Route;
use crate::wait::WaitLimits;
use crate::window::Window;
use crate::wire::{self, Capabilities, Line, Offload, Part, Wire};

/// See the [module text](self).
pub struct Wires {
    /// The first one has the own segment.
    wires: Box<[Arc<dyn Wire>]>,
    /// By PE: the index of the wire that leads there.
    by_pe: Box<[u8]>,
    /// Whether one of them offloads operations.
    offloads: bool,
    reach: Option<Arc<Reach>>,
}

impl Wires {
    /// Joins `first` and `others`, which are wires of the same PE of the same job, over the same
    /// segment. If several wires lead to a PE, the first that maps its segment is used, or else
    /// the first of all.
    ///
    /// # Errors
    /// [`TransportError::Misused`] if they are not of the same PE, [`TransportError::NoWire`] if
    /// none of them leads to some PE.
    pub fn new(
        first: Arc<dyn Wire>,
        others: impl IntoIterator<Item = Arc<dyn Wire>>,
    ) -> Result<Self, TransportError> {
        let (pe, pes) = (first.pe(), first.pes());
        let mut wires = vec![first];
        wires.extend(others);
        if wires
            .iter()
            .any(|wire| (wire.pe(), wire.pes()) != (pe, pes))
        {
            let other = |wire: &Arc<dyn Wire>| format!("PE {} of {}", wire.pe(), wire.pes());
            return Err(TransportError::misused(
                "joining the wires of a PE",
                format_args!("those of PE {pe} of {pes}"),
                wires.iter().map(other).collect::<Vec<_>>().join(", "),
            ));
        }
        let by_pe = (0..pes).map(|pe| best(&wires, pe).ok_or(TransportError::NoWire { pe }));
        Ok(Self {
            by_pe: by_pe.collect::<Result<_, _>>()?,
            offloads: wires.iter().any(|wire| wire.offload().is_some()),
            reach: wires.iter().find_map(|wire| wire.reach()).cloned(),
            wires: wires.into(),
        })
    }

    fn first(&self) -> &dyn Wire {
        &*self.wires[0]
    }

    /// The wire to `pe`.
    #[inline]
    fn to(&self, pe: PeId) -> Result<&dyn Wire, TransportError> {
        match self.by_pe.get(pe as usize) {
            Some(wire) => Ok(&*self.wires[usize::from(*wire)]),
            None => Err(TransportError::NoSuchPe {
                pe,
                pes: self.pes(),
            }),
        }
    }

    /// Calls all wires, and then gives the first error.
    fn all(
        &self,
        ask: impl Fn(&dyn Wire) -> Result<(), TransportError>,
    ) -> Result<(), TransportError> {
        let mut all = Ok(());
        for wire in &self.wires {
            all = all.and(ask(&**wire));
        }
        all
    }
}

/// Which wire to take to `pe`.
fn best(wires: &[Arc<dyn Wire>], pe: PeId) -> Option<u8> {
    let maps = |wire: &Arc<dyn Wire>| matches!(wire.route(pe), Some(Route::Mapped(_)));
    let leads = |wire: &Arc<dyn Wire>| wire.route(pe).is_some();
    let wire = wires.iter().position(maps);
    let wire = wire.or_else(|| wires.iter().position(leads))?;
    u8::try_from(wire).ok()
}

impl Wire for Wires {
    fn pe(&self) -> PeId {
        self.first().pe()
    }

    fn pes(&self) -> u32 {
        self.by_pe.len() as u32
    }

    fn segment(&self) -> &Window {
        self.first().segment()
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        self.to(pe).ok()?.route(pe)
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.to(pe)?.store(pe, offset_bytes, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.to(pe)?.store_word(pe, offset_bytes, value)
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.to(pe)?.store_line(pe, offset_bytes, header, payload)
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.all(|wire| wire.fence())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.all(|wire| wire.quiet())
    }

    fn poll(&self) -> Result<bool, TransportError> {
        let mut came = false;
        for wire in &self.wires {
            came |= wire.poll()?;
        }
        Ok(came)
    }

    /// The limits of the wire that has to be polled most.
    fn wait_limits(&self) -> WaitLimits {
        let limits = self.wires.iter().map(|wire| wire.wait_limits());
        limits
            .reduce(WaitLimits::joined)
            .unwrap_or(WaitLimits::SHARED)
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            registration: Some(self),
            offload: self.offloads.then_some(self as _),
            // A chain of one wire would reach only some PEs.
            chains: None,
            reach: self.reach.as_ref(),
            batches: Some(self),
            per_target: Some(self),
            private_copies: Some(self),
            liveness: Some(self),
            lifetime: Some(self),
            counting: Some(self),
            bell: Some(self),
            clock: Some(self),
            // The PEs of a job number each other the same way.
            numbering: None,
        }
    }
}

impl wire::Registration for Wires {
    fn registered_route(&self, pe: PeId, segment: SegmentId) -> Option<Route> {
        self.to(pe).ok()?.registered_route(pe, segment)
    }

    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        self.all(|wire| wire.register(segment, window))
            .inspect_err(|_| self.unregister(segment))
    }

    fn unregister(&self, segment: SegmentId) {
        for wire in &self.wires {
            wire.unregister(segment);
        }
    }
}

impl wire::Batches for Wires {
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.to(pe)?.signal_word(pe, offset_bytes, value)
    }

    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        self.to(pe)?.store_lines(pe, lines)
    }

    fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        self.to(pe)?.store_behind(pe, parts, line)
    }
}

impl wire::PerTarget for Wires {
    fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.to(pe)?.fence_of(pe)
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.to(pe)?.quiet_of(pe)
    }
}

impl wire::Liveness for Wires {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.to(pe)?.is_alive(pe)
    }

    fn loss(&self, pe: PeId) -> Loss {
        self.to(pe).map_or(Loss::Ended, |wire| wire.loss(pe))
    }

    fn give_up(&self, pe: PeId) {
        if let Ok(wire) = self.to(pe) {
            wire.give_up(pe);
        }
    }
}

impl wire::Lifetime for Wires {
    fn begin(&self) -> Result<(), TransportError> {
        self.all(|wire| wire.begin())
    }

    fn finish(&self) {
        for wire in &self.wires {
            wire.finish();
        }
    }

    fn close_recording(&self) -> Result<(), TransportError> {
        self.all(|wire| wire.close_recording())
    }
}

impl wire::Counting for Wires {
    fn tally(&self) -> Vec<(String, u64)> {
        self.wires.iter().flat_map(|wire| wire.tally()).collect()
    }
}

/// The own segment is that of the first wire, which knows how its owner sleeps.
impl wire::Bell for Wires {
    fn arm(&self, wanted: Duration) -> Duration {
        self.first().arm(wire::Bell::sleep_max(self, wanted))
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        let limits = self.wires.iter().map(|wire| wire.sleep_max(wanted));
        limits.min().unwrap_or(wanted)
    }

    fn sleep(&self, limit: Duration) -> bool {
        self.first().sleep(limit)
    }
}

impl wire::PrivateCopies for Wires {
    fn lends_private(&self, pe: PeId) -> bool {
        self.to(pe).is_ok_and(|wire| wire.lends_private(pe))
    }

    fn copy_private(&self, pe: PeId, address: u64, dst: &mut [u8]) -> bool {
        self.to(pe)
            .is_ok_and(|wire| wire.copy_private(pe, address, dst))
    }

    fn copy_private_to(&self, pe: PeId, address: u64, to: (&Memory, usize, usize)) -> bool {
        self.to(pe)
            .is_ok_and(|wire| wire.copy_private_to(pe, address, to))
    }
}

impl wire::Clock for Wires {
    fn is_in_virtual_time(&self) -> bool {
        self.first().is_in_virtual_time()
    }

    fn now(&self) -> Duration {
        self.first().now()
    }

    fn nap(&self, time: Duration) {
        self.first().nap(time);
    }

    fn yield_now(&self) {
        self.first().yield_now();
    }
}

impl Wires {
    /// The offloaded operations of the wire to `pe`.
    fn offload_to(&self, pe: PeId) -> Result<&dyn Offload, TransportError> {
        self.to(pe)?.offload().ok_or_else(|| {
            TransportError::misused(
                "an operation that the wire does",
                "a PE to which an offloaded route leads",
                format_args!("PE {pe}"),
            )
        })
    }
}

impl Offload for Wires {
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        self.offload_to(pe)?.get(pe, offset_bytes, dst)
    }

    fn atomic(&self, pe: PeId, request: Request) -> Result<u64, TransportError> {
        self.offload_to(pe)?.atomic(pe, request)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::shm::{ShmOptions, local_part};
    use crate::wire::PerTarget;
    use crate::wrap::StoresOnly;

    /// The wires of PE 0 of a job of `pes` to these, over segments of their own.
    fn wire(pes: u32, members: &[PeId], stores_only: bool) -> Arc<dyn Wire> {
        let wires = local_part(pes, members, 1 << 16, ShmOptions::default()).unwrap();
        let wire = Arc::new(wires.into_iter().next().unwrap());
        match stores_only {
            true => Arc::new(StoresOnly::new(wire).unwrap()),
            false => wire,
        }
    }

    fn is_mapped(wires: &Wires, pe: PeId) -> bool {
        matches!(wires.route(pe), Some(Route::Mapped(_)))
    }

    #[test]
    fn each_pe_is_reached_by_the_first_wire_that_maps_it_or_else_by_the_first() {
        let stores = wire(4, &[0, 1, 2, 3], true);
        let mapped = wire(4, &[0, 2], false);
        let wires = Wires::new(Arc::clone(&stores), [Arc::clone(&mapped)]).unwrap();
        assert_eq!(
            [0, 1, 2, 3].map(|pe| is_mapped(&wires, pe)),
            [true, false, true, false]
        );
        wires.store_word(2, 8192, 7).unwrap();
        let seen = |wire: &Arc<dyn Wire>| {
            let Some(Route::Mapped(window)) = wire.route(2) else {
                return None;
            };
            window.load_word(8192).ok()
        };
        assert_eq!(seen(&mapped), Some(7));
        let reached = wires.capabilities().reach.map(|reach| reach.pes());
        assert_eq!(reached, Some(0..1), "PE 1 is between them");
    }

    #[test]
    fn wires_that_do_not_belong_together_are_refused() {
        let refused = |first, others: Vec<Arc<dyn Wire>>| match Wires::new(first, others) {
            Ok(_) => panic!("they were taken"),
            Err(error) => error,
        };
        let near = || wire(3, &[0, 1], false);
        let error = refused(near(), vec![]);
        assert_eq!(error, TransportError::NoWire { pe: 2 });
        let error = refused(near(), vec![wire(4, &[0, 2], false)]);
        assert!(matches!(error, TransportError::Misused { .. }), "{error}");
    }

    #[test]
    fn who_does_not_exist_is_refused_as_by_one_wire() {
        let wires = Wires::new(wire(2, &[0, 1], false), []).unwrap();
        let nobody = Err(TransportError::NoSuchPe { pe: 2, pes: 2 });
        assert_eq!(wires.store(2, 8192, &[1]), nobody);
        assert_eq!(wires.fence_of(2), nobody);
        assert_eq!(wires.quiet_of(2), nobody);
        assert!(wires.route(2).is_none());
    }
}
