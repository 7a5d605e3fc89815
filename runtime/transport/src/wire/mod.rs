//! The waist: what every wire can do, and what some can do better.
//!
//! | file | what it is |
//! |---|---|
//! | this one | what every wire does |
//! | `capabilities` | what only some do: small traits that a wire offers |
//! | `ext` | a wire as its users see it: all of that, with a default where a wire does not offer it |

mod capabilities;
mod ext;

use crate::error::{PeId, TransportError};
use crate::route::Route;
use crate::wait::WaitLimits;
use crate::window::Window;

pub use capabilities::{
    Batches, Bell, Capabilities, Clock, Counting, Lifetime, Line, Liveness, Numbering, Offload,
    Part, PerTarget, PrivateCopies, Registration,
};
pub use ext::now;

/// One PE's attachment to a wire.
///
/// A wire numbers PEs as the job does, and may lead to some of them only. It knows no other
/// wire: [`Wires`](crate::Wires) makes one of several.
///
/// # Where a store goes
/// `offset_bytes` is the number of a [`Place`](hostwire_address::Place) of the target: an offset from the
/// beginning of the segments that all PEs have, or a byte of registered memory. These segments are
/// adjacent and are called *the segment* of a PE below.
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
/// [`TransportError::Misaligned`] for the caller's mistakes, and then have stored nothing. They may give
/// [`TransportError::PeerLost`].
///
/// # What only some wires can do
/// is in small traits: see [`Capabilities`]. A wire offers those that it has. Users of a wire call the
/// methods of `dyn Wire`, which have a default for a wire without the capability.
pub trait Wire: Send + Sync {
    /// The number of this PE.
    fn pe(&self) -> PeId;

    /// How many PEs the job has.
    fn pes(&self) -> u32;

    /// The own segment: memory that peers store to and this PE reads.
    fn segment(&self) -> &Window;

    /// How this PE reaches the segment of `pe`, its own included. `None` if there is no such
    /// PE, or if this wire does not lead there.
    fn route(&self, pe: PeId) -> Option<Route>;

    /// Stores `src` at `offset_bytes` in the segment of `pe`. Returns at local completion: `src` may be
    /// reused. 4 or 8 aligned bytes are stored in one piece.
    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError>;

    /// Stores one aligned 64-bit word, in one piece, after all earlier stores to `pe`.
    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError>;

    /// Stores one 64-byte line as one packet: a header word and up to 56 bytes after it. More bytes are
    /// out of range.
    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError>;

    /// Orders earlier stores before later ones, per target.
    fn fence(&self) -> Result<(), TransportError>;

    /// Returns when all earlier stores are visible at their targets.
    fn quiet(&self) -> Result<(), TransportError>;

    /// Lets the wire make progress. Cheap; called while waiting. Returns whether something is known to
    /// have come, so that another poll soon is worth while.
    fn poll(&self) -> Result<bool, TransportError>;

    /// How a wait on this wire spends its time.
    fn wait_limits(&self) -> WaitLimits;

    /// Its capabilities.
    fn capabilities(&self) -> Capabilities<'_>;
}
