//! A job whose PEs cannot share memory.

use crate::programs::{is_installed, is_root, run, run_script};

/// PE 1 of 3 on a host of its own, as far as sharing memory goes: another network
/// namespace.
#[test]
fn a_job_that_spans_hosts_is_told_which_pe_is_where() {
    if !is_installed("unshare", "util-linux") || !is_root() {
        return;
    }
    if run("unshare", &["--uts", "--net", "true"]).status != 0 {
        eprintln!("skipped: this root may not make namespaces");
        return;
    }
    let ended = run_script(
        "exec $HOSTWIRE run -n 3 --keep-going sh -c '\
         [ $PMI_RANK = 1 ] || exec \"$0\" everything; \
         exec unshare --uts --net sh -c \"hostname far; exec $0 everything\"' $PROBE",
    );
    assert_ne!(ended.status, 0, "{ended:#?}");
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
