//! Frames over TCP: a connection to each peer, with frames one after another, each after its length
//! ([`framing`]).
//!
//! The kernel moves segments of 64 KiB, and computes checksums if the network adapter does not, so long frames
//! cost little. Nothing is lost while a connection lives. If one breaks, its frames are lost, and the links send
//! them again over the next one. Of two ports, the one with the lower address calls the other; one whose address has
//! changed calls all others.

mod dial;
pub(crate) mod framing;
mod peer;
mod rest;
mod stream;
#[cfg(test)]
mod tests;
mod unknown;

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_transport::error::{PeId, TransportError};
use rustix::event::{Timespec, epoll};
use rustix::thread::CapabilitySet;

use self::framing::FRAME_LEN_MAX;
use self::peer::{Look, Peer};
use self::stream::Stream;
use self::unknown::{UNKNOWN_MAX, Unknown};
use super::super::address::Address;
use super::super::tally::SocketCounters;
use super::following::Following;
use super::{BATCH_FRAMES, Came, FrameSocket, Received, SendError, Take, mixed};

/// Bytes of a stream that leave with one call: those of 15 full frames. The kernel makes packets of up to 64 KiB
/// of them, and a last shorter packet costs as much as a full one: 4 frames are just longer than a packet and
/// cost two. Fitted: more frames do not help.
pub(super) const PIECE_BYTES: usize = 15 * 255 * 64;
/// Bytes taken with one call: a few of the longest frames, which stay in the cache.
const BUFFER_BYTES: usize = 128 << 10;
/// Connections that are checked in a turn.
const EVENTS: usize = 64;
/// Checks of the only peer per check of all events.
const LOOKS: u32 = 16;
/// The number of the port itself among the events; hosts have their own numbers.
const LISTENER: u64 = u64::MAX;

/// A TCP port that is connected to those of all peers.
#[derive(Debug)]
pub struct StreamPort {
    listener: OwnedFd,
    address: SocketAddr,
    /// Becomes readable with any connection.
    readable: OwnedFd,
    /// By host.
    peers: Vec<Option<Peer>>,
    known: HashMap<SocketAddr, u32>,
    /// The only peer, if there is one.
    only: Option<u32>,
    /// Callers that are not known yet: they may be peers that this one will learn of soon.
    unknown: Unknown,
    following: Following,
    buffer: Box<[u8]>,
    looks: u32,
    /// Connections on which came something that is no frame.
    cut: u64,
}

impl StreamPort {
    /// A free port of `address`, which belongs to this host.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn open(address: IpAddr) -> Result<Self, TransportError> {
        let failed = |e: rustix::io::Errno| {
            let what = format!("opening a TCP port of {address}");
            TransportError::environment(what, std::io::Error::from(e))
        };
        let (listener, address) = dial::open(SocketAddr::new(address, 0)).map_err(failed)?;
        let readable = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(failed)?;
        watch_port(&readable, &listener).map_err(failed)?;
        Ok(Self {
            listener,
            address,
            readable,
            peers: Vec::new(),
            known: HashMap::new(),
            only: None,
            unknown: Unknown::default(),
            following: Following::new(address.ip()),
            buffer: vec![0; BUFFER_BYTES].into(),
            looks: 0,
            cut: 0,
        })
    }

    fn is_up(&self, host: u32) -> bool {
        let peer = self.peers.get(host as usize);
        peer.is_some_and(|peer| peer.as_ref().is_some_and(Peer::is_up))
    }

    fn receive_all(&mut self, take: &mut Take<'_>, received: &mut Received) {
        const NOW: Timespec = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        let mut events = [const { MaybeUninit::uninit() }; EVENTS];
        let Ok((events, _)) = epoll::wait(&self.readable, &mut events, Some(&NOW)) else {
            return;
        };
        for event in events {
            match event.data.u64() {
                LISTENER => self.answer(received),
                unknown::EVENT => received.strangers += 1,
                host => self.receive_from(host as u32, take, received),
            }
        }
    }

    fn receive_from(&mut self, host: u32, take: &mut Take<'_>, received: &mut Received) {
        let Some(Some(peer)) = self.peers.get_mut(host as usize) else {
            return;
        };
        let frames_max = received.frames + BATCH_FRAMES;
        loop {
            let look = peer.receive(&mut self.buffer, &self.readable, |frame| {
                received.frames += 1;
                take(Came::unmarked(host), frame);
            });
            match look {
                Look::More if received.frames < frames_max => {}
                Look::More | Look::Empty => break,
                Look::Cut => {
                    self.cut += 1;
                    break;
                }
            }
        }
    }

    /// Accepts those that have called.
    fn answer(&mut self, received: &mut Received) {
        for _ in 0..UNKNOWN_MAX {
            let Ok((socket, from)) = dial::called(&self.listener) else {
                break;
            };
            match from {
                Some(from) => received.strangers += usize::from(self.let_in(from, socket)),
                None => dial::cut(socket),
            }
        }
    }

    /// Returns whether another one had to go.
    fn let_in(&mut self, from: SocketAddr, socket: OwnedFd) -> bool {
        let host = self.known.get(&from).map(|host| *host as usize);
        if let Some(Some(peer)) = host.and_then(|host| self.peers.get_mut(host)) {
            peer.has_called(socket, &self.readable);
            return false;
        }
        self.unknown.come(from, socket, &self.readable)
    }

    /// Listens at another address, and calls all peers from there.
    fn take(&mut self, address: IpAddr) -> rustix::io::Result<()> {
        let at = |port| dial::open(SocketAddr::new(address, port));
        let (listener, address) = at(self.address.port()).or_else(|_| at(0))?;
        watch_port(&self.readable, &listener)?;
        (self.listener, self.address) = (listener, address);
        for peer in self.peers.iter_mut().flatten() {
            peer.call_from(address, &self.readable);
        }
        self.following.has_moved();
        Ok(())
    }
}

