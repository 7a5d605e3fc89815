//! Where rings lie: in mapped memory, or behind a wire that only takes packets.

use std::sync::Arc;

use super::line::{PlainLine, load, load_behind, store, store_payload};
use super::{CreditLoad, CreditStore, LineLoad, LineStore, SendOrder, Slots};
use crate::error::{PeId, TransportError};
use crate::memory::Memory;
use crate::route::Route;
use crate::sync::{AtomicU64, Ordering};
use crate::visibility::Visibility;
use crate::window::Window;
use crate::wire::{Line, Wire};

/// The slots of a ring in mapped memory, checked once.
#[derive(Clone, Debug)]
struct MappedSlots {
    first: core::ptr::NonNull<[AtomicU64; 8]>,
    mask: usize,
    /// Keeps the slots mapped.
    _memory: Memory,
}

// SAFETY: as for `Memory`, which keeps the slots alive: all access is atomic, or raw
// stores to slots that this sender alone writes.
unsafe impl Send for MappedSlots {}

impl MappedSlots {
    fn new(memory: &Memory, offset_bytes: usize, slots: Slots) -> Result<Self, TransportError> {
        memory.line(offset_bytes)?; // checks the alignment
        let first = memory.range(offset_bytes, slots.count() as usize * 64)?;
        Ok(Self {
            // SAFETY: `range` gives addresses inside a non-null allocation.
            first: unsafe { core::ptr::NonNull::new_unchecked(first.cast()) },
            mask: slots.count() as usize - 1,
            _memory: memory.clone(),
        })
    }

    #[inline(always)]
    fn line(&self, slot: usize) -> &[AtomicU64; 8] {
        // SAFETY: `new` checked `mask + 1` lines from `first` on, and the mask keeps the
        // index inside.
        let line = unsafe { self.first.add(slot & self.mask) };
        // SAFETY: mapped while `_memory` lives, aligned to 64 bytes, and atomics are
        // valid for any bits.
        unsafe { line.as_ref() }
    }
}

/// A ring in a peer's memory, as its sender sees it.
pub enum Outlet {
    /// The peer's segment is mapped: lines are plain stores.
    Mapped {
        #[doc(hidden)]
        lines: MappedOutlet,
    },
    /// The wire takes whole lines.
    Posted {
        /// The wire.
        wire: Arc<dyn Wire>,
        /// The receiver.
        pe: PeId,
        /// Where its ring begins.
        offset_bytes: usize,
        /// How messages leave.
        order: SendOrder,
    },
}

/// The mapped form of an [`Outlet`].
#[derive(Debug)]
pub struct MappedOutlet {
    slots: MappedSlots,
    window: Window,
    order: SendOrder,
}

impl Outlet {
    /// The ring at `offset_bytes` in the segment of `pe`.
    pub fn new(
        wire: &Arc<dyn Wire>,
        pe: PeId,
        offset_bytes: usize,
        slots: Slots,
    ) -> Result<Self, TransportError> {
        Ok(match wire.route(pe) {
            Some(Route::Mapped(window)) => Self::Mapped {
                lines: MappedOutlet {
                    slots: MappedSlots::new(window.memory(), offset_bytes, slots)?,
                    window,
                    order: SendOrder::default(),
                },
            },
            Some(Route::Carried | Route::Read { .. } | Route::Offloaded) | None => Self::Posted {
                wire: Arc::clone(wire),
                pe,
                offset_bytes,
                order: SendOrder::default(),
            },
        })
    }

    /// How messages leave from now on.
    pub fn set_order(&mut self, new: SendOrder) {
        match self {
            Self::Mapped { lines } => lines.order = new,
            Self::Posted { order, .. } => *order = new,
        }
    }
}

