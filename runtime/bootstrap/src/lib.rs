//! Finds the other processes of a job, for any launcher.
//!
//! [`launch_environment`] detects the launcher, and [`connect`] connects to it. The result is a
//! [`Bootstrap`]: the number of this process, the number of processes, and a store for short
//! values that all can read. This is enough to set up faster ways. [`Nodes`] is the first use: it
//! finds which PEs share a host.
//!
//! | launcher | variables of the process | implementation of [`Bootstrap`] |
//! |---|---|---|
//! | `hostwire run`, `mpiexec.hydra`, `srun --mpi=pmi2` | `PMI_FD` | [`pmi`] |
//! | `mpiexec.hydra -pmi-port` | `PMI_PORT`, `PMI_ID` | [`pmi`] |
//! | `mpirun` of Open MPI, `prterun`, `srun --mpi=pmix` | `PMIX_RANK`, `PMIX_NAMESPACE` | `hostwire-pmix` |
//! | `srun --mpi=none`, one node | `SLURM_PROCID`, `SLURM_STEP_ID` | [`slurm`] |

#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        unused_imports,
        reason = "launchers, and wires that have names, need Linux"
    )
)]

mod alone;
#[cfg(target_os = "linux")]
mod deadline;
mod entry;
#[cfg(target_os = "linux")]
mod environment;
#[cfg(all(feature = "fuzzing", target_os = "linux"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod nodes;
#[cfg(target_os = "linux")]
mod over_pmi;
#[cfg(target_os = "linux")]
mod over_pmix;
pub mod pmi;
pub mod settings;
#[cfg(target_os = "linux")]
pub mod slurm;
pub mod starter;
pub mod variables;
#[cfg(target_os = "linux")]
mod within_host;
pub mod words;

pub use alone::Alone;
pub use entry::{Counters, Entry, JoinError, Joined, Joining, Meets, Segment, unclear};
#[cfg(target_os = "linux")]
pub use environment::{Clues, LaunchEnv, launch_environment, launch_environment_from};
#[cfg(target_os = "linux")]
use hostwire_pmix::PmixError;
use hostwire_transport::PeId;
pub use nodes::{Node, Nodes, NodesError};
#[cfg(target_os = "linux")]
pub use within_host::{SHM, host};
pub use words::WordsError;

#[cfg(target_os = "linux")]
pub use crate::deadline::Deadline;
#[cfg(target_os = "linux")]
use crate::deadline::silence;
#[cfg(target_os = "linux")]
use crate::pmi::PmiError;
use crate::variables::{INSECURE_WIRE, INSECURE_WIRE_WARNING, WIRE};

/// Most PEs of a job.
pub const PES_MAX: u32 = 1 << 16;

/// The services of every launcher for the processes that it started.
///
/// Every call blocks until the launcher has answered, or until the [`Deadline`] given at the
/// connection. Dropping it without [`finalize`](Self::finalize) is treated by most launchers as a
/// failure, which ends the job.
pub trait Bootstrap: Send {
    /// The name of the protocol, for texts: `PMI-1`.
    fn name(&self) -> &'static str;

    /// The number of this process, `0 .. size`.
    fn rank(&self) -> u32;

    /// The number of processes of the job.
    fn size(&self) -> u32;

    /// Publishes any bytes under `key`, a short word of ASCII letters, digits and hyphens;
    /// once per key. Others may [`get`](Self::get) them after the next
    /// [`fence`](Self::fence).
    ///
    /// # Errors
    /// A request that the launcher refuses.
    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError>;

    /// Waits until every process of the job has called it. All can then get the values
    /// that were put before.
    ///
    /// # Errors
    /// If a process has ended before calling it, as far as the launcher notices.
    fn fence(&mut self) -> Result<(), LaunchError>;

    /// The value that process `rank` has put under `key`.
    ///
    /// # Errors
    /// If it has put no value, or if the value was not made by [`put`](Self::put).
    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError>;

    /// Asks the launcher to end the whole job with exit status `status`. There may be no
    /// answer, because the launcher also ends this process; the caller should exit.
    ///
    /// # Errors
    /// If the launcher has ended, or cannot do this.
    fn abort(&mut self, status: i32, message: &str) -> Result<(), LaunchError>;

    /// Leaves the job in good order. No other call may follow. Has the same time limit as
    /// joining, counted anew.
    ///
    /// # Errors
    /// As the launcher answers.
    fn finalize(&mut self) -> Result<(), LaunchError>;
}

