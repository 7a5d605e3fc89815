//! Variables of launchers in the environment.

use std::time::Duration;

use hostwire_transport::fuzzing::kit::{Input, Script, Target, blames, mark, named};

use crate::pmi::variables::fd_rank_size;
use crate::slurm::Step;
use crate::{Bootstrap, Clues, Deadline, LaunchEnv, LaunchError, PES_MAX, launch_environment_from};

/// Variables of launchers: a script of pairs, the number of a variable and its value.
pub(super) const VARIABLES: Target = Target {
    name: "launch_variables",
    check: variables,
    seeds: || {
        let with = |pairs: &[(&str, &str)]| {
            let script = pairs.iter().fold(Script::new(), |script, (name, value)| {
                let index = NAMES.iter().position(|known| known == name);
                script
                    .byte(index.expect("a known name") as u8)
                    .chunk(value.as_bytes())
            });
            script.done()
        };
        named(vec![
            (
                "pmi",
                with(&[("PMI_FD", "5"), ("PMI_RANK", "1"), ("PMI_SIZE", "2")]),
            ),
            ("port", with(&[("PMI_PORT", "h:1"), ("PMI_ID", "0")])),
            (
                "pmix",
                with(&[
                    ("PMIX_RANK", "0"),
                    ("PMIX_NAMESPACE", "n"),
                    ("OMPI_COMM_WORLD_SIZE", "2"),
                ]),
            ),
            ("open_mpi", with(&[("OMPI_COMM_WORLD_SIZE", "1\u{1b}[2J")])),
            (
                "slurm",
                with(&[
                    ("SLURM_PROCID", "1"),
                    ("SLURM_STEP_NUM_TASKS", "2"),
                    ("SLURM_STEP_NUM_NODES", "1"),
                    ("SLURM_JOB_ID", "7"),
                    ("SLURM_STEP_ID", "0"),
                    ("SLURM_CLUSTER_NAME", "c"),
                ]),
            ),
            (
                "many_tasks",
                with(&[
                    ("SLURM_PROCID", "0"),
                    ("SLURM_STEP_NUM_TASKS", "4294967295"),
                    ("SLURM_STEP_NUM_NODES", "1"),
                    ("SLURM_JOB_ID", "7"),
                    ("SLURM_STEP_ID", "0"),
                ]),
            ),
            (
                "several_nodes",
                with(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "2")]),
            ),
        ])
    },
    cost: 2,
};

const NAMES: [&str; 18] = [
    "PMI_FD",
    "PMI_RANK",
    "PMI_SIZE",
    "PMI_PORT",
    "PMI_ID",
    "PMIX_RANK",
    "PMIX_NAMESPACE",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "MV2_COMM_WORLD_SIZE",
    "MPI_LOCALNRANKS",
    "SLURM_PROCID",
    "SLURM_STEP_ID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_STEP_NUM_NODES",
    "SLURM_NTASKS",
    "SLURM_JOB_ID",
    "SLURM_CLUSTER_NAME",
];

fn variables(bytes: &[u8]) {
    let mut input = Input::new(bytes);
    let mut set: Vec<(&str, String)> = Vec::new();
    while !input.is_empty() {
        let name = NAMES[usize::from(input.byte()) % NAMES.len()];
        set.push((name, input.text()));
    }
    let lookup = |wanted: &str| {
        let pair = set.iter().find(|(name, _)| *name == wanted);
        pair.map(|(_, value)| value.clone())
    };
    for own in [false, true] {
        let clues = Clues {
            own,
            pmi_fd_is_open: false,
        };
        match launch_environment_from(lookup, clues) {
            LaunchEnv::Unsupported { variables } => {
                assert!(!variables.is_empty());
                blames(LaunchError::Unsupported { variables }, &NAMES);
            }
            LaunchEnv::Pmix { others, .. } if !others.is_empty() => {
                blames(LaunchError::Contradiction { variables: others }, &NAMES);
            }
            other => mark(&format!("{other:?}")),
        }
    }
    match fd_rank_size(lookup) {
        Ok((_, rank, size)) => assert!(rank < size),
        Err(error) => blames(error, &["PMI_FD", "PMI_RANK", "PMI_SIZE"]),
    }
    // In another step, so that no other process has the same socket name.
    let lookup = |name: &str| match name {
        "SLURM_CLUSTER_NAME" => Some(format!("fuzzing{}", std::process::id())),
        name => lookup(name),
    };
    match Step::from_lookup(lookup, Deadline::after(Duration::ZERO)) {
        Ok(step) => {
            assert!(step.rank() < step.size() && step.size() <= PES_MAX);
        }
        Err(error) => blames(error, &["SLURM_", "Slurm"]),
    }
}
