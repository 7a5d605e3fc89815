//! Under Open MPI's `mpirun`, by PMIx.

use std::process::{Command, Stdio};

use hostwire_testing::{is_installed, need, own_session};

use crate::job::{Ended, Job};
use crate::programs::fault_probe;
use crate::{assert_exchanged, assert_fine};

/// Debian also gives it this name, because `mpirun` may be MPICH's.
const MPIRUN: &str = "mpirun.openmpi";

/// `mpirun -n PES fault_probe ARGUMENTS...`; `None` where it is not installed.
fn mpirun(pes: u32, environment: &[(&str, &str)], arguments: &[&str]) -> Option<Ended> {
    if !is_installed(MPIRUN, &need::OPEN_MPI) {
        return None;
    }
    let session = tempfile::tempdir().expect("a temporary folder can be made");
    let mut command = Command::new(MPIRUN);
    own_session(&mut command, session.path())
        .args(["--oversubscribe", "-n", &pes.to_string(), &fault_probe()])
        .args(arguments)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Some(Job::start(command).end())
}

#[test]
fn one_binary_runs_under_mpirun() {
    for pes in [1, 2, 4] {
        let Some(ended) = mpirun(pes, &[], &["everything"]) else {
            return;
        };
        assert_fine(&ended, pes);
        assert_eq!(ended.stderr, "");
    }
}

/// By PE 0, because here the launcher is not `hostwire run`; and by a job of one that nobody has started.
#[test]
fn a_variable_that_is_nearly_a_setting_is_named_once() {
    let name = format!("HOSTWIRE_{}", "WIER");
    let said = format!("hostwire: warning: {name} sets nothing; did you mean HOSTWIRE_WIRE?\n");
    let Some(ended) = mpirun(2, &[(&name, "udp")], &["everything"]) else {
        return;
    };
    assert_fine(&ended, 2);
    assert_eq!(ended.stderr, said);
    let mut alone = Command::new(fault_probe());
    let output = alone.arg("everything").env(name, "udp").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), said);
}

#[test]
fn pes_exchange_bytes_over_pmix() {
    for pes in [2, 5] {
        let Some(ended) = mpirun(pes, &[], &["blobs"]) else {
            return;
        };
        assert_exchanged(&ended, pes, "PMIx");
    }
}

#[test]
fn an_abort_ends_the_job_with_its_status() {
    if let Some(ended) = mpirun(4, &[], &["abort", "1", "7"]) {
        assert_eq!(ended.status, 7, "{ended:#?}");
    }
}

#[test]
fn leaving_without_finalizing_is_noticed() {
    if let Some(ended) = mpirun(4, &[], &["leave", "1"]) {
        assert_ne!(ended.status, 0, "{ended:#?}");
    }
}

#[test]
fn a_missing_library_is_named_with_its_package() {
    let nowhere = [("HOSTWIRE_PMIX_LIBRARY", "/nonexistent/libpmix.so")];
    if let Some(ended) = mpirun(2, &nowhere, &["everything"]) {
        assert_ne!(ended.status, 0);
        assert_eq!(ended.stdout, "");
        for word in ["/nonexistent/libpmix.so", "package libpmix2"] {
            assert!(ended.stderr.contains(word), "{ended:#?}");
        }
    }
    // The launcher's own word on the board says that no PE is lost.
    if let Some(ended) = mpirun(1, &nowhere, &["everything"]) {
        assert_fine(&ended, 1);
    }
    let no_pmix = [("HOSTWIRE_PMIX_LIBRARY", "libc.so.6")];
    if let Some(ended) = mpirun(1, &no_pmix, &["everything"]) {
        assert!(
            ended.stderr.contains("it has no function PMIx_Init"),
            "{ended:#?}"
        );
    }
}

/// `hostwire run mpirun` and the other way round: the innermost counts.
#[test]
fn launchers_may_be_nested() {
    if !is_installed(MPIRUN, &need::OPEN_MPI) {
        return;
    }
    let script = "export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; ";
    let inner =
        format!("{script} exec $HOSTWIRE run -n 1 {MPIRUN} --oversubscribe -n 3 $PROBE everything");
    assert_fine(&crate::programs::run_script(&inner), 3);
    let inner = format!("{script} exec {MPIRUN} -n 1 $HOSTWIRE run -n 3 $PROBE everything");
    assert_fine(&crate::programs::run_script(&inner), 3);
}
