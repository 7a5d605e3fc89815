//! Where rings lie: in mapped memory, or behind a wire that only takes packets.

use std::sync::Arc;

use super::line::{PlainLine, load, load_behind, store, store_payload};
use super::{EagerBytes, EagerOrder, LineLoad, LineStore, SendOrder, Slots};
use crate::error::{PeId, TransportError};
use crate::memory::Memory;
use crate::route::Route;
use crate::sync::{AtomicU64, Ordering};
use crate::visibility::Visibility;
use crate::window::Window;
use crate::wire::{Line, Part, Wire};

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

    /// That of a slot, or of the line with this number.
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
        /// The eager buffer, if there is one.
        eager: Option<EagerPlace>,
    },
}

/// The mapped form of an [`Outlet`].
#[derive(Debug)]
pub struct MappedOutlet {
    slots: MappedSlots,
    window: Window,
    order: SendOrder,
    /// In memory of its own, so that what short messages need stays together.
    eager: Option<Box<EagerPlace>>,
}

/// Where an eager buffer lies in a segment, and the word that says how far its sender is.
#[derive(Debug, Clone, Copy)]
pub struct EagerPlace {
    /// Where it begins: a multiple of 64.
    pub offset_bytes: usize,
    /// How large it is.
    pub bytes: EagerBytes,
    /// Bytes from its begin on in which nothing else lies, so that they are [given back](LineLoad::give_back_eager) with it.
    pub own_bytes: usize,
    /// Where the word lies.
    pub said_offset_bytes: usize,
}

impl EagerPlace {
    /// It. An error if it does not lie there.
    fn within(self, window: &Window) -> Result<Self, TransportError> {
        window.memory().line(self.offset_bytes)?;
        let bytes = self.bytes.bytes().max(self.own_bytes);
        window.memory().range(self.offset_bytes, bytes)?;
        window.word(self.said_offset_bytes)?;
        Ok(self)
    }
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
                    eager: None,
                },
            },
            Some(Route::Carried | Route::Read { .. } | Route::Offloaded) | None => Self::Posted {
                wire: Arc::clone(wire),
                pe,
                offset_bytes,
                order: SendOrder::default(),
                eager: None,
            },
        })
    }

    /// With an eager buffer, if the route takes one.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if it does not lie in the segment, as far as that is seen here.
    pub fn with_eager(mut self, place: Option<EagerPlace>) -> Result<Self, TransportError> {
        match (&mut self, place) {
            (_, None) => {}
            (Self::Mapped { lines }, Some(place)) => {
                let place = place.within(&lines.window)?;
                lines.eager = Some(Box::new(place));
            }
            // Modelled hardware has the protocol with which the published figures were computed.
            (Self::Posted { wire, .. }, _) if wire.is_in_virtual_time() => {}
            (Self::Posted { eager, .. }, place) => *eager = place,
        }
        Ok(self)
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
    fn plain(&self, line: u64) -> Option<&PlainLine> {
        match self {
            Self::Mapped { lines } if lines.window.visibility() == Visibility::Coherent => {
                Some(lines.slots.line(line as usize))
            }
            _ => None,
        }
    }

    #[inline(always)]
    fn receiver_looks(&self) -> bool {
        matches!(self, Self::Mapped { lines } if lines.window.is_awake())
    }

    #[inline(always)]
    fn eager(&self) -> Option<(EagerBytes, EagerOrder)> {
        match self {
            Self::Mapped { lines } => {
                let order = match lines.window.visibility() {
                    Visibility::Coherent => EagerOrder::Pieces,
                    Visibility::WriteCombining | Visibility::Flushed => EagerOrder::Whole,
                };
                let eager = lines.eager.as_ref();
                eager.map(|eager| (eager.bytes, order))
            }
            Self::Posted { eager, .. } => eager.map(|place| (place.bytes, EagerOrder::Whole)),
        }
    }

    fn store_behind<'a>(
        &self,
        parts: impl Iterator<Item = (usize, &'a [u8])>,
        (slot, header, payload): (usize, u64, &[u8]),
    ) -> Result<(), TransportError> {
        match self {
            Self::Mapped { lines } => {
                if let Some(place) = lines.eager.as_deref() {
                    for (at, bytes) in parts {
                        let at = place.offset_bytes + at;
                        lines.window.put_unannounced(at, bytes)?;
                    }
                }
                site!(
                    "eager: line behind bytes",
                    lines.window.visibility().store_fence()
                );
                self.store_line(slot, header, payload)
            }
            Self::Posted {
                wire,
                pe,
                offset_bytes,
                eager,
                ..
            } => {
                let begin = eager.map_or(0, |place| place.offset_bytes);
                let mut parts = parts.map(|(at, bytes)| Part {
                    offset_bytes: begin + at,
                    bytes,
                });
                let line = Line {
                    offset_bytes: offset_bytes + slot * 64,
                    header,
                    payload,
                };
                wire.store_behind(*pe, &mut parts, line)
            }
        }
    }

    #[inline(always)]
    fn store_eager(&self, at: usize, bytes: &[u8], is_staged: bool) {
        if let Self::Mapped { lines } = self
            && let Some(place) = lines.eager.as_deref()
        {
            // `within` has checked the place: nothing fails.
            let (at, memory) = (place.offset_bytes + at, lines.window.memory());
            let _ = match is_staged {
                true => memory.copy_in_staged(at, bytes),
                false => memory.copy_in(at, bytes),
            };
        }
    }

    #[inline(always)]
    fn say_eager(&self, word: u64) {
        if let Self::Mapped { lines } = self
            && let Some(eager) = &lines.eager
            && let Ok(said) = lines.window.word(eager.said_offset_bytes)
        {
            said.store(word, order!("eager: release", Ordering::Release));
        }
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

/// A line through a window that is not coherent. A write-combining buffer may leave before it
/// is full, and then in pieces in any order, so the header waits for its payload. A cache
/// writes lines back whole, so there release order is enough.
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
    eager: Option<Box<EagerInlet>>,
}

#[derive(Debug)]
struct EagerInlet {
    segment: Window,
    place: EagerPlace,
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
            eager: None,
        })
    }

    /// With an eager buffer in the same segment.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if it does not lie in the segment.
    pub fn with_eager(
        mut self,
        segment: &Window,
        place: Option<EagerPlace>,
    ) -> Result<Self, TransportError> {
        if let Some(place) = place {
            let segment = segment.clone();
            let place = place.within(&segment)?;
            self.eager = Some(Box::new(EagerInlet { segment, place }));
        }
        Ok(self)
    }
}

