//! `--copy`: hosts on which nothing is installed.

use crate::{line, on_hosts};

/// h2 and h3 have neither hostwire nor the folder with the program, and a `/tmp` of their own.
const BARE: &str = r#"
    mkdir /run/ssh/own /run/ssh/own/here; cd /run/ssh/own/here
    : >/run/ssh/none
    for host in h2 h3; do
        there $host mount --bind /run/ssh/none "$HOSTWIRE"
        there $host mount --bind /run/ssh/none "$PROBE"
        there $host mount -t tmpfs none /tmp
        there $host mount -t tmpfs none /run/ssh/own
    done
    printf '#!/bin/sh\necho "$(hostname) $PWD $PMI_RANK $*"\n' >prog; chmod +x prog
    # What is in the folders that a copy may use.
    files() { for host in h2 h3; do there $host ls /tmp /var/tmp /dev/shm /root; done | grep hostwire || :; }
"#;

#[test]
fn hosts_without_hostwire_and_program_run_both() {
    let script = format!(
        r#"{BARE}
        $HOSTWIRE run --copy --on h1:1,h2:2,h3:1 ./prog a b || exit
        $HOSTWIRE run --copy --on h1:1,h2:2,h3:1 --stats $PROBE everything 2>/dev/null | wc -l
        # One without a slash is the host's. PEs get no descriptor of the copy.
        $HOSTWIRE run --copy --on h2 sh -c 'readlink /proc/self/fd/* | grep -c deleted'
        files; left"#
    );
    let Some(ended) = on_hosts(3, &script) else {
        return;
    };
    assert_eq!((ended.status, &*ended.stderr), (0, ""), "{ended:#?}");
    let lines = crate::programs::all_fine(4).len().to_string();
    let home = std::env::var("HOME").unwrap_or("/root".to_owned());
    assert_eq!(
        ended.sorted_lines(),
        [
            // The board and the counters.
            "2",
            &lines,
            "h1 /run/ssh/own/here 0 a b",
            &format!("h2 {home} 1 a b"),
            &format!("h2 {home} 2 a b"),
            &format!("h3 {home} 3 a b"),
        ],
        "{ended:#?}"
    );
}

#[test]
fn a_host_that_cannot_take_a_copy_is_named() {
    let script = format!(
        r#"{BARE}
        run() {{ $HOSTWIRE run --copy --on h2,h3 touch /run/ssh/started; said $?; }}
        mounted() {{ for folder in /tmp /var/tmp /dev/shm "$HOME"; do there h3 mount -t tmpfs -o "$1" none $folder; done; }}
        mounted size=1m; run
        mounted noexec; run
        mounted ro; run
        for i in 1 2 3; do there h3 umount /var/tmp; done
        # A copy that is cut off, and another machine.
        printf '#!/bin/bash\nexec ssh "$@" <<<short\n' >/run/ssh/cut; chmod +x /run/ssh/cut
        HOSTWIRE_SSH="cut ${{HOSTWIRE_SSH#ssh}}" run
        printf '#!/bin/sh\necho Linux riscv64\n' >/run/ssh/other; chmod +x /run/ssh/other
        there h3 mount --bind /run/ssh/other "$(command -v uname)"; run
        test ! -e /run/ssh/started || said started
        files; left"#
    );
    let Some(ended) = on_hosts(3, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert!(ended.stdout.lines().all(|line| line == "2"), "{ended:#?}");
    for (text, end) in [
        (
            " MiB of hostwire: /tmp is full, /var/tmp is full, /dev/shm is full, ",
            " is full",
        ),
        (
            " MiB of hostwire: /tmp is noexec, /var/tmp is noexec, ",
            " is noexec",
        ),
        (
            ": /tmp may not be written, /var/tmp may not be written, ",
            " may not be written",
        ),
        (
            "hostwire: h2: the connection ended while hostwire was copied",
            "",
        ),
        (
            "hostwire: h3: the connection ended while hostwire was copied",
            "",
        ),
        (
            "hostwire: h3: it has Linux riscv64, and this hostwire is for Linux ",
            "",
        ),
    ] {
        let line = line(&ended, text);
        assert!(line.ends_with(end), "{line}");
    }
    assert_eq!(ended.stderr.lines().count(), 6, "{ended:#?}");
}

/// A copy has no name, so there is nothing to remove, even if it has come in part only.
#[test]
fn nothing_of_a_copy_is_left() {
    let script = format!(
        r#"{BARE}
        kills() {{
            $HOSTWIRE run --copy --on h2:1,h3:2 sh -c 'sleep 1000 & setsid sleep 1000 & wait' & launcher=$!
            until_there sleep 6
            kill -9 $(eval "$1")
            wait $launcher; said "status $?"
            files; left
        }}
        kills 'echo $launcher'
        kills 'pgrep -fx "/proc/self/fd/4 __starter --copied" | tail -n 1'
        kills 'pgrep -P $(cat /run/ssh/sshd.h3)'
        kills 'pgrep -x ssh | tail -n 1'
        # All of ssh but the first MiB waits.
        printf '#!/bin/bash\nexec ssh "$@" < <(head -c 1000001; exec sleep 1000)\n' >/run/ssh/slow; chmod +x /run/ssh/slow
        for name in head hostwire; do
            HOSTWIRE_SSH="slow ${{HOSTWIRE_SSH#ssh}}" $HOSTWIRE run --copy --on h3 true & launcher=$!
            until_there sleep 1
            until pgrep -fx 'head -c [0-9]*' >/dev/null; do :; done
            case $name in
            head) kill -9 $(pgrep -fx 'head -c [0-9]*' | tail -n 1) ;;
            *) kill -9 $launcher ;;
            esac
            wait $launcher; said "status $?"
            files; left
        done"#
    );
    let Some(ended) = on_hosts(3, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    let statuses = ["137", "1", "1", "1", "2", "137"].map(|status| format!("status {status}"));
    let seen: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(seen, statuses, "{ended:#?}");
    line(
        &ended,
        "hostwire: h3: hostwire cannot be written to /tmp: it was ended",
    );
}
