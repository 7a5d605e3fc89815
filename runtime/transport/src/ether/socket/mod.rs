//! Where frames leave this process and come in: bare Ethernet, UDP or TCP.

mod bare;
mod faulty;
mod filter;
mod known;
mod packet;
mod ported;
pub(crate) mod ring;
mod several;
pub(crate) mod tcp;
pub(crate) mod udp;
mod xdp;

use std::os::fd::BorrowedFd;

pub(crate) use bare::BareSocket;
pub use faulty::FaultySocket;
pub use packet::PacketSocket;
pub use ported::PortedSocket;
pub use several::SeveralSockets;
pub use tcp::StreamPort;
pub use udp::{FramePort, Offload};
pub use xdp::XdpSocket;

use rustix::thread::CapabilitySet;

use super::address::Address;
use super::tally::SocketCounters;
use crate::error::{Disagreement, EnvironmentFault, PeId, TransportError};
use crate::faults::Faults;

/// Frames taken per call, so that sending gets its turn.
const BATCH_FRAMES: usize = 16;

/// Frames sent per call: as many full ones of plain Ethernet as the longest message holds that
/// the kernel segments.
pub(crate) const SEND_BATCH_FRAMES: usize = 44;
/// Bytes that one call sends of a stream: full ones of these.
const PIECE_BYTES: usize = SEND_BATCH_FRAMES * 22 * 64;
/// Longest frame that is used, whatever the interface could take.
pub(crate) const FRAME_LEN_MAX: usize = 9000;

/// Why the first of some frames has not left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SendError {
    /// No room now: it may be sent again.
    Full,
    /// The system does not take it: as good as lost.
    Refused,
}

impl SendError {
    fn last() -> Self {
        Self::of(&std::io::Error::last_os_error())
    }

    fn of(error: &std::io::Error) -> Self {
        match error.raw_os_error() {
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR) => Self::Full,
            _ => Self::Refused,
        }
    }
}

/// A socket for frames, of one host.
#[derive(Debug)]
pub enum Socket {
    /// Frames of an own EtherType, which needs the right to open raw sockets.
    Packet(PacketSocket),
    /// The same for an endpoint that is one of many, each with a port of its own.
    Ported(PortedSocket),
    /// Frames of an own EtherType, taken off the interface before the network stack: for one process per
    /// interface.
    Xdp(Box<XdpSocket>),
    /// Frames as datagrams, for everybody.
    Udp(FramePort),
    /// Frames on connections, for everybody: long ones, and none is lost on the way.
    Tcp(Box<StreamPort>),
    /// Several of one of these kinds, at different interfaces.
    Several(Box<SeveralSockets>),
    /// One of the others, and faults that all frames to it meet.
    Faulty(Box<FaultySocket>),
}

/// What a call of [`Socket::receive`] has found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Received {
    /// Frames from peers.
    pub(super) frames: usize,
    /// Frames from anybody else: dropped.
    pub(super) strangers: usize,
}

/// Where a frame has come from, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Came {
    /// The number of the host that sent it.
    pub(super) host: u32,
    /// Whether the network has marked it, because it is congested.
    pub(super) is_marked: bool,
}

impl Came {
    /// A frame that carries no mark.
    const fn unmarked(host: u32) -> Self {
        Self {
            host,
            is_marked: false,
        }
    }
}

/// What frames that have come are shown to.
pub(super) type Take<'a> = dyn FnMut(Came, &mut [u8]) + 'a;

impl Received {
    const fn all(&self) -> usize {
        self.frames + self.strangers
    }
}

impl Socket {
    /// One for all of `sockets`, which are of one kind, each at an interface of its own. The peers
    /// have as many, in the same order of networks: frames for one of them take any of its
    /// interfaces that works. One socket stays what it is.
    ///
    /// # Errors
    /// [`TransportError::Misused`] for none, for too many, and for sockets of different kinds.
    pub fn several(sockets: Vec<Self>) -> Result<Self, TransportError> {
        match <[Self; 1]>::try_from(sockets) {
            Ok([only]) => Ok(only),
            Err(sockets) => Ok(Self::Several(Box::new(SeveralSockets::new(sockets)?))),
        }
    }

    /// The same, and frames that it sends meet faults; `pe` draws them.
    #[must_use]
    pub fn with_faults(self, faults: Faults, pe: PeId) -> Self {
        Self::Faulty(Box::new(FaultySocket::new(self, faults, pe)))
    }

    /// What it has counted itself.
    pub(super) fn counters(&self) -> SocketCounters {
        match self {
            Self::Packet(_) | Self::Ported(_) | Self::Xdp(_) | Self::Udp(_) => {
                SocketCounters::default()
            }
            Self::Tcp(socket) => socket.counters(),
            Self::Several(several) => several.counters(),
            Self::Faulty(faulty) => faulty.counters(),
        }
    }

