//! Control connections: they show at once that all PEs of another host have ended.
//!
//! Frames are connectionless, so the end of a peer is not visible. So there is one TCP connection without data
//! between any two hosts. The kernel closes it when the last process that has it ends, however it ends, and keeps it
//! while a process is stopped. The first PE of a host makes the connections of the host ([`Door`]). It keeps them if
//! it is the only one; with several PEs the [adapter](super::adapter) has them, which lives as long as any PE.
//!
//! A host has as many sockets as there are other hosts, at most [`CONNECTIONS_MAX`].
//!
//! The kernels send each other keepalives on them ([`kernel`]), so that a host whose processes do not run is not
//! taken for dead. A connection without answers stays open. If the address of an end has changed, it will never have
//! any: then the kernel is [called](knock).
//!
//! It is no error if a connection cannot be made: then a long silence shows the loss of the host. A connection needs
//! the key of the job ([`greeting`]). An attacker on the path between two hosts can close it, just as he can block
//! all frames.
//!
//! | file | |
//! |---|---|
//! | this one | checking whether a host has ended |
//! | [`greeting`] | how two hosts prove that they belong to one job |
//! | [`kernel`] | when the kernel of a host has answered |
//! | [`knock`] | the same, after a change of an address |
//! | [`meeting`] | how the connections are made |

pub(crate) mod greeting;
pub(crate) mod kernel;
mod knock;
mod meeting;

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostwire_transport::error::PeId;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

pub(crate) use self::kernel::Kernels;
use self::knock::Knocks;
pub use self::meeting::{Calls, Door, Party};

/// Most connections of a host: the usual limit is 1024 descriptors per process.
pub const CONNECTIONS_MAX: usize = 250;
/// A waiting thread asks repeatedly; the system is asked no more often than this.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// A connection on which two questions stay without an answer may have lost an address of its ends.
const CALL_AFTER: Duration = Duration::from_millis(2100);

/// The control connections of this host: TCP connections that carry nothing, one to each other host,
/// which the kernel closes when the last PE of that host ends, or its adapter.
#[derive(Debug)]
pub struct ControlConnections {
    /// By PE: its host.
    host_of: Box<[u32]>,
    connections: Box<[Connection]>,
    begin: Instant,
    /// The time of the last look, since `begin`. Never 0 after it.
    looked_ms: AtomicU64,
}

#[derive(Debug)]
struct Connection {
    host: u32,
    stream: TcpStream,
    /// The process at the other end has ended.
    has_ended: AtomicBool,
    /// The other host no longer uses it, so its end says nothing.
    is_let_go: AtomicBool,
    /// Where the other host is, and calls to it.
    calls: Mutex<(SocketAddr, Knocks)>,
}

impl Kernels for ControlConnections {
    fn answered_ago(&self, peer: u32) -> Option<Duration> {
        let mut all = self.connections.iter();
        all.find(|connection| connection.host == peer)?
            .answered_ago()
    }

    fn has_moved(&self, peer: u32, ip: IpAddr) {
        let mut all = self.connections.iter();
        if let Some(connection) = all.find(|connection| connection.host == peer) {
            connection.lock_calls().0.set_ip(ip);
        }
    }
}

impl ControlConnections {
    /// Uses connections to these hosts, by number. `host_of` says which host each PE is on.
    pub fn new(
        host_of: impl IntoIterator<Item = u32>,
        connections: impl IntoIterator<Item = (u32, OwnedFd)>,
    ) -> Self {
        let connections = connections.into_iter().map(|(host, fd)| {
            // Without this, silence decides.
            let _ = kernel::ask(&fd);
            let stream = TcpStream::from(fd);
            let nowhere = SocketAddr::from(([0; 4], 0));
            let address = stream.peer_addr().unwrap_or(nowhere);
            Connection {
                host,
                stream,
                calls: Mutex::new((address, Knocks::default())),
                has_ended: AtomicBool::new(false),
                is_let_go: AtomicBool::new(false),
            }
        });
        Self {
            host_of: host_of.into_iter().collect(),
            connections: connections.collect(),
            begin: Instant::now(),
            looked_ms: AtomicU64::new(0),
        }
    }

