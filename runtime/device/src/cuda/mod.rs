//! GPUs, through the driver's library, which is loaded at run time.
//!
//! A device has a stream of its own for all copies. Events in it, *marks*, show how far it is. There is one after
//! each copy between host and device, so that its data can be used at once, and one after all copies within the
//! device that were started since the last check. The GPU itself copies [pinned](Device::pin) host memory, while
//! the CPU does other work. The driver copies other host memory through a buffer.
//!
//! All GPUs of a process have one address space, and opened ones have access to each other where the hardware
//! allows it. Elsewhere the driver copies through host memory.
//!
//! The tests of this file run where `libcuda.so.1` shows a device, and everywhere with a library that replaces
//! it.

mod driver;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use hostwire_transport::Memory;

use crate::{Blocks, Device, DeviceError, Export, Kind, Result, Ticket};
use driver::{Context, HostCopy, Mark};

/// Most copies between host and device in the queue.
const UNDER_WAY_MAX: usize = 64;
/// Most copies within the device in the queue. The driver takes about as many before it blocks.
const COPIES_MAX: u64 = 512;
/// Most pending marks of copies within the device.
const MARKS_MAX: usize = 8;
/// Most bytes of a copy between host and device. Larger ones overlap less with the wire.
const PIECE_BYTES_MAX: usize = 4 << 20;
/// The driver's memory begins at a multiple of this.
const ALIGN_BYTES: usize = 256;
/// How often a wait asks the driver after it has yielded its core.
const LOOK: Duration = Duration::from_micros(20);

/// Length of each allocation of the GPUs of this process, by address.
static SPACE: Mutex<BTreeMap<u64, usize>> = Mutex::new(BTreeMap::new());

fn space() -> MutexGuard<'static, BTreeMap<u64, usize>> {
    SPACE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many devices the driver shows.
///
/// # Errors
/// [`DeviceError::Refused`] if there is no driver.
pub fn count() -> Result<u32> {
    driver::driver()?.count()
}

/// The driver's names of the devices.
///
/// # Errors
/// [`DeviceError::Refused`].
pub fn names() -> Result<Vec<String>> {
    let driver = driver::driver()?;
    (0..driver.count()?)
        .map(|number| driver.name(number))
        .collect()
}

/// A GPU. See the [module text](self).
pub struct Gpu {
    number: u32,
    queue: Mutex<Queue>,
    /// The last copy that is known to have finished.
    finished: AtomicU64,
    context: Context,
}

#[derive(Default)]
struct Queue {
    last: Ticket,
    /// Marks that were pending at the last check, with the copies before them.
    marks: VecDeque<(Ticket, Mark)>,
    /// Marks to use again.
    spare: Vec<Mark>,
    /// The host memory that copies use.
    in_use: VecDeque<(Ticket, Memory)>,
    /// The length of opened memory, by address.
    opened: BTreeMap<u64, usize>,
    /// The driver's address of each allocation.
    bases: BTreeMap<u64, u64>,
    /// Where pinned memory begins, and the handle that keeps it alive.
    pinned: Vec<(*mut u8, Memory)>,
}

