//! PEs that seem to have a kernel of their own each: in a mount namespace with another boot id. So
//! only their stores show that they live, and none can wake another one.

use std::process::Command;
use std::time::Duration;

use hostwire_testing::{left_out, need};
use rustix::process::Signal;

use crate::hosts::Steady;
use crate::job::{Ended, run};
use crate::programs::{all_fine, fault_probe, is_root};
use crate::regions::Pool;

/// Shows the PE a boot id of its own, and runs what follows.
const OWN_KERNEL: &str = "\
    f=$(mktemp); printf '00000000-0000-4000-8000-%012d\\n' $PMI_RANK > $f; \
    mount --bind $f /proc/sys/kernel/random/boot_id && rm $f && exec \"$@\"";

/// A command that runs another one on a kernel of its own. `None` where that cannot be done.
fn own_kernel(program: &[&str]) -> Option<Vec<String>> {
    if !is_root() {
        return None;
    }
    let around = ["unshare", "--mount", "sh", "-c", OWN_KERNEL, "sh"];
    let tried = Command::new(around[0])
        .args(&around[1..])
        .arg("true")
        .env("PMI_RANK", "0")
        .output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        left_out(&need::NAMESPACES, "no mount namespaces");
        return None;
    }
    Some(
        around
            .iter()
            .chain(program)
            .map(ToString::to_string)
            .collect(),
    )
}

fn run_on(pes: u32, window: &str, program: &[String]) -> Ended {
    let pes = pes.to_string();
    let options = [
        "run", "-n", &pes, "--wire", "window", "--heap", "8M", "--window", window,
    ];
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    run(&[&options[..], &program].concat())
}

#[test]
fn everything_works_between_kernels() {
    let Some(program) = own_kernel(&[&fault_probe(), "everything"]) else {
        return;
    };
    for contract in ["coherent", "flushed", "write-combining"] {
        let pool = Pool::new(128, contract);
        let window = format!("{},contract={contract}", pool.path);
        for _ in 0..2 {
            let ended = run_on(3, &window, &program);
            assert_eq!(ended.sorted_lines(), all_fine(3), "{ended:#?}");
            assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{ended:#?}");
        }
    }
}

#[test]
fn nobody_guesses_what_several_kernels_keep_equal() {
    let Some(program) = own_kernel(&[&fault_probe(), "everything"]) else {
        return;
    };
    let pool = Pool::new(128, "coherent");
    let ended = run_on(2, &pool.path, &program);
    assert_eq!(ended.status, 1, "{ended:#?}");
    assert!(ended.stderr.contains("add contract="), "{ended:#?}");
}

/// Traffic over the wire. The shell around each PE does not end while the file is there, so no
/// launcher reports the end of a PE.
fn steady(pool: &Pool, contract: &str, goes_on: &str, lost_after: &str) -> Option<Steady> {
    let script = format!(
        "{} steady 2000; status=$?; while [ -e {goes_on} ]; do sleep 0.05; done; exit $status",
        fault_probe()
    );
    let program = own_kernel(&["sh", "-c", &script])?;
    let program: Vec<&str> = program.iter().map(String::as_str).collect();
    let window = format!("{},contract={contract}", pool.path);
    let options = ["--heap", "8M", "--keep-going", "--window", &window];
    let variables = [("HOSTWIRE_LOST_AFTER", lost_after)];
    Some(Steady::start_over(
        "window", 2, &options, &variables, &program,
    ))
}

#[test]
fn jobs_of_several_kernels_share_a_region_of_any_contract() {
    for contract in ["coherent", "flushed", "write-combining"] {
        let (pool, goes_on) = (
            Pool::new(256, contract),
            tempfile::NamedTempFile::new().unwrap(),
        );
        let goes_on_path = goes_on.path().to_str().unwrap();
        let Some(job) = steady(&pool, contract, goes_on_path, "10") else {
            return;
        };
        drop(goes_on);
        // PE 0 of this one is on the kernel of the test.
        let program = [fault_probe(), "everything".to_owned()];
        let ended = run_on(2, &pool.path, &program);
        assert_eq!(ended.sorted_lines(), all_fine(2), "{ended:#?}");
        assert_eq!(pool.jobs(), 1, "{}", pool.show());
        job.end_well();
        assert_eq!(pool.jobs(), 0, "{}", pool.show());
    }
}

#[test]
fn a_pe_that_is_killed_falls_silent() {
    let (pool, goes_on) = (
        Pool::new(128, "coherent"),
        tempfile::NamedTempFile::new().unwrap(),
    );
    let goes_on_path = goes_on.path().to_str().unwrap();
    let Some(mut job) = steady(&pool, "coherent", goes_on_path, "2") else {
        return;
    };
    assert_eq!(
        pool.show().matches("on another host").count(),
        2,
        "{}",
        pool.show()
    );
    job.signal(1, Signal::KILL);
    let line = job.line();
    assert!(line.starts_with("PE 0 saw: PE 1 on "), "{line}");
    assert!(line.contains("it has not been heard for "), "{line}");
    drop(goes_on);
    job.end_by_itself();
    // Other kernels learn nothing of what they have left, either.
    let cleared = run(&["window", "clear", &pool.path]);
    assert!(cleared.stdout.contains(" 0 jobs left"), "{cleared:#?}");
    assert_eq!(pool.jobs(), 0);
}

#[test]
fn a_pe_that_is_stopped_for_a_while_is_not_lost() {
    let (pool, goes_on) = (
        Pool::new(128, "coherent"),
        tempfile::NamedTempFile::new().unwrap(),
    );
    let goes_on_path = goes_on.path().to_str().unwrap();
    let Some(job) = steady(&pool, "coherent", goes_on_path, "60") else {
        return;
    };
    drop(goes_on);
    job.signal(1, Signal::STOP);
    std::thread::sleep(Duration::from_secs(5));
    job.signal(1, Signal::CONT);
    job.end_well();
}
