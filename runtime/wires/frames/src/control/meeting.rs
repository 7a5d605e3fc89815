//! How the control connections of a host are made, by its first PE.
//!
//! Of two hosts, the one with the higher number connects to the other. All hosts listen before any
//! of them connects, and the kernel accepts a connection without the process. So a call that is
//! not accepted soon never will be. Each host then tells the others which hosts it has reached,
//! and all hosts know for which connections to wait.
//!
//! 1. [`Door::open`], and publish the address;
//! 2. [`Door::call`], and publish the hosts that it reached ([`Calls::reached`]);
//! 3. [`Calls::meet`] with the hosts that have reached this one.

use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use hostwire_link::Node;
use hostwire_link::seal::{End, JobKey, Life, Proof};
use hostwire_transport::os::strangers::Strangers;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::CONNECTIONS_MAX;
use super::greeting::{GREETING_LEN, Greeting, LET_GO};

/// How long a call may stay unanswered by the kernel of the other host. The SYN is repeated after
/// one second.
const CALL_LIMIT: Duration = Duration::from_millis(2500);
/// Most connections whose peers have not identified themselves yet.
const STRANGERS_MAX: usize = 64;

/// The listening socket for the other hosts.
#[derive(Debug)]
pub struct Door {
    listener: TcpListener,
    address: SocketAddr,
}

/// What the hosts of a job have to know about each other.
#[derive(Debug, Clone)]
pub struct Party {
    /// The number of this host.
    pub own: u32,
    /// By host: where it listens, and the life of its first PE. No address if it does not listen.
    pub hosts: Vec<(Option<SocketAddr>, Option<Life>)>,
    /// The key of the job; `None` in a job without encryption.
    pub key: Option<JobKey>,
}

impl Party {
    /// The proof that `from` shows to `to`.
    fn proof(&self, from: u32, to: u32) -> Proof {
        let end = |host: u32| {
            let (_, life) = self.hosts.get(host as usize)?;
            let node = Node(host);
            Some(End {
                node,
                life: (*life)?,
            })
        };
        match (&self.key, end(from), end(to)) {
            (Some(key), Some(from), Some(to)) => key.proof(from, to),
            _ => Proof::NONE,
        }
    }

    /// The hosts that this one calls. If a job has more hosts than a host may have connections,
    /// each connects to hosts with numbers close to its own.
    pub(super) fn to_call(&self) -> Vec<(u32, SocketAddr)> {
        let hosts = self.hosts.len() as u32;
        let near = (CONNECTIONS_MAX / 2) as u32;
        let all_are_near = self.hosts.len() <= CONNECTIONS_MAX + 1;
        (0..)
            .zip(&self.hosts)
            .filter_map(|(host, (address, _))| Some((host, (*address)?)))
            .filter(|(host, _)| *host < self.own)
            .filter(|(host, _)| {
                let apart = self.own - host;
                all_are_near || apart <= near || hosts - apart <= near
            })
            .collect()
    }
}

impl Door {
    /// Listens at an address of this host.
    ///
    /// # Errors
    /// The error of the system: no such address, no descriptors, or no TCP in a sandbox.
    pub fn open(ip: IpAddr) -> io::Result<Self> {
        let listener = TcpListener::bind((ip, 0))?;
        listener.set_nonblocking(true)?;
        // The standard library has a backlog of 128, and more hosts may call before the first
        // accept.
        rustix::net::listen(&listener, CONNECTIONS_MAX as i32)?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address })
    }

    /// The listening socket.
    pub fn into_listener(self) -> TcpListener {
        self.listener
    }

    /// Its address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Calls the hosts that this one has to call. Ends when each call is accepted or refused, at
    /// `deadline`, or after two seconds and a half.
    pub fn call(self, party: Party, deadline: Instant) -> Calls {
        let deadline = deadline.min(Instant::now() + CALL_LIMIT);
        let calls = party.to_call().into_iter();
        let calls: Vec<(u32, OwnedFd)> = calls
            .filter_map(|(host, address)| Some((host, connect(address).ok()?)))
            .collect();
        let mut reached = Vec::new();
        let mut waiting = calls;
        while !waiting.is_empty() {
            let fds = waiting
                .iter()
                .map(|(_, fd)| PollFd::new(fd, PollFlags::OUT));
            let Some(ready) = wait(fds.collect(), deadline) else {
                break;
            };
            let mut ready = ready.into_iter();
            let (done, rest): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|_| ready.next().unwrap_or(false));
            waiting = rest;
            for (host, fd) in done {
                let stream = TcpStream::from(fd);
                let greeting = Greeting::new(party.own, host, party.proof(party.own, host));
                // Nothing was sent before, so there is room for the whole greeting.
                let is_taken = matches!(stream.take_error(), Ok(None))
                    && (&stream).write_all(&greeting.to_bytes()).is_ok();
                if is_taken {
                    let line = Line::new(stream);
                    reached.push(Called { host, line });
                }
            }
        }
        Calls {
            door: self,
            party,
            called: reached,
        }
    }
}

/// Begins to connect.
fn connect(address: SocketAddr) -> Result<OwnedFd, Errno> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let fd = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&fd, &address) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(fd),
        Err(error) => Err(error),
    }
}

