//! The only PE of a host is killed or stopped, under launchers that say nothing of it to others.

use hostwire_testing::{is_installed, left_out, need};

use crate::hosts::on_two_hosts;
use crate::job::Ended;
use crate::programs::fault_probe;
use crate::slurm;

const STEPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/steps.sh");

/// A job of one PE on each of two hosts, with traffic, under `launcher`: PE 1 meets these steps
/// (steps.sh). `None` where that cannot be.
fn with_steps(launcher: &[&str], steps: &str, lost_after_s: u32, wire: &str) -> Option<Ended> {
    let lost_after = format!("HOSTWIRE_LOST_AFTER={lost_after_s}");
    let wire = format!("HOSTWIRE_WIRE={wire}");
    let program = [&fault_probe()[..], "steady", "20000"];
    // The commands that come before the launcher.
    let (daemons, launcher) = match launcher {
        [daemons, rest @ ..] if daemons.ends_with(".sh") => (vec!["bash", daemons], rest),
        all => (Vec::new(), all),
    };
    let job = ["bash", STEPS, steps, "env", &wire, &lost_after];
    on_two_hosts(&[&daemons[..], &job, launcher, &program].concat())
}

/// Goes on with the other PEs when one has died.
const MPIRUN: [&str; 10] = [
    "mpirun.openmpi",
    "--enable-recovery",
    "-x",
    "HOSTWIRE_WIRE",
    "-x",
    "HOSTWIRE_LOST_AFTER",
    "-H",
    "fa:1,fb:1",
    "-np",
    "2",
];

/// One node of Slurm on each host; with each of its plugins that can do it.
fn srun(plugin: &'static str) -> [&'static str; 7] {
    let slurm = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/launchers/slurm.sh");
    let go_on = "--kill-on-bad-exit=0";
    [slurm, "srun", "--quiet", "-N2", "-n2", go_on, plugin]
}

/// PE 0 knows at once, and nobody learns it by silence.
fn assert_told(ended: &Ended) {
    let seen = "PE 0 saw: PE 1 on fb is lost: its process has ended\n";
    assert!(ended.stdout.contains(seen), "{ended:#?}");
    assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
}

#[test]
fn a_host_that_dies_under_mpirun_is_known_by_its_control_connection() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) {
        return;
    }
    for wire in ["ether", "udp", "tcp"] {
        let Some(ended) = with_steps(&MPIRUN, "KILL", 600, wire) else {
            return;
        };
        assert_told(&ended);
    }
}

#[test]
fn a_host_that_dies_under_srun_is_known_by_its_control_connection() {
    if !slurm::is_here() {
        return;
    }
    for plugin in ["--mpi=pmi2", "--mpi=pmix"] {
        let Some(ended) = with_steps(&srun(plugin), "KILL", 600, "ether") else {
            return;
        };
        if ended.stderr.contains("Invalid MPI type") {
            left_out(&need::SLURM_PMIX, "no PMIx for srun");
            continue;
        }
        assert_told(&ended);
    }
}

/// The PE is stopped for longer than the control connection and the launcher need to report an end, and than it may be
/// silent: its kernel answers.
#[test]
fn a_pe_that_is_stopped_is_not_lost() {
    if !is_installed("mpirun.openmpi", &need::OPEN_MPI) {
        return;
    }
    let Some(ended) = with_steps(&MPIRUN, "STOP 5 CONT", 1, "ether") else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    for pe in [0, 1] {
        let fine = format!("PE {pe} of 2 is fine\n");
        assert!(ended.stdout.contains(&fine), "{ended:#?}");
    }
}