    /// The descriptors of all connections.
    pub(super) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.connections
            .iter()
            .map(|connection| connection.stream.as_fd())
    }

    /// How long ago the kernel of the host of `pe` has answered; `None` if it is not asked. May cost a system call.
    pub fn host_answered_ago(&self, pe: PeId) -> Option<Duration> {
        self.of(pe)?.answered_ago()
    }

    fn of(&self, pe: PeId) -> Option<&Connection> {
        let host = self.host_of.get(pe as usize)?;
        self.connections
            .iter()
            .find(|connection| connection.host == *host)
    }

    /// Whether all PEs of the host of `pe` are known to have ended. Sometimes costs a system call.
    pub fn has_ended(&self, pe: PeId) -> bool {
        let Some(connection) = self.of(pe) else {
            return false;
        };
        if self.is_time() {
            self.look();
        }
        connection.has_ended.load(Ordering::Acquire)
    }

    /// Whether the end of all PEs of that host would be noticed.
    pub fn leads_to(&self, pe: PeId) -> bool {
        self.of(pe)
            .is_some_and(|connection| !connection.is_let_go.load(Ordering::Relaxed))
    }

    /// Whether it is time for another look: true for only one of several threads.
    fn is_time(&self) -> bool {
        let ms = |time: Duration| time.as_millis() as u64;
        let now = ms(self.begin.elapsed()) + 1;
        let looked = self.looked_ms.load(Ordering::Relaxed);
        (looked == 0 || now - looked.min(now) >= ms(LOOK_AGAIN))
            && self
                .looked_ms
                .compare_exchange(looked, now, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
    }

    fn look(&self) {
        let open = |connection: &&Connection| {
            !connection.has_ended.load(Ordering::Relaxed)
                && !connection.is_let_go.load(Ordering::Relaxed)
        };
        let open: Vec<&Connection> = self.connections.iter().filter(open).collect();
        let watched = PollFlags::IN | PollFlags::RDHUP;
        let mut fds: Vec<PollFd<'_>> = open
            .iter()
            .map(|connection| PollFd::new(&connection.stream, watched))
            .collect();
        let at_once = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        if !matches!(poll(&mut fds, Some(&at_once)), Ok(1..)) {
            return;
        }
        for (connection, fd) in open.iter().zip(&fds) {
            if !fd.revents().is_empty() {
                connection.hear();
            }
        }
    }
}

impl Connection {
    /// If the other host no longer uses the connection, its kernel's answers say nothing.
    fn answered_ago(&self) -> Option<Duration> {
        let is_over =
            self.has_ended.load(Ordering::Relaxed) || self.is_let_go.load(Ordering::Relaxed);
        if is_over {
            return None;
        }
        let ago = kernel::answered_ago(&self.stream)?;
        if ago < CALL_AFTER {
            return Some(ago);
        }
        let (address, knocks) = &mut *self.lock_calls();
        let called = knocks.answered_ago(*address);
        Some(called.map_or(ago, |called| called.min(ago)))
    }

    fn lock_calls(&self) -> MutexGuard<'_, (SocketAddr, Knocks)> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Only peeks, because all PEs of this host have the same connection.
    fn hear(&self) {
        match self.stream.peek(&mut [0]) {
            Ok(0) => self.has_ended.store(true, Ordering::Release),
            // Data only ever means that the other host no longer uses the connection.
            Ok(_) => self.is_let_go.store(true, Ordering::Relaxed),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => {}
                io::ErrorKind::ConnectionReset => self.has_ended.store(true, Ordering::Release),
                // An error of the network says nothing about the processes.
                _ => self.is_let_go.store(true, Ordering::Relaxed),
            },
        }
    }
}

#[cfg(test)]
mod tests;
