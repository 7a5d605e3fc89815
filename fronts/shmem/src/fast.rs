//! The short way of puts, gets and atomics: what they have to know of the memory of peers, worked
//! out once.
//!
//! All of it is plain words in one place, read with ordinary loads. While the library is
//! not in use, while `SHMEM_DEBUG` wants to look at every access, and on wires that do
//! not map everybody's memory, the number of PEs here is 0: then nothing is in reach, and
//! every operation takes the long way ([`crate::remote`]), which finds out why.

use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::hint::cold_path;
use core::sync::atomic::{
    AtomicI32, AtomicU32, AtomicU64, Ordering, Ordering::Relaxed, compiler_fence,
};

use hostwire::attachment::Operation;
use hostwire_transport::wait::Doorbell;
use hostwire_transport::window::DOORBELL_OFFSET_BYTES;

use crate::copy;
use crate::element::Atomic;
use crate::fail;
use crate::handle::Ctx;
use crate::mapped::Mapped;
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

/// A region of symmetric objects, as short operations look at it.
#[repr(C)]
struct Part {
    /// Where this PE sees it. If there is no such region: an address far from all objects.
    address: usize,
    /// At how many of its bytes a short access may begin.
    starts: usize,
    /// What to add to an address here to have that of PE 0.
    to_first: usize,
    len_bytes: usize,
}

impl Part {
    /// No address is in it, whichever of its other fields an operation has read.
    const NONE: Self = Self {
        address: 1 << (usize::BITS - 1),
        starts: 0,
        to_first: 0,
        len_bytes: 0,
    };
}

/// What it takes to find a byte of a peer.
///
/// Programs that were compiled with `SHMEMX_INLINE` look at it themselves, as
/// `shmemx_reach_1`: what is here, and what it means, stays as it is for as long as that name
/// is exported (`qa/xtask/src/headers/inline.h` says the same in C). A library that wants to know
/// something else exports another name, and leaves [`pes`](Self::pes) of this one at 0.
///
/// All but `pes` is written once, when the library is first initialised, and before `pes`.
#[repr(C, align(64))]
struct Fast {
    version: u32,
    bytes: u32,
    /// PEs in reach: 0 while nothing is.
    pes: usize,
    /// The distance from one segment to the next.
    stride: usize,
    /// That of PE 0.
    doorbell: usize,
    heap: Part,
    statics: Part,
}

/// Its bytes, without the padding at the end.
const FAST_BYTES: usize = core::mem::offset_of!(Fast, statics) + size_of::<Part>();

const _: () = assert!(FAST_BYTES == 96);

struct FastCell(UnsafeCell<Fast>);

// SAFETY: written only by `open` and `close`, while the library starts or ends: the
// specification allows no other call into it at that time.
unsafe impl Sync for FastCell {}

static FAST: FastCell = FastCell(UnsafeCell::new(Fast {
    version: 1,
    bytes: FAST_BYTES as u32,
    pes: 0,
    stride: 0,
    doorbell: 0,
    heap: Part::NONE,
    statics: Part::NONE,
}));

core::arch::global_asm!(
    ".globl shmemx_reach_1",
    ".type shmemx_reach_1, %object",
    ".size shmemx_reach_1, {}",
    ".set shmemx_reach_1, {}",
    const FAST_BYTES,
    sym FAST,
);

/// One field: a plain load, which the compiler may make part of a compare or a sum.
macro_rules! fast {
    ($($field:ident).+) => {
        // SAFETY: nobody writes while an operation reads, because the specification allows no other
        // call while the library starts or ends; a number, so whatever it holds is valid.
        unsafe { (*FAST.0.get()).$($field).+ }
    };
}

/// Negative while the library is not in use.
static MY_PE: AtomicI32 = AtomicI32::new(-1);
static N_PES: AtomicI32 = AtomicI32::new(-1);

/// The most bytes that a short operation moves.
pub(crate) const SHORT_BYTES: usize = 64;