impl FrameSocket for StreamPort {
    fn counters(&self) -> SocketCounters {
        SocketCounters {
            cut: self.cut,
            ..SocketCounters::default()
        }
    }

    fn address(&self) -> Address {
        Address::Tcp(self.address)
    }

    fn frame_len_max(&self) -> usize {
        FRAME_LEN_MAX
    }

    fn loses_nothing(&self) -> bool {
        true
    }

    fn piece_bytes(&self) -> usize {
        PIECE_BYTES
    }

    /// TCP loses no frames.
    fn frames_max(&self) -> usize {
        usize::MAX
    }

    fn rights(&self) -> CapabilitySet {
        CapabilitySet::empty()
    }

    /// Keeps known peers, with their connections.
    fn set_peers(&mut self, own: PeId, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        let ports = (0..).zip(&peers).map(|(host, peer)| match peer {
            None => Ok(None),
            Some(Address::Tcp(port)) => Ok(Some(*port)),
            Some(other) => Err(mixed(host, own, other, "TCP")),
        });
        let ports: Vec<Option<SocketAddr>> = ports.collect::<Result<_, _>>()?;
        self.known.clear();
        self.peers.resize_with(ports.len(), || None);
        for ((host, place), port) in (0..).zip(&mut self.peers).zip(&ports) {
            if let Some(port) = port {
                self.known.entry(*port).or_insert(host);
            }
            if place.as_ref().map(Peer::given_address) != *port {
                let (own, readable) = (self.address, &self.readable);
                *place = port.map(|port| Peer::new(host, port, own, readable));
            }
        }
        let mut hosts = (0..).zip(&self.peers).filter(|(_, peer)| peer.is_some());
        self.only = match (hosts.next(), hosts.next()) {
            (Some((host, _)), None) => Some(host),
            _ => None,
        };
        for (from, socket) in self.unknown.take(&self.readable) {
            self.let_in(from, socket);
        }
        Ok(())
    }

    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        let mut sent = 0;
        while let Some(rest) = frames.get(sent..)
            && let Some((host, _)) = rest.first()
        {
            let end = rest.iter().position(|(other, _)| other != host);
            let run = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            let taken = match self.peers.get_mut(*host as usize) {
                Some(Some(peer)) => peer.send(run, &self.readable),
                _ => 0,
            };
            sent += taken;
            if taken < run.len() {
                break;
            }
        }
        match sent {
            0 if !frames.is_empty() => {
                self.follow();
                Err(SendError::Refused)
            }
            sent => Ok(sent),
        }
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Received {
        let mut received = Received::default();
        self.looks = self.looks.wrapping_add(1);
        match self.only {
            // The most frequent case: saves a call.
            Some(host) if self.is_up(host) && !self.looks.is_multiple_of(LOOKS) => {
                self.receive_from(host, take, &mut received);
            }
            _ => self.receive_all(take, &mut received),
        }
        received
    }

    fn stranger(&mut self) -> Option<&mut [u8]> {
        self.unknown.frame()
    }

    /// Its frame is still on the connection, and comes once more.
    fn has_moved(&mut self, host: u32) -> Option<IpAddr> {
        let (from, socket) = self.unknown.take_looked_at(&self.readable)?;
        let peer = self.peers.get_mut(host as usize)?.as_mut()?;
        self.known.retain(|_, known| *known != host);
        self.known.insert(from, host);
        peer.has_moved(from, socket, &self.readable);
        Some(from.ip())
    }

    #[cold]
    #[inline(never)]
    fn follow(&mut self) {
        if let Some(address) = self.following.instead_of(self.address.ip()) {
            // If it fails, it is tried again.
            let _ = self.take(address);
        }
    }

    fn moves(&self) -> u32 {
        self.following.moves()
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let streams = self.peers.iter().flatten().filter_map(Peer::stream);
        let all = streams.map(Stream::fd);
        all.chain(self.unknown.fds())
            .chain([self.listener.as_fd(), self.readable.as_fd()])
            .collect()
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }

    fn system_socket(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

fn watch_port(readable: &OwnedFd, listener: &OwnedFd) -> rustix::io::Result<()> {
    let called = epoll::EventData::new_u64(LISTENER);
    epoll::add(readable, listener, called, epoll::EventFlags::IN)
}
