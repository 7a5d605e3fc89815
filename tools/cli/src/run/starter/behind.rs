//! Hosts behind this one: their starters are started from here, and their connections to the launcher lead through this
//! starter.

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Instant;

use hostwire_bootstrap::starter::{Errand, How, Message, News, Order, Report};
use rustix::event::PollFlags;
use rustix::process::Pid;

use super::super::copies::{Copies, Upload};
use super::super::signals::Signals;
use super::super::ssh::{Connection, SSH_FAILED, reach};
use super::super::start_error::StartError;
use super::Gone;
use super::channel::{Channel, fatal, how, wait};

/// While so many bytes wait for the launcher, nothing is read from other hosts.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// All of them, by the launcher's number.
#[derive(Default)]
pub struct Behind {
    hosts: BTreeMap<u32, Host>,
    /// The program, if it was copied to this host.
    program: Option<PathBuf>,
    /// This program and that one, once they have been read.
    copies: Copies,
}

/// What is polled for a host.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    From,
    Says,
    To,
}

struct Host {
    connection: Connection,
    /// What is to be sent, in this order.
    parts: VecDeque<Part>,
    /// What is sent now. If these are the launcher's bytes, it is told of their way.
    current: Vec<u8>,
    is_launchers: bool,
    /// Whether no more comes.
    is_closed: bool,
}

enum Part {
    Bytes(Vec<u8>),
    /// This program itself, for the shell of the host.
    Hostwire(Upload),
    /// The program of the job, in frames.
    Program(Upload),
}

impl Behind {
    /// Hosts that may be given a program that was copied to this one.
    pub fn new(program: Option<PathBuf>) -> Behind {
        Behind {
            program,
            ..Behind::default()
        }
    }

    /// The processes that reach them.
    pub fn pids(&self) -> impl Iterator<Item = Pid> {
        self.hosts.values().map(|host| host.connection.pid())
    }

    /// The next order that is more than a beat, and not for a host behind this one.
    pub fn next_order(
        &mut self,
        channel: &mut Channel,
        signals: &mut Signals,
    ) -> Result<Order, Gone> {
        loop {
            channel.tick()?;
            match channel.next()? {
                Some(Order::Beat | Order::Pause) => continue,
                Some(Order::Behind { host, errand }) => {
                    self.obey(host, errand, channel);
                    continue;
                }
                Some(order) => return Ok(order),
                None => self.tick(channel),
            }
            let hosts = self.watched(channel.waiting_bytes());
            let own = channel.watched();
            let sources: Vec<_> = hosts.iter().map(|(source, ..)| *source).collect();
            let hosts = hosts.into_iter().map(|(_, fd, flags)| (fd, flags));
            let signalled = [(signals.fd(), PollFlags::IN)];
            let fds: Vec<_> = hosts.chain(own).chain(signalled).collect();
            let ready = wait(&fds, channel.patience());
            let (from_hosts, own) = ready.split_at(sources.len());
            if own.first().is_some_and(|ready| *ready) {
                channel.read()?;
            }
            for (source, _) in sources.iter().zip(from_hosts).filter(|(_, ready)| **ready) {
                self.handle(*source, channel);
            }
            for signal in signals.pending() {
                fatal(signal)?;
            }
        }
    }

    /// Does what the launcher says.
    pub fn obey(&mut self, host: u32, errand: Errand, channel: &mut Channel) {
        let say = |channel: &mut Channel, news| channel.say(&Report::Behind { host, news });
        let done = match errand {
            Errand::Reach {
                ssh,
                target,
                copies,
            } => self.reach(host, &ssh, &target, copies),
            Errand::Program => self.hand_on_program(host),
            Errand::Bytes(bytes) => {
                self.push(host, Part::Bytes(bytes));
                Ok(())
            }
            Errand::Close => {
                if let Some(host) = self.hosts.get_mut(&host) {
                    host.is_closed = true;
                }
                Ok(())
            }
            Errand::Cut => {
                self.hosts.remove(&host);
                Ok(())
            }
        };
        if let Err(why) = done {
            self.hosts.remove(&host);
            say(channel, News::Said(why.into_bytes()));
            say(channel, News::Left(Some(How::Exited(SSH_FAILED))));
        }
    }

    fn reach(&mut self, host: u32, ssh: &str, target: &str, copies: bool) -> Result<(), String> {
        let own = match copies {
            true => Some(self.hostwire().map_err(|error| error.to_string())?),
            false => None,
        };
        let connection = reach(ssh, target, own.as_ref().map(|own| own.len()))
            .map_err(|error| format!("'{ssh}' cannot be started: {error}"))?;
        let parts = own.map(|own| Part::Hostwire(Upload::new(Some(own))));
        let host_behind = Host {
            connection,
            parts: parts.into_iter().collect(),
            current: Vec::new(),
            is_launchers: false,
            is_closed: false,
        };
        self.hosts.insert(host, host_behind);
        Ok(())
    }

