//! The environment: settings, and variables of launchers.

use std::time::Duration;

use hostwire_transport::fuzzing::kit::{Input, Script, Target, blames, mark, named, shown, texts};

use crate::launch::slurm::Step;
use crate::launch::{Clues, Deadline, LaunchEnv, LaunchError, launch_environment_from};
use crate::layout::{Layout, PES_MAX};
use crate::pmi::variables::fd_rank_size;
use crate::settings::{Settings, parse_bytes};

/// Settings, as `NAME=value`, one to a line.
pub(super) const SETTINGS: Target = Target {
    name: "settings",
    check: settings,
    seeds: || {
        texts(&[
            ("sizes", "HOSTWIRE_HEAP=64M\nHOSTWIRE_RING=4K"),
            (
                "ether",
                "HOSTWIRE_WIRE=ether\nHOSTWIRE_IFACE=eth1\nHOSTWIRE_ETHERTYPE=0x88b6",
            ),
            (
                "faults",
                "HOSTWIRE_WIRE=udp\nHOSTWIRE_FAULTS=drop=0.1,seed=7\nHOSTWIRE_STATS=1",
            ),
            (
                "times",
                "HOSTWIRE_LOST_AFTER=3\nHOSTWIRE_ATTACH_TIMEOUT=86400",
            ),
            ("bare", "HOSTWIRE_INSECURE_WIRE=1\nHOSTWIRE_WIRE=xdp"),
            ("units", "HOSTWIRE_HEAP=64MB"),
            ("tag", "HOSTWIRE_ETHERTYPE=0x8100"),
        ])
    },
    cost: 1,
};

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

fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let value = |wanted: &str| {
        let pairs = text.lines().filter_map(|line| line.split_once('='));
        pairs
            .filter(|(name, _)| *name == wanted)
            .map(|(_, value)| value.to_owned())
            .next_back()
    };
    match Settings::from_lookup(value) {
        Ok(settings) => {
            assert!((1..=86_400).contains(&settings.attach_timeout_s));
            assert!((1..=86_400).contains(&settings.lost_after_s));
            assert!(settings.ether_type >= 0x600);
            match Layout::new(2, settings.sizes()) {
                Ok(layout) => assert!(layout.segment_bytes() > layout.heap_bytes()),
                Err(error) => blames(error, &["HOSTWIRE_HEAP"]),
            }
        }
        Err(error) => blames(error, &["HOSTWIRE_"]),
    }
    let size = value("HOSTWIRE_HEAP").unwrap_or_default();
    match parse_bytes(&size) {
        Ok(bytes) => assert_eq!(parse_bytes(&bytes.to_string()), Ok(bytes)),
        Err(error) => shown(error),
    }
}

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
    // In another step, so that the name of its socket is of no other process.
    let lookup = |name: &str| match name {
        "SLURM_CLUSTER_NAME" => Some(format!("fuzzing{}", std::process::id())),
        name => lookup(name),
    };
    match Step::from_lookup(lookup, Deadline::after(Duration::ZERO)) {
        Ok(step) => {
            use crate::launch::Bootstrap;
            assert!(step.rank() < step.size() && step.size() <= PES_MAX);
        }
        Err(error) => blames(error, &["SLURM_", "Slurm"]),
    }
}
