//! Jobs over libfabric.

use std::time::Duration;

use hostwire_testing::{left_out, need};
use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::job::{Job, hostwire};
use crate::programs::{all_fine, fault_probe};

const INSECURE: &str = "--insecure-wire";

/// Those of some names that libfabric has here. Says so if it has none.
fn providers() -> Vec<&'static str> {
    let known = ["tcp;ofi_rxm", "net"];
    let offers = match hostwire_fabric::offers() {
        Ok((_, offers)) => offers,
        Err(error) => {
            left_out(&need::LIBFABRIC, error);
            return Vec::new();
        }
    };
    let has = |name: &&str| {
        let mut usable = offers.iter().filter(|offer| offer.refused.is_none());
        usable.any(|offer| offer.provider == *name)
    };
    known.into_iter().filter(has).collect()
}

#[test]
fn a_job_runs_over_each_provider() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for provider in providers() {
        let variables = [("HOSTWIRE_FABRIC", provider)];
        let options = [INSECURE, "--hosts", "2"];
        let program = [&fault_probe()[..], "steady", "20000"];
        let ended = Steady::start_over("fabric", 4, &options, &variables, &program).end();
        assert_eq!(ended.status, 0, "{provider}: {ended:#?}");
        assert_eq!(ended.sorted_lines(), all_fine(4), "{provider}: {ended:#?}");
    }
}

/// The PEs learn it by the connections that carry nothing, not by silence.
#[test]
fn a_pe_that_is_killed_is_named() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for provider in providers() {
        let variables = [
            ("HOSTWIRE_FABRIC", provider),
            ("HOSTWIRE_LOST_AFTER", "600"),
        ];
        let options = [INSECURE, "--keep-going"];
        let program = [&fault_probe()[..], "steady", "20000"];
        let steady = Steady::start_over("fabric", 2, &options, &variables, &program);
        steady.signal(1, Signal::KILL);
        let ended = steady.end_by_itself();
        assert_eq!(ended.status, 137, "{provider}: {ended:#?}");
        let seen = ended.stdout.contains("PE 0 saw: PE 1 on host1 is lost: ");
        assert!(seen, "{provider}: {ended:#?}");
    }
}

/// Libraries that libfabric loads have handlers of their own, which end a process by `exit`.
#[test]
fn a_pe_that_crashes_is_told_as_what_it_is() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for provider in providers() {
        for (signal, name, status) in [
            (Signal::ABORT, "SIGABRT", 134),
            (Signal::TERM, "SIGTERM", 143),
        ] {
            let variables = [("HOSTWIRE_FABRIC", provider)];
            let program = [&fault_probe()[..], "steady", "20000"];
            let steady = Steady::start_over("fabric", 2, &[INSECURE], &variables, &program);
            steady.signal(1, signal);
            let ended = steady.end_by_itself();
            assert_eq!(ended.status, status, "{provider}: {ended:#?}");
            let why = format!("PE 1 was killed by {name}");
            assert!(ended.stderr.contains(&why), "{provider}: {ended:#?}");
        }
    }
}

/// Its processes get no turn for several times the time that silence may last, but its kernel answers.
#[test]
fn a_pe_that_gets_no_turn_is_not_lost() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    for provider in providers() {
        let variables = [("HOSTWIRE_FABRIC", provider), ("HOSTWIRE_LOST_AFTER", "1")];
        let program = [&fault_probe()[..], "steady", "20000"];
        let steady = Steady::start_over("fabric", 2, &[INSECURE], &variables, &program);
        steady.signal(1, Signal::STOP);
        std::thread::sleep(Duration::from_secs(4));
        steady.signal(1, Signal::CONT);
        steady.end_well();
    }
}

#[test]
fn what_is_missing_is_said() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let run = |options: &[&str], provider: &str| {
        let start = ["run", "-n", "2", "--wire", "fabric"];
        let probe = fault_probe();
        let mut command = hostwire(&[&start, options, &[&probe, "steady", "20000"]].concat());
        command.env("HOSTWIRE_FABRIC", provider);
        Job::start(command).end()
    };
    let ended = run(&[], "tcp;ofi_rxm");
    assert_ne!(ended.status, 0, "{ended:#?}");
    let why = "the wire fabric does not encrypt what it carries";
    assert!(ended.stderr.contains(why), "{ended:#?}");
    let ended = run(&[INSECURE], "pigeon");
    assert_ne!(ended.status, 0, "{ended:#?}");
    // Without libfabric the error says so.
    let why = match providers().is_empty() {
        true => "expected libfabric.so.1 (package libfabric1)",
        false => "expected a provider pigeon, got none with reliable endpoints",
    };
    assert!(ended.stderr.contains(why), "{ended:#?}");
}
