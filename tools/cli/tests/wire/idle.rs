//! A job that waits leaves the cores alone.

use crate::hosts::may_make_hosts;
use crate::job::run;
use crate::programs::fault_probe;

#[test]
fn a_job_that_waits_takes_less_than_a_core_per_host() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let probe = fault_probe();
    let ended = run(&["run", "-n", "4", "--wire", "ether", &probe, "idle", "3"]);
    assert_eq!(ended.status, 0, "{ended:#?}");
    let cores: Vec<f64> = ended.stdout.lines().map(|l| l.parse().unwrap()).collect();
    assert_eq!(cores.len(), 4, "{ended:#?}");
    let all: f64 = cores.iter().sum();
    // Two hosts, so 2.0 would be allowed.
    assert!(all < 1.0, "{cores:?} cores");
}
