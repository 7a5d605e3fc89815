//! Whether a process is on its way out.
//!
//! A killed process releases its memory, its locks and its sockets before it counts as
//! ended. A process that watches these may notice its end, and may itself end because of it,
//! before the parent can know.

use std::fs;

use rustix::process::Pid;

/// `PF_EXITING` of the kernel's `include/linux/sched.h`: the thread has begun to exit.
const EXITING: u32 = 0x4;

/// Whether all threads of `process` have begun to exit. A process that has ended and is not
/// reaped also counts as dying. `false` if this cannot be read.
pub fn is_dying(process: Pid) -> bool {
    let tasks = format!("/proc/{}/task", process.as_raw_pid());
    let Ok(tasks) = fs::read_dir(tasks) else {
        return false;
    };
    let mut stats = tasks
        .flatten()
        .filter_map(|task| fs::read(task.path().join("stat")).ok())
        .peekable();
    stats.peek().is_some() && stats.all(|stat| is_exiting(&String::from_utf8_lossy(&stat)))
}

/// Reads the line of one thread, proc_pid_stat(5). Its name, in parentheses, may contain
/// anything; the flags are the seventh field after it.
fn is_exiting(stat: &str) -> bool {
    let fields = stat.rsplit_once(')').map(|(_, fields)| fields);
    let flags = fields.and_then(|fields| fields.split_whitespace().nth(6));
    let flags = flags.and_then(|flags| flags.parse::<u32>().ok());
    flags.is_some_and(|flags| flags & EXITING != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{WaitId, WaitIdOptions, getpid, waitid};

    use super::*;

    #[test]
    fn the_flags_are_found_behind_any_name() {
        let line = |name: &str, flags: u32| format!("71 ({name}) R 1 71 71 0 -1 {flags} 5 4");
        for name in ["sh", "a b", ") R 1 2 3 4 5 6", ""] {
            assert!(!is_exiting(&line(name, 0x40_0040)), "{name}");
            assert!(is_exiting(&line(name, 0x40_0044)), "{name}");
        }
        for broken in [
            "",
            "71 (sh",
            "71 (sh) R 1 71 71 0 -1",
            "71 (sh) R 1 2 3 4 5 x",
        ] {
            assert!(!is_exiting(broken), "{broken}");
        }
    }

    #[test]
    fn a_process_is_dying_from_its_end_until_it_is_reaped() {
        assert!(!is_dying(getpid()));
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        assert!(!is_dying(pid));
        drop(child.stdin.take());
        let leave = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(pid), leave).unwrap();
        assert!(is_dying(pid));
        child.wait().unwrap();
        assert!(!is_dying(pid));
    }
}