/// From now on everything is in reach: `pes` segments, the first one at `first`.
pub(crate) fn open(pes: u32, first: usize, stride: usize, heap: Region, statics: Region) {
    copy::detect();
    let part = |region: Region| Part {
        address: region.address,
        starts: (region.len_bytes + 1).saturating_sub(SHORT_BYTES),
        to_first: (first + region.offset).wrapping_sub(region.address),
        len_bytes: region.len_bytes,
    };
    // SAFETY: the library starts, so no other call of it runs, and nobody else has a reference.
    let fast = unsafe { &mut *FAST.0.get() };
    fast.stride = stride;
    fast.doorbell = first + DOORBELL_OFFSET_BYTES;
    fast.heap = part(heap);
    // A program may have none.
    if statics.len_bytes > 0 {
        fast.statics = part(statics);
    }
    compiler_fence(Ordering::SeqCst);
    fast.pes = pes as usize;
}

/// From now on nothing is.
pub(crate) fn close() {
    // SAFETY: the library ends, so no other call of it runs; one number is written.
    unsafe { (*FAST.0.get()).pes = 0 };
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

/// Whether every PE is in reach: then a fence is one instruction of the CPU.
#[inline(always)]
pub(crate) fn is_coherent() -> bool {
    fast!(pes) != 0
}

/// Memory of a PE, in reach.
#[derive(Clone, Copy)]
pub(crate) struct MappedPe {
    pub(crate) memory: Mapped,
    bell: *const AtomicU32,
}

impl MappedPe {
    #[inline(always)]
    fn new(address: *const u8, len: usize, to_first: usize, pe: usize) -> Self {
        let distance = pe * fast!(stride);
        let there = (address as usize)
            .wrapping_add(to_first)
            .wrapping_add(distance);
        let at = core::ptr::with_exposed_provenance_mut(there);
        // SAFETY: the callers have seen that the `len` bytes are in a region of symmetric objects,
        // which is at the same offset in the segment of each PE, and stays mapped.
        let memory = unsafe { Mapped::new(at, len) };
        Self {
            memory,
            bell: core::ptr::with_exposed_provenance(fast!(doorbell) + distance),
        }
    }
}

/// Where up to [`SHORT_BYTES`] bytes at `address` here lie at `pe`, if they are in reach. What is
/// as close as that to the end of a region is left to [`at`].
#[inline(always)]
pub(crate) fn short(address: *const u8, pe: c_int) -> Option<MappedPe> {
    let pe = pe as u32 as usize;
    if pe >= fast!(pes) {
        return None;
    }
    let to_first = if (address as usize).wrapping_sub(fast!(heap.address)) < fast!(heap.starts) {
        fast!(heap.to_first)
    } else if (address as usize).wrapping_sub(fast!(statics.address)) < fast!(statics.starts) {
        // Static objects are as fast as the heap: this only keeps the compiler from merging the two
        // cases.
        cold_path();
        fast!(statics.to_first)
    } else {
        return None;
    };
    Some(MappedPe::new(address, SHORT_BYTES, to_first, pe))
}

/// Where the `len` bytes at `address` here lie at `pe`, if they are in reach.
#[inline(always)]
pub(crate) fn at(address: *const u8, len: usize, pe: c_int) -> Option<MappedPe> {
    let pe = pe as u32 as usize;
    if pe >= fast!(pes) {
        return None;
    }
    macro_rules! is_in {
        ($part:ident) => {
            len <= fast!($part.len_bytes)
                && (address as usize).wrapping_sub(fast!($part.address))
                    <= fast!($part.len_bytes) - len
        };
    }
    let to_first = if is_in!(heap) {
        fast!(heap.to_first)
    } else if is_in!(statics) {
        cold_path();
        fast!(statics.to_first)
    } else {
        return None;
    };
    Some(MappedPe::new(address, len, to_first, pe))
}

impl MappedPe {
    /// Wakes the PE after a store, if it sleeps.
    #[inline(always)]
    pub(crate) fn stored(self, what: What, pe: c_int) {
        if !self.is_at_rest() {
            remote::ring_bell(what, pe);
        }
    }

    /// As [`stored`](Self::stored), after an atomic that gave back `old`.
    #[inline(always)]
    pub(crate) fn stored_for(self, old: u64, what: What, pe: c_int) -> u64 {
        if self.is_at_rest() {
            old
        } else {
            remote::ring_bell_for(old, what, pe)
        }
    }

    #[inline(always)]
    fn bell(&self) -> Doorbell<'static> {
        // SAFETY: the doorbell of a segment that stays mapped; only ever an atomic.
        Doorbell::new(unsafe { &*self.bell })
    }

    #[inline(always)]
    fn is_at_rest(self) -> bool {
        self.bell().is_at_rest()
    }

    /// Whether the PE may be dead. Then a load takes the long way, which finds out.
    #[inline(always)]
    pub(crate) fn may_be_dead(self) -> bool {
        self.bell().says_dead()
    }
}

