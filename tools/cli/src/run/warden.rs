//! Kills what is left of a job whose launcher was killed.
//!
//! The kernel kills each PE when the launcher dies, but not what a PE has started: a PE
//! may be a script. The warden is a small process beside the launcher that knows the
//! process groups of the PEs and the [mark](Mark) of all that they start, and notices,
//! by the end of a pipe, that the launcher is gone. A launcher that ends in order tells
//! it that there is nothing to do.
//!
//! It cannot find a process that was started with an empty or a new environment (`env
//! -i`, `sudo`, a service manager), unless it is a child of a process with the mark, or
//! in a group or session that such a process leads. It cannot end a process of another
//! user, unless the warden belongs to root. If the warden is killed together with the
//! launcher, only the PEs themselves are ended.

use std::io::{self, BufRead, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};

use super::mark::Mark;
use super::signals;

/// The name of the hidden command that [`main`] is behind.
pub const COMMAND: &str = "__warden";
/// The byte that the launcher writes when it ends in order.
const DONE: &str = "done";
/// Not "hostwire", so that `killall -9 hostwire` leaves it to do its work.
const NAME: &std::ffi::CStr = c"hw-warden";

/// The launcher's end.
pub struct Warden {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Warden {
    /// Starts a warden of the job that has this mark.
    pub fn start(mark: &Mark) -> io::Result<Warden> {
        let mut child = Command::new("/proc/self/exe")
            .arg(COMMAND)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .current_dir("/")
            .process_group(0)
            .spawn()?;
        let pipe = child.stdin.take();
        let mut warden = Warden { child, pipe };
        warden.say(mark.word());
        Ok(warden)
    }

    /// Gives a process group to the warden. If the warden was killed, the job goes on
    /// without it.
    pub fn watch(&mut self, group: Pid) {
        self.say(&group.as_raw_pid().to_string());
    }

    fn say(&mut self, line: &str) {
        if let Some(pipe) = &mut self.pipe {
            let _ = writeln!(pipe, "{line}");
        }
    }
}

/// The job has ended in order, and so does the warden.
impl Drop for Warden {
    fn drop(&mut self) {
        self.say(DONE);
        self.pipe = None;
        let _ = self.child.wait();
    }
}

/// The warden's end: waits for the end of the launcher.
pub fn main() {
    // The name is a convenience.
    let _ = rustix::thread::set_name(NAME);
    // Batch systems send them to all processes.
    let _ = signals::disregard(&signals::PASSED_ON);
    let mut groups = Vec::new();
    let mut mark = None;
    for line in io::stdin().lock().lines() {
        match line {
            Ok(line) if line == DONE => return,
            Ok(line) if mark.is_none() => mark = Some(Mark::parse(&line)),
            Ok(line) => groups.extend(line.parse().ok().and_then(Pid::from_raw)),
            Err(_) => break,
        }
    }
    for group in groups {
        let _ = kill_process_group(group, Signal::KILL);
    }
    if let Some(mark) = mark.flatten() {
        mark.kill_all();
    }
}
