//! Adjacent segments: the global address space of the papers, as a process sees it.
//!
//! Where segments are mapped and coherent, they are mapped at equal distances, so that the address of a
//! byte at any PE is a sum, and a put needs no table. (Measured: after two dependent loads an atomic takes
//! 2.5 times as long as the bare instruction.) In a job of one host these are all PEs. In a job of several
//! hosts these are the PEs of the own host with consecutive numbers.
//!
//! In a copy of the process ([`crate::fork_guard`]) nothing is within reach: the end of the range of PEs
//! lies in memory that is zero in a copy. So the compare that every access makes anyway refuses all PEs.

use core::marker::PhantomData;
use core::ops::Range;
use core::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::error::{PeId, TransportError};
use crate::fork_guard::ProcessWords;
use crate::membership::Membership;
use crate::memory::Memory;
use crate::opaque;
use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};
use crate::wait::Doorbell;
use crate::window::{DOORBELL_OFFSET_BYTES, FIRST_FREE_OFFSET_BYTES};

/// See the [module text](self).
#[derive(Debug)]
pub struct Reach {
    /// All segments.
    memory: Memory,
    /// The PE of the first one.
    first: PeId,
    /// From one segment to the next.
    stride_bytes: usize,
    segment_bytes: usize,
    lost: Box<[AtomicBool]>,
    membership: Option<Membership>,
    /// The number after that of the last PE: one word, 0 in a copy of the process.
    end: ProcessWords,
}

impl Reach {
    /// The segments of `pes` PEs from `first` on, of `segment_bytes` bytes each, in `memory`,
    /// one every `stride_bytes`, each with its doorbell at [`DOORBELL_OFFSET_BYTES`].
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] or [`TransportError::Misaligned`] if they do not lie there; as
    /// [`ProcessWords::new`].
    pub fn new(
        memory: Memory,
        first: PeId,
        pes: u32,
        segment_bytes: usize,
        stride_bytes: usize,
    ) -> Result<Self, TransportError> {
        let last = (pes as usize)
            .saturating_sub(1)
            .saturating_mul(stride_bytes);
        memory.range(last, segment_bytes)?;
        memory.line(0)?;
        memory.line(stride_bytes.min(last))?;
        let is_numbered = pes > 0 && first.checked_add(pes - 1).is_some();
        if segment_bytes > stride_bytes || segment_bytes < FIRST_FREE_OFFSET_BYTES || !is_numbered {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: segment_bytes,
                segment_bytes: stride_bytes,
            });
        }
        let here = ProcessWords::new(1)?;
        here[0].store(u64::from(first) + u64::from(pes), Ordering::Relaxed);
        Ok(Self {
            memory,
            first,
            stride_bytes,
            segment_bytes,
            end: here,
            lost: (0..pes).map(|_| AtomicBool::new(false)).collect(),
            membership: None,
        })
    }

    /// The same, with the membership of all PEs.
    pub fn with_roll(self, membership: Membership) -> Self {
        Self {
            membership: Some(membership),
            ..self
        }
    }

    /// The membership of all PEs, where they share memory for it.
    pub fn membership(&self) -> Option<&Membership> {
        self.membership.as_ref()
    }

    /// The PEs whose segments these are.
    pub fn pes(&self) -> Range<PeId> {
        // `new` has checked that the last one has a number.
        self.first..self.first + self.lost.len() as u32
    }

    /// The first byte of the first segment, and how many bytes lie between it and that of the
    /// next PE. For code that computes addresses itself. It must also check the doorbell, at
    /// [`DOORBELL_OFFSET_BYTES`] of each segment, after each store.
    pub fn segments(&self) -> (NonNull<u8>, usize) {
        (self.memory.base(), self.stride_bytes)
    }

    /// For a PE whose doorbell is not at rest: it sleeps and is woken, or it is lost. Returns whether it
    /// lives.
    #[cold]
    #[inline(never)]
    pub fn ring(&self, pe: PeId) -> bool {
        let lost = self.lost.get(self.index(pe));
        if lost.is_none_or(|lost| lost.load(Ordering::Relaxed)) {
            return false;
        }
        self.doorbell(pe)
            .map(|word| Doorbell::new(word).notify())
            .is_ok()
    }

    /// From now on nothing of `pe` is within reach.
    ///
    /// The mark is set in the doorbell, which every operation checks anyway.
    pub fn cut(&self, pe: PeId) {
        if let Some(lost) = self.lost.get(self.index(pe)) {
            lost.store(true, Ordering::Relaxed);
            if let Ok(word) = self.doorbell(pe) {
                Doorbell::new(word).mark_dead();
            }
        }
    }

    /// The index of the segment of `pe`. For a PE without one here, an index that is too large.
    fn index(&self, pe: PeId) -> usize {
        pe.wrapping_sub(self.first) as usize
    }

    fn doorbell(&self, pe: PeId) -> Result<&AtomicU32, TransportError> {
        let segment = self.index(pe).saturating_mul(self.stride_bytes);
        self.memory
            .half(segment.saturating_add(DOORBELL_OFFSET_BYTES))
    }

    /// The `len` elements at `offset_bytes` of every segment. The offset is a multiple of 64, or of
    /// the largest power of two in the size of an element if that is less.
    pub fn extent<T: Plain>(
        self: &Arc<Self>,
        offset_bytes: usize,
        len: usize,
    ) -> Result<Extent<T>, TransportError> {
        let memory = &self.memory;
        let len_bytes = len.saturating_mul(size_of::<T>());
        let in_segment =
            offset_bytes <= self.segment_bytes && len_bytes <= self.segment_bytes - offset_bytes;
        if !in_segment {
            return Err(TransportError::OutOfRange {
                offset_bytes,
                len_bytes,
                segment_bytes: self.segment_bytes,
            });
        }
        let align_bytes = alignment::<T>();
        if !offset_bytes.is_multiple_of(align_bytes) {
            return Err(TransportError::Misaligned {
                offset_bytes,
                align_bytes,
            });
        }
        let object = memory.range(offset_bytes, len_bytes)?;
        let doorbell = memory.range(DOORBELL_OFFSET_BYTES, size_of::<AtomicU32>())?;
        // So that an access only has to multiply the number of the PE. If this number is constant in a
        // loop, the compiler multiplies before the loop.
        let to_zero = (self.first as usize).wrapping_mul(self.stride_bytes);
        Ok(Extent {
            doorbell: doorbell.wrapping_sub(to_zero),
            object: object.wrapping_sub(to_zero),
            len,
            first: self.first,
            stride_bytes: self.stride_bytes,
            end: NonNull::from(&self.end[0]),
            reach: Some(Arc::clone(self)),
            elements: PhantomData,
        })
    }
}