/// The name of a routine, in one register.
pub(crate) type What = &'static &'static str;

/// A word of a PE, in reach, for atomics.
pub(crate) struct InReach<W: 'static> {
    pub(crate) at: &'static W,
    pub(crate) place: MappedPe,
}

/// The 64-bit word at `address` here, at `pe`.
#[inline(always)]
pub(crate) fn word(address: *const u64, pe: c_int) -> Option<InReach<AtomicU64>> {
    let place = short(address.cast(), pe)?;
    if !(address as usize).is_multiple_of(8) {
        return None;
    }
    // SAFETY: in reach, which stays mapped; aligned here and so there, because segments are whole
    // pages apart; shared memory is accessed by atomics and raw copies only.
    let at = unsafe { &*place.memory.at().cast::<AtomicU64>() };
    Some(InReach { at, place })
}

/// The 32-bit word at `address` here, at `pe`.
#[inline(always)]
pub(crate) fn half(address: *const u32, pe: c_int) -> Option<InReach<AtomicU32>> {
    let place = short(address.cast(), pe)?;
    if !(address as usize).is_multiple_of(4) {
        return None;
    }
    // SAFETY: in reach, which stays mapped; aligned here and so there, because segments are whole
    // pages apart; shared memory is accessed by atomics and raw copies only.
    let at = unsafe { &*place.memory.at().cast::<AtomicU32>() };
    Some(InReach { at, place })
}

impl InReach<AtomicU64> {
    /// Sets the signal, or adds to it, after everything stored before. It does not wake the PE: the
    /// caller does that once, for the data and the signal.
    #[inline(always)]
    pub(crate) fn signal(&self, signal: u64, add: bool) {
        if add {
            self.at.fetch_add(signal, Ordering::SeqCst);
        } else {
            self.at.store(signal, Ordering::Release);
        }
    }
}

/// An atomic on the object at `dest` here, at `pe`, if it is in reach. Gives the bits of the old
/// value.
#[inline(always)]
pub(crate) fn atomic<T: Atomic>(
    (what, operation): (What, Operation),
    ctx: Ctx,
    dest: *const T,
    operand: u64,
    compare: u64,
    pe: c_int,
) -> Option<u64> {
    if !ctx.is_of_world() {
        return None;
    }
    let is_load = operation == Operation::Fetch;
    let (old, place) = if size_of::<T>() == 8 {
        let word = word(dest.cast(), pe)?;
        (operation.apply_64(word.at, operand, compare), word.place)
    } else {
        let half = half(dest.cast(), pe)?;
        let old = operation.apply_32(half.at, operand as u32, compare as u32);
        (old.into(), half.place)
    };
    match is_load {
        // A value that was loaded from a dead PE is checked again.
        true => (!place.may_be_dead()).then_some(old),
        false => Some(place.stored_for(old, what, pe)),
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
}
