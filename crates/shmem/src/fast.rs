//! The short way: what a put, a get or an atomic needs to know, worked out once.
//!
//! All of it is plain words in one place, read with ordinary loads. While the library is
//! not in use, while `SHMEM_DEBUG` wants to look at every access, and on wires that do
//! not map everybody's memory, the number of PEs here is 0: then nothing is in reach, and
//! every operation takes the long way ([`crate::remote`]), which finds out why.

use core::ffi::c_int;
use core::sync::atomic::Ordering;
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use hostwire::attachment::Operation;
use hostwire_transport::wait::Doorbell;
use hostwire_transport::window::DOORBELL_OFFSET_BYTES;

use crate::fail;
use crate::remote;

/// One of the two regions of symmetric objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Region {
    /// Where this PE sees it.
    pub(crate) address: usize,
    pub(crate) len_bytes: usize,
    /// Where in a segment it is.
    pub(crate) offset: usize,
}

impl Region {
    /// Where in a segment `len` bytes at `address` are, if all of them are in here.
    #[inline]
    pub(crate) fn locate(&self, address: usize, len: usize) -> Option<usize> {
        let at = address.wrapping_sub(self.address);
        (at <= self.len_bytes && len <= self.len_bytes - at).then(|| self.offset + at)
    }
}

#[repr(C, align(64))]
struct Fast {
    pes: AtomicUsize,
    heap: AtomicUsize,
    heap_bytes: AtomicUsize,
    /// What to add to an address here to have that of PE 0.
    heap_to_first: AtomicUsize,
    /// From one segment to the next.
    stride: AtomicUsize,
    /// That of PE 0.
    doorbell: AtomicUsize,
    statics: AtomicUsize,
    statics_bytes: AtomicUsize,
    statics_to_first: AtomicUsize,
}

static FAST: Fast = Fast {
    pes: AtomicUsize::new(0),
    heap: AtomicUsize::new(0),
    heap_bytes: AtomicUsize::new(0),
    heap_to_first: AtomicUsize::new(0),
    stride: AtomicUsize::new(0),
    doorbell: AtomicUsize::new(0),
    statics: AtomicUsize::new(0),
    statics_bytes: AtomicUsize::new(0),
    statics_to_first: AtomicUsize::new(0),
};

/// Negative while the library is not in use.
static MY_PE: AtomicI32 = AtomicI32::new(-1);
static N_PES: AtomicI32 = AtomicI32::new(-1);

/// Bytes that are moved in place. A region that is open has at least as many.
pub(crate) const SHORT_BYTES: usize = 64;

/// From now on everything is in reach: `pes` segments, the first one at `first`.
pub(crate) fn open(pes: u32, first: usize, stride: usize, heap: Region, statics: Region) {
    // A program without static objects has the heap twice.
    let statics = if statics.len_bytes < SHORT_BYTES {
        heap
    } else {
        statics
    };
    let to_first = |region: Region| (first + region.offset).wrapping_sub(region.address);
    FAST.heap.store(heap.address, Relaxed);
    FAST.heap_bytes.store(heap.len_bytes, Relaxed);
    FAST.heap_to_first.store(to_first(heap), Relaxed);
    FAST.statics.store(statics.address, Relaxed);
    FAST.statics_bytes.store(statics.len_bytes, Relaxed);
    FAST.statics_to_first.store(to_first(statics), Relaxed);
    FAST.stride.store(stride, Relaxed);
    FAST.doorbell.store(first + DOORBELL_OFFSET_BYTES, Relaxed);
    FAST.pes.store(pes as usize, Ordering::Release);
}

/// From now on nothing is.
pub(crate) fn close() {
    FAST.pes.store(0, Ordering::Release);
}

/// Who this PE is; `None` when the library is no longer in use.
pub(crate) fn set_identity(identity: Option<(u32, u32)>) {
    let (pe, pes) = identity.map_or((-1, -1), |(pe, pes)| (pe as c_int, pes as c_int));
    MY_PE.store(pe, Relaxed);
    N_PES.store(pes, Relaxed);
}

#[inline(always)]
pub(crate) fn my_pe() -> c_int {
    let pe = MY_PE.load(Relaxed);
    if pe < 0 {
        fail::not_in_use("shmem_my_pe");
    }
    pe
}

#[inline(always)]
pub(crate) fn n_pes() -> c_int {
    let pes = N_PES.load(Relaxed);
    if pes < 0 {
        fail::not_in_use("shmem_n_pes");
    }
    pes
}

/// Whether every PE is in reach: then a fence is the CPU's.
#[inline(always)]
pub(crate) fn is_coherent() -> bool {
    FAST.pes.load(Relaxed) != 0
}

/// Memory of a PE, in reach.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) at: *mut u8,
    bell: *const AtomicU32,
}

/// Whether `len` bytes from byte `at` of a region are in it. Regions are whole pages, so
/// for a few bytes, whose number is known when this is compiled, it is one compare.
#[inline(always)]
fn fits(at: usize, len: usize, region_bytes: usize) -> bool {
    (len <= SHORT_BYTES || len <= region_bytes) && at <= region_bytes.wrapping_sub(len)
}

