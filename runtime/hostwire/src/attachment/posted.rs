//! When stores are visible that went through windows without loads.
//!
//! A posted store has no acknowledgement, and no load can check for it. But stores of one PE to
//! another arrive in order. So a request to the agent of the other PE arrives after them, and the
//! reply shows that they have arrived.

use std::sync::atomic::{AtomicU64, Ordering};

use hostwire_transport::{PeId, Visibility, Window};

use super::Attachment;
use crate::error::Result;

/// What this PE has stored to another one, and what it knows of it.
#[derive(Debug, Default)]
pub(super) struct Posted {
    /// How many stores there were to memory of the program.
    stores: AtomicU64,
    /// How many of them have arrived.
    arrived: AtomicU64,
}

impl Attachment {
    /// Notes a store through a window to `pe`.
    #[inline(always)]
    pub(super) fn note(&self, window: &Window, pe: PeId, offset_bytes: usize) {
        if window.visibility() == Visibility::WriteCombining {
            self.note_posted(pe, offset_bytes);
        }
    }

    /// Stores of the runtime itself do not count: no quiet has to wait for them.
    #[cold]
    #[inline(never)]
    fn note_posted(&self, pe: PeId, offset_bytes: usize) {
        if let Some(posted) = self.posted.get(pe as usize)
            && self.layout.is_the_programs(offset_bytes, 0)
        {
            posted.stores.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits until all that this PE has posted to these PEs has arrived.
    ///
    /// # Errors
    /// [`Error::PeerLost`](crate::Error::PeerLost), once, if one of them is lost meanwhile. Stores
    /// to the others have arrived then.
    #[cold]
    pub(super) fn hear_of_posted(&self, pes: impl Iterator<Item = PeId>) -> Result<()> {
        let mut all = Ok(());
        for pe in pes {
            let Some(posted) = self.posted.get(pe as usize) else {
                continue;
            };
            let stores = posted.stores.load(Ordering::Relaxed);
            if posted.arrived.load(Ordering::Relaxed) < stores {
                all = all.and(self.agent.hear_from(self, pe));
                // If it is lost, there is nothing more to wait for.
                posted.arrived.fetch_max(stores, Ordering::Relaxed);
            }
        }
        all
    }
}
