//! What the machine, the network and the launcher of a job can do wrong.

use std::io;
use std::sync::Arc;

use super::PeId;
use crate::printable::printable;

/// What was wrong outside of the program. There is a variant for each fault that a program or its
/// user can do something about.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentFault {
    /// The operating system refused, for a reason that no other variant names.
    #[error(transparent)]
    System(SystemError),
    /// This process lacks a right.
    #[error("not allowed without {rights}; {advice}")]
    NotPermitted {
        /// The capabilities of Linux that it needs.
        rights: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// The simulator of the hardware refuses it.
    #[error("{refusal}")]
    Model {
        /// Why, in its words.
        refusal: Box<str>,
    },
    /// Another process has it.
    #[error("in use: {rule}")]
    InUse {
        /// How many can have it.
        rule: &'static str,
    },
    /// The kernel of this machine does not have it.
    #[error("{missing}")]
    Unsupported {
        /// What it does not have.
        missing: &'static str,
    },
    /// There are not enough addresses, or not enough memory.
    #[error("{}", no_room(.cause.as_ref()))]
    NoRoom {
        /// The reason of the system, if it was asked.
        cause: Option<SystemError>,
    },
    /// A limit of this process is too low.
    #[error("{detail}; raise {limit}")]
    Limit {
        /// The limit.
        limit: Limit,
        /// What was needed, and what there is.
        detail: Box<str>,
    },
    /// PEs did not come in time.
    #[error("{} did not come in time", listed(.pes))]
    Absent {
        /// Those PEs.
        pes: Box<[PeId]>,
    },
    /// A PE of another host does not answer.
    #[error("{silence} (does the network carry {address} from here?)")]
    NoAnswer {
        /// The PE.
        pe: PeId,
        /// Where it is.
        address: Box<str>,
        /// What is known of the reason.
        silence: Silence,
    },
    /// Two PEs were started with different settings.
    #[error("{}", about.text(*pe, *with))]
    Disagreement {
        /// One PE.
        pe: PeId,
        /// The other one.
        with: PeId,
        /// What they disagree about.
        about: Disagreement,
    },
    /// A process has the number of another PE, or one that no PE can have.
    #[error("{}", number(*pe, *pes))]
    Number {
        /// Its number.
        pe: PeId,
        /// How many PEs there are.
        pes: u32,
    },
    /// PE 0 could not bring the PEs together.
    #[error("{why}")]
    Refused {
        /// The reason, as PE 0 tells it.
        why: Box<str>,
    },
    /// There is no network interface that can be taken.
    #[error("{}", no_interface(.named.as_deref(), .up))]
    NoInterface {
        /// The one that was asked for.
        named: Option<Box<str>>,
        /// The names of those that are up.
        up: Box<[String]>,
    },
    /// A network interface has no address of the needed kind.
    #[error("it has no IPv4 address")]
    NoAddress {
        /// Its name.
        interface: Box<str>,
    },
    /// A process of another user answers in the place of a PE.
    #[error("the process that listens belongs to another user")]
    Stranger,
    /// Something that came from outside is not what it has to be.
    #[error("expected {expected}, got {got}")]
    Unexpected {
        /// What it has to be.
        expected: Box<str>,
        /// What it is.
        got: Box<str>,
    },
    /// A region that several hosts map is not what it has to be.
    #[error(transparent)]
    Region(Box<super::RegionFault>),
    /// The links to other hosts do not work, and no peer is at fault.
    #[error("{detail}")]
    Links {
        /// What the link says.
        detail: Box<str>,
    },
}

impl From<super::RegionFault> for EnvironmentFault {
    fn from(fault: super::RegionFault) -> Self {
        Self::Region(Box::new(fault))
    }
}

/// A limit of a process that its user can raise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limit {
    /// How many files it may have open.
    #[error("the limit of open files (ulimit -n)")]
    OpenFiles,
    /// How long a file may be.
    #[error(
        "the limit of files (ulimit -f), or take a smaller HOSTWIRE_HEAP or SHMEM_SYMMETRIC_SIZE"
    )]
    FileBytes,
    /// How much memory it may lock.
    #[error("the limit of locked memory (ulimit -l)")]
    LockedMemory,
}

/// What is known of a PE of another host that does not answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Silence {
    /// Nothing.
    #[error("it does not answer")]
    Unknown,
    /// Its frames are encrypted, and those of this PE are not.
    #[error("no answer: frames that come are encrypted, and this PE runs without encryption")]
    Sealed,
    /// Its frames are not encrypted, and those of this PE are.
    #[error("no answer: frames that come are not encrypted, and this PE accepts none like that")]
    Unsealed,
    /// Its frames cannot be decrypted.
    #[error(
        "no answer: the frames that come are damaged on the way, or encrypted with the key of \
         another job; which of the two cannot be told"
    )]
    Forged,
}

/// What two PEs of a job disagree about.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Disagreement {
    /// How many PEs the job has.
    Pes {
        /// The number of the one PE.
        theirs: u32,
        /// The number of the other PE.
        ours: u32,
    },
    /// The size of a segment.
    SegmentBytes {
        /// The size of the one PE.
        theirs: u64,
        /// The size of the other PE.
        ours: u64,
    },
    /// A size of which segments are made.
    Size {
        /// What it is the size of.
        what: &'static str,
        /// The size of the one PE.
        theirs: u64,
        /// The size of the other PE.
        ours: u64,
    },
    /// What memory and addresses mean.
    Version {
        /// The version of the one PE.
        theirs: u64,
        /// The version of the other PE.
        ours: u64,
    },
    /// A setting that all PEs have to have, or none.
    Setting {
        /// Its name.
        setting: &'static str,
        /// Whether the one PE has it. The other one does not agree.
        theirs: bool,
    },
    /// The wire between hosts.
    Wire {
        /// The address of the one PE.
        theirs: Box<str>,
        /// What the other PE sends.
        ours: &'static str,
    },
    /// How many interfaces reach a host.
    Interfaces {
        /// Those of the one PE.
        theirs: usize,
        /// Those of the other PE.
        ours: usize,
    },
    /// Whether frames are encrypted.
    Encryption {
        /// Whether the one PE encrypts its frames. The other does not agree.
        theirs: bool,
    },
}

