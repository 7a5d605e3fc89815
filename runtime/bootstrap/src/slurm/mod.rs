//! Tasks of a Slurm step without any plugin: `srun --mpi=none`, the default of many sites.
//!
//! Slurm gives each task only its number, so the tasks meet by themselves: task 0 listens
//! on an abstract Unix socket whose name begins with the numbers of the job and the step,
//! and the others connect to it. The kernel says which user is at the other end, and the
//! tasks of one step belong to one user. So no other user can join or block the meeting:
//! see `door`.
//!
//! This works on one node. Over a network the tasks would need a common secret, and
//! Slurm gives them none: everything that it puts into their environment can be guessed.
//! So a step on several nodes is an error that names the options of `srun` to use.

pub(crate) mod door;
pub(crate) mod exchange;
pub(crate) mod frame;

use std::process::{Command, Stdio};

use exchange::{Exchange, Rendezvous};
pub use frame::FrameError;
use hostwire_transport::{SystemError, printable, quoted};

use super::{Bootstrap, Deadline, LaunchError};
use crate::PES_MAX;
use crate::variables::ATTACH_TIMEOUT;

/// Why the tasks of a step cannot meet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SlurmError {
    /// A variable of Slurm is missing or not what it should be.
    #[error("{name} is {seen} in the environment; expected {expected}")]
    Variable {
        /// The variable.
        name: &'static str,
        /// Its value in quotes, or `missing`.
        seen: String,
        /// What would have been right.
        expected: &'static str,
    },
    /// The step spans nodes.
    #[error(
        "this step of Slurm spans {nodes} nodes, and was started with --mpi=none: its tasks have \
         no secret in common by which to know each other over a network; start it with \
         srun --mpi=pmi2 or srun --mpi=pmix, or on one node with srun -N1"
    )]
    SeveralNodes {
        /// How many.
        nodes: u32,
    },
    /// The socket of the step does not work.
    #[error("task {rank} meeting the others at the socket @{place}-*: {source}")]
    Socket {
        /// This task.
        rank: u32,
        /// The beginning of the socket's name.
        place: String,
        /// Why.
        source: SystemError,
    },
    /// Tasks did not come in time.
    #[error(
        "waited {waited_s} s for task {} of the step; {ATTACH_TIMEOUT} sets how many seconds to wait",
        list(.tasks)
    )]
    Absent {
        /// Which ones.
        tasks: Vec<u32>,
        /// How long.
        waited_s: u64,
    },
    /// A task ended while others waited for it.
    #[error("task {task} of the step has ended")]
    Ended {
        /// Which one.
        task: u32,
    },
    /// Task 0 could not bring the tasks together.
    #[error("task 0 says: {}", printable(reason))]
    Refused {
        /// Its reason.
        reason: String,
    },
    /// A task sent what no task sends.
    #[error("task {task} sent {source}")]
    Malformed {
        /// Which one.
        task: u32,
        /// The message.
        source: FrameError,
    },
    /// A task has put nothing under a key.
    #[error("task {rank} of the step has put nothing under {key:?}")]
    NoValue {
        /// The task.
        rank: u32,
        /// The key.
        key: String,
    },
    /// `scancel` did not end the step.
    #[error("scancel {step}: {reason}")]
    Cancel {
        /// The step.
        step: String,
        /// Why.
        reason: String,
    },
}

fn list(tasks: &[u32]) -> String {
    let words: Vec<String> = tasks.iter().take(16).map(u32::to_string).collect();
    let more = if tasks.len() > 16 { " and others" } else { "" };
    format!("{}{more}", words.join(", "))
}

/// This task's part in the step.
pub struct Step {
    exchange: Exchange,
    /// `JOB.STEP`
    id: String,
}

impl Step {
    /// Takes the numbers from the environment. From now on task 0 listens.
    ///
    /// # Errors
    /// [`SlurmError`]: variables that make no sense, a step on several nodes, a name that
    /// is taken.
    pub(super) fn from_env(deadline: Deadline) -> Result<Self, SlurmError> {
        Self::from_lookup(
            |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()),
            deadline,
        )
    }

    pub(crate) fn from_lookup(
        lookup: impl Fn(&str) -> Option<String>,
        deadline: Deadline,
    ) -> Result<Self, SlurmError> {
        let rank = number(&lookup, "SLURM_PROCID", "the number of this task")?;
        let size = number(&lookup, "SLURM_STEP_NUM_TASKS", "the number of tasks")?;
        let nodes = number(&lookup, "SLURM_STEP_NUM_NODES", "the number of nodes")?;
        let job = number(&lookup, "SLURM_JOB_ID", "the number of the job")?;
        let step = number(&lookup, "SLURM_STEP_ID", "the number of the step")?;
        if nodes > 1 {
            return Err(SlurmError::SeveralNodes { nodes });
        }
        if size > PES_MAX {
            return Err(SlurmError::Variable {
                name: "SLURM_STEP_NUM_TASKS",
                seen: size.to_string(),
                expected: "no more tasks than a job may have PEs, 65536",
            });
        }
        if rank >= size {
            return Err(SlurmError::Variable {
                name: "SLURM_PROCID",
                seen: format!("{rank} of SLURM_STEP_NUM_TASKS {size}"),
                expected: "a number below that of the tasks",
            });
        }
        let id = format!("{job}.{step}");
        // Jobs of two clusters on one host may have the same number. The port is that of
        // the srun that started this step.
        let word = |name: &str, chars_max| {
            let value = lookup(name).unwrap_or_default();
            let word = value.chars().filter(char::is_ascii_alphanumeric);
            word.take(chars_max).collect::<String>()
        };
        let cluster = word("SLURM_CLUSTER_NAME", 32);
        let port = word("SLURM_STEP_LAUNCHER_PORT", 5);
        let uid = rustix::process::geteuid().as_raw();
        let place = format!("hostwire-slurm-{uid}-{cluster}-{id}-{port}");
        let place = Rendezvous { rank, size, place };
        Ok(Self {
            exchange: Exchange::open(place, deadline)?,
            id,
        })
    }
}

impl Bootstrap for Step {
    fn name(&self) -> &'static str {
        "Slurm"
    }

    fn rank(&self) -> u32 {
        self.exchange.rank()
    }

    fn size(&self) -> u32 {
        self.exchange.size()
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError> {
        Ok(self.exchange.put(key, value)?)
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        Ok(self.exchange.fence()?)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        Ok(self.exchange.get(rank, key)?)
    }

    /// `scancel`, because there is no launcher to ask. The exit status is then that of
    /// Slurm.
    fn abort(&mut self, _: i32, _: &str) -> Result<(), LaunchError> {
        let failed = |reason| SlurmError::Cancel {
            step: self.id.clone(),
            reason,
        };
        let status = Command::new("scancel")
            .arg(&self.id)
            .stdin(Stdio::null())
            .status()
            .map_err(|error| failed(error.to_string()))?;
        if !status.success() {
            return Err(failed(status.to_string()).into());
        }
        Ok(())
    }

    /// There is no launcher to inform.
    fn finalize(&mut self) -> Result<(), LaunchError> {
        Ok(())
    }
}

fn number(
    lookup: impl Fn(&str) -> Option<String>,
    name: &'static str,
    expected: &'static str,
) -> Result<u32, SlurmError> {
    let value = lookup(name);
    value
        .as_deref()
        .and_then(|value| value.trim().parse().ok())
        .ok_or_else(|| SlurmError::Variable {
            name,
            seen: value.map_or_else(|| "missing".to_owned(), |value| quoted(&value)),
            expected,
        })
}

#[cfg(test)]
mod tests;
