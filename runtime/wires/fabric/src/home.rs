//! The memory of this PE, as messages name it.

use std::collections::HashMap;

use hostwire_address::{Place, SegmentId};
use hostwire_transport::error::TransportError;
use hostwire_transport::window::Window;

use super::message::{Kind, Record};

/// See the [module text](self).
#[derive(Debug)]
pub(super) struct Home {
    segment: Window,
    registered: HashMap<SegmentId, Window>,
}

impl Home {
    pub(super) fn new(segment: Window) -> Self {
        Self {
            segment,
            registered: HashMap::new(),
        }
    }

    pub(super) fn register(&mut self, segment: SegmentId, window: Window) {
        self.registered.insert(segment, window);
    }

    pub(super) fn unregister(&mut self, segment: SegmentId) {
        self.registered.remove(&segment);
    }

    /// The window onto the memory that is registered as this segment.
    pub(super) fn registered(&self, segment: SegmentId) -> Option<&Window> {
        self.registered.get(&segment)
    }

    /// The window onto memory of this PE, and where in it a place lies.
    pub(super) fn find(&self, place: usize) -> Option<(&Window, usize)> {
        match Place::of(place as u64)? {
            Place::Near(_) => Some((&self.segment, place)),
            Place::Registered(segment, offset) => {
                let window = self.registered.get(&segment)?;
                Some((window, usize::try_from(offset).ok()?))
            }
        }
    }

    /// Applies a record to memory, without waking the PE. `None` if it cannot be applied.
    pub(super) fn apply(&self, record: &Record<'_>) -> Option<()> {
        let (window, at) = self.find(record.place)?;
        let done = match (record.kind, record.data) {
            (Kind::Store, data) => window.put_unannounced(at, data),
            (Kind::Word, data) => window.put_word_unannounced(at, word(data)?),
            (Kind::Line, data) => {
                let (header, payload) = data.split_at_checked(8)?;
                put_line(window, at, word(header)?, payload)
            }
            _ => return None,
        };
        done.ok()
    }

    /// Wakes the PE.
    pub(super) fn ring(&self) {
        self.segment.notify();
    }
}

fn put_line(window: &Window, at: usize, header: u64, payload: &[u8]) -> Result<(), TransportError> {
    window.memory().line(at)?;
    window.put_unannounced(at + 8, payload)?;
    window.put_word_unannounced(at, header)
}

fn word(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.try_into().ok()?))
}