/// Why a process cannot find its job or join it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The environment shows several tasks, and no launcher that this process could use.
    #[error(
        "the environment shows a job ({}), but no launcher that hostwire can talk to; start it \
         with hostwire run, mpiexec.hydra, mpirun of Open MPI or srun (in a batch script of \
         Slurm, too)",
        .variables.join(", ")
    )]
    Unsupported {
        /// The variables that say so, as `NAME=value`.
        variables: Vec<String>,
    },
    /// The launcher has a job of one PE, but the environment shows more.
    #[error(
        "the launcher speaks of a job of one, but the environment shows more ({}); unset the \
         variables of the launcher that this job is not of",
        .variables.join(", ")
    )]
    Contradiction {
        /// The variables that say so, as `NAME=value`.
        variables: Vec<String>,
    },
    /// An error of PMI in text.
    #[cfg(target_os = "linux")]
    #[error("the launcher: {0}")]
    Pmi(#[from] PmiError),
    /// An error of PMIx.
    #[cfg(target_os = "linux")]
    #[error("the launcher: {0}")]
    Pmix(#[from] PmixError),
    /// The launcher, or another process that it waits for, is silent.
    #[cfg(target_os = "linux")]
    #[error("the launcher: {}", silence(asked, *waited_s))]
    Silent {
        /// The request.
        asked: &'static str,
        /// The time limit for joining.
        waited_s: u64,
    },
    /// An error of Slurm without a plugin.
    #[cfg(target_os = "linux")]
    #[error("{0}")]
    Slurm(#[from] slurm::SlurmError),
    /// A value from the launcher is not one that a PE has put.
    #[error("the value {key:?} of PE {rank}: {source}")]
    Words {
        /// Its key.
        key: String,
        /// The process that put it.
        rank: u32,
        /// What is wrong.
        source: WordsError,
    },
    /// The values of the PEs about their hosts make no sense.
    #[error(transparent)]
    Nodes(#[from] NodesError),
    /// The job spans hosts, and the wire does not.
    #[error("{}", several_hosts(*pe, nodes, wire, between))]
    SeveralHosts {
        /// This PE.
        pe: PeId,
        /// Where the PEs are.
        nodes: Nodes,
        /// The wire that the settings name.
        wire: &'static str,
        /// The wires that a job of several hosts may use instead.
        between: String,
    },
    /// There is no wire that PEs of all hosts can use.
    #[cfg(target_os = "linux")]
    #[error(
        "the PEs of this job have no wire between their hosts in common: {}; {WIRE} has to be the \
         same for all PEs", .why
    )]
    NoWire {
        /// Why, for each wire.
        why: String,
    },
    /// The job spans hosts, and its wire does not encrypt.
    #[cfg(target_os = "linux")]
    #[error(
        "the wire {wire} does not encrypt what it carries, so {INSECURE_WIRE_WARNING}; if that is \
         accepted, set {INSECURE_WIRE}=1"
    )]
    Insecure {
        /// The wire.
        wire: &'static str,
    },
    /// The values of a PE about the wire make no sense.
    #[error("PE {pe} does not say clearly where it is: {seen:?}")]
    Card {
        /// The PE.
        pe: PeId,
        /// The value, without its secrets.
        seen: String,
    },
}

/// Only PE 0 gives the whole text, so that a user reads it once.
fn several_hosts(pe: PeId, nodes: &Nodes, wire: &str, between: &str) -> String {
    let count = nodes.nodes().len();
    let own = nodes
        .node_of(pe)
        .and_then(|n| nodes.nodes().get(n as usize));
    let host = own.map_or("?", |node| node.host.as_str());
    let (noun, remedy) = match nodes.is_one_kernel() {
        true => (
            "network namespaces of one machine",
            "start all PEs in one of them, as containers with --network=host are",
        ),
        false => (
            "hosts",
            "start all PEs on one host (srun -N1, mpirun --host, mpiexec.hydra -hosts)",
        ),
    };
    match pe {
        0 => format!(
            "the job spans {count} {noun}: {nodes}; the wire {wire} joins PEs of one host, for \
             several {WIRE} has to be {between}: set it, or {remedy}"
        ),
        _ => format!(
            "PE {pe} runs on {host}, and the job spans {count} {noun}, where the wire {wire} joins \
             PEs of one: see what PE 0 says"
        ),
    }
}

/// The link of an attached process to its launcher.
pub struct Launched {
    /// `None` in a job that was started without a launcher.
    pub launcher: Option<Box<dyn Bootstrap>>,
    /// Where the PEs are.
    pub nodes: Nodes,
}

impl Launched {
    /// `pes` PEs on one host, without a launcher.
    pub fn by_nobody(pes: u32) -> Self {
        Self {
            launcher: None,
            nodes: Nodes::one(pes),
        }
    }
}

