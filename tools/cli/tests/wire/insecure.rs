//! A user who turns off encryption gets one warning.

use crate::hosts::{Steady, may_make_hosts};

#[test]
fn a_job_without_encryption_says_so_whoever_asked_for_it() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variable = [("HOSTWIRE_INSECURE_WIRE", "1")];
    for (options, variables, reason) in [
        (&[][..], &variable[..], Some("HOSTWIRE_INSECURE_WIRE=1")),
        (&["--insecure-wire"], &[], Some("--insecure-wire")),
        (&["--insecure-wire"], &variable, Some("--insecure-wire")),
        (&[], &[("HOSTWIRE_INSECURE_WIRE", "0")], None),
    ] {
        let ended = Steady::start(2, options, variables).end_well();
        let expected = reason.map_or(String::new(), |reason| {
            format!(
                "hostwire: warning: {reason}: anybody on the network between the hosts can \
                 read and change the memory of this job\n"
            )
        });
        assert_eq!(ended.stderr, expected, "{ended:#?}");
    }
}
