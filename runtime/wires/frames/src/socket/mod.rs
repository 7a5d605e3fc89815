//! Sockets for frames: bare Ethernet, UDP or TCP.

mod bare;
mod faulty;
mod filter;
mod following;
mod known;
mod packet;
mod ported;
pub(crate) mod ring;
mod several;
mod stranger;
pub(crate) mod tcp;
pub(crate) mod udp;
mod xdp;

use core::ops::{Deref, DerefMut};
use std::net::IpAddr;
use std::os::fd::BorrowedFd;

pub(crate) use bare::BareSocket;
pub use faulty::FaultySocket;
use hostwire_transport::error::{Disagreement, EnvironmentFault, PeId, TransportError};
use hostwire_transport::faults::Faults;
pub use packet::PacketSocket;
pub use ported::PortedSocket;
use rustix::thread::CapabilitySet;
pub use several::SeveralSockets;
pub use tcp::StreamPort;
pub use udp::{FramePort, Offload};
pub use xdp::XdpSocket;

use super::address::Address;
use super::tally::SocketCounters;

/// Frames taken per call, so that sending gets its turn.
const BATCH_FRAMES: usize = 16;

/// Frames sent per call: as many full frames of plain Ethernet as fit the longest message that the
/// kernel segments.
pub(crate) const SEND_BATCH_FRAMES: usize = 44;
/// Bytes of a stream that one call sends: those of so many full frames.
const PIECE_BYTES: usize = SEND_BATCH_FRAMES * 22 * 64;
/// Longest frame that is used, even if the interface takes longer ones.
pub(crate) const FRAME_LEN_MAX: usize = 9000;

/// Why the first of some frames has not left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendError {
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

/// A socket for frames, of one host, of any kind.
#[derive(Debug)]
pub struct Socket(Box<dyn FrameSocket>);

/// What every kind of socket does, with defaults that fit most kinds.
pub trait FrameSocket: core::fmt::Debug + Send {
    /// Where this host is reached.
    fn address(&self) -> Address;

    /// Longest frame that it takes, in bytes without Ethernet, IP and UDP headers.
    fn frame_len_max(&self) -> usize;

    /// Frames that it holds before it loses some.
    fn frames_max(&self) -> usize;

    /// Rights that are needed to open one. Its use needs none.
    fn rights(&self) -> CapabilitySet;

    /// Sets the addresses of the peers, by the number of their hosts; `None` is this host.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if one of them uses another kind of wire than this socket.
    fn set_peers(&mut self, own: u32, peers: Vec<Option<Address>>) -> Result<(), TransportError>;

    /// Sends frames to hosts, from the first on. Returns how many have left, at least one.
    ///
    /// # Errors
    /// Why the first has not left.
    fn send(&mut self, frames: &[(u32, &[u8])]) -> Result<usize, SendError>;

    /// Gives every frame that has come, up to a bound, to `take`.
    fn receive(&mut self, take: &mut Take<'_>) -> Received;

    /// Becomes readable when a frame comes.
    fn fd(&self) -> BorrowedFd<'_>;

    /// A socket of the system. [`fd`](Self::fd) may be another kind of descriptor.
    fn system_socket(&self) -> BorrowedFd<'_> {
        self.fd()
    }

