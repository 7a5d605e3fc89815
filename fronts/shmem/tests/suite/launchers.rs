//! Programs on two hosts that other launchers start: Open MPI's, MPICH's, and a Slurm of a node on
//! each. Hosts and Slurm are those of the tests of `hostwire run`. What is not installed, or may
//! not be made, is left out, and a line says so.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use hostwire_transport::os::process::die_with_parent;

use hostwire_testing::{Need, is_installed, left_out, need, or_long};

use crate::build::{Language, program, tree};
use crate::hosts::turn;
use crate::{output, succeeds, text};

/// The programs that run on both hosts, two PEs on each. `teams` checks that a launcher tells which PE is where; the
/// traffic over the wire is the same under each.
fn names() -> &'static [&'static str] {
    or_long(&["teams"], &["rma", "atomic", "teams", "collective"])
}

/// A script of the launchers' tests.
fn script(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/cli/tests/launchers");
    folder.join(name).display().to_string()
}

/// A command on the first of two hosts.
fn on_two_hosts(command: &[&str]) -> Command {
    let mut hosts = Command::new("bash");
    hosts
        .arg(script("hosts.sh"))
        .args(command)
        .env("HOSTWIRE_WIRE", "ether")
        .env("SHMEM_TEST_HOSTS", "2")
        .stdin(Stdio::null());
    die_with_parent(&mut hosts);
    hosts
}

/// Where the programs are. `None` where one of `needed` is missing, or
/// hosts cannot be made.
fn programs(needed: &[(&str, Need)]) -> Option<Vec<String>> {
    static HOSTS: OnceLock<bool> = OnceLock::new();
    let tree = tree()?;
    if !needed.iter().all(|(name, need)| is_installed(name, need)) {
        return None;
    }
    let hosts = HOSTS.get_or_init(|| {
        let tried = output(&mut on_two_hosts(&["true"]));
        if !tried.status.success() {
            let why = format!("no hosts can be made: {}", text(&tried).trim());
            left_out(&need::NAMESPACES, why);
        }
        tried.status.success()
    });
    let path = |name: &&str| program(tree, name, Language::C11).display().to_string();
    hosts.then(|| names().iter().map(path).collect())
}

#[test]
fn programs_run_on_two_hosts_under_mpirun() {
    let needed = [("mpirun.openmpi", need::OPEN_MPI), ("ip", need::IP)];
    for program in programs(&needed).unwrap_or_default() {
        let _turn = turn();
        let variables = ["-x", "HOSTWIRE_WIRE", "-x", "SHMEM_TEST_HOSTS"];
        let mpirun = ["mpirun.openmpi", "-H", "fa:2,fb:2", "-np", "4"];
        succeeds(&mut on_two_hosts(
            &[&mpirun[..], &variables, &[&program]].concat(),
        ));
    }
}

#[test]
fn programs_run_on_two_hosts_under_mpiexec_hydra() {
    let needed = [("mpiexec.hydra", need::MPICH), ("ip", need::IP)];
    for program in programs(&needed).unwrap_or_default() {
        let _turn = turn();
        let mpiexec = ["mpiexec.hydra", "-hosts", "fa:2,fb:2", "-n", "4"];
        succeeds(&mut on_two_hosts(&[&mpiexec[..], &[&program]].concat()));
    }
}

/// With each of the plugins that Slurm has.
#[test]
fn programs_run_on_two_hosts_under_srun() {
    let needed = [
        ("srun", need::SLURM),
        ("slurmctld", need::SLURM),
        ("slurmd", need::SLURM),
        ("munged", need::SLURM),
        ("ip", need::IP),
    ];
    let Some(programs) = programs(&needed) else {
        return;
    };
    // Slurm takes longer to start than a job.
    let steps = format!(
        "for plugin in pmi2 pmix; do \
         srun --mpi=list 2>&1 | grep -qw $plugin || {{ echo \"no $plugin\"; continue; }}; \
         for program in {}; do \
         srun --quiet -N2 --ntasks-per-node=2 --mpi=$plugin $program || exit; done; \
         echo \"$plugin done\"; done",
        programs.join(" ")
    );
    let _turn = turn();
    let slurm = script("slurm.sh");
    let said = succeeds(&mut on_two_hosts(&["bash", &slurm, "bash", "-c", &steps]));
    // Slurm has pmi2 always, and pmix if it finds the library.
    assert!(said.contains("pmi2 done"), "{said}");
    if said.contains("no pmix") {
        left_out(&need::SLURM_PMIX, "no PMIx for srun");
    } else {
        assert!(said.contains("pmix done"), "{said}");
    }
}