/// The alignment of every element of an object, whatever the alignment of its type.
const fn alignment<T>() -> usize {
    match size_of::<T>() {
        0 => 1,
        size if size.trailing_zeros() < 6 => 1 << size.trailing_zeros(),
        _ => 64,
    }
}

/// Types that may lie in an object: any bytes are a value, and there is no padding.
pub trait Plain: FromBytes + IntoBytes + Immutable {}

impl<T: FromBytes + IntoBytes + Immutable> Plain for T {}

/// One object of every PE, an array of `T`, within reach. All addresses are sums of the
/// fields, which never change: a loop over puts needs to load them once.
#[derive(Debug)]
pub struct Extent<T> {
    /// Where the doorbell of PE 0 would be. It does not exist if PE 0 is not the first one.
    doorbell: *mut u8,
    /// Where the object of PE 0 would be.
    object: *mut u8,
    /// In elements.
    len: usize,
    /// The first PE.
    first: PeId,
    stride_bytes: usize,
    /// In `reach`: the number after that of the last PE, and 0 in a copy of the process.
    end: NonNull<AtomicU64>,
    /// Keeps all of it alive.
    reach: Option<Arc<Reach>>,
    elements: PhantomData<T>,
}

// SAFETY: the pointers go into what `reach` keeps alive, which is `Send + Sync`; what is
// behind them is atomic, or accessed by raw copies as `Memory` does. No `T` is in there.
unsafe impl<T> Send for Extent<T> {}
// SAFETY: through a shared one, too, what is behind the pointers is only accessed by atomics and raw
// copies.
unsafe impl<T> Sync for Extent<T> {}

