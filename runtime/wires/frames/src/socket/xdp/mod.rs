//! Frames of an own EtherType through an AF_XDP socket in copy mode: they are taken off
//! the interface before the network stack sees them, into memory of this process.
//!
//! It has all receive queues of its interface, and so all frames of the EtherType: there can be only one
//! endpoint per interface. Its frames are the same as those of [`PacketSocket`](super::PacketSocket), so the
//! two kinds can communicate.

mod program;
mod queue;
mod queues;
mod rings;
#[cfg(test)]
mod tests;

use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{EnvironmentFault, Limit, PeId, TransportError};
use rustix::thread::CapabilitySet;

use self::program::Program;
use self::queues::{QUEUES_MAX, Queues};
use super::super::address::Address;
use super::super::interface::{Interface, QueueCounts};
use super::known::Known;
use super::{BATCH_FRAMES, Came, FrameSocket, Received, SendError, Take, mixed};

/// The size of a place in the frame memory: a page, which fits any frame that the kernel gives or takes whole,
/// or half a page, if frames are short enough.
const PLACE_BYTES_MAX: u64 = 4096;
/// Bytes that the kernel keeps free before a received frame (`XDP_PACKET_HEADROOM`).
const HEADROOM_BYTES: usize = 256;
const STATION_LEN: usize = 6;
const ETHERNET_LEN: usize = 14;
/// The kernel releases the queue some time after its socket was closed: more than a second if four programs
/// share a core. If the queue is still taken after this time, another process uses it.
const LETS_GO: Duration = Duration::from_secs(5);
const AGAIN: Duration = Duration::from_millis(5);

/// An AF_XDP socket of one interface and one EtherType. A forked process has it as well, and only one of the
/// two may use it.
#[derive(Debug)]
pub struct XdpSocket {
    // Declared first, so that it is closed before the program is detached.
    queues: Queues,
    program: Program,
    frame_len_max: usize,
    interface: Interface,
    ether_type: u16,
    peers: Vec<Option<MacAddress>>,
    known: Known<MacAddress>,
    /// Whether the interface took no frames at the last try.
    is_down: bool,
}

impl XdpSocket {
    /// Opens one for frames of `ether_type` at `interface`.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: [`EnvironmentFault::NotPermitted`] without the rights
    /// (CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF), [`EnvironmentFault::InUse`] if another process has the queue,
    /// or an XDP program is attached there.
    pub fn open(interface: &Interface, ether_type: u16) -> Result<Self, TransportError> {
        let begin = Instant::now();
        let opened = loop {
            match Self::try_open(interface, ether_type) {
                Err(e) if e.raw_os_error() == Some(libc::EBUSY) && begin.elapsed() < LETS_GO => {
                    std::thread::sleep(AGAIN);
                }
                opened => break opened,
            }
        };
        opened.map_err(|e| {
            let fault = match e.raw_os_error() {
                Some(libc::EPERM) => EnvironmentFault::NotPermitted {
                    rights: "CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF",
                    advice: "run as root, or use HOSTWIRE_WIRE=ether or udp",
                },
                Some(libc::EBUSY) => EnvironmentFault::InUse {
                    rule: "one job per interface can have one, and no other XDP program",
                },
                Some(libc::EAFNOSUPPORT) => EnvironmentFault::Unsupported {
                    missing: "this kernel has none",
                },
                Some(libc::ENOBUFS) => EnvironmentFault::Limit {
                    limit: Limit::LockedMemory,
                    detail: "no memory may be locked".into(),
                },
                _ => e.into(),
            };
            TransportError::environment(
                format!("opening an AF_XDP socket on {}", interface.name),
                fault,
            )
        })
    }

    fn try_open(interface: &Interface, ether_type: u16) -> io::Result<Self> {
        // A driver that does not give the number of queues is assumed to have one.
        let counts = interface.queues().unwrap_or(QueueCounts {
            receive: 1,
            transmit: 1,
        });
        let receive = counts.receive.clamp(1, QUEUES_MAX);
        let place_bytes = place_bytes(interface.mtu_bytes);
        let queues = Queues::open(receive, counts.transmit, place_bytes)?;
        let program = Program::attach(interface.index, ether_type, receive)?;
        queues.bind(interface.index, &program)?;
        Ok(Self {
            queues,
            frame_len_max: interface.mtu_bytes.min(frame_len_in(place_bytes)),
            program,
            interface: interface.clone(),
            ether_type,
            peers: Vec::new(),
            known: Known::default(),
            is_down: false,
        })
    }
}

