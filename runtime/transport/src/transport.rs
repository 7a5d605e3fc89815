//! The waist: what every wire can do, and what some can do better.

use core::time::Duration;
use std::sync::Arc;

use hostwire_address::SegmentId;

use crate::chain::Chains;
use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::operation::Request;
use crate::reach::Reach;
use crate::route::Route;
use crate::wait::WaitLimits;
use crate::window::Window;

/// When this process looked at the clock first.
static EPOCH: std::sync::LazyLock<std::time::Instant> =
    std::sync::LazyLock::new(std::time::Instant::now);

/// What a wire does itself where its route is [`Route::Offloaded`].
///
/// Each operation comes after all earlier stores of this PE to the same target. It returns when it
/// is done.
pub trait Offload: Send + Sync {
    /// Copies bytes at `offset_bytes` of the memory of `pe` to `dst`.
    ///
    /// # Errors
    /// As those of stores.
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError>;

    /// Does an atomic operation to memory of `pe`, and returns the old value.
    ///
    /// # Errors
    /// As those of stores.
    fn atomic(&self, pe: PeId, request: Request) -> Result<u64, TransportError>;
}

/// A line to be stored: see [`Transport::store_line`].
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Where in the memory of the target.
    pub offset_bytes: usize,
    /// The word that is visible last.
    pub header: u64,
    /// Up to 56 bytes behind it.
    pub payload: &'a [u8],
}

/// One PE's attachment to a wire.
///
/// A wire numbers PEs as the job does, and may lead to some of them only. It knows no other
/// wire: [`Wires`](crate::Wires) makes one of several.
///
/// # Where a store goes
/// `offset_bytes` is the number of a [`Place`](hostwire_address::Place) of the target: what counts
/// from the beginning of the segments that all PEs have, or a byte of registered memory. Those
/// segments are called *the segment* of a PE below: they lie side by side.
///
/// # Order and completion
/// Stores to one PE may become visible in any order unless a [`fence`](Self::fence)
/// lies between them, with two exceptions that all protocols above rest on:
/// [`store_word`](Self::store_word) is never visible before earlier stores of the
/// same PE to the same target, and within [`store_line`](Self::store_line) the
/// header is never visible before the payload.
///
/// # Errors
/// All stores give [`TransportError::NoSuchPe`], [`TransportError::OutOfRange`] or
/// [`TransportError::Misaligned`] for the caller's mistakes, and then have stored
/// nothing, and may give [`TransportError::PeerLost`].
pub trait Transport: Send + Sync {
    /// The number of this PE.
    fn pe(&self) -> PeId;

    /// All PEs have joined, and the program is about to begin, on this thread.
    fn begin(&self) -> Result<(), TransportError> {
        Ok(())
    }

    /// How many PEs the job has.
    fn pes(&self) -> u32;

    /// The number that this PE has at `pe`: what the segment of `pe` has for this PE lies there. The
    /// PEs of a job number each other the same way.
    fn number_at(&self, pe: PeId) -> PeId {
        let _ = pe;
        self.pe()
    }

    /// The own segment: memory that peers store to and this PE reads.
    fn segment(&self) -> &Window;

    /// How this PE reaches the segment of `pe`, its own included. `None` if there is no such
    /// PE, or if this wire does not lead there.
    fn route(&self, pe: PeId) -> Option<Route>;

    /// How this PE reaches a registered segment of `pe`. `None` if this wire does not: then the
    /// agent of `pe` stores there, too. A carried or offloaded route takes stores to any segment
    /// of `pe`; what is not registered there is found there, and ends the link.
    fn registered_route(&self, pe: PeId, segment: SegmentId) -> Option<Route> {
        let _ = (pe, segment);
        None
    }