    /// The bytes of this program, as the launcher would copy them.
    fn hostwire(&mut self) -> Result<Rc<[u8]>, StartError> {
        if self.copies.hostwire.is_none() {
            self.copies = Copies::read(self.program.as_deref())?;
        }
        Ok(self.copies.hostwire.clone().unwrap_or_default())
    }

    fn hand_on_program(&mut self, host: u32) -> Result<(), String> {
        self.hostwire().map_err(|error| error.to_string())?;
        let program = Upload::new(self.copies.program.clone());
        self.push(host, Part::Program(program));
        Ok(())
    }

    /// A host that is gone needs nothing: the launcher is told.
    fn push(&mut self, host: u32, part: Part) {
        if let Some(host) = self.hosts.get_mut(&host) {
            host.parts.push_back(part);
        }
    }

    /// What to poll.
    pub fn watched(&self, waiting_bytes: usize) -> Vec<((u32, Side), BorrowedFd<'_>, PollFlags)> {
        let mut watched = Vec::new();
        let may_read = waiting_bytes < WAITING_BYTES_MAX;
        for (number, host) in &self.hosts {
            let (connection, has_bytes) = (&host.connection, host.has_bytes());
            let sides = [
                (Side::From, connection.from().filter(|_| may_read)),
                (Side::Says, connection.says().filter(|_| may_read)),
                (Side::To, connection.to().filter(|_| has_bytes)),
            ];
            for (side, fd) in sides {
                let flags = match side {
                    Side::To => PollFlags::OUT,
                    Side::From | Side::Says => PollFlags::IN,
                };
                watched.extend(fd.map(|fd| ((*number, side), fd.as_fd(), flags)));
            }
        }
        watched
    }

    /// Passes on what has come from a host.
    pub fn handle(&mut self, (number, side): (u32, Side), channel: &mut Channel) {
        let Some(host) = self.hosts.get_mut(&number) else {
            return;
        };
        let news = match side {
            Side::From => News::Bytes(host.connection.read()),
            Side::Says => News::Said(host.connection.read_said()),
            // Sent in any case.
            Side::To => return,
        };
        if !matches!(&news, News::Bytes(bytes) | News::Said(bytes) if bytes.is_empty()) {
            let host = number;
            channel.say(&Report::Behind { host, news });
        }
    }

    /// Sends what waits, as far as it goes, and says which connections have ended.
    pub fn tick(&mut self, channel: &mut Channel) {
        let now = Instant::now();
        let mut gone = Vec::new();
        for (number, host) in &mut self.hosts {
            let mut say = |news| {
                let host = *number;
                channel.say(&Report::Behind { host, news });
            };
            if let Some(passed) = host.send() {
                say(News::Passed(passed));
            }
            if let Some(status) = host.connection.end(now) {
                let said = host.connection.read_said();
                if !said.is_empty() {
                    say(News::Said(said));
                }
                say(News::Left(status.and_then(how)));
                gone.push(*number);
            }
        }
        for number in gone {
            self.hosts.remove(&number);
        }
    }
}

impl Host {
    fn has_bytes(&self) -> bool {
        !self.current.is_empty() || !self.parts.is_empty()
    }

    /// Sends what waits. If something has gone: how much of that was the launcher's.
    fn send(&mut self) -> Option<u32> {
        let mut passed = None;
        while self.refill() {
            let written = self.connection.write(&self.current);
            if written == 0 {
                break;
            }
            self.current.drain(..written);
            let launchers = match self.is_launchers {
                true => written as u32,
                false => 0,
            };
            passed = Some(passed.unwrap_or(0) + launchers);
        }
        if self.is_closed && !self.has_bytes() {
            self.connection.close();
        }
        passed
    }

    /// Takes the next part. Whether there is something to send.
    fn refill(&mut self) -> bool {
        while self.current.is_empty() {
            let piece = match self.parts.front_mut() {
                None => return false,
                Some(Part::Bytes(bytes)) => {
                    self.is_launchers = true;
                    self.current = std::mem::take(bytes);
                    None
                }
                Some(Part::Hostwire(upload)) => upload.next_piece().map(<[u8]>::to_vec),
                Some(Part::Program(upload)) => upload
                    .next_piece()
                    .map(|piece| Order::Program(piece.to_vec()).emit()),
            };
            match piece {
                Some(piece) => (self.is_launchers, self.current) = (false, piece),
                None => drop(self.parts.pop_front()),
            }
        }
        true
    }
}
