//! The contacts of a station, and how it gets to know them.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hostwire_transport::error::{PeId, TransportError};

use super::{Name, News};

/// The part of a station beside the wire: names of other stations, and when they come and go.
pub trait Contacts: Send + Sync {
    /// The name that others need to reach this station.
    fn name(&self) -> Name;

    /// The number of the station of this name. It does not change.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if it cannot be reached from here, if its name combines the place of one
    /// station with the key of another, or if no number is left.
    fn number(&self, name: &Name) -> Result<PeId, TransportError>;

    /// The name of a station that has a number.
    fn name_of(&self, pe: PeId) -> Option<Name>;

    /// Meets it, unless they have met.
    ///
    /// # Errors
    /// [`TransportError::PeerLost`] if it has ended; [`TransportError::Environment`] if it does not
    /// answer, or refuses.
    fn meet(&self, pe: PeId) -> Result<(), TransportError>;

    /// A flag: whether there may be news to take. It is checked at each look and each send. Without a flag there
    /// may always be news.
    fn news(&self) -> Option<Arc<AtomicBool>> {
        None
    }

    /// The news since the last call. Each is given only once.
    fn take_news(&self) -> Vec<News>;

    /// From now on no peer copies private memory of this process. Called before buffers of unfinished messages are
    /// given back.
    fn lend_no_more(&self) {}

    /// Ends the contact with a station. It sees this one go, if possible.
    fn part(&self, pe: PeId);
}
