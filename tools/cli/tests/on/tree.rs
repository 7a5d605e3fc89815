//! More hosts than the launcher reaches itself: their starters are started from other hosts. Each host reaches two, so h2 and
//! h3 are reached from h1, h4 and h5 from h2, h6 and h7 from h3, and h8 from h4.

use crate::programs::all_fine;
use crate::{line, on_hosts};

const RUN: &str = r#"
    export HOSTWIRE_FAN_OUT=2
    ON=h2:1,h3:2,h4:1,h5:1,h6:1,h7:1,h8:1
    run() { $HOSTWIRE run --on $ON "$@"; }
    # A starter or an ssh by the host that it is for.
    starter() { pgrep -P "$(pgrep -P "$(cat "/run/ssh/sshd.$1")")" -x hostwire; }
    way() { pgrep -f "^ssh .* -T $1 "; }
"#;

#[test]
fn pes_behind_other_hosts_do_everything() {
    let script = format!(
        r#"{RUN}
        $HOSTWIRE run --on h1:1,h2,h3,h4:2,h5,h6,h7,h8 --stats $PROBE everything || exit
        $HOSTWIRE run --on $ON sh -c 'sleep 1000' & launcher=$!
        until_there sleep 8
        said "ways $(pgrep -P $launcher -x ssh | wc -l) of $(pgrep -x ssh | wc -l)"
        kill -TERM $launcher; wait $launcher; said "status $?"
        left"#
    );
    let Some(ended) = on_hosts(8, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let mut expected = all_fine(9);
    expected.extend(["ways 2 of 7".to_owned(), "status 143".to_owned()]);
    expected.sort_unstable();
    assert_eq!(ended.sorted_lines(), expected, "{ended:#?}");
    line(&ended, "what the wire ");
}

#[test]
fn input_output_and_ends_pass_through_other_hosts() {
    let script = format!(
        r#"{RUN}
        cd /run/ssh
        seq 300000 | run bash -c 'echo "$(hostname) $PWD $PMI_RANK ${{HOSTWIRE_FAN_OUT-no}}"; wc -l' || exit
        run bash -c '[ $PMI_RANK != 7 ] || exec head -c 20000000 /dev/zero' | wc -c
        run bash -c '[ $PMI_RANK != 7 ] || exit 7; sleep 1000'; said "status $?"
        run --timeout 2s sleep 1000; said "status $?"
        $HOSTWIRE run --on $ON bash -c 'trap "echo usr1; exit 0" USR1; echo up; while :; do sleep 0.01; done' >said & launcher=$!
        until grep -c up said | grep -qx 8; do :; done
        kill -USR1 $launcher
        wait $launcher; said "status $?"
        grep -c usr1 said
        HOSTWIRE_LOST_AFTER=3 run sleep 5; said "status $?"
        left"#
    );
    let Some(ended) = on_hosts(8, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let mut expected: Vec<String> = [
        "h2 0", "h3 1", "h3 2", "h4 3", "h5 4", "h6 5", "h7 6", "h8 7",
    ]
    .map(|at| {
        let (host, pe) = at.split_once(' ').unwrap_or_default();
        format!("{host} /run/ssh {pe} no")
    })
    .to_vec();
    expected.push("300000".to_owned());
    expected.extend(vec!["0".to_owned(); 7]);
    expected.extend(
        [
            "20000000",
            "status 7",
            "status 124",
            "status 0",
            "8",
            "status 0",
        ]
        .map(str::to_owned),
    );
    expected.sort_unstable();
    assert_eq!(ended.sorted_lines(), expected, "{ended:#?}");
    line(&ended, "PE 7 exited with status 7; ended the other 7 PEs");
    line(&ended, "timed out after 2s; still running: PE 0-7");
}

#[test]
fn copies_are_handed_on() {
    let script = format!(
        r#"{RUN}
        mkdir /run/ssh/own /run/ssh/own/here; cd /run/ssh/own/here
        : >/run/ssh/none
        for host in h2 h3 h4 h5 h6 h7 h8; do
            there $host mount --bind /run/ssh/none "$HOSTWIRE"
            there $host mount -t tmpfs none /tmp
            there $host mount -t tmpfs none /run/ssh/own
        done
        printf '#!/bin/sh\necho "$(hostname) $PMI_RANK"\n' >prog; chmod +x prog
        run --copy ./prog || exit
        for host in h2 h4 h8; do there $host ls /tmp /var/tmp /dev/shm /root; done | grep hostwire
        left"#
    );
    let Some(ended) = on_hosts(8, &script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    let expected = [
        "h2 0", "h3 1", "h3 2", "h4 3", "h5 4", "h6 5", "h7 6", "h8 7",
    ];
    assert_eq!(ended.sorted_lines(), expected, "{ended:#?}");
}

/// Whatever is killed: nothing is left on any host, and one line says what happened.
#[test]
fn kill_9_of_anything_ends_all() {
    let script = format!(
        r#"{RUN}
        killed() {{
            $HOSTWIRE run --on $ON sh -c 'sleep 1000 & setsid sleep 1000 & wait' & launcher=$!
            until_there sleep 16
            kill -9 $(eval "$1")
            wait $launcher; said "status $?"
            left
        }}
        killed 'echo $launcher'
        killed 'starter h2'
        killed 'starter h4'
        killed 'way h4'
        killed 'way h8'
        killed 'pgrep -P $(cat /run/ssh/sshd.h3)'"#
    );
    let Some(ended) = on_hosts(8, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let statuses = ["137", "1", "1", "1", "1", "1"].map(|status| format!("status {status}"));
    assert_eq!(
        ended.stdout.lines().collect::<Vec<_>>(),
        statuses,
        "{ended:#?}"
    );
    // The shell may say that its child was killed.
    let lines = ended.stderr.lines();
    let lost: Vec<&str> = lines
        .filter(|line| line.starts_with("hostwire: "))
        .collect();
    let expected = [
        (
            "hostwire: lost h2 with PE 0, and with it h4, h5, h8 behind it with 3 PEs: its connection or its starter has ended",
            4,
        ),
        (
            "hostwire: lost h4 with PE 3, and with it h8 behind it with 1 PE: its connection or its starter has ended",
            6,
        ),
        (
            "hostwire: lost h4 with PE 3, and with it h8 behind it with 1 PE: ssh from h2 was killed",
            6,
        ),
        ("hostwire: lost h8 with PE 7: ssh from h4 was killed", 7),
        (
            "hostwire: lost h3 with PEs 1-2, and with it h6, h7 behind it with 2 PEs: ",
            4,
        ),
    ];
    assert_eq!(lost.len(), expected.len(), "{ended:#?}");
    for (line, (begin, others)) in lost.iter().zip(expected) {
        assert!(line.starts_with(begin), "{line}");
        assert!(
            line.ends_with(&format!("; ended the other {others} PEs")),
            "{line}"
        );
    }
}

/// Both hosts are named, with what to do, and no PE is started anywhere.
#[test]
fn a_host_that_cannot_reach_the_next_is_named_with_it() {
    let script = format!(
        r#"{RUN}
        : >/run/ssh/none
        there h2 mount --bind /run/ssh/none /run/ssh/user
        run touch /run/ssh/started; said "status $?"
        run --fan-out 7 true; said "status $?"
        there h2 umount /run/ssh/user
        sed '/^10.9.0.8/d' /run/ssh/names >/run/ssh/fewer
        there h4 mount --bind /run/ssh/fewer /etc/hosts
        run touch /run/ssh/started; said "status $?"
        kill $(cat /run/ssh/sshd.h8)
        there h4 umount /etc/hosts
        run touch /run/ssh/started; said "status $?"
        test ! -e /run/ssh/started || said started
        left"#
    );
    let Some(ended) = on_hosts(8, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let statuses = ["2", "0", "2", "2"].map(|status| format!("status {status}"));
    assert_eq!(
        ended.stdout.lines().collect::<Vec<_>>(),
        statuses,
        "{ended:#?}"
    );
    let advice = |host: &str| {
        format!(
            "let {host} log in there (a key of its own, or ForwardAgent), or reach all hosts from here: --fan-out 1024 ("
        )
    };
    for host in ["h4", "h5"] {
        let begin = format!(
            "hostwire: {host}: ssh from h2 has no key that it takes, and is not to ask for a password; "
        );
        line(&ended, &(begin + &advice("h2")));
    }
    line(
        &ended,
        &("hostwire: h8: ssh from h4 finds no host of this name; ".to_owned() + &advice("h4")),
    );
    line(
        &ended,
        "hostwire: h8: it does not accept connections by ssh from h4; is sshd running there? (",
    );
    assert_eq!(ended.stderr.lines().count(), 4, "{ended:#?}");
}
