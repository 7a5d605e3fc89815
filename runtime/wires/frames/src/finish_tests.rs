//! What an ending PE waits for, with real sockets.

use std::time::Duration;

use hostwire_link::{CloseReason, SendError};
use hostwire_transport::wire::{Liveness, Wire};

use super::{Ether, LocalOptions, LocalWire, local};

/// Longer than any wait.
const NEVER: Duration = Duration::from_secs(1 << 20);

/// Whether its links accept no more stores.
fn finishes(wire: &Ether) -> bool {
    let link = wire.link(1).unwrap();
    let put = wire.hold().unwrap().put(link, 4096, &[7; 8]);
    let reason = CloseReason::Finished;
    matches!(put, Err(SendError::Closed { reason: why, .. }) if why == reason)
}

/// The peer acknowledges nothing any more, and its last frame is lost.
#[test]
fn who_ends_does_not_wait_for_a_peer_that_is_seen_to_go_meanwhile() {
    let made = local(2, 2, 1 << 20, &LocalWire::Udp, &LocalOptions::default());
    let wires: Vec<_> = made.unwrap().into_iter().map(|pe| pe.ether).collect();
    let [from, to] = <[_; 2]>::try_from(wires).unwrap().map(Option::unwrap);
    to.shared.stop();
    // It does not process frames from now on.
    let _held = to.shared.lock();
    from.store_word(1, 4096, 5).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| from.finish_within(NEVER));
        while !finishes(&from) {
            std::thread::yield_now();
        }
        from.give_up(1);
    });
    assert_eq!(from.close_reason(1), Some(CloseReason::GivenUp));
}
