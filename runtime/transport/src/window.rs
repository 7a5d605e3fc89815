//! A mapped aperture onto the segment of a PE.

use std::sync::Arc;

use crate::arrival;
use crate::error::TransportError;
use crate::line::PAYLOAD_BYTES;
use crate::memory::Memory;
use crate::sync::{AtomicU32, AtomicU64, Ordering};
use crate::values::Values;
use crate::visibility::Visibility;
use crate::wait::Doorbell;

/// Where the doorbell of a PE lies in its segment. The first page is the transport's; the
/// runtime lays out what follows.
///
/// It is the last word of the page, because objects begin at the front of pages. A load after a store to
/// an address with the same low 12 bits waits for that store (measured on Cascade Lake: 5 ns, as long as
/// the atomic before it takes).
pub const DOORBELL_OFFSET_BYTES: usize = FIRST_FREE_OFFSET_BYTES - 4;
/// The part of a line that is stored last.
const HEADER_BYTES: usize = 8;
/// First byte of a segment that the runtime may use.
pub const FIRST_FREE_OFFSET_BYTES: usize = 4096;

/// How the owner of a segment is told of a store through a window.
#[derive(Debug, Clone)]
pub enum Bell {
    /// The doorbell of the segment is a futex of this host. It is checked after each store, and rung if
    /// the owner sleeps.
    Futex,
    /// Not at all: the owner polls by itself, at growing intervals ([`crate::wait::UNRUNG_SLEEP_MAX`]). A
    /// doorbell would need a load through a window that does not allow loads, or would have two writers on
    /// memory that is not coherent.
    None,
    /// The owner is on another kernel. The doorbell of the segment is checked after each store and a
    /// fence. If the owner sleeps, something else rings.
    Call(Arc<dyn Ring>),
}

/// What wakes a PE on another kernel.
pub trait Ring: core::fmt::Debug + Send + Sync {
    /// Wakes it. The store that it is woken for is visible by then.
    fn ring(&self);
}

/// The segment of a PE, mapped into this process: stores go straight to its memory.
///
/// The own segment is a window too. Every store of data is followed by
/// [`notify`](Self::notify), so that a PE that sleeps on any word of its segment wakes up. With a futex as
/// [`Bell`] this costs one load of a line that nobody writes while the PE is awake.
#[derive(Clone, Debug)]
pub struct Window {
    memory: Memory,
    visibility: Visibility,
    bell: Bell,
    is_own: bool,
}

impl Window {
    /// A window onto `memory`, a whole segment of another PE.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] if the segment cannot hold a doorbell.
    pub fn new(memory: Memory, visibility: Visibility) -> Result<Self, TransportError> {
        memory.half(DOORBELL_OFFSET_BYTES)?;
        Ok(Self {
            memory,
            visibility,
            bell: match visibility {
                Visibility::Coherent => Bell::Futex,
                Visibility::WriteCombining | Visibility::Flushed => Bell::None,
            },
            is_own: false,
        })
    }