impl LineStore for Outlet {
    #[inline(always)]
    fn begin_message(&self) -> Result<(), TransportError> {
        match self {
            Self::Mapped { lines } => {
                let visibility = lines.window.visibility();
                if visibility != Visibility::Coherent && lines.order == SendOrder::Strict {
                    site!("begin_message: fence", visibility.store_fence());
                }
                Ok(())
            }
            Self::Posted { wire, order, .. } => match order {
                SendOrder::Strict => wire.fence(),
                SendOrder::Weak => Ok(()),
            },
        }
    }

    #[inline(always)]
    fn store_line(&self, slot: usize, header: u64, payload: &[u8]) -> Result<(), TransportError> {
        match self {
            Self::Mapped { lines } => {
                let line = lines.slots.line(slot);
                let visibility = lines.window.visibility();
                if visibility == Visibility::Coherent {
                    store(line, header, payload);
                } else {
                    store_uncached(line, header, payload, visibility, lines.order);
                }
                Ok(())
            }
            Self::Posted {
                wire,
                pe,
                offset_bytes,
                ..
            } => wire.store_line(*pe, offset_bytes + slot * 64, header, payload),
        }
    }

    #[inline(always)]
    fn store_lines<'a>(
        &self,
        mut lines: impl Iterator<Item = (usize, u64, &'a [u8])>,
    ) -> Result<(), TransportError> {
        match self {
            Self::Mapped { .. } => {
                lines.try_for_each(|(slot, header, payload)| self.store_line(slot, header, payload))
            }
            Self::Posted {
                wire,
                pe,
                offset_bytes,
                ..
            } => wire.store_lines(
                *pe,
                &mut lines.map(|(slot, header, payload)| Line {
                    offset_bytes: offset_bytes + slot * 64,
                    header,
                    payload,
                }),
            ),
        }
    }

    #[inline(always)]
    fn expect(&self, slot: usize) {
        if let Self::Mapped { lines } = self {
            prefetch_to_write(lines.slots.line(slot));
        }
    }

