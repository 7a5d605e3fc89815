//! The errors of a program, and who is at fault.

mod misbehaviour;
mod tca;

use std::fmt;
use std::sync::OnceLock;

use hostwire_bootstrap::{LaunchError, Nodes};
use hostwire_transport::{EnvironmentFault, Loss, PeId, TransportError};
pub use misbehaviour::{Misbehaviour, PeerWord};
pub use tca::TcaError;

use crate::settings::{LOST_AFTER, LOST_AFTER_S, SettingError};

/// The host of each PE, if the job of this process spans several. For texts.
static HOSTS: OnceLock<Vec<String>> = OnceLock::new();

/// Lets errors name the hosts of PEs.
pub(crate) fn name_hosts(nodes: &Nodes) {
    if nodes.nodes().len() < 2 {
        return;
    }
    let host = |pe| {
        let node = nodes.node_of(pe)?;
        let node = nodes.nodes().get(node as usize)?;
        Some(node.host.clone())
    };
    // A process that joins a second job keeps the names of the first one.
    let _ = HOSTS.set((0..).map_while(host).collect());
}

/// Where a PE was.
fn on_host(pe: PeId) -> String {
    match HOSTS.get().and_then(|hosts| hosts.get(pe as usize)) {
        Some(host) => format!(" on {host}"),
        None => String::new(),
    }
}

/// Where the PEs are that cannot be in one job, for an error that names them: ` (PE 1 is on b, PE 0 on a)`.
fn places(fault: &EnvironmentFault) -> String {
    let hosts = HOSTS.get().map(Vec::as_slice).unwrap_or_default();
    let host = |pe: PeId| hosts.get(pe as usize);
    match fault {
        EnvironmentFault::Disagreement { pe, with, .. } => match (host(*pe), host(*with)) {
            (Some(theirs), Some(ours)) => format!(" (PE {pe} is on {theirs}, PE {with} on {ours})"),
            _ => String::new(),
        },
        EnvironmentFault::NoAnswer { pe, .. } => match host(*pe) {
            Some(host) => format!(" (PE {pe} is on {host})"),
            None => String::new(),
        },
        _ => String::new(),
    }
}

/// How a loss is known, and advice if it may be a false alarm.
fn known_by(loss: Loss) -> String {
    match loss {
        Loss::Silent { .. }
        | Loss::HostSilent { .. }
        | Loss::Unacknowledged { .. }
        | Loss::GaveUp => format!(
            "{loss}. A PE is given up after {LOST_AFTER} seconds ({LOST_AFTER_S} if that is not \
             set): more is for hosts that have too much to do, and for cables that are out for long"
        ),
        #[cfg(target_os = "linux")]
        Loss::Stopped { .. } => format!(
            "{loss}. A PE whose host answers is given up after {} times {LOST_AFTER} seconds \
             ({LOST_AFTER_S} if that is not set)",
            hostwire_transport::STOPPED_LIMITS
        ),
        loss => loss.to_string(),
    }
}

/// The result of everything that can fail here.
pub type Result<T> = core::result::Result<T, Error>;

