//! Which launcher started this process, as its environment shows it.

/// What the environment says about the launcher of this process.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LaunchEnv {
    /// A launcher that speaks PMI-1: [`Client::from_env`](super::Client::from_env)
    /// will find it.
    Pmi1,
    /// No launcher, or one that started this process alone: a job of one PE.
    Singleton,
    /// A launcher started several tasks, and PMI-1 is not offered. Going on
    /// alone would run the job as many times as it has tasks.
    Unsupported {
        /// The variables that say so, as `NAME=value`.
        variables: Vec<String>,
    },
}

/// Looks at this process's environment.
pub fn launch_environment() -> LaunchEnv {
    launch_environment_from(|name| {
        std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
    })
}

/// Looks at the environment that `lookup` answers for.
///
/// - `PMI_FD`, or `PMI_PORT` and `PMI_ID`: PMI-1 (MPICH, `hostwire run`, Slurm).
/// - `PMIX_RANK`, `PMIX_NAMESPACE`: PMIx (Open MPI, PRRTE, Slurm).
/// - `OMPI_COMM_WORLD_SIZE`, `PMI_SIZE`, and in a Slurm task (`SLURM_PROCID`)
///   `SLURM_STEP_NUM_TASKS` or else `SLURM_NTASKS`: the number of tasks.
///
/// A number that cannot be read counts as more than one.
pub fn launch_environment_from(lookup: impl Fn(&str) -> Option<String>) -> LaunchEnv {
    let has = |name: &str| lookup(name).is_some_and(|value| !value.is_empty());
    if has("PMI_FD") || (has("PMI_PORT") && has("PMI_ID")) {
        return LaunchEnv::Pmi1;
    }

    // In a batch script SLURM_NTASKS is the allocation's, while the step is the
    // script alone.
    let slurm = match (has("SLURM_PROCID"), has("SLURM_STEP_NUM_TASKS")) {
        (false, _) => None,
        (true, true) => Some("SLURM_STEP_NUM_TASKS"),
        (true, false) => Some("SLURM_NTASKS"),
    };
    let mut variables = Vec::new();
    let mut alone = false;
    for name in ["PMI_SIZE", "OMPI_COMM_WORLD_SIZE"]
        .into_iter()
        .chain(slurm)
    {
        let Some(tasks) = lookup(name).filter(|value| !value.is_empty()) else {
            continue;
        };
        match tasks.trim().parse::<u64>() {
            Ok(0 | 1) => alone = true,
            _ => variables.push(format!("{name}={tasks}")),
        }
    }
    if !variables.is_empty() || !alone {
        // PMIx does not put the number of tasks into the environment. Without
        // another launcher's word for it, it may be any.
        for name in ["PMIX_RANK", "PMIX_NAMESPACE"] {
            if let Some(value) = lookup(name).filter(|value| !value.is_empty()) {
                variables.push(format!("{name}={value}"));
            }
        }
    }
    if variables.is_empty() {
        LaunchEnv::Singleton
    } else {
        LaunchEnv::Unsupported { variables }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(environment: &[(&str, &str)]) -> LaunchEnv {
        launch_environment_from(|name| {
            environment
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn unsupported(variables: &[&str]) -> LaunchEnv {
        LaunchEnv::Unsupported {
            variables: variables.iter().map(|v| (*v).to_owned()).collect(),
        }
    }

    #[test]
    fn nothing_or_one_task_is_a_singleton() {
        assert_eq!(seen(&[]), LaunchEnv::Singleton);
        assert_eq!(seen(&[("PMI_FD", "")]), LaunchEnv::Singleton);
        assert_eq!(
            seen(&[("PMI_SIZE", "1"), ("PMI_RANK", "0")]),
            LaunchEnv::Singleton
        );
        assert_eq!(
            seen(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]),
            LaunchEnv::Singleton
        );
        assert_eq!(
            seen(&[("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")]),
            LaunchEnv::Singleton
        );
    }

    #[test]
    fn the_allocation_of_a_batch_script_is_not_its_step() {
        let batch = [
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "8"),
            ("SLURM_STEP_NUM_TASKS", "1"),
        ];
        assert_eq!(seen(&batch), LaunchEnv::Singleton);
        // salloc's shell has the allocation in its environment and is no task.
        assert_eq!(seen(&[("SLURM_NTASKS", "8")]), LaunchEnv::Singleton);
    }

    #[test]
    fn pmi_1_wins_over_what_an_outer_launcher_left() {
        assert_eq!(
            seen(&[("PMI_FD", "5"), ("OMPI_COMM_WORLD_SIZE", "4")]),
            LaunchEnv::Pmi1
        );
        assert_eq!(
            seen(&[("PMI_PORT", "h:1"), ("PMI_ID", "0")]),
            LaunchEnv::Pmi1
        );
    }

    #[test]
    fn several_tasks_without_pmi_1_are_never_a_silent_singleton() {
        assert_eq!(
            seen(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")]),
            unsupported(&["SLURM_NTASKS=2"])
        );
        assert_eq!(
            seen(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "3")]),
            unsupported(&["OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=3"])
        );
        assert_eq!(
            seen(&[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "job.1")]),
            unsupported(&["PMIX_RANK=0", "PMIX_NAMESPACE=job.1"])
        );
        assert_eq!(seen(&[("PMI_SIZE", "x")]), unsupported(&["PMI_SIZE=x"]));
    }
}
