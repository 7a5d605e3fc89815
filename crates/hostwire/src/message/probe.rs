//! Looking at a message without receiving it.

use super::Messages;
use super::matching::Found;
use super::pattern::{Envelope, Pattern};
use crate::error::Result;
use crate::inner::Inner;

impl Messages {
    /// The message that a receive with this pattern would get now. It stays where it is.
    pub(crate) fn probe(&mut self, inner: &Inner, pattern: &Pattern) -> Result<Option<Envelope>> {
        Ok(match self.find(inner, pattern)? {
            None => None,
            Some(Found::Ring(front)) => Some(front.envelope),
            Some(Found::Aside(pe, index)) => {
                self.peer(pe)?.aside.get(index).map(|aside| aside.envelope)
            }
        })
    }
}
