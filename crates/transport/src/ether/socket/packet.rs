//! Frames of an own EtherType through a packet socket with a receive ring.
//!
//! The ring (`packet(7)`, version 2) is memory that the kernel fills: looking for a frame
//! is a load, and no frame is copied but by the packets in it.

use core::ptr::NonNull;
use core::sync::atomic::{AtomicU32, Ordering};
use std::collections::HashSet;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use hostwire_packet::htoe::ethernet::MacAddress;

use super::super::address::Address;
use super::super::interface::Interface;
use super::{BATCH_FRAMES, Received, filter, mixed};
use crate::error::TransportError;

/// Longest frame that is used, whatever the interface could take.
const FRAME_LEN_MAX: usize = 9000;
const RING_BYTES: usize = 8 << 20;
const BLOCK_BYTES: usize = 64 << 10;
const ALIGN_BYTES: usize = 16;
/// Where the kernel puts the sender of a frame.
const SENDER_AT: usize = size_of::<libc::tpacket2_hdr>().next_multiple_of(ALIGN_BYTES);
/// What may stand in front of the frame: both headers and a gap for a link-layer header.
const HEADROOM_BYTES: usize =
    (SENDER_AT + size_of::<libc::sockaddr_ll>() + 16).next_multiple_of(ALIGN_BYTES) + ALIGN_BYTES;

/// A packet socket of one interface and one EtherType.
#[derive(Debug)]
pub struct PacketSocket {
    socket: OwnedFd,
    ring: Ring,
    interface: Interface,
    ether_type: u16,
    links: Range<u32>,
    peers: Vec<Option<MacAddress>>,
    known: HashSet<MacAddress>,
}

impl PacketSocket {
    /// Opens one for PE `pe`, whose virtual links will have the numbers `links`, which no
    /// other PE of this host has.
    ///
    /// # Errors
    /// [`TransportError::Environment`]; without the right to open raw sockets
    /// (CAP_NET_RAW) with a text that says so.
    pub fn open(
        interface: &Interface,
        ether_type: u16,
        pe: u32,
        links: Range<u32>,
    ) -> Result<Self, TransportError> {
        let name = &interface.name;
        let failed = |what: &str, cause: io::Error| {
            TransportError::environment(format!("{what} a packet socket on {name}"), cause)
        };
        // No protocol yet: frames come once it is bound, behind the filter.
        // SAFETY: no pointers; the result is checked.
        let fd = unsafe {
            let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
            libc::socket(libc::AF_PACKET, kind, 0)
        };
        if fd == -1 {
            let cause = io::Error::last_os_error();
            return Err(match cause.raw_os_error() {
                Some(libc::EPERM) => TransportError::environment(
                    "opening a packet socket",
                    "not allowed without CAP_NET_RAW; run as root, give the program the \
                     capability, or use UDP (HOSTWIRE_WIRE=udp)",
                ),
                _ => failed("opening", cause),
            });
        }
        // SAFETY: a fresh descriptor that nobody else knows.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        filter::attach(socket.as_fd(), pe, &links)
            .map_err(|e| failed("attaching a filter to", e))?;
        let frame_len = interface.mtu_bytes.min(FRAME_LEN_MAX);
        let ring = Ring::new(socket.as_fd(), frame_len)
            .map_err(|e| failed("making the receive ring of", e))?;
        bind(
            &socket,
            &station(interface.index, ether_type, MacAddress([0; 6])),
        )
        .map_err(|e| failed("binding", e))?;
        Ok(Self {
            socket,
            ring,
            interface: interface.clone(),
            ether_type,
            links,
            peers: Vec::new(),
            known: HashSet::new(),
        })
    }

    pub(super) fn address(&self) -> Address {
        Address::Station(self.interface.station)
    }

    pub(super) fn frame_len_max(&self) -> usize {
        self.interface.mtu_bytes.min(FRAME_LEN_MAX)
    }

    pub(super) fn frames_max(&self) -> usize {
        self.ring.frames
    }

    pub(super) fn first_link(&self) -> u32 {
        self.links.start
    }

    pub(super) fn set_peers(&mut self, peers: Vec<Option<Address>>) -> Result<(), TransportError> {
        let stations = peers.iter().enumerate().map(|(pe, peer)| match peer {
            None => Ok(None),
            Some(Address::Station(station)) => Ok(Some(*station)),
            Some(other) => Err(mixed(pe, other, "bare Ethernet")),
        });
        self.peers = stations.collect::<Result<_, _>>()?;
        self.known = self.peers.iter().flatten().copied().collect();
        Ok(())
    }

    pub(super) fn send(&self, pe: u32, frame: &[u8]) -> bool {
        let Some(Some(peer)) = self.peers.get(pe as usize) else {
            return false;
        };
        let to = station(self.interface.index, self.ether_type, *peer);
        // SAFETY: reads `frame` and `to`, which outlive the call, each with its length.
        let sent = unsafe {
            libc::sendto(
                self.socket.as_raw_fd(),
                frame.as_ptr().cast(),
                frame.len(),
                libc::MSG_DONTWAIT,
                (&raw const to).cast(),
                size_of::<libc::sockaddr_ll>() as libc::socklen_t,
            )
        };
        usize::try_from(sent) == Ok(frame.len())
    }

