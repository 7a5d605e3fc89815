//! The end of a job, and its message.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::job::{Job, eventually, hostwire, is_running, probe, run};

/// One line of the launcher's.
fn line(text: &str) -> String {
    format!("hostwire: {text}\n")
}

#[test]
fn the_failing_pe_gives_the_status_and_ends_the_others() {
    let script = "[ $PMI_RANK = 1 ] && exit 7; sleep 1000";
    let ended = run(&["run", "-n", "3", "sh", "-c", script]);
    assert_eq!(ended.status, 7);
    assert_eq!(
        ended.stderr,
        line("PE 1 exited with status 7; ended the other 2 PEs")
    );
}

#[test]
fn a_killed_pe_is_named_with_its_signal() {
    let script = "[ $PMI_RANK = 2 ] && kill -KILL $$; sleep 1000";
    let ended = run(&["run", "-n", "3", "sh", "-c", script]);
    assert_eq!(ended.status, 137);
    assert_eq!(
        ended.stderr,
        line("PE 2 was killed by SIGKILL; ended the other 2 PEs")
    );
}

#[test]
fn what_a_killed_pe_last_did_is_told() {
    let ended = run(&["run", "-n", "2", &probe(), "board", "3", "-", "kill"]);
    assert_eq!(ended.status, 137);
    assert_eq!(
        ended.stderr,
        line("PE 0 was killed by SIGKILL; it was last in a barrier; ended the other PE")
    );
}

/// A neighbour notices the loss of a killed PE before the launcher can, because its locks
/// go first. PE 1 fails because of PE 0, which is killed when the launcher knows of PE 1.
#[test]
fn the_status_is_that_of_the_failure_that_led_to_the_others() {
    let lose = |options: &[&str], how: &str| {
        let probe = probe();
        run(&[&["run", "-n", "3"], options, &[&probe, "lose", "1", how]].concat())
    };
    let ended = lose(&[], "kill");
    assert_eq!(ended.status, 137, "{ended:#?}");
    assert_eq!(
        ended.stderr,
        line("PE 0 was killed by SIGKILL; ended the other PE")
    );
    let ended = lose(&[], "7");
    assert_eq!(ended.status, 7, "{ended:#?}");
    let ended = lose(&["--keep-going"], "7");
    assert_eq!(ended.status, 7, "{ended:#?}");
    assert_eq!(
        ended.stderr,
        line("PE 0 exited with status 7") + &line("PE 1 exited with status 1")
    );
}

#[test]
fn pes_that_ignore_sigterm_are_killed_after_the_grace() {
    let script = "trap '' TERM; [ $PMI_RANK = 0 ] && exit 3; while :; do sleep 1; done";
    let ended = run(&["run", "-n", "2", "--grace", "50ms", "sh", "-c", script]);
    assert_eq!(ended.status, 3);
    assert_eq!(
        ended.stderr,
        line("PE 0 exited with status 3; ended the other PE")
    );
}

#[test]
fn pes_may_say_good_bye_on_sigterm() {
    let script = "if [ $PMI_RANK = 0 ]; then cat; exit 3; fi; \
                  trap 'echo bye; exit 0' TERM; echo ready; while :; do sleep 0.01; done";
    let mut command = hostwire(&["run", "-n", "2", "--grace", "60s", "sh", "-c", script]);
    command.stdin(std::process::Stdio::piped());
    let mut child = Job::start(command);
    assert_eq!(child.line(), "ready");
    // PE 0 waits for the end of its input.
    let ended = child.close_stdin_and_end();
    assert_eq!((ended.status, ended.stdout.as_str()), (3, "bye\n"));
}

#[test]
fn keep_going_lets_the_others_finish() {
    let script = "[ $PMI_RANK = 1 ] && exit 7; echo $PMI_RANK; exit 0";
    let ended = run(&["run", "-n", "3", "--keep-going", "sh", "-c", script]);
    assert_eq!(ended.status, 7);
    assert_eq!(ended.sorted_lines(), ["0", "2"]);
    assert_eq!(ended.stderr, line("PE 1 exited with status 7"));
}

