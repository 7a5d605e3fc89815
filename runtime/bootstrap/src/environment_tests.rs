use proptest::prelude::*;

use super::*;

fn seen_with(environment: &[(&str, &str)], clues: Clues) -> LaunchEnv {
    launch_environment_from(
        |name| {
            environment
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        },
        clues,
    )
}

fn seen(environment: &[(&str, &str)]) -> LaunchEnv {
    seen_with(environment, Clues::default())
}

const OWN: Clues = Clues {
    own: true,
    pmi_fd_is_open: true,
};
const OPEN: Clues = Clues {
    own: false,
    pmi_fd_is_open: true,
};

fn words(variables: &[&str]) -> Vec<String> {
    variables.iter().map(|v| (*v).to_owned()).collect()
}

fn unsupported(variables: &[&str]) -> LaunchEnv {
    LaunchEnv::Unsupported {
        variables: words(variables),
    }
}

fn pmix(alone: bool, others: &[&str]) -> LaunchEnv {
    LaunchEnv::Pmix {
        alone,
        others: words(others),
    }
}

/// The environment of a task of `srun -n2 --mpi=none`.
const STEP: [(&str, &str); 4] = [
    ("SLURM_PROCID", "0"),
    ("SLURM_NTASKS", "2"),
    ("SLURM_STEP_ID", "0"),
    ("SLURM_STEP_NUM_TASKS", "2"),
];

fn step_and(more: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    STEP.iter().chain(more).copied().collect()
}

#[test]
fn nothing_or_one_task_is_a_singleton() {
    assert_eq!(seen(&[]), LaunchEnv::Singleton);
    assert_eq!(seen(&[("PMI_FD", "")]), LaunchEnv::Singleton);
    for alone in [
        [("PMI_SIZE", "1"), ("PMI_RANK", "0")],
        [("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")],
        [("OMPI_COMM_WORLD_SIZE", "1"), ("PMIX_RANK", "0")],
    ] {
        assert_eq!(seen(&alone), LaunchEnv::Singleton);
    }
}

#[test]
fn the_allocation_of_salloc_is_no_step() {
    assert_eq!(seen(&[("SLURM_NTASKS", "8")]), LaunchEnv::Singleton);
    let one_of_many = [
        ("SLURM_PROCID", "0"),
        ("SLURM_NTASKS", "8"),
        ("SLURM_STEP_NUM_TASKS", "1"),
    ];
    assert_eq!(seen(&one_of_many), LaunchEnv::Singleton);
}

#[test]
fn a_batch_script_of_several_tasks_is_told_to_use_srun() {
    // A batch script after sbatch -n2: it is no step, and may be a task or not.
    let script = [
        ("SLURM_PROCID", "0"),
        ("SLURM_NTASKS", "2"),
        ("SLURM_JOB_ID", "3"),
    ];
    assert_eq!(seen(&script), unsupported(&["SLURM_NTASKS=2"]));
}

#[test]
fn the_own_launcher_wins_over_all_that_others_left() {
    let all = step_and(&[
        ("PMI_FD", "5"),
        ("PMIX_RANK", "3"),
        ("PMIX_NAMESPACE", "j"),
        ("OMPI_COMM_WORLD_SIZE", "4"),
    ]);
    assert_eq!(seen_with(&all, OWN), LaunchEnv::Pmi);
    assert_eq!(seen_with(&all, OPEN), LaunchEnv::Pmi);
    // Closed: mpirun in a job of hostwire run.
    let others = ["OMPI_COMM_WORLD_SIZE=4", "SLURM_STEP_NUM_TASKS=2"];
    assert_eq!(seen(&all), pmix(false, &others));
}

#[test]
fn each_launcher_is_known_by_its_own() {
    let hydra = [("PMI_FD", "5"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "4")];
    assert_eq!(seen_with(&hydra, OPEN), LaunchEnv::Pmi);
    assert_eq!(seen(&hydra), LaunchEnv::Pmi);
    assert_eq!(
        seen(&[("PMI_PORT", "h:1"), ("PMI_ID", "0")]),
        LaunchEnv::Pmi
    );
    let mpirun = [
        ("PMIX_RANK", "3"),
        ("PMIX_NAMESPACE", "j"),
        ("OMPI_COMM_WORLD_SIZE", "4"),
    ];
    assert_eq!(seen(&mpirun), pmix(false, &["OMPI_COMM_WORLD_SIZE=4"]));
    let bare = [("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "job.1")];
    assert_eq!(seen(&bare), pmix(false, &[]));
    assert_eq!(seen(&STEP), LaunchEnv::Slurm);
}

#[test]
fn what_an_outer_launcher_left_does_not_contradict_open_mpi() {
    let inner = step_and(&[
        ("PMIX_RANK", "0"),
        ("PMIX_NAMESPACE", "j"),
        ("OMPI_COMM_WORLD_SIZE", "1"),
    ]);
    assert_eq!(seen(&inner), pmix(true, &[]));
    // But PMIx alone does not show this.
    let bare = step_and(&[("PMIX_RANK", "0"), ("PMIX_NAMESPACE", "j")]);
    assert_eq!(seen(&bare), pmix(false, &["SLURM_STEP_NUM_TASKS=2"]));
}

#[test]
fn several_tasks_without_a_launcher_are_never_a_silent_singleton() {
    for (name, value) in [
        ("OMPI_COMM_WORLD_SIZE", "4"),
        ("MV2_COMM_WORLD_SIZE", "2"),
        ("MPI_LOCALNRANKS", "2"),
        ("OMPI_COMM_WORLD_LOCAL_SIZE", "3"),
        ("PMI_SIZE", "x"),
        ("PMIX_RANK", "0"),
        ("PMIX_NAMESPACE", "job.1"),
    ] {
        let expected = format!("{name}={value}");
        assert_eq!(seen(&[(name, value)]), unsupported(&[&expected]));
    }
    assert_eq!(
        seen(&[("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "3")]),
        unsupported(&["OMPI_COMM_WORLD_SIZE=4", "PMIX_RANK=3"])
    );
    // One process on this host is not one process.
    assert_eq!(
        seen(&[("MPI_LOCALNRANKS", "1"), ("PMI_SIZE", "2")]),
        unsupported(&["PMI_SIZE=2"])
    );
}

proptest! {
    #[test]
    fn a_number_above_one_is_never_ignored(
        name in proptest::sample::select(&[
            "PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "MPI_LOCALNRANKS",
        ]),
        tasks in 2u64..,
        others in proptest::collection::btree_map(
            "(SLURM|PMIX?|OMPI)_[A-Z_]{1,12}", "[0-9]{0,3}|\\PC{0,5}", 0..6,
        ),
        own in any::<bool>(),
        pmi_fd_is_open in any::<bool>(),
    ) {
        let lookup = |asked: &str| match asked == name {
            true => Some(tasks.to_string()),
            false => others.get(asked).cloned(),
        };
        let seen = launch_environment_from(lookup, Clues { own, pmi_fd_is_open });
        prop_assert_ne!(seen, LaunchEnv::Singleton);
    }
}