    pub(super) fn receive(&mut self, take: &mut dyn FnMut(&mut [u8])) -> Received {
        let mut received = Received::default();
        let known = &self.known;
        for _ in 0..BATCH_FRAMES {
            let taken = self.ring.next(|from, frame| {
                if known.contains(&from) {
                    received.frames += 1;
                    take(frame);
                } else {
                    received.strangers += 1;
                }
            });
            if !taken {
                break;
            }
        }
        received
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn station(interface: u32, ether_type: u16, station: MacAddress) -> libc::sockaddr_ll {
    let mut address = [0; 8];
    let (front, _) = address.split_at_mut(station.0.len());
    front.copy_from_slice(&station.0);
    libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: ether_type.to_be(),
        sll_ifindex: interface as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: station.0.len() as u8,
        sll_addr: address,
    }
}

fn bind(socket: &OwnedFd, to: &libc::sockaddr_ll) -> io::Result<()> {
    // SAFETY: reads `to`, which outlives the call, with its length.
    let done = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const *to).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set_option<T>(socket: BorrowedFd<'_>, name: libc::c_int, value: &T) -> io::Result<()> {
    // SAFETY: reads `value`, which outlives the call, with its length.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            name,
            (&raw const *value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The receive ring: places of one size, each owned by the kernel or by this process, as
/// the first word of the place says.
#[derive(Debug)]
struct Ring {
    base: NonNull<u8>,
    place_bytes: usize,
    frames: usize,
    next: usize,
}

// SAFETY: the mapping belongs to this value alone, and only `&mut self` reads it.
unsafe impl Send for Ring {}

impl Ring {
    /// Of frames of up to `frame_len` bytes.
    fn new(socket: BorrowedFd<'_>, frame_len: usize) -> io::Result<Self> {
        set_option(
            socket,
            libc::PACKET_VERSION,
            &(libc::tpacket_versions::TPACKET_V2 as libc::c_int),
        )?;
        // Divides a block: a power of two, and frames are at most 9000 bytes long.
        let place_bytes = (HEADROOM_BYTES + frame_len).next_power_of_two().max(2048);
        let frames = RING_BYTES / place_bytes;
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES as u32,
            tp_block_nr: (RING_BYTES / BLOCK_BYTES) as u32,
            tp_frame_size: place_bytes as u32,
            tp_frame_nr: frames as u32,
        };
        set_option(socket, libc::PACKET_RX_RING, &request)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of
        // this process.
        let base = unsafe {
            rustix::mm::mmap(
                core::ptr::null_mut(),
                RING_BYTES,
                rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE,
                rustix::mm::MapFlags::SHARED,
                socket,
                0,
            )
        }?;
        let base = NonNull::new(base.cast()).ok_or(io::ErrorKind::OutOfMemory)?;
        Ok(Self {
            base,
            place_bytes,
            frames,
            next: 0,
        })
    }

    /// Shows the next frame and its sender to `take`, if there is one, and gives its place
    /// back to the kernel.
    fn next(&mut self, take: impl FnOnce(MacAddress, &mut [u8])) -> bool {
        // SAFETY: `next` is less than `frames`, and so many places are mapped.
        let place = unsafe { self.base.add(self.next * self.place_bytes) };
        // SAFETY: a place begins with this word, at a multiple of 2048 bytes; kernel and
        // process pass it back and forth by it, and only access it atomically.
        let status = unsafe { place.cast::<AtomicU32>().as_ref() };
        if status.load(Ordering::Acquire) & libc::TP_STATUS_USER == 0 {
            return false;
        }
        let len = self.place_bytes - size_of::<AtomicU32>();
        // SAFETY: a place is longer than that.
        let behind = unsafe { place.add(size_of::<AtomicU32>()) };
        // SAFETY: the place is this process's now: until it is given back below, nobody
        // else reads or writes it, so an exclusive reference to its bytes is sound. All of
        // it is mapped, and it begins behind the word that stays shared.
        let bytes = unsafe { core::slice::from_raw_parts_mut(behind.as_ptr(), len) };
        if let Some((from, frame)) = frame_in(bytes) {
            take(from, frame);
        }
        status.store(libc::TP_STATUS_KERNEL, Ordering::Release);
        self.next = (self.next + 1) % self.frames;
        true
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; no reference into it outlives `next`.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), RING_BYTES) };
    }
}

/// The sender and the bytes of the frame in a place, of which `bytes` are all but the
/// first word. `None` if the place makes no sense.
fn frame_in(bytes: &mut [u8]) -> Option<(MacAddress, &mut [u8])> {
    const STATUS_BYTES: usize = size_of::<u32>();
    // struct tpacket2_hdr: status, len, snaplen (u32), mac, net (u16).
    const SNAPLEN_AT: usize = 8 - STATUS_BYTES;
    const NET_AT: usize = 14 - STATUS_BYTES;
    // struct sockaddr_ll: the address is its last field, of 8 bytes.
    const STATION_AT: usize = SENDER_AT + 12 - STATUS_BYTES;
    let len = u32::from_ne_bytes(*bytes.get(SNAPLEN_AT..)?.first_chunk()?) as usize;
    let net = u16::from_ne_bytes(*bytes.get(NET_AT..)?.first_chunk()?);
    let station = MacAddress(*bytes.get(STATION_AT..)?.first_chunk()?);
    let start = usize::from(net).checked_sub(STATUS_BYTES)?;
    let frame = bytes.get_mut(start..)?.get_mut(..len)?;
    Some((station, frame))
}

const _: () = assert!(core::mem::offset_of!(libc::tpacket2_hdr, tp_snaplen) == 8);
const _: () = assert!(core::mem::offset_of!(libc::tpacket2_hdr, tp_net) == 14);
const _: () = assert!(core::mem::offset_of!(libc::sockaddr_ll, sll_addr) == 12);