    /// From now on peers may store to `window`, memory of this PE, as this segment.
    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        let _ = (segment, window);
        Ok(())
    }

    /// From now on they may not: when this returns, the wire stores nothing more there.
    fn unregister(&self, segment: SegmentId) {
        let _ = segment;
    }

    /// What the wire does itself on offloaded routes.
    fn offload(&self) -> Option<&dyn Offload> {
        None
    }

    /// The wire makes whole chains of puts itself, to all PEs.
    fn chains(&self) -> Option<&dyn Chains> {
        None
    }

    /// Segments that are mapped side by side, coherent and good for atomics: that of this PE and
    /// those of the PEs around it.
    fn reach(&self) -> Option<&Arc<Reach>> {
        None
    }

    /// Stores `src` at `offset_bytes` in the segment of `pe`. Returns at local
    /// completion: `src` may be reused. 4 or 8 bytes at a multiple of their number come
    /// in one piece.
    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError>;

    /// Stores one aligned 64-bit word, in one piece, after all earlier stores to `pe`.
    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError>;

    /// As [`store_word`](Self::store_word), of a word for which no later [`quiet`](Self::quiet) has to wait:
    /// whoever it is for waits for it. So a barrier need not wait for the words of the one before.
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.store_word(pe, offset_bytes, value)
    }

    /// Stores one 64-byte line as one packet: a header word and up to 56 bytes behind it.
    /// More are out of range.
    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError>;

    /// Stores lines one behind the other, each as [`store_line`](Self::store_line) does: all the
    /// lines of a message. A wire that sends several stores at a time sends these together.
    ///
    /// # Errors
    /// Those of stores; the lines before the one at fault have been stored.
    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        for line in lines {
            self.store_line(pe, line.offset_bytes, line.header, line.payload)?;
        }
        Ok(())
    }

    /// Whether `pe` may be able to copy from private memory of this process, if it is told an address.
    fn lends_private(&self, pe: PeId) -> bool {
        let _ = pe;
        false
    }

    /// Copies private memory of `pe` to `dst`, from an address that `pe` has named. `false` if this wire
    /// cannot do that, or if `pe` is not what it was: what is in `dst` then means nothing.
    fn copy_private(&self, pe: PeId, address: u64, dst: &mut [u8]) -> bool {
        let _ = (pe, address, dst);
        false
    }

    /// As [`copy_private`](Self::copy_private), to so many bytes at an offset of memory that others may use.
    fn copy_private_to(&self, pe: PeId, address: u64, to: (&Memory, usize, usize)) -> bool {
        let _ = (pe, address, to);
        false
    }

    /// Orders earlier stores before later ones, per target.
    fn fence(&self) -> Result<(), TransportError>;

    /// Orders earlier stores to `pe` before later ones to it.
    fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        let _ = pe;
        self.fence()
    }

    /// Returns when all earlier stores are visible at their targets.
    fn quiet(&self) -> Result<(), TransportError>;

    /// Returns when all earlier stores to `pe` are visible there.
    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        let _ = pe;
        self.quiet()
    }

    /// Lets the wire make progress. Cheap; called while waiting. Returns whether it is known
    /// that something came, so that it is worth while to look again soon.
    fn poll(&self) -> Result<bool, TransportError> {
        Ok(false)
    }

    /// Looks whether `pe` still lives. May cost a system call: not for fast paths.
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError>;

    /// How a PE that does not live was lost.
    fn loss(&self, pe: PeId) -> Loss {
        let _ = pe;
        Loss::Ended
    }

    /// Somebody who must know says that `pe` has ended: nothing more has to be waited for.
    /// A wire that finds out by itself need not listen.
    fn give_up(&self, pe: PeId) {
        let _ = pe;
    }

    /// This process is about to end, in good order: returns when all that it has stored has
    /// arrived, or cannot, and tells peers not to wait for it. It stores nothing more.
    fn finish(&self) {}

    /// What is recorded of this process's stores is in its file, which is closed: it stores nothing more.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if a part could not be written.
    fn close_recording(&self) -> Result<(), TransportError> {
        Ok(())
    }

    /// How a wait on this wire spends its time.
    fn wait_limits(&self) -> WaitLimits;

    /// What this wire has counted since it was made: names, always the same ones in the
    /// same order, and values. Empty where it counts nothing.
    fn tally(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Before sleeping: later stores of peers will wake this PE. Poll once more after
    /// it. Returns the longest sleep that is safe.
    fn arm(&self, wanted: Duration) -> Duration {
        self.segment().doorbell().arm(self.sleep_max(wanted))
    }

    /// The longest sleep on the doorbell of the own segment that is safe as far as this wire
    /// knows: where its peers cannot ring that, it is short.
    fn sleep_max(&self, wanted: Duration) -> Duration {
        wanted
    }

    /// Sleeps until a peer stores, or for `limit`. Returns whether a peer stored.
    fn sleep(&self, limit: Duration) -> bool {
        self.segment().doorbell().sleep(limit)
    }

    /// Whether time is that of a model, in which this PE runs alone: no thread works beside it, and
    /// a [`sleep`](Self::sleep) does not end after its limit.
    fn is_in_virtual_time(&self) -> bool {
        false
    }

    /// The time since some moment of this process; it never goes back.
    fn now(&self) -> Duration {
        std::time::Instant::now().saturating_duration_since(*EPOCH)
    }

    /// Sleeps for this long.
    fn nap(&self, time: Duration) {
        std::thread::sleep(time);
    }

    /// Gives the core to somebody else.
    fn yield_now(&self) {
        std::thread::yield_now();
    }
}
