//! The acceptor: the thread of a station that accepts others and notices their end,
//! whatever the program does.

use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::os::strangers::Strangers;
use hostwire_transport::shm::handover;
use hostwire_transport::shm::key::Key;
use hostwire_transport::worker;
use rustix::event::{PollFd, PollFlags, poll};

use super::bell::Bell;
use super::call::{self, Incoming, Said};
use super::hello::{Answer, Hello};
use super::outside::Outside;
use super::private::Beside;
use super::table::{Met, Table, Way};
use super::{Terms, window};

/// Most connections that have not shown the key yet.
const STRANGERS_MAX: usize = 64;
/// The backlog of connections that wait for the acceptor.
const BACKLOG: i32 = 1024;
/// The pause if no descriptors are left: later there may be some.
const NAP: Duration = Duration::from_millis(10);

/// The program's side of the thread.
pub(super) struct Acceptor {
    shared: Arc<AcceptorShared>,
    thread: Option<JoinHandle<()>>,
}

struct AcceptorShared {
    bell: Arc<Bell>,
    /// Connections that the program has made.
    joined: Mutex<Vec<(Arc<OwnedFd>, PeId)>>,
    stop: AtomicBool,
}

impl Acceptor {
    pub(super) fn start(
        terms: Terms,
        file: Arc<OwnedFd>,
        proof_at: u64,
        table: Arc<Table>,
        outside: Option<(Arc<Outside>, TcpListener)>,
        bell: Arc<Bell>,
    ) -> Result<Self, TransportError> {
        let failed = |e| TransportError::environment("listening for other stations", e);
        let name = table.name_of(0).ok_or_else(|| super::no_such(0))?;
        let listener = handover::socket().map_err(failed)?;
        rustix::net::bind(&listener, &name.address()?).map_err(failed)?;
        rustix::net::listen(&listener, BACKLOG).map_err(failed)?;
        let shared = Arc::new(AcceptorShared {
            bell,
            joined: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let door = Door {
            key: name.key(),
            terms,
            file,
            proof_at,
            table,
            listener,
            strangers: Strangers::new(STRANGERS_MAX),
            peers: Vec::new(),
            calls: outside.map(Calls::new),
            shared: Arc::clone(&shared),
        };
        let thread = worker::start("hostwire-station", 128 << 10, move || door.keep());
        let thread = thread.map_err(|e| {
            TransportError::environment("starting the thread that lets stations in", e)
        })?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Watches a connection for the end of its station.
    pub(super) fn watch(&self, socket: Arc<OwnedFd>, pe: PeId) {
        let joined = self.shared.joined.lock();
        joined
            .unwrap_or_else(PoisonError::into_inner)
            .push((socket, pe));
        self.shared.bell.ring();
    }

    /// Closes the connections of stations that have ended.
    pub(super) fn part(&self) {
        self.shared.bell.ring();
    }

    /// Ends the thread, if it `is_here`.
    pub(super) fn end(&mut self, is_here: bool) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        if !is_here {
            return core::mem::forget(thread);
        }
        self.shared.stop.store(true, Ordering::Release);
        self.shared.bell.ring();
        // If the thread panicked, there is nothing to repair.
        let _ = thread.join();
    }
}

/// The thread's own side.
struct Door {
    key: Key,
    terms: Terms,
    file: Arc<OwnedFd>,
    proof_at: u64,
    table: Arc<Table>,
    listener: OwnedFd,
    strangers: Strangers<OwnedFd>,
    peers: Vec<(Arc<OwnedFd>, PeId)>,
    /// Calls from stations of other hosts.
    calls: Option<Calls>,
    shared: Arc<AcceptorShared>,
}

/// The descriptor on which an event has come.
#[derive(Debug, Clone, Copy)]
enum At {
    Wake,
    Listener,
    Stranger(usize),
    Peer(usize),
    Caller(usize),
    Calls,
}

impl Door {
    fn keep(mut self) {
        while !self.shared.stop.load(Ordering::Acquire) {
            let ready = self.wait();
            self.shared.bell.fall_silent();
            // From the last to the first, so that earlier indices stay valid.
            for at in ready.into_iter().rev() {
                match at {
                    At::Wake => {}
                    At::Listener => self.accept(),
                    At::Stranger(at) => {
                        if let Some(stranger) = self.strangers.remove(at) {
                            self.admit(stranger);
                        }
                    }
                    At::Peer(at) => {
                        let (_, pe) = self.peers.swap_remove(at);
                        self.see_off(pe);
                    }
                    At::Caller(at) => {
                        let calls = self.calls.as_mut();
                        self.peers
                            .extend(calls.and_then(|calls| calls.hear(self.key, at)));
                    }
                    At::Calls => {
                        if let Some(calls) = &mut self.calls {
                            calls.accept();
                        }
                    }
                }
            }
            let mut joined = self
                .shared
                .joined
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            self.peers.append(&mut joined);
            self.peers.retain(|(_, pe)| !self.table.has_ended(*pe));
        }
    }

    /// The descriptors with an event; those of one kind are in ascending order. A station
    /// sends nothing after its first message, so an event of a peer means that it has
    /// gone.
    fn wait(&self) -> Vec<At> {
        let first = [
            (At::Wake, self.shared.bell.as_fd()),
            (At::Listener, self.listener.as_fd()),
        ];
        let strangers = self.strangers.iter().enumerate();
        let strangers = strangers.map(|(at, socket)| (At::Stranger(at), socket.as_fd()));
        let callers = self.calls.iter().flat_map(Calls::fds);
        let peers = self.peers.iter().enumerate();
        let peers = peers.map(|(at, (socket, _))| (At::Peer(at), socket.as_fd()));
        // New peers are added after those that are polled now.
        let all = first.into_iter().chain(strangers).chain(callers);
        let (ats, mut fds): (Vec<At>, Vec<PollFd<'_>>) = all
            .chain(peers)
            .map(|(at, fd)| (at, PollFd::from_borrowed_fd(fd, PollFlags::IN)))
            .unzip();
        if poll(&mut fds, None).is_err() {
            return Vec::new();
        }
        let all = ats.into_iter().zip(&fds);
        all.filter(|(_, fd)| !fd.revents().is_empty())
            .map(|(at, _)| at)
            .collect()
    }

    /// Handles the end of a station.
    fn see_off(&self, pe: PeId) {
        let outside = self.calls.as_ref().map(|calls| &calls.outside);
        if let Some(outside) = outside {
            outside.take_last();
        }
        self.table.end(pe);
        if let Some(outside) = outside {
            outside.part(pe);
        }
    }

    fn accept(&mut self) {
        match handover::accept(&self.listener) {
            Ok(Some(socket)) if handover::is_same_user(&socket) => {
                self.strangers.come(socket);
            }
            Ok(_) => {}
            Err(_) => std::thread::sleep(NAP),
        }
    }

    /// Answers a connection that shows the key. Others get no answer.
    fn admit(&mut self, stranger: OwnedFd) {
        let Some((hello, file)) = Hello::receive(&stranger, self.key) else {
            return;
        };
        let (pe, met) = match self.meet(&stranger, &hello, &file) {
            Ok(met) => met,
            Err(error) => return Answer::refuse(&stranger, &error.to_string()),
        };
        // A station that does not wait for the answer any more asks again, or has ended.
        let answered = Answer::send(&stranger, pe, self.proof_at, &self.file);
        if answered.is_ok() && self.table.join(pe, met).is_ok() {
            self.peers.push((Arc::new(stranger), pe));
        }
    }

    fn meet(
        &self,
        socket: &OwnedFd,
        hello: &Hello,
        file: &OwnedFd,
    ) -> Result<(PeId, Met), TransportError> {
        if hello.terms != self.terms {
            let fault = hostwire_transport::error::EnvironmentFault::unexpected(
                format_args!("{:?}", self.terms),
                format_args!("{:?}", hello.terms),
            );
            return Err(TransportError::environment("letting a station in", fault));
        }
        let pe = self.table.number(&hello.from)?;
        if pe == 0 {
            return Err(super::own_name());
        }
        if self.table.has_ended(pe) {
            return Err(super::ended(pe));
        }
        let window = window(file, self.terms)?;
        let beside = match self.proof_at {
            0 => None,
            _ => Beside::of(socket, hello.proof_at, hello.from.key()),
        };
        let way = Way::Mapped { window, beside };
        let number = hello.number;
        Ok((pe, Met { way, number }))
    }
}

/// Calls from other hosts.
struct Calls {
    outside: Arc<Outside>,
    listener: TcpListener,
    callers: Strangers<Incoming>,
}

impl Calls {
    fn new((outside, listener): (Arc<Outside>, TcpListener)) -> Self {
        let callers = Strangers::new(STRANGERS_MAX);
        Self {
            outside,
            listener,
            callers,
        }
    }

    fn fds(&self) -> impl Iterator<Item = (At, BorrowedFd<'_>)> {
        let callers = self.callers.iter().enumerate();
        let callers = callers.map(|(at, caller)| (At::Caller(at), caller.stream.as_fd()));
        core::iter::once((At::Calls, self.listener.as_fd())).chain(callers)
    }

    fn accept(&mut self) {
        match self.listener.accept() {
            Ok((stream, _)) => {
                // A caller that has gone meanwhile is ignored.
                let Ok(caller) = Incoming::greet(stream) else {
                    return;
                };
                self.callers.come(caller);
            }
            Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
            Err(_) => std::thread::sleep(NAP),
        }
    }

    /// Reads from a caller. Returns the station, if it is accepted.
    fn hear(&mut self, key: Key, at: usize) -> Option<(Arc<OwnedFd>, PeId)> {
        let (hello, reply) = match self.callers.get_mut(at)?.read(key) {
            Said::Nothing => return None,
            Said::Stranger => {
                self.callers.remove(at);
                return None;
            }
            Said::Hello(hello, reply) => (hello, reply),
        };
        let mut caller = self.callers.remove(at)?;
        match self.outside.admit(&hello) {
            Ok((pe, answer)) => {
                let is_told = caller.answer(reply, &answer);
                is_told.then(|| (self.outside.keep(pe, caller.stream), pe))
            }
            Err(error) => {
                let why = error.to_string().into();
                caller.answer(reply, &call::Answer::Refused { why });
                None
            }
        }
    }
}
