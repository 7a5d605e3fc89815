//! Jobs that do what they would on one host.

use crate::programs::all_fine;
use crate::{line, on_hosts};

/// PEs on this host, which needs no ssh, and on seven others do everything with each other.
#[test]
fn pes_of_eight_hosts_do_everything() {
    let script = "$HOSTWIRE run --on h1:1,h2:2,[fd09::3]:1,h4,h5,h6,h7,h8:2 --stats $PROBE everything || exit; left";
    let Some(ended) = on_hosts(8, script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert_eq!(ended.sorted_lines(), all_fine(10), "{ended:#?}");
    let counted = line(&ended, "what the wire ");
    assert!(!counted.contains("shm"), "{ended:#?}");
    assert!(ended.stderr.contains("frames"), "{ended:#?}");
}

#[test]
fn folder_variables_input_and_names_are_as_on_one_host() {
    let script = r#"
        cd /run/ssh
        export OF_ONE=1 SHMEM_INFO= HOSTWIRE_RING=8K
        seq 200000 | $HOSTWIRE run --on h2:1,h3:2 --label --heap 1M --env OF_ALL=2 --env OF_ONE bash -c '
            echo "$(hostname) $PWD $OF_ONE$OF_ALL $HOSTWIRE_HEAP $HOSTWIRE_RING ${HOSTWIRE_SSH-no} $PMI_RANK/$PMI_SIZE"
            wc -l' || exit
        # One that does not read, and one that reads a little.
        yes | $HOSTWIRE run --on h2 true || exit
        yes | $HOSTWIRE run --on h2 head -n 1 || exit
        $HOSTWIRE run --on h3 sh -c 'yes | head -c 20000000' | wc -c
        # Both PEs have ended long before this is read.
        $HOSTWIRE run --on h2,h3 sh -c 'yes | head -c 1500000' | (read -rt 2 <> <(:); wc -c)
        left"#;
    let Some(ended) = on_hosts(3, script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    let of = |host: &str, pe: u32| format!("[{pe}] {host} /run/ssh 12 1048576 8192 no {pe}/3");
    let mut expected = vec![
        of("h2", 0),
        of("h3", 1),
        of("h3", 2),
        "[0] 200000".to_owned(),
        "[1] 0".to_owned(),
        "[2] 0".to_owned(),
        "y".to_owned(),
        "20000000".to_owned(),
        "3000000".to_owned(),
    ];
    expected.sort_unstable();
    assert_eq!(ended.sorted_lines(), expected);
}

#[test]
fn ends_of_pes_are_told_as_on_one_host() {
    let script = r#"
        run() { $HOSTWIRE run --on h2:1,h3:1 "$@"; said "status $?"; }
        run sh -c '[ $PMI_RANK = 0 ] || exit 7; sleep 1000'
        run sh -c '[ $PMI_RANK = 0 ] || kill -11 $$; sleep 1000'
        run --gdb 1 sh -c '[ $PMI_RANK = 0 ] || kill -11 $$; sleep 1000'
        run --wrap "env 'X=2{pe}'" sh -c '[ $PMI_RANK = 0 ] || exit $X; sleep 1000'
        run --keep-going sh -c '[ $PMI_RANK = 0 ] || exit 3; sleep 0.1; echo went on'
        run --timeout 1s sleep 1000
        run --timeout 2s "${PROBE%/*}/pmi_probe" board 5 1
        run $PROBE die barrier
        run $PROBE abort 1 5
        $HOSTWIRE run --on h2:1,h3:1 sh -c \
            'trap "echo usr1; exit 0" USR1; echo up; while :; do sleep 0.01; done' >said & launcher=$!
        until grep -c up said | grep -qx 2; do :; done
        kill -USR1 $launcher
        wait $launcher; said "status $?"
        cat said
        left"#;
    let Some(ended) = on_hosts(3, &format!("cd /run/ssh\n{script}")) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let statuses = ended
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("status "));
    let statuses: Vec<&str> = statuses.collect();
    assert_eq!(
        statuses,
        ["7", "139", "139", "21", "3", "124", "124", "137", "5", "0"],
        "{ended:#?}"
    );
    line(&ended, "PE 1 exited with status 7; ended the other PE");
    line(&ended, "PE 1 was killed by SIGSEGV (");
    line(&ended, "PE 1: signal 11 in thread 1");
    line(&ended, "PE 1 was killed by SIGSEGV; ended the other PE");
    line(&ended, "PE 1 exited with status 21; ended the other PE");
    line(&ended, "PE 1 exited with status 3");
    line(&ended, "timed out after 1s; still running: PE 0,1");
    line(
        &ended,
        "timed out after 2s; still running: PE 0,1 (receiving from PE 1)",
    );
    line(
        &ended,
        "PE 1 was killed by SIGKILL; it was last in a barrier; ended the other PE",
    );
    line(&ended, "PE 1 aborted the job with code 5: no more paper");
    assert_eq!(ended.stdout.matches("went on").count(), 1, "{ended:#?}");
    assert_eq!(ended.stdout.matches("usr1").count(), 2, "{ended:#?}");
}

/// Both sides say that they are there while nothing else is said.
#[test]
fn a_job_that_says_nothing_goes_on() {
    let script = "HOSTWIRE_LOST_AFTER=3 $HOSTWIRE run --on h2:1,h3:1 sleep 5; said $?; left";
    let Some(ended) = on_hosts(3, script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    assert_eq!(ended.stdout, "0\n");
}

/// Ports, users, IPv6 addresses, a host that is reached through another, and one that takes its time.
#[test]
fn hosts_are_reached_as_ssh_reaches_them() {
    let script = r#"
        cd /run/ssh
        run() { $HOSTWIRE run --on "$@" sh -c hostname || said $?; }
        run 'ssh://root@h2:22:1,root@[fd09::3]:1'
        HOSTWIRE_SSH="$HOSTWIRE_SSH -J h2" run h3
        printf '#!/bin/bash\n[[ $* == *h3* ]] && sleep 2\nexec ssh "$@"\n' >late; chmod +x late
        HOSTWIRE_SSH="late ${HOSTWIRE_SSH#ssh}" run h2,h3
        HOSTWIRE_SSH=no-such-command run h2
        left"#;
    let Some(ended) = on_hosts(3, script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let lines = ended.sorted_lines();
    assert_eq!(lines, ["2", "h2", "h2", "h3", "h3", "h3"], "{ended:#?}");
    line(
        &ended,
        "hostwire: h2: 'no-such-command' cannot be started: ",
    );
    assert_eq!(ended.stderr.lines().count(), 1, "{ended:#?}");
}
