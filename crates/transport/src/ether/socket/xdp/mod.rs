//! Frames of an own EtherType through an AF_XDP socket in copy mode: they are taken off
//! the interface before the network stack sees them, into memory of this process.
//!
//! One socket has queue 0 of its interface, and so all frames of the EtherType: there can
//! be one endpoint per interface. Frames look as those of [`PacketSocket`](super::PacketSocket),
//! and the two kinds talk to each other.

mod program;
mod rings;

use std::collections::HashSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use hostwire_packet::htoe::ethernet::MacAddress;

use self::program::Program;
use self::rings::{Mapping, Ring};
use super::super::address::Address;
use super::super::interface::Interface;
use super::super::option;
use super::{BATCH_FRAMES, Received, SendError, mixed};
use crate::error::{EnvironmentFault, Limit, PeId, TransportError};

/// Of the frame memory: a page, which any frame fits that the kernel gives or takes whole, or
/// half of one, where frames are short enough.
const PLACE_BYTES_MAX: u64 = 4096;
/// What the kernel keeps free in front of a frame that comes (`XDP_PACKET_HEADROOM`).
const HEADROOM_BYTES: usize = 256;
const RECEIVE_PLACES: u32 = 1024;
const SEND_PLACES: u32 = 128;
const STATION_LEN: usize = 6;
const ETHERNET_LEN: usize = 14;
const QUEUE: u32 = 0;
/// The kernel lets go of a socket that was closed a moment later; who still has the queue
/// after this time, uses it.
const LETS_GO: Duration = Duration::from_secs(1);
const AGAIN: Duration = Duration::from_millis(5);

/// An AF_XDP socket of one interface and one EtherType.
#[derive(Debug)]
pub struct XdpSocket {
    // Before the memory that it uses.
    socket: OwnedFd,
    program: Program,
    memory: Mapping,
    fill: Ring<u64>,
    received: Ring<libc::xdp_desc>,
    sending: Ring<libc::xdp_desc>,
    sent: Ring<u64>,
    /// Places for frames to be sent.
    free: Vec<u64>,
    place_bytes: u64,
    interface: Interface,
    ether_type: u16,
    peers: Vec<Option<MacAddress>>,
    known: HashSet<MacAddress>,
    /// One of those: frames come in runs.
    last: Option<MacAddress>,
}

// SAFETY: the memory belongs to this value alone, and only `&mut self` reads or writes it.
unsafe impl Send for XdpSocket {}

