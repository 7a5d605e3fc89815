//! PEs that are killed: the others are told which, and on which host.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::job::Ended;

/// Checks that these PEs, and nobody else, have seen one of `lost` as lost on `host`.
fn assert_seen(ended: &Ended, survivors: &[u32], lost: &[u32], host: &str) {
    let lines = ended.sorted_lines();
    assert_eq!(lines.len(), survivors.len(), "{ended:#?}");
    for (line, pe) in lines.iter().zip(survivors) {
        let who = format!("PE {pe} saw: PE ");
        let seen = line.strip_prefix(&who).unwrap_or_default();
        let right = lost.iter().any(|lost| {
            let expected = format!("{lost} on {host} is lost: ");
            seen.starts_with(&expected)
        });
        assert!(right, "{line}: {ended:#?}");
    }
}

/// The PEs of its host see it at once, and tell.
#[test]
fn a_pe_that_is_killed_is_told_by_its_host() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    // Nobody may find it out by silence.
    let variables = [("HOSTWIRE_LOST_AFTER", "600")];
    let steady = Steady::start(4, &["--keep-going"], &variables);
    steady.signal(3, Signal::KILL);
    let ended = steady.end_by_itself();
    assert_eq!(ended.status, 137, "{ended:#?}");
    // A PE that has given up and left may be what another one sees.
    assert!(ended.stdout.contains("PE 0 saw: PE "), "{ended:#?}");
    assert!(
        ended.stdout.contains("PE 3 on host1 is lost: "),
        "{ended:#?}"
    );
    assert!(!ended.stdout.contains("is fine"), "{ended:#?}");
}

/// Nobody is left there who could tell: silence does.
#[test]
fn a_host_that_dies_is_lost_by_its_silence() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let variables = [("HOSTWIRE_LOST_AFTER", "2")];
    let steady = Steady::start(2, &["--keep-going"], &variables);
    let begin = Instant::now();
    steady.signal(1, Signal::KILL);
    let ended = steady.end_by_itself();
    assert_eq!(ended.status, 137, "{ended:#?}");
    assert_seen(&ended, &[0], &[1], "host1");
    // Silence cannot be noticed before it has lasted.
    assert!(begin.elapsed() >= Duration::from_secs(2), "{ended:#?}");
}

/// Without --keep-going the launcher ends all of them.
#[test]
fn the_job_ends_with_its_pe() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let steady = Steady::start(4, &[], &[]);
    steady.signal(2, Signal::KILL);
    let ended = steady.end_by_itself();
    assert_eq!(ended.status, 137, "{ended:#?}");
    assert!(
        ended.stderr.contains("PE 2 was killed by SIGKILL"),
        "{ended:#?}"
    );
}
