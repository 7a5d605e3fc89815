//! Processes that do not belong to the job.

use hostwire_testing::{is_installed, left_out, need};

use crate::programs::{all_fine, is_root, run_probe, run_script};

#[test]
fn another_user_with_the_ticket_is_not_let_in() {
    if !is_root() {
        return;
    }
    let ended = run_probe(3, &[], &["intrude"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""), "{ended:#?}");
    let mut expected = all_fine(3);
    expected.push("the intruder was sent 0 bytes".into());
    assert_eq!(ended.sorted_lines(), expected);
}

#[test]
fn a_pe_of_another_user_is_told_why_it_cannot_attach() {
    if !is_root() || !is_installed("setpriv", &need::UTIL_LINUX) {
        return;
    }
    let other_user = "setpriv --reuid=65534 --clear-groups";
    let may_run = run_script(&format!("{other_user} test -x $PROBE"));
    if may_run.status != 0 {
        return left_out(
            &need::OTHER_USER,
            "another user cannot read the test programs",
        );
    }
    let script = format!(
        "export HOSTWIRE_ATTACH_TIMEOUT=2; exec $HOSTWIRE run -n 2 --keep-going sh -c \
         '[ $PMI_RANK = 1 ] && exec {other_user} \"$0\" everything; exec \"$0\" everything' $PROBE"
    );
    let ended = run_script(&script);
    assert_ne!(ended.status, 0, "{ended:#?}");
    assert_eq!(ended.stdout, "");
    assert!(
        ended.stderr.contains("belongs to another user"),
        "{ended:#?}"
    );
    assert!(
        ended.stderr.contains("PE 1 did not come in time"),
        "{ended:#?}"
    );
}