/// Which of them have an event; `None` after `deadline`, or on an error of the system.
fn wait(mut fds: Vec<PollFd<'_>>, deadline: Instant) -> Option<Vec<bool>> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        match poll(&mut fds, Some(&left)) {
            Ok(0) => return None,
            Ok(_) => break,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    let happened = fds.iter().map(|fd| !fd.revents().is_empty());
    Some(happened.collect())
}

/// The accepted calls of this host, before the answers.
#[derive(Debug)]
pub struct Calls {
    door: Door,
    party: Party,
    called: Vec<Called>,
}

/// A host that this one has called.
#[derive(Debug)]
struct Called {
    host: u32,
    line: Line,
}

/// A connection whose other end is about to send its greeting.
#[derive(Debug)]
struct Line {
    stream: TcpStream,
    got: Vec<u8>,
}

/// What a read from a [`Line`] gave.
enum Heard {
    /// Nothing yet, or not all.
    Nothing,
    /// All of a greeting.
    Greeting(Greeting),
    /// The end, or something else.
    Nonsense,
}

impl Line {
    fn new(stream: TcpStream) -> Self {
        let got = Vec::new();
        Self { stream, got }
    }

    /// Reads what has come, but nothing after the greeting.
    fn hear(&mut self) -> Heard {
        let mut buffer = [0; GREETING_LEN];
        while let Some(room @ [_, ..]) = buffer.get_mut(self.got.len()..) {
            match self.stream.read(room) {
                Ok(0) => return Heard::Nonsense,
                Ok(len) => self.got.extend(room.get(..len).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Heard::Nothing,
                Err(_) => return Heard::Nonsense,
            }
        }
        Greeting::parse(&self.got).map_or(Heard::Nonsense, Heard::Greeting)
    }
}

/// Finished connections, by the number of the other host.
type Made = Vec<(u32, OwnedFd)>;

impl Calls {
    /// The hosts that this one has reached.
    pub fn reached(&self) -> Vec<u32> {
        self.called.iter().map(|called| called.host).collect()
    }

    /// Waits for the answers of the hosts that this one has reached, and for the greetings of
    /// `expected`, which have reached this one. Returns the connections that exist by `deadline`.
    pub fn meet(mut self, expected: &[u32], deadline: Instant) -> Made {
        let mut made = Made::new();
        let mut strangers: Strangers<Line> = Strangers::new(STRANGERS_MAX);
        let mut expected: Vec<u32> = expected.to_vec();
        while !(self.called.is_empty() && expected.is_empty()) {
            let called = self.called.iter().map(|called| &called.line);
            let lines = called.chain(strangers.iter());
            let fds = lines.map(|line| PollFd::new(&line.stream, PollFlags::IN));
            let door = PollFd::new(&self.door.listener, PollFlags::IN);
            if wait(core::iter::once(door).chain(fds).collect(), deadline).is_none() {
                break;
            }
            self.take_answers(&mut made);
            // Returns whether it has to be read again.
            let mut hear = |line: &mut Line| match line.hear() {
                Heard::Nothing => true,
                Heard::Nonsense => false,
                Heard::Greeting(greeting) => {
                    made.extend(self.admit(greeting, &line.stream, &mut expected));
                    false
                }
            };
            strangers.retain_mut(&mut hear);
            // Hosts that have reached this one have already sent their greeting, so they are never
            // strangers.
            for _ in 0..CONNECTIONS_MAX {
                let Ok((stream, _)) = self.door.listener.accept() else {
                    break;
                };
                let is_set = stream.set_nonblocking(true).is_ok();
                let mut line = Line::new(stream);
                if is_set && hear(&mut line) {
                    strangers.come(line);
                }
            }
            // Bounded, because strangers may keep coming.
            if Instant::now() >= deadline {
                break;
            }
        }
        for Called { line, .. } in self.called {
            // That host has the greeting, and must not take the end of this connection for the end
            // of all PEs here.
            let _ = (&line.stream).write_all(&LET_GO);
        }
        made
    }

    fn take_answers(&mut self, made: &mut Made) {
        for Called { host, mut line } in core::mem::take(&mut self.called) {
            let Greeting { from, to, shown } = match line.hear() {
                Heard::Nothing => {
                    self.called.push(Called { host, line });
                    continue;
                }
                Heard::Nonsense => continue,
                Heard::Greeting(greeting) => greeting,
            };
            let own = self.party.own;
            if (from, to) == (host, own) && self.party.proof(host, own).is(&shown) {
                made.push((host, line.stream.into()));
            }
        }
    }

    /// Answers an expected host whose proof is right. Others are dropped without an answer.
    fn admit(
        &self,
        greeting: Greeting,
        mut stream: &TcpStream,
        expected: &mut Vec<u32>,
    ) -> Option<(u32, OwnedFd)> {
        let Greeting { from, to, shown } = greeting;
        let own = self.party.own;
        let at = expected.iter().position(|host| *host == from)?;
        if to != own || !self.party.proof(from, own).is(&shown) {
            return None;
        }
        expected.swap_remove(at);
        let answer = Greeting::new(own, from, self.party.proof(own, from));
        stream.write_all(&answer.to_bytes()).ok()?;
        Some((from, stream.try_clone().ok()?.into()))
    }
}