    #[inline(always)]
    fn plain(&self, slot: usize) -> Option<&PlainLine> {
        match self {
            Self::Mapped { lines } if lines.window.visibility() == Visibility::Coherent => {
                Some(lines.slots.line(slot))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn receiver_looks(&self) -> bool {
        matches!(self, Self::Mapped { lines } if lines.window.is_awake())
    }

    #[inline(always)]
    fn message_stored(&self) -> Result<(), TransportError> {
        match self {
            Self::Mapped { lines } => {
                lines.window.notify();
                Ok(())
            }
            Self::Posted { wire, order, .. } => match order {
                SendOrder::Strict => wire.fence(),
                SendOrder::Weak => Ok(()),
            },
        }
    }
}

/// A line through a window that is not coherent. A write-combining buffer may leave before
/// it is full, and then in pieces of any order: the header waits for its payload. A cache
/// writes lines back whole, so that there release order is enough.
#[cold]
#[inline(never)]
fn store_uncached(
    line: &[AtomicU64; 8],
    header: u64,
    payload: &[u8],
    visibility: Visibility,
    order: SendOrder,
) {
    store_payload(line, payload);
    if visibility == Visibility::WriteCombining {
        site!("line: header behind payload", visibility.store_fence());
    }
    line[0].store(
        header,
        order!("line through a window: release", Ordering::Release),
    );
    site!(
        "line: flush",
        visibility.after_store(line.as_ptr().cast(), 64)
    );
    if order == SendOrder::Strict {
        site!("line: on its way", visibility.store_fence());
    }
}

/// A ring in the own segment, as its receiver sees it.
#[derive(Debug)]
pub struct Inlet {
    slots: MappedSlots,
    visibility: Visibility,
}

impl Inlet {
    /// The ring at `offset_bytes` in the own segment.
    pub fn new(
        segment: &Window,
        offset_bytes: usize,
        slots: Slots,
    ) -> Result<Self, TransportError> {
        Ok(Self {
            slots: MappedSlots::new(segment.memory(), offset_bytes, slots)?,
            visibility: segment.visibility(),
        })
    }
}

impl LineLoad for Inlet {
    #[inline(always)]
    fn header(&self, slot: usize) -> u64 {
        let line = self.slots.line(slot);
        if self.visibility != Visibility::Coherent {
            site!(
                "header: invalidate",
                self.visibility.before_load(line.as_ptr().cast(), 64)
            );
        }
        line[0].load(order!("header: acquire", Ordering::Acquire))
    }

    #[inline(always)]
    fn expect(&self, slot: usize) {
        prefetch(self.slots.line(slot));
    }

    #[inline(always)]
    fn plain(&self, slot: usize) -> Option<&PlainLine> {
        (self.visibility == Visibility::Coherent).then(|| self.slots.line(slot))
    }

    #[inline(always)]
    fn payload(&self, slot: usize, dst: &mut [u8]) {
        load(self.slots.line(slot), dst);
    }

    #[inline(always)]
    fn payload_behind(&self, slot: usize, dst: &mut [u8]) {
        load_behind(self.slots.line(slot), dst);
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch(line: &[AtomicU64; 8]) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: `prefetcht0` is part of SSE, which every x86-64 has; it is a hint that
    // faults on nothing and changes no value.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch_to_write(line: &[AtomicU64; 8]) {
    // `_mm_prefetch` with ET0 becomes prefetcht0 without the target feature.
    // SAFETY: a hint that faults on nothing and changes no value; processors that do not know
    // `prefetchw` do nothing.
    unsafe {
        core::arch::asm!("prefetchw [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags, readonly))
    }
}

#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
fn prefetch(_line: &[AtomicU64; 8]) {}

#[cfg(any(not(target_arch = "x86_64"), miri))]
#[inline(always)]
fn prefetch_to_write(_line: &[AtomicU64; 8]) {}

/// A word in a peer's segment that only this PE writes: a credit count.
pub enum WordOutlet {
    /// The peer's segment is mapped.
    Mapped {
        /// The peer's segment.
        window: Window,
        /// Where the word lies.
        offset_bytes: usize,
    },
    /// The wire takes whole words.
    Posted {
        /// The wire.
        wire: Arc<dyn Wire>,
        /// Whose segment.
        pe: PeId,
        /// Where the word lies.
        offset_bytes: usize,
    },
}

impl WordOutlet {
    /// The word at `offset_bytes` in the segment of `pe`.
    pub fn new(
        wire: &Arc<dyn Wire>,
        pe: PeId,
        offset_bytes: usize,
    ) -> Result<Self, TransportError> {
        Ok(match wire.route(pe) {
            Some(Route::Mapped(window)) => {
                window.word(offset_bytes)?;
                Self::Mapped {
                    window,
                    offset_bytes,
                }
            }
            Some(Route::Carried | Route::Read { .. } | Route::Offloaded) | None => Self::Posted {
                wire: Arc::clone(wire),
                pe,
                offset_bytes,
            },
        })
    }
}

impl CreditStore for WordOutlet {
    #[inline]
    fn store_credit(&self, word: u64) -> Result<(), TransportError> {
        match self {
            Self::Mapped {
                window,
                offset_bytes,
            } => window.put_word(*offset_bytes, word),
            Self::Posted {
                wire,
                pe,
                offset_bytes,
            } => wire.store_word(*pe, *offset_bytes, word),
        }
    }
}

/// A word in the own segment that a peer writes: a credit count.
#[derive(Debug)]
pub struct CreditInlet {
    segment: Window,
    offset_bytes: usize,
}

impl CreditInlet {
    /// The word at `offset_bytes` in the own segment.
    pub fn new(segment: &Window, offset_bytes: usize) -> Result<Self, TransportError> {
        segment.word(offset_bytes)?;
        Ok(Self {
            segment: segment.clone(),
            offset_bytes,
        })
    }
}

impl CreditLoad for CreditInlet {
    #[inline]
    fn load_credit(&self) -> u64 {
        // `new` has checked the offset, so the fallback is never taken.
        self.segment.load_word(self.offset_bytes).unwrap_or(0)
    }
}
