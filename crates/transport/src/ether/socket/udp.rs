//! Frames as UDP datagrams: one frame per datagram, nothing else in it.

use std::collections::HashSet;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::net::sockopt;

use super::super::address::Address;
use super::super::option;
use super::{BATCH_FRAMES, Received, SendError, mixed};
use crate::error::TransportError;

/// Bytes of kernel memory that a full frame takes in a receive buffer: what the kernel
/// counts for a datagram of 1500 bytes.
const TRUESIZE_BYTES: usize = 2304;
/// Asked for; the kernel gives what it may.
const BUFFER_BYTES: usize = 8 << 20;
/// Headers of IP and UDP.
const HEADER_V4_BYTES: usize = 20 + 8;
const HEADER_V6_BYTES: usize = 40 + 8;
/// Longest frame over IPv4 and IPv6 with an MTU of 1500.
const FRAME_LEN_V4: usize = 1500 - HEADER_V4_BYTES;
const FRAME_LEN_V6: usize = 1500 - HEADER_V6_BYTES;

/// A UDP port.
#[derive(Debug)]
pub struct FramePort {
    socket: UdpSocket,
    address: SocketAddr,
    peers: Vec<Option<SocketAddr>>,
    known: HashSet<SocketAddr>,
    buffer: Box<[u8]>,
}

impl FramePort {
    /// A free port of `address`, one of this host's.
    ///
    /// # Errors
    /// [`TransportError::Environment`].
    pub fn open(address: IpAddr) -> Result<Self, TransportError> {
        let failed = |what: &str, cause: std::io::Error| {
            TransportError::environment(format!("{what} a UDP port of {address}"), cause)
        };
        let socket = UdpSocket::bind((address, 0)).map_err(|e| failed("opening", e))?;
        let address = socket.local_addr().map_err(|e| failed("naming", e))?;
        let set_up = || -> std::io::Result<()> {
            socket.set_nonblocking(true)?;
            dont_fragment(&socket)?;
            // Beyond the limit of the system where that is allowed.
            if sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER_BYTES).is_err() {
                sockopt::set_socket_recv_buffer_size(&socket, BUFFER_BYTES)?;
            }
            Ok(sockopt::set_socket_send_buffer_size(&socket, BUFFER_BYTES)?)
        };
        set_up().map_err(|e| failed("setting up", e))?;
        Ok(Self {
            socket,
            address,
            peers: Vec::new(),
            known: HashSet::new(),
            // One byte more than any frame, so that a longer datagram shows.
            buffer: vec![0; FRAME_LEN_V4 + 1].into(),
        })
    }

    pub(super) fn address(&self) -> Address {
        Address::Udp(self.address)
    }

    pub(super) fn frame_len_max(&self) -> usize {
        match self.address {
            SocketAddr::V4(_) => FRAME_LEN_V4,
            SocketAddr::V6(_) => FRAME_LEN_V6,
        }
    }

    pub(super) fn header_bytes(&self) -> usize {
        match self.address {
            SocketAddr::V4(_) => HEADER_V4_BYTES,
            SocketAddr::V6(_) => HEADER_V6_BYTES,
        }
    }

    pub(super) fn frames_max(&self) -> usize {
        sockopt::socket_recv_buffer_size(&self.socket).unwrap_or(0) / TRUESIZE_BYTES
    }

    pub(super) fn set_peers(&mut self, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        let ports = peers.iter().enumerate().map(|(pe, peer)| match peer {
            None => Ok(None),
            Some(Address::Udp(port)) => Ok(Some(*port)),
            Some(other) => Err(mixed(pe, other, "UDP")),
        });
        self.peers = ports.collect::<Result<_, _>>()?;
        self.known = self.peers.iter().flatten().copied().collect();
        Ok(())
    }

    pub(super) fn send(&self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        for (sent, (pe, frame)) in frames.iter().enumerate() {
            let port = self.peers.get(*pe as usize).copied().flatten();
            let left = match port {
                Some(port) => self.socket.send_to(frame, port).map(drop),
                None => Err(std::io::ErrorKind::NotFound.into()),
            };
            match left {
                Ok(()) => {}
                Err(error) if sent == 0 => return Err(SendError::of(&error)),
                Err(_) => return Ok(sent),
            }
        }
        Ok(frames.len())
    }

    pub(super) fn receive(&mut self, take: &mut dyn FnMut(&mut [u8])) -> Received {
        let mut received = Received::default();
        for _ in 0..BATCH_FRAMES {
            // Nothing there, or news of a peer that is gone, which the link finds out.
            let Ok((len, from)) = self.socket.recv_from(&mut self.buffer) else {
                break;
            };
            match self.buffer.get_mut(..len) {
                Some(frame) if self.known.contains(&from) => {
                    received.frames += 1;
                    take(frame);
                }
                _ => received.strangers += 1,
            }
        }
        received
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// A datagram longer than the path takes is refused or lost, which the link notices and
/// sends shorter frames; pieces of it would be lost more often than the whole.
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

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::{Duration, Instant};

    use hostwire_packet::htoe::ethernet::MacAddress;

    use super::*;

    fn port() -> FramePort {
        FramePort::open(Ipv4Addr::LOCALHOST.into()).unwrap()
    }

    #[test]
    fn frames_of_strangers_are_counted_and_dropped() {
        let (mut a, mut b, mut stranger) = (port(), port(), port());
        a.set_peers(vec![None, Some(b.address())]).unwrap();
        b.set_peers(vec![Some(a.address()), None]).unwrap();
        stranger.set_peers(vec![None, Some(b.address())]).unwrap();
        assert_eq!(stranger.send(&[(1, b"stranger")]), Ok(1));
        // All up to the first that is for nobody.
        assert_eq!(a.send(&[(1, b"frame"), (1, b""), (0, b"x")]), Ok(2));
        assert_eq!(a.send(&[(2, b"x")]), Err(SendError::Refused));
        let mut got = Vec::new();
        let mut all = Received::default();
        let begin = Instant::now();
        while all.frames + all.strangers < 3 && begin.elapsed() < Duration::from_secs(30) {
            let received = b.receive(&mut |frame| got.push(frame.to_vec()));
            all.frames += received.frames;
            all.strangers += received.strangers;
        }
        assert_eq!(got, [b"frame".to_vec(), Vec::new()]);
        assert_eq!((all.frames, all.strangers), (2, 1));
    }

    #[test]
    fn a_peer_that_speaks_otherwise_is_named() {
        let station = Address::Station(MacAddress([2; 6]));
        let error = port().set_peers(vec![None, Some(station)]).unwrap_err();
        assert!(
            error.to_string().contains("PE 1 is at ether=02:02"),
            "{error}"
        );
    }
}
