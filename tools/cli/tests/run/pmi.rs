//! PMI-1 between real processes, with this launcher and with MPICH's.

use std::process::{Command, Stdio};

use hostwire_testing::{is_installed, need};

use crate::job::{Job, probe, run};

fn met_all(pes: u32) -> Vec<String> {
    let mut lines: Vec<String> = (0..pes)
        .map(|pe| format!("PE {pe} of {pes} has met all"))
        .collect();
    lines.sort_unstable();
    lines
}

#[test]
fn pes_exchange_what_they_put() {
    for pes in [1, 2, 5] {
        let ended = run(&["run", "-n", &pes.to_string(), &probe(), "exchange"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        assert_eq!(ended.sorted_lines(), met_all(pes));
    }
}

#[test]
fn sixty_four_pes_meet() {
    let ended = run(&["run", "-n", "64", &probe(), "exchange"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    assert_eq!(ended.sorted_lines(), met_all(64));
}

#[test]
fn leaving_without_finalizing_is_a_failure() {
    let ended = run(&["run", "-n", "1", &probe(), "leave"]);
    assert_eq!(ended.status, 1);
    assert_eq!(
        ended.stderr,
        "hostwire: PE 0 exited with status 0 without finalizing: it left the job\n"
    );
}

#[test]
fn an_abort_ends_the_job() {
    let ended = run(&[
        "run",
        "-n",
        "3",
        &probe(),
        "abort",
        "1",
        "42",
        "no more paper",
    ]);
    assert_eq!(ended.status, 42);
    assert_eq!(
        ended.stderr,
        "hostwire: PE 1 aborted the job with code 42: no more paper; ended the other 2 PEs\n"
    );
}

#[test]
fn a_barrier_that_cannot_complete_is_an_error() {
    let ended = run(&["run", "-n", "3", &probe(), "desert", "1"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    // A PE that was refused also leaves, and may be the one that the error of the next
    // PE names.
    assert_eq!(ended.stdout.lines().count(), 2);
    for line in ended.stdout.lines() {
        assert!(
            line.starts_with("the launcher refused barrier: PE "),
            "{line}"
        );
        assert!(line.ends_with(" has left the job (rc=-1)"), "{line}");
    }
}

#[test]
fn nonsense_on_the_socket_ends_the_job() {
    let ended = run(&["run", "-n", "2", &probe(), "babble", "1", "HELO there"]);
    assert_eq!(ended.status, 1);
    assert_eq!(
        ended.stderr,
        "hostwire: PE 1 broke the PMI-1 protocol with its launcher: a line that does not begin with \
         \"cmd=\": \"HELO there\"; ended the other PE\n"
    );
}

/// Runs the probe under MPICH's launcher. `None` where that is not installed.
fn mpiexec(arguments: &[&str]) -> Option<crate::job::Ended> {
    let mut command = Command::new("mpiexec.hydra");
    command.args(arguments).args([&probe(), "exchange"]);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if !is_installed("mpiexec.hydra", &need::MPICH) {
        return None;
    }
    Some(Job::start(command).end())
}

#[test]
fn the_same_program_runs_under_mpiexec_hydra() {
    if let Some(ended) = mpiexec(&["-n", "4"]) {
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert_eq!(ended.sorted_lines(), met_all(4));
    }
}

#[test]
fn the_same_program_runs_under_mpiexec_hydra_over_a_port() {
    if let Some(ended) = mpiexec(&["-pmi-port", "-n", "3"]) {
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        assert_eq!(ended.sorted_lines(), met_all(3));
    }
}
