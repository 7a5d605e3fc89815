//! Memory of accelerators, accessed through a queue of copies.
//!
//! A [`Device`] has memory that the CPU cannot load from or store to. It can only start copies, which the device does
//! in order, and ask how far the device is. Two kinds:
//!
//! | kind | what it is |
//! |---|---|
//! | [`modelled`] | a separate process has the memory: for machines without an accelerator, and for tests |
//! | [`cuda`] | a GPU, through the driver's library, which is loaded at run time |
//!
//! All that is unsafe is in `modelled/process.rs`, `modelled/bounce.rs` and `cuda/driver.rs`: this crate is
//! for the library `hostwire`, which has no unsafe code.

#[cfg(target_os = "linux")]
pub mod cuda;
#[cfg(target_os = "linux")]
pub mod modelled;

#[cfg(target_os = "linux")]
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hostwire_transport::Memory;

/// The number of a copy on its device, from 1 on. Copies end in the order of their numbers.
pub type Ticket = u64;

/// A name of memory that another process of this host may open: see [`Device::export`].
pub type Export = [u8; 64];

/// The kind of a device. Devices of one kind can open each other's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Kind {
    /// Processes.
    Modelled = 1,
    /// GPUs of CUDA.
    Cuda = 2,
}

/// The result of an operation of a device.
pub type Result<T> = core::result::Result<T, DeviceError>;

/// Why a device cannot do an operation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The caller named a device that the machine does not have.
    #[error("there is no {kind} device {number}: there are {count}")]
    NoDevice {
        /// "modelled" or "CUDA".
        kind: &'static str,
        /// The number that was named.
        number: u32,
        /// How many there are.
        count: u32,
    },
    /// The caller named bytes that are not allocated.
    #[error("{len} bytes at {at:#x} are not in an allocation of {device}")]
    OutOfRange {
        /// The device.
        device: String,
        /// The first byte.
        at: u64,
        /// How many.
        len: usize,
    },
    /// The device has no memory of that size left.
    #[error("{device} has no {len} bytes: {why}")]
    OutOfMemory {
        /// The device.
        device: String,
        /// How many were asked for.
        len: usize,
        /// The reason of the machine or of the driver.
        why: String,
    },
    /// The device has ended, and its memory with it.
    #[error("{device} is lost with its memory: {why}")]
    Lost {
        /// The device.
        device: String,
        /// How that is known.
        why: String,
    },
    /// The machine or the driver refuses something.
    #[error("{what}: {why}")]
    Refused {
        /// The attempted operation.
        what: String,
        /// The reason of the machine or of the driver.
        why: String,
    },
}

/// Blocks of one length at regular distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Bytes of each.
    pub len: usize,
    /// How many; 1 or more.
    pub count: usize,
    /// Bytes between beginnings at the target.
    pub to_step: usize,
    /// Bytes between beginnings at the source.
    pub from_step: usize,
}

impl Blocks {
    /// Bytes from the beginning of the first block to the end of the last, if they are `step` apart.
    pub fn extent(&self, step: usize) -> Option<usize> {
        let steps = step.checked_mul(self.count.checked_sub(1)?)?;
        steps.checked_add(self.len)
    }
}

/// Memory that is reached only by copies. Any thread may use it.
///
/// Addresses are the device's own. The caller of a copy must keep the host bytes alive and unchanged until the copy
/// has [finished](Self::finished).
pub trait Device: fmt::Debug + Send + Sync {
    /// What it is, for people.
    fn name(&self) -> String;

    /// Which other devices can open its memory.
    fn kind(&self) -> Kind;

    /// The longest copy between host and device that it takes at once, in bytes.
    fn piece_bytes_max(&self) -> usize;

    /// Zeroed memory at a multiple of `align`, a power of two.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::Lost`].
    fn allocate(&self, len: usize, align: usize) -> Result<u64>;

    /// Frees memory, after the copies that were started before.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], [`DeviceError::Lost`].
    fn release(&self, at: u64) -> Result<()>;

