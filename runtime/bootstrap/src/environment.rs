//! Which launcher started this process, as its environment shows it.

use hostwire_transport::os::process::is_socket;
use hostwire_transport::printable;

/// The launcher of this process, as the environment shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchEnv {
    /// A launcher with PMI in text: [`Client::from_env`](crate::pmi::Client::from_env) will
    /// find it.
    Pmi,
    /// A launcher with PMIx.
    Pmix {
        /// Another variable says that the job has one task.
        alone: bool,
        /// Variables that show more tasks, as `NAME=value`.
        others: Vec<String>,
    },
    /// A task of a Slurm step of several, without any of these.
    Slurm,
    /// No launcher, or one that started this process alone: a job of one PE.
    Singleton,
    /// A launcher started several tasks and offers no protocol that this process could use.
    /// If each task continued alone, the job would run once for each task.
    Unsupported {
        /// The variables that say so, as `NAME=value`.
        variables: Vec<String>,
    },
}

/// Facts that are not in the environment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clues {
    /// `hostwire run` has started this very process, not a parent of it.
    pub own: bool,
    /// The descriptor that `PMI_FD` names is an open socket.
    pub pmi_fd_is_open: bool,
}

/// Numbers of tasks of the whole job.
const TASKS: [&str; 3] = ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"];
/// Numbers of tasks of the job on this host. A 1 does not show the size of the job.
const LOCAL_TASKS: [&str; 2] = ["MPI_LOCALNRANKS", "OMPI_COMM_WORLD_LOCAL_SIZE"];

/// Reads this process's environment. `own` as in [`Clues`].
pub fn launch_environment(own: bool) -> LaunchEnv {
    let lookup =
        |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let pmi_fd = lookup("PMI_FD").and_then(|fd| fd.trim().parse().ok());
    let clues = Clues {
        own,
        pmi_fd_is_open: pmi_fd.is_some_and(is_socket),
    };
    launch_environment_from(lookup, clues)
}

/// Reads the environment through `lookup`.
///
/// A launcher may be started by another launcher and inherit its variables. So the first of
/// these counts:
///
/// 1. `PMI_FD` of `hostwire run`, or of any launcher if it is an open socket: launchers
///    close inherited descriptors, so an open one is from the innermost launcher;
/// 2. `PMIX_RANK` and `PMIX_NAMESPACE` (Open MPI, PRRTE, Slurm);
/// 3. `PMI_FD`, which then gives a useful error; `PMI_PORT` and `PMI_ID` (MPICH);
/// 4. `SLURM_PROCID` in a step of several tasks; a batch script is no step;
/// 5. any number of tasks above one: `PMI_SIZE`, `OMPI_COMM_WORLD_SIZE`,
///    `MV2_COMM_WORLD_SIZE`, `MPI_LOCALNRANKS`, `OMPI_COMM_WORLD_LOCAL_SIZE`, and
///    `SLURM_STEP_NUM_TASKS` or else `SLURM_NTASKS` beside `SLURM_PROCID`. This is no
///    usable launcher, but also no job of one PE.
///
/// A number that cannot be read counts as more than one.
pub fn launch_environment_from(lookup: impl Fn(&str) -> Option<String>, clues: Clues) -> LaunchEnv {
    let lookup = |name: &str| lookup(name).filter(|value| !value.is_empty());
    let has = |name: &str| lookup(name).is_some();
    if has("PMI_FD") && (clues.own || clues.pmi_fd_is_open) {
        return LaunchEnv::Pmi;
    }

    let (alone, mut several) = tasks(lookup);
    if has("PMIX_RANK") && has("PMIX_NAMESPACE") {
        return LaunchEnv::Pmix {
            alone: alone && several.is_empty(),
            others: several,
        };
    }
    if has("PMI_FD") || (has("PMI_PORT") && has("PMI_ID")) {
        return LaunchEnv::Pmi;
    }
    let step = |name: &str| lookup(name).and_then(|value| value.trim().parse::<u64>().ok());
    if has("SLURM_PROCID")
        && has("SLURM_STEP_ID")
        && step("SLURM_STEP_NUM_TASKS").is_some_and(|tasks| tasks > 1)
    {
        return LaunchEnv::Slurm;
    }
    if !several.is_empty() || !alone {
        // PMIx does not put the number of tasks into the environment. Without a variable of
        // another launcher it may be any number.
        for name in ["PMIX_RANK", "PMIX_NAMESPACE"] {
            several.extend(lookup(name).map(|value| format!("{name}={}", printable(&value))));
        }
    }
    if several.is_empty() {
        LaunchEnv::Singleton
    } else {
        LaunchEnv::Unsupported { variables: several }
    }
}

/// Whether a launcher shows one task, and the variables that show more.
fn tasks(lookup: impl Fn(&str) -> Option<String>) -> (bool, Vec<String>) {
    let slurm = lookup("SLURM_PROCID").map(|_| match lookup("SLURM_STEP_NUM_TASKS") {
        Some(_) => "SLURM_STEP_NUM_TASKS",
        None => "SLURM_NTASKS",
    });
    let (mut alone, mut several) = (false, Vec::new());
    for name in TASKS.into_iter().chain(slurm).chain(LOCAL_TASKS) {
        let Some(tasks) = lookup(name) else {
            continue;
        };
        match tasks.trim().parse::<u64>() {
            Ok(0 | 1) => alone |= !LOCAL_TASKS.contains(&name),
            _ => several.push(format!("{name}={}", printable(&tasks))),
        }
    }
    // Open MPI's variable for its own job counts more than the step in which its mpirun
    // runs.
    if lookup("OMPI_COMM_WORLD_SIZE").as_deref() == Some("1") {
        several.retain(|variable| !variable.starts_with("SLURM_"));
    }
    (alone, several)
}

#[cfg(test)]
#[path = "environment_tests.rs"]
mod tests;
