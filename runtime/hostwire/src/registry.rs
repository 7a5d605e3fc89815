//! Memory of this PE that it has registered, by the numbers of its segments.

use std::sync::{PoisonError, RwLock};

use hostwire_address::SegmentId;
use hostwire_address::place::SEGMENTS_MAX;
use hostwire_transport::{Memory, Window};

use crate::error::{Error, Result};

/// See the [module text](self).
#[derive(Debug, Default)]
pub(crate) struct Registry {
    slots: RwLock<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    /// By number.
    segments: Vec<Option<Segment>>,
    /// The last number that was given, plus one. Numbers are reused as late as possible: a PE
    /// that uses an old one should get an error and not reach other memory.
    next: usize,
}

/// What has a number.
#[derive(Debug, Clone)]
enum Segment {
    /// Memory of this host.
    Registered(Window),
    /// Memory of a device, which has no window: no put, get or atomic reaches it.
    Device,
}

impl Registry {
    /// Gives memory a number.
    ///
    /// # Errors
    /// [`Error::TooManySegments`].
    pub(crate) fn add(&self, memory: Memory) -> Result<(SegmentId, Window)> {
        let window = Window::registered(memory);
        let segment = self.number(Segment::Registered(window.clone()))?;
        Ok((segment, window))
    }

    /// Gives memory of a device a number.
    ///
    /// # Errors
    /// [`Error::TooManySegments`].
    pub(crate) fn add_device(&self) -> Result<SegmentId> {
        self.number(Segment::Device)
    }

    fn number(&self, what: Segment) -> Result<SegmentId> {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let next = slots.next;
        let numbers = (next..SEGMENTS_MAX).chain(0..next);
        let mut free =
            numbers.filter(|number| !matches!(slots.segments.get(*number), Some(Some(_))));
        let number = free.next();
        let segment = number.and_then(|number| SegmentId::new(u16::try_from(number).ok()?));
        let Some(segment) = segment else {
            return Err(Error::TooManySegments { max: SEGMENTS_MAX });
        };
        let index = segment.index();
        if slots.segments.len() <= index {
            slots.segments.resize(index + 1, None);
        }
        slots.segments[index] = Some(what);
        slots.next = (index + 1) % SEGMENTS_MAX;
        Ok(segment)
    }

    /// Takes the number back.
    pub(crate) fn remove(&self, segment: SegmentId) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.segments.get_mut(segment.index()) {
            *slot = None;
        }
    }

    /// The memory with this number.
    pub(crate) fn window(&self, segment: SegmentId) -> Option<Window> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        match slots.segments.get(segment.index())? {
            Some(Segment::Registered(window)) => Some(window.clone()),
            Some(Segment::Device) | None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(registry: &Registry) -> Result<u16> {
        let added = registry.add(Memory::anonymous(64));
        added.map(|(segment, _)| segment.get())
    }

    #[test]
    fn numbers_come_back_as_late_as_possible() {
        let registry = Registry::default();
        for expected in 0..SEGMENTS_MAX as u16 {
            assert_eq!(add(&registry).unwrap(), expected);
        }
        let full = add(&registry).unwrap_err().to_string();
        assert!(full.contains("2048"), "{full}");
        for number in [7, 3] {
            registry.remove(SegmentId::new(number).unwrap());
        }
        assert!(registry.window(SegmentId::new(3).unwrap()).is_none());
        assert_eq!(add(&registry).unwrap(), 3);
        registry.remove(SegmentId::new(3).unwrap());
        assert_eq!(add(&registry).unwrap(), 7, "3 was the last one");
        let device = registry.add_device().unwrap();
        assert_eq!(device.get(), 3);
        assert!(registry.window(device).is_none());
        registry.remove(device);
        assert_eq!(add(&registry).unwrap(), 3);
    }
}