    /// Where this host is reached.
    pub fn address(&self) -> Address {
        match self {
            Self::Packet(socket) => socket.address(),
            Self::Ported(socket) => socket.address(),
            Self::Xdp(socket) => socket.address(),
            Self::Udp(socket) => socket.address(),
            Self::Tcp(socket) => socket.address(),
            Self::Several(several) => several.address(),
            Self::Faulty(faulty) => faulty.socket().address(),
        }
    }

    /// Longest frame that it takes, in bytes without Ethernet, IP and UDP headers.
    pub fn frame_len_max(&self) -> usize {
        match self {
            Self::Packet(socket) => socket.frame_len_max(),
            Self::Ported(socket) => socket.frame_len_max(),
            Self::Xdp(socket) => socket.frame_len_max(),
            Self::Udp(socket) => socket.frame_len_max(),
            Self::Tcp(socket) => socket.frame_len_max(),
            Self::Several(several) => several.frame_len_max(),
            Self::Faulty(faulty) => faulty.socket().frame_len_max(),
        }
    }

    /// Headers in front of each frame that count against the MTU of the path.
    pub(super) fn header_bytes(&self) -> usize {
        match self {
            Self::Packet(_) | Self::Xdp(_) | Self::Tcp(_) => 0,
            Self::Ported(socket) => socket.header_bytes(),
            Self::Udp(socket) => socket.header_bytes(),
            Self::Several(several) => several.header_bytes(),
            Self::Faulty(faulty) => faulty.socket().header_bytes(),
        }
    }

    /// Whether frames of one length leave together.
    pub(super) fn joins_frames(&self) -> bool {
        match self {
            Self::Packet(_) | Self::Ported(_) | Self::Xdp(_) | Self::Tcp(_) => false,
            Self::Udp(socket) => socket.offload().sending,
            Self::Several(several) => several.joins_frames(),
            Self::Faulty(faulty) => faulty.socket().joins_frames(),
        }
    }

    /// Whether every frame arrives, in order, or none does any more.
    pub(super) fn loses_nothing(&self) -> bool {
        match self {
            Self::Packet(_) | Self::Ported(_) | Self::Xdp(_) | Self::Udp(_) => false,
            Self::Tcp(_) => true,
            Self::Several(several) => several.loses_nothing(),
            Self::Faulty(_) => false,
        }
    }

    /// Bytes of a long put that leave with one call. They stay in the cache.
    pub(super) fn piece_bytes(&self) -> usize {
        match self {
            Self::Packet(_) | Self::Ported(_) | Self::Xdp(_) | Self::Udp(_) => PIECE_BYTES,
            Self::Tcp(_) => tcp::PIECE_BYTES,
            Self::Several(several) => several.piece_bytes(),
            Self::Faulty(faulty) => faulty.socket().piece_bytes(),
        }
    }

    /// Frames that it holds before it loses some.
    pub(super) fn frames_max(&self) -> usize {
        match self {
            Self::Packet(socket) => socket.frames_max(),
            Self::Ported(socket) => socket.frames_max(),
            Self::Xdp(socket) => socket.frames_max(),
            Self::Udp(socket) => socket.frames_max(),
            // It loses none.
            Self::Tcp(_) => usize::MAX,
            Self::Several(several) => several.frames_max(),
            Self::Faulty(faulty) => faulty.socket().frames_max(),
        }
    }

    /// Rights that it takes to open one, and none to use it.
    pub(super) fn rights(&self) -> CapabilitySet {
        match self {
            Self::Packet(_) | Self::Ported(_) => CapabilitySet::NET_RAW,
            Self::Xdp(_) => CapabilitySet::NET_RAW | CapabilitySet::NET_ADMIN | CapabilitySet::BPF,
            Self::Udp(_) | Self::Tcp(_) => CapabilitySet::empty(),
            Self::Several(several) => several.rights(),
            Self::Faulty(faulty) => faulty.socket().rights(),
        }
    }

    /// Says who the peers are, by the number of their hosts; `None` is this one.
    pub(super) fn set_peers(
        &mut self,
        own: u32,
        peers: Vec<Option<Address>>,
    ) -> Result<(), TransportError> {
        match self {
            Self::Packet(socket) => socket.set_peers(own, peers),
            Self::Ported(socket) => socket.set_peers(own, peers),
            Self::Xdp(socket) => socket.set_peers(own, peers),
            Self::Udp(socket) => socket.set_peers(own, peers),
            Self::Tcp(socket) => socket.set_peers(own, peers),
            Self::Several(several) => several.set_peers(own, &peers),
            Self::Faulty(faulty) => faulty.socket_mut().set_peers(own, peers),
        }
    }

    /// Sends frames to hosts, from the first on; how many have left, one at least.
    pub(super) fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError> {
        match self {
            Self::Packet(socket) => socket.send(frames),
            Self::Ported(socket) => socket.send(frames),
            Self::Xdp(socket) => socket.send(frames),
            Self::Udp(socket) => socket.send(frames),
            Self::Tcp(socket) => socket.send(frames),
            Self::Several(several) => several.send(frames),
            Self::Faulty(faulty) => faulty.send(frames),
        }
    }

