//! No process outlives its job.

use std::process::Command;

use hostwire_testing::{is_installed, need};
use rustix::process::{Pid, Signal, kill_process};

use crate::job::{Job, eventually, hostwire, is_running, run};

/// A script that starts something and prints both process numbers.
const PARENT_AND_CHILD: &str = "sleep 1000 & echo $$ $!; wait";

fn pids(lines: impl IntoIterator<Item = String>) -> Vec<String> {
    lines
        .into_iter()
        .flat_map(|line| {
            line.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect()
}

#[test]
fn kill_9_of_the_launcher_takes_all_with_it() {
    let mut job = Job::start(hostwire(&["run", "-n", "3", "sh", "-c", PARENT_AND_CHILD]));
    let pids = pids([job.line(), job.line(), job.line()]);
    assert_eq!(pids.len(), 6);
    assert!(pids.iter().all(|pid| is_running(pid)));
    job.signal(Signal::KILL);
    assert_eq!(job.end().status, -9);
    for pid in &pids {
        eventually("the PEs and their children end", || !is_running(pid));
    }
}

/// The behaviour of a daemon: a session of its own, and a parent that ends at once.
const DAEMON: &str = "setsid sh -c 'sleep 1000 & echo $!'";

#[test]
fn kill_9_of_the_launcher_takes_daemons_with_it() {
    let script = format!("{DAEMON}; cd /; exec sleep 1000");
    let mut job = Job::start(hostwire(&["run", "-n", "2", "sh", "-c", &script]));
    let pids = pids([job.line(), job.line()]);
    assert!(pids.iter().all(|pid| is_running(pid)));
    job.signal(Signal::KILL);
    assert_eq!(job.end().status, -9);
    for pid in &pids {
        eventually("daemons of PEs end", || !is_running(pid));
    }
}

/// A daemon whose first thread has ended; its parent waits until that is so.
const HEADLESS: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static int told[2];

static void *go_on(void *head)
{
    pthread_join(*(pthread_t *)head, NULL);
    write(told[1], "", 1);
    for (;;)
        pause();
}

int main(void)
{
    static pthread_t head;
    pthread_t other;
    char byte;
    pid_t child;

    if (pipe(told) != 0 || (child = fork()) < 0)
        return 1;
    if (child > 0) {
        printf("%d\n", (int)child);
        return read(told[0], &byte, 1) != 1;
    }
    head = pthread_self();
    if (setsid() < 0 || pthread_create(&other, NULL, go_on, &head) != 0)
        _exit(1);
    pthread_exit(NULL);
}
"#;

#[test]
fn kill_9_of_the_launcher_takes_daemons_with_it_whose_first_thread_has_ended() {
    if !is_installed("cc", &need::C) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("headless.c"), HEADLESS).unwrap();
    let compiled = Command::new("cc")
        .args(["-pthread", "-o", "headless", "headless.c"])
        .current_dir(folder.path())
        .status();
    assert!(compiled.unwrap().success());
    let script = "\"$0\"; cd /; exec sleep 1000";
    let program = folder.path().join("headless");
    let program = program.to_str().unwrap();
    let arguments = ["run", "-n", "2", "sh", "-c", script, program];
    let mut job = Job::start(hostwire(&arguments));
    let pids = pids([job.line(), job.line()]);
    assert!(pids.iter().all(|pid| is_running(pid)));
    job.signal(Signal::KILL);
    assert_eq!(job.end().status, -9);
    for pid in &pids {
        eventually("what is left of daemons ends", || !is_running(pid));
    }
}

#[test]
fn kill_9_of_a_launcher_takes_the_jobs_within_its_job_with_it() {
    let inner = format!("{DAEMON}; exec sleep 1000");
    let launcher = env!("CARGO_BIN_EXE_hostwire");
    let arguments = [
        "run", "-n", "1", launcher, "run", "-n", "1", "sh", "-c", &inner,
    ];
    let mut job = Job::start(hostwire(&arguments));
    let pids = pids([job.line()]);
    job.signal(Signal::KILL);
    assert_eq!(job.end().status, -9);
    for pid in &pids {
        eventually("daemons of the inner job end", || !is_running(pid));
    }
}

/// No process is left to look for daemons then.
#[test]
fn kill_9_of_launcher_and_warden_takes_the_pes_with_it() {
    let mut job = Job::start(hostwire(&[
        "run",
        "-n",
        "3",
        "sh",
        "-c",
        "echo $$; exec sleep 1000",
    ]));
    let pids = pids([job.line(), job.line(), job.line()]);
    let launcher = job.pid().as_raw_pid();
    let children = format!("/proc/{launcher}/task/{launcher}/children");
    let is_warden = |pid: &&str| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm"));
        name.is_ok_and(|name| name.trim() == "hw-warden")
    };
    let mut warden = None;
    // It gives itself its name, and may do so after the PEs have begun.
    eventually("there is a warden", || {
        let children = std::fs::read_to_string(&children).unwrap();
        let found = children.split_whitespace().find(is_warden);
        warden = found.map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap());
        warden.is_some()
    });
    let warden = warden.unwrap();
    kill_process(warden, Signal::KILL).unwrap();
    job.signal(Signal::KILL);
    assert_eq!(job.end().status, -9);
    for pid in &pids {
        eventually("the PEs end", || !is_running(pid));
    }
}

#[test]
fn an_interrupt_reaches_the_children_of_scripts() {
    let mut job = Job::start(hostwire(&["run", "-n", "2", "sh", "-c", PARENT_AND_CHILD]));
    let pids = pids([job.line(), job.line()]);
    job.signal(Signal::INT);
    assert_eq!(job.end().status, 130);
    assert!(!pids.iter().any(|pid| is_running(pid)));
}

#[test]
fn what_a_pe_leaves_in_the_background_ends_with_the_job() {
    // One in the PE's process group, one that made itself a session.
    let script = "sleep 1000 & echo $!; setsid sleep 1000 & echo $!; exit 0";
    let ended = run(&["run", "-n", "2", "sh", "-c", script]);
    assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
    let pids = pids(ended.stdout.lines().map(str::to_owned));
    assert_eq!(pids.len(), 4);
    assert!(!pids.iter().any(|pid| is_running(pid)));
}

#[test]
fn many_jobs_in_a_row_leave_nothing() {
    let before = shared_memory_files();
    for _ in 0..20 {
        let ended = run(&["run", "-n", "4", "sh", "-c", "echo $$"]);
        assert_eq!((ended.status, ended.stderr.as_str()), (0, ""));
        assert!(
            !pids(ended.stdout.lines().map(str::to_owned))
                .iter()
                .any(|pid| is_running(pid))
        );
    }
    assert_eq!(shared_memory_files(), before);
}

/// Files in /dev/shm that are called after us.
fn shared_memory_files() -> usize {
    let entries = std::fs::read_dir("/dev/shm")
        .into_iter()
        .flatten()
        .flatten();
    entries
        .filter(|entry| entry.file_name().to_string_lossy().contains("hostwire"))
        .count()
}
