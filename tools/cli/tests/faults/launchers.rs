//! The same binary under every launcher, and under none.

use hostwire_testing::{is_installed, need};

use crate::programs::{all_fine, fault_probe, run, run_probe, run_script};

#[test]
fn one_binary_runs_alone_and_under_both_launchers() {
    let alone = run(&fault_probe(), &["everything"]);
    assert_eq!((alone.status, alone.stderr.as_str()), (0, ""));
    assert_eq!(alone.sorted_lines(), all_fine(1));
    for pes in [1, 2, 5] {
        let ended = run_probe(pes, &[], &["everything"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        assert_eq!(ended.sorted_lines(), all_fine(pes));
    }
    if is_installed("mpiexec.hydra", &need::MPICH) {
        for pes in [1, 2, 5] {
            let arguments = ["-n", &pes.to_string(), &fault_probe(), "everything"];
            let ended = run("mpiexec.hydra", &arguments);
            assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
            assert_eq!(ended.sorted_lines(), all_fine(pes));
        }
    }
}

#[test]
fn an_environment_of_more_tasks_is_no_job_of_one() {
    for variables in [
        "OMPI_COMM_WORLD_SIZE=4",
        "PMI_SIZE=2",
        "SLURM_PROCID=1 SLURM_NTASKS=3",
        "PMIX_RANK=0",
        "MPI_LOCALNRANKS=3",
        "MV2_COMM_WORLD_SIZE=2",
    ] {
        let ended = run_script(&format!("{variables} exec $PROBE everything"));
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (1, ""),
            "{variables}"
        );
        let named = variables.split(' ').next_back().unwrap_or_default();
        assert!(ended.stderr.contains(named), "{ended:#?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
    }
}

#[test]
fn unusable_settings_are_named() {
    for (variable, value) in [
        ("HOSTWIRE_HEAP", "much"),
        ("HOSTWIRE_RING", "1000"),
        ("HOSTWIRE_RING", "0"),
        ("HOSTWIRE_WIRE", "string"),
        ("HOSTWIRE_ATTACH_TIMEOUT", "never"),
    ] {
        let ended = run_script(&format!("{variable}={value} exec $PROBE everything"));
        assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:#?}");
        assert!(
            ended.stderr.contains(variable) && ended.stderr.contains(value),
            "{ended:#?}"
        );
    }
}

/// As hydra with `-pmi-port`, but no server is there.
#[test]
fn a_launcher_that_is_silent_is_not_waited_for_without_end() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let ended = run_script(&format!(
        "HOSTWIRE_ATTACH_TIMEOUT=1 PMI_PORT=127.0.0.1:{port} PMI_ID=0 exec $PROBE everything"
    ));
    assert_eq!((ended.status, ended.stdout.as_str()), (1, ""), "{ended:#?}");
    assert!(
        ended.stderr.contains("no answer to initack within 1 s")
            && ended.stderr.contains("HOSTWIRE_ATTACH_TIMEOUT"),
        "{ended:#?}"
    );
    drop(listener);
}

#[test]
fn nonsense_about_the_launcher_is_an_error() {
    for variables in [
        "PMI_FD=999 PMI_RANK=0 PMI_SIZE=2",
        "PMI_FD=no PMI_RANK=0 PMI_SIZE=2",
        "PMI_FD=0 PMI_RANK=5 PMI_SIZE=2",
        "PMI_PORT=nowhere:1 PMI_ID=0",
        "HOSTWIRE_BOARD_FD=77 PMI_FD=3 PMI_RANK=0 PMI_SIZE=1",
        "PMIX_RANK=0 PMIX_NAMESPACE=nowhere.1",
        "PMIX_RANK=x PMIX_NAMESPACE=j PMIX_SERVER_URI4='pmix-server.1;tcp4://127.0.0.1:1'",
        "SLURM_PROCID=1 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2",
        "SLURM_PROCID=9 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=2 SLURM_JOB_ID=1 SLURM_STEP_NUM_NODES=1",
    ] {
        let ended = run_script(&format!("{variables} exec $PROBE everything 3</dev/null"));
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (1, ""),
            "{variables}: {ended:#?}"
        );
        assert!(ended.stderr.starts_with("fault_probe: "), "{ended:#?}");
        assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
    }
}
