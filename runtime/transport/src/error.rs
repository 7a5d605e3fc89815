//! The errors of a wire, and who is at fault.

mod environment;
#[cfg(target_os = "linux")]
mod loss;
mod misbehaviour;
mod region;

use core::time::Duration;

pub use environment::{Disagreement, EnvironmentFault, Limit, Silence, SystemError};
pub use misbehaviour::Misbehaviour;
pub use region::RegionFault;

/// The number of a PE in its job, `0 .. pes`.
pub type PeId = u32;

/// An error of a transport.
///
/// The variants say who is at fault: the caller ([`OutOfRange`](Self::OutOfRange),
/// [`Misaligned`](Self::Misaligned), [`NoSuchPe`](Self::NoSuchPe), [`NoWire`](Self::NoWire),
/// [`Misused`](Self::Misused), [`Forked`](Self::Forked), [`Restored`](Self::Restored)), a peer
/// ([`PeerLost`](Self::PeerLost), [`PeerMisbehaved`](Self::PeerMisbehaved)) or the
/// machine, the network and the launcher ([`Environment`](Self::Environment)).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TransportError {
    /// The caller named bytes that are not in the segment.
    #[error(
        "{len_bytes} bytes at offset {offset_bytes} do not fit a segment of {segment_bytes} bytes"
    )]
    OutOfRange {
        /// First byte that was named.
        offset_bytes: usize,
        /// How many bytes were named.
        len_bytes: usize,
        /// How many bytes there are.
        segment_bytes: usize,
    },
    /// The caller asked for an atomic access at an address that cannot have one.
    #[error("offset {offset_bytes} is not a multiple of {align_bytes}")]
    Misaligned {
        /// The offset that was named.
        offset_bytes: usize,
        /// The required alignment.
        align_bytes: usize,
    },
    /// The caller named a PE that is not in the job.
    #[error("there is no PE {pe}: the job has {pes} (0 to {})", pes.saturating_sub(1))]
    NoSuchPe {
        /// The PE that was named.
        pe: PeId,
        /// How many there are.
        pes: u32,
    },
    /// The caller combined wires, and none of them leads to a PE.
    #[error("no wire of this PE leads to PE {pe}")]
    NoWire {
        /// The PE.
        pe: PeId,
    },
    /// The caller asked for something that cannot be done.
    #[error("{what}: expected {expected}, got {got}")]
    Misused {
        /// The attempted operation.
        what: &'static str,
        /// What is possible.
        expected: Box<str>,
        /// What was asked for.
        got: Box<str>,
    },
    /// This process is a copy of the PE; the PE itself continues.
    #[error(
        "this process is a child that PE {pe} (process {process}) has forked: it is no PE of the \
         job and cannot use it. Leave what needs the job to the parent; the child may compute, \
         and execute other programs"
    )]
    Forked {
        /// The PE.
        pe: PeId,
        /// The number of its process.
        process: u32,
    },
    /// This process was restored from a checkpoint, and the original may still run.
    #[error(
        "PE {pe} was restored from a checkpoint: its job is that of the process of which the \
         checkpoint was taken. Start the job anew"
    )]
    Restored {
        /// The PE.
        pe: PeId,
    },
    /// A peer is lost.
    #[error("PE {pe} is lost: {loss}")]
    PeerLost {
        /// The peer.
        pe: PeId,
        /// How that is known.
        loss: Loss,
    },
    /// A peer did what no correct peer does.
    #[error("PE {pe} broke the protocol: {how}")]
    PeerMisbehaved {
        /// The peer that owns the memory; another peer may have written there.
        pe: PeId,
        /// What it did.
        how: Misbehaviour,
    },
    /// The machine, the network or the launcher does not give what is needed.
    #[error("{what}: {fault}")]
    Environment {
        /// The attempted operation, for people.
        what: Box<str>,
        /// What was wrong.
        #[source]
        fault: EnvironmentFault,
    },
}

/// A PE of another host is lost after so long a silence, unless the options of its wire set another time. A shorter
/// stop of a process or a cable does no harm. While the kernel of its host answers, the limit is `STOPPED_LIMITS`
/// times as long.
pub const LOST_AFTER: Duration = Duration::from_secs(10);

