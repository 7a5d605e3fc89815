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
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::wait::Doorbell;

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
    /// `pes` segments of `segment_bytes` bytes in `memory`, one every `stride_bytes`. The
    /// first line of each is its doorbell.
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
        if segment_bytes > stride_bytes || pes == 0 {
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
    /// doorbell, the first word of each segment, after each store.
    pub fn segments(&self) -> (NonNull<u8>, usize) {
        (self.memory.base(), self.stride_bytes)
    }

    /// Wakes `pe` if it sleeps. Returns whether it lives.
    #[cold]
    #[inline(never)]
    pub fn ring(&self, pe: PeId) -> bool {
        match self.memory.half(pe as usize * self.stride_bytes) {
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
            if let Ok(word) = self.memory.half(pe as usize * self.stride_bytes) {
                Doorbell::new(word).mark_dead();
            }
        }
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
            doorbell: memory.base(),
            // SAFETY: `range` gives addresses inside a non-null allocation.
            object: unsafe { NonNull::new_unchecked(object) },
            len_bytes,
            stride_bytes: self.stride_bytes,
            pes: self.lost.len() as u32,
            reach: Some(Arc::clone(self)),
        })
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

    /// Where `len` bytes at `offset_bytes` of the object of `pe` lie, and its doorbell;
    /// `None` if there are none such. Both before the access itself: what follows an
    /// atomic waits for it.
    #[inline(always)]
    fn at(&self, pe: PeId, offset_bytes: usize, len: usize) -> Option<(*mut u8, Bell<'_>)> {
        let there = offset_bytes <= self.len_bytes && len <= self.len_bytes - offset_bytes;
        if !there || pe >= self.pes {
            return None;
        }
        // In bounds: `pe` is one of the PEs for which `Reach::new` checked a segment, and
        // `extent` that the object lies in it.
        let distance = pe as usize * self.stride_bytes;
        let at = self.object.as_ptr().wrapping_add(distance + offset_bytes);
        let doorbell = self.doorbell.as_ptr().wrapping_add(distance);
        // SAFETY: the first line of the segment of a PE of the job, which `Reach::new`
        // checked and which is only ever accessed as this atomic.
        let doorbell = Doorbell::new(unsafe { &*doorbell.cast::<AtomicU32>() });
        let reach = &self.reach;
        Some((
            at,
            Bell {
                doorbell,
                reach,
                pe,
            },
        ))
    }

    /// Copies `src` there. Returns false if it is not all within reach; what was stored
    /// in the memory of a PE that is lost is as lost. An aligned word of 4 or 8 bytes is
    /// stored in one piece.
    #[inline(always)]
    #[must_use]
    pub fn put(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> bool {
        let Some((at, bell)) = self.at(pe, offset_bytes, src.len()) else {
            return false;
        };
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
    pub fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> bool {
        let Some((at, bell)) = self.at(pe, offset_bytes, dst.len()) else {
            return false;
        };
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

    /// The 64-bit word at `offset_bytes`, if it is within reach and aligned. Whoever
    /// changes it rings the bell.
    #[inline(always)]
    pub fn word(&self, pe: PeId, offset_bytes: usize) -> Option<(&AtomicU64, Bell<'_>)> {
        let (at, bell) = self.at(pe, offset_bytes, 8)?;
        if !offset_bytes.is_multiple_of(8) {
            return None;
        }
        // SAFETY: as in `put`; alive while `self` is.
        Some((unsafe { &*at.cast::<AtomicU64>() }, bell))
    }

    /// The 32-bit word at `offset_bytes`; as [`word`](Self::word).
    #[inline(always)]
    pub fn half(&self, pe: PeId, offset_bytes: usize) -> Option<(&AtomicU32, Bell<'_>)> {
        let (at, bell) = self.at(pe, offset_bytes, 4)?;
        if !offset_bytes.is_multiple_of(4) {
            return None;
        }
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
        let memory = Memory::anonymous(pes as usize * 1024);
        let reach = Arc::new(Reach::new(memory, pes, 512, 1024).unwrap());
        reach.extent(128, 64).unwrap()
    }

    #[test]
    fn bytes_go_to_the_object_of_the_pe_and_nowhere_else() {
        let object = extent(3);
        assert!(object.put(1, 3, b"abc"));
        for pe in 0..3 {
            let mut got = [0; 3];
            assert!(object.get(pe, 3, &mut got));
            assert_eq!(&got == b"abc", pe == 1);
        }
    }

    #[test]
    fn what_is_not_in_the_object_is_out_of_reach() {
        let object = extent(2);
        let mut bytes = [0; 65];
        for (pe, offset, len) in [
            (2, 0, 1),
            (u32::MAX, 0, 1),
            (0, 0, 65),
            (1, 64, 1),
            (1, 65, 0),
            (0, usize::MAX, 1),
        ] {
            assert!(
                !object.put(pe, offset, &bytes[..len]),
                "{pe} {offset} {len}"
            );
            assert!(!object.get(pe, offset, &mut bytes[..len]));
        }
        assert!(object.put(1, 64, &[]));
        assert!(object.word(0, 4).is_none() && object.word(0, 56).is_some());
        assert!(object.word(0, 57).is_none() && object.half(0, 60).is_some());
    }

    #[test]
    fn a_lost_pe_is_out_of_reach() {
        let object = extent(2);
        let reach = object.reach.as_ref().unwrap();
        reach.cut(1);
        reach.cut(7);
        let mut byte = [0];
        assert!(!object.put(1, 0, b"x") && object.put(0, 0, b"x"));
        assert!(!object.get(1, 0, &mut byte) && object.get(0, 0, &mut byte));
        let notified = |pe| object.word(pe, 0).unwrap().1.notify();
        assert!(!notified(1) && notified(0));
    }

    #[test]
    fn a_mark_of_death_alone_is_not_believed_and_stays() {
        let object = extent(2);
        let reach = object.reach.as_ref().unwrap();
        let doorbell = Doorbell::new(reach.memory.half(1024).unwrap());
        doorbell.mark_dead();
        assert!(object.put(1, 0, b"x"));
        assert!(!doorbell.is_at_rest());
    }

    #[test]
    fn segments_have_to_fit_their_stride_and_the_memory() {
        let reach = |pes, segment, stride| {
            Reach::new(Memory::anonymous(2048), pes, segment, stride).map(|_| ())
        };
        assert_eq!(reach(2, 1024, 1024), Ok(()));
        assert!(reach(3, 1024, 1024).is_err());
        assert!(reach(2, 1024, 512).is_err());
        assert!(reach(2, 512, 1000).is_err());
        assert!(reach(0, 512, 1024).is_err());
        assert!(reach(u32::MAX, 512, usize::MAX / 2).is_err());
    }
}
