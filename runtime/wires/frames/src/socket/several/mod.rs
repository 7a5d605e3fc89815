//! Several sockets of one kind as one: each at an interface of its own, for the same hosts.
//!
//! [`paths`] decides which frame takes which interface. Frames are received from all interfaces
//! in the order of arrival: the links restore their order.

mod paths;
mod report;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_link::Ns;
use hostwire_transport::error::TransportError;
use rustix::event::epoll;
use rustix::thread::CapabilitySet;

use self::paths::Paths;
use self::report::Report;
pub(super) use self::report::TOLD_BY;
use super::super::address::{Address, INTERFACES_MAX};
use super::super::tally::SocketCounters;
use super::{FrameSocket, Received, SendError, Socket, Take, unequal};

/// Two sockets or more of one kind.
#[derive(Debug)]
pub struct SeveralSockets {
    sockets: Vec<Socket>,
    address: Address,
    /// Becomes readable with any of them.
    readable: OwnedFd,
    /// To each host.
    paths: Vec<Option<Paths>>,
    /// Hosts from which a frame came when a report was due.
    due: Vec<(u32, Report)>,
    /// The socket that is checked first.
    first: usize,
    /// The socket of the last stranger.
    strange: usize,
    /// How often each socket has taken another address.
    moves: Vec<u32>,
}

impl SeveralSockets {
    pub(super) fn new(sockets: Vec<Socket>) -> Result<Self, TransportError> {
        let what = "using several interfaces at once";
        let misused = |got: &dyn core::fmt::Display| {
            let expected =
                format_args!("2 to {INTERFACES_MAX} sockets of one kind, each at one interface");
            TransportError::misused(what, expected, got)
        };
        let addresses: Vec<_> = sockets.iter().map(|socket| socket.address()).collect();
        let address = Address::of_interfaces(&addresses)
            .filter(|address| address.interfaces() > 1)
            .ok_or_else(|| misused(&sockets.len()))?;
        let readable = readable_with_any(&sockets)
            .map_err(|e| TransportError::environment(what, std::io::Error::from(e)))?;
        Ok(Self {
            moves: vec![0; sockets.len()],
            strange: 0,
            sockets,
            address,
            readable,
            paths: Vec::new(),
            due: Vec::new(),
            first: 0,
        })
    }

    /// Sends frames over another path that the system refuses to send over the chosen one.
    fn send_otherwise(
        &mut self,
        now: Ns,
        host: u32,
        frames: &[(u32, &[u8])],
    ) -> Result<usize, SendError> {
        let end = frames.iter().position(|(other, _)| *other != host);
        let frames = frames
            .get(..end.unwrap_or(frames.len()))
            .unwrap_or_default();
        let mut tried = 0;
        while tried < self.sockets.len()
            && let Some(paths) = self.paths_to(host)
        {
            let refused = paths.choose(now);
            paths.refused(now, refused);
            let path = paths.choose(now);
            match self.send_by(path, frames) {
                Err(SendError::Refused) => tried += 1,
                done => return done,
            }
        }
        Err(SendError::Refused)
    }

    fn send_by(&mut self, path: usize, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        let socket = self.sockets.get_mut(path).ok_or(SendError::Refused)?;
        let sent = socket.send(frames);
        if sent == Err(SendError::Refused) {
            self.watch_moved();
        }
        sent
    }

    /// Watches sockets that have taken another address.
    #[cold]
    fn watch_moved(&mut self) {
        for (socket, moves) in self.sockets.iter().zip(&mut self.moves) {
            if socket.moves() != *moves {
                *moves = socket.moves();
                // If this fails, the timers of the links look for its frames.
                let _ = watch(&self.readable, socket);
            }
        }
    }

    fn paths_to(&mut self, host: u32) -> Option<&mut Paths> {
        self.paths.get_mut(host as usize)?.as_mut()
    }

    fn choose(&mut self, now: Ns, host: u32) -> Option<usize> {
        Some(self.paths_to(host)?.choose(now))
    }

    #[inline]
    fn report_if_due(&mut self, now: Ns, host: u32) {
        if let Some(paths) = self.paths_to(host)
            && let Some(report) = paths.report(now)
        {
            self.report(host, report);
        }
    }

    #[cold]
    #[inline(never)]
    fn report(&mut self, host: u32, report: Report) {
        for socket in &mut self.sockets {
            // A report that is not sent counts as lost, which is right: the path does not work.
            let _ = socket.send(&[(host, &report.to_bytes())]);
        }
    }
}

impl FrameSocket for SeveralSockets {
    fn counters(&self) -> SocketCounters {
        let mut counters = SocketCounters::default();
        for socket in &self.sockets {
            counters += &socket.counters();
        }
        counters
    }

    fn address(&self) -> Address {
        self.address
    }

    /// The length that all of them take.
    fn frame_len_max(&self) -> usize {
        let all = self.sockets.iter().map(|socket| socket.frame_len_max());
        all.min().unwrap_or(0)
    }

    fn header_bytes(&self) -> usize {
        let all = self.sockets.iter().map(|socket| socket.header_bytes());
        all.max().unwrap_or(0)
    }

    fn joins_frames(&self) -> bool {
        self.sockets.iter().any(|socket| socket.joins_frames())
    }

    /// Even over TCP, frames on different paths overtake each other.
    fn loses_nothing(&self) -> bool {
        self.sockets.iter().all(|socket| socket.loses_nothing())
    }