/// How it is known that a peer is lost. If several causes are possible, all are named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Loss {
    /// Its process has ended, as a kernel noticed.
    #[default]
    Ended,
    /// It has been silent for too long.
    Silent {
        /// For how long.
        silent_ms: u64,
        /// Whether its process may have ended unnoticed.
        may_have_ended: bool,
    },
    /// It has been silent for too long, and its host does not answer either.
    HostSilent {
        /// For how long.
        silent_ms: u64,
    },
    /// It has been silent for `STOPPED_LIMITS` times as long as a PE may be, although its host answers.
    Stopped {
        /// For how long.
        silent_ms: u64,
    },
    /// Its frames arrive, but for too long no frames to it have arrived.
    Unacknowledged {
        /// For how long.
        stalled_ms: u64,
    },
    /// It never answered.
    Unreachable {
        /// How long it was tried.
        after_ms: u64,
    },
    /// Another process has taken its place on the wire.
    Restarted,
    /// It has given this PE up because it heard nothing from it.
    GaveUp,
    /// It has cut this PE off, and says that this PE broke the protocol.
    #[cfg(target_os = "linux")]
    CutOff(hostwire_packet::htoe::CloseReason),
    /// The wire has lost the connection to it.
    Disconnected,
    /// The adapter of this host has ended: the process that sends and receives for all PEs here.
    NoAdapter,
}

impl core::fmt::Display for Loss {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let s = |ms: &u64| *ms as f64 / 1000.0;
        match self {
            Self::Ended => f.write_str("its process has ended"),
            Self::Silent {
                silent_ms,
                may_have_ended,
            } => {
                let ended = if *may_have_ended { "has ended or " } else { "" };
                write!(
                    f,
                    "it has not been heard for {:.1} s: its process {ended}does not run, or its \
                     host cannot be reached",
                    s(silent_ms)
                )
            }
            Self::HostSilent { silent_ms } => write!(
                f,
                "it has not been heard for {:.1} s, and its host does not answer either: the host is \
                 off or hangs, or cannot be reached",
                s(silent_ms)
            ),
            Self::Stopped { silent_ms } => write!(
                f,
                "it has not been heard for {:.1} s, although its host answers: its process is stopped \
                 or gets no processor, or what it sends does not arrive",
                s(silent_ms)
            ),
            Self::Unacknowledged { stalled_ms } => write!(
                f,
                "it is heard, but has acknowledged nothing for {:.1} s: what is sent to it does not \
                 arrive, or no frames as long as those (does the network carry one direction only, or is the MTU on the \
                 way smaller than it was?)",
                s(stalled_ms)
            ),
            Self::Unreachable { after_ms } => {
                write!(f, "it has not answered for {:.1} s", s(after_ms))
            }
            #[cfg(target_os = "linux")]
            Self::CutOff(why) => write!(f, "it has cut this PE off, and says why: {why}"),
            Self::Restarted => f.write_str("another process has taken its place"),
            Self::Disconnected => f.write_str(
                "the connection to it is broken: its process has ended, or its host cannot be reached",
            ),
            Self::NoAdapter => f.write_str(
                "it cannot be reached any more: the process hw-adapter, which sends and receives \
                 for all PEs of this host, has ended",
            ),
            Self::GaveUp => f.write_str(
                "it has given this PE up, of which it heard nothing for too long, or whose frames \
                 did not arrive",
            ),
        }
    }
}

impl TransportError {
    /// An [`Environment`](Self::Environment) error.
    #[cold]
    pub fn environment(what: impl Into<Box<str>>, fault: impl Into<EnvironmentFault>) -> Self {
        Self::Environment {
            what: what.into(),
            fault: fault.into(),
        }
    }

    /// A [`Misused`](Self::Misused) error.
    #[cold]
    pub fn misused(
        what: &'static str,
        expected: impl core::fmt::Display,
        got: impl core::fmt::Display,
    ) -> Self {
        Self::Misused {
            what,
            expected: expected.to_string().into(),
            got: got.to_string().into(),
        }
    }
}