impl XdpSocket {
    /// Opens one for frames of `ether_type` at `interface`.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: [`EnvironmentFault::NotPermitted`] without the rights
    /// (CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF), [`EnvironmentFault::InUse`] if somebody else
    /// has the queue or an XDP program there.
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
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe { libc::socket(libc::AF_XDP, libc::SOCK_RAW | libc::SOCK_CLOEXEC, 0) };
        if fd == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh descriptor that nobody else knows.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        let place_bytes = place_bytes(interface.mtu_bytes);
        let places = u64::from(RECEIVE_PLACES + SEND_PLACES);
        let memory = Mapping::anonymous((places * place_bytes) as usize)?;
        let registration = libc::xdp_umem_reg {
            addr: memory.address(),
            len: places * place_bytes,
            chunk_size: place_bytes as u32,
            headroom: 0,
            flags: 0,
            tx_metadata_len: 0,
        };
        // SAFETY: it reads an `xdp_umem_reg`; the memory that it names is mapped until the
        // socket is closed.
        unsafe { option::set(&socket, libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)? };
        for (ring, entries) in [
            (libc::XDP_UMEM_FILL_RING, RECEIVE_PLACES),
            (libc::XDP_UMEM_COMPLETION_RING, SEND_PLACES),
            (libc::XDP_RX_RING, RECEIVE_PLACES),
            (libc::XDP_TX_RING, SEND_PLACES),
        ] {
            // SAFETY: each of them reads a number of 32 bits.
            unsafe { option::set(&socket, libc::SOL_XDP, ring, &entries)? };
        }
        let at = offsets(&socket)?;
        let fd = socket.as_fd();
        let mut fill = Ring::map(fd, libc::XDP_UMEM_PGOFF_FILL_RING, &at.fr, RECEIVE_PLACES)?;
        let completion = libc::XDP_UMEM_PGOFF_COMPLETION_RING;
        let sent = Ring::map(fd, completion, &at.cr, SEND_PLACES)?;
        let receive_page = libc::XDP_PGOFF_RX_RING as u64;
        let received = Ring::map(fd, receive_page, &at.rx, RECEIVE_PLACES)?;
        let send_page = libc::XDP_PGOFF_TX_RING as u64;
        let sending = Ring::map(fd, send_page, &at.tx, SEND_PLACES)?;
        for place in 0..u64::from(RECEIVE_PLACES) {
            fill.put(place * place_bytes);
        }
        let program = Program::attach(interface.index, ether_type, QUEUE + 1)?;
        bind(&socket, interface.index)?;
        program.add(QUEUE, socket.as_fd())?;
        Ok(Self {
            socket,
            program,
            memory,
            fill,
            received,
            sending,
            sent,
            free: (u64::from(RECEIVE_PLACES)..places)
                .map(|place| place * place_bytes)
                .collect(),
            place_bytes,
            interface: interface.clone(),
            ether_type,
            peers: Vec::new(),
            known: HashSet::new(),
            last: None,
        })
    }

    pub(super) fn address(&self) -> Address {
        Address::Station(self.interface.station)
    }

    pub(super) fn frame_len_max(&self) -> usize {
        self.interface.mtu_bytes.min(frame_len_in(self.place_bytes))
    }

    pub(super) fn frames_max(&self) -> usize {
        RECEIVE_PLACES as usize
    }

    pub(super) fn set_peers(
        &mut self,
        own: PeId,
        peers: Vec<Option<Address>>,
    ) -> Result<(), TransportError> {
        let stations = (0..).zip(&peers).map(|(pe, peer)| match peer {
            None => Ok(None),
            Some(Address::Station(station)) => Ok(Some(*station)),
            Some(other) => Err(mixed(pe, own, other, "bare Ethernet")),
        });
        self.peers = stations.collect::<Result<_, _>>()?;
        self.known = self.peers.iter().flatten().copied().collect();
        Ok(())
    }

    pub(super) fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        while let Some(place) = self.sent.take() {
            self.free.push(place);
        }
        let mut put = 0;
        for (pe, frame) in frames {
            let Some(peer) = self.peers.get(*pe as usize).copied().flatten() else {
                break;
            };
            let Some(place) = self.free.pop() else {
                break;
            };
            let len = ETHERNET_LEN + frame.len();
            let fits = frame.len() <= self.frame_len_max();
            // SAFETY: a place of those to be sent that the kernel has given back, or never
            // had; nobody else uses it.
            let bytes = unsafe { self.memory.bytes(place, len) }.filter(|_| fits);
            let Some(bytes) = bytes else {
                self.free.push(place);
                break;
            };
            let (head, body) = bytes.split_at_mut(ETHERNET_LEN);
            let (to, head) = head.split_at_mut(STATION_LEN);
            let (from, kind) = head.split_at_mut(STATION_LEN);
            to.copy_from_slice(&peer.0);
            from.copy_from_slice(&self.interface.station.0);
            kind.copy_from_slice(&self.ether_type.to_be_bytes());
            body.copy_from_slice(frame);
            let entry = libc::xdp_desc {
                addr: place,
                len: len as u32,
                options: 0,
            };
            if !self.sending.put(entry) {
                self.free.push(place);
                break;
            }
            put += 1;
        }
        // What the kernel does not take now it takes at the next call.
        // SAFETY: no pointers but null ones with length 0.
        unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                core::ptr::null(),
                0,
                libc::MSG_DONTWAIT,
                core::ptr::null(),
                0,
            )
        };
        match (put, frames.first()) {
            (0, Some((pe, frame)))
                if frame.len() > self.frame_len_max()
                    || self.peers.get(*pe as usize).copied().flatten().is_none() =>
            {
                Err(SendError::Refused)
            }
            (0, Some(_)) => Err(SendError::Full),
            (put, _) => Ok(put),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.received.is_empty()
    }

    pub(super) fn receive(&mut self, take: &mut dyn FnMut(&mut [u8])) -> Received {
        let mut received = Received::default();
        let Self { known, last, .. } = self;
        for _ in 0..BATCH_FRAMES {
            let Some(entry) = self.received.take() else {
                break;
            };
            // SAFETY: a place that the kernel has filled and given to this process; it is
            // given back below, after the last use.
            let bytes = unsafe { self.memory.bytes(entry.addr, entry.len as usize) };
            let frame = bytes.and_then(|bytes| bytes.split_at_mut_checked(ETHERNET_LEN));
            let from = frame.as_ref().and_then(|(head, _)| {
                let from = head.get(STATION_LEN..)?.first_chunk()?;
                Some(MacAddress(*from))
            });
            match (frame, from) {
                (Some((_, frame)), Some(from)) if Some(from) == *last || known.contains(&from) => {
                    *last = Some(from);
                    received.frames += 1;
                    take(frame);
                }
                _ => received.strangers += 1,
            }
            // As many entries as places: there is room.
            self.fill.put(entry.addr - entry.addr % self.place_bytes);
        }
        received
    }

    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        let mut fds = vec![self.socket.as_fd()];
        fds.extend(self.program.fds());
        fds
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Longest frame in a place, without Ethernet header.
const fn frame_len_in(place_bytes: u64) -> usize {
    place_bytes as usize - HEADROOM_BYTES - ETHERNET_LEN
}

/// As short as frames of `mtu_bytes` allow: so twice as many stay in the cache.
fn place_bytes(mtu_bytes: usize) -> u64 {
    let half = PLACE_BYTES_MAX / 2;
    match mtu_bytes <= frame_len_in(half) {
        true => half,
        false => PLACE_BYTES_MAX,
    }
}

fn offsets(socket: &OwnedFd) -> io::Result<libc::xdp_mmap_offsets> {
    // SAFETY: all-zero bytes are an `xdp_mmap_offsets`.
    let mut offsets: libc::xdp_mmap_offsets = unsafe { core::mem::zeroed() };
    let mut len = size_of::<libc::xdp_mmap_offsets>() as libc::socklen_t;
    // SAFETY: writes at most `len` bytes to `offsets`, and the length, both of which outlive
    // the call.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_XDP,
            libc::XDP_MMAP_OFFSETS,
            (&raw mut offsets).cast(),
            &raw mut len,
        )
    };
    match done {
        0 if len as usize == size_of::<libc::xdp_mmap_offsets>() => Ok(offsets),
        0 => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn bind(socket: &OwnedFd, interface: u32) -> io::Result<()> {
    let address = libc::sockaddr_xdp {
        sxdp_family: libc::AF_XDP as u16,
        sxdp_flags: libc::XDP_COPY,
        sxdp_ifindex: interface,
        sxdp_queue_id: QUEUE,
        sxdp_shared_umem_fd: 0,
    };
    // SAFETY: reads `address`, which outlives the call, with its length.
    let done = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_xdp>() as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
