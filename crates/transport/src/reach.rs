//! All segments of a job side by side: the global address space of the papers, as a
//! process sees it.
//!
//! Where every segment is mapped and coherent, they are mapped at equal distances, so
//! that the address of a byte of any PE is a sum: no table lies between a put and its
//! store. (Measured: with two dependent loads in front of it an atomic takes 2.5 times
//! the bare instruction.)

use core::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::error::{PeId, TransportError};
use crate::memory::Memory;
use crate::pin;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::wait::Doorbell;
use crate::window::{DOORBELL_OFFSET_BYTES, FIRST_FREE_OFFSET_BYTES};

/// See the [module text](self).
#[derive(Debug)]
pub struct Reach {
    /// All segments.
    memory: Memory,
    /// From one segment to the next.
    stride_bytes: usize,
    segment_bytes: usize,
    lost: Box<[AtomicBool]>,
}

impl Reach {
    /// `pes` segments of `segment_bytes` bytes in `memory`, one every `stride_bytes`, each
    /// with its doorbell at [`DOORBELL_OFFSET_BYTES`].
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] or [`TransportError::Misaligned`] if they do not lie
    /// so.
    pub fn new(
        memory: Memory,
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
        if segment_bytes > stride_bytes || segment_bytes < FIRST_FREE_OFFSET_BYTES || pes == 0 {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: segment_bytes,
                segment_bytes: stride_bytes,
            });
        }
        Ok(Self {
            memory,
            stride_bytes,
            segment_bytes,
            lost: (0..pes).map(|_| AtomicBool::new(false)).collect(),
        })
    }

    /// The first byte of PE 0's segment, and how many bytes lie between it and that of the
    /// next PE. For those who work out addresses themselves; they also look at the
    /// doorbell, at [`DOORBELL_OFFSET_BYTES`] of each segment, after each store.
    pub fn segments(&self) -> (NonNull<u8>, usize) {
        (self.memory.base(), self.stride_bytes)
    }

    /// Wakes `pe` if it sleeps. Returns whether it lives.
    #[cold]
    #[inline(never)]
    pub fn ring(&self, pe: PeId) -> bool {
        let doorbell = pe as usize * self.stride_bytes + DOORBELL_OFFSET_BYTES;
        match self.memory.half(doorbell) {
            Ok(word) => self.look(pe, Doorbell::new(word)),
            Err(_) => false,
        }
    }

    /// From now on nothing of `pe` is within reach.
    ///
    /// The mark is set where every operation looks anyway: a PE whose doorbell is not at
    /// rest is looked at more closely.
    pub fn cut(&self, pe: PeId) {
        if let Some(lost) = self.lost.get(pe as usize) {
            lost.store(true, Ordering::Relaxed);
            if let Ok(word) = self.doorbell(pe) {
                Doorbell::new(word).mark_dead();
            }
        }
    }

    fn doorbell(&self, pe: PeId) -> Result<&AtomicU32, TransportError> {
        self.memory
            .half(pe as usize * self.stride_bytes + DOORBELL_OFFSET_BYTES)
    }

    /// The PE's doorbell is not at rest: it sleeps, and is woken, or it is lost. Returns
    /// whether it lives.
    fn look(&self, pe: PeId, doorbell: Doorbell<'_>) -> bool {
        let lost = self.lost.get(pe as usize);
        if lost.is_none_or(|lost| lost.load(Ordering::Relaxed)) {
            return false;
        }
        doorbell.notify();
        true
    }

    /// The object of `len_bytes` bytes at `offset_bytes` of every segment; the offset is
    /// a multiple of 64.
    pub fn extent(
        self: &Arc<Self>,
        offset_bytes: usize,
        len_bytes: usize,
    ) -> Result<Extent, TransportError> {
        let memory = &self.memory;
        let in_segment =
            offset_bytes <= self.segment_bytes && len_bytes <= self.segment_bytes - offset_bytes;
        if !in_segment {
            return Err(TransportError::OutOfRange {
                offset_bytes,
                len_bytes,
                segment_bytes: self.segment_bytes,
            });
        }
        if !offset_bytes.is_multiple_of(64) {
            return Err(TransportError::Misaligned {
                offset_bytes,
                align_bytes: 64,
            });
        }
        let object = memory.range(offset_bytes, len_bytes)?;
        Ok(Extent {
            // SAFETY: `new` checked that each segment has more bytes than that.
            doorbell: unsafe { memory.base().byte_add(DOORBELL_OFFSET_BYTES) },
            // SAFETY: `range` gives addresses inside a non-null allocation.
            object: unsafe { NonNull::new_unchecked(object) },
            len_bytes,
            stride_bytes: self.stride_bytes,
            pes: self.lost.len() as u32,
            reach: Some(Arc::clone(self)),
        })
    }
}