/// An error of hostwire. The first group of variants is the caller's fault, the second
/// a peer's, the third that of the machine or the launcher.
// A tag of its own: `Ok` of a put is then one short store. The compiler would otherwise put the tag
// into the capacity of a string, and `Ok` would take two instructions.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[repr(u16)]
pub enum Error {
    /// The caller named elements that a segment does not have.
    #[error("elements {index} to {} are not in a segment of {elements}", index.saturating_add(*count))]
    OutOfRange {
        /// First element that was named.
        index: usize,
        /// How many were named.
        count: usize,
        /// How many there are.
        elements: usize,
    },
    /// The caller named a PE or a rank that does not exist.
    #[error("there is no {what} {pe}: there are {pes}")]
    NoSuchPe {
        /// "PE" or "rank".
        what: &'static str,
        /// The number that was named.
        pe: u32,
        /// How many there are.
        pes: u32,
    },
    /// The symmetric heap has no room.
    #[error(
        "the symmetric heap is full: {asked_bytes} bytes asked, {free_bytes} of {heap_bytes} free, \
         the largest piece {largest_bytes}; start with a larger heap (hostwire run --heap, or {})",
        crate::settings::HEAP
    )]
    OutOfMemory {
        /// The requested bytes.
        asked_bytes: usize,
        /// Bytes free in all.
        free_bytes: usize,
        /// Bytes free in one piece.
        largest_bytes: usize,
        /// Bytes of the heap.
        heap_bytes: usize,
    },
    /// A message does not fit the buffer. The message can still be received.
    #[error(
        "a message of {message_bytes} bytes from PE {from} does not fit a buffer of {room_bytes}"
    )]
    MessageTooLong {
        /// Who sent it.
        from: PeId,
        /// Its tag.
        tag: u64,
        /// How long it is.
        message_bytes: usize,
        /// How long the buffer is.
        room_bytes: usize,
    },
    /// A message is not a whole number of elements. The message can still be received.
    #[error(
        "a message of {message_bytes} bytes from PE {from} is no whole number of elements of {element_bytes} bytes"
    )]
    MessageShape {
        /// Who sent it.
        from: PeId,
        /// Its tag.
        tag: u64,
        /// How long it is.
        message_bytes: usize,
        /// How long an element is.
        element_bytes: usize,
    },
    /// The caller frees an array of symmetric memory while it still has other parts of it.
    #[error("the symmetric memory is in use: expected no other parts of it, got {others}")]
    InUse {
        /// How many there are.
        others: usize,
    },
    /// A send or a receive in the background was cancelled:
    /// [`Queue::cancel`](crate::Queue::cancel).
    #[error("the send or receive was cancelled")]
    Cancelled,
    /// The program wants a wait of its own to end: [`Job::end_waits_if`](crate::Job::end_waits_if).
    /// What was waited for may still happen. After a collective operation or
    /// [`Job::finalize`](crate::Job::finalize) the team cannot be used any more.
    #[error("a wait was interrupted")]
    Interrupted,
    /// The PEs of a team called different collective operations, or one with different arguments: a
    /// length, a root, a type of elements, a function of [`op`](crate::op). Functions of the program
    /// itself are not compared, because each closure has a type of its own. At least one PE gets this
    /// error, also if the PEs would otherwise wait for each other. PEs that give different roots get
    /// it at the latest in the next operation without a root.
    ///
    /// If an operation that moves data gives it (a broadcast, a gather, a reduction and the like), the
    /// members are in different operations from then on, and not all of them know it. The next
    /// operation of the team may fail or wait. Other teams, puts and messages are not affected. After
    /// `alloc` all PEs know of the error, and may go on.
    #[error("the PEs disagree in {operation}: PE {pe} says {theirs}, this PE {ours}")]
    CollectiveMismatch {
        /// The operation.
        operation: &'static str,
        /// A PE that differs.
        pe: PeId,
        /// The value of the other PE.
        theirs: String,
        /// The value of this PE.
        ours: String,
    },
    /// Lengths differ that have to be equal.
    #[error("{what}: expected {expected} elements, got {got}")]
    Length {
        /// Which lengths.
        what: &'static str,
        /// The expected value.
        expected: usize,
        /// The found value.
        got: usize,
    },
    /// This process is a copy of the PE, made by `fork` or `clone`, or restored from a
    /// checkpoint: the job is not its own.
    #[error(transparent)]
    Copied(TransportError),
    /// The program asked a wire for something that it does not have.
    #[error(transparent)]
    Misused(TransportError),
    /// All team slots are taken.
    #[error("there are {max} teams already; drop one first")]
    TooManyTeams {
        /// The limit.
        max: usize,
    },

    /// The caller named registered memory that is not there.
    #[error(
        "PE {pe} has no registered memory with number {segment} that can be used so at offset \
         {offset_bytes}: it has unregistered it, or never registered it, or it is shorter"
    )]
    NotRegistered {
        /// The PE that was named.
        pe: PeId,
        /// The number of the segment.
        segment: u16,
        /// The first byte that was named.
        offset_bytes: u64,
    },
    /// A station has no memory with this key that may be used so.
    #[error("PE {pe} refuses {len_bytes} bytes at {at:#x} of its memory with key {key:#x}: {why}")]
    MemoryRefused {
        /// Which one.
        pe: PeId,
        /// The key that was named.
        key: u64,
        /// The first byte that was named, as the station counts them.
        at: u64,
        /// How many bytes were named, of this key and others.
        len_bytes: usize,
        /// Why.
        why: hostwire_station::memory_region::Refusal,
    },
    /// This PE has registered memory as often as it can.
    #[error("{max} pieces of memory are registered already; drop one first")]
    TooManySegments {
        /// The limit.
        max: usize,
    },
    /// A copy between memory of hosts and devices cannot be made: the text says who is at fault.
    #[error(transparent)]
    Tca(Box<TcaError>),

    /// A peer is lost.
    #[error("PE {pe}{} is lost: {}", on_host(*pe), known_by(*loss))]
    PeerLost {
        /// The peer.
        pe: PeId,
        /// How that is known.
        loss: Loss,
    },
    /// A peer that has to take part is in `finalize` and takes part no more.
    #[error("PE {pe} is leaving the job, while this PE still waits for it")]
    PeerLeft {
        /// The peer.
        pe: PeId,
    },
    /// A peer did what no correct peer does.
    #[error("PE {pe} broke the protocol: {how}")]
    PeerMisbehaved {
        /// The peer that owns the memory; another peer may have written there.
        pe: PeId,
        /// What it did.
        how: Misbehaviour,
    },

    /// The environment does not clearly name the job of this process, its launcher fails, or the
    /// settings do not allow this job.
    #[error("{step}: {fault}")]
    Launch {
        /// What this PE wanted.
        step: LaunchStep,
        /// Why it does not have it.
        #[source]
        fault: Box<LaunchError>,
    },
    /// A setting is unusable.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The machine, the network or the launcher does not give what is needed.
    #[error("{what}: {fault}{}", places(fault))]
    Environment {
        /// The attempted operation, for people.
        what: Box<str>,
        /// What was wrong.
        #[source]
        fault: EnvironmentFault,
    },
}

