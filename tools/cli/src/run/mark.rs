//! The mark of a job: a word in the environment of its PEs. All processes that they
//! start inherit it, also in sessions of their own. It identifies the processes of a
//! job when their parents are gone.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, getpid, kill_process, pidfd_open, pidfd_send_signal,
};

/// The variable with the marks of a process: that of its job, and those of the jobs
/// around it.
pub(super) const VARIABLE: &str = "HOSTWIRE_JOB";
/// How long to go on looking: only a process in uninterruptible sleep takes longer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(2);

/// The mark of one job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark(String);

impl Mark {
    /// A new one.
    pub fn draw() -> Result<Mark, Errno> {
        let mut random = [0; 16];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        Ok(Mark(format!("{:032x}", u128::from_ne_bytes(random))))
    }

    /// As [`word`](Self::word) wrote it. `None` for anything else.
    pub fn parse(word: &str) -> Option<Mark> {
        let is_mark = word.len() == 32 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_mark.then(|| Mark(word.to_owned()))
    }

    /// 32 hexadecimal digits.
    pub fn word(&self) -> &str {
        &self.0
    }

    /// The same as a number.
    pub fn number(&self) -> u128 {
        u128::from_str_radix(&self.0, 16).unwrap_or_default()
    }

    /// The variable that a PE is started with: a launcher that is itself of a job hands that
    /// job's mark on.
    pub fn variable(&self) -> (&'static str, OsString) {
        let mut value = std::env::var_os(VARIABLE).unwrap_or_default();
        if !value.is_empty() {
            value.push(",");
        }
        value.push(&self.0);
        (VARIABLE, value)
    }

    /// Kills all processes with the mark, their children, and the processes in groups
    /// and sessions that they lead, until there are none.
    pub fn kill_all(&self) {
        let give_up = Instant::now() + PATIENCE;
        loop {
            let found = self.find();
            if found.is_empty() || Instant::now() > give_up {
                return;
            }
            for process in found {
                process.kill();
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn find(&self) -> Vec<Process> {
        let own = getpid().as_raw_pid();
        let all: Vec<Process> = processes().filter_map(Process::read).collect();
        let all: Vec<Process> = all.into_iter().filter(|it| it.pid != own).collect();
        let marked = all.iter().map(|it| it.pid).filter(|pid| self.is_on(*pid));
        let mut found: BTreeSet<i32> = marked.collect();
        // Each round finds the children of those of the last one.
        loop {
            let of_found = |it: &&Process| {
                !found.contains(&it.pid) && it.belongs_to().iter().any(|pid| found.contains(pid))
            };
            let more: Vec<i32> = all.iter().filter(of_found).map(|it| it.pid).collect();
            if more.is_empty() {
                break;
            }
            found.extend(more);
        }
        let is_found = |it: &Process| found.contains(&it.pid);
        all.into_iter().filter(is_found).collect()
    }

    /// Whether a process has the mark in the environment with which it was started. A first thread that has ended
    /// shows no environment any more; those that still run do.
    fn is_on(&self, pid: i32) -> bool {
        let is_in = |file: String| {
            let environment = fs::read(file).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&self.0)
        };
        is_in(format!("/proc/{pid}/environ"))
            || numbered(&format!("/proc/{pid}/task"))
                .filter(|thread| *thread != pid)
                .any(|thread| is_in(format!("/proc/{pid}/task/{thread}/environ")))
    }
}

/// The processes that a debugger looks after: its children, which lead groups of their own where it can give them one, and those of
/// these groups.
pub fn followers(debugger: Pid) -> Vec<Pid> {
    let debugger = debugger.as_raw_pid();
    let all: Vec<Process> = processes().filter_map(Process::read).collect();
    let children = all.iter().filter(|it| it.parent == debugger);
    let children: BTreeSet<i32> = children.map(|it| it.pid).collect();
    let follows = |it: &&Process| children.contains(&it.pid) || children.contains(&it.group);
    let found = all.iter().filter(follows);
    found.filter_map(|it| Pid::from_raw(it.pid)).collect()
}

fn processes() -> impl Iterator<Item = i32> {
    numbered("/proc")
}

/// What has a number for a name in a folder of /proc.
fn numbered(folder: &str) -> impl Iterator<Item = i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The parent, group and session of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    session: i32,
    /// When it was started.
    start: u64,
}

impl Process {
    /// One that runs.
    fn read(pid: i32) -> Option<Process> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        Process::parse(pid, &String::from_utf8_lossy(&stat))
    }

