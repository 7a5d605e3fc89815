//! Hosts that cannot be used. Each is named, with what to do, and no PE is started anywhere.

use crate::{line, on_hosts};

/// Starts a job on h2 and another host, and says how it ended.
const RUN: &str = r#"
    run() { $HOSTWIRE run --on "$1" touch /run/ssh/started; said "$1 $?"; }
    # Other bytes in the place of hostwire, on h3.
    replace() { nsenter --mount --target "$(cat /run/ssh/sshd.h3)" mount --bind "/run/ssh/$1" "$HOSTWIRE"; }
"#;

#[track_caller]
fn refused(script: &str, lines: &[&str]) {
    let script = format!("{RUN}\n{script}\ntest ! -e /run/ssh/started || said started\nleft");
    let Some(ended) = on_hosts(3, &script) else {
        return;
    };
    assert_eq!(ended.status, 0, "{ended:#?}");
    assert!(
        ended.stdout.lines().all(|line| line.ends_with(" 2")),
        "{ended:#?}"
    );
    for text in lines {
        line(&ended, text);
    }
    assert_eq!(ended.stderr.lines().count(), lines.len(), "{ended:#?}");
}

#[test]
fn a_host_that_is_not_there_or_refuses_is_named() {
    refused(
        // A stopped sshd has its connections accepted by the kernel, and says nothing. h2 has time to answer on a busy machine.
        r#"run h2,h9; run h2,10.9.0.1
        kill -STOP "$(cat /run/ssh/sshd.h3)"; HOSTWIRE_ATTACH_TIMEOUT=5 run h2,h3; kill -CONT "$(cat /run/ssh/sshd.h3)""#,
        &[
            "hostwire: h9: there is no host of this name (",
            "hostwire: 10.9.0.1: it does not accept connections by ssh; is sshd running there? (",
            "hostwire: h3: it did not answer in time (HOSTWIRE_ATTACH_TIMEOUT)",
        ],
    );
}

/// Nothing waits for an answer: there is no terminal, and with one ssh would not ask, either.
#[test]
fn a_password_or_an_unknown_key_is_no_question() {
    refused(
        "mv /run/ssh/authorized /run/ssh/old; run h3; mv /run/ssh/old /run/ssh/authorized
        sed -i '/^h3/d' /run/ssh/known; run h2,h3",
        &[
            "hostwire: h3: ssh has no key that it takes, and is not to ask for a password; ssh-copy-id h3",
            "hostwire: h3: ssh does not know its key, or the key has changed; log in by hand once: ssh h3 (",
        ],
    );
}

#[test]
fn another_version_or_none_is_named() {
    let greeting = r"\0hwstart\1\n\0\0\0\0\5\0\0\0009.9.9";
    refused(
        &format!(
            "cd /run/ssh
            printf '#!/bin/sh\\nprintf \"{}\"; cat\\n' >newer; chmod +x newer; replace newer; run h2,h3
            printf '#!/bin/sh\\necho \"hostwire: there is no command; there are run\" >&2; exit 2\\n' >older
            chmod +x older; replace older; run h2,h3
            : >none; replace none; run h2,h3
            printf '#!/bin/sh\\necho SSH is for friends; exit 0\\n' >other; chmod +x other; replace other; run h2,h3",
            greeting.replace('\\', "\\\\\\\\")
        ),
        &[
            "hostwire: h3: hostwire there has version 9.9.9; this one has ",
            "hostwire: h3: hostwire there is older than this one; install version ",
            "hostwire: h3: hostwire is not in the path there; install version ",
            "hostwire: h3: hostwire ended there with status 0 before it had said anything; it printed \"SSH is for friends\"",
        ],
    );
}

/// The same version on another kind of machine.
#[test]
fn machines_that_differ_are_both_named() {
    let version = env!("CARGO_PKG_VERSION");
    let machine = "aarch64 with pages of 65536 bytes";
    let len = 1 + 4 + version.len() + machine.len();
    let greeting = format!(
        r"\\0hwstart\\1\\{len:o}\\0\\0\\0\\0\\{:o}\\0\\0\\000{version}{machine}",
        version.len()
    );
    refused(
        &format!(
            "cd /run/ssh
            printf '#!/bin/sh\\nprintf \"{greeting}\"; cat >/dev/null\\n' >arm; chmod +x arm; replace arm; run h2,h3"
        ),
        // Which of the two was asked first is open.
        &["aarch64 with pages of 65536 bytes"],
    );
}

#[test]
fn what_is_missing_on_one_host_is_named_with_it() {
    refused(
        "mkdir /run/ssh/here; cd /run/ssh/here
        nsenter --mount --target \"$(cat /run/ssh/sshd.h3)\" mount -t tmpfs none /run/ssh/here
        printf '#!/bin/sh\\ntouch /run/ssh/started\\n' >prog; chmod +x prog
        $HOSTWIRE run --on h2,h3 ./prog; said h3 $?
        cd /run/ssh; rmdir here 2>/dev/null || mv here there; mkdir here; cd here
        $HOSTWIRE run --on h2 --heap 4096G true; said h2 $?",
        &[
            "hostwire: h3: cannot run './prog': no such file",
            "hostwire: h2: HOSTWIRE_HEAP: ",
        ],
    );
}
