//! What the wire has counted, by name, for those who look from outside.

use hostwire_link::{Counters, DropCause};

use super::core::SocketCounters;

/// Names and values: of the links, of the socket, then frames dropped by cause.
pub(super) fn tally(links: &Counters, socket: &SocketCounters) -> Vec<(String, u64)> {
    let Counters {
        frames_sent,
        frames_resent,
        frames_received,
        bytes_sent,
        bytes_received,
        packets_sent: [posted_sent, non_posted_sent, responses_sent],
        packets_received: [posted_received, non_posted_received, responses_received],
        nops_sent,
        nops_received,
        acks_sent,
        acks_received,
        naks_sent,
        naks_received,
        timeouts,
        credit_stalls,
        sessions_sent,
        sessions_received,
        opened,
        ..
    } = *links;
    let named = [
        ("frames sent", frames_sent),
        ("frames sent again", frames_resent),
        ("frames received", frames_received),
        ("bytes sent", bytes_sent),
        ("bytes received", bytes_received),
        ("packets sent, posted", posted_sent),
        ("packets sent, non-posted", non_posted_sent),
        ("packets sent, responses", responses_sent),
        ("packets received, posted", posted_received),
        ("packets received, non-posted", non_posted_received),
        ("packets received, responses", responses_received),
        ("credit NOPs sent", nops_sent),
        ("credit NOPs received", nops_received),
        ("credit stalls", credit_stalls),
        ("acks sent", acks_sent),
        ("acks received", acks_received),
        ("naks sent", naks_sent),
        ("naks received", naks_received),
        ("timeouts", timeouts),
        ("session frames sent", sessions_sent),
        ("session frames received", sessions_received),
        ("sessions opened", opened),
        ("frames the system refused", socket.unsent),
        ("faults injected", socket.injected),
        ("dropped, stranger", socket.strangers),
    ];
    let named = named.map(|(name, value)| (name.to_owned(), value));
    let dropped = DropCause::ALL.map(|cause| {
        let name = format!("dropped, {}", cause.name());
        (name, links.dropped(cause))
    });
    named.into_iter().chain(dropped).collect()
}