    /// All descriptors that it needs, for a process that closes all others.
    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.fd()]
    }

    /// A sealed frame that came from an unknown sender, if one is kept; each once. It may be from a peer whose address
    /// has changed.
    fn stranger(&mut self) -> Option<&mut [u8]> {
        None
    }

    /// The last [stranger](Self::stranger) is this host: from now on it is reached where that frame came from. Returns
    /// the IP address, if it has one.
    fn has_moved(&mut self, _host: u32) -> Option<IpAddr> {
        None
    }

    /// Takes the present address of its interface, if it has lost its own. To be called when a peer is not heard.
    fn follow(&mut self) {}

    /// How often it has taken another address. Each time, [`fd`](Self::fd) may have become another one.
    fn moves(&self) -> u32 {
        0
    }

    /// Its own counters.
    fn counters(&self) -> SocketCounters {
        SocketCounters::default()
    }

    /// Headers of each frame that count against the MTU of the path.
    fn header_bytes(&self) -> usize {
        0
    }

    /// Whether frames of one length are sent together.
    fn joins_frames(&self) -> bool {
        false
    }

    /// Whether every frame arrives, in order, until the connection breaks.
    fn loses_nothing(&self) -> bool {
        false
    }

    /// Bytes of a long put that leave with one call. They stay in the cache.
    fn piece_bytes(&self) -> usize {
        PIECE_BYTES
    }

    /// Whether it is certain, at no cost, that no frame has come.
    fn is_empty(&self) -> bool {
        false
    }

    /// Whether it is certain, at no cost, that a frame has come.
    fn has_come(&self) -> bool {
        false
    }
}

impl Deref for Socket {
    type Target = dyn FrameSocket;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Socket {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}

/// The result of a call of `receive`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Received {
    /// Frames from peers.
    pub frames: usize,
    /// Frames from other senders: dropped.
    pub strangers: usize,
}

/// The origin of a received frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Came {
    /// The number of the host that sent it.
    pub host: u32,
    /// Whether the network has marked it, because it is congested.
    pub is_marked: bool,
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

/// Takes received frames.
pub type Take<'a> = dyn FnMut(Came, &mut [u8]) + 'a;

impl Received {
    const fn all(&self) -> usize {
        self.frames + self.strangers
    }
}

impl Socket {
    /// A socket of this kind.
    pub fn of(socket: impl FrameSocket + 'static) -> Self {
        Self(Box::new(socket))
    }

    /// Joins `sockets` of one kind, each at an interface of its own. The peers have as many, in
    /// the same order of networks. Frames for a peer take any of its interfaces that works. A
    /// single socket is returned unchanged.
    ///
    /// # Errors
    /// [`TransportError::Misused`] for none, for too many, and for sockets of different kinds.
    pub fn several(sockets: Vec<Self>) -> Result<Self, TransportError> {
        match <[Self; 1]>::try_from(sockets) {
            Ok([only]) => Ok(only),
            Err(sockets) => Ok(Self::of(SeveralSockets::new(sockets)?)),
        }
    }

    /// The same, with faults for frames that it sends. `pe` selects the sequence of faults.
    #[must_use]
    pub fn with_faults(self, faults: Faults, pe: PeId) -> Self {
        Self::of(FaultySocket::new(self, faults, pe))
    }

    /// Sends as many of `frames` as fit one call. Returns how many have left, at least one.
    #[inline]
    pub(super) fn send_batch<'a>(
        &mut self,
        mut frames: impl Iterator<Item = (u32, &'a [u8])>,
    ) -> Result<usize, SendError> {
        let Some(first) = frames.next() else {
            return Ok(0);
        };
        // The most frequent case.
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
}

/// The error for a peer that uses another kind of wire than this PE, `with`, or several
/// interfaces.
fn mixed(pe: PeId, with: PeId, address: &Address, ours: &'static str) -> TransportError {
    if address.interfaces() > 1 {
        return unequal(pe, with, address, 1);
    }
    let theirs = address.to_string().into();
    disagree(pe, with, Disagreement::Wire { theirs, ours })
}

/// The error for a peer that does not have `ours` interfaces.
fn unequal(pe: PeId, with: PeId, address: &Address, ours: usize) -> TransportError {
    let theirs = address.interfaces();
    disagree(pe, with, Disagreement::Interfaces { theirs, ours })
}

fn disagree(pe: PeId, with: PeId, about: Disagreement) -> TransportError {
    let fault = EnvironmentFault::Disagreement { pe, with, about };
    TransportError::environment("connecting the PEs", fault)
}
