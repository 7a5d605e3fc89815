//! The memory of an AF_XDP socket: frames, and rings by which kernel and process exchange places
//! (`Documentation/networking/af_xdp.rst`).

use core::marker::PhantomData;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::io;
use std::os::fd::BorrowedFd;

use rustix::mm::{MapFlags, ProtFlags};

/// Mapped memory.
#[derive(Debug)]
pub(super) struct Mapping {
    base: NonNull<u8>,
    bytes: usize,
}

impl Mapping {
    /// Shared with children: the kernel uses these pages, and after a copy-on-write a child would not
    /// see frames.
    pub(super) fn anonymous(bytes: usize) -> io::Result<Self> {
        let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of
        // this process.
        let base =
            unsafe { rustix::mm::mmap_anonymous(core::ptr::null_mut(), bytes, protection, flags) }?;
        Self::of(base, bytes)
    }

    fn shared(socket: BorrowedFd<'_>, offset: u64, bytes: usize) -> io::Result<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::SHARED | MapFlags::POPULATE;
        // SAFETY: a fresh mapping of the socket's memory, at an address of the kernel's choice, touches
        // no memory of this process.
        let base = unsafe {
            rustix::mm::mmap(
                core::ptr::null_mut(),
                bytes,
                protection,
                flags,
                socket,
                offset,
            )
        }?;
        Self::of(base, bytes)
    }

    fn of(base: *mut core::ffi::c_void, bytes: usize) -> io::Result<Self> {
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self { base, bytes })
    }

    pub(super) fn address(&self) -> u64 {
        self.base.as_ptr().expose_provenance() as u64
    }

    /// The bytes of a range; `None` if they are not all in this mapping.
    ///
    /// # Safety
    /// Nobody else, including the kernel, may use them as long as the reference lives.
    pub(super) unsafe fn bytes(&mut self, at: u64, len: usize) -> Option<&mut [u8]> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(len)?;
        if end > self.bytes {
            return None;
        }
        // SAFETY: within the mapping, as just checked.
        let start = unsafe { self.base.add(at) };
        // SAFETY: so are all its bytes; mapped memory is initialised; the caller vouches that
        // the reference is the only one.
        Some(unsafe { core::slice::from_raw_parts_mut(start.as_ptr(), len) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped; no reference into it outlives a call.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.bytes) };
    }
}

/// A ring of `T`, of which this process is the only producer or the only consumer.
#[derive(Debug)]
pub(super) struct Ring<T> {
    mapping: Mapping,
    producer_at: usize,
    consumer_at: usize,
    entries_at: usize,
    entries: u32,
    _entries: PhantomData<T>,
}

// SAFETY: the mapping belongs to this value alone.
unsafe impl<T: Copy> Send for Ring<T> {}

impl<T: Copy> Ring<T> {
    /// Maps a ring of `entries` entries, a power of two, at `page_offset` of the socket.
    pub(super) fn map(
        socket: BorrowedFd<'_>,
        page_offset: u64,
        offsets: &libc::xdp_ring_offset,
        entries: u32,
    ) -> io::Result<Self> {
        let at = |offset: u64| usize::try_from(offset).map_err(|_| io::ErrorKind::InvalidData);
        let entries_at = at(offsets.desc)?;
        let bytes = entries_at + entries as usize * size_of::<T>();
        let (producer_at, consumer_at) = (at(offsets.producer)?, at(offsets.consumer)?);
        let words_fit = producer_at.max(consumer_at) + size_of::<u32>() <= bytes;
        let aligned = [producer_at, consumer_at]
            .iter()
            .all(|at| at.is_multiple_of(align_of::<AtomicU32>()))
            && entries_at.is_multiple_of(align_of::<T>());
        if !words_fit || !aligned || !entries.is_power_of_two() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        Ok(Self {
            mapping: Mapping::shared(socket, page_offset, bytes)?,
            producer_at,
            consumer_at,
            entries_at,
            entries,
            _entries: PhantomData,
        })
    }

    fn word(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `map` has checked that the word lies in the mapping.
        let word = unsafe { self.mapping.base.add(at) };
        // SAFETY: aligned, as `map` has checked; kernel and process only access it
        // atomically.
        unsafe { word.cast::<AtomicU32>().as_ref() }
    }

    fn entry(&self, index: u32) -> NonNull<T> {
        let at = self.entries_at + (index & (self.entries - 1)) as usize * size_of::<T>();
        // SAFETY: so many entries are mapped behind `entries_at`.
        unsafe { self.mapping.base.add(at) }.cast()
    }

    /// Whether nothing is there to be consumed.
    pub(super) fn is_empty(&self) -> bool {
        let produced = self.word(self.producer_at).load(Ordering::Acquire);
        produced == self.word(self.consumer_at).load(Ordering::Relaxed)
    }

    /// Takes the next entry, for the consumer.
    pub(super) fn take(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        let consumer = self.word(self.consumer_at).load(Ordering::Relaxed);
        // SAFETY: an aligned entry of the mapping that the kernel has produced and does not
        // touch until it is consumed; any bytes are a `T` (integers only).
        let entry = unsafe { self.entry(consumer).read() };
        let next = consumer.wrapping_add(1);
        self.word(self.consumer_at).store(next, Ordering::Release);
        Some(entry)
    }

    /// Adds an entry, for the producer; `false` if there is no room.
    pub(super) fn put(&mut self, entry: T) -> bool {
        let producer = self.word(self.producer_at).load(Ordering::Relaxed);
        let consumed = self.word(self.consumer_at).load(Ordering::Acquire);
        if producer.wrapping_sub(consumed) >= self.entries {
            return false;
        }
        // SAFETY: an aligned entry of the mapping that the kernel has consumed and does not
        // touch until it is produced.
        unsafe { self.entry(producer).write(entry) };
        let next = producer.wrapping_add(1);
        self.word(self.producer_at).store(next, Ordering::Release);
        true
    }
}
