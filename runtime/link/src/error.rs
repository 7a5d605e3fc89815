use hostwire_packet::ht::VirtualChannel;
use hostwire_packet::htoe;
use thiserror::Error;

use crate::names::{LinkId, Node};

/// A [`Config`](crate::Config) that no endpoint can have. Caller's fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("link config: {field}: expected {min} to {max}, got {got}")]
pub struct ConfigError {
    /// The field.
    pub field: &'static str,
    /// Smallest value allowed.
    pub min: u64,
    /// Largest value allowed.
    pub max: u64,
    /// Value given.
    pub got: u64,
}

/// Why a link could not be made or opened. Caller's fault.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum OpenError {
    /// The peer is this endpoint itself.
    #[error("{0} is this endpoint: no link leads there")]
    Loop(Node),
    /// An endpoint holds at most 65536 links.
    #[error("too many links: an endpoint holds 65536")]
    TooMany,
    /// The handle is not of this endpoint.
    #[error("no such link: {0:?}")]
    NoLink(LinkId),
}

/// Why a packet was not accepted. It was not accepted in part.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SendError {
    /// Back-pressure: no credit, or no frame, and the queue is full. Let the
    /// endpoint receive and transmit, then try again. Not a failure.
    #[error("{peer}: no room for a {channel} packet")]
    Full {
        /// The peer.
        peer: Node,
        /// Channel without room.
        channel: VirtualChannel,
    },
    /// The link has not been opened yet. Wait for
    /// [`Event::Opened`](crate::Event::Opened).
    #[error("{0}: the link is not open yet")]
    Opening(Node),
    /// The link is closed; permanent until it is opened again.
    #[error("{peer}: {reason}")]
    Closed {
        /// The peer.
        peer: Node,
        /// Why.
        reason: CloseReason,
    },
    /// The packet belongs to no virtual channel. Caller's fault.
    #[error("NOP, Sync and extended flow control are not carried")]
    NotCarried,
    /// The bytes make no packet. Caller's fault.
    #[error("not a packet: {0}")]
    Packet(hostwire_packet::Error),
    /// The handle is not of this endpoint. Caller's fault.
    #[error("no such link: {0:?}")]
    NoLink(LinkId),
}

/// Why a link is closed.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CloseReason {
    /// It has never been opened.
    #[error("the link was never opened")]
    NotOpened,
    /// This side finished it, after everything was acknowledged.
    #[error("the link was finished here")]
    Finished,
    /// The peer finished it.
    #[error("the peer finished the link")]
    PeerFinished,
    /// The peer never answered.
    #[error("no answer for {} ms: the peer is not there, or runs another job", after_ns / 1_000_000)]
    Unreachable {
        /// How long it was tried.
        after_ns: u64,
    },
    /// The peer answered once, but no longer.
    #[error("lost: silent for {} ms", silent_ns / 1_000_000)]
    Silent {
        /// Since when it has not been heard.
        silent_ns: u64,
    },
    /// The peer answered once, but no longer, and the kernel of its host does not answer either.
    #[error("lost: silent for {} ms, and so is its host", silent_ns / 1_000_000)]
    HostSilent {
        /// Since when it has not been heard.
        silent_ns: u64,
    },
    /// The peer answered once, but no longer, although the kernel of its host answers.
    #[error("lost: silent for {} ms, though its host answers", silent_ns / 1_000_000)]
    Stopped {
        /// Since when it has not been heard.
        silent_ns: u64,
    },
    /// The peer sends frames, but does not acknowledge those of this side.
    #[error("lost: acknowledges nothing for {} ms, though it is heard (do long frames get through?)", stalled_ns / 1_000_000)]
    Stalled {
        /// The time since the last new ack.
        stalled_ns: u64,
    },
    /// The peer has begun a new life and forgotten this link.
    #[error("the peer was restarted: its incarnation is {now}, was {before}")]
    Restarted {
        /// Incarnation that this link was with.
        before: u64,
        /// Incarnation seen.
        now: u64,
    },
    /// The peer broke the protocol and was cut off.
    #[error("cut off: {0}")]
    Misbehaved(Misbehaviour),
    /// This side gave the peer up because it heard elsewhere that the peer has ended. The peer
    /// has done no wrong.
    #[error("the peer is said to have ended")]
    GivenUp,
    /// The peer reports that this side broke the protocol.
    #[error("cut off by the peer: {0}")]
    CutOff(htoe::CloseReason),
}

/// How a peer broke the protocol. A peer's fault, never that of the network:
/// the frame had the right key, number and checksums.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Misbehaviour {
    /// It sent more packets than it has credits for.
    #[error(
        "overran its {channel} credits: had {granted_command} command and {granted_data} data, used {used_command} and {used_data}"
    )]
    CreditOverrun {
        /// Channel overrun.
        channel: VirtualChannel,
        /// Command credits that it had.
        granted_command: u16,
        /// Data credits that it had.
        granted_data: u16,
        /// Command credits that its frame takes.
        used_command: u16,
        /// Data credits that its frame takes.
        used_data: u16,
    },
    /// It returned more credits than packets were ever sent to it.
    #[error("returned more {channel} credits than it has buffers")]
    CreditExcess {
        /// Channel.
        channel: VirtualChannel,
    },
    /// A frame did not hold what its header said.
    #[error("malformed frame: {0}")]
    Malformed(hostwire_packet::Error),
    /// It offered a link that is too small for any packet.
    #[error("offers {field} of {got}, at least {min} is needed")]
    Offer {
        /// The value that it offered.
        field: &'static str,
        /// Least that is of use.
        min: u16,
        /// The value that it offered.
        got: u16,
    },
    /// The layer above refuses the contents of its frame.
    #[error("{0}")]
    Misuse(Misuse),
}

/// Why the layer above links refuses a correct frame.
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Misuse {
    /// A packet where only responses may come.
    #[error("a packet that is no response")]
    NoResponse,
    /// A response that no request waits for.
    #[error("an answer that nobody asked for")]
    Unasked,
    /// A response of another length than its request has named.
    #[error("an answer of the wrong size")]
    AnswerSize,
    /// A packet where only requests may come.
    #[error("a packet that is no request")]
    NoRequest,
    /// A request that is answered, or that reads.
    #[error("a request that is no posted write")]
    NoPostedWrite,
    /// A write to addresses at which there is no memory.
    #[error("a write outside of the segments")]
    Outside,
}

impl Misbehaviour {
    pub(crate) const fn on_the_wire(&self) -> htoe::CloseReason {
        match self {
            Misbehaviour::CreditOverrun { .. } => htoe::CloseReason::CreditOverrun,
            Misbehaviour::CreditExcess { .. } => htoe::CloseReason::CreditExcess,
            Misbehaviour::Malformed(_) | Misbehaviour::Offer { .. } => htoe::CloseReason::Malformed,
            Misbehaviour::Misuse(_) => htoe::CloseReason::Misused,
        }
    }
}

/// More buffers were released than packets had been delivered. Caller's fault;
/// nothing was released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("released more {channel} buffers than are filled")]
pub struct ReleaseError {
    /// Channel.
    pub channel: VirtualChannel,
}
