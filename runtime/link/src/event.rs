//! What happens to links.

use crate::error::CloseReason;
use crate::names::{LinkId, Node};

/// Events for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The link may be used.
    Opened {
        /// The link.
        link: LinkId,
        /// The peer.
        peer: Node,
        /// Longest frame that both ends and the path take, in bytes.
        frame_len: usize,
    },
    /// The link is closed. Packets without an ack are lost.
    Closed {
        /// The link.
        link: LinkId,
        /// The peer.
        peer: Node,
        /// Why.
        reason: CloseReason,
    },
}