    /// Starts to copy bytes of the host to the device. `None`: the queue is full; try again later.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], [`DeviceError::Lost`].
    fn write(&self, to: u64, from: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>>;

    /// Starts to copy bytes of the device to the host. `None` as [`write`](Self::write).
    ///
    /// # Errors
    /// As `write`.
    fn read(&self, from: u64, into: &Memory, offset: usize, len: usize) -> Result<Option<Ticket>>;

    /// Starts to copy bytes within the device, or to memory of another one that was [opened](Self::open) or is
    /// [reached](Self::reaches). `None` as [`write`](Self::write).
    ///
    /// # Errors
    /// As `write`.
    fn copy(&self, to: u64, from: u64, len: usize) -> Result<Option<Ticket>>;

    /// The number of the last copy that has finished.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn finished(&self) -> Result<Ticket>;

    /// Starts to copy blocks as [`copy`](Self::copy) copies one: as many of them, from the first on, as it takes at
    /// once. Returns how many, at least one; `None` as `copy`.
    ///
    /// # Errors
    /// As `write`.
    fn copy_blocks(&self, to: u64, from: u64, blocks: Blocks) -> Result<Option<(Ticket, usize)>> {
        let mut begun = None;
        for block in 0..blocks.count {
            let at = |first: u64, step: usize| first + (block * step) as u64;
            let to = at(to, blocks.to_step);
            match self.copy(to, at(from, blocks.from_step), blocks.len) {
                Ok(Some(ticket)) => begun = Some((ticket, block + 1)),
                Ok(None) => break,
                // The error will show when the remaining blocks have their turn.
                Err(_) if begun.is_some() => break,
                Err(error) => return Err(error),
            }
        }
        Ok(begun)
    }

    /// Waits until copy `ticket` has finished, at most for `limit`, and spins for up to `busy` of this time. It may
    /// return early.
    fn wait(&self, ticket: Ticket, limit: Duration, busy: Duration);

    /// Pins host memory that copies use often. This makes copies faster where it is possible.
    ///
    /// # Errors
    /// [`DeviceError::Refused`]: copies still work.
    fn pin(&self, memory: &Memory, offset: usize, len: usize) -> Result<()> {
        let _ = (memory, offset, len);
        Ok(())
    }

    /// Where kernels of this process reach the byte at `at`: a `CUdeviceptr` of the device's primary context.
    /// `None`: no code runs on the device.
    fn pointer(&self, at: u64) -> Option<u64> {
        let _ = at;
        None
    }

    /// Whether it [copies](Self::copy) to memory of another device of this process, at the address that the other
    /// one has for it. The copy has a ticket of this one.
    fn reaches(&self, other: &dyn Device) -> bool {
        let _ = other;
        false
    }

    /// A name of an allocation, for other processes of this host.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], [`DeviceError::Refused`].
    fn export(&self, at: u64) -> Result<Export>;

    /// Opens `len` bytes of memory of a device of the same kind in another process of this host, as a target of
    /// [copies](Self::copy). It has to be [closed](Self::close). The other process must keep it meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::Refused`].
    fn open(&self, export: &Export, len: usize) -> Result<u64>;

    /// Closes opened memory, after the copies that were started before.
    fn close(&self, at: u64);
}

/// An error if these bytes do not lie in one allocation; `allocations` has lengths by address.
#[cfg(target_os = "linux")]
fn check_range(
    allocations: &BTreeMap<u64, usize>,
    at: u64,
    len: usize,
    device: impl FnOnce() -> String,
) -> Result<()> {
    let before = allocations.range(..=at).next_back();
    let fits = before.is_some_and(|(start, bytes)| {
        let skipped = (at - start) as usize;
        skipped <= *bytes && len <= bytes - skipped
    });
    match fits {
        true => Ok(()),
        false => Err(DeviceError::OutOfRange {
            device: device(),
            at,
            len,
        }),
    }
}
