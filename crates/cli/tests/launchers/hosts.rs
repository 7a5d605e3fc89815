//! A job whose PEs cannot share memory.

use crate::programs::{fault_probe, is_installed, is_root, run};

/// PE 1 of 3 on a host of its own, as far as sharing memory goes: another network
/// namespace.
#[test]
fn a_job_that_spans_hosts_is_told_which_pe_is_where() {
    let installed = is_installed("mpiexec.hydra", "mpich") && is_installed("unshare", "util-linux");
    if !installed || !is_root() {
        return;
    }
    if run("unshare", &["--uts", "--net", "true"]).status != 0 {
        eprintln!("skipped: this root may not make namespaces");
        return;
    }
    // The launcher ends all PEs as soon as one fails, so each gets a shell that outlives it.
    let script = "[ $PMI_RANK = 1 ] && away='unshare --uts --net sh -c'; \
                  ${away:-sh -c} '[ $PMI_RANK = 1 ] && hostname far; $0 everything' $0; sleep 1";
    let ended = run(
        "mpiexec.hydra",
        &["-n", "3", "sh", "-c", script, &fault_probe()],
    );
    assert_eq!(ended.stdout, "", "{ended:#?}");
    let said = |word: &str| ended.stderr.matches(word).count();
    assert_eq!(said("the job spans 2 network namespaces"), 3, "{ended:#?}");
    // The whole text once.
    assert_eq!(said("PEs 0, 2 on "), 1, "{ended:#?}");
    assert_eq!(said("; PE 1 on far; "), 1, "{ended:#?}");
    assert_eq!(said("the wire ether is needed"), 1, "{ended:#?}");
    assert_eq!(said("PE 1 runs on far, "), 1, "{ended:#?}");
    assert_eq!(said("see what PE 0 says"), 2, "{ended:#?}");
}
