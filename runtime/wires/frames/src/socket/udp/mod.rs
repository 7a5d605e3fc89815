//! Frames as UDP datagrams: one frame per datagram, nothing else in it.
//!
//! Many datagrams go through the kernel together, if there are many. Sent ones are split
//! late ([`sender`]), and received ones are coalesced early ([`receiver`]), so that most of
//! the cost per message arises only once. The datagrams on the cable are the same either
//! way.

mod marks;
mod path;
pub(crate) mod receiver;
mod runs;
mod sender;
#[cfg(test)]
mod tests;

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use hostwire_transport::error::{PeId, TransportError};
use rustix::net::{SocketAddrAny, sockopt};
use rustix::thread::CapabilitySet;

use self::receiver::{Frames, Receiver};
use self::sender::{Sender, give};
use super::super::address::Address;
use super::super::option;
use super::following::Following;
use super::known::Known;
use super::stranger::Stranger;
use super::{BATCH_FRAMES, Came, FRAME_LEN_MAX, FrameSocket, Received, SendError, Take, mixed};

/// The requested size; the kernel may give less.
const BUFFER_BYTES: usize = 8 << 20;
/// Headers of IP and UDP.
const HEADER_V4_BYTES: usize = 20 + 8;
const HEADER_V6_BYTES: usize = 40 + 8;

/// Whether many datagrams go through the kernel as one message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offload {
    /// Sent ones, by `UDP_SEGMENT`: since Linux 4.18.
    pub sending: bool,
    /// Received ones, by `UDP_GRO`: since Linux 5.0.
    pub receiving: bool,
}

/// A UDP port.
#[derive(Debug)]
pub struct FramePort {
    socket: UdpSocket,
    address: SocketAddr,
    /// Longest packet that frames are made for.
    mtu_bytes: usize,
    peers: Vec<Option<SocketAddrAny>>,
    known: Known<SocketAddr>,
    stranger: Stranger<SocketAddr>,
    following: Following,
    sender: Sender,
    receiver: Receiver,
    /// Whether the last look for messages has found one.
    streams: bool,
}

impl FramePort {
    /// A free port of `address`, which belongs to this host.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn open(address: IpAddr) -> Result<Self, TransportError> {
        let failed = |what: &str, cause: std::io::Error| {
            TransportError::environment(format!("{what} a UDP port of {address}"), cause)
        };
        let following = Following::new(address);
        let socket = UdpSocket::bind((address, 0)).map_err(|e| failed("opening", e))?;
        let address = socket.local_addr().map_err(|e| failed("naming", e))?;
        set_up(&socket).map_err(|e| failed("setting up", e))?;
        Ok(Self {
            sender: Sender::new(&socket, header_bytes(&address)),
            receiver: Receiver::new(&socket),
            socket,
            address,
            mtu_bytes: path::MTU_BYTES,
            peers: Vec::new(),
            known: Known::default(),
            stranger: Stranger::default(),
            following,
            streams: false,
        })
    }

    /// Takes the place of a socket whose address has gone. The port is the same, if it is free.
    fn take(&mut self, address: IpAddr) -> std::io::Result<()> {
        let port = self.address.port();
        let socket = UdpSocket::bind((address, port)).or_else(|_| UdpSocket::bind((address, 0)))?;
        set_up(&socket)?;
        self.address = socket.local_addr()?;
        self.sender = Sender::new(&socket, header_bytes(&self.address));
        self.receiver = Receiver::new(&socket);
        self.socket = socket;
        self.following.has_moved();
        Ok(())
    }

    /// The meaning of an error. An address that has gone is one that the system refuses.
    #[cold]
    fn refused(&mut self, error: &std::io::Error) -> SendError {
        let error = SendError::of(error);
        if error == SendError::Refused {
            self.follow();
        }
        error
    }

    /// Which offloads the kernel does.
    pub fn offload(&self) -> Offload {
        Offload {
            sending: self.sender.is_offloaded(),
            receiving: self.receiver.is_offloaded,
        }
    }
}

impl FrameSocket for FramePort {
    fn address(&self) -> Address {
        Address::Udp(self.address)
    }

    fn frame_len_max(&self) -> usize {
        self.mtu_bytes - self.header_bytes()
    }

    fn header_bytes(&self) -> usize {
        header_bytes(&self.address)
    }

    fn joins_frames(&self) -> bool {
        self.offload().sending
    }

