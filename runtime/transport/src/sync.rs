//! The one place where atomics come from: `core`, or loom's under `cfg(loom)`, or those of
//! modelled memory under `cfg(memory_model)`.
//!
//! It also holds the pair of fences behind sleeping. A writer stores data and then checks
//! whether the reader sleeps. A reader says that it sleeps and then checks for data. Both
//! need a store-load barrier between their two steps, and the writer's barrier would cost
//! more than the put itself. So the barrier is asymmetric: the writer's half
//! ([`light_fence`]) only stops the compiler, and the reader's half ([`heavy_fence`]),
//! taken just before it sleeps, makes the kernel run a full barrier on every CPU where a
//! process of the job is running.

#[cfg(memory_model)]
pub use crate::model::{AtomicU16, AtomicU32, AtomicU64};
#[cfg(not(loom))]
pub use core::sync::atomic::Ordering;
#[cfg(not(any(loom, memory_model)))]
pub use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, fence};
#[cfg(loom)]
pub use loom::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering, fence};

/// As that of `core`.
#[cfg(memory_model)]
pub fn fence(order: Ordering) {
    crate::model::door::fence(order);
}

/// The writer's half of the asymmetric barrier. See the module text.
#[inline(always)]
pub fn light_fence() {
    #[cfg(not(loom))]
    core::sync::atomic::compiler_fence(Ordering::SeqCst);
    // loom knows no asymmetric barrier: it is modelled as a full one on each side.
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// The sleeper's half of the asymmetric barrier. See the module text.
///
/// Returns false where the kernel offers none (before Linux 4.16, filtered, or not Linux):
/// the caller must then not rely on being woken, and must sleep only for a short time.
#[must_use]
pub fn heavy_fence() -> bool {
    site!("heavy_fence: own barrier", fence(Ordering::SeqCst));
    #[cfg(memory_model)]
    if site!(
        "heavy_fence: barrier everywhere",
        crate::model::door::fence_host()
    ) {
        return true;
    }
    #[cfg(not(loom))]
    {
        registered() && barrier_everywhere()
    }
    #[cfg(loom)]
    true
}

/// Registers this process for the barriers of its peers. Must be called before the
/// first [`light_fence`] that a peer relies on; calling it again costs nothing.
#[cfg(all(target_os = "linux", not(loom)))]
pub fn registered() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    static REGISTERED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *REGISTERED.get_or_init(|| membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok())
}

#[cfg(all(target_os = "linux", not(loom)))]
fn barrier_everywhere() -> bool {
    use rustix::thread::{MembarrierCommand, membarrier};
    membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}

/// As on Linux, but there is no such barrier here.
#[cfg(not(any(target_os = "linux", loom)))]
pub fn registered() -> bool {
    false
}

#[cfg(not(any(target_os = "linux", loom)))]
fn barrier_everywhere() -> bool {
    false
}