impl Disagreement {
    fn text(&self, pe: PeId, with: PeId) -> String {
        const SIZES: &str = "all PEs need the same program and the same sizes (HOSTWIRE_HEAP, \
                             HOSTWIRE_RING, SHMEM_SYMMETRIC_SIZE)";
        match self {
            Self::Pes { theirs, ours } => {
                format!("PE {pe} says that the job has {theirs} PEs, PE {with} says {ours}")
            }
            Self::SegmentBytes { theirs, ours } => {
                format!("PE {pe} has a segment of {theirs} bytes, PE {with} of {ours}: {SIZES}")
            }
            Self::Size { what, theirs, ours } => {
                format!("PE {pe} has {what} of {theirs} bytes, PE {with} of {ours}: {SIZES}")
            }
            Self::Version { theirs, ours } => format!(
                "PE {pe} lays memory out by version {theirs}, PE {with} by version {ours}: all PEs \
                 need the same version of hostwire"
            ),
            Self::Setting { setting, theirs } => {
                let (has, has_not) = match theirs {
                    true => (pe, with),
                    false => (with, pe),
                };
                format!(
                    "PE {has} has {setting} and PE {has_not} has not: it has to be set for all PEs, \
                     or for none"
                )
            }
            Self::Wire { theirs, ours } => format!(
                "PE {pe} is at {theirs}, and PE {with} speaks {ours} (do all run with the same \
                 HOSTWIRE_WIRE?)"
            ),
            Self::Interfaces { theirs, ours } => format!(
                "PE {pe} uses {theirs} interfaces, PE {with} uses {ours}: HOSTWIRE_IFACE has to \
                 name as many for all PEs"
            ),
            Self::Encryption { theirs } => {
                let (theirs, ours) = match theirs {
                    true => ("with", "without"),
                    false => ("without", "with"),
                };
                format!(
                    "PE {pe} runs {theirs} encryption and PE {with} {ours}: HOSTWIRE_INSECURE_WIRE \
                     has to be the same for all PEs"
                )
            }
        }
    }
}

/// An error of the operating system, which can be copied and compared.
#[derive(Debug, Clone)]
pub struct SystemError(Arc<io::Error>);

impl SystemError {
    /// The error itself.
    pub fn get(&self) -> &io::Error {
        &self.0
    }
}

impl core::fmt::Display for SystemError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(&printable(&self.0.to_string()))
    }
}

impl core::error::Error for SystemError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for SystemError {
    fn eq(&self, other: &Self) -> bool {
        let parts = |error: &io::Error| (error.kind(), error.raw_os_error());
        parts(&self.0) == parts(&other.0) && self.to_string() == other.to_string()
    }
}

impl Eq for SystemError {}

impl From<io::Error> for SystemError {
    fn from(error: io::Error) -> Self {
        Self(Arc::new(error))
    }
}

impl From<rustix::io::Errno> for SystemError {
    fn from(error: rustix::io::Errno) -> Self {
        io::Error::from(error).into()
    }
}

impl From<io::Error> for EnvironmentFault {
    fn from(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EMFILE | libc::ENFILE) => Self::Limit {
                limit: Limit::OpenFiles,
                detail: error.to_string().into(),
            },
            _ => Self::System(error.into()),
        }
    }
}

impl From<rustix::io::Errno> for EnvironmentFault {
    fn from(error: rustix::io::Errno) -> Self {
        io::Error::from(error).into()
    }
}

impl EnvironmentFault {
    /// An [`Unexpected`](Self::Unexpected).
    pub fn unexpected(
        expected: impl core::fmt::Display,
        got: impl core::fmt::Display,
    ) -> EnvironmentFault {
        let boxed = |text: String| printable(&text).into_boxed_str();
        Self::Unexpected {
            expected: boxed(expected.to_string()),
            got: boxed(got.to_string()),
        }
    }
}

fn no_room(cause: Option<&SystemError>) -> String {
    match cause {
        Some(cause) => cause.to_string(),
        None => "more than the address space".to_owned(),
    }
}

fn listed(pes: &[PeId]) -> String {
    let pes: Vec<String> = pes.iter().map(PeId::to_string).collect();
    format!("PE {}", pes.join(", "))
}

fn number(pe: PeId, pes: u32) -> String {
    match pe < pes {
        true => format!("two processes say that they are PE {pe}"),
        false => format!("PE {pe} is not one of the {pes} PEs of the job"),
    }
}

fn no_interface(named: Option<&str>, up: &[String]) -> String {
    let why = match named {
        Some(name) => format!("there is no {name:?} (HOSTWIRE_IFACE)"),
        None => "no default route shows which; set HOSTWIRE_IFACE".to_owned(),
    };
    match up {
        [] => format!("{why}; no Ethernet interface is up"),
        _ => format!(
            "{why}; the Ethernet interfaces that are up: {}",
            printable(&up.join(", "))
        ),
    }
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