    fn frames_max(&self) -> usize {
        let buffer_bytes = sockopt::socket_recv_buffer_size(&self.socket).unwrap_or(0);
        buffer_bytes / path::truesize_bytes(self.mtu_bytes)
    }

    fn rights(&self) -> CapabilitySet {
        CapabilitySet::empty()
    }

    fn set_peers(&mut self, own: PeId, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        self.peers.clear();
        self.known = Known::default();
        for (pe, peer) in (0..).zip(&peers) {
            self.peers.push(match peer {
                None => None,
                Some(Address::Udp(port)) => {
                    self.known.add(*port, pe);
                    Some(SocketAddrAny::from(*port))
                }
                Some(other) => return Err(mixed(pe, own, other, "UDP")),
            });
        }
        let mtu_bytes = path::mtu_bytes(self.address.ip(), self.known.senders());
        self.mtu_bytes = mtu_bytes.min(FRAME_LEN_MAX);
        Ok(())
    }

    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        let Self {
            socket,
            peers,
            sender,
            ..
        } = self;
        if let [(pe, frame)] = frames {
            // The most frequent case.
            let sent = sender::give_one(socket, peers, *pe, frame);
            return sent.map_err(|error| self.refused(&error));
        }
        let sent = sender.send(frames, |runs| give(socket, peers, runs));
        if sent == Err(SendError::Refused) {
            self.follow();
        }
        sent
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Received {
        let mut received = Received::default();
        let mut looks_on = true;
        while looks_on && received.all() < BATCH_FRAMES {
            // No message, or an error about a dead peer, which the link finds out itself.
            let Ok((from, is_marked, frames)) = self.receiver.next(&self.socket) else {
                break;
            };
            let before = received.all();
            if let Some(host) = from.and_then(|from| self.known.find(from)) {
                for frame in frames {
                    received.frames += 1;
                    take(Came { host, is_marked }, frame);
                }
            } else {
                received.strangers += keep_first(&mut self.stranger, from, frames);
            }
            // A single message after silence has no successor, and each look costs time.
            looks_on = self.streams || received.all() > before + 1;
        }
        self.streams = received.all() > 0;
        received
    }

    fn stranger(&mut self) -> Option<&mut [u8]> {
        self.stranger.frame()
    }

    fn has_moved(&mut self, host: u32) -> Option<IpAddr> {
        let sender = self.stranger.take_sender()?;
        let place = self.peers.get_mut(host as usize)?.as_mut()?;
        *place = SocketAddrAny::from(sender);
        self.known.has_moved(host, sender);
        Some(sender.ip())
    }

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
        vec![self.socket.as_fd()]
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Counts the frames of an unknown sender, and keeps the first.
#[cold]
fn keep_first(
    stranger: &mut Stranger<SocketAddr>,
    from: Option<SocketAddr>,
    mut frames: Frames<'_>,
) -> usize {
    let Some(first) = frames.next() else {
        return 0;
    };
    if let Some(from) = from {
        stranger.keep(from, first);
    }
    1 + frames.count()
}

fn set_up(socket: &UdpSocket) -> std::io::Result<()> {
    socket.set_nonblocking(true)?;
    dont_fragment(socket)?;
    marks::ask_for(socket)?;
    // Exceeds the limit of the system where that is allowed.
    if sockopt::set_socket_recv_buffer_size_force(socket, BUFFER_BYTES).is_err() {
        sockopt::set_socket_recv_buffer_size(socket, BUFFER_BYTES)?;
    }
    Ok(sockopt::set_socket_send_buffer_size(socket, BUFFER_BYTES)?)
}

fn header_bytes(address: &SocketAddr) -> usize {
    match address {
        SocketAddr::V4(_) => HEADER_V4_BYTES,
        SocketAddr::V6(_) => HEADER_V6_BYTES,
    }
}

/// Turns fragmentation off. A datagram that is too long for the path is refused or lost; the
/// link notices this and sends shorter frames. Fragments would be lost more often than whole
/// datagrams.
fn dont_fragment(socket: &UdpSocket) -> std::io::Result<()> {
    let (level, name, value) = match socket.local_addr()? {
        SocketAddr::V4(_) => (
            libc::IPPROTO_IP,
            libc::IP_MTU_DISCOVER,
            libc::IP_PMTUDISC_DO,
        ),
        SocketAddr::V6(_) => (
            libc::IPPROTO_IPV6,
            libc::IPV6_MTU_DISCOVER,
            libc::IPV6_PMTUDISC_DO,
        ),
    };
    // SAFETY: both options read an int.
    unsafe { option::set(socket, level, name, &value) }
}
