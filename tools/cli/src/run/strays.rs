//! Processes that a PE started and that outlive it.
//!
//! The launcher is the reaper of all its descendants, so a process that a PE leaves
//! behind becomes a child of the launcher, even if it has left the PE's process group
//! and session. At the end of the job it is killed and reaped.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpid, kill_process, set_child_subreaper, waitid,
};

/// How long to wait for killed processes: only a process in uninterruptible sleep takes longer than
/// a moment.
const PATIENCE: Duration = Duration::from_secs(1);

/// Makes this process the reaper of its descendants.
pub fn adopt() -> Result<(), Errno> {
    set_child_subreaper(Some(getpid()))
}

/// Kills and reaps every child that this process has left.
pub fn end() {
    let give_up = Instant::now() + PATIENCE;
    while Instant::now() < give_up {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Err(Errno::CHILD) => return,
            Ok(Some(_)) | Err(Errno::INTR) => continue,
            Ok(None) | Err(_) => {}
        }
        for child in children() {
            let _ = kill_process(child, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The children of this process; none if the kernel does not list them.
fn children() -> Vec<Pid> {
    let tasks = std::fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten();
    tasks
        .filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok())
        .flat_map(|list| {
            let pids = list.split_whitespace().filter_map(|pid| pid.parse().ok());
            pids.filter_map(Pid::from_raw).collect::<Vec<_>>()
        })
        .collect()
}
