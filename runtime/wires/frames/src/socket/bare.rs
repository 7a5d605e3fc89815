//! A packet socket with its receive ring. It knows nothing about the contents of frames.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::error::{EnvironmentFault, TransportError};

use super::super::interface::Interface;
use super::super::option;
use super::filter::{self, Only};
use super::ring::Ring;
use super::{FRAME_LEN_MAX, SEND_BATCH_FRAMES, SendError};

/// Sends to one peer and receives from all senders: for
/// [`limits`](hostwire_transport::limits).
#[derive(Debug)]
pub(crate) struct BareSocket {
    socket: OwnedFd,
    ring: Ring,
    peer: libc::sockaddr_ll,
}

impl BareSocket {
    pub(crate) fn open(
        interface: &Interface,
        ether_type: u16,
        peer: MacAddress,
    ) -> Result<Self, TransportError> {
        let (socket, ring) = open(interface, ether_type, None)?;
        Ok(Self {
            socket,
            ring,
            peer: station(interface.index, ether_type, peer),
        })
    }

    /// Sends frames from the first on. Returns how many have left.
    pub(crate) fn send(&self, frames: &[&[u8]]) -> usize {
        let frames = frames.iter().map(|frame| (&self.peer, [*frame]));
        send_many(self.socket.as_fd(), frames).unwrap_or(0)
    }

    /// Shows the next frame to `take`, if there is one.
    pub(crate) fn next(&mut self, take: &mut dyn FnMut(&[u8])) -> bool {
        self.ring.next(|_, frame| take(frame))
    }
}

/// Opens a socket for the frames of `ether_type` that come to `interface`: all of them,
/// or those for one endpoint.
pub(super) fn open(
    interface: &Interface,
    ether_type: u16,
    only: Option<Only>,
) -> Result<(OwnedFd, Ring), TransportError> {
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
                EnvironmentFault::NotPermitted {
                    rights: "CAP_NET_RAW",
                    advice: "run as root, give the program the capability, or use UDP \
                             (HOSTWIRE_WIRE=udp)",
                },
            ),
            _ => failed("opening", cause),
        });
    }
    // SAFETY: a fresh descriptor that nobody else knows.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    if let Some(only) = only {
        filter::attach(socket.as_fd(), only).map_err(|e| failed("attaching a filter to", e))?;
    }
    // Straight to the driver: no queue in between, as there is credit.
    // SAFETY: it reads an int.
    unsafe { option::set(&socket, libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1_i32) }
        .map_err(|e| failed("setting up", e))?;
    let frame_len = interface.mtu_bytes.min(FRAME_LEN_MAX);
    let ring = Ring::new(socket.as_fd(), frame_len)
        .map_err(|e| failed("making the receive ring of", e))?;
    let all = station(interface.index, ether_type, MacAddress([0; 6]));
    bind(&socket, &all).map_err(|e| failed("binding", e))?;
    Ok((socket, ring))
}

pub(super) fn station(interface: u32, ether_type: u16, station: MacAddress) -> libc::sockaddr_ll {
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

/// Sends frames, each made of several pieces, from the first on. Returns how many have
/// left. At most [`SEND_BATCH_FRAMES`].
pub(super) fn send_many<'a, const PIECES: usize>(
    socket: BorrowedFd<'_>,
    frames: impl Iterator<Item = (&'a libc::sockaddr_ll, [&'a [u8]; PIECES])>,
) -> Result<usize, SendError> {
    let mut frames = frames.peekable();
    let first = frames.next();
    let Some((to, frame)) = first else {
        return Ok(0);
    };
    if frames.peek().is_none()
        && let [frame] = frame[..]
    {
        return send_one(socket, to, frame);
    }
    let frames = first.into_iter().chain(frames);
    let nothing = libc::iovec {
        iov_base: core::ptr::null_mut(),
        iov_len: 0,
    };
    let mut places = [[nothing; PIECES]; SEND_BATCH_FRAMES];
    // SAFETY: all-zero bytes are an `mmsghdr`.
    let mut messages: [libc::mmsghdr; SEND_BATCH_FRAMES] = unsafe { core::mem::zeroed() };
    let mut count = 0;
    for ((places, message), (to, frame)) in places.iter_mut().zip(&mut messages).zip(frames) {
        for (place, piece) in places.iter_mut().zip(frame) {
            place.iov_base = piece.as_ptr().cast_mut().cast();
            place.iov_len = piece.len();
        }
        let header = &mut message.msg_hdr;
        header.msg_name = (&raw const *to).cast_mut().cast();
        header.msg_namelen = size_of::<libc::sockaddr_ll>() as libc::socklen_t;
        header.msg_iov = places.as_mut_ptr();
        header.msg_iovlen = PIECES;
        count += 1;
    }
    // SAFETY: the first `count` messages point to an address, pieces and their bytes with
    // their lengths, all of which outlive the call, and it only reads them.
    let sent = unsafe {
        libc::sendmmsg(
            socket.as_raw_fd(),
            messages.as_mut_ptr(),
            count,
            libc::MSG_DONTWAIT,
        )
    };
    usize::try_from(sent).map_err(|_| SendError::last())
}

pub(super) fn send_one(
    socket: BorrowedFd<'_>,
    to: &libc::sockaddr_ll,
    frame: &[u8],
) -> Result<usize, SendError> {
    // SAFETY: reads `frame` and `to`, which outlive the call, each with its length.
    let sent = unsafe {
        libc::sendto(
            socket.as_raw_fd(),
            frame.as_ptr().cast(),
            frame.len(),
            libc::MSG_DONTWAIT,
            (&raw const *to).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    match sent {
        -1 => Err(SendError::last()),
        _ => Ok(1),
    }
}