/// The result of a put or a get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Access {
    /// It is done.
    Done,
    /// It is done, but the PE's doorbell is not at rest: it sleeps and has to be woken, or
    /// it is lost. [`Extent::ring`] wakes it, or returns that it is lost.
    Ring,
    /// Nothing is done: not all of it is within reach.
    OutOfReach,
}

/// The end of an empty range of PEs.
static NOBODY: AtomicU64 = AtomicU64::new(0);

impl<T: Plain> Extent<T> {
    /// An object of which nothing is within reach.
    pub fn none() -> Self {
        Self {
            doorbell: core::ptr::null_mut(),
            object: core::ptr::null_mut(),
            len: 0,
            first: 0,
            stride_bytes: 0,
            end: NonNull::from(&NOBODY),
            reach: None,
            elements: PhantomData,
        }
    }

    /// The object of `pe`. The addresses of object and doorbell are computed before any access, because
    /// instructions after an atomic wait for it. `None` in a copy of the process.
    #[inline(always)]
    fn of(&self, pe: PeId) -> Option<Remote<'_, T>> {
        // SAFETY: a word in `reach`, which `self` keeps alive, or a static one.
        let end = unsafe { self.end.as_ref() };
        if pe < self.first || u64::from(pe) >= end.load(Ordering::Relaxed) {
            return None;
        }
        // In bounds: `pe` is one of the PEs for which `Reach::new` checked a segment, and
        // `extent` that the object lies in it.
        let distance = pe as usize * self.stride_bytes;
        let object = self.object.wrapping_add(distance);
        let doorbell = self.doorbell.wrapping_add(distance);
        Some(Remote {
            object,
            len: self.len,
            doorbell: doorbell.cast(),
            extent: PhantomData,
        })
    }

    /// Copies `values` to elements `index ..` of `pe`. Stores to the memory of a lost PE are lost as well.
    /// An aligned word of 4 or 8 bytes is stored in one piece.
    #[inline(always)]
    pub fn put(&self, pe: PeId, index: usize, values: &[T]) -> Access {
        self.of(pe)
            .map_or(Access::OutOfReach, |remote| remote.store(index, values))
    }

    /// Copies elements `index ..` of `pe` to `values`; otherwise as [`put`](Self::put).
    #[inline(always)]
    pub fn get(&self, pe: PeId, index: usize, values: &mut [T]) -> Access {
        self.of(pe)
            .map_or(Access::OutOfReach, |remote| remote.load(index, values))
    }

    /// The 64-bit word that is element `index`, if it is within reach and aligned. The caller rings the
    /// bell after a change.
    #[inline(always)]
    pub fn word(&self, pe: PeId, index: usize) -> Option<(&AtomicU64, Bell<'_>)> {
        let remote = self.of(pe)?;
        let at = remote.at(index, 1)?;
        if size_of::<T>() < 8 || !is_aligned::<T, 8>(at) {
            return None;
        }
        // SAFETY: within reach; aligned; shared only through atomics or raw copies, and alive while
        // `self` is.
        Some((unsafe { &*at.cast::<AtomicU64>() }, self.bell(pe, remote)))
    }

    /// The 32-bit word that is element `index`; as [`word`](Self::word).
    #[inline(always)]
    pub fn half(&self, pe: PeId, index: usize) -> Option<(&AtomicU32, Bell<'_>)> {
        let remote = self.of(pe)?;
        let at = remote.at(index, 1)?;
        if size_of::<T>() < 4 || !is_aligned::<T, 4>(at) {
            return None;
        }
        // SAFETY: within reach; aligned to 4; shared only through atomics or raw copies, and alive
        // while `self` is.
        Some((unsafe { &*at.cast::<AtomicU32>() }, self.bell(pe, remote)))
    }

    #[inline(always)]
    fn bell<'a>(&'a self, pe: PeId, remote: Remote<'a, T>) -> Bell<'a> {
        Bell {
            doorbell: remote.doorbell(),
            reach: &self.reach,
            pe,
        }
    }

    /// As [`Reach::ring`].
    #[inline(always)]
    pub fn ring(&self, pe: PeId) -> bool {
        ring(&self.reach, pe)
    }
}