/// The parent of the launcher may have blocked or ignored signals, which the launcher inherits.
#[test]
fn a_job_ends_whatever_signals_were_blocked_or_ignored() {
    for how in ["--block-signal", "--ignore-signal"] {
        let mut command = Command::new("env");
        command
            .args([
                how,
                env!("CARGO_BIN_EXE_hostwire"),
                "run",
                "-n2",
                "--timeout",
                "100s",
            ])
            .args(["sh", "-c", "exit 3"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let ended = Job::start(command).end();
        assert_eq!(ended.status, 3, "{how}: {ended:?}");
    }
}

#[test]
fn a_timeout_names_those_who_still_ran() {
    let ended = run(&["run", "-n", "4", "--timeout", "200ms", "sleep", "1000"]);
    assert_eq!(ended.status, 124);
    assert_eq!(
        ended.stderr,
        line("timed out after 200ms; still running: PE 0-3")
    );
}

#[test]
fn a_timeout_tells_what_each_was_doing() {
    let ended = run(&[
        "run",
        "-n",
        "2",
        "--timeout",
        "10s",
        &probe(),
        "board",
        "5",
        "1",
    ]);
    assert_eq!(ended.status, 124);
    assert_eq!(
        ended.stderr,
        line("timed out after 10s; still running: PE 0,1 (receiving from PE 1)")
    );
}

#[test]
fn a_job_in_time_is_not_touched() {
    let ended = run(&["run", "-n", "2", "--timeout", "1000s", "true"]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
}

#[test]
fn signals_to_the_launcher_end_the_job() {
    let cases = [
        (Signal::INT, 130, "SIGINT"),
        (Signal::TERM, 143, "SIGTERM"),
        (Signal::QUIT, 131, "SIGQUIT"),
    ];
    for (signal, status, name) in cases {
        let script = "echo started; sleep 1000";
        let mut job = Job::start(hostwire(&["run", "-n", "2", "sh", "-c", script]));
        job.line();
        job.line();
        job.signal(signal);
        let ended = job.end();
        assert_eq!(ended.status, status);
        assert_eq!(
            ended.stderr,
            line(&format!("interrupted by {name}; ended 2 PEs"))
        );
    }
}

/// As batch systems do before the time of a job is over.
#[test]
fn warnings_reach_the_pes_and_end_nothing() {
    let script = "t() { trap \"echo $1\" $1; }; t USR1; t USR2; t ALRM; t XCPU; \
                  trap 'n=1' TERM; echo ready; until [ $n ]; do sleep 0.01; done; exit 0";
    let mut job = Job::start(hostwire(&["run", "-n", "2", "sh", "-c", script]));
    assert_eq!([job.line(), job.line()], ["ready"; 2]);
    for (signal, name) in [
        (Signal::USR1, "USR1"),
        (Signal::USR2, "USR2"),
        (Signal::ALARM, "ALRM"),
        (Signal::XCPU, "XCPU"),
    ] {
        job.signal(signal);
        assert_eq!([job.line(), job.line()], [name; 2]);
    }
    job.signal(Signal::TERM);
    assert_eq!(job.end().status, 143);
}

#[test]
fn a_pe_that_does_not_handle_a_warning_is_named() {
    let script = "echo started; exec sleep 1000";
    let mut job = Job::start(hostwire(&["run", "-n", "1", "sh", "-c", script]));
    job.line();
    job.signal(Signal::USR1);
    let ended = job.end();
    assert_eq!(ended.status, 128 + Signal::USR1.as_raw());
    assert_eq!(ended.stderr, line("PE 0 was killed by SIGUSR1"));
}

#[test]
fn a_second_interrupt_leaves_no_grace() {
    let script = "trap '' TERM INT; echo started; while :; do sleep 1; done";
    let arguments = ["run", "-n", "1", "--grace", "1000s", "sh", "-c", script];
    let mut job = Job::start(hostwire(&arguments));
    job.line();
    job.signal(Signal::INT);
    // Signals of one kind merge while they wait to be handled.
    std::thread::sleep(std::time::Duration::from_millis(100));
    job.signal(Signal::TERM);
    assert_eq!(job.end().status, 130);
}

#[test]
fn an_output_that_nobody_reads_does_not_hold_up_an_interrupt() {
    let script = "echo $$; head -c 200000 /dev/zero";
    let mut job = Job::start(hostwire(&["run", "-n", "1", "sh", "-c", script]));
    let pid = job.line();
    eventually("the PE ends", || !is_running(&pid));
    assert_eq!(job.signal_until_end(Signal::INT), Some(130));
}

#[test]
fn a_stopped_pe_does_not_hold_up_the_end() {
    let script = "[ $PMI_RANK = 0 ] && kill -STOP $$; sleep 0.2; exit 5";
    let ended = run(&["run", "-n", "2", "--grace", "1000s", "sh", "-c", script]);
    assert_eq!(ended.status, 5);
}
