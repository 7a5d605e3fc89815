//! Rights that are given up once the sockets are open.
//!
//! Who breaks into a PE by a frame should not find more than the sockets that are open.

use hostwire_transport::error::TransportError;
use rustix::thread::{CapabilitySet, CapabilitySets};

/// Gives up `rights` in this thread and those that it starts from now on. Threads that
/// run already keep theirs; so does a program that root executes later, which gets all
/// rights of root anew.
///
/// Rights that the thread does not have are none to give up, and all others stay.
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
