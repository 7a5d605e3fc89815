//! Capabilities that only some wires have. Each is a small trait, which a wire offers as a whole or not at all.

use core::time::Duration;
use std::sync::Arc;

use hostwire_address::SegmentId;

use crate::chain::Chains;
use crate::error::{Loss, PeId, TransportError};
use crate::memory::Memory;
use crate::operation::Request;
use crate::reach::Reach;
use crate::route::Route;
use crate::window::Window;

/// All capabilities that a wire offers.
///
/// A wire around another one names every field, so that a new one cannot be forgotten there.
#[derive(Clone, Copy)]
pub struct Capabilities<'w> {
    /// Memory other than the own segment to which peers may store.
    pub registration: Option<&'w dyn Registration>,
    /// Gets and atomics on offloaded routes.
    pub offload: Option<&'w dyn Offload>,
    /// Whole chains of puts, to all PEs.
    pub chains: Option<&'w dyn Chains>,
    /// Adjacent mapped segments that are coherent and allow atomics: that of this PE and those of the PEs around it.
    pub reach: Option<&'w Arc<Reach>>,
    /// Several stores at a time.
    pub batches: Option<&'w dyn Batches>,
    /// Order and completion for one target.
    pub per_target: Option<&'w dyn PerTarget>,
    /// Copies from private memory of peers.
    pub private_copies: Option<&'w dyn PrivateCopies>,
    /// Which peers live. Without it all count as alive.
    pub liveness: Option<&'w dyn Liveness>,
    /// Actions at the begin and the end of a program.
    pub lifetime: Option<&'w dyn Lifetime>,
    /// Counters.
    pub counting: Option<&'w dyn Counting>,
    /// A way to sleep other than on the doorbell of the own segment.
    pub bell: Option<&'w dyn Bell>,
    /// A time other than that of this machine.
    pub clock: Option<&'w dyn Clock>,
    /// Numbers of PEs that differ from peer to peer.
    pub numbering: Option<&'w dyn Numbering>,
}

impl Capabilities<'_> {
    /// No capabilities.
    pub const NONE: Self = Self {
        registration: None,
        offload: None,
        chains: None,
        reach: None,
        batches: None,
        per_target: None,
        private_copies: None,
        liveness: None,
        lifetime: None,
        counting: None,
        bell: None,
        clock: None,
        numbering: None,
    };
}

/// Memory other than the own segment to which peers may store.
pub trait Registration: Send + Sync {
    /// How this PE reaches a registered segment of `pe`. `None` if this wire does not reach it: then the agent of `pe`
    /// also does the stores. A carried or offloaded route takes stores to any segment of `pe`. If the segment is not
    /// registered, `pe` notices this and ends the link.
    fn registered_route(&self, pe: PeId, segment: SegmentId) -> Option<Route>;

    /// From now on peers may store to `window`, memory of this PE, under this segment number.
    ///
    /// # Errors
    /// Those of the wire.
    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError>;

    /// From now on they may not: when this returns, the wire stores nothing more there.
    fn unregister(&self, segment: SegmentId);
}

/// Operations that a wire does itself where its route is [`Route::Offloaded`].
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

/// A line to be stored: see [`Wire::store_line`](super::Wire::store_line).
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// Where in the memory of the target.
    pub offset_bytes: usize,
    /// The word that is visible last.
    pub header: u64,
    /// Up to 56 bytes behind it.
    pub payload: &'a [u8],
}

/// Bytes to be stored: see [`Batches::store_behind`].
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// Where in the memory of the target.
    pub offset_bytes: usize,
    /// At least one byte.
    pub bytes: &'a [u8],
}

/// Several stores at a time.
pub trait Batches: Send + Sync {
    /// As [`store_word`](super::Wire::store_word), but no later [`quiet`](super::Wire::quiet) has to wait for the word,
    /// because its reader waits for it. So a barrier need not wait for the words of the previous one.
    ///
    /// # Errors
    /// Those of stores.
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError>;

    /// Stores lines one after the other, each as [`store_line`](super::Wire::store_line) does: all lines of a message.
    /// A wire that can batch stores sends them together.
    ///
    /// # Errors
    /// Those of stores; the lines before the one at fault have been stored.
    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError>;

    /// To another PE: stores bytes, each part at its offset, and behind all of them a line, which is never visible before the bytes. A wire waits
    /// for room at most, and never for an answer to these bytes. A wire that can batch stores sends them together.
    ///
    /// # Errors
    /// Those of stores; what comes before the part at fault has been stored.
    fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError>;
}

