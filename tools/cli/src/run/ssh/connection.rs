//! A process that reaches a host, with the pipes to it: ssh, or the starter of this host itself.

use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::pes::{End, end_of};
use super::super::pipe::read_some;
use super::super::spawn::set_nonblocking;

/// How long the process is waited for after the connection has ended.
const PROCESS_ENDS: Duration = Duration::from_secs(1);

/// Ends when it is dropped, and the starter at its other end with it.
pub struct Connection {
    child: Child,
    pid: Pid,
    to: Option<OwnedFd>,
    from: Option<OwnedFd>,
    says: Option<OwnedFd>,
    /// When the other end has closed it.
    ended: Option<Instant>,
}

impl Connection {
    /// Starts the process, which leads a group. Has to be called on the main thread, as `spawn`.
    pub fn open(mut command: Command) -> io::Result<Connection> {
        let mut child = command.spawn()?;
        let connection = Connection {
            to: child.stdin.take().map(OwnedFd::from),
            from: child.stdout.take().map(OwnedFd::from),
            says: child.stderr.take().map(OwnedFd::from),
            pid: Pid::from_child(&child),
            child,
            ended: None,
        };
        let fds = [&connection.to, &connection.from, &connection.says];
        for fd in fds.into_iter().flatten() {
            set_nonblocking(fd)?;
        }
        Ok(connection)
    }

    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// What the starter writes to.
    pub fn from(&self) -> Option<&OwnedFd> {
        self.from.as_ref()
    }

    /// What ssh complains on.
    pub fn says(&self) -> Option<&OwnedFd> {
        self.says.as_ref()
    }

    /// What the starter reads.
    pub fn to(&self) -> Option<&OwnedFd> {
        self.to.as_ref()
    }

    /// What has come of the starter.
    pub fn read(&mut self) -> Vec<u8> {
        let bytes = read_some(&mut self.from);
        if self.from.is_none() {
            self.ended = self.ended.or(Some(Instant::now()));
        }
        bytes
    }

    /// What ssh says.
    pub fn read_said(&mut self) -> Vec<u8> {
        read_some(&mut self.says)
    }

    /// Sends bytes. How many have gone.
    pub fn write(&mut self, bytes: &[u8]) -> usize {
        let Some(to) = &self.to else { return 0 };
        match rustix::io::write(to, bytes) {
            Ok(written) => return written,
            Err(Errno::AGAIN | Errno::INTR) => {}
            // The other direction says why.
            Err(_) => self.to = None,
        }
        0
    }

    /// Closes the way to the starter, which ends then at the latest.
    pub fn close(&mut self) {
        self.to = None;
    }

    /// Kills the process, and with it the starter's end of the connection.
    pub fn cut(&mut self) {
        (self.to, self.from, self.says) = (None, None, None);
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    /// Whether the process has ended.
    pub fn has_ended(&self) -> bool {
        end_of(self.pid).is_some()
    }

    /// Whether the connection has ended, and then how the process has, if it does so in time.
    pub fn end(&self, now: Instant) -> Option<Option<End>> {
        let ended = self.ended?;
        let status = end_of(self.pid);
        let is_over = status.is_some() || now.saturating_duration_since(ended) >= PROCESS_ENDS;
        is_over.then_some(status)
    }

    /// When [`end`](Self::end) is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.ended.map(|ended| ended + PROCESS_ENDS)
    }
}

/// Nothing is left of it.
impl Drop for Connection {
    fn drop(&mut self) {
        self.cut();
        let _ = self.child.wait();
    }
}