    /// Sends as many of `frames` as go with one call; how many have left, one at least.
    #[inline]
    pub(super) fn send_batch<'a>(
        &mut self,
        mut frames: impl Iterator<Item = (u32, &'a [u8])>,
    ) -> Result<usize, SendError> {
        let Some(first) = frames.next() else {
            return Ok(0);
        };
        // Most of the time.
        let Some(second) = frames.next() else {
            return self.send(&[first]);
        };
        let mut batch: [(u32, &[u8]); SEND_BATCH_FRAMES] = [(0, &[]); SEND_BATCH_FRAMES];
        let mut count = 0;
        for (place, frame) in batch
            .iter_mut()
            .zip([first, second].into_iter().chain(frames))
        {
            *place = frame;
            count += 1;
        }
        self.send(batch.get(..count).unwrap_or_default())
    }

    /// Whether it is certain, at no cost, that no frame has come.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Packet(socket) => socket.is_empty(),
            Self::Ported(socket) => socket.is_empty(),
            Self::Xdp(socket) => socket.is_empty(),
            Self::Udp(_) | Self::Tcp(_) => false,
            Self::Several(several) => several.is_empty(),
            Self::Faulty(faulty) => faulty.socket().is_empty(),
        }
    }

    /// Whether it is certain, at no cost, that a frame has come.
    pub(super) fn has_come(&self) -> bool {
        match self {
            Self::Packet(socket) => !socket.is_empty(),
            Self::Ported(socket) => !socket.is_empty(),
            Self::Xdp(socket) => !socket.is_empty(),
            Self::Udp(_) | Self::Tcp(_) => false,
            Self::Several(several) => several.has_come(),
            Self::Faulty(faulty) => faulty.socket().has_come(),
        }
    }

    /// Shows every frame that has come, up to a bound, to `take`.
    pub(super) fn receive(&mut self, take: &mut Take<'_>) -> Received {
        match self {
            Self::Packet(socket) => socket.receive(take),
            Self::Ported(socket) => socket.receive(take),
            Self::Xdp(socket) => socket.receive(take),
            Self::Udp(socket) => socket.receive(take),
            Self::Tcp(socket) => socket.receive(take),
            Self::Several(several) => several.receive(take),
            Self::Faulty(faulty) => faulty.socket_mut().receive(take),
        }
    }

    /// All descriptors that it needs, for a process that closes the others.
    pub(super) fn fds(&self) -> Vec<BorrowedFd<'_>> {
        match self {
            Self::Packet(socket) => vec![socket.fd()],
            Self::Ported(socket) => vec![socket.fd()],
            Self::Xdp(socket) => socket.fds(),
            Self::Udp(socket) => socket.fds(),
            Self::Tcp(socket) => socket.fds(),
            Self::Several(several) => several.fds(),
            Self::Faulty(faulty) => faulty.socket().fds(),
        }
    }

    /// Becomes readable when a frame comes.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Packet(socket) => socket.fd(),
            Self::Ported(socket) => socket.fd(),
            Self::Xdp(socket) => socket.fd(),
            Self::Udp(socket) => socket.fd(),
            Self::Tcp(socket) => socket.fd(),
            Self::Several(several) => several.fd(),
            Self::Faulty(faulty) => faulty.socket().fd(),
        }
    }

    /// A socket of the system, which [`fd`](Self::fd) need not be.
    pub(super) fn system_socket(&self) -> BorrowedFd<'_> {
        match self {
            Self::Packet(socket) => socket.fd(),
            Self::Ported(socket) => socket.fd(),
            Self::Xdp(socket) => socket.socket(),
            Self::Udp(socket) => socket.fd(),
            Self::Tcp(socket) => socket.system_socket(),
            Self::Several(several) => several.system_socket(),
            Self::Faulty(faulty) => faulty.socket().system_socket(),
        }
    }
}

/// A peer that speaks another way than this PE, `with`, which has one interface.
fn mixed(pe: PeId, with: PeId, address: &Address, ours: &'static str) -> TransportError {
    if address.interfaces() > 1 {
        return unequal(pe, with, address, 1);
    }
    let theirs = address.to_string().into();
    disagree(pe, with, Disagreement::Wire { theirs, ours })
}

/// A peer that has not `ours` interfaces.
fn unequal(pe: PeId, with: PeId, address: &Address, ours: usize) -> TransportError {
    let theirs = address.interfaces();
    disagree(pe, with, Disagreement::Interfaces { theirs, ours })
}

fn disagree(pe: PeId, with: PeId, about: Disagreement) -> TransportError {
    let fault = EnvironmentFault::Disagreement { pe, with, about };
    TransportError::environment("connecting the PEs", fault)
}
