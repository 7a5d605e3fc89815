//! What a PE does about its messages when a wait has become long.
//!
//! A line of a ring that somebody wiped out looks as if it had never been stored, at least
//! in the first lap, and so does a credit; sender and receiver would wait for each other
//! for ever. So, now and then in a long wait, a PE says again all that it has said by
//! single words, which only ever grow, and how many lines it has stored in each ring. The
//! count arrives behind the lines: a line below it that is not there is damaged.

use hostwire_transport::{PeId, Route, Visibility, Window, Wire};

use super::{Messages, Peer, TALKS};
use crate::error::Result;
use crate::layout::{Layout, Mail};

/// Long waits between two times that a PE says everything again: about a second.
const WAITS_PER_ROUND: u32 = 8;

/// Where a PE stands between two rounds.
#[derive(Debug, Default)]
pub(super) struct Audit {
    waits: u32,
}

impl Messages {
    /// Called whenever a wait has slept for as long as it may.
    ///
    /// # Errors
    /// [`PeerMisbehaved`](crate::Error::PeerMisbehaved) if a line that a peer has stored is
    /// not in its ring.
    #[cold]
    pub(crate) fn audit(&mut self) -> Result<()> {
        if self.audit.waits.is_multiple_of(WAITS_PER_ROUND) {
            self.say_again();
        }
        self.audit.waits = self.audit.waits.wrapping_add(1);
        self.check_lines()
    }

    fn say_again(&mut self) {
        let own = self.wire.pe();
        // Who cannot be told is lost, or told next time.
        let Self {
            peers,
            wire,
            layout,
            ..
        } = self;
        peers.for_each(|peer| {
            if peer.pe == own || peer.shut {
                return;
            }
            let _ = peer.receiver.return_all_credit();
            let lines = peer.sender.lines_stored();
            if lines > 0 {
                let sent_at = layout.mail(wire.number_at(peer.pe), Mail::Sent);
                let _ = wire.store_word(peer.pe, sent_at, lines);
                let _ = say_that_it_talks(&**wire, layout, peer.pe);
            }
        });
    }

    fn check_lines(&self) -> Result<()> {
        let segment = self.wire.segment();
        for Peer { pe, receiver, .. } in self.peers.iter().filter(|peer| !peer.shut) {
            let stored = segment.load_word(self.layout.mail(*pe, Mail::Sent))?;
            receiver.check_stored(stored)?;
        }
        Ok(())
    }
}

/// Tells `to` that this PE uses the ring to it, if that has to be said.
pub(super) fn say_that_it_talks(wire: &dyn Wire, layout: &Layout, to: PeId) -> Result<()> {
    // A segment to which no window leads is coherent memory of its host.
    if !layout.has_talks() {
        return Ok(());
    }
    let route = wire.route(to);
    let window = route.as_ref().and_then(Route::window);
    let contract = window.map_or(Visibility::Coherent, Window::visibility);
    let number = wire.number_at(to);
    match layout.talks(contract) {
        Some(talks) => talks.say(number, |at, value| wire.store_word(to, at, value))?,
        None => wire.store_word(to, layout.mail(number, Mail::Talks), TALKS)?,
    }
    Ok(())
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