/// An element of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// Its number.
    pub index: usize,
    /// The size of each, not 0.
    pub size_bytes: usize,
}

impl Element {
    /// A byte of the object.
    #[inline(always)]
    pub fn byte(index: usize) -> Self {
        Self {
            index,
            size_bytes: 1,
        }
    }
}

/// One object of every PE, within reach. All addresses are sums of the fields, which
/// never change: a loop over puts needs to load them once.
#[derive(Debug)]
pub struct Extent {
    /// PE 0's doorbell.
    doorbell: NonNull<u8>,
    /// PE 0's object.
    object: NonNull<u8>,
    len_bytes: usize,
    stride_bytes: usize,
    pes: u32,
    /// Keeps all of it alive.
    reach: Option<Arc<Reach>>,
}

// SAFETY: the pointers go into what `reach` keeps alive, which is `Send + Sync`; what is
// behind them is atomic, or accessed by raw copies as `Memory` does.
unsafe impl Send for Extent {}
// SAFETY: as for `Send`.
unsafe impl Sync for Extent {}

impl Extent {
    /// An object of which nothing is within reach.
    pub fn none() -> Self {
        Self {
            doorbell: NonNull::dangling(),
            object: NonNull::dangling(),
            len_bytes: 0,
            stride_bytes: 0,
            pes: 0,
            reach: None,
        }
    }

    /// Where `len_bytes` bytes from element `index` of the object of `pe` on begin, or
    /// `None` if they are not within reach. In elements, since a product of a checked
    /// index cannot overflow.
    #[inline(always)]
    fn offset(&self, pe: PeId, element: Element, len_bytes: usize) -> Option<usize> {
        let Element { index, size_bytes } = element;
        let room = (self.len_bytes / size_bytes).checked_sub(index)?;
        let there = len_bytes <= room * size_bytes && pe < self.pes;
        there.then_some(index * size_bytes)
    }

    /// Where they lie, and the doorbell of that PE. Both before the access itself: what
    /// follows an atomic waits for it.
    ///
    /// # Safety
    /// They are within reach.
    #[inline(always)]
    unsafe fn at(&self, pe: PeId, offset_bytes: usize) -> (*mut u8, Bell<'_>) {
        let distance = pe as usize * self.stride_bytes;
        // SAFETY: in bounds: `pe` is one of the PEs for which `Reach::new` checked a
        // segment, and `extent` that the object lies in it.
        let at = unsafe { self.object.as_ptr().add(distance + offset_bytes) };
        // SAFETY: as above; `Reach::new` checked that each segment has a doorbell.
        let doorbell = unsafe { self.doorbell.as_ptr().add(distance) };
        // SAFETY: as above, and it is only ever accessed as this atomic.
        let doorbell = Doorbell::new(unsafe { &*doorbell.cast::<AtomicU32>() });
        let reach = &self.reach;
        let bell = Bell {
            doorbell,
            reach,
            pe,
        };
        (pin::address(at), bell)
    }