/// Bytes of memory that is not coherent.
#[cold]
#[inline(never)]
fn get_elsewhere(segment: &Window, at: usize, dst: &mut [u8]) -> Result<(), TransportError> {
    segment.get(at, dst)
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
    fn plain(&self, line: u64) -> Option<&PlainLine> {
        (self.visibility == Visibility::Coherent).then(|| self.slots.line(line as usize))
    }

    #[inline(always)]
    fn payload(&self, slot: usize, dst: &mut [u8]) {
        load(self.slots.line(slot), dst);
    }

    #[inline(always)]
    fn payload_behind(&self, slot: usize, dst: &mut [u8]) {
        load_behind(self.slots.line(slot), dst);
    }

    #[inline(always)]
    fn eager(&self) -> Option<EagerBytes> {
        self.eager.as_ref().map(|eager| eager.place.bytes)
    }

    #[inline(always)]
    fn eager_bytes(&self, at: usize, dst: &mut [u8], is_staged: bool) {
        if let Some(EagerInlet { segment, place }) = self.eager.as_deref() {
            // `within` has checked the place: nothing fails.
            let (at, memory) = (place.offset_bytes + at, segment.memory());
            let _ = match is_staged {
                _ if self.visibility != Visibility::Coherent => get_elsewhere(segment, at, dst),
                false => memory.copy_out(at, dst),
                true => memory.copy_out_staged(at, dst),
            };
        }
    }

    #[inline(always)]
    fn expect_eager(&self, at: usize, len: usize) {
        if let Some(EagerInlet { segment, place }) = self.eager.as_deref() {
            let begin = place.offset_bytes + at;
            for at in (begin..begin + len).step_by(64) {
                if let Ok(line) = segment.memory().line(at) {
                    prefetch(line);
                }
            }
        }
    }

    fn put_in_segment(&self, at: usize, bytes: &[u8]) -> Result<(), TransportError> {
        match self.eager.as_deref() {
            Some(EagerInlet { segment, .. }) => segment.put_unannounced(at, bytes),
            None => Ok(()),
        }
    }

    fn eager_to_segment(&self, at: usize, to: usize, len: usize) -> Result<(), TransportError> {
        match self.eager.as_deref() {
            Some(EagerInlet { segment, place }) => {
                segment.copy_from(to, segment, place.offset_bytes + at, len)
            }
            None => Ok(()),
        }
    }

    fn give_back_eager(&self) -> bool {
        let Some(EagerInlet { segment, place }) = self.eager.as_deref() else {
            return false;
        };
        let memory = segment.memory();
        memory.give_back(place.offset_bytes, place.own_bytes) == Ok(true)
    }

    #[inline(always)]
    fn eager_said(&self) -> u64 {
        let Some(EagerInlet { segment, place }) = self.eager.as_deref() else {
            return 0;
        };
        match segment.word(place.said_offset_bytes) {
            Ok(word) => word.load(order!("eager: acquire", Ordering::Acquire)),
            Err(_) => 0,
        }
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

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn prefetch(line: &[AtomicU64; 8]) {
    // SAFETY: a hint that faults on nothing and changes no value.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags, readonly))
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn prefetch_to_write(line: &[AtomicU64; 8]) {
    // SAFETY: a hint that faults on nothing and changes no value.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) line.as_ptr(), options(nostack, preserves_flags, readonly))
    }
}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
#[inline(always)]
fn prefetch(_line: &[AtomicU64; 8]) {}

#[cfg(any(not(any(target_arch = "x86_64", target_arch = "aarch64")), miri))]
#[inline(always)]
fn prefetch_to_write(_line: &[AtomicU64; 8]) {}
