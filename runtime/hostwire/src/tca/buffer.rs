//! Memory of this PE, of its host or of a device.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use hostwire_device::{DeviceError, Ticket};
use hostwire_transport::Memory;

use super::devices::Allocation;
use super::failures::Warnings;
use super::shared::TcaShared;
use super::spot::{DeviceId, Spot};
use crate::board::Activity;
use crate::error::{Error, Result, TcaError};
use crate::heap::Heap;
use crate::inner::{Inner, Watch};

/// The records of a PE's host memory for [`Tca::malloc`](super::Tca::malloc).
pub(super) struct Pool {
    heap: Mutex<Heap>,
    blocks: Mutex<BTreeMap<u64, Weak<Block>>>,
}

/// A part of the pool that is in use.
pub(super) struct Block {
    shared: Weak<TcaShared>,
    /// In the pool.
    pub(super) offset: u64,
    pub(super) len: u64,
}

impl Pool {
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            heap: Mutex::new(Heap::new(bytes)),
            blocks: Mutex::default(),
        }
    }

    fn blocks(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<Block>>> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block in which `len` bytes at `address` lie.
    pub(super) fn find(&self, address: u64, len: u64) -> Option<Arc<Block>> {
        let blocks = self.blocks();
        let before = blocks
            .range((Bound::Unbounded, Bound::Included(address)))
            .next_back();
        let block = before?.1.upgrade()?;
        let end = address.checked_add(len)?;
        (end <= block.offset + block.len).then_some(block)
    }

    fn release(&self, offset: u64) {
        self.blocks().remove(&offset);
        let mut heap = self.heap.lock().unwrap_or_else(PoisonError::into_inner);
        let was_there = heap.release(offset as usize);
        debug_assert!(was_there);
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.pool.release(self.offset);
        }
    }
}

/// Memory of this PE that is the source or target of copies. Made by [`Tca::malloc`](super::Tca::malloc). It is given
/// back when it is dropped and no copy uses it any more.
pub struct Buffer {
    shared: Arc<TcaShared>,
    memory: Owned,
    len: usize,
}

enum Owned {
    Host(Arc<Block>),
    Device(Arc<Allocation>),
}

/// A wait that may return early is repeated after this.
const LOOK: Duration = Duration::from_millis(20);
/// The same for a device that is busy.
const LOOK_BUSY: Duration = Duration::from_micros(200);
/// A piece of what the CPU writes to or reads from a device.
const PIECE_BYTES: usize = 256 << 10;

impl Buffer {
    pub(super) fn allocate(
        shared: &Arc<TcaShared>,
        device: DeviceId,
        len: usize,
        align: usize,
    ) -> Result<Self> {
        shared.inner.check_is_here()?;
        let memory = match device.number() {
            None => Owned::Host(Self::block(shared, len, align)?),
            Some(number) => {
                let allocation = shared.devices.allocate(number, len, align)?;
                // Other PEs may copy to it from now on.
                shared.serve()?;
                Owned::Device(allocation)
            }
        };
        Ok(Self {
            shared: Arc::clone(shared),
            memory,
            len,
        })
    }

    fn block(shared: &Arc<TcaShared>, len: usize, align: usize) -> Result<Arc<Block>> {
        let block = {
            let heap = &shared.pool.heap;
            let mut heap = heap.lock().unwrap_or_else(PoisonError::into_inner);
            let (pool_bytes, free_bytes) = (shared.door.pool_bytes, heap.free_bytes());
            let full = |_| TcaError::HostFull {
                len,
                free_bytes,
                pool_bytes,
            };
            heap.allocate(len, align).map_err(full)?
        };
        let offset = block.offset as u64;
        let owned = Arc::new(Block {
            shared: Arc::downgrade(shared),
            offset,
            len: len as u64,
        });
        shared.pool.blocks().insert(offset, Arc::downgrade(&owned));
        let zeros = [0; 4096];
        let first = shared.door.pool + block.offset;
        for done in (0..block.used_bytes).step_by(zeros.len()) {
            let part = &zeros[..zeros.len().min(block.used_bytes - done)];
            shared.inner.segment().put_unannounced(first + done, part)?;
        }
        Ok(owned)
    }

    /// Its first byte, for this PE and others.
    pub fn spot(&self) -> Spot {
        match &self.memory {
            Owned::Host(block) => Spot::new(self.shared.inner.pe, DeviceId::HOST, block.offset),
            Owned::Device(allocation) => allocation.spot(),
        }
    }

    /// Which memory it is.
    pub fn device(&self) -> DeviceId {
        self.spot().device()
    }

    /// How many bytes it has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the CPU reaches it in this process; `None` for memory of a device. The memory stays as long as
    /// this buffer lives. Other PEs may write to it meanwhile.
    pub fn local_ptr(&self) -> Option<*mut u8> {
        match &self.memory {
            Owned::Device(_) => None,
            Owned::Host(block) => {
                let at = self.shared.door.pool + block.offset as usize;
                let memory = self.shared.inner.segment().memory();
                memory.range(at, self.len).ok()
            }
        }
    }

