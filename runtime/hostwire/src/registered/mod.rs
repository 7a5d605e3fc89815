//! Memory of one PE that others may reach. It is not at the same place on all PEs, and the PE makes
//! it alone, at any time.
//!
//! The PE gives others a [`Key`], by a message for example, and they [open](crate::Job::open) it.
//! Between hosts the wire carries puts directly there. Within a host the agent of the PE does them,
//! so there symmetric memory is faster.

mod key;
mod opened;

use std::marker::PhantomData;
use std::sync::Arc;

use hostwire_address::SegmentId;
use hostwire_transport::Memory;
use hostwire_transport::sync::{Ordering, fence};
pub use key::Key;
pub use opened::Opened;
use zerocopy::IntoBytes;

use crate::board::Activity;
use crate::core::Compare;
use crate::element::{AtomicElement, Element};
use crate::error::{Error, Result};
use crate::inner::{Inner, Watch};

/// An array of `T` of this PE that others may reach while this handle lives. Made by
/// [`crate::Job::register`] and [`crate::Job::register_memory`].
///
/// Tell other PEs before you drop it. A PE that still uses it then gets [`Error::NotRegistered`]
/// or, between hosts, loses its connection to this PE.
pub struct Registered<T: Element> {
    inner: Arc<Inner>,
    memory: Memory,
    segment: SegmentId,
    len: usize,
    elements: PhantomData<T>,
}

impl<T: Element> Registered<T> {
    pub(crate) fn new(inner: &Arc<Inner>, memory: Memory) -> Result<Self> {
        let segment = inner.register(memory.clone())?;
        Ok(Self {
            inner: Arc::clone(inner),
            len: memory.len_bytes() / size_of::<T>().max(1),
            memory,
            segment,
            elements: PhantomData,
        })
    }

    /// What others need to reach it.
    pub fn key(&self) -> Key {
        Key::new(self.inner.pe(), self.segment, self.memory.len_bytes())
    }

    /// How many elements it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies elements from `index` on to `values`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn read(&self, index: usize, values: &mut [T]) -> Result<()> {
        let at = locate::<T>(index, values.len(), self.len)?;
        Ok(self.memory.copy_out(at, values.as_mut_bytes())?)
    }

    /// Copies `values` to the elements from `index` on.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn write(&self, index: usize, values: &[T]) -> Result<()> {
        let at = locate::<T>(index, values.len(), self.len)?;
        Ok(self.memory.copy_in(at, values.as_bytes())?)
    }

    /// Element `index`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn load(&self, index: usize) -> Result<T> {
        let mut value = [T::new_zeroed()];
        self.read(index, &mut value)?;
        Ok(value[0])
    }
}

impl<T: AtomicElement> Registered<T> {
    /// Waits until element `index` compares so with `value`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`]; [`Error::PeerLost`] when a PE of the job is found to have died while
    /// waiting.
    pub fn wait_until(&self, index: usize, compare: Compare, value: T) -> Result<()> {
        let _busy = self.inner.status.during(Activity::Waiting, None);
        self.inner.wait(Watch::Anybody, || {
            let holds = compare.holds(&self.load(index)?, &value);
            if holds {
                fence(Ordering::Acquire);
            }
            Ok(holds.then_some(()))
        })
    }
}

impl<T: Element> Drop for Registered<T> {
    fn drop(&mut self) {
        self.inner.unregister(self.segment);
    }
}

/// Where `count` of `len` elements from `index` on lie.
fn locate<T>(index: usize, count: usize, len: usize) -> Result<usize> {
    if index <= len && count <= len - index {
        Ok(index * size_of::<T>())
    } else {
        Err(Error::OutOfRange {
            index,
            count,
            elements: len,
        })
    }
}