impl FrameSocket for XdpSocket {
    fn address(&self) -> Address {
        Address::Station(self.interface.station)
    }

    fn frame_len_max(&self) -> usize {
        self.frame_len_max
    }

    fn frames_max(&self) -> usize {
        self.queues.frames_max()
    }

    fn rights(&self) -> CapabilitySet {
        CapabilitySet::NET_RAW | CapabilitySet::NET_ADMIN | CapabilitySet::BPF
    }

    fn set_peers(&mut self, own: PeId, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        let stations = (0..).zip(&peers).map(|(pe, peer)| match peer {
            None => Ok(None),
            Some(Address::Station(station)) => Ok(Some(*station)),
            Some(other) => Err(mixed(pe, own, other, "bare Ethernet")),
        });
        self.peers = stations.collect::<Result<_, _>>()?;
        self.known = Known::default();
        for (pe, peer) in (0..).zip(&self.peers) {
            if let Some(peer) = peer {
                self.known.add(*peer, pe);
            }
        }
        self.queues.send_as(own);
        Ok(())
    }

    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        let Some(queue) = self.queues.sending() else {
            return Err(SendError::Refused);
        };
        if self.is_down && queue.kick().is_err() {
            return Err(SendError::Refused);
        }
        queue.reclaim();
        let peer_of = |pe: u32| self.peers.get(pe as usize).copied().flatten();
        let mut put = 0;
        for (pe, frame) in frames {
            let Some(peer) = peer_of(*pe).filter(|_| frame.len() <= self.frame_len_max) else {
                break;
            };
            let is_put = queue.put(ETHERNET_LEN + frame.len(), |bytes| {
                let (head, body) = bytes.split_at_mut(ETHERNET_LEN);
                let (to, head) = head.split_at_mut(STATION_LEN);
                let (from, kind) = head.split_at_mut(STATION_LEN);
                to.copy_from_slice(&peer.0);
                from.copy_from_slice(&self.interface.station.0);
                kind.copy_from_slice(&self.ether_type.to_be_bytes());
                body.copy_from_slice(frame);
            });
            if !is_put {
                break;
            }
            put += 1;
        }
        self.is_down = queue.kick().is_err();
        match (put, frames.first()) {
            (0, Some((pe, frame)))
                if frame.len() > self.frame_len_max || peer_of(*pe).is_none() =>
            {
                Err(SendError::Refused)
            }
            (0, Some(_)) => Err(SendError::Full),
            (put, _) => Ok(put),
        }
    }

    fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    fn has_come(&self) -> bool {
        !self.is_empty()
    }

    fn receive(&mut self, take: &mut Take<'_>) -> Received {
        let mut received = Received::default();
        let known = &mut self.known;
        self.queues.receive(BATCH_FRAMES, |bytes| {
            let frame = bytes.and_then(|bytes| bytes.split_at_mut_checked(ETHERNET_LEN));
            let known_frame = frame.and_then(|(head, frame)| {
                let from = head.get(STATION_LEN..)?.first_chunk()?;
                Some((known.find(MacAddress(*from))?, frame))
            });
            match known_frame {
                Some((pe, frame)) => {
                    received.frames += 1;
                    take(Came::unmarked(pe), frame);
                }
                None => received.strangers += 1,
            }
        });
        received
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let mut fds = self.queues.fds();
        fds.extend(self.program.fds());
        fds
    }

    fn fd(&self) -> BorrowedFd<'_> {
        self.queues.fd()
    }

    fn system_socket(&self) -> BorrowedFd<'_> {
        self.queues.socket()
    }
}

/// Longest frame in a place, without Ethernet header.
const fn frame_len_in(place_bytes: u64) -> usize {
    place_bytes as usize - HEADROOM_BYTES - ETHERNET_LEN
}

/// As short as frames of `mtu_bytes` allow, so that twice as many stay in the cache.
fn place_bytes(mtu_bytes: usize) -> u64 {
    let half = PLACE_BYTES_MAX / 2;
    match mtu_bytes <= frame_len_in(half) {
        true => half,
        false => PLACE_BYTES_MAX,
    }
}
