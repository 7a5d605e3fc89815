//! The heap of a program that says none.

use crate::{cluster, job, probe};

/// Nine heaps of the usual size are more than the 2 GiB of a host.
#[test]
fn a_heap_for_which_nobody_asks_fits_the_hardware() {
    let (cluster, probe) = (cluster("htx-pair.toml"), probe());
    let job = ["run", "--cluster", &cluster, "--place", "0", "-n", "9"];
    let with = |heap: &[&str]| job::run(&[&job, heap, &[&probe, "meet"]].concat());
    let ended = with(&[]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let ended = with(&["--heap", "256M"]);
    assert_eq!(ended.status, 1, "{ended:?}");
    assert!(ended.stderr.contains("a heap of"), "{ended:?}");
}