    /// Copies `src` there. Returns false if it is not all within reach; what was stored
    /// in the memory of a PE that is lost is as lost. An aligned word of 4 or 8 bytes is
    /// stored in one piece.
    #[inline(always)]
    #[must_use]
    pub fn put(&self, pe: PeId, element: Element, src: &[u8]) -> bool {
        let Some(offset_bytes) = self.offset(pe, element, src.len()) else {
            return false;
        };
        // SAFETY: within reach.
        let (at, bell) = unsafe { self.at(pe, offset_bytes) };
        if let Ok(word) = <[u8; 8]>::try_from(src)
            && offset_bytes.is_multiple_of(8)
        {
            // SAFETY: in reach; the object starts at a multiple of 64, so this is aligned;
            // shared only through atomics or raw copies.
            let place = unsafe { &*at.cast::<AtomicU64>() };
            place.store(u64::from_ne_bytes(word), Ordering::Relaxed);
        } else if let Ok(word) = <[u8; 4]>::try_from(src)
            && offset_bytes.is_multiple_of(4)
        {
            // SAFETY: as above.
            let place = unsafe { &*at.cast::<AtomicU32>() };
            place.store(u32::from_ne_bytes(word), Ordering::Relaxed);
        } else {
            // SAFETY: `src.len()` bytes in reach; `src` is a Rust slice, so it cannot
            // overlap memory to which no reference exists.
            unsafe { core::ptr::copy_nonoverlapping(src.as_ptr(), at, src.len()) }
        }
        bell.notify()
    }

    /// Copies bytes from there to `dst`; otherwise as [`put`](Self::put).
    #[inline(always)]
    #[must_use]
    pub fn get(&self, pe: PeId, element: Element, dst: &mut [u8]) -> bool {
        let Some(offset_bytes) = self.offset(pe, element, dst.len()) else {
            return false;
        };
        // SAFETY: within reach.
        let (at, bell) = unsafe { self.at(pe, offset_bytes) };
        if let Ok(dst) = <&mut [u8; 8]>::try_from(&mut *dst)
            && offset_bytes.is_multiple_of(8)
        {
            // SAFETY: as in `put`.
            let place = unsafe { &*at.cast::<AtomicU64>() };
            *dst = place.load(Ordering::Relaxed).to_ne_bytes();
        } else if let Ok(dst) = <&mut [u8; 4]>::try_from(&mut *dst)
            && offset_bytes.is_multiple_of(4)
        {
            // SAFETY: as in `put`.
            let place = unsafe { &*at.cast::<AtomicU32>() };
            *dst = place.load(Ordering::Relaxed).to_ne_bytes();
        } else {
            // SAFETY: as in `put`, the other way.
            unsafe { core::ptr::copy_nonoverlapping(at, dst.as_mut_ptr(), dst.len()) }
        }
        bell.notify()
    }

    /// The 64-bit word at `element`, if it is within reach and aligned. Whoever
    /// changes it rings the bell.
    #[inline(always)]
    pub fn word(&self, pe: PeId, element: Element) -> Option<(&AtomicU64, Bell<'_>)> {
        let offset_bytes = self.offset(pe, element, 8)?;
        if !offset_bytes.is_multiple_of(8) {
            return None;
        }
        // SAFETY: within reach.
        let (at, bell) = unsafe { self.at(pe, offset_bytes) };
        // SAFETY: as in `put`; alive while `self` is.
        Some((unsafe { &*at.cast::<AtomicU64>() }, bell))
    }

    /// The 32-bit word at `element`; as [`word`](Self::word).
    #[inline(always)]
    pub fn half(&self, pe: PeId, element: Element) -> Option<(&AtomicU32, Bell<'_>)> {
        let offset_bytes = self.offset(pe, element, 4)?;
        if !offset_bytes.is_multiple_of(4) {
            return None;
        }
        // SAFETY: within reach.
        let (at, bell) = unsafe { self.at(pe, offset_bytes) };
        // SAFETY: as in `put`; alive while `self` is.
        Some((unsafe { &*at.cast::<AtomicU32>() }, bell))
    }
}

