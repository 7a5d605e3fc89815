//! The process's side of PMIx, the interface of `srun --mpi=pmix`, Open MPI's `mpirun`
//! and PRRTE.
//!
//! PMIx has no stable protocol: it is a C library, `libpmix.so.2`, and launcher and
//! process have to use the same version. So the library is loaded only when a process
//! runs under such a launcher; other users do not need it. This crate uses eight
//! functions and five structures, which are the same from version 2 to 5.
//!
//! All that is unsafe is in `abi.rs` and `library.rs`: this crate is for the library
//! `hostwire`, which has no unsafe code.
//!
//! # Source
//! PMIx standard 4.1, chapters 3 (structures), 4 (initialise, finalize), 5 (put, commit,
//! get), 7 (fence), 9 (abort); `pmix_common.h` of OpenPMIx 4.2.2 for the numbers.

#[cfg(not(target_os = "linux"))]
compile_error!("hostwire-pmix works on Linux only: it is for launchers of Linux clusters.");

mod abi;
#[cfg(any(test, feature = "fuzzing"))]
mod fake;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod library;

use abi::Api;
use hostwire_transport::os::signals;

/// Names the file to load instead of `libpmix.so.2` in the usual places.
pub const LIBRARY_VARIABLE: &str = "HOSTWIRE_PMIX_LIBRARY";

/// The first byte of every value. OpenPMIx 4.2.2 cannot store an empty value: its next
/// fence fails with `PMIX_ERR_PARTIAL_SUCCESS` or loses other values.
const MARK: u8 = b'=';

/// An error between this process and a launcher with PMIx.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PmixError {
    /// The environment is that of PMIx, but its library is not on this machine.
    #[error(
        "the launcher speaks PMIx, whose library cannot be loaded ({reason}); install it \
         (package libpmix2 of Debian and Ubuntu, pmix elsewhere) or set {LIBRARY_VARIABLE} \
         to where it is"
    )]
    NoLibrary {
        /// The error text of the system's loader.
        reason: String,
    },
    /// The library lacks a function that all versions from 2 on have.
    #[error("{library} is not a PMIx library: it has no function {function}")]
    NoFunction {
        /// The file.
        library: String,
        /// The function.
        function: &'static str,
    },
    /// A function of the library failed.
    #[error("{function}: {reason} (status {status})")]
    Failed {
        /// The function.
        function: &'static str,
        /// The returned status.
        status: i32,
        /// The library's text for the status.
        reason: String,
    },
    /// The library gave an unexpected answer.
    #[error("{function} gave {seen}; expected {expected}")]
    Unexpected {
        /// The function.
        function: &'static str,
        /// The value that it gave.
        seen: String,
        /// The expected value.
        expected: &'static str,
    },
    /// No thread for a call of the library.
    #[error("starting a thread for a call of PMIx: {reason}")]
    NoThread {
        /// The error of the system.
        reason: String,
    },
    /// A key that PMIx cannot carry: the caller's fault.
    #[error(
        "a key of {got_bytes} bytes; keys have 1 to {}, none of them zero",
        abi::KEY_BYTES_MAX
    )]
    BadKey {
        /// Its length.
        got_bytes: usize,
    },
}

/// A connection to the launcher of this process.
///
/// Dropping it without [`finalize`](Self::finalize) counts as a failure of this process,
/// and the launcher ends the job.
pub struct Pmix {
    api: Api,
    proc: abi::Proc,
    size: u32,
}

impl Pmix {
    /// Loads the library and connects to the launcher, which `PMIX_NAMESPACE`,
    /// `PMIX_RANK` and others in the environment describe to the library.
    ///
    /// # Errors
    /// [`PmixError::NoLibrary`], [`PmixError::NoFunction`]: faults of the machine.
    /// Otherwise errors of the launcher.
    pub fn init() -> Result<Self, PmixError> {
        Self::init_with(library::load()?)
    }

    fn init_with(api: Api) -> Result<Self, PmixError> {
        // It loads more libraries, and starts threads.
        let proc = signals::kept(|| api.init())?;
        // The value belongs to the whole job, so the call names no rank.
        let size = api.get(&proc.with_rank(abi::RANK_WILDCARD), "pmix.job.size")?;
        match size {
            abi::Answer::Number(n) if n > u64::from(proc.rank) && n <= u64::from(u32::MAX) => {
                Ok(Self {
                    api,
                    proc,
                    size: n as u32,
                })
            }
            other => Err(PmixError::Unexpected {
                function: "PMIx_Get(\"pmix.job.size\")",
                seen: format!("{other} for rank {}", proc.rank),
                expected: "a number above the rank",
            }),
        }
    }

    /// The number of this process, `0 .. size`.
    pub fn rank(&self) -> u32 {
        self.proc.rank
    }

    /// The number of processes of the job.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Publishes `value` under `key`; others may [`get`](Self::get) it after the next
    /// [`fence`](Self::fence).
    ///
    /// # Errors
    /// [`PmixError::BadKey`], otherwise errors of the library.
    pub fn put(&mut self, key: &str, value: &[u8]) -> Result<(), PmixError> {
        self.api.put(key, &[&[MARK], value].concat())
    }

    /// Waits until every process of the job has called it, and distributes their values.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn fence(&mut self) -> Result<(), PmixError> {
        self.api.fence()
    }

    /// The value that process `rank` has put under `key`.
    ///
    /// # Errors
    /// [`PmixError::Failed`] if it has put no value there.
    pub fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, PmixError> {
        match self.api.get(&self.proc.with_rank(rank), key)? {
            abi::Answer::Bytes(bytes) if bytes.first() == Some(&MARK) => {
                Ok(bytes.get(1..).unwrap_or_default().to_vec())
            }
            other => Err(PmixError::Unexpected {
                function: "PMIx_Get",
                seen: format!("{other} for the key {key:?} of rank {rank}"),
                expected: "the bytes that were put there",
            }),
        }
    }

    /// Asks the launcher to end the whole job with exit status `status`. The caller
    /// should exit afterwards.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn abort(&mut self, status: i32, message: &str) -> Result<(), PmixError> {
        self.api.abort(status, message)
    }

    /// Leaves the job.
    ///
    /// # Errors
    /// Errors of the library.
    pub fn finalize(&mut self) -> Result<(), PmixError> {
        self.api.finalize()
    }
}

#[cfg(test)]
mod tests;
