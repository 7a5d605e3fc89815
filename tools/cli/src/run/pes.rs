//! The processes of a job and the connections to them.

use std::os::fd::OwnedFd;
use std::process::Child;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

use super::dying;
use super::pipe::{Which, read_some};
use super::spawn::Spawned;

/// How the process of a PE ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Exited(i32),
    Signal(i32),
}

/// Answers wait here while a PE does not read them. If there are more bytes, its requests are not
/// read.
const REPLIES_BYTES_MAX: usize = 64 << 10;

/// One PE.
///
/// An ended process is left unreaped until the job is over. Its number is also that of its process
/// group, which may still have to be killed, so no other process may get it.
pub struct Pe {
    child: Child,
    pid: Pid,
    end: Option<End>,
    pmi: Option<OwnedFd>,
    replies: Vec<u8>,
    stdout: Option<OwnedFd>,
    stderr: Option<OwnedFd>,
}

impl Pe {
    pub fn new(spawned: Spawned) -> Pe {
        Pe {
            pid: Pid::from_child(&spawned.child),
            child: spawned.child,
            end: None,
            pmi: Some(spawned.pmi),
            replies: Vec::new(),
            stdout: Some(spawned.stdout),
            stderr: Some(spawned.stderr),
        }
    }

    /// The number of the process and of its process group.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// How the process ended, if it has been noticed.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Notices whether the process has ended. `Some` the first time only.
    pub fn notice_end(&mut self) -> Option<End> {
        if self.end.is_some() {
            return None;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid), options).ok().flatten()?;
        self.end = Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => End::Exited(code),
            (None, Some(signal)) => End::Signal(signal),
            (None, None) => return None,
        });
        self.end
    }

    /// Whether the process is on its way out and its end has not been noticed.
    pub fn is_dying(&self) -> bool {
        self.end.is_none() && dying::is_dying(self.pid)
    }

    /// Sends `signal` to the process and to what it started.
    pub fn signal(&self, signal: Signal) {
        // A process that moved to another group is reached by its own number.
        // Neither number can have become another's: see above.
        if kill_process_group(self.pid, signal).is_err() && self.end.is_none() {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// The socket, while it is open.
    pub fn pmi(&self) -> Option<&OwnedFd> {
        self.pmi.as_ref()
    }

    /// Whether answers wait to be sent.
    pub fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// Whether so many answers wait that no more requests should be read.
    pub fn is_deaf(&self) -> bool {
        self.replies.len() > REPLIES_BYTES_MAX
    }

    /// What the PE sent to its launcher, up to some tens of kilobytes; empty if there is nothing
    /// now, or if the PE sends no more.
    pub fn receive(&mut self) -> Vec<u8> {
        let bytes = read_some(&mut self.pmi);
        if self.pmi.is_none() {
            self.replies.clear();
        }
        bytes
    }

    /// Sends `bytes` now or as soon as the PE reads.
    pub fn send(&mut self, bytes: &[u8]) {
        self.replies.extend_from_slice(bytes);
        self.send_replies();
    }

    /// Sends the answers that wait, as far as they go.
    pub fn send_replies(&mut self) {
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

    /// One of the outputs, while it is open.
    pub fn output(&self, which: Which) -> Option<&OwnedFd> {
        match which {
            Which::Stdout => self.stdout.as_ref(),
            Which::Stderr => self.stderr.as_ref(),
        }
    }

    /// Second descriptors of both outputs.
    ///
    /// # Errors
    /// Those of the system, when it has no more descriptors.
    pub fn second_outputs(&self) -> std::io::Result<[OwnedFd; 2]> {
        let second = |output: &Option<OwnedFd>| match output {
            Some(output) => output.try_clone(),
            None => Err(std::io::ErrorKind::BrokenPipe.into()),
        };
        Ok([second(&self.stdout)?, second(&self.stderr)?])
    }

    /// The output of the PE, as [`Pe::receive`].
    pub fn read_output(&mut self, which: Which) -> Vec<u8> {
        match which {
            Which::Stdout => read_some(&mut self.stdout),
            Which::Stderr => read_some(&mut self.stderr),
        }
    }

    /// Stops listening to an output.
    pub fn close_output(&mut self, which: Which) {
        match which {
            Which::Stdout => self.stdout = None,
            Which::Stderr => self.stderr = None,
        }
    }
}

/// Whatever happens in the launcher's own code, no process is left.
impl Drop for Pe {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
        let _ = self.child.wait();
    }
}
