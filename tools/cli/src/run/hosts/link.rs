//! The connection to the starter of one host.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hostwire_bootstrap::starter::{BEAT, Description, Greeted, Order, Received, Report};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use super::super::copies::{Copies, Upload};
use super::super::pes::{End, end_of};
use super::super::pipe::read_some;
use super::super::spawn::set_nonblocking;
use super::super::start_error::StartError;
use super::far::{Outgoing, State};
use super::ssh;

/// How much of what ssh says is kept to explain its end.
const SAID_BYTES_MAX: usize = 4096;
/// While so many bytes wait to be sent, no more of a copy is added.
const COPY_AHEAD_BYTES: usize = 256 << 10;
/// How long ssh is waited for after the connection has ended.
const SSH_ENDS: Duration = Duration::from_secs(1);

/// How far a starter has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It has not greeted.
    Unheard,
    /// It has greeted.
    Greeted,
    /// It has the same version, and gets the program and the description.
    Described,
    /// It can start its PEs.
    Ready,
    /// It has been told to.
    Running,
    /// It has been told that the job is over.
    Done,
    /// It has left nothing, and ends.
    Swept,
    /// The connection is not used any more.
    Over,
}

/// A host of the job.
pub struct Link {
    /// What the host is called.
    pub name: String,
    pub first: u32,
    pub count: u32,
    pub stage: Stage,
    pub outgoing: Outgoing,
    /// By place on the host.
    pub states: Vec<Rc<RefCell<State>>>,
    /// What is sent at the first stages: hostwire itself, the program, and what is to be started.
    hostwire: Upload,
    program: Upload,
    description: Option<Description>,
    is_copied: bool,
    child: Child,
    pid: Pid,
    to: Option<OwnedFd>,
    from: Option<OwnedFd>,
    says: Option<OwnedFd>,
    greeted: Greeted,
    received: Received<Report>,
    said: String,
    heard: Instant,
    spoke: Instant,
    /// When the connection ended.
    ended: Option<Instant>,
}

