//! The threads that the library starts in a PE take no signals: those are the program's, which may wait for them.

use std::fs;

use rustix::process::Signal;

use crate::hosts::{Steady, may_make_hosts};
use crate::job::eventually;

/// The threads of a process that belong to the library: the name, and the signals that it blocks.
fn threads(pid: &str) -> Vec<(String, u64)> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let read = |name: &str, task: &fs::DirEntry| fs::read_to_string(task.path().join(name));
    let all = tasks.filter_map(|task| {
        let name = read("comm", &task).ok()?;
        let status = read("status", &task).ok()?;
        let mask = status
            .lines()
            .find_map(|line| line.strip_prefix("SigBlk:"))?;
        let mask = u64::from_str_radix(mask.trim(), 16).unwrap();
        Some((name.trim().to_owned(), mask))
    });
    all.filter(|(name, _)| name.starts_with("hostwire-"))
        .collect()
}

#[test]
fn threads_of_the_library_take_no_signals() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    // The wire is in the PE, or in an adapter.
    for (pes, options) in [(2, &[][..]), (4, &["--hosts", "2"])] {
        let steady = Steady::start_program_over("udp", pes, options, &[]);
        for pid in &steady.pids {
            let pid = pid.as_raw_pid().to_string();
            // A thread gives itself its name when it first gets a turn.
            eventually("a thread of the library has its name", || {
                !threads(&pid).is_empty()
            });
            for (name, blocked) in threads(&pid) {
                for signal in [Signal::TERM, Signal::INT, Signal::USR1, Signal::CHILD] {
                    let bit = blocked >> (signal.as_raw() - 1) & 1;
                    assert_eq!(bit, 1, "{name} takes {signal:?}");
                }
            }
        }
        steady.end_well();
    }
}
