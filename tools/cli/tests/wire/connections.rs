//! The wire `tcp`: what a network does to its connections, and the end of peers.

use std::time::Duration;

use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::programs::fault_probe;

const WIRE: &str = "tcp";

#[test]
fn frames_that_meet_faults_are_sent_again() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let program = [&fault_probe()[..], "steady", "20000", "20"];
    for faults in [
        "drop=0.05,seed=2",
        "drop=0.02,dup=0.05,reorder=0.05,flip=0.02,seed=6",
    ] {
        for option in ["--stats", "--insecure-wire"] {
            let variables = [("HOSTWIRE_FAULTS", faults), ("HOSTWIRE_STATS", "1")];
            let ended = Steady::start_over(WIRE, 2, &[option], &variables, &program).end_well();
            assert!(ended.stderr.contains("faults injected"), "{ended:#?}");
        }
    }
}

#[test]
fn a_cable_that_is_out_and_a_pe_that_is_stopped_delay_a_job() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start_program_over(WIRE, 2, &[], &[]);
    steady.on_host_of(0, &["ip", "link", "set", "wire", "down"]);
    std::thread::sleep(Duration::from_secs(2));
    steady.on_host_of(0, &["ip", "link", "set", "wire", "up"]);
    steady.end_well();
    let steady = Steady::start_program_over(WIRE, 4, &["--hosts", "2"], &[]);
    steady.signal(3, Signal::STOP);
    std::thread::sleep(Duration::from_secs(3));
    steady.signal(3, Signal::CONT);
    steady.end_well();
}

#[test]
fn who_is_killed_is_named_at_once() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    // A PE alone on its host, and one of two PEs whose host has an endpoint in a process of its
    // own.
    for (pes, options) in [
        (2, &["--keep-going"][..]),
        (4, &["--keep-going", "--hosts", "2"]),
    ] {
        // Nobody may learn it by silence.
        let variables = [("HOSTWIRE_LOST_AFTER", "600")];
        let steady = Steady::start_program_over(WIRE, pes, options, &variables);
        steady.signal(pes as usize - 1, Signal::KILL);
        let ended = steady.end_by_itself();
        assert_eq!(ended.status, 137, "{ended:#?}");
        let seen = format!("PE {} on host1 is lost: ", pes - 1);
        assert!(ended.stdout.contains(&seen), "{ended:#?}");
        assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
    }
}