/// Connects to the launcher that the environment names; `None` for a job of one PE
/// without a launcher.
///
/// `own`: `hostwire run` has started this very process. `deadline`: how long to wait for the
/// launcher and for the others.
///
/// # Errors
/// [`LaunchError`]. Never gives a job of one PE if the environment shows more.
#[cfg(target_os = "linux")]
pub fn connect(own: bool, deadline: Deadline) -> Result<Option<Box<dyn Bootstrap>>, LaunchError> {
    match launch_environment(own) {
        LaunchEnv::Singleton => Ok(None),
        LaunchEnv::Pmi => match pmi::Client::from_env(deadline) {
            Ok(client) => Ok(client.map(|client| Box::new(client) as Box<dyn Bootstrap>)),
            Err(PmiError::Version { .. }) => {
                let client = pmi::Client2::from_env(deadline)?;
                Ok(client.map(|client| Box::new(client) as Box<dyn Bootstrap>))
            }
            Err(error) => Err(error.into()),
        },
        LaunchEnv::Pmix { alone, others } => match over_pmix::Process::init(deadline) {
            // Another launcher says that the job has one task, so no PE is missing.
            Err(LaunchError::Pmix(PmixError::NoLibrary { .. })) if alone => Ok(None),
            Err(error) => Err(error),
            Ok(pmix) if pmix.size() == 1 && !others.is_empty() => {
                Err(LaunchError::Contradiction { variables: others })
            }
            Ok(pmix) => Ok(Some(Box::new(pmix))),
        },
        LaunchEnv::Slurm => Ok(Some(Box::new(slurm::Step::from_env(deadline)?))),
        LaunchEnv::Unsupported { variables } => Err(LaunchError::Unsupported { variables }),
    }
}

/// Whether all processes of the job agree. `key` must be different for each question.
///
/// # Errors
/// As [`Bootstrap::put`], [`Bootstrap::fence`] and [`Bootstrap::get`].
pub fn all_agree(
    bootstrap: &mut dyn Bootstrap,
    key: &str,
    agrees: bool,
) -> Result<bool, LaunchError> {
    const YES: &[u8] = b"yes";
    let word = |agrees: bool| if agrees { YES } else { b"no" };
    let all = format!("{key}-all");
    bootstrap.put(key, word(agrees))?;
    bootstrap.fence()?;
    // Process 0 reads the answers of all, and all read its result.
    if bootstrap.rank() == 0 {
        let mut all_agree = true;
        for rank in 0..bootstrap.size() {
            all_agree &= bootstrap.get(rank, key)? == YES;
        }
        bootstrap.put(&all, word(all_agree))?;
    }
    bootstrap.fence()?;
    Ok(bootstrap.get(0, &all)? == YES)
}

/// Gives every process of the job the values of all. `value` is the value of this process.
///
/// # Errors
/// As [`Bootstrap::put`], [`Bootstrap::fence`] and [`Bootstrap::get`].
pub fn all_gather(
    bootstrap: &mut dyn Bootstrap,
    key: &str,
    value: &[u8],
) -> Result<Vec<Vec<u8>>, LaunchError> {
    bootstrap.put(key, value)?;
    bootstrap.fence()?;
    (0..bootstrap.size())
        .map(|rank| bootstrap.get(rank, key))
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_the_settings_do_not_allow_is_told_with_what_they_do() {
        let silent = LaunchError::Silent {
            asked: "PMIx_Fence",
            waited_s: 9,
        };
        for (error, text) in [
            (
                LaunchError::Card {
                    pe: 1,
                    seen: "2 words".into(),
                },
                "PE 1 does not say clearly where it is: \"2 words\"",
            ),
            (
                NodesError::Missing { pe: 1 }.into(),
                "PE 1 is on none of the hosts in the table from PE 0",
            ),
            (
                silent,
                "the launcher: no answer to PMIx_Fence within 9 s: the launcher is silent, or processes \
                 of the job have not come as far; HOSTWIRE_ATTACH_TIMEOUT sets how many seconds to \
                 wait",
            ),
        ] {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn a_job_that_spans_hosts_is_told_where_its_pes_are_and_what_to_set() {
        let nodes = Nodes::one(2);
        let text = |pe| {
            let error = LaunchError::SeveralHosts {
                pe,
                nodes: nodes.clone(),
                wire: "shm",
                between: "auto, udp or window".into(),
            };
            error.to_string()
        };
        assert_eq!(
            text(0),
            format!(
                "the job spans 1 network namespaces of one machine: {nodes}; the wire shm joins PEs \
                 of one host, for several HOSTWIRE_WIRE has to be auto, udp or window: \
                 set it, or start all PEs in one of them, as containers with --network=host are"
            )
        );
        let host = &nodes.nodes()[0].host;
        assert_eq!(
            text(1),
            format!(
                "PE 1 runs on {host}, and the job spans 1 network namespaces of one machine, where \
                 the wire shm joins PEs of one: see what PE 0 says"
            )
        );
    }
}
