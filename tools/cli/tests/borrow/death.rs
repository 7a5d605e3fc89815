//! Lenders and borrowers that die.

use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

use crate::kit::{Lender, Running, borrow, can_borrow, finish, gone, program, text};

/// More rounds than a test waits for.
const ENDLESS: &str = "1000000";
/// Most of the borrowed memory is not here at a time.
const OPTIONS: [&str; 4] = ["--memory", "16M", "--cache", "1M"];

/// Ways to have pages.
const WAYS: [&str; 2] = ["move", "map"];

/// `walk` without end in memory of these lenders, and the number of its process.
fn walking(walk: &Path, lenders: &[&Lender], pages: &str) -> (Running, String) {
    let options = [&OPTIONS[..], &["--pages", pages]].concat();
    let command = borrow(lenders, &options, walk, &["8", ENDLESS]);
    let mut running = Running::start(command, lenders);
    let process = running.line("process ");
    (running, process)
}

#[test]
fn a_lender_that_dies_ends_the_program_with_one_line() {
    if !can_borrow() {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    for pages in WAYS {
        let (mut a, b) = (Lender::start("32M"), Lender::start("32M"));
        let (mut running, process) = walking(&walk, &[&a, &b], pages);
        running.line("round 2");
        a.kill();
        let (status, lines, errors) = running.end();
        assert_eq!(status, 1, "{pages}: {errors}");
        assert!(
            lines.iter().all(|line| line.starts_with("round ")),
            "{pages}: {lines:?}"
        );
        assert_eq!(errors.lines().count(), 1, "{pages}: {errors}");
        assert!(
            errors.contains("walk is ended: the lender local:test-"),
            "{pages}: {errors}"
        );
        gone(&process);
    }
}

#[test]
fn with_two_copies_one_lender_may_die() {
    if !can_borrow() {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    let (a, mut b) = (Lender::start("64M"), Lender::start("64M"));
    let options = ["--memory", "16M", "--cache", "1M", "--copies", "2"];
    let command = borrow(&[&a, &b], &options, &walk, &["8", "12"]);
    let mut running = Running::start(command, &[&a, &b]);
    running.line("round 2");
    b.kill();
    let (status, lines, errors) = running.end();
    assert_eq!(status, 0, "{errors}");
    assert_eq!(lines.last().map(String::as_str), Some("right"), "{lines:?}");
    assert!(errors.contains("goes on with the other copies"), "{errors}");
}

#[test]
fn nothing_stays_of_a_borrower_that_is_killed_and_its_memory_is_zeros_again() {
    if !can_borrow() {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    let lender = Lender::start("17M");
    for pages in WAYS {
        let (mut running, process) = walking(&walk, &[&lender], pages);
        running.line("round 1");
        let launcher = Pid::from_child(&running.child);
        kill_process(launcher, Signal::KILL).unwrap();
        gone(&process);
        // All of it can be borrowed again as soon as the loan has ended.
        let options = [&OPTIONS[..], &["--pages", pages]].concat();
        let started = std::time::Instant::now();
        let text = loop {
            let text = text(&finish(borrow(&[&lender], &options, &walk, &["8", "2"])));
            let is_early = text.contains("are free") && started.elapsed().as_secs() < 60;
            if !is_early {
                break text;
            }
        };
        assert!(
            text.starts_with("status 0") && text.ends_with("right\n"),
            "{pages}: {text}"
        );
    }
}

#[test]
fn a_pager_that_is_killed_takes_the_program_with_it() {
    if !can_borrow() {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    let lender = Lender::start("32M");
    for pages in WAYS {
        killed_pager(&walk, &lender, pages);
    }
}

fn killed_pager(walk: &Path, lender: &Lender, pages: &str) {
    let (mut running, process) = walking(walk, &[lender], pages);
    running.line("round 1");
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let parent = stat.rsplit_once(") ").unwrap().1.split(' ').nth(1).unwrap();
    let pager = Pid::from_raw(parent.parse().unwrap()).unwrap();
    kill_process(pager, Signal::KILL).unwrap();
    let (status, lines, errors) = running.end();
    assert_eq!(status, 137, "{errors}");
    assert!(
        lines.iter().all(|line| line.starts_with("round ")),
        "{lines:?}"
    );
    assert!(errors.contains("the pager of"), "{errors}");
    gone(&process);
}

#[test]
fn a_signal_to_the_command_ends_the_program() {
    if !can_borrow() {
        return;
    }
    let (_made, walk) = program("walk", &[]);
    let lender = Lender::start("32M");
    for pages in WAYS {
        let (mut running, process) = walking(&walk, &[&lender], pages);
        running.line("round 1");
        kill_process(Pid::from_child(&running.child), Signal::TERM).unwrap();
        let (status, _, errors) = running.end();
        assert_eq!((status, errors.as_str()), (143, ""), "{pages}");
        gone(&process);
    }
}
