//! What the wire counts, by name, for those who look from outside.

use hostwire_link::{Counters, counters};

counters! {
    /// What the wire has counted beside the counters of its links.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub struct SocketCounters {
        /// Frames from other senders than the peers: dropped.
        pub strangers: u64 = ["dropped, stranger"],
        /// Frames that the system did not take; they are sent again.
        pub unsent: u64 = ["frames the system refused"],
        /// Faults that frames met on purpose, for tests.
        pub injected: u64 = (crate::faults::COUNTER),
    }
}

/// The name and the meaning of all that the wire counts: of the links, then of the socket.
pub(crate) fn counted() -> impl Iterator<Item = (&'static str, &'static str)> {
    Counters::table().chain(SocketCounters::table())
}

/// Names and values, in that order.
pub(super) fn tally(links: &Counters, socket: &SocketCounters) -> Vec<(String, u64)> {
    let names = counted().map(|(name, _)| name.to_owned());
    names.zip(links.values().chain(socket.values())).collect()
}