    /// Where kernels of this process reach it: a `CUdeviceptr` of the GPU's primary context, which the CUDA runtime
    /// also uses. `None` for memory of the host or of a device that runs no code. The memory stays as long as this
    /// buffer lives.
    ///
    /// Copies are not ordered with kernels. Finish a kernel (`cudaStreamSynchronize`) before its result is copied. Call
    /// [`synchronize`](super::Stream::synchronize), or wait for a [signal](super::Stream::signal), before a kernel
    /// reads copied data.
    pub fn device_ptr(&self) -> Option<u64> {
        match &self.memory {
            Owned::Host(_) => None,
            Owned::Device(allocation) => allocation.device.pointer(allocation.at),
        }
    }

    fn check(&self, offset: usize, count: usize) -> Result<()> {
        match offset <= self.len && count <= self.len - offset {
            true => Ok(()),
            false => Err(Error::OutOfRange {
                index: offset,
                count,
                elements: self.len,
            }),
        }
    }

    /// Copies `bytes` to `offset`, and returns when they are there.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Tca`].
    pub fn write(&self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.check(offset, bytes.len())?;
        let inner = &self.shared.inner;
        match &self.memory {
            Owned::Host(block) => {
                let at = self.shared.door.pool + block.offset as usize + offset;
                inner.segment().put_unannounced(at, bytes)?;
                Ok(())
            }
            Owned::Device(there) => {
                let host = Memory::anonymous(PIECE_BYTES);
                let mut at = there.at + offset as u64;
                let longest = there.device.piece_bytes_max().min(PIECE_BYTES);
                for piece in bytes.chunks(longest) {
                    host.copy_in(0, piece)?;
                    run(inner, there, || {
                        there.device.write(at, &host, 0, piece.len())
                    })?;
                    at += piece.len() as u64;
                }
                Ok(())
            }
        }
    }

    /// Copies bytes at `offset` to `out`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Tca`].
    pub fn read(&self, offset: usize, out: &mut [u8]) -> Result<()> {
        self.check(offset, out.len())?;
        let inner = &self.shared.inner;
        match &self.memory {
            Owned::Host(block) => {
                let at = self.shared.door.pool + block.offset as usize + offset;
                inner.segment().get(at, out)?;
                Ok(())
            }
            Owned::Device(there) => {
                let host = Memory::anonymous(PIECE_BYTES);
                let mut at = there.at + offset as u64;
                let longest = there.device.piece_bytes_max().min(PIECE_BYTES);
                for piece in out.chunks_mut(longest) {
                    run(inner, there, || {
                        there.device.read(at, &host, 0, piece.len())
                    })?;
                    host.copy_out(0, piece)?;
                    at += piece.len() as u64;
                }
                Ok(())
            }
        }
    }

    /// Where the word at `offset` lies in the own segment.
    fn word(&self, offset: usize) -> Result<usize> {
        self.check(offset, 8)?;
        match &self.memory {
            Owned::Host(block) if offset.is_multiple_of(8) => {
                Ok(self.shared.door.pool + block.offset as usize + offset)
            }
            _ => Err(TcaError::NoWord {
                place: self.spot().at(offset as u64).to_string(),
            }
            .into()),
        }
    }

    /// Loads the word at `offset`: in host memory, at a multiple of 8. If this sees a [signal](super::Stream::signal),
    /// everything written before the signal is visible.
    ///
    /// # Errors
    /// [`Error::OutOfRange`], [`Error::Tca`].
    pub fn load(&self, offset: usize) -> Result<u64> {
        Ok(self.shared.inner.segment().load_word(self.word(offset)?)?)
    }

    /// Waits until the word at `offset` is at least `value`.
    ///
    /// # Errors
    /// As [`load`](Self::load); [`Error::PeerLost`] when a PE of the job is found to have died while waiting. The error
    /// of a failed stream of this PE, until [`synchronize`](super::Stream::synchronize) reports it: the other PE may
    /// wait for what followed in that stream. [`TcaError::StreamFailed`] if a stream of another PE that was to write
    /// here has failed, and that PE waits long and has not synchronized.
    pub fn wait_until(&self, offset: usize, value: u64) -> Result<()> {
        let at = self.word(offset)?;
        let inner = &self.shared.inner;
        let mut warnings = Warnings::default();
        let _busy = inner.status.during(Activity::Waiting, None);
        inner.wait(Watch::Anybody, || {
            self.shared.help()?;
            if inner.segment().load_word(at)? >= value {
                return Ok(Some(()));
            }
            self.shared.check_failures(&mut warnings).map(|()| None)
        })
    }
}

/// Starts a copy of a device and waits until it has finished.
fn run(
    inner: &Inner,
    there: &Allocation,
    mut start: impl FnMut() -> hostwire_device::Result<Option<Ticket>>,
) -> Result<()> {
    let failed = |fault: DeviceError| TcaError::Device {
        pe: inner.pe,
        fault,
    };
    let ticket = loop {
        match start().map_err(failed)? {
            Some(ticket) => break ticket,
            // Until some copy has ended: the wait may return early.
            None => there.device.wait(Ticket::MAX, LOOK_BUSY, LOOK_BUSY),
        }
    };
    while there.device.finished().map_err(failed)? < ticket {
        there.device.wait(ticket, LOOK, LOOK_BUSY);
    }
    Ok(())
}
