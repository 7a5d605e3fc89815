//! Looking at a message without receiving it.

use super::Messages;
use super::matching::Found;
use super::pattern::{Envelope, Pattern, Source};
use crate::error::Result;
use crate::inner::Inner;

impl Messages {
    /// The message that a receive with this pattern gets, now and as long as none gets it: what comes
    /// later, whoever sends it, comes behind it.
    pub(crate) fn probe(&mut self, inner: &Inner, pattern: &Pattern) -> Result<Option<Envelope>> {
        loop {
            match self.find(inner, pattern)? {
                None => return Ok(None),
                // Rings of several peers have no order: it gets its place among all of them.
                Some(Found::Ring(front)) if matches!(pattern.from, Source::Any) => {
                    self.set_aside(front.envelope.from, front)?;
                }
                Some(Found::Ring(front)) => return Ok(Some(front.envelope)),
                Some(Found::Aside(pe, index)) => {
                    let found = self.peer(pe)?.aside.get(index);
                    return Ok(found.map(|aside| aside.envelope));
                }
            }
        }
    }
}