impl Link {
    /// Starts ssh. Has to be called on the main thread, as `spawn`. The description follows when the starter is there, and
    /// the copies come before it.
    pub fn open(
        ssh: &str,
        name: &str,
        description: Description,
        copies: Copies,
    ) -> Result<Link, StartError> {
        let Copies { hostwire, program } = copies;
        let failed = |reason: String| StartError::Ssh {
            host: name.to_owned(),
            reason,
        };
        let copied_bytes = hostwire.as_ref().map(|bytes| bytes.len());
        let mut child = ssh::command(ssh, name, copied_bytes)
            .spawn()
            .map_err(|error| failed(format!("'{ssh}' cannot be started: {error}")))?;
        let to = child.stdin.take().map(OwnedFd::from);
        let from = child.stdout.take().map(OwnedFd::from);
        let says = child.stderr.take().map(OwnedFd::from);
        let (first, count) = (description.first, description.count);
        let mut link = Link {
            name: name.to_owned(),
            first,
            count,
            hostwire: Upload::new(hostwire),
            program: Upload::new(program),
            description: Some(description),
            is_copied: copied_bytes.is_some(),
            stage: Stage::Unheard,
            outgoing: Outgoing::default(),
            states: (0..count).map(|_| Rc::default()).collect(),
            pid: Pid::from_child(&child),
            child,
            to,
            from,
            says,
            greeted: Greeted::default(),
            received: Received::default(),
            said: String::new(),
            heard: Instant::now(),
            spoke: Instant::now(),
            ended: None,
        };
        for fd in [&link.to, &link.from, &link.says].into_iter().flatten() {
            set_nonblocking(fd).map_err(|errno| StartError::System {
                what: "set up a pipe",
                errno,
            })?;
        }
        link.refill();
        Ok(link)
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

    /// What the starter reads, while something waits to be sent.
    pub fn blocked_on(&self) -> Option<&OwnedFd> {
        self.to.as_ref().filter(|_| self.outgoing.len() > 0)
    }

    pub fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Whether its PEs were started, as far as is known, and the host was not lost.
    pub fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running | Stage::Done)
    }

    /// The PE of the job at a place of this host, if it has one there.
    pub fn state(&self, pe: u32) -> Option<&Rc<RefCell<State>>> {
        self.states.get(pe.checked_sub(self.first)? as usize)
    }

    /// `PE 3` or `PEs 4-7`.
    pub fn pes(&self) -> String {
        match self.count {
            1 => format!("PE {}", self.first),
            count => format!("PEs {}-{}", self.first, self.first + count - 1),
        }
    }

    /// Reads what has come, and adds it to the messages that [`next`](Self::next) returns.
    pub fn read(&mut self) -> Result<(), String> {
        let bytes = read_some(&mut self.from);
        if self.from.is_none() {
            self.ended = self.ended.or(Some(Instant::now()));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        self.heard = Instant::now();
        if self.stage != Stage::Unheard {
            self.received.extend(&bytes);
            return Ok(());
        }
        if let Some(behind) = self.greeted.extend(&bytes).map_err(|e| e.to_string())? {
            self.stage = Stage::Greeted;
            self.received.extend(&behind);
            // Banners and warnings of a connection that works.
            self.said.clear();
        }
        Ok(())
    }

    /// The next message of the starter.
    pub fn next(&mut self) -> Result<Option<Report>, String> {
        if self.is_over() {
            return Ok(None);
        }
        self.received.next_message().map_err(|e| e.to_string())
    }

    /// Reads what ssh says. It is shown if the host is lost.
    pub fn read_said(&mut self) {
        let bytes = read_some(&mut self.says);
        self.said.push_str(&String::from_utf8_lossy(&bytes));
        let keep = self.said.len().saturating_sub(SAID_BYTES_MAX);
        let keep = (keep..).find(|at| self.said.is_char_boundary(*at));
        self.said.drain(..keep.unwrap_or(0));
    }

    /// Whether it is still open whether it can start its PEs.
    pub fn is_unready(&self) -> bool {
        matches!(
            self.stage,
            Stage::Unheard | Stage::Greeted | Stage::Described
        )
    }

    /// Adds what the stage has to send. It grows no faster than it goes.
    fn refill(&mut self) {
        while self.outgoing.len() < COPY_AHEAD_BYTES && self.to.is_some() {
            match self.stage {
                Stage::Unheard => match self.hostwire.next_piece() {
                    Some(piece) => self.outgoing.push_bytes(piece),
                    None => return,
                },
                Stage::Described => match (self.program.next_piece(), self.description.take()) {
                    (Some(piece), description) => {
                        self.outgoing.push(&Order::Program(piece.to_vec()));
                        self.description = description;
                    }
                    (None, Some(description)) => self.outgoing.push(&Order::Describe(description)),
                    (None, None) => return,
                },
                _ => return,
            }
        }
    }

    /// Until when an answer is waited for: so long after the last bytes of a copy have left.
    pub fn give_up(&self, within: Duration) -> Option<Instant> {
        self.is_copied.then(|| self.spoke + within)
    }

    /// The starter has the version of this program.
    pub fn describe(&mut self) {
        self.stage = Stage::Described;
        self.refill();
    }

    /// Sends what waits, as far as it goes.
    pub fn send(&mut self) {
        let Some(to) = &self.to else {
            self.outgoing.clear();
            return;
        };
        // Only bytes show that this launcher is there.
        if self.outgoing.len() == 0 {
            return;
        }
        match self.outgoing.drain(|bytes| rustix::io::write(to, bytes)) {
            Ok(()) => {
                self.spoke = Instant::now();
                self.refill();
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            // The other direction says why.
            Err(_) => self.to = None,
        }
    }

    /// Says that the launcher is there, if nothing else has said so.
    pub fn beat(&mut self, now: Instant) {
        let is_due = now.saturating_duration_since(self.spoke) >= BEAT;
        if is_due && self.outgoing.len() == 0 && self.is_connected() {
            self.outgoing.push(&Order::Beat);
            self.send();
            self.spoke = now;
        }
    }

    fn is_connected(&self) -> bool {
        !matches!(self.stage, Stage::Unheard | Stage::Over)
    }

    /// The launcher did not run: its clock says nothing about the other end.
    pub fn forgive(&mut self, now: Instant) {
        self.heard = now;
    }

    /// When there is something to do without anything to read.
    pub fn deadline(&self, lost_after: Duration) -> Option<Instant> {
        let ended = self.ended.map(|ended| ended + SSH_ENDS);
        let beat = (self.spoke + BEAT).min(self.heard + lost_after);
        let beat = self.is_connected().then_some(beat);
        [ended, beat]
            .into_iter()
            .flatten()
            .min()
            .filter(|_| !self.is_over())
    }

    /// Why the host is lost, if it is.
    pub fn loss(&mut self, now: Instant, lost_after: Duration) -> Option<String> {
        if self.is_over() {
            return None;
        }
        if let Some(ended) = self.ended {
            let status = end_of(self.pid);
            if status.is_none() && now.saturating_duration_since(ended) < SSH_ENDS {
                return None;
            }
            self.read_said();
            return Some(self.why(status));
        }
        let silence = now.saturating_duration_since(self.heard);
        let is_silent = self.is_connected() && silence >= lost_after;
        is_silent.then(|| format!("nothing was heard of it for {} s", silence.as_secs()))
    }

    fn why(&self, status: Option<End>) -> String {
        match self.stage {
            Stage::Unheard => ssh::why_not_started(&ssh::Silent {
                target: &self.name,
                status,
                said: &self.said,
                noise: &self.greeted.noise(),
                is_copied: self.is_copied,
            }),
            _ => ssh::why_lost(status, &self.said),
        }
    }

    /// Whether ssh has ended.
    pub fn has_ended(&self) -> bool {
        end_of(self.pid).is_some()
    }

    /// Sends what waits and closes the way to the starter, which ends then at the latest.
    pub fn close(&mut self) {
        self.send();
        self.to = None;
    }

    /// Uses the connection no more: ssh is killed, and with it the starter's end of it.
    pub fn cut(&mut self) {
        self.stage = Stage::Over;
        self.outgoing.clear();
        (self.to, self.from, self.says) = (None, None, None);
        let _ = kill_process_group(self.pid, Signal::KILL);
    }
}

/// Nothing is left of ssh, either.
impl Drop for Link {
    fn drop(&mut self) {
        self.cut();
        let _ = self.child.wait();
    }
}
