//! Whom a station knows, and how it comes to know them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hostwire_transport::error::{PeId, TransportError};

use super::{Name, News};

/// What a station has beside the wire to others: their names, and their coming and going.
pub trait Contacts: Send + Sync {
    /// What others need to reach this one.
    fn name(&self) -> Name;

    /// The number of the station of this name, from now on.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if it cannot be reached from here, if its name says the place of one
    /// station and the key of another, or if there is no number left.
    fn number(&self, name: &Name) -> Result<PeId, TransportError>;

    /// The name of a station that has a number.
    fn name_of(&self, pe: PeId) -> Option<Name>;

    /// Meets it, unless that has been done.
    ///
    /// # Errors
    /// [`TransportError::PeerLost`] if it has ended; [`TransportError::Environment`] if it does not
    /// answer, or refuses.
    fn meet(&self, pe: PeId) -> Result<(), TransportError>;

    /// Whether there may be anything to take, which is asked at each look and each send. Without such a word there
    /// may always be something.
    fn news(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// What has happened since the last call: at most one call gets each.
    fn take_news(&self) -> Vec<News>;

    /// From now on nobody copies private memory of this process: before buffers are given back whose
    /// messages have not ended.
    fn lend_no_more(&self) {}

    /// Has nothing to do with that station any more: it sees this one go, where it can.
    fn part(&self, pe: PeId);
}