/// Order and completion for one target.
pub trait PerTarget: Send + Sync {
    /// Orders earlier stores to `pe` before later ones to it.
    ///
    /// # Errors
    /// Those of stores.
    fn fence_of(&self, pe: PeId) -> Result<(), TransportError>;

    /// Returns when all earlier stores to `pe` are visible there.
    ///
    /// # Errors
    /// Those of stores.
    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError>;
}

/// Copies from private memory of peers, at addresses that they name.
pub trait PrivateCopies: Send + Sync {
    /// Whether `pe` may be able to copy from private memory of this process, if this process tells it an address.
    fn lends_private(&self, pe: PeId) -> bool;

    /// Copies private memory of `pe` to `dst`, from an address that `pe` has named. `false` if this wire cannot do
    /// that, or if `pe` has become another program. The contents of `dst` are then meaningless.
    fn copy_private(&self, pe: PeId, address: u64, dst: &mut [u8]) -> bool;

    /// As [`copy_private`](Self::copy_private), to so many bytes at an offset of memory that others may use.
    fn copy_private_to(&self, pe: PeId, address: u64, to: (&Memory, usize, usize)) -> bool;
}

/// Which peers live.
pub trait Liveness: Send + Sync {
    /// Checks whether `pe` still lives. May cost a system call: not for fast paths.
    ///
    /// # Errors
    /// If this cannot be found out any more.
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError>;

    /// How a PE that does not live was lost.
    fn loss(&self, pe: PeId) -> Loss;

    /// The caller knows that `pe` has ended: nothing from it has to be waited for any more. A wire that finds out by
    /// itself may ignore this.
    fn give_up(&self, pe: PeId);

    /// Whether the wire knows that no PE has ended, without a look at each, and the caller need not look at any.
    fn all_live(&self) -> bool {
        false
    }

    /// Shows `word` as that of this PE to all others, where the wire can do this without stores. A PE that sees it sees all earlier
    /// stores of this PE. Whether it can: the same at all PEs.
    fn announce(&self, _word: u64) -> bool {
        false
    }

    /// The word that `pe` has shown last, 0 at first; `None` where the wire shows none.
    fn announced(&self, _pe: PeId) -> Option<u64> {
        None
    }
}

/// Actions at the begin and the end of a program.
pub trait Lifetime: Send + Sync {
    /// All PEs have joined, and the program is about to begin, on this thread.
    ///
    /// # Errors
    /// Those of the wire.
    fn begin(&self) -> Result<(), TransportError>;

    /// This process is about to end in good order. Returns when all its stores have arrived or cannot arrive, and tells
    /// peers not to wait for it. No store follows.
    fn finish(&self);

    /// Writes the recorded stores of this process to their file and closes it. No store follows.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if a part could not be written.
    fn close_recording(&self) -> Result<(), TransportError>;
}

/// Counters.
pub trait Counting: Send + Sync {
    /// The counters of this wire since it was made: names, always the same ones in the same order, and values.
    fn tally(&self) -> Vec<(String, u64)>;
}

/// Sleeping until a peer stores.
pub trait Bell: Send + Sync {
    /// Called before sleeping: later stores of peers will wake this PE. Poll once more after it. Returns the longest
    /// sleep that is safe.
    fn arm(&self, wanted: Duration) -> Duration;

    /// The longest sleep that is safe for this wire: short if its peers cannot ring.
    fn sleep_max(&self, wanted: Duration) -> Duration;

    /// Sleeps until a peer stores, or for `limit`. Returns whether a peer stored.
    fn sleep(&self, limit: Duration) -> bool;
}

/// The time of the program.
pub trait Clock: Send + Sync {
    /// Whether time is that of a model. Then no other thread of the PE runs, and a [sleep](Bell::sleep) does not end
    /// after its limit.
    fn is_in_virtual_time(&self) -> bool;

    /// The time since some moment of this process; it never goes back.
    fn now(&self) -> Duration;

    /// Sleeps for this long.
    fn nap(&self, time: Duration);

    /// Gives the core to another thread.
    fn yield_now(&self);
}

/// Numbers of PEs that differ from peer to peer: each station itself numbers those that it meets.
pub trait Numbering: Send + Sync {
    /// The number that this PE has at `pe`. In the segment of `pe`, the parts for this PE lie by this number.
    fn number_at(&self, pe: PeId) -> PeId;
}
