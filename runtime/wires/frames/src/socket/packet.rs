//! Frames of an own EtherType through a packet socket with a receive ring.

use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{PeId, TransportError};
use rustix::thread::CapabilitySet;

use super::super::address::Address;
use super::super::interface::Interface;
use super::bare::{self, station};
use super::filter::Only;
use super::known::Known;
use super::ring::{Ring, receive};
use super::stranger::Stranger;
use super::{FRAME_LEN_MAX, FrameSocket, Received, SendError, Take, mixed};

/// A packet socket of one interface and one EtherType.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    ring: Ring,
    interface: Interface,
    ether_type: u16,
    peers: Vec<Option<libc::sockaddr_ll>>,
    known: Known<MacAddress>,
    stranger: Stranger<MacAddress>,
}

impl PacketSocket {
    /// Opens one for the endpoint of host `host`, which has so many virtual links.
    ///
    /// # Errors
    /// [`TransportError::Environment`]; without the right to open raw sockets
    /// (CAP_NET_RAW) with a text that says so.
    pub fn open(
        interface: &Interface,
        ether_type: u16,
        host: u32,
        links: u32,
    ) -> Result<Self, TransportError> {
        let (socket, ring) = bare::open(interface, ether_type, Some(Only::Host { host, links }))?;
        Ok(Self {
            socket,
            ring,
            interface: interface.clone(),
            ether_type,
            peers: Vec::new(),
            known: Known::default(),
            stranger: Stranger::default(),
        })
    }
}

impl FrameSocket for PacketSocket {
    fn address(&self) -> Address {
        Address::Station(self.interface.station)
    }

    fn frame_len_max(&self) -> usize {
        self.interface.mtu_bytes.min(FRAME_LEN_MAX)
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
                Some(Address::Station(peer)) => {
                    self.known.add(*peer, pe);
                    Some(station(self.interface.index, self.ether_type, *peer))
                }
                Some(other) => return Err(mixed(pe, own, other, "bare Ethernet")),
            });
        }
        Ok(())
    }

    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        if let [(pe, frame)] = frames {
            let peer = self.peers.get(*pe as usize).and_then(Option::as_ref);
            return match peer {
                Some(peer) => bare::send_one(self.socket.as_fd(), peer, frame),
                None => Err(SendError::Refused),
            };
        }
        let addressed = frames.iter().map_while(|(pe, frame)| {
            let peer = self.peers.get(*pe as usize)?.as_ref()?;
            Some((peer, [*frame]))
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
        receive(&mut self.ring, &mut self.stranger, take, |from, frame| {
            Some((from, known.find(from), frame))
        })
    }

    fn stranger(&mut self) -> Option<&mut [u8]> {
        self.stranger.frame()
    }

    fn has_moved(&mut self, host: u32) -> Option<IpAddr> {
        if let Some(sender) = self.stranger.take_sender()
            && let Some(place @ Some(_)) = self.peers.get_mut(host as usize)
        {
            *place = Some(station(self.interface.index, self.ether_type, sender));
            self.known.has_moved(host, sender);
        }
        None
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
