//! Whatever is killed or pulled: nothing is left on any host, and one line says what happened.

use crate::{line, on_hosts};

/// A PE with a child, and a daemon of it.
const PROGRAM: &str = "sleep 1000 & setsid sleep 1000 & wait";

/// Runs a job on h2 and h3, and `kill` once all of it is there.
fn killed(kill: &str) -> Option<crate::job::Ended> {
    let script = format!(
        "$HOSTWIRE run --on h2:1,h3:2 sh -c '{PROGRAM}' & launcher=$!
        until_there sleep 6
        {kill}
        wait $launcher; said status $?
        left"
    );
    on_hosts(3, &script)
}

#[test]
fn kill_9_of_the_launcher_ends_all() {
    let Some(ended) = killed("kill -9 $launcher") else {
        return;
    };
    assert_eq!(
        (ended.status, &*ended.stdout),
        (0, "status 137\n"),
        "{ended:#?}"
    );
}

#[test]
fn kill_9_of_a_starter_ends_all() {
    let Some(ended) = killed("kill -9 $(pgrep -f 'hostwire __starter$' | tail -n 1)") else {
        return;
    };
    assert_eq!(
        (ended.status, &*ended.stdout),
        (0, "status 1\n"),
        "{ended:#?}"
    );
    let line = line(&ended, "hostwire: lost h");
    assert!(
        line.contains(": its connection or its starter has ended"),
        "{line}"
    );
    assert!(line.contains("; ended the other "), "{line}");
}

#[test]
fn kill_9_of_the_child_of_sshd_ends_all() {
    let kill = "kill -9 $(pgrep -P $(cat /run/ssh/sshd.h3))";
    let Some(ended) = killed(kill) else {
        return;
    };
    assert_eq!(
        (ended.status, &*ended.stdout),
        (0, "status 1\n"),
        "{ended:#?}"
    );
    let line = line(&ended, "hostwire: lost h3 with PEs 1-2: ");
    assert!(line.ends_with("; ended the other PE"), "{line}");
}

#[test]
fn kill_9_of_ssh_ends_all() {
    let Some(ended) = killed("kill -9 $(pgrep -x ssh | head -n 1)") else {
        return;
    };
    assert_eq!(
        (ended.status, &*ended.stdout),
        (0, "status 1\n"),
        "{ended:#?}"
    );
    line(&ended, ": ssh was killed; ended the other ");
}

#[test]
fn a_signal_ends_all() {
    let Some(ended) = killed("kill -TERM $launcher") else {
        return;
    };
    assert_eq!(
        (ended.status, &*ended.stdout),
        (0, "status 143\n"),
        "{ended:#?}"
    );
    line(&ended, "interrupted by SIGTERM; ended 3 PEs");
}

/// Both ends find out by themselves.
#[test]
#[ignore = "waits for a limit that a busy machine could exceed"]
fn a_cable_that_is_pulled_ends_all() {
    let script = format!(
        "HOSTWIRE_LOST_AFTER=5 $HOSTWIRE run --on h2:1,h3:2 sh -c '{PROGRAM}' & launcher=$!
        until_there sleep 6
        cable h3 down
        wait $launcher; said status $?
        left"
    );
    let Some(ended) = on_hosts(3, &script) else {
        return;
    };
    assert_eq!(
        (ended.status, &*ended.stdout),
        (0, "status 1\n"),
        "{ended:#?}"
    );
    let line = line(
        &ended,
        "hostwire: lost h3 with PEs 1-2: nothing was heard of it for ",
    );
    assert!(line.ends_with(" s; ended the other PE"), "{line}");
}

/// A launcher that is stopped says so first.
#[test]
#[ignore = "takes as long"]
fn a_launcher_that_is_stopped_ends_nothing() {
    let script = "HOSTWIRE_LOST_AFTER=3 $HOSTWIRE run --on h2:1,h3:1 sh -c 'sleep 3; echo done' & launcher=$!
        until_there sleep 2
        kill -TSTP $launcher
        read -rt 6 <> <(:)
        kill -CONT $launcher
        wait $launcher; said status $?
        left";
    let Some(ended) = on_hosts(3, script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    assert_eq!(
        ended.sorted_lines(),
        ["done", "done", "status 0"],
        "{ended:#?}"
    );
}
