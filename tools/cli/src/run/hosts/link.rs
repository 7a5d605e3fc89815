//! The connection to the starter of one host.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use hostwire_bootstrap::starter::{BEAT, Description, Greeted, Order, Received, Report};
use rustix::process::Pid;

use super::super::copies::{Copies, Upload};
use super::super::pes::End;
use super::super::ssh;
use super::super::start_error::StartError;
use super::far::{Outgoing, State};
use super::way::{Through, Way};

/// How much of what ssh says is kept to explain its end.
const SAID_BYTES_MAX: usize = 4096;
/// While so many bytes wait to be sent, no more of a copy is added.
const COPY_AHEAD_BYTES: usize = 256 << 10;

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
    /// The host from whose starter it is reached, if that is not done from here, and its name.
    pub parent: Option<(usize, String)>,
    /// The hosts that are reached from this one.
    pub behind: Vec<usize>,
    /// What is sent at the first stages: hostwire itself, the program, and what is to be started.
    hostwire: Upload,
    program: Upload,
    description: Option<Description>,
    is_copied: bool,
    way: Way,
    greeted: Greeted,
    received: Received<Report>,
    said: String,
    heard: Instant,
    spoke: Instant,
    /// When it was reached for, or the last part of a copy left.
    begun: Option<Instant>,
}

impl Link {
    /// A host that is not reached for yet. The description follows when the starter is there, and the copies come before it.
    pub fn new(name: String, description: Description, copies: Copies) -> Link {
        let Copies { hostwire, program } = copies;
        let (first, count) = (description.first, description.count);
        Link {
            name,
            first,
            count,
            parent: None,
            behind: Vec::new(),
            is_copied: hostwire.is_some(),
            hostwire: Upload::new(hostwire),
            program: Upload::new(program),
            description: Some(description),
            stage: Stage::Unheard,
            outgoing: Outgoing::default(),
            states: (0..count).map(|_| Rc::default()).collect(),
            way: Way::None,
            greeted: Greeted::default(),
            received: Received::default(),
            said: String::new(),
            heard: Instant::now(),
            spoke: Instant::now(),
            begun: None,
        }
    }

    /// Starts ssh. Has to be called on the main thread, as `spawn`.
    pub fn reach(&mut self, ssh: &str) -> Result<Option<Pid>, StartError> {
        let copied_bytes = self.hostwire.len().filter(|_| self.is_copied);
        let connection = match ssh::is_here(&self.name) {
            true => ssh::start_here(),
            false => ssh::reach(ssh, &self.name, copied_bytes),
        };
        let connection = connection.map_err(|error| StartError::Ssh {
            host: self.name.clone(),
            reason: format!("'{ssh}' cannot be started: {error}"),
        })?;
        self.begin(Way::Direct(connection));
        self.refill();
        Ok(self.way.pid())
    }

    /// Lets the starter of another host start ssh, which knows this one by its number.
    pub fn reach_through(&mut self, ssh: &str, host: usize, parent: Outgoing) {
        self.begin(Way::Through(Through::new(host as u32, parent)));
        self.way.reach(ssh, &self.name, self.is_copied);
        // The starter on the way hands its own copy on.
        self.hostwire = Upload::default();
    }

    fn begin(&mut self, way: Way) {
        let now = Instant::now();
        self.way = way;
        (self.heard, self.spoke, self.begun) = (now, now, Some(now));
    }

    /// What the starter writes to.
    pub fn from(&self) -> Option<&OwnedFd> {
        self.way.from()
    }

    /// What ssh complains on.
    pub fn says(&self) -> Option<&OwnedFd> {
        self.way.says()
    }

    /// What the starter reads, while something waits to be sent.
    pub fn blocked_on(&self) -> Option<&OwnedFd> {
        self.way.to().filter(|_| self.outgoing.len() > 0)
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
        let bytes = self.way.read();
        match bytes.is_empty() {
            true => Ok(()),
            false => self.hear(&bytes),
        }
    }

    /// The same of bytes that have come through another host.
    pub fn hear(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.heard = Instant::now();
        if self.stage != Stage::Unheard {
            self.received.extend(bytes);
            return Ok(());
        }
        if let Some(behind) = self.greeted.extend(bytes).map_err(|e| e.to_string())? {
            self.stage = Stage::Greeted;
            self.received.extend(&behind);
            // Banners and warnings of a connection that works.
            self.said.clear();
        }
        Ok(())
    }

