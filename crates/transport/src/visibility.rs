//! The visibility contract of a window: what has to be done after a store before
//! the peer can see it, and before a load to see what the peer stored.
//!
//! | contract | where | after a store | before a load |
//! |---|---|---|---|
//! | [`Coherent`](Visibility::Coherent) | shared memory of one host | nothing | nothing |
//! | [`WriteCombining`](Visibility::WriteCombining) | PCI windows mapped write-combining | store fence | not allowed |
//! | [`Flushed`](Visibility::Flushed) | CXL or dax memory without hardware coherence | write the line back, store fence | invalidate the line, full fence; before a store of part of a line as well, without the fence |
//!
//! The instructions are all harmless on coherent memory, which therefore proves none of
//! them. The tests run on modelled memory (`crate::model`), where each place that is named
//! by `site!` or `order!` is missed when it is left out.

use crate::sync::{Ordering, fence};

/// Bytes of a cache line, and of a slot of a ring.
pub const LINE_BYTES: usize = 64;

/// See the [module text](self).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Visibility {
    /// Hardware keeps all copies equal; stores are seen in program order or
    /// after a release fence.
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

    /// What a fence of the wire is: orders stores before it before those behind it.
    #[inline(always)]
    pub(crate) fn fence(self) {
        site!("fence", self.store_fence());
    }

    /// What a quiet is, where stores are instructions: they have left, and are seen by
    /// whoever is on this host.
    #[inline(always)]
    pub(crate) fn quiet(self) {
        site!("quiet: stores leave", self.store_fence());
        site!("quiet: loads behind it", fence(Ordering::SeqCst));
    }

    /// Drops stale copies of the lines that are about to be stored to in part: they are
    /// written back whole. Stores wait for it by themselves: x86 does `clflush` in the order
    /// of stores, Arm `dc civac` in the order of accesses to its line.
    #[inline(always)]
    pub(crate) fn before_store(self, at: *const u8, len_bytes: usize) {
        if self == Self::Flushed {
            flush_edges(at, len_bytes);
        }
    }

    /// Pushes the lines of `len_bytes` bytes at `at` towards the peer.
    #[inline(always)]
    pub(crate) fn after_store(self, at: *const u8, len_bytes: usize) {
        if self == Self::Flushed {
            flush_lines(at, len_bytes);
        }
    }

    /// Drops stale copies of the lines of `len_bytes` bytes at `at`.
    #[inline(always)]
    pub(crate) fn before_load(self, at: *const u8, len_bytes: usize) {
        if self == Self::Flushed {
            flush_lines(at, len_bytes);
            site!("before_load: the load waits", device_full_fence());
        }
    }
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
/// `dmb ish` says nothing to a device or another host.
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

/// Writes back and invalidates every line that the bytes touch.
#[cold]
#[inline(never)]
fn flush_lines(at: *const u8, len_bytes: usize) {
    if len_bytes == 0 {
        return;
    }
    let first = at as usize & !(LINE_BYTES - 1);
    let last = (at as usize + len_bytes - 1) & !(LINE_BYTES - 1);
    for line in (first..last).step_by(LINE_BYTES) {
        site!(
            "flush_lines: all but the last",
            flush_line(at.with_addr(line))
        );
    }
    site!("flush_lines: the last", flush_line(at.with_addr(last)));
}

/// Does so to the first and the last line, unless the bytes cover them.
#[cold]
#[inline(never)]
fn flush_edges(at: *const u8, len_bytes: usize) {
    let (first, end) = (at as usize, at as usize + len_bytes);
    let (from, to) = (first % LINE_BYTES, end % LINE_BYTES);
    if from != 0 {
        flush_lines(at, len_bytes.min(1));
    }
    if to != 0 && (from == 0 || first / LINE_BYTES != end / LINE_BYTES) {
        flush_lines(at.with_addr(end - to), len_bytes.min(1));
    }
}

#[cfg(memory_model)]
pub(crate) fn flush_line(line: *const u8) {
    crate::model::door::flush_line(line.addr());
}

#[cfg(all(target_arch = "x86_64", not(any(miri, memory_model))))]
pub(crate) fn flush_line(line: *const u8) {
    // SAFETY: `clflush` is part of SSE2, which every x86-64 has. It faults only on
    // addresses that are not mapped, and the callers pass lines of their own
    // mapping; it changes no value that the abstract machine can see.
    unsafe { core::arch::x86_64::_mm_clflush(line) }
}

#[cfg(all(target_arch = "aarch64", not(any(miri, memory_model))))]
pub(crate) fn flush_line(line: *const u8) {
    // SAFETY: `dc civac` is allowed at EL0 on Linux, cleans and invalidates one line
    // of a mapping the caller owns, and changes no value.
    unsafe { core::arch::asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) }
}

#[cfg(all(
    any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri),
    not(memory_model)
))]
pub(crate) fn flush_line(_line: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flushing_changes_no_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        for (at, len) in [(0, 0), (0, 1), (63, 2), (1, 255), (64, 64)] {
            flush_lines(bytes[at..].as_ptr(), len);
        }
        assert!(bytes.iter().enumerate().all(|(i, b)| i == usize::from(*b)));
    }
}
