//! Rights that are given up after the sockets are open.
//!
//! An attacker who takes over a PE by a frame should find only the open sockets.

use hostwire_transport::error::TransportError;
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Gives up `rights` in this thread and those that it starts from now on. Running threads
/// keep theirs. A program that root executes later gets all rights of root again.
///
/// Missing rights are ignored, and all other rights stay.
pub(super) fn give_up(rights: CapabilitySet) -> Result<(), TransportError> {
    let failed = |e: rustix::io::Errno| {
        TransportError::environment("giving up the rights to open sockets", e)
    };
    let sets = rustix::thread::capabilities(None).map_err(failed)?;
    let without = CapabilitySets {
        effective: sets.effective - rights,
        permitted: sets.permitted - rights,
        inheritable: sets.inheritable - rights,
    };
    if without == sets {
        return Ok(());
    }
    rustix::thread::set_capabilities(None, without).map_err(failed)
}
