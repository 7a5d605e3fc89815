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
        for peer in self
            .peers
            .iter_mut()
            .filter(|peer| peer.pe != own && !peer.shut)
        {
            let _ = peer.receiver.return_all_credit();
            let lines = peer.sender.lines_stored();
            if lines > 0 {
                let number = self.wire.number_at(peer.pe);
                let sent_at = self.layout.mail(number, Mail::Sent);
                let _ = self.wire.store_word(peer.pe, sent_at, lines);
                let _ = say_that_it_talks(&*self.wire, &self.layout, peer.pe);
            }
        }
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
    let route = wire.route(to).filter(|_| layout.has_talks());
    let window = route.as_ref().and_then(Route::window);
    let contract = window.map_or(Visibility::Coherent, Window::visibility);
    if let Some(at) = layout.talk(wire.number_at(to), contract) {
        wire.store_word(to, at, TALKS)?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