    /// The line of proc_pid_stat(5). The name, in parentheses, may contain anything.
    fn parse(pid: i32, stat: &str) -> Option<Process> {
        let (_, fields) = stat.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace();
        let state = fields.next()?;
        let mut number = || fields.next()?.parse().ok();
        let [parent, group, session] = [number()?, number()?, number()?];
        // The 20th field of all, and the 22nd.
        let threads: u32 = fields.nth(13)?.parse().ok()?;
        let start = fields.nth(1)?.parse().ok()?;
        // A process that has ended needs no signal. One whose first thread alone has ended goes on.
        let has_ended = state == "X" || (state == "Z" && threads <= 1);
        (!has_ended).then_some(Process {
            pid,
            parent,
            group,
            session,
            start,
        })
    }

    /// Kills it by a descriptor, which notices if the number belongs to another process by now.
    fn kill(&self) {
        let Some(number) = Pid::from_raw(self.pid) else {
            return;
        };
        match pidfd_open(number, PidfdFlags::empty()) {
            Ok(process) if Process::read(self.pid).is_some_and(|it| it.start == self.start) => {
                let _ = pidfd_send_signal(&process, Signal::KILL);
            }
            // Linux before 5.3.
            Err(Errno::NOSYS) => {
                let _ = kill_process(number, Signal::KILL);
            }
            Ok(_) | Err(_) => {}
        }
    }

    /// Processes with which it has to end. A group or session is its leader's.
    fn belongs_to(&self) -> [i32; 3] {
        [self.parent, self.group, self.session]
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_place_of_a_process_is_read_behind_any_name() {
        let parse = |stat: &str| Process::parse(7, stat);
        let expected = Process {
            pid: 7,
            parent: 1,
            group: 5,
            session: 6,
            start: 22,
        };
        let rest = |threads| format!("7 8 9 10 11 12 13 14 15 16 17 18 19 {threads} 21 22 23");
        let line =
            |state: &str, threads| format!("7 (a) S 9 9 9 b) {state} 1 5 6 {}", rest(threads));
        // The first thread of the second one has ended, and another goes on.
        for running in [line("S", 1), line("Z", 2)] {
            assert_eq!(parse(&running), Some(expected), "{running}");
        }
        for ended in [line("Z", 1), line("Z", 0), line("X", 0)] {
            assert_eq!(parse(&ended), None, "{ended}");
        }
        for bad in ["", "7 (sh", "7 (sh) S 1 5", "7 (sh) S 1 x 6"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn marks_are_handed_on_as_words() {
        let mark = Mark::draw().unwrap();
        assert_eq!(Mark::parse(mark.word()), Some(mark.clone()));
        assert_ne!(Mark::draw().unwrap(), mark);
        for bad in ["", "12", &"g".repeat(32), &"1".repeat(33)] {
            assert_eq!(Mark::parse(bad), None, "{bad}");
        }
        let (_, value) = mark.variable();
        assert!(value.to_string_lossy().ends_with(mark.word()));
    }

    #[test]
    fn followers_are_children_and_their_groups() {
        let mut shell = Command::new("sh");
        // A child that leads a group, its child, and another child. None ends before the pipe is closed.
        shell.args(["-c", "exec 3<&0; setsid sh -c 'cat <&3 & wait' & cat; wait"]);
        let mut parent = shell.stdin(Stdio::piped()).spawn().unwrap();
        let pid = Pid::from_child(&parent);
        while followers(pid).len() < 3 {
            std::thread::yield_now();
        }
        assert!(!followers(pid).contains(&pid));
        drop(parent.stdin.take());
        parent.wait().unwrap();
    }

    #[test]
    fn who_bears_a_mark_ends_and_nobody_else() {
        let mark = Mark::draw().unwrap();
        let start = |marked: bool| {
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped());
            if marked {
                command.envs([mark.variable()]);
            }
            command.spawn().unwrap()
        };
        let (mut marked, mut other) = (start(true), start(false));
        mark.kill_all();
        assert!(!marked.wait().unwrap().success());
        assert_eq!(other.try_wait().unwrap(), None);
        drop(other.stdin.take());
        assert!(other.wait().unwrap().success());
    }
}