/// The object of one PE. Passed by value, so that a loop keeps it in registers.
struct Remote<'a, T> {
    object: *mut u8,
    /// In elements.
    len: usize,
    /// A pointer and not a reference: with a reference the compiler would compare it with null to detect
    /// `None`.
    doorbell: *const AtomicU32,
    extent: PhantomData<&'a Extent<T>>,
}

impl<T> Clone for Remote<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Remote<'_, T> {}

impl<'a, T: Plain> Remote<'a, T> {
    #[inline(always)]
    fn doorbell(self) -> Doorbell<'a> {
        // SAFETY: in the segment of a PE for which `Reach::new` has checked it, and alive while the extent
        // is; it is only ever accessed as this atomic.
        Doorbell::new(unsafe { &*self.doorbell })
    }

    /// Where `count` elements from `index` on begin; `None` if they are not within reach.
    #[inline(always)]
    fn at(self, index: usize, count: usize) -> Option<*mut u8> {
        let end = index.checked_add(count)?;
        if end > self.len {
            return None;
        }
        // SAFETY: in bounds: `Reach::extent` checked `len` elements.
        let at = unsafe { self.object.add(index * size_of::<T>()) };
        Some(opaque::address(at))
    }

    #[inline(always)]
    fn store(self, index: usize, values: &[T]) -> Access {
        let Some(at) = self.at(index, values.len()) else {
            return Access::OutOfReach;
        };
        let src = values.as_bytes();
        if let Ok(word) = <[u8; 8]>::try_from(src)
            && is_aligned::<T, 8>(at)
        {
            // SAFETY: in reach; aligned; shared only through atomics or raw copies.
            let place = unsafe { &*at.cast::<AtomicU64>() };
            place.store(u64::from_ne_bytes(word), Ordering::Relaxed);
        } else if let Ok(word) = <[u8; 4]>::try_from(src)
            && is_aligned::<T, 4>(at)
        {
            // SAFETY: 4 bytes in reach; aligned to 4; shared only through atomics or raw copies.
            let place = unsafe { &*at.cast::<AtomicU32>() };
            place.store(u32::from_ne_bytes(word), Ordering::Relaxed);
        } else {
            // SAFETY: `src.len()` bytes in reach; `src` is a Rust slice, so it cannot
            // overlap memory to which no reference exists.
            unsafe { core::ptr::copy_nonoverlapping(src.as_ptr(), at, src.len()) }
        }
        self.done()
    }

    #[inline(always)]
    fn load(self, index: usize, values: &mut [T]) -> Access {
        let Some(at) = self.at(index, values.len()) else {
            return Access::OutOfReach;
        };
        let dst = values.as_mut_bytes();
        if let Ok(dst) = <&mut [u8; 8]>::try_from(&mut *dst)
            && is_aligned::<T, 8>(at)
        {
            // SAFETY: 8 bytes in reach; aligned to 8; shared only through atomics or raw copies.
            let place = unsafe { &*at.cast::<AtomicU64>() };
            *dst = place.load(Ordering::Relaxed).to_ne_bytes();
        } else if let Ok(dst) = <&mut [u8; 4]>::try_from(&mut *dst)
            && is_aligned::<T, 4>(at)
        {
            // SAFETY: 4 bytes in reach; aligned to 4; shared only through atomics or raw copies.
            let place = unsafe { &*at.cast::<AtomicU32>() };
            *dst = place.load(Ordering::Relaxed).to_ne_bytes();
        } else {
            // SAFETY: `dst.len()` bytes in reach; `dst` is a Rust slice, so it cannot overlap memory
            // to which no reference exists.
            unsafe { core::ptr::copy_nonoverlapping(at, dst.as_mut_ptr(), dst.len()) }
        }
        // Later loads and stores come after the values.
        fence(Ordering::Acquire);
        self.done()
    }

    #[inline(always)]
    fn done(self) -> Access {
        if self.doorbell().is_at_rest() {
            Access::Done
        } else {
            Access::Ring
        }
    }
}

/// Whether element `at` of an object is aligned to `ALIGN` bytes. The compiler knows the answer if the
/// size of an element implies it, because an object begins at a multiple of [`alignment`].
#[inline(always)]
fn is_aligned<T, const ALIGN: usize>(at: *mut u8) -> bool {
    alignment::<T>().is_multiple_of(ALIGN) || at.addr().is_multiple_of(ALIGN)
}