/// Where the `len` bytes at `address` here lie at `pe`, if they are in reach.
#[inline(always)]
pub(crate) fn at(address: *const u8, len: usize, pe: c_int) -> Option<Place> {
    let pe = pe as u32 as usize;
    if pe >= FAST.pes.load(Relaxed) {
        return None;
    }
    let in_heap = (address as usize).wrapping_sub(FAST.heap.load(Relaxed));
    let to_first = if fits(in_heap, len, FAST.heap_bytes.load(Relaxed)) {
        FAST.heap_to_first.load(Relaxed)
    } else {
        let in_statics = (address as usize).wrapping_sub(FAST.statics.load(Relaxed));
        if !fits(in_statics, len, FAST.statics_bytes.load(Relaxed)) {
            return None;
        }
        FAST.statics_to_first.load(Relaxed)
    };
    let distance = pe * FAST.stride.load(Relaxed);
    let bell = FAST.doorbell.load(Relaxed) + distance;
    let there = (address as usize)
        .wrapping_add(to_first)
        .wrapping_add(distance);
    Some(Place {
        at: core::ptr::with_exposed_provenance_mut(there),
        bell: core::ptr::with_exposed_provenance(bell),
    })
}

impl Place {
    /// What follows a store.
    #[inline(always)]
    pub(crate) fn stored(self, what: &'static str, pe: c_int) {
        // SAFETY: the doorbell of a segment that stays mapped, only ever an atomic.
        let bell = Doorbell::new(unsafe { &*self.bell });
        if !bell.is_at_rest() {
            remote::ring(what, pe);
        }
    }

    /// What follows a load.
    #[inline(always)]
    pub(crate) fn loaded(self, what: &'static str, pe: c_int) {
        // SAFETY: as in `stored`.
        let bell = Doorbell::new(unsafe { &*self.bell });
        if bell.says_dead() {
            remote::ring(what, pe);
        }
    }
}

/// A word of a PE, in reach, for atomics.
pub(crate) struct InReach<W: 'static> {
    pub(crate) at: &'static W,
    place: Place,
}

/// The 64-bit word at `address` here, at `pe`.
#[inline(always)]
pub(crate) fn word(address: *const u64, pe: c_int) -> Option<InReach<AtomicU64>> {
    let place = at(address.cast(), 8, pe)?;
    if !(address as usize).is_multiple_of(8) {
        return None;
    }
    // SAFETY: in reach, which stays mapped; aligned here and so there, the distance being
    // whole pages; what is shared is accessed by atomics and raw copies only.
    let at = unsafe { &*place.at.cast::<AtomicU64>() };
    Some(InReach { at, place })
}

/// The 32-bit word at `address` here, at `pe`.
#[inline(always)]
pub(crate) fn half(address: *const u32, pe: c_int) -> Option<InReach<AtomicU32>> {
    let place = at(address.cast(), 4, pe)?;
    if !(address as usize).is_multiple_of(4) {
        return None;
    }
    // SAFETY: as in `word`.
    let at = unsafe { &*place.at.cast::<AtomicU32>() };
    Some(InReach { at, place })
}

impl<W> InReach<W> {
    /// What follows `operation`.
    #[inline(always)]
    pub(crate) fn changed(self, operation: Operation, what: &'static str, pe: c_int) {
        if operation == Operation::Fetch {
            self.place.loaded(what, pe);
        } else {
            self.place.stored(what, pe);
        }
    }
}

impl InReach<AtomicU64> {
    /// Sets the signal, or adds to it, after everything stored before. The bell is rung
    /// by the data's.
    #[inline(always)]
    pub(crate) fn signal(&self, signal: u64, add: bool) {
        if add {
            self.at.fetch_add(signal, Ordering::SeqCst);
        } else {
            self.at.store(signal, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_has_its_bytes_and_no_others() {
        let region = Region {
            address: 0x10_0000,
            len_bytes: 0x1000,
            offset: 64,
        };
        assert_eq!(region.locate(0x10_0000, 0x1000), Some(64));
        assert_eq!(region.locate(0x10_0ff8, 8), Some(64 + 0xff8));
        assert_eq!(region.locate(0x10_1000, 0), Some(64 + 0x1000));
        for (address, len) in [
            (0x10_0ff9, 8),
            (0xf_ffff, 1),
            (0x10_0000, usize::MAX),
            (0, 1),
        ] {
            assert_eq!(region.locate(address, len), None, "{address:#x} {len}");
        }
    }

    #[test]
    fn one_compare_is_enough_for_a_few_bytes() {
        for (at, len, is_in) in [
            (0, 8, true),
            (0xff8, 8, true),
            (0xff9, 8, false),
            (usize::MAX, 8, false),
            (usize::MAX - 7, 8, false),
            (0, 0x1000, true),
            (1, 0x1000, false),
            (0, 0x1001, false),
            (0, usize::MAX, false),
        ] {
            assert_eq!(fits(at, len, 0x1000), is_in, "{at:#x} {len:#x}");
        }
    }
}
