//! The processes of a job and the connections to them.

use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::Arc;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, kill_process_group, waitid,
};

use super::core_file;
use super::dying;
use super::mark::followers;
use super::pipe::{Which, read_some};
use super::spawn::Spawned;

/// How the process of a PE ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signal(i32),
    /// It is not known: its host was lost, or it was never started.
    Unknown,
}

/// How a child of this process has ended, if it has. It stays to be reaped.
pub fn end_of(child: Pid) -> Option<End> {
    end(&status_of(child)?)
}

fn status_of(child: Pid) -> Option<WaitIdStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    waitid(WaitId::Pid(child), options).ok().flatten()
}

fn end(status: &WaitIdStatus) -> Option<End> {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Some(End::Exited(code)),
        (None, Some(signal)) => Some(End::Signal(signal)),
        (None, None) => None,
    }
}

/// Answers wait here while a PE does not read them. If there are more bytes, its requests are not
/// read.
const REPLIES_BYTES_MAX: usize = 64 << 10;

/// A PE as the launcher sees it, wherever its process is.
pub trait Pe {
    /// How the process ended, if it has been noticed.
    fn end(&self) -> Option<End>;

    /// Notices whether the process has ended. `Some` the first time only.
    fn notice_end(&mut self) -> Option<End>;

    /// What is known of the memory of a process that crashed, once its end has been noticed.
    fn core(&self) -> Option<String>;

    /// Whether the process is on its way out and its end has not been noticed.
    fn is_dying(&self) -> bool;

    /// Sends `signal` to the process and to what it started.
    fn signal(&self, signal: Signal);

    /// The socket, while it is open, if it is one of the launcher's own.
    fn pmi(&self) -> Option<&OwnedFd> {
        None
    }

    /// Whether answers wait to be sent.
    fn has_replies(&self) -> bool {
        false
    }

    /// Whether so many answers wait that no more requests should be read.
    fn is_deaf(&self) -> bool;

    /// Whether requests have come that were not read.
    fn has_requests(&self) -> bool {
        false
    }

    /// Whether output has come that was not read.
    fn holds_output(&self, _which: Which) -> bool {
        false
    }

    /// What the PE sent to its launcher, up to some tens of kilobytes; empty if there is nothing
    /// now, or if the PE sends no more.
    fn receive(&mut self) -> Vec<u8>;

    /// Sends `bytes` now or as soon as the PE reads.
    fn send(&mut self, bytes: &[u8]);

    /// Sends the answers that wait, as far as they go.
    fn send_replies(&mut self) {}

    /// Whether one of the outputs is open.
    fn is_open(&self, which: Which) -> bool;

    /// One of the outputs, while it is open, if it is one of the launcher's own.
    fn output(&self, _which: Which) -> Option<&OwnedFd> {
        None
    }

    /// The output of the PE, as [`Pe::receive`].
    fn read_output(&mut self, which: Which) -> Vec<u8>;

    /// Stops listening to an output.
    fn close_output(&mut self, which: Which);
}

/// A PE on this host.
///
/// An ended process is left unreaped until the job is over. Its number is also that of its process
/// group, which may still have to be killed, so no other process may get it.
pub struct Near {
    child: Child,
    pid: Pid,
    end: Option<End>,
    /// Where its memory was written, or why not, if it crashed.
    core: Option<String>,
    /// Whether a status above 128 stands for a signal: that of a debugger.
    tells_signals: bool,
    pmi: Option<OwnedFd>,
    replies: Vec<u8>,
    stdout: Option<Arc<OwnedFd>>,
    stderr: Option<Arc<OwnedFd>>,
}

impl Near {
    pub fn new(spawned: Spawned) -> Near {
        Near {
            pid: Pid::from_child(&spawned.child),
            child: spawned.child,
            end: None,
            core: None,
            tells_signals: spawned.tells_signals,
            pmi: Some(spawned.pmi),
            replies: Vec::new(),
            stdout: spawned.stdout.map(Arc::new),
            stderr: spawned.stderr.map(Arc::new),
        }
    }

    /// The number of the process and of its process group.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Both outputs, for another reader.
    pub fn outputs(&self) -> [Option<Arc<OwnedFd>>; 2] {
        [self.stdout.clone(), self.stderr.clone()]
    }
}

impl Pe for Near {
    fn end(&self) -> Option<End> {
        self.end
    }

    fn notice_end(&mut self) -> Option<End> {
        if self.end.is_some() {
            return None;
        }
        let status = status_of(self.pid)?;
        self.end = end(&status);
        self.end = match self.end {
            Some(End::Exited(code @ 129..=192)) if self.tells_signals => {
                Some(End::Signal(code - 128))
            }
            Some(End::Signal(signal)) => {
                self.core = core_file::told(self.pid, signal, status.dumped());
                self.end
            }
            end => end,
        };
        self.end
    }

    fn core(&self) -> Option<String> {
        self.core.clone()
    }

    fn is_dying(&self) -> bool {
        self.end.is_none() && dying::is_dying(self.pid)
    }

    fn signal(&self, signal: Signal) {
        // A debugger would end by most signals, and is to see how the program ends by them.
        if self.tells_signals && ![Signal::KILL, Signal::STOP, Signal::CONT].contains(&signal) {
            let program = followers(self.pid);
            for process in &program {
                let _ = kill_process(*process, signal);
            }
            if !program.is_empty() {
                return;
            }
        }
        // A process that moved to another group is reached by its own number.
        // Neither number can have become another's: see above.
        if kill_process_group(self.pid, signal).is_err() && self.end.is_none() {
            let _ = kill_process(self.pid, signal);
        }
    }

    fn pmi(&self) -> Option<&OwnedFd> {
        self.pmi.as_ref()
    }

    fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    fn is_deaf(&self) -> bool {
        self.replies.len() > REPLIES_BYTES_MAX
    }

    fn receive(&mut self) -> Vec<u8> {
        let bytes = read_some(&mut self.pmi);
        if self.pmi.is_none() {
            self.replies.clear();
        }
        bytes
    }

    fn send(&mut self, bytes: &[u8]) {
        self.replies.extend_from_slice(bytes);
        self.send_replies();
    }

    fn send_replies(&mut self) {
        let Some(pmi) = self.pmi.as_ref().filter(|_| !self.replies.is_empty()) else {
            return;
        };
        match rustix::net::send(pmi, &self.replies, rustix::net::SendFlags::NOSIGNAL) {
            Ok(n) => drop(self.replies.drain(..n)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            // It has closed its end. Its earlier requests are still to be read.
            Err(_) => self.replies.clear(),
        }
    }

    fn output(&self, which: Which) -> Option<&OwnedFd> {
        match which {
            Which::Stdout => self.stdout.as_deref(),
            Which::Stderr => self.stderr.as_deref(),
        }
    }

    fn is_open(&self, which: Which) -> bool {
        self.output(which).is_some()
    }

    fn read_output(&mut self, which: Which) -> Vec<u8> {
        match which {
            Which::Stdout => read_some(&mut self.stdout),
            Which::Stderr => read_some(&mut self.stderr),
        }
    }

    fn close_output(&mut self, which: Which) {
        match which {
            Which::Stdout => self.stdout = None,
            Which::Stderr => self.stderr = None,
        }
    }
}

/// Whatever happens in the launcher's own code, no process is left.
impl Drop for Near {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
