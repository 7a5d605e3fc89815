//! What goes wrong with copies between devices.

use hostwire_device::DeviceError;
use hostwire_transport::PeId;

/// Why a copy of [`tca`](crate::tca) is not made. The first group is the caller's fault, the second that of
/// the machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TcaError {
    /// The caller named a device that this PE does not have.
    #[error("PE {pe} has no device {device}: it has {devices}; {HINT}")]
    NoDevice {
        /// This PE.
        pe: PeId,
        /// The number that was named.
        device: u32,
        /// How many there are.
        devices: u32,
    },
    /// Accelerators are not modelled in virtual time.
    #[error(
        "PE {pe} runs in virtual time, where programs have host memory alone: allocate on the host"
    )]
    InVirtualTime {
        /// This PE.
        pe: PeId,
    },
    /// The caller wants to read memory of another PE, but only writes cross between PEs.
    #[error(
        "PE {pe} cannot read {source_place}: only writes cross between PEs; let PE {of} copy it"
    )]
    RemoteRead {
        /// This PE.
        pe: PeId,
        /// Whose memory it is.
        of: PeId,
        /// What was to be read.
        source_place: String,
    },
    /// The caller named bytes that are not in one allocation of this PE.
    #[error("{place} and {len} bytes are not in an allocation of this PE")]
    NotAllocated {
        /// The first byte.
        place: String,
        /// How many.
        len: u64,
    },
    /// The caller named bytes that the other PE does not have.
    #[error("{place} and {len} bytes are not in memory that PE {pe} has allocated for this")]
    NotThere {
        /// Whose memory was named.
        pe: PeId,
        /// The first byte.
        place: String,
        /// How many.
        len: u64,
    },
    /// The caller named a word that cannot be one.
    #[error("{place} is no word to wait for: it has to be in host memory, at a multiple of 8")]
    NoWord {
        /// Where.
        place: String,
    },
    /// The caller wants an alignment that is not possible.
    #[error("an alignment of {align} bytes: expected a power of two of at most {max}")]
    Alignment {
        /// The alignment.
        align: usize,
        /// The largest.
        max: usize,
    },
    /// The host memory of this PE for copies is full.
    #[error(
        "no {len} bytes of host memory in one piece: {free_bytes} of {pool_bytes} are free; \
         `Config::host_bytes` says how many there are"
    )]
    HostFull {
        /// How many were asked for.
        len: usize,
        /// Free in all.
        free_bytes: usize,
        /// How many there are.
        pool_bytes: usize,
    },
    /// The caller gave a chain without anything to do.
    #[error("a chain without descriptors")]
    EmptyChain,

    /// A device of this PE fails.
    #[error("PE {pe}: {fault}")]
    Device {
        /// This PE.
        pe: PeId,
        /// What is wrong.
        #[source]
        fault: DeviceError,
    },
    /// A device of another PE fails.
    #[error("PE {pe} could not write {place}: its device is lost or refuses")]
    FarDevice {
        /// The PE.
        pe: PeId,
        /// Where the bytes were to go.
        place: String,
    },
    /// A stream of another PE that was to write here has failed, and that PE waits for something else.
    #[error(
        "a stream of PE {pe} that was to write here has failed, and PE {pe} waits and has not called `synchronize`: \
         what this PE waits for may be behind that copy"
    )]
    StreamFailed {
        /// The other PE.
        pe: PeId,
    },
}

/// The setting that changes the number of devices.
const HINT: &str = "HOSTWIRE_DEVICES says which there are";

impl From<TcaError> for super::Error {
    #[cold]
    fn from(fault: TcaError) -> Self {
        Self::Tca(Box::new(fault))
    }
}
