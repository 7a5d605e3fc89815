//! Why a job in virtual time did not run to its end.

use hostwire_transport::TransportError;

use crate::engine::{Ps, RunError, StallReport};
use crate::machine::htx::BoardError;
use crate::models::pcie::peach2::chip::DmaStatus;
use crate::tca::TcaError;

use super::messages::HOST_PES_MAX;

/// An error of [`run`](super::run()).
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The caller named a socket that the machine does not have.
    #[error("PE {pe} shall run on socket {socket}, but the machine has {sockets}")]
    NoSuchSocket {
        /// Which PE.
        pe: usize,
        /// Socket asked for.
        socket: usize,
        /// How many there are.
        sockets: usize,
    },
    /// All cores of a socket run other programs.
    #[error("PE {pe} shall run on socket {socket}, which has no free core")]
    NoFreeCore {
        /// Which PE.
        pe: usize,
        /// Its socket.
        socket: usize,
    },
    /// The messages of a host cannot name so many PEs.
    #[error("{pes} PEs shall run on host {host}, whose messages tell {HOST_PES_MAX} apart")]
    TooManyPes {
        /// Which host.
        host: usize,
        /// How many PEs.
        pes: usize,
    },
    /// The segment is not inside the memory of the socket.
    #[error(
        "a segment of {segment_bytes} bytes at offset {offset_bytes}, a multiple of 64, does \
         not fit the {memory_bytes} bytes of socket {socket}: at most {fits_bytes} do"
    )]
    NoMemory {
        /// Which socket.
        socket: usize,
        /// Where in its memory.
        offset_bytes: u64,
        /// Size of a segment.
        segment_bytes: usize,
        /// Size of the memory.
        memory_bytes: u64,
        /// Size of the largest segment that all PEs could have.
        fits_bytes: u64,
    },
    /// The segment is too small to be one.
    #[error(transparent)]
    Segment(TransportError),
    /// The host gave no memory for the stack of a PE.
    #[error(transparent)]
    Stack(TransportError),
    /// No event is left, and PEs or devices still wait.
    #[error("deadlock at {time}: {}", open_waits(pes, devices.as_ref()))]
    Stalled {
        /// When the last event happened.
        time: Ps,
        /// Which PEs wait, and for what.
        pes: Vec<String>,
        /// The devices that wait; `None` if no device waits, so that a PE waits for a store
        /// that no PE sends.
        devices: Option<StallReport>,
    },
    /// A PE, or a library below it, has asked for something impossible.
    #[error(transparent)]
    Pe(TransportError),
    /// The run has come to the time at which it is to end, and PEs have not ended.
    #[error("{time} have passed, and {} still run", running.join(", "))]
    TimeSpent {
        /// That time.
        time: Ps,
        /// Which PEs.
        running: Vec<String>,
    },
    /// The watch of the run has ended it.
    #[error("interrupted at {time} after {events} events")]
    Interrupted {
        /// Events of this run.
        events: u64,
        /// Simulated time reached.
        time: Ps,
    },
    /// A board that is RTL has failed.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// A sub-cluster cannot do what a PE has asked for.
    #[error(transparent)]
    Tca(#[from] TcaError),
    /// The DMA controller of a chip could not move what a PE has put.
    #[error("the DMA controller of {chip} could not move what PE {pe} has put: {status:?}")]
    Dma {
        /// Which PE.
        pe: usize,
        /// The chip.
        chip: String,
        /// How the controller ended.
        status: DmaStatus,
    },
    /// The budget of events is spent and the run has not ended.
    #[error(transparent)]
    Run(#[from] RunError),
}

fn open_waits(pes: &[String], devices: Option<&StallReport>) -> String {
    let pes = pes.join("; ");
    match devices {
        Some(devices) if pes.is_empty() => devices.to_string(),
        Some(devices) => format!("{pes}; {devices}"),
        None => pes,
    }
}
