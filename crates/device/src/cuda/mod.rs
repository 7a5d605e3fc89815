//! GPUs, by the driver's library, which is loaded at run time.
//!
//! A device has a stream of its own for all copies, and an event behind each: a copy has finished when its event
//! has. Host memory that is [pinned](Device::pin) is copied by the GPU itself, while the CPU does other work; other
//! host memory the driver copies in between.
//!
//! *Not run*: no machine with a GPU was there when this was written. The tests of this file run where
//! `libcuda.so.1` shows a device, and say in one line that they do not where it does not.

mod driver;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostwire_transport::Memory;

use crate::{Device, DeviceError, Export, Kind, Result, Ticket};
use driver::{Context, Mark};

/// Copies that a device has to do at a time.
const UNDER_WAY_MAX: usize = 64;
/// Bytes of a copy between host and device. Larger ones overlap less with the wire.
const PIECE_BYTES_MAX: usize = 4 << 20;
/// Pages that are pinned.
const PAGE_BYTES: usize = 4096;
/// How often a wait asks the driver.
const LOOK: Duration = Duration::from_micros(5);

/// How many devices the driver shows.
///
/// # Errors
/// [`DeviceError::Refused`] if there is no driver.
pub fn count() -> Result<u32> {
    driver::driver()?.count()
}

/// A GPU. See the [module text](self).
pub struct Gpu {
    number: u32,
    queue: Mutex<Queue>,
    context: Context,
}

#[derive(Default)]
struct Queue {
    last: Ticket,
    finished: Ticket,
    /// Marks behind copies, and the host memory that the copy uses.
    under_way: VecDeque<(Ticket, Mark, Option<Memory>)>,
    /// Length of each allocation, by address, and of what was opened.
    memory: BTreeMap<u64, usize>,
    /// What the driver gave, for each allocation.
    bases: BTreeMap<u64, u64>,
    pinned: Vec<Memory>,
}

