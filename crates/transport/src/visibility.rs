//! The visibility contract of a window: what has to be done after a store before
//! the peer can see it, and before a load to see what the peer stored.
//!
//! | contract | where | after a store | before a load |
//! |---|---|---|---|
//! | [`Coherent`](Visibility::Coherent) | shared memory of one host | nothing | nothing |
//! | [`WriteCombining`](Visibility::WriteCombining) | PCI windows mapped write-combining | store fence | not allowed |
//! | [`Flushed`](Visibility::Flushed) | CXL or dax memory without hardware coherence | write the line back, store fence | invalidate the line |
//!
//! The instructions are all harmless on coherent memory, which is how the tests
//! run every contract on any machine.

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
            Self::WriteCombining | Self::Flushed => wc_store_fence(),
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
            fence(Ordering::SeqCst);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn wc_store_fence() {
    // SAFETY: `sfence` is part of SSE, which every x86-64 has, and touches no memory.
    unsafe { core::arch::x86_64::_mm_sfence() }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
fn wc_store_fence() {
    fence(Ordering::SeqCst);
}

/// Writes back and invalidates every line that the bytes touch.
#[cold]
#[inline(never)]
fn flush_lines(at: *const u8, len_bytes: usize) {
    if len_bytes == 0 {
        return;
    }
    let first = at as usize & !(LINE_BYTES - 1);
    let last = (at as usize + len_bytes - 1) & !(LINE_BYTES - 1);
    for line in (first..=last).step_by(LINE_BYTES) {
        flush_line(at.with_addr(line));
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
fn flush_line(line: *const u8) {
    // SAFETY: `clflush` is part of SSE2, which every x86-64 has. It faults only on
    // addresses that are not mapped, and the callers pass lines of their own
    // mapping; it changes no value that the abstract machine can see.
    unsafe { core::arch::x86_64::_mm_clflush(line) }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
fn flush_line(line: *const u8) {
    // SAFETY: `dc civac` is allowed at EL0 on Linux, cleans and invalidates one line
    // of a mapping the caller owns, and changes no value.
    unsafe { core::arch::asm!("dc civac, {}", in(reg) line, options(nostack, preserves_flags)) }
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
fn flush_line(_line: *const u8) {}

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
