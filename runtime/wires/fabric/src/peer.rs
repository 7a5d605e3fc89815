//! The state of a PE of another host.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use hostwire_address::SegmentId;
use hostwire_transport::error::{Loss, Misbehaviour, PeId, TransportError};

use super::ffi::endpoint::Key;
use super::keys::Known;

/// Why nothing more is sent to a peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It has said farewell: no PE can see that nothing is stored.
    Finished,
    Lost(Loss),
    Misbehaved(Misbehaviour),
}

impl End {
    /// The result of a store then.
    pub(super) fn result(self, pe: PeId) -> Result<(), TransportError> {
        match self {
            Self::Finished => Ok(()),
            Self::Lost(loss) => Err(TransportError::PeerLost { pe, loss }),
            Self::Misbehaved(how) => Err(TransportError::PeerMisbehaved { pe, how }),
        }
    }
}

/// See the [module text](self). Messages count from 1 in each direction.
#[derive(Debug)]
pub(super) struct Peer {
    /// Its endpoint.
    pub(super) to: u64,
    /// Its segment.
    pub(super) key: Key,
    /// The last message to it.
    pub(super) sent: u64,
    /// The last message to it for which a quiet has to wait.
    pub(super) stored: u64,
    /// The last message to it that changes its memory.
    pub(super) ordered: u64,
    /// Messages up to this one have to be applied before a write by RDMA.
    pub(super) fenced: u64,
    /// The last message that asks for an echo.
    pub(super) asked: u64,
    /// Since when the oldest echo is awaited, if any.
    pub(super) asked_at: Option<Instant>,
    /// Messages up to this one have been applied.
    pub(super) echoed: u64,
    /// The last message from it.
    pub(super) received: u64,
    /// It waits for the echo of this message.
    pub(super) owed: Option<u64>,
    pub(super) heard_at: Instant,
    pub(super) end: Option<End>,
    /// A quiet has reported its loss.
    pub(super) is_told: bool,
    /// The keys of its registered memory.
    pub(super) keys: HashMap<SegmentId, Known>,
}

impl Peer {
    pub(super) fn new(to: u64, key: Key) -> Self {
        Self {
            to,
            key,
            sent: 0,
            stored: 0,
            ordered: 0,
            fenced: 0,
            asked: 0,
            asked_at: None,
            echoed: 0,
            received: 0,
            owed: None,
            heard_at: Instant::now(),
            end: None,
            is_told: false,
            keys: HashMap::new(),
        }
    }

    /// A message with stores has been sent.
    pub(super) fn has_stored(&mut self, number: u64, quiet_waits: bool) {
        self.ordered = number;
        if quiet_waits {
            self.stored = number;
        }
    }

    /// It has applied the messages up to this one.
    pub(super) fn heard_echo(&mut self, number: u64) {
        // A message that was never sent cannot have been applied.
        self.echoed = self.echoed.max(number.min(self.sent));
        self.asked_at = match self.echoed >= self.asked {
            true => None,
            false => Some(Instant::now()),
        };
    }

    /// Ends the peer: nothing more is sent to it. The first reason stays.
    pub(super) fn ends(&mut self, end: End) {
        self.end.get_or_insert(end);
    }

    /// How long an echo has been awaited.
    pub(super) fn stalled(&self) -> Duration {
        self.asked_at.map_or(Duration::ZERO, |at| at.elapsed())
    }
}
