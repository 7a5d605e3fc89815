//! The counters of the wire by name, for tools.

use hostwire_link::{Counters, counters};

use super::core::FramesCore;

counters! {
    /// The counters of the wire besides those of its links.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct SocketCounters {
        /// Frames from other senders than the peers: dropped.
        pub strangers: u64 = ["dropped, stranger"],
        /// Addresses of peers that have changed, as frames of theirs have proved.
        pub moved: u64 = ["peers at a new address"],
        /// Frames that the system did not take; they are sent again.
        pub unsent: u64 = ["frames the system refused"],
        /// TCP connections that were closed because what came on them is no frame.
        pub cut: u64 = ["connections cut"],
        /// Faults that frames met on purpose, for tests.
        pub injected: u64 = (hostwire_transport::faults::COUNTER),
    }
}

/// The name and the meaning of all counters: of the links, then of the socket.
pub fn counted() -> impl Iterator<Item = (&'static str, &'static str)> {
    Counters::table().chain(SocketCounters::table())
}

/// The values of all counters, in the same order.
pub(super) fn values(core: &FramesCore) -> impl Iterator<Item = u64> + use<> {
    let links: Vec<u64> = core.counters().values().collect();
    let socket: Vec<u64> = core.socket_counters().values().collect();
    links.into_iter().chain(socket)
}
