//! What can be wrong with a region that several hosts map.

/// Why a process does not join a job over a region, or cannot stay in it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionFault {
    /// It does not begin as a region does.
    #[error("it is no region of hostwire (make one: hostwire window make PATH)")]
    NoRegion,
    /// Another version of hostwire has made it.
    #[error("it is a region of version {theirs}, and this is version {ours}")]
    Version {
        /// That of the region.
        theirs: u32,
        /// The one that this process knows.
        ours: u32,
    },
    /// Its header or an entry of its tables makes no sense.
    #[error("{part} is damaged")]
    Damaged {
        /// Which part.
        part: &'static str,
    },
    /// There are other contents, which would be lost.
    #[error("it has other contents, which would be lost")]
    OtherContents,
    /// There is a region already, with living jobs.
    #[error("{jobs} of its jobs still live")]
    Living {
        /// How many.
        jobs: usize,
    },
    /// It is not the region of this job.
    #[error("it is region {theirs:032x}, and the job is in region {ours:032x}")]
    Identity {
        /// That of the region behind the path of this process.
        theirs: u128,
        /// That of the job.
        ours: u128,
    },
    /// It is longer or shorter than its header or the job says.
    #[error("it has {theirs} bytes here, expected {ours}")]
    Size {
        /// The bytes that this process finds.
        theirs: u64,
        /// The bytes there should be.
        ours: u64,
    },
    /// Its contract is not the requested one.
    #[error("its contract is {theirs}, expected {ours}")]
    Contract {
        /// That of the region.
        theirs: &'static str,
        /// That of the setting or of the path.
        ours: &'static str,
    },
    /// The system does not say what the contract is.
    #[error(
        "the system does not say whether the caches of all hosts are kept equal there: add \
         contract=coherent, flushed or write-combining"
    )]
    NoContract,
    /// Its memory is not coherent, and this processor cannot write lines of 64 bytes back.
    #[error(
        "its contract is flushed, and this processor has no instruction that is known to write back lines of \
         64 bytes, and no more"
    )]
    NoFlush,
    /// No path, and PEs that have no kernel in common.
    #[error(
        "the PEs do not share a kernel: HOSTWIRE_WINDOW has to name a region that all can open"
    )]
    NoPath,
    /// The job to be joined is over.
    #[error("the job has incarnation {ours} of its place, where incarnation {theirs} is now")]
    Incarnation {
        /// What is there.
        theirs: u64,
        /// What this process wanted to join.
        ours: u64,
    },
    /// The entry is that of another job.
    #[error("its place in the table is held by another job")]
    Held,
    /// The region was cleared or taken while the job ran.
    #[error("another process has cleared it, or another job has taken the place of this one")]
    TakenAway,
    /// No more jobs or bytes.
    #[error("{jobs} jobs have {used} of its {all} bytes, and {wanted} more are needed")]
    Full {
        /// How many jobs are there.
        jobs: usize,
        /// Bytes that jobs and tables have.
        used: u64,
        /// All bytes.
        all: u64,
        /// The needed bytes.
        wanted: u64,
    },
    /// All numbers for kernels have been given out.
    #[error(
        "{kernels} kernels (starts of hosts) have had jobs in it, which is all it has numbers for: \
         make it again when no job is in it (hostwire window make)"
    )]
    Kernels {
        /// How many.
        kernels: u32,
    },
    /// The kernel does not say which one it is.
    #[error(
        "this host does not say which start of its kernel it is (/proc/sys/kernel/random/boot_id)"
    )]
    NoEpoch,
    /// Another process of this host is stopped in its turn.
    #[error("another process of this host has changed its tables for more than {waited_s} s")]
    Stopped {
        /// For how long it was waited for.
        waited_s: u64,
    },
    /// The file system has no room for it.
    #[error("its file system has {free} bytes free, and {wanted} are needed")]
    NoSpace {
        /// Free bytes.
        free: u64,
        /// What is needed.
        wanted: u64,
    },
    /// The file belongs to another user.
    #[error("it belongs to user {owner}, and this process to user {user}")]
    Owner {
        /// Whose it is.
        owner: u32,
        /// The user of this process.
        user: u32,
    },
    /// Other users may open the file.
    #[error("its mode is {mode:04o}, so other users may open it (chmod {wanted:o})")]
    Mode {
        /// Its mode.
        mode: u32,
        /// A mode that would do.
        wanted: u32,
    },
    /// A number is not aligned as the region needs.
    #[error("{what} is {bytes}, which is no multiple of {align_bytes}")]
    Unaligned {
        /// Which number.
        what: &'static str,
        /// Its value.
        bytes: u64,
        /// What it has to be a multiple of.
        align_bytes: u64,
    },
    /// It is neither a file nor a device that can be mapped.
    #[error("it is neither a file nor a device that can be mapped")]
    Kind,
    /// A PCI device that does not answer to loads and stores.
    #[error("the device is switched off (echo 1 > its enable, in the same folder)")]
    SwitchedOff,
    /// What a PE of another host has stored in a file is not seen.
    #[error(
        "what PE {pe} has stored there is not seen: it is another file, or each host has pages of \
         its own for it (a network file system, virtio-fs without dax)"
    )]
    OwnPages {
        /// The PE that stored.
        pe: super::PeId,
    },
    /// The doorbell that `bell=` asks for cannot be used.
    #[error("bell=vfio: {why}")]
    Bell {
        /// Why not.
        why: &'static str,
    },
    /// Some PEs of the job have doorbells, and others do not.
    #[error("PE {pe} is {theirs} bell=vfio, and this PE {ours}: all PEs of a job need the same")]
    OtherBell {
        /// The other one.
        pe: super::PeId,
        /// What it is.
        theirs: &'static str,
        /// What this one is.
        ours: &'static str,
    },
    /// What a PE has stored there is not seen.
    #[error(
        "what PE {pe} has stored there is not seen with the contract {contract}: is it the same \
         memory, and is that its contract?"
    )]
    Unseen {
        /// The PE that stored.
        pe: super::PeId,
        /// The contract.
        contract: &'static str,
    },
}