/// How to tell a PE of a store to its memory.
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
        self.doorbell.is_at_rest() || look(self.reach, self.pe, self.doorbell)
    }
}

/// A function of three registers: handing a `Bell` over would put it on the stack, and
/// a store in front of an atomic makes that wait.
#[cold]
#[inline(never)]
fn look(reach: &Option<Arc<Reach>>, pe: PeId, doorbell: Doorbell<'_>) -> bool {
    reach.as_ref().is_some_and(|reach| reach.look(pe, doorbell))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(pes: u32) -> Extent {
        let memory = Memory::anonymous(pes as usize * 8192);
        let reach = Arc::new(Reach::new(memory, pes, 4352, 8192).unwrap());
        reach.extent(4160, 64).unwrap()
    }

    #[test]
    fn bytes_go_to_the_object_of_the_pe_and_nowhere_else() {
        let object = extent(3);
        assert!(object.put(1, Element::byte(3), b"abc"));
        for pe in 0..3 {
            let mut got = [0; 3];
            assert!(object.get(pe, Element::byte(3), &mut got));
            assert_eq!(&got == b"abc", pe == 1);
        }
    }

    #[test]
    fn what_is_not_in_the_object_is_out_of_reach() {
        let object = extent(2);
        let mut bytes = [0; 65];
        let words = |index| Element {
            index,
            size_bytes: 24,
        };
        assert!(object.put(1, words(1), &bytes[..24]));
        assert!(!object.put(1, words(1), &bytes[..25]) && !object.put(1, words(2), &bytes[..1]));
        assert!(!object.put(1, words(usize::MAX / 8), &bytes[..24]));
        for (pe, offset, len) in [
            (2, 0, 1),
            (u32::MAX, 0, 1),
            (0, 0, 65),
            (1, 64, 1),
            (1, 65, 0),
            (0, usize::MAX, 1),
        ] {
            assert!(
                !object.put(pe, Element::byte(offset), &bytes[..len]),
                "{pe} {offset} {len}"
            );
            assert!(!object.get(pe, Element::byte(offset), &mut bytes[..len]));
        }
        assert!(object.put(1, Element::byte(64), &[]));
        assert!(
            object.word(0, Element::byte(4)).is_none()
                && object.word(0, Element::byte(56)).is_some()
        );
        assert!(
            object.word(0, Element::byte(57)).is_none()
                && object.half(0, Element::byte(60)).is_some()
        );
    }

    #[test]
    fn a_lost_pe_is_out_of_reach() {
        let object = extent(2);
        let reach = object.reach.as_ref().unwrap();
        reach.cut(1);
        reach.cut(7);
        let mut byte = [0];
        assert!(!object.put(1, Element::byte(0), b"x") && object.put(0, Element::byte(0), b"x"));
        assert!(
            !object.get(1, Element::byte(0), &mut byte)
                && object.get(0, Element::byte(0), &mut byte)
        );
        let notified = |pe| object.word(pe, Element::byte(0)).unwrap().1.notify();
        assert!(!notified(1) && notified(0));
    }

    #[test]
    fn a_mark_of_death_alone_is_not_believed_and_stays() {
        let object = extent(2);
        let reach = object.reach.as_ref().unwrap();
        let doorbell = Doorbell::new(reach.doorbell(1).unwrap());
        doorbell.mark_dead();
        assert!(object.put(1, Element::byte(0), b"x"));
        assert!(!doorbell.is_at_rest());
    }

    #[test]
    fn segments_have_to_fit_their_stride_and_the_memory() {
        let reach = |pes, segment, stride| {
            Reach::new(Memory::anonymous(16384), pes, segment, stride).map(|_| ())
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