impl fmt::Debug for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Gpu {
    /// Opens device `number`.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`], [`DeviceError::Refused`].
    pub fn open(number: u32) -> Result<Self> {
        let driver = driver::driver()?;
        let count = driver.count()?;
        if number >= count {
            return Err(DeviceError::NoDevice {
                kind: "CUDA",
                number,
                count,
            });
        }
        let context = driver.open(number)?;
        Ok(Self {
            number,
            queue: Mutex::default(),
            context,
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, queue: &Queue, at: u64, len: usize) -> Result<()> {
        crate::check_range(&queue.memory, at, len, || self.name())
    }

    /// Takes the marks that the device has passed.
    fn take(&self, queue: &mut Queue) -> Result<()> {
        while let Some((ticket, mark, memory)) = queue.under_way.pop_front() {
            match self.context.is_past(&mark) {
                Ok(true) => {
                    queue.finished = ticket;
                    self.context.forget(mark);
                }
                Ok(false) => {
                    queue.under_way.push_front((ticket, mark, memory));
                    break;
                }
                // After an error of a kernel or a copy a context is of no use any more.
                Err(error) => {
                    self.context.forget(mark);
                    let (device, why) = (self.name(), error.to_string());
                    return Err(DeviceError::Lost { device, why });
                }
            }
        }
        Ok(())
    }

    /// Starts something, if there is room, and marks its end.
    fn start(
        &self,
        queue: &mut Queue,
        memory: Option<&Memory>,
        start: impl FnOnce() -> Result<()>,
    ) -> Result<Option<Ticket>> {
        self.take(queue)?;
        if queue.under_way.len() >= UNDER_WAY_MAX {
            return Ok(None);
        }
        start()?;
        let mark = match self.context.mark() {
            Ok(mark) => mark,
            Err(error) => {
                // The copy uses memory that may go when this returns.
                self.context.finish()?;
                return Err(error);
            }
        };
        queue.last += 1;
        queue
            .under_way
            .push_back((queue.last, mark, memory.cloned()));
        Ok(Some(queue.last))
    }
}

/// Where bytes of the host are, if they are all in the memory.
fn range(memory: &Memory, offset: usize, len: usize) -> Result<*mut u8> {
    memory
        .range(offset, len)
        .map_err(|error| DeviceError::Refused {
            what: "copying between host memory and a GPU".into(),
            why: error.to_string(),
        })
}

impl Device for Gpu {
    fn name(&self) -> String {
        format!("CUDA device {} ({})", self.number, self.context.name)
    }

    fn kind(&self) -> Kind {
        Kind::Cuda
    }

    fn piece_bytes_max(&self) -> usize {
        PIECE_BYTES_MAX
    }

    fn allocate(&self, len: usize, align: usize) -> Result<u64> {
        let full = || DeviceError::OutOfMemory {
            device: self.name(),
            len,
            why: "no device has so many addresses".into(),
        };
        let padded = len.max(1).checked_add(align).ok_or_else(full)?;
        let base = self.context.allocate(padded)?;
        let at = base.next_multiple_of(align.max(1) as u64);
        let mut queue = self.queue();
        queue.memory.insert(at, len.max(1));
        queue.bases.insert(at, base);
        Ok(at)
    }

    fn release(&self, at: u64) -> Result<()> {
        let base = {
            let mut queue = self.queue();
            queue.memory.remove(&at).and(queue.bases.remove(&at))
        };
        let device = self.name();
        let base = base.ok_or(DeviceError::OutOfRange { device, at, len: 0 })?;
        self.context.release(base)
    }

    fn write(&self, to: u64, from: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue();
        self.check(queue, to, len)?;
        let source = range(from, offset, len)?;
        self.start(queue, Some(from), || {
            // SAFETY: `range` has checked the source, which `under_way` keeps until the mark behind the copy is
            // passed; `check` has found the allocation, which is released behind all copies.
            unsafe { self.context.to_device(to, source, len) }
        })
    }

    fn read(&self, from: u64, into: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue();
        self.check(queue, from, len)?;
        let target = range(into, offset, len)?;
        self.start(queue, Some(into), || {
            // SAFETY: as in `write`; no reference leads into a `Memory`.
            unsafe { self.context.to_host(target, from, len) }
        })
    }

    fn copy(&self, to: u64, from: u64, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue();
        self.check(queue, to, len)?;
        self.check(queue, from, len)?;
        self.start(queue, None, || {
            // SAFETY: `check` has found both: they are allocated or opened until they are given back behind all
            // copies.
            unsafe { self.context.copy(to, from, len) }
        })
    }

    fn finished(&self) -> Result<Ticket> {
        let queue = &mut *self.queue();
        self.take(queue)?;
        Ok(queue.finished)
    }

    fn wait(&self, limit: Duration) {
        let (begin, before) = (Instant::now(), self.queue().finished);
        // An error is told by what is called next.
        while begin.elapsed() < limit && self.finished().is_ok_and(|finished| finished == before) {
            std::thread::sleep(LOOK);
        }
    }

    fn pin(&self, memory: &Memory, offset: usize, len: usize) -> Result<()> {
        let at = range(memory, offset, len)?;
        let skipped = at.align_offset(PAGE_BYTES).min(len);
        let len = (len - skipped) / PAGE_BYTES * PAGE_BYTES;
        if len == 0 {
            return Ok(());
        }
        let queue = &mut *self.queue();
        let at = range(memory, offset + skipped, len)?;
        // SAFETY: `range` has checked the bytes, and `pinned` keeps them until they are unpinned.
        unsafe { self.context.pin(at, len)? };
        let part = memory.part(offset + skipped, len);
        // At a multiple of a page.
        queue.pinned.extend(part.ok());
        Ok(())
    }

    fn pointer(&self, at: u64) -> Option<u64> {
        Some(at)
    }

    fn export(&self, at: u64) -> Result<Export> {
        let base = self.queue().bases.get(&at).copied();
        let device = self.name();
        // The driver names what it gave, which begins where `at` does unless the alignment was large.
        match base.ok_or(DeviceError::OutOfRange { device, at, len: 1 })? {
            base if base == at => self.context.export(at),
            _ => Err(DeviceError::Refused {
                what: "naming memory of a GPU for other processes".into(),
                why: "it does not begin where the driver's memory does".into(),
            }),
        }
    }

    fn open(&self, export: &Export, len: usize) -> Result<u64> {
        let at = self.context.import(export)?;
        self.queue().memory.insert(at, len);
        Ok(at)
    }

    fn close(&self, at: u64) {
        if self.queue().memory.remove(&at).is_some() {
            // The memory is another process's; what the driver says changes nothing here.
            let _ = self.context.close(at);
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // If the device has failed there are no copies any more.
        let _ = self.context.finish();
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        for (_, mark, _) in queue.under_way.drain(..) {
            self.context.forget(mark);
        }
        for memory in queue.pinned.drain(..) {
            // SAFETY: pinned by `pin` at this address, and all copies are done.
            let _ = unsafe { self.context.unpin(memory.base().as_ptr()) };
        }
    }
}

#[cfg(test)]
mod tests;