    /// The window of the owner onto its segment, which others reach with this contract. Write combining
    /// only concerns peers that store through a bus: to the owner this is ordinary memory.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn own(memory: Memory, others: Visibility) -> Result<Self, TransportError> {
        let own = match others {
            Visibility::Coherent | Visibility::WriteCombining => Visibility::Coherent,
            Visibility::Flushed => Visibility::Flushed,
        };
        Ok(Self {
            bell: Bell::Futex,
            is_own: true,
            ..Self::new(memory, own)?
        })
    }

    /// The window of the owner onto memory of any alignment that it registers. It has no doorbell: code
    /// that stores there for a peer rings that of the segment.
    pub fn registered(memory: Memory) -> Self {
        Self {
            memory,
            visibility: Visibility::Coherent,
            bell: Bell::None,
            is_own: true,
        }
    }

    /// A window onto memory that belongs to no PE, so stores ring no doorbell.
    pub fn silent(memory: Memory, visibility: Visibility) -> Self {
        Self {
            memory,
            visibility,
            bell: Bell::None,
            is_own: false,
        }
    }

    /// How the owner is told of a store.
    #[inline(always)]
    pub fn bell(&self) -> &Bell {
        &self.bell
    }

    /// The same window with another way to wake its owner.
    #[must_use]
    pub fn with_bell(self, bell: Bell) -> Self {
        Self { bell, ..self }
    }

    /// Whether the window may be loaded from: a get is a copy.
    #[inline(always)]
    pub fn allows_loads(&self) -> bool {
        self.visibility != Visibility::WriteCombining
    }

    /// Whether CPU atomics work through the window, and are atomic with respect to each other and to those
    /// of the owner.
    #[inline(always)]
    pub fn allows_atomics(&self) -> bool {
        self.visibility == Visibility::Coherent || self.is_own
    }

    /// The bytes behind the window.
    #[inline(always)]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The contract of the window.
    #[inline(always)]
    pub fn visibility(&self) -> Visibility {
        self.visibility
    }

    /// Copies `src` to `offset_bytes`. Posted: see [`crate::Wire::store`].
    #[inline(always)]
    pub fn put(&self, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.put_unannounced(offset_bytes, src)?;
        self.notify();
        Ok(())
    }

    /// As [`put`](Self::put), but does not ring: one [`notify`](Self::notify) has to follow, for any
    /// number of puts.
    #[inline(always)]
    pub fn put_unannounced(&self, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        site!(
            "put: drop stale lines",
            self.about_to_store(offset_bytes, src.len())
        );
        self.memory.copy_in(offset_bytes, src)?;
        site!("put: flush", self.flush(offset_bytes, src.len()));
        Ok(())
    }

    /// Stores whole lines, one by one, where it is enough to store them in order. Returns false and stores
    /// nothing where more is needed, or where the lines are out of range.
    pub fn put_lines_unannounced(&self, offset_bytes: usize, lines: &[[u8; 64]]) -> bool {
        #[cfg(not(any(loom, memory_model)))]
        return self.visibility == Visibility::Coherent
            && self.memory.copy_in_lines(offset_bytes, lines);
        // Modelled memory sees each store.
        #[cfg(any(loom, memory_model))]
        {
            let _ = (offset_bytes, lines);
            false
        }
    }

    /// Copies bytes at `offset_bytes` to `dst`. Complete when it returns: later loads and stores come after it.
    #[inline(always)]
    pub fn get(&self, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        site!(
            "get: invalidate",
            self.about_to_read(offset_bytes, dst.len())
        );
        self.memory.copy_out(offset_bytes, dst)?;
        self.visibility.after_load();
        Ok(())
    }

    /// As [`put_unannounced`](Self::put_unannounced), for bytes that the owner takes out soon, by
    /// [`get_staged`](Self::get_staged) on another core.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn put_staged(&self, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        match self.visibility {
            Visibility::Coherent => self.memory.copy_in_staged(offset_bytes, src),
            Visibility::WriteCombining | Visibility::Flushed => {
                self.put_unannounced(offset_bytes, src)
            }
        }
    }

    /// As [`get`](Self::get), for bytes that [`put_staged`](Self::put_staged) has stored.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_staged(&self, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        match self.visibility {
            Visibility::Coherent => self.memory.copy_out_staged(offset_bytes, dst),
            Visibility::WriteCombining | Visibility::Flushed => self.get(offset_bytes, dst),
        }
    }

    /// Stores one word after everything stored before it.
    #[inline(always)]
    pub fn put_word(&self, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.put_word_unannounced(offset_bytes, value)?;
        self.notify();
        Ok(())
    }

    /// [`put_word`](Self::put_word) as [`put_unannounced`](Self::put_unannounced).
    #[inline(always)]
    pub fn put_word_unannounced(
        &self,
        offset_bytes: usize,
        value: u64,
    ) -> Result<(), TransportError> {
        let word = self.memory.word(offset_bytes)?;
        if self.visibility == Visibility::Coherent {
            word.store(value, order!("put_word: release", Ordering::Release));
        } else {
            put_word_uncached(word, value, self.visibility);
        }
        Ok(())
    }

    /// Stores one 64-byte line: up to 56 bytes of payload first, then the header word in front of them.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`] with more bytes, or where there is no line;
    /// [`TransportError::Misaligned`].
    pub fn put_line(
        &self,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.memory.line(offset_bytes)?;
        if payload.len() > PAYLOAD_BYTES {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: payload.len(),
                segment_bytes: PAYLOAD_BYTES,
            });
        }
        self.put_unannounced(offset_bytes + HEADER_BYTES, payload)?;
        self.put_word(offset_bytes, header)
    }

    /// Stores one 64-byte line: a second word and up to 48 bytes of payload first, then the header word in
    /// front of them.
    ///
    /// # Errors
    /// As [`put_line`](Self::put_line).
    #[inline(always)]
    pub fn put_two_words(
        &self,
        offset_bytes: usize,
        words: [u64; 2],
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let line = self.memory.line(offset_bytes)?;
        if self.visibility != Visibility::Coherent || payload.len() > PAYLOAD_BYTES - 8 {
            return self.put_in_one(offset_bytes, words, payload);
        }
        line[1].store(words[1], Ordering::Relaxed);
        self.memory.copy_in(offset_bytes + 16, payload)?;
        line[0].store(
            words[0],
            order!("put_two_words: release", Ordering::Release),
        );
        self.notify();
        Ok(())
    }

    /// As [`put_line`](Self::put_line), the second word being a part of its payload.
    #[cold]
    #[inline(never)]
    fn put_in_one(
        &self,
        offset_bytes: usize,
        words: [u64; 2],
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let bytes = [&words[1].to_ne_bytes(), payload].concat();
        self.put_line(offset_bytes, words[0], &bytes)
    }

    /// Copies `len` bytes at `at_bytes` of `from` to `offset_bytes`. Does not ring. The two may overlap.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`].
    #[inline(always)]
    pub fn copy_from(
        &self,
        offset_bytes: usize,
        from: &Window,
        at_bytes: usize,
        len: usize,
    ) -> Result<(), TransportError> {
        if self.visibility != Visibility::Flushed && from.visibility != Visibility::Flushed {
            let memory = &self.memory;
            return memory.copy_from(offset_bytes, &from.memory, at_bytes, len);
        }
        let mut bytes = vec![0; len];
        from.get(at_bytes, &mut bytes)?;
        self.put_unannounced(offset_bytes, &bytes)
    }

    /// Whether elements can be combined where they are: see [`values`](Self::values).
    #[inline(always)]
    pub fn has_values_in_place(&self) -> bool {
        cfg!(not(memory_model)) && self.visibility == Visibility::Coherent
    }

    /// The elements in `len` bytes at `offset_bytes`: in place if plain loads may read them there, or else
    /// copied to `room`.
    ///
    /// # Errors
    /// [`TransportError::OutOfRange`], also if the room is needed and too small.
    #[inline(always)]
    pub fn values<'a>(
        &'a self,
        offset_bytes: usize,
        len: usize,
        room: &'a mut [u8],
    ) -> Result<Values<'a>, TransportError> {
        #[cfg(not(memory_model))]
        if self.visibility == Visibility::Coherent {
            let at = self.memory.range(offset_bytes, len)?;
            // SAFETY: in range, and mapped for as long as `self`; nobody has a reference to
            // plain data in a `Memory`.
            return Ok(unsafe { Values::shared(at, len) });
        }
        let room_bytes = room.len();
        let room = room.get_mut(..len).ok_or(TransportError::OutOfRange {
            offset_bytes: 0,
            len_bytes: len,
            segment_bytes: room_bytes,
        })?;
        self.get(offset_bytes, room)?;
        Ok(Values::private(room))
    }

    /// Loads one word, before everything loaded after it.
    #[inline(always)]
    pub fn load_word(&self, offset_bytes: usize) -> Result<u64, TransportError> {
        site!("load_word: invalidate", self.about_to_read(offset_bytes, 8));
        let word = self.memory.word(offset_bytes)?;
        Ok(word.load(order!("load_word: acquire", Ordering::Acquire)))
    }

    /// The 64-bit word at `offset_bytes`, for atomics by the CPU. Call
    /// [`notify`](Self::notify) after changing it.
    #[inline(always)]
    pub fn word(&self, offset_bytes: usize) -> Result<&AtomicU64, TransportError> {
        self.memory.word(offset_bytes)
    }

    /// The 32-bit word at `offset_bytes`; as [`word`](Self::word).
    #[inline(always)]
    pub fn half(&self, offset_bytes: usize) -> Result<&AtomicU32, TransportError> {
        self.memory.half(offset_bytes)
    }

    /// Does atomics on `len_bytes` bytes at `offset_bytes`: they see the last puts, and gets through other
    /// windows see the change.
    #[inline(always)]
    pub fn change<R>(
        &self,
        offset_bytes: usize,
        len_bytes: usize,
        atomics: impl FnOnce() -> R,
    ) -> R {
        site!(
            "change: invalidate",
            self.about_to_read(offset_bytes, len_bytes)
        );
        let old = atomics();
        site!("change: flush", self.flush(offset_bytes, len_bytes));
        old
    }

    /// Polls the word up to `polls` times, as long as it is `from`, and says whether it has
    /// changed: the beginning of a wait. See [`arrival`]. Returns false at once where a poll needs more
    /// than a load.
    ///
    /// # Errors
    /// As [`load_word`](Self::load_word).
    #[inline(always)]
    pub fn await_change(
        &self,
        offset_bytes: usize,
        from: u64,
        polls: u32,
    ) -> Result<bool, TransportError> {
        match self.visibility {
            Visibility::Coherent => Ok(arrival::word_changes(
                self.memory.word(offset_bytes)?,
                from,
                polls,
            )),
            Visibility::WriteCombining | Visibility::Flushed => Ok(false),
        }
    }

    /// Wakes the PE behind the window if it sleeps and can be woken from here.
    #[inline(always)]
    pub fn notify(&self) {
        match &self.bell {
            Bell::Futex => self.doorbell().notify(),
            Bell::None => {}
            Bell::Call(ring) => call(self.doorbell(), &**ring),
        }
    }

    /// Whether the PE behind the window is known to be awake.
    #[inline(always)]
    pub fn is_awake(&self) -> bool {
        matches!(self.bell, Bell::Futex) && self.doorbell().is_at_rest()
    }

    /// The doorbell of the own segment: for its owner, who sleeps on it.
    #[inline(always)]
    pub fn doorbell(&self) -> Doorbell<'_> {
        // SAFETY: `new` checked that the word exists and is aligned.
        let word = unsafe { self.memory.base().byte_add(DOORBELL_OFFSET_BYTES) };
        // SAFETY: mapped for as long as `self` lives, and aligned, as `new` checked; the doorbell is
        // only ever accessed as this atomic.
        let word = unsafe { word.cast::<AtomicU32>().as_ref() };
        Doorbell::new(word)
    }

    /// Must follow stores made through [`memory`](Self::memory).
    #[inline(always)]
    pub fn stored(&self, offset_bytes: usize, len_bytes: usize) {
        site!("stored: flush", self.flush(offset_bytes, len_bytes));
        self.notify();
    }

    #[inline(always)]
    fn flush(&self, offset_bytes: usize, len_bytes: usize) {
        if self.visibility == Visibility::Flushed
            && let Ok(at) = self.memory.range(offset_bytes, len_bytes)
        {
            self.visibility.after_store(at, len_bytes);
        }
    }

    #[inline(always)]
    fn about_to_store(&self, offset_bytes: usize, len_bytes: usize) {
        if self.visibility == Visibility::Flushed
            && let Ok(at) = self.memory.range(offset_bytes, len_bytes)
        {
            self.visibility.before_store(at, len_bytes);
        }
    }

    #[inline(always)]
    fn about_to_read(&self, offset_bytes: usize, len_bytes: usize) {
        if self.visibility == Visibility::Flushed
            && let Ok(at) = self.memory.range(offset_bytes, len_bytes)
        {
            self.visibility.before_load(at, len_bytes);
        }
    }
}

/// Wakes the owner of a doorbell on another kernel if it sleeps.
#[cold]
#[inline(never)]
fn call(doorbell: Doorbell<'_>, ring: &dyn Ring) {
    if doorbell.call() {
        ring.ring();
    }
}

/// Stores a word through a window that is not coherent. A peer may wait for it, so it is pushed out of
/// buffers.
#[cold]
#[inline(never)]
fn put_word_uncached(word: &AtomicU64, value: u64, visibility: Visibility) {
    let at = word.as_ptr().cast();
    site!("put_word: fence", visibility.store_fence());
    site!("put_word: drop stale line", visibility.before_store(at, 8));
    word.store(value, Ordering::Relaxed);
    site!("put_word: flush", visibility.after_store(at, 8));
    if visibility == Visibility::WriteCombining {
        site!("put_word: on its way", visibility.store_fence());
    }
}
