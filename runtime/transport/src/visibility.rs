//! The visibility contract of a window: what has to be done after a store before
//! the peer can see it, and before a load to see what the peer stored.
//!
//! | contract | where | after a store | before a load |
//! |---|---|---|---|
//! | [`Coherent`](Visibility::Coherent) | shared memory of one host | nothing | nothing |
//! | [`WriteCombining`](Visibility::WriteCombining) | PCI windows mapped write-combining | store fence | not allowed |
//! | [`Flushed`](Visibility::Flushed) | CXL or dax memory without hardware coherence | write the line back, store fence | invalidate the line, full fence; before a store of part of a line as well, without the fence |
//!
//! [`crate::flush`] has the instructions for lines.
//!
//! All these instructions have no effect on coherent memory, so a test there proves
//! nothing. The tests run on modelled memory (`crate::model`). There a test fails if any
//! place named by `site!` or `order!` is left out.

use crate::flush::{Flush, edges, lines};
use crate::sync::{Ordering, fence};

pub use crate::flush::LINE_BYTES;

/// See the [module text](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visibility {
    /// Hardware keeps caches coherent. Stores are seen in program order or after a release
    /// fence.
    #[default]
    Coherent,
    /// Stores gather in buffers that drain in any order until a store fence.
    WriteCombining,
    /// Stores stay in this host's caches until written back, and loads may be
    /// served from a stale line until it is invalidated.
    Flushed,
}

impl Visibility {
    /// Orders all earlier stores before all later ones, as the peer sees them.
    #[inline(always)]
    pub fn store_fence(self) {
        match self {
            Self::Coherent => fence(Ordering::Release),
            Self::WriteCombining | Self::Flushed => device_store_fence(),
        }
    }

    /// The fence of the wire: orders earlier stores before later ones.
    #[inline(always)]
    pub fn fence(self) {
        site!("fence", self.store_fence());
    }

    /// The quiet of the wire, where the CPU itself stores: all stores have left, and PEs
    /// of this host see them.
    #[inline(always)]
    pub fn quiet(self) {
        site!("quiet: stores leave", self.store_fence());
        site!("quiet: loads behind it", fence(Ordering::SeqCst));
    }

    /// Drops stale copies of lines that will be stored to in part, because lines are
    /// written back whole.
    #[inline(always)]
    pub fn before_store(self, at: *const u8, len_bytes: usize) {
        if self == Self::Flushed {
            edges(at, len_bytes, Flush::BeforeStore);
        }
    }

    /// Pushes the lines of `len_bytes` bytes at `at` towards the peer.
    #[inline(always)]
    pub fn after_store(self, at: *const u8, len_bytes: usize) {
        if self == Self::Flushed {
            lines(at, len_bytes, Flush::WriteBack);
        }
    }

    /// Later loads and stores come after the loads before it.
    #[inline(always)]
    pub fn after_load(self) {
        match self {
            Self::Coherent => site!("get: acquire", fence(Ordering::Acquire)),
            Self::WriteCombining | Self::Flushed => {
                site!("get: acquire of other hosts", device_acquire_fence());
            }
        }
    }

    /// Drops stale copies of the lines of `len_bytes` bytes at `at`.
    #[inline(always)]
    pub fn before_load(self, at: *const u8, len_bytes: usize) {
        if self == Self::Flushed {
            lines(at, len_bytes, Flush::BeforeFence);
            site!("before_load: the load waits", device_full_fence());
        }
    }
}

/// Later loads and stores come after earlier loads of memory to which devices and other hosts store.
#[cfg(all(target_arch = "aarch64", not(any(miri, memory_model))))]
#[inline(always)]
fn device_acquire_fence() {
    // SAFETY: a barrier changes neither memory nor registers. Without `nomem` the compiler
    // moves no access across it.
    unsafe { core::arch::asm!("dmb ld", options(nostack, preserves_flags)) }
}

#[cfg(any(not(target_arch = "aarch64"), miri, memory_model))]
#[inline(always)]
fn device_acquire_fence() {
    fence(Ordering::Acquire);
}

/// Orders stores and flushes as devices and other hosts see them.
#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
#[inline(always)]
fn device_store_fence() {
    // SAFETY: `sfence` is part of SSE, which every x86-64 has, and touches no memory.
    unsafe { core::arch::x86_64::_mm_sfence() }
}

/// The same, and loads wait for it.
#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
#[inline(always)]
pub(crate) fn device_full_fence() {
    // SAFETY: `mfence` is part of SSE2, which every x86-64 has, and touches no memory.
    unsafe { core::arch::x86_64::_mm_mfence() }
}

/// As on x86-64. A `dmb`, or a `dsb` for stores alone, does not wait for `dc civac`; and a
/// `dmb ish` does not order accesses to a device or another host.
#[cfg(all(target_arch = "aarch64", not(any(miri, memory_model))))]
#[inline(always)]
fn device_store_fence() {
    device_full_fence();
}

#[cfg(all(target_arch = "aarch64", not(any(miri, memory_model))))]
#[inline(always)]
pub(crate) fn device_full_fence() {
    // SAFETY: a barrier changes neither memory nor registers. Without `nomem` the compiler
    // moves no access across it.
    unsafe { core::arch::asm!("dsb sy", options(nostack, preserves_flags)) }
}

#[cfg(all(
    any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri),
    not(memory_model)
))]
#[inline(always)]
fn device_store_fence() {
    fence(Ordering::SeqCst);
}

#[cfg(all(
    any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri),
    not(memory_model)
))]
#[inline(always)]
pub(crate) fn device_full_fence() {
    fence(Ordering::SeqCst);
}

#[cfg(memory_model)]
pub(crate) use crate::model::door::full_fence as device_full_fence;
#[cfg(memory_model)]
use crate::model::door::store_fence as device_store_fence;