    /// A batch leaves by one of them.
    fn piece_bytes(&self) -> usize {
        let pieces = self.sockets.iter().map(|socket| socket.piece_bytes());
        pieces.min().unwrap_or(super::PIECE_BYTES)
    }

    /// The number of one socket: all frames of a host may take one path.
    fn frames_max(&self) -> usize {
        let all = self.sockets.iter().map(|socket| socket.frames_max());
        all.min().unwrap_or(0)
    }

    fn rights(&self) -> CapabilitySet {
        let all = self.sockets.iter().map(|socket| socket.rights());
        all.fold(CapabilitySet::empty(), CapabilitySet::union)
    }

    fn set_peers(&mut self, own: u32, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        let ours = self.sockets.len();
        for (number, socket) in self.sockets.iter_mut().enumerate() {
            let at_it = (0..).zip(&peers).map(|(host, peer)| match peer {
                None => Ok(None),
                Some(peer) if peer.interfaces() == ours => Ok(peer.of_interface(number)),
                Some(peer) => Err(unequal(host, own, peer, ours)),
            });
            socket.set_peers(own, at_it.collect::<Result<_, _>>()?)?;
        }
        let paths = (0_u32..).zip(&peers).map(|(host, peer)| {
            let seed = u64::from(own) << 32 | u64::from(host);
            peer.map(|_: Address| Paths::new(ours, seed))
        });
        self.paths = paths.collect();
        Ok(())
    }

    /// As [`FrameSocket::send`]. Frames for hosts on different paths need a call each.
    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        let now = clock();
        let mut sent = 0;
        while let Some(rest) = frames.get(sent..)
            && let Some((host, _)) = rest.first()
        {
            let Some(path) = self.choose(now, *host) else {
                return or_error(sent, SendError::Refused);
            };
            self.report_if_due(now, *host);
            let end = rest
                .iter()
                .position(|(other, _)| other != host && self.choose(now, *other) != Some(path));
            let run = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            match self.send_by(path, run) {
                Ok(count) if count >= run.len() => sent += count,
                Ok(count) => return Ok(sent + count),
                Err(SendError::Refused) => match self.send_otherwise(now, *host, run) {
                    Ok(count) => sent += count,
                    Err(error) => return or_error(sent, error),
                },
                Err(SendError::Full) => return or_error(sent, SendError::Full),
            }
        }
        Ok(sent)
    }

    fn is_empty(&self) -> bool {
        self.sockets.iter().all(|socket| socket.is_empty())
    }

    fn has_come(&self) -> bool {
        self.sockets.iter().any(|socket| socket.has_come())
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Received {
        let Self {
            sockets,
            paths,
            due,
            first,
            ..
        } = self;
        let mut received = Received::default();
        let mut reports = 0;
        let mut now = None;
        let count = sockets.len();
        for turn in 0..count {
            let path = (*first + turn) % count;
            let Some(socket) = sockets.get_mut(path) else {
                continue;
            };
            let come = socket.receive(&mut |came, bytes| {
                let host = came.host;
                let now = *now.get_or_insert_with(clock);
                let told = Report::parse(bytes);
                if let Some(Some(paths)) = paths.get_mut(host as usize) {
                    match told {
                        Some(report) => paths.told(now, path, report),
                        None => paths.heard(now, path),
                    }
                    due.extend(paths.report(now).map(|report| (host, report)));
                }
                match told {
                    Some(_) => reports += 1,
                    None => take(came, bytes),
                }
            });
            received.frames += come.frames;
            received.strangers += come.strangers;
        }
        *first = (*first + 1) % count;
        received.frames -= reports;
        while let Some((host, report)) = self.due.pop() {
            self.report(host, report);
        }
        received
    }

    fn stranger(&mut self) -> Option<&mut [u8]> {
        let mut all = self.sockets.iter_mut().enumerate();
        let (at, frame) = all.find_map(|(at, socket)| Some((at, socket.stranger()?)))?;
        self.strange = at;
        Some(frame)
    }

    /// The address at the first interface is the one for calls.
    fn has_moved(&mut self, host: u32) -> Option<IpAddr> {
        let moved = self.sockets.get_mut(self.strange)?.has_moved(host);
        moved.filter(|_| self.strange == 0)
    }

    fn follow(&mut self) {
        for socket in &mut self.sockets {
            socket.follow();
        }
        self.watch_moved();
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let all = self.sockets.iter().flat_map(|socket| socket.fds());
        all.chain([self.readable.as_fd()]).collect()
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }

    fn system_socket(&self) -> BorrowedFd<'_> {
        let first = self.sockets.first();
        first.map_or(self.fd(), |socket| socket.system_socket())
    }
}

/// If frames were sent before the error, their number counts.
const fn or_error(sent: usize, error: SendError) -> Result<usize, SendError> {
    match sent {
        0 => Err(error),
        sent => Ok(sent),
    }
}

fn readable_with_any(sockets: &[Socket]) -> rustix::io::Result<OwnedFd> {
    let any = epoll::create(epoll::CreateFlags::CLOEXEC)?;
    for socket in sockets {
        watch(&any, socket)?;
    }
    Ok(any)
}

fn watch(any: &OwnedFd, socket: &Socket) -> rustix::io::Result<()> {
    let nothing = epoll::EventData::new_u64(0);
    epoll::add(any, socket.fd(), nothing, epoll::EventFlags::IN)
}

fn clock() -> Ns {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Counted from when the machine started: neither negative nor near the end.
    Ns((now.tv_sec as u64).saturating_mul(1_000_000_000) + now.tv_nsec as u64)
}