// SAFETY: the pointers are where `pinned` memory begins, which the memory beside them keeps; nothing is read
// through them.
unsafe impl Send for Queue {}

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
            finished: AtomicU64::new(0),
            context,
        })
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, queue: &Queue, at: u64, len: usize) -> Result<()> {
        match crate::check_range(&queue.opened, at, len, String::new) {
            Ok(()) => Ok(()),
            Err(_) => crate::check_range(&space(), at, len, || self.name()),
        }
    }

    /// Checks which marks the device has passed.
    fn look(&self, queue: &mut Queue) -> Result<()> {
        while let Some((ticket, mark)) = queue.marks.front() {
            match self.context.is_past(mark) {
                Ok(true) => {
                    self.has_finished(queue, *ticket);
                    let passed = queue.marks.pop_front();
                    queue.spare.extend(passed.map(|(_, mark)| mark));
                }
                Ok(false) => break,
                // After an error of a kernel or a copy a context is unusable.
                Err(error) => return Err(self.lost(&error)),
            }
        }
        Ok(())
    }

    fn has_finished(&self, queue: &mut Queue, ticket: Ticket) {
        self.finished.store(ticket, Ordering::Release);
        while queue
            .in_use
            .front()
            .is_some_and(|(last, _)| *last <= ticket)
        {
            queue.in_use.pop_front();
        }
    }

    /// Marks the end of the started copies, if there is no mark yet.
    fn mark(&self, queue: &mut Queue) -> Result<()> {
        let marked = queue.marks.back().map(|(ticket, _)| *ticket);
        let marked = marked.unwrap_or_else(|| self.finished.load(Ordering::Acquire));
        if marked == queue.last {
            return Ok(());
        }
        let mark = self.context.mark(queue.spare.pop());
        queue
            .marks
            .push_back((queue.last, mark.map_err(|error| self.lost(&error))?));
        Ok(())
    }

    /// The error after a failure of the stream.
    fn lost(&self, error: &DeviceError) -> DeviceError {
        let (device, why) = (self.name(), error.to_string());
        DeviceError::Lost { device, why }
    }

    /// Starts a copy between host and device, if there is room. Calls `by_hand` if the driver refuses it.
    fn start(
        &self,
        queue: &mut Queue,
        memory: &Memory,
        start: impl FnOnce() -> Result<HostCopy>,
        by_hand: impl FnOnce() -> Result<()>,
    ) -> Result<Option<Ticket>> {
        self.look(queue)?;
        if queue.in_use.len() >= UNDER_WAY_MAX {
            return Ok(None);
        }
        if let HostCopy::Refused = start()? {
            by_hand()?;
        }
        queue.last += 1;
        // From here on the memory is kept, even if the mark fails.
        queue.in_use.push_back((queue.last, memory.clone()));
        self.mark(queue)?;
        Ok(Some(queue.last))
    }

    /// Starts copies within the device, if there is room.
    fn start_within(
        &self,
        queue: &mut Queue,
        start: impl FnOnce() -> Result<()>,
    ) -> Result<Option<Ticket>> {
        if queue.last - self.finished.load(Ordering::Acquire) >= COPIES_MAX {
            self.look(queue)?;
            self.mark(queue)?;
            if queue.last - self.finished.load(Ordering::Acquire) >= COPIES_MAX {
                return Ok(None);
            }
        }
        start()?;
        queue.last += 1;
        Ok(Some(queue.last))
    }
}

/// The address of bytes of the host, if they all lie in the memory.
fn range(memory: &Memory, offset: usize, len: usize) -> Result<*mut u8> {
    memory.range(offset, len).map_err(|error| refused(&error))
}