/// Tells a PE of a store to its memory.
#[derive(Debug, Clone, Copy)]
pub struct Bell<'a> {
    doorbell: Doorbell<'a>,
    reach: &'a Option<Arc<Reach>>,
    pe: PeId,
}

impl Bell<'_> {
    /// Wakes the PE if it sleeps. Returns false if it is lost.
    #[inline(always)]
    pub fn notify(self) -> bool {
        self.doorbell.is_at_rest() || ring(self.reach, self.pe)
    }
}

/// Takes two registers: a `Bell` as argument would go to the stack, and an atomic waits for earlier
/// stores.
#[cold]
#[inline(never)]
fn ring(reach: &Option<Arc<Reach>>, pe: PeId) -> bool {
    reach.as_ref().is_some_and(|reach| reach.ring(pe))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::copies::{Copying, in_copy};

    fn object<T: Plain>(pes: u32, len: usize) -> Extent<T> {
        let memory = Memory::anonymous(pes as usize * 8192);
        let reach = Arc::new(Reach::new(memory, 0, pes, 4352, 8192).unwrap());
        reach.extent(4160, len).unwrap()
    }

    #[test]
    fn bytes_go_to_the_object_of_the_pe_and_nowhere_else() {
        let object = object::<u8>(3, 64);
        assert_eq!(object.put(1, 3, b"abc"), Access::Done);
        for pe in 0..3 {
            let mut got = [0; 3];
            assert_eq!(object.get(pe, 3, &mut got), Access::Done);
            assert_eq!(&got == b"abc", pe == 1);
        }
    }

    #[test]
    fn what_is_not_in_the_object_is_out_of_reach() {
        let bytes = object::<u8>(2, 64);
        let mut values = [0; 65];
        for (pe, index, count) in [
            (2, 0, 1),
            (u32::MAX, 0, 1),
            (0, 0, 65),
            (1, 64, 1),
            (1, 65, 0),
            (0, usize::MAX, 1),
            (0, usize::MAX, 0),
        ] {
            let values = &mut values[..count];
            let what = format!("{pe} {index} {count}");
            assert_eq!(bytes.put(pe, index, values), Access::OutOfReach, "{what}");
            assert_eq!(bytes.get(pe, index, values), Access::OutOfReach, "{what}");
        }
        assert_eq!(bytes.put(1, 64, &[]), Access::Done);
        let triples = object::<[u64; 3]>(2, 2);
        let triple = [[1; 3]];
        assert_eq!(triples.put(1, 1, &triple), Access::Done);
        assert_eq!(triples.put(1, 1, &[triple[0]; 2]), Access::OutOfReach);
        assert_eq!(triples.put(1, 2, &triple), Access::OutOfReach);
        assert_eq!(triples.put(1, usize::MAX / 8, &triple), Access::OutOfReach);
        let nothing = Extent::<u64>::none();
        assert_eq!(nothing.put(0, 0, &[]), Access::OutOfReach);
    }

    #[test]
    fn words_are_whole_and_aligned_elements() {
        assert!(object::<u64>(1, 8).word(0, 7).is_some());
        assert!(object::<u64>(1, 8).word(0, 8).is_none());
        assert!(object::<u32>(1, 16).half(0, 15).is_some());
        assert!(object::<u32>(1, 16).half(0, 16).is_none());
        assert!(object::<u32>(1, 16).word(0, 0).is_none());
        assert!(object::<u8>(1, 64).half(0, 0).is_none());
        let odd = object::<[u8; 9]>(1, 9);
        assert!(odd.word(0, 1).is_none() && odd.word(0, 8).is_some());
    }

    #[test]
    fn objects_begin_where_their_elements_are_aligned() {
        let memory = Memory::anonymous(8192);
        let reach = Arc::new(Reach::new(memory.clone(), 0, 1, 4352, 8192).unwrap());
        assert!(reach.extent::<u64>(4164, 1).is_err());
        assert!(reach.extent::<[u32; 3]>(4162, 1).is_err());
        assert!(reach.extent::<[u64; 16]>(4168, 1).is_err());
        let bytes = reach.extent::<u8>(4163, 100).unwrap();
        for index in 0..8 {
            assert_eq!(bytes.put(0, index, &[index as u8 + 1; 8]), Access::Done);
            let mut got = [0; 8];
            memory.copy_out(4163 + index, &mut got).unwrap();
            assert_eq!(got, [index as u8 + 1; 8]);
            assert_eq!(bytes.get(0, index, &mut got[..4]), Access::Done);
        }
        let halves = reach.extent::<u32>(4164, 4).unwrap();
        assert_eq!(halves.put(0, 0, &[1, 2]), Access::Done);
        assert_eq!(halves.put(0, 1, &[3, 4]), Access::Done);
        let mut got = [0; 3];
        assert_eq!(halves.get(0, 0, &mut got), Access::Done);
        assert_eq!(got, [1, 3, 4]);
    }

    #[test]
    fn nothing_is_within_reach_of_a_copy_of_the_process() {
        let object = object::<u64>(2, 8);
        assert!(object.word(1, 0).is_some());
        for &how in Copying::kinds() {
            let status = in_copy(how, || {
                let refused = [object.put(1, 0, &[1]), object.get(0, 0, &mut [0])];
                let refused = refused.iter().all(|access| *access == Access::OutOfReach);
                let none = object.of(0).is_none() && object.word(0, 0).is_none();
                i32::from(!(refused && none))
            });
            assert_eq!(status, Ok(0), "{how:?}");
        }
    }

    #[test]
    fn a_lost_pe_does_not_answer_the_bell() {
        let object = object::<u8>(2, 64);
        let reach = object.reach.as_ref().unwrap();
        reach.cut(1);
        reach.cut(7);
        assert_eq!(object.put(1, 0, b"x"), Access::Ring);
        assert_eq!(object.get(1, 0, &mut [0]), Access::Ring);
        assert_eq!(object.put(0, 0, b"x"), Access::Done);
        assert!(!object.ring(1) && object.ring(0));
        let words = reach.extent::<u64>(4160, 8).unwrap();
        let notified = |pe| words.word(pe, 0).unwrap().1.notify();
        assert!(!notified(1) && notified(0));
    }

    #[test]
    fn a_mark_of_death_alone_is_not_believed_and_stays() {
        let object = object::<u8>(2, 64);
        let reach = object.reach.as_ref().unwrap();
        let doorbell = Doorbell::new(reach.doorbell(1).unwrap());
        doorbell.mark_dead();
        assert_eq!(object.put(1, 0, b"x"), Access::Ring);
        assert!(object.ring(1));
        assert!(!doorbell.is_at_rest());
    }

    #[test]
    fn pes_may_be_numbered_from_any_number_on() {
        let memory = Memory::anonymous(2 * 8192);
        let reach = Arc::new(Reach::new(memory.clone(), 5, 2, 4352, 8192).unwrap());
        assert_eq!(reach.pes(), 5..7);
        let object = reach.extent::<u8>(4160, 64).unwrap();
        for nobody in [0, 4, 7, u32::MAX] {
            assert_eq!(object.put(nobody, 0, b"x"), Access::OutOfReach);
            reach.cut(nobody);
            assert!(!reach.ring(nobody));
        }
        assert_eq!(object.put(6, 0, b"x"), Access::Done);
        let mut byte = [0];
        memory.copy_out(8192 + 4160, &mut byte).unwrap();
        assert_eq!(&byte, b"x");
        reach.cut(6);
        assert!(reach.ring(5) && !reach.ring(6));
        assert!(Reach::new(memory, u32::MAX, 2, 4352, 8192).is_err());
    }

    #[test]
    fn segments_have_to_fit_their_stride_and_the_memory() {
        let reach = |pes, segment, stride| {
            Reach::new(Memory::anonymous(16384), 0, pes, segment, stride).map(|_| ())
        };
        assert_eq!(reach(2, 8192, 8192), Ok(()));
        assert!(reach(3, 8192, 8192).is_err());
        assert!(reach(2, 8192, 4096).is_err());
        assert!(reach(2, 4096, 5000).is_err());
        assert!(reach(2, 4032, 8192).is_err());
        assert!(reach(0, 4096, 8192).is_err());
        assert!(reach(u32::MAX, 4096, usize::MAX / 2).is_err());
    }
}
