//! Frames of an own EtherType for an endpoint that is one of many at its interface.
//!
//! The contents of frames distinguish endpoints of one job. Stations know nothing about each other. So
//! each draws a port at its interface, and frames have a head with the ports of both:
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0 to 3 | mark | no frame of a job begins so, and its filter drops it |
//! | 4 to 7 | to | port, big-endian |
//! | 8 to 11 | from | port, big-endian |
//!
//! If two draw the same port at one network station (one in four thousand million), they get each other's
//! frames, but cannot open them.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::os::random;
use rustix::thread::CapabilitySet;

use super::super::address::{Address, PortAt};
use super::super::interface::Interface;
use super::bare::{self, station};
use super::filter::Only;
use super::known::Known;
use super::ring::{Ring, receive};
use super::stranger::Stranger;
use super::{FRAME_LEN_MAX, FrameSocket, Received, SendError, Take, mixed};

/// A version that does not exist, and a virtual link that no host of a job has.
pub(super) const MARK: [u8; 4] = [0xf1, b's', 0xff, 0xff];
/// The offset of the port to which a frame goes.
pub(super) const TO: usize = MARK.len();
const HEAD_BYTES: usize = TO + 2 * size_of::<u32>();

type Head = [u8; HEAD_BYTES];

fn head(to: u32, from: u32) -> Head {
    let mut head = [0; HEAD_BYTES];
    let (mark, ports) = head.split_at_mut(TO);
    mark.copy_from_slice(&MARK);
    for (place, port) in ports.chunks_exact_mut(size_of::<u32>()).zip([to, from]) {
        place.copy_from_slice(&port.to_be_bytes());
    }
    head
}

/// The port from which a frame comes, and the bytes after its head.
fn split(frame: &mut [u8]) -> Option<(u32, &mut [u8])> {
    let (head, rest) = frame.split_first_chunk_mut::<HEAD_BYTES>()?;
    let from = head.last_chunk().copied().map(u32::from_be_bytes)?;
    Some((from, rest))
}

#[derive(Debug, Clone, Copy)]
struct Peer {
    station: libc::sockaddr_ll,
    head: Head,
}

/// A packet socket of one interface, one EtherType and one port.
#[derive(Debug)]
pub struct PortedSocket {
    socket: OwnedFd,
    ring: Ring,
    interface: Interface,
    ether_type: u16,
    port: u32,
    peers: Vec<Option<Peer>>,
    known: Known<(MacAddress, u32)>,
    stranger: Stranger<(MacAddress, u32)>,
}

impl PortedSocket {
    /// Opens one.
    ///
    /// # Errors
    /// As those of [`PacketSocket::open`](super::PacketSocket::open).
    pub fn open(interface: &Interface, ether_type: u16) -> Result<Self, TransportError> {
        let port = u32::from_ne_bytes(random()?);
        let (socket, ring) = bare::open(interface, ether_type, Some(Only::Port(port)))?;
        Ok(Self {
            socket,
            ring,
            interface: interface.clone(),
            ether_type,
            port,
            peers: Vec::new(),
            known: Known::default(),
            stranger: Stranger::default(),
        })
    }

    fn peer(&self, at: MacAddress, port: u32) -> Peer {
        Peer {
            station: station(self.interface.index, self.ether_type, at),
            head: head(port, self.port),
        }
    }
}

impl FrameSocket for PortedSocket {
    fn address(&self) -> Address {
        Address::StationPort(PortAt {
            station: self.interface.station,
            port: self.port,
        })
    }

    fn frame_len_max(&self) -> usize {
        self.interface.mtu_bytes.min(FRAME_LEN_MAX) - HEAD_BYTES
    }

    fn header_bytes(&self) -> usize {
        HEAD_BYTES
    }

    fn frames_max(&self) -> usize {
        self.ring.frames
    }

    fn rights(&self) -> CapabilitySet {
        CapabilitySet::NET_RAW
    }

    fn set_peers(&mut self, own: PeId, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        self.known = Known::default();
        self.peers.clear();
        for (pe, peer) in (0..).zip(&peers) {
            self.peers.push(match peer {
                None => None,
                Some(Address::StationPort(at)) => {
                    self.known.add((at.station, at.port), pe);
                    Some(self.peer(at.station, at.port))
                }
                Some(other) => return Err(mixed(pe, own, other, "bare Ethernet, by ports")),
            });
        }
        Ok(())
    }

    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        let addressed = frames.iter().map_while(|(pe, frame)| {
            let peer = self.peers.get(*pe as usize)?.as_ref()?;
            Some((&peer.station, [&peer.head, *frame]))
        });
        match bare::send_many(self.socket.as_fd(), addressed) {
            // The first frame has no peer.
            Ok(0) if !frames.is_empty() => Err(SendError::Refused),
            sent => sent,
        }
    }

    fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    fn has_come(&self) -> bool {
        !self.is_empty()
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Received {
        let known = &mut self.known;
        receive(
            &mut self.ring,
            &mut self.stranger,
            take,
            |station, frame| {
                let (port, frame) = split(frame)?;
                Some(((station, port), known.find((station, port)), frame))
            },
        )
    }

    fn stranger(&mut self) -> Option<&mut [u8]> {
        self.stranger.frame()
    }

    fn has_moved(&mut self, host: u32) -> Option<IpAddr> {
        let (station, port) = self.stranger.take_sender()?;
        let peer = self.peer(station, port);
        if let Some(place @ Some(_)) = self.peers.get_mut(host as usize) {
            *place = Some(peer);
            self.known.has_moved(host, (station, port));
        }
        None
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_have_both_ports() {
        let head = head(0x0102_0304, 0xa0b0_c0d0);
        let expected = [0xf1, 0x73, 0xff, 0xff, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0];
        assert_eq!(head, expected);
        let mut frame = [&head[..], &[7, 8]].concat();
        let (from, rest) = split(&mut frame).unwrap();
        assert_eq!((from, &*rest), (0xa0b0_c0d0, &[7, 8][..]));
        for len in 0..HEAD_BYTES {
            assert_eq!(split(&mut frame[..len]), None, "{len}");
        }
    }
}
