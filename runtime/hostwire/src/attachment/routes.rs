//! How the segment of each PE is reached. Of a large job only the PEs around this one are reached in a way of their own, through a window
//! each; one route is kept for all others.

use core::ops::Range;

use hostwire_transport::{PeId, Route, TransportError, Wire};

use crate::error::Result;

/// See the [module text](self).
pub(super) struct Routes {
    pes: u32,
    /// The number of the first of `near`.
    first: PeId,
    /// Those of PEs with consecutive numbers.
    near: Box<[Route]>,
    /// That of all others.
    elsewhere: Route,
}

impl Routes {
    /// Those of a wire.
    ///
    /// # Errors
    /// [`TransportError::NoSuchPe`] if it does not lead to all PEs.
    pub(super) fn of(wire: &dyn Wire) -> Result<Self> {
        let pes = wire.pes();
        let route = |pe| wire.route(pe).ok_or(TransportError::NoSuchPe { pe, pes });
        let mut elsewhere = None;
        let mut near: Range<PeId> = 0..0;
        for pe in 0..pes {
            let route = route(pe)?;
            if route.window().is_none()
                && is_same(elsewhere.get_or_insert_with(|| route.clone()), &route)
            {
                continue;
            }
            near = match near.is_empty() {
                true => pe..pe + 1,
                false => near.start..pe + 1,
            };
        }
        Ok(Self {
            pes,
            first: near.start,
            near: near.map(route).collect::<core::result::Result<_, _>>()?,
            elsewhere: elsewhere.unwrap_or(Route::Carried),
        })
    }

    /// That to `pe`, if there is such a PE.
    #[inline(always)]
    pub(super) fn get(&self, pe: PeId) -> Option<&Route> {
        match self.near(pe) {
            None if pe < self.pes => Some(&self.elsewhere),
            near => near,
        }
    }

    /// The same, of those PEs that may be reached through a window.
    #[inline(always)]
    pub(super) fn near(&self, pe: PeId) -> Option<&Route> {
        self.near.get(pe.wrapping_sub(self.first) as usize)
    }

    /// All that there are.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &Route> {
        let has_others = self.near.len() < self.pes as usize;
        self.near
            .iter()
            .chain(has_others.then_some(&self.elsewhere))
    }
}

/// Whether both are the same way without a window.
fn is_same(one: &Route, other: &Route) -> bool {
    match (one, other) {
        (Route::Carried, Route::Carried) | (Route::Offloaded, Route::Offloaded) => true,
        (Route::Read { from_bytes: one }, Route::Read { from_bytes: other }) => one == other,
        _ => false,
    }
}