    /// The way to this host, if it leads through another one.
    fn through(&mut self) -> Option<&mut Through> {
        match &mut self.way {
            Way::Through(through) => Some(through),
            Way::None | Way::Direct(_) => None,
        }
    }

    /// The way through another host has ended.
    pub fn note_end(&mut self, status: Option<End>) {
        if let Some(through) = self.through() {
            through.note_end(status);
        }
    }

    /// So many bytes have been passed on to this host.
    pub fn note_passed(&mut self, bytes: usize) {
        self.begun = Some(Instant::now());
        if let Some(through) = self.through() {
            through.give_room(bytes);
        }
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
        let bytes = self.way.read_said();
        self.note_said(&bytes);
    }

    /// Keeps what ssh has said.
    pub fn note_said(&mut self, bytes: &[u8]) {
        self.said.push_str(&String::from_utf8_lossy(bytes));
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

    /// Another host is reached from this one.
    pub fn add_behind(&mut self, host: usize) {
        self.behind.push(host);
        if let Some(description) = &mut self.description {
            description.behind += 1;
        }
    }

    /// Whether it is reached from that host.
    pub fn is_behind(&self, host: usize) -> bool {
        self.parent
            .as_ref()
            .is_some_and(|(parent, _)| *parent == host)
    }

    /// Whether it is still to be reached for.
    pub fn waits(&self) -> bool {
        self.begun.is_none() && !self.is_over()
    }

    /// Whether it was reached for.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Adds what the stage has to send. It grows no faster than it goes.
    fn refill(&mut self) {
        while self.outgoing.len() < COPY_AHEAD_BYTES && !self.way.is_closed() {
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

    /// Until when an answer is waited for: so long after it was reached for, or after the last bytes of a copy have left.
    pub fn give_up(&self, within: Duration) -> Option<Instant> {
        self.begun.map(|begun| begun + within)
    }

    /// The starter has the version of this program.
    pub fn describe(&mut self) {
        self.stage = Stage::Described;
        if self.program.len().is_some() && self.through().is_some() {
            // Before the program there are at most beats.
            self.send();
            self.way.hand_on_program();
            self.program = Upload::default();
        }
        self.refill();
    }

    /// Sends what waits, as far as it goes.
    pub fn send(&mut self) {
        if self.way.is_closed() {
            self.outgoing.clear();
        }
        // Only bytes show that this launcher is there.
        while self.outgoing.len() > 0 {
            let way = &mut self.way;
            let written = self.outgoing.drain(|bytes| way.write(bytes));
            if written == 0 {
                return;
            }
            self.spoke = Instant::now();
            if self.is_copied && self.is_unready() && self.way.pid().is_some() {
                self.begun = Some(self.spoke);
            }
            self.refill();
        }
    }

    /// Whether something waits that can be sent now.
    fn is_due(&self) -> bool {
        self.outgoing.len() > 0 && self.way.is_ready()
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
        let beat = (self.spoke + BEAT).min(self.heard + lost_after);
        let beat = self.is_connected().then_some(beat);
        let due = self.is_due().then_some(self.spoke);
        [self.way.deadline(), beat, due]
            .into_iter()
            .flatten()
            .min()
            .filter(|_| !self.is_over())
    }

    /// Why the connection has ended, if it has.
    pub fn loss(&mut self, now: Instant) -> Option<String> {
        if self.is_over() {
            return None;
        }
        let status = self.way.end(now)?;
        self.read_said();
        Some(self.why(status))
    }

    /// How long nothing has been heard of it, if it should say something.
    pub fn silence(&self, now: Instant) -> Option<Duration> {
        let silence = now.saturating_duration_since(self.heard);
        self.is_connected().then_some(silence)
    }

    fn why(&self, status: Option<End>) -> String {
        let from = self.parent.as_ref().map(|(_, name)| &**name);
        match self.stage {
            Stage::Unheard => ssh::why_not_started(&ssh::Silent {
                target: &self.name,
                from,
                status,
                said: &self.said,
                noise: &self.greeted.noise(),
                is_copied: self.is_copied,
            }),
            _ => ssh::why_lost(status, &self.said, from),
        }
    }

    /// Whether ssh has ended.
    pub fn has_ended(&self) -> bool {
        self.way.has_ended()
    }

    /// Sends what waits and closes the way to the starter, which ends then at the latest.
    pub fn close(&mut self) {
        self.send();
        self.way.close();
    }

    /// Uses the connection no more: ssh is killed, and with it the starter's end of it.
    pub fn cut(&mut self) {
        self.stage = Stage::Over;
        self.outgoing.clear();
        self.way.cut();
    }
}
