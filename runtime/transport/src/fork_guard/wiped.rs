//! Memory that the kernel wipes for a child.

use crate::sync::AtomicU64;
use core::ptr::NonNull;

use rustix::mm::{Advice, MapFlags, ProtFlags};

use crate::error::{EnvironmentFault, TransportError};

#[path = "hooked.rs"]
mod hooked;

/// A mapping of its own.
#[derive(Debug)]
pub(super) struct Words {
    words: NonNull<AtomicU64>,
    count: usize,
    /// Whether the C library wipes it, because the kernel may not.
    is_hooked: bool,
}

// SAFETY: a mapping of its own that lives as long as this does; all access is atomic.
unsafe impl Send for Words {}
// SAFETY: all access to the mapping is atomic, so several threads may do it at a time.
unsafe impl Sync for Words {}

#[cold]
fn failed(fault: EnvironmentFault) -> TransportError {
    let what = "keeping the state of a job from children that are forked \
                (madvise with MADV_WIPEONFORK, from Linux 4.14 on)";
    TransportError::environment(what, fault)
}

impl Words {
    /// `count` words, at least one.
    pub(super) fn new(count: usize) -> Result<Self, TransportError> {
        let len_bytes = count.saturating_mul(size_of::<AtomicU64>());
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of
        // this process.
        let base = unsafe {
            rustix::mm::mmap_anonymous(
                core::ptr::null_mut(),
                len_bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )
        }
        .map_err(|e| failed(e.into()))?;
        let words = NonNull::new(base.cast())
            .ok_or_else(|| failed(EnvironmentFault::NoRoom { cause: None }))?;
        // From here on dropping this unmaps it on every path.
        let mut words = Self {
            words,
            count,
            is_hooked: false,
        };
        // SAFETY: advice on the mapping just made changes nothing in this process.
        unsafe { rustix::mm::madvise(base, len_bytes, Advice::LinuxWipeOnFork) }
            .map_err(|e| failed(e.into()))?;
        // SAFETY: advice that no kernel knows on the same mapping changes nothing.
        let emulator_takes_it = unsafe { libc::madvise(base, len_bytes, -1) } == 0;
        if emulator_takes_it {
            words.hook()?;
        }
        Ok(words)
    }

    /// The C library wipes them, in children of `fork`.
    pub(super) fn hook(&mut self) -> Result<(), TransportError> {
        if !self.is_hooked {
            // SAFETY: `drop` forgets them before it unmaps them.
            unsafe { hooked::wipe_in_children(self.words.as_ptr(), self.count) }
                .map_err(|e| failed(e.into()))?;
            self.is_hooked = true;
        }
        Ok(())
    }

    pub(super) fn are_wiped_by_kernel(&self) -> bool {
        !self.is_hooked
    }

    #[inline(always)]
    pub(super) fn first(&self) -> &AtomicU64 {
        // SAFETY: as in `words`; there is at least one.
        unsafe { self.words.as_ref() }
    }

    #[inline(always)]
    pub(super) fn words(&self) -> &[AtomicU64] {
        // SAFETY: `count` words, mapped, zeroed and page aligned, for as long as `self`
        // lives; only ever accessed as these atomics.
        unsafe { core::slice::from_raw_parts(self.words.as_ptr(), self.count) }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.is_hooked {
            hooked::forget(self.words.as_ptr());
        }
        let len_bytes = self.count * size_of::<AtomicU64>();
        // SAFETY: the whole mapping that `new` made, to which no reference is left.
        let _ = unsafe { rustix::mm::munmap(self.words.as_ptr().cast(), len_bytes) };
    }
}