/// As it is displayed: what users of a program read if its `main` returns the error, or if it
/// unwraps a result.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error {
    /// `Ok` with the error itself if it refuses a message that does not fit: the message stays. Other
    /// errors are passed on.
    pub(crate) fn into_refusal(self) -> Result<Self> {
        match self {
            Self::MessageTooLong { .. } | Self::MessageShape { .. } => Ok(self),
            other => Err(other),
        }
    }
}

/// What a process asks of its launcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchStep {
    /// To join the job.
    #[error("cannot join the job")]
    Join,
    /// To leave it in good order.
    #[error("leaving the job")]
    Leave,
    /// To end all of it.
    #[error("ending the job")]
    Abort,
}

impl LaunchStep {
    /// The error if this step fails.
    pub(crate) fn failed(self, fault: LaunchError) -> Error {
        Error::Launch {
            step: self,
            fault: Box::new(fault),
        }
    }
}

#[cfg(target_os = "linux")]
impl From<hostwire_bootstrap::JoinError> for Error {
    fn from(error: hostwire_bootstrap::JoinError) -> Self {
        use hostwire_bootstrap::JoinError;
        match error {
            JoinError::Launch(fault) => LaunchStep::Join.failed(fault),
            JoinError::Transport(error) => error.into(),
            JoinError::Setting(error) => error.into(),
        }
    }
}

impl From<TransportError> for Error {
    #[cold]
    fn from(error: TransportError) -> Self {
        match error {
            TransportError::PeerLost { pe, loss } => Self::PeerLost { pe, loss },
            TransportError::NoSuchPe { pe, pes } => Self::NoSuchPe {
                what: "PE",
                pe,
                pes,
            },
            TransportError::PeerMisbehaved { pe, how } => Self::PeerMisbehaved {
                pe,
                how: how.into(),
            },
            TransportError::Environment { what, fault } => Self::Environment { what, fault },
            TransportError::Forked { .. } | TransportError::Restored { .. } => Self::Copied(error),
            other => Self::Misused(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Errors are returned by value, on the stack of every caller.
    #[test]
    fn an_error_is_short() {
        assert_eq!(size_of::<Result<()>>(), 80);
    }
}