fn refused(error: &hostwire_transport::TransportError) -> DeviceError {
    DeviceError::Refused {
        what: "copying between host memory and a GPU".into(),
        why: error.to_string(),
    }
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
        let padding = if align > ALIGN_BYTES { align } else { 0 };
        let padded = len.max(1).checked_add(padding).ok_or_else(full)?;
        let base = self.context.allocate(padded)?;
        let at = base.next_multiple_of(align.max(1) as u64);
        space().insert(at, len.max(1));
        self.queue().bases.insert(at, base);
        Ok(at)
    }

    fn release(&self, at: u64) -> Result<()> {
        let base = self.queue().bases.remove(&at);
        let device = self.name();
        let base = base.ok_or(DeviceError::OutOfRange { device, at, len: 0 })?;
        space().remove(&at);
        self.context.release(base)
    }

    fn write(&self, to: u64, from: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue();
        self.check(queue, to, len)?;
        let source = range(from, offset, len)?;
        // SAFETY: `range` has checked the source, which `in_use` keeps until the mark behind the copy is passed;
        // `check` has found the allocation, which is released behind all copies.
        let start = || unsafe { self.context.to_device(to, source, len) };
        let by_hand = || {
            let mut bytes = vec![0; len];
            from.copy_out(offset, &mut bytes)
                .map_err(|error| refused(&error))?;
            // SAFETY: `check` has found the allocation.
            unsafe { self.context.to_device_now(to, &bytes) }
        };
        self.start(queue, from, start, by_hand)
    }

    fn read(&self, from: u64, into: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue();
        self.check(queue, from, len)?;
        let target = range(into, offset, len)?;
        // SAFETY: as in `write`; no reference leads into a `Memory`.
        let start = || unsafe { self.context.to_host(target, from, len) };
        let by_hand = || {
            let mut bytes = vec![0; len];
            // SAFETY: `check` has found the allocation.
            unsafe { self.context.to_host_now(&mut bytes, from)? };
            into.copy_in(offset, &bytes)
                .map_err(|error| refused(&error))
        };
        self.start(queue, into, start, by_hand)
    }

    fn copy(&self, to: u64, from: u64, len: usize) -> Result<Option<Ticket>> {
        let queue = &mut *self.queue();
        self.check(queue, to, len)?;
        self.check(queue, from, len)?;
        // SAFETY: `check` has found both: they are allocated or opened until they are given back behind all copies.
        self.start_within(queue, || unsafe { self.context.copy(to, from, len) })
    }

    fn copy_blocks(&self, to: u64, from: u64, blocks: Blocks) -> Result<Option<(Ticket, usize)>> {
        let extents = blocks
            .extent(blocks.to_step)
            .zip(blocks.extent(blocks.from_step));
        if let Some((to_len, from_len)) = extents
            && Context::can_copy_blocks(blocks)
        {
            let queue = &mut *self.queue();
            self.check(queue, to, to_len)?;
            self.check(queue, from, from_len)?;
            // SAFETY: as in `copy`, for all bytes from the first block to the last.
            let start = || unsafe { self.context.copy_blocks(to, from, blocks) };
            match self.start_within(queue, start) {
                // The driver may refuse pitches that it has not chosen itself.
                Err(DeviceError::Refused { .. }) => {}
                begun => return begun.map(|ticket| ticket.map(|ticket| (ticket, blocks.count))),
            }
        }
        let ticket = self.copy(to, from, blocks.len)?;
        Ok(ticket.map(|ticket| (ticket, 1)))
    }

    fn finished(&self) -> Result<Ticket> {
        let mut queue = match self.queue.try_lock() {
            Ok(queue) => queue,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // The thread that has the lock checks too.
            Err(TryLockError::WouldBlock) => return Ok(self.finished.load(Ordering::Acquire)),
        };
        self.look(&mut queue)?;
        if queue.marks.len() < MARKS_MAX {
            self.mark(&mut queue)?;
        }
        Ok(self.finished.load(Ordering::Acquire))
    }

    fn wait(&self, ticket: Ticket, limit: Duration, busy: Duration) {
        let begin = Instant::now();
        // The next call gives the error.
        while self.finished().is_ok_and(|finished| finished < ticket) {
            match begin.elapsed() {
                passed if passed >= limit => return,
                passed if passed < busy => std::hint::spin_loop(),
                _ => std::thread::sleep(LOOK),
            }
        }
    }

    fn pin(&self, memory: &Memory, offset: usize, len: usize) -> Result<()> {
        let at = range(memory, offset, len)?;
        if len == 0 {
            return Ok(());
        }
        // Whole pages, from that of the first byte to that of the last.
        let page_bytes = rustix::param::page_size();
        let skipped = at.addr() % page_bytes;
        let begin = at.wrapping_sub(skipped);
        let padded = (skipped + len).next_multiple_of(page_bytes);
        let queue = &mut *self.queue();
        // SAFETY: `range` has checked the bytes, each of the pages has one of them, so it is mapped, and `pinned`
        // keeps them until they are unpinned.
        unsafe { self.context.pin(begin, padded)? };
        queue.pinned.push((begin, memory.clone()));
        Ok(())
    }

    fn pointer(&self, at: u64) -> Option<u64> {
        Some(at)
    }

    fn reaches(&self, other: &dyn Device) -> bool {
        other.kind() == Kind::Cuda
    }

    fn export(&self, at: u64) -> Result<Export> {
        let base = self.queue().bases.get(&at).copied();
        let device = self.name();
        // The driver exports its own allocation, which begins at `at` unless the alignment was large.
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
        self.queue().opened.insert(at, len);
        Ok(at)
    }

    fn close(&self, at: u64) {
        if self.queue().opened.remove(&at).is_some() {
            // The memory belongs to another process; an error of the driver changes nothing here.
            let _ = self.context.close(at);
        }
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // If the device has failed, there are no copies any more.
        let _ = self.context.finish();
        let queue = self.queue.get_mut().unwrap_or_else(PoisonError::into_inner);
        let marks = queue.marks.drain(..).map(|(_, mark)| mark);
        for mark in marks.chain(queue.spare.drain(..)) {
            self.context.forget(mark);
        }
        for (at, _memory) in queue.pinned.drain(..) {
            // SAFETY: pinned by `pin` at this address, and all copies are done.
            let _ = unsafe { self.context.unpin(at) };
        }
    }
}

#[cfg(test)]
mod tests;
