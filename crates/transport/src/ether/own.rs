//! The memory of this PE, as the addresses in frames name it.

use std::collections::HashMap;

use hostwire_address::{GlobalAddress, JobMap, Place, SegmentId};

use crate::error::{PeId, TransportError};
use crate::window::Window;

/// See the [module text](self).
#[derive(Debug)]
pub(crate) struct Own {
    /// The segments that lie side by side.
    window: Window,
    /// Their first address.
    first: u64,
    pe: PeId,
    map: JobMap,
    registered: HashMap<SegmentId, Window>,
}

impl Own {
    /// The memory of `pe`, of which `window` is the segments that lie side by side.
    ///
    /// # Errors
    /// [`TransportError::NoSuchPe`] if it is not in the map.
    pub(crate) fn new(window: Window, pe: PeId, map: JobMap) -> Result<Self, TransportError> {
        let pes = map.pes();
        let near = map.near(pe).ok_or(TransportError::NoSuchPe { pe, pes })?;
        Ok(Self {
            window,
            first: near.start.0,
            pe,
            map,
            registered: HashMap::new(),
        })
    }

    /// The segments that lie side by side.
    pub(crate) fn window(&self) -> &Window {
        &self.window
    }

    pub(crate) fn register(&mut self, segment: SegmentId, window: Window) {
        self.registered.insert(segment, window);
    }

    pub(crate) fn unregister(&mut self, segment: SegmentId) {
        self.registered.remove(&segment);
    }

    /// Where the byte at an address lies; `None` if it is not memory of this PE.
    #[inline]
    pub(crate) fn find(&self, address: u64) -> Option<(&Window, usize)> {
        let offset = address.wrapping_sub(self.first);
        match usize::try_from(offset) {
            Ok(offset) if offset < self.window.memory().len_bytes() => Some((&self.window, offset)),
            _ => self.find_registered(address),
        }
    }

    #[cold]
    fn find_registered(&self, address: u64) -> Option<(&Window, usize)> {
        match self.map.locate(GlobalAddress(address))? {
            (pe, Place::Registered(segment, offset)) if pe == self.pe => {
                let window = self.registered.get(&segment)?;
                Some((window, usize::try_from(offset).ok()?))
            }
            _ => None,
        }
    }
}
