//! Ethernet between hosts.
//!
//! Every host has an endpoint of [`hostwire_link`], a socket and a thread, the
//! *agent*, that serves it. There is a virtual link between any two hosts. This wire does not lead to PEs of the own
//! host. A store becomes posted writes, whose addresses name PE, segment and offset by the map of the job
//! ([`hostwire_address::JobMap`]); the endpoint that receives a frame applies them to the memory of the PEs of its host
//! before it acknowledges them. So a fence costs nothing, as a link keeps the order, and quiet waits for acks.
//!
//! A single PE of a host has the endpoint itself: [`Ether`]. Several PEs share one, which belongs to a separate
//! process: the [`adapter`].
//!
//! The frames travel with an own EtherType ([`PacketSocket`], or [`XdpSocket`] past
//! the network stack), as UDP datagrams ([`FramePort`]), or on TCP connections ([`StreamPort`]).
//!
//! # Secret and authentic
//!
//! With [`Secrets`] every frame is encrypted and authenticated ([`hostwire_link::seal`]), and other frames are counted
//! and dropped. A copy of the process, by `fork` or from a checkpoint, seals no frames
//! ([`hostwire_transport::fork_guard`]); stores and looks give it an error. Without secrets frames are neither
//! encrypted nor authenticated: an attacker who can send frames to a PE and guesses 16-bit keys can write to its
//! segment. Run without them only on networks that you trust.
//!
//! # Rights
//!
//! [`PacketSocket`] needs CAP_NET_RAW when it is opened ([`XdpSocket`] also CAP_NET_ADMIN and CAP_BPF), and no right
//! later. So [`Ether::connect`] gives these rights up, in the calling thread and in threads that it starts later, such
//! as the agent. Other rights stay.
//!
//! # Ends of PEs
//!
//! A PE that ends in good order finishes its links, and its peers see this at once. They may still store to it without
//! effect, as with shared memory. If all PEs of a host end, their [control connection](ControlConnections) shows it at
//! once. If one of several PEs of a host ends, the adapter notices it and tells all other hosts (`ended_pes`). A host
//! that is silent is lost after [`LOST_AFTER`](hostwire_transport::LOST_AFTER), with all its PEs; while its kernel
//! answers, after [`STOPPED_LIMITS`](hostwire_transport::STOPPED_LIMITS) times as long. Stores to a lost PE fail, and
//! so does the next quiet, once.

pub mod adapter;
mod address;
mod agent;
mod alarm;
pub(crate) mod apply;
mod connect;
pub(crate) mod control;
mod core;
pub(crate) mod ended_pes;
mod ending;
mod faults;
#[cfg(test)]
mod finish_tests;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
pub(crate) mod interface;
pub mod join;
pub mod limits;
mod local;
mod numbers;
mod option;
mod outbox;
pub(crate) mod own;
#[cfg(test)]
mod packing_tests;
mod patience;
mod raw;
mod rights;
pub mod settings;
pub(crate) mod socket;
mod station;
mod tally;
mod wire;
mod wires;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostwire_address::Place;
pub use hostwire_link::seal::{JobKey, Life};
use hostwire_link::{CloseReason, Counters, LinkId, Progress, SendError, Ticket};
pub use hostwire_packet::htoe::ethernet::MacAddress;
use hostwire_transport::addresses::Addresses;
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::ring::PAYLOAD_BYTES;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::wire::{Lifetime, Wire};

pub use self::adapter::{Adapter, AdapterMemory, Guest};
pub use self::address::{Address, AddressError, INTERFACES_MAX, PortAt, Several};
use self::agent::{AgentShared, Hold};
use self::connect::pes_of;
pub use self::connect::{EtherOptions, Roster, Secrets};
pub use self::control::kernel::Connections;
pub use self::control::{CONNECTIONS_MAX, Calls, ControlConnections, Door, Party};
use self::core::FramesCore;
use self::ended_pes::{End, EndedPes};
use self::ending::{end_as_result, ended, storing_failed};
pub use self::interface::Interface;
pub use self::local::{LocalOptions, LocalPe, LocalWire, local};
pub use self::numbers::FrameNumbers;
use self::patience::{Cores, Patience};
pub use self::raw::RawSocket;
pub use self::socket::{
    FaultySocket, FramePort, Offload, PacketSocket, PortedSocket, SeveralSockets, Socket,
    StreamPort, XdpSocket,
};
pub use self::station::{Lead, Links, Meets, OnLink};
pub use self::tally::SocketCounters;
pub use self::tally::counted;
use self::tally::values as tally_values;
pub use self::wires::{ETHER, FrameWire, TCP, UDP, XDP};

/// Longest wait for frames before a store or a quiet checks everything again.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Fewest bytes of a put that are packed before they are sent. While much is left, it is the socket's number; near the
/// end it is this one, so that the receiver is not idle.
const SHORT_PIECE_BYTES: usize = 40 << 10;
/// How long a PE that ends waits for its last stores to arrive.
const LINGER: Duration = Duration::from_secs(3);
const HEADER_BYTES: usize = 8;
const LINE_BYTES: usize = HEADER_BYTES + PAYLOAD_BYTES;

/// The transport over Ethernet. See the [module text](self).
#[derive(Debug)]
pub struct Ether {
    fork_guard: ForkGuard,
    /// The only PE here. In an adapter, the first PE that it serves.
    pe: PeId,
    /// By number.
    hosts: Box<[HostPath]>,
    /// By PE: its host.
    host_of: Arc<[u32]>,
    /// Which PEs of other hosts have ended.
    ended: EndedPes,
    segment: Window,
    addresses: Addresses,
    shared: Arc<AgentShared>,
    agent: Option<JoinHandle<()>>,
    limits: WaitLimits,
    cores: Cores,
    control: Option<Arc<ControlConnections>>,
    /// Links are finished only once: after a vain wait there is no second one.
    has_finished: AtomicBool,
}

/// The way to a host.
#[derive(Debug, Clone)]
struct HostPath {
    /// None for this host, and for a station that this one has not met.
    link: OnceLock<LinkId>,
    /// Its first PE, which errors name if all are lost.
    first: PeId,
    /// How many PEs it has.
    pes: u32,
}

impl HostPath {
    #[inline]
    fn link(&self) -> Option<LinkId> {
        self.link.get().copied()
    }
}

impl Ether {
    /// From now on control connections show when all PEs of a host have ended, and whether its kernel answers.
    #[must_use]
    pub fn with_control(mut self, control: Arc<ControlConnections>) -> Self {
        let kernels = Arc::clone(&control);
        self.shared.lock().ask_kernels(kernels);
        self.control = Some(control);
        self
    }

    /// The counters of the links to all other hosts.
    pub fn counters(&self) -> Counters {
        self.hold()
            .map_or_else(|_| Counters::default(), |core| core.counters())
    }

    /// The counters of the socket.
    pub fn socket_counters(&self) -> SocketCounters {
        self.hold()
            .map_or_else(|_| SocketCounters::default(), |core| core.socket_counters())
    }

    /// Why the link to the host of a PE is closed, if it is.
    pub fn close_reason(&self, pe: PeId) -> Option<CloseReason> {
        let link = self.link(pe).ok()?;
        self.hold().ok()?.closed(link)
    }

    /// Takes the lock of the wire. A copy of the process does not wait for it: a thread that held it when the copy was
    /// made holds it there for ever.
    #[inline]
    fn hold(&self) -> Result<Hold<'_>, TransportError> {
        self.fork_guard.check()?;
        Ok(self.shared.lock())
    }

    fn link(&self, pe: PeId) -> Result<LinkId, TransportError> {
        self.fork_guard.check()?;
        self.link_to(pe).ok_or(TransportError::NoSuchPe {
            pe,
            pes: self.pes(),
        })
    }

    /// The link to the host of a PE. `None` for PEs of this one.
    #[inline]
    fn link_to(&self, pe: PeId) -> Option<LinkId> {
        self.path_to(pe)?.link()
    }

    #[inline]
    fn path_to(&self, pe: PeId) -> Option<&HostPath> {
        let host = self.host_of.get(pe as usize)?;
        self.hosts.get(*host as usize)
    }

    /// The PEs of the host of a PE.
    fn neighbours(&self, pe: PeId) -> impl Iterator<Item = PeId> + '_ {
        let host = self.host_of.get(pe as usize);
        pes_of(&self.host_of, host.copied().unwrap_or(u32::MAX))
    }

    /// Whether a PE is the only one of its host: it has the link for itself, and ends with it.
    fn is_alone(&self, pe: PeId) -> bool {
        self.path_to(pe).is_some_and(|path| path.pes == 1)
    }

    /// The window onto memory of this PE, and where in it `offset_bytes` lies.
    fn own(&self, offset_bytes: usize) -> Result<(Window, usize), TransportError> {
        if !Place::is_registered(offset_bytes as u64) {
            self.fork_guard.check()?;
            return Ok((self.segment.clone(), offset_bytes));
        }
        let address = self.addresses.of(self.pe, offset_bytes, 1, 1)?;
        let core = self.hold()?;
        let found = core.own.find(address);
        let found = found.map(|found| (found.window.clone(), found.at));
        found.ok_or(TransportError::OutOfRange {
            offset_bytes,
            len_bytes: 1,
            segment_bytes: 0,
        })
    }

    /// Sends bytes to be stored, in order.
    #[inline]
    fn put(&self, pe: PeId, link: LinkId, address: u64, data: &[u8]) -> Result<(), TransportError> {
        if data.is_empty() {
            return Ok(());
        }
        let mut core = self.hold()?;
        if core.join(link, address, data) {
            return Ok(());
        }
        self.put_pieces(core, pe, link, address, data)
    }

    /// As [`put`](Self::put), for bytes that do not join other stores.
    #[inline(never)]
    fn put_pieces<'a>(
        &'a self,
        mut core: Hold<'a>,
        pe: PeId,
        link: LinkId,
        address: u64,
        data: &[u8],
    ) -> Result<(), TransportError> {
        if let Some(ended) = self.end_of(pe) {
            return ended;
        }
        if core.put_alone(link, address, data) {
            self.shared.release(core);
            return Ok(());
        }
        if let Some(core) = self.accept(core, pe, link, address, data)? {
            self.leave(core, link);
        }
        Ok(())
    }

    /// Has all bytes accepted, and sends only to make room for more. `None` if the PE has ended in good order: no PE
    /// can see then that nothing is stored.
    fn accept<'a>(
        &'a self,
        mut core: Hold<'a>,
        pe: PeId,
        link: LinkId,
        mut address: u64,
        mut data: &[u8],
    ) -> Result<Option<Hold<'a>>, TransportError> {
        let mut patience = Patience::default();
        loop {
            let piece = (data.len() / 2)
                .min(core.piece_bytes)
                .max(SHORT_PIECE_BYTES);
            let piece = data.get(..piece).unwrap_or(data);
            let accepted = match core.put(link, address, piece) {
                Ok(accepted) => accepted,
                Err(SendError::Full { .. }) => 0,
                Err(SendError::Closed { reason, .. }) => {
                    return self.ended(pe, reason).map(|()| None);
                }
                Err(error) => return Err(storing_failed(pe, error)),
            };
            address += accepted as u64;
            data = data.get(accepted..).unwrap_or_default();
            if data.is_empty() {
                return Ok(Some(core));
            }
            let came = core.drive();
            self.shared.release(core);
            if came || accepted > 0 {
                patience = Patience::default();
            } else {
                patience.wait(self);
            }
            core = self.hold()?;
            core.attend();
        }
    }

    /// Sends frames after stores to a link, and releases the lock.
    fn leave(&self, mut core: Hold<'_>, link: LinkId) {
        if core.socket.has_come() {
            core.drive();
        } else {
            core.transmit_stored(link);
        }
        self.shared.release(core);
    }

    /// The address of a line at `offset_bytes` in the segment of `pe`.
    fn line_address(&self, pe: PeId, offset_bytes: usize) -> Result<u64, TransportError> {
        self.addresses.of(pe, offset_bytes, LINE_BYTES, LINE_BYTES)
    }

    /// Waits until all stores over these links have arrived. Each link is named by a PE to which it leads. `died` gives
    /// PEs that have died, whose death has to be reported.
    fn quiet_links(
        &self,
        links: impl IntoIterator<Item = (PeId, LinkId)>,
        died: impl FnOnce(&mut FramesCore) -> Option<PeId>,
    ) -> Result<(), TransportError> {
        let mut core = self.hold()?;
        core.let_go();
        let now = core.now();
        let mut pending: Vec<(PeId, LinkId, Ticket)> = Vec::new();
        let mut lost = match died(&mut core) {
            Some(pe) => end_as_result(pe, End::Died),
            None => Ok(()),
        };
        for (pe, link) in links {
            if let Some(reason) = core.closed(link) {
                if core.tell_loss(link) {
                    lost = lost.and(self.ended(pe, reason));
                }
            } else if let Some(ticket) = core.pending(link) {
                pending.push((pe, link, ticket));
            }
        }
        core.transmit(now);
        self.shared.release(core);
        for (pe, link, ticket) in pending {
            lost = lost.and(self.arrived(pe, link, ticket));
        }
        lost
    }

    /// Waits until the packets before a ticket have arrived.
    fn arrived(&self, pe: PeId, link: LinkId, ticket: Ticket) -> Result<(), TransportError> {
        let mut patience = Patience::default();
        loop {
            let mut core = self.hold()?;
            let mut came = false;
            if core.endpoint.progress(link, ticket) == Progress::Pending {
                core.attend();
                came = core.drive();
            }
            let progress = core.endpoint.progress(link, ticket);
            if matches!(progress, Progress::Lost(_)) {
                core.tell_loss(link);
            }
            self.shared.release(core);
            match progress {
                Progress::Arrived => return Ok(()),
                Progress::Lost(reason) => return self.ended(pe, reason),
                Progress::Pending if came => patience = Patience::default(),
                Progress::Pending => patience.wait(self),
            }
        }
    }

    /// Waits for at most `linger` until all stores have arrived, and closes the links.
    fn finish_within(&self, linger: Duration) {
        if !self.fork_guard.is_here() || self.has_finished.swap(true, Ordering::AcqRel) {
            return;
        }
        self.shared.stop();
        let mut core = self.shared.lock();
        let now = core.now();
        let links: Vec<LinkId> = core.endpoint.links().collect();
        for link in &links {
            core.endpoint.finish(now, *link);
        }
        let deadline = Instant::now() + linger;
        loop {
            core.drive();
            let open = links.iter().any(|link| core.closed(*link).is_none());
            if !open || Instant::now() >= deadline {
                break;
            }
            let limit = core.idle_time(LOOK_AGAIN);
            // Releases the lock, so that others can report a peer that has gone and will acknowledge nothing.
            drop(core);
            self.shared.wait_for_frames(limit);
            core = self.shared.lock();
        }
        // Sends the close frames.
        core.drive();
    }
}

/// A line as it is stored.
struct Bytes {
    line: [u8; LINE_BYTES],
    used_bytes: usize,
}

impl Bytes {
    fn of(header: u64, payload: &[u8]) -> Result<Self, TransportError> {
        let mut line = [0; LINE_BYTES];
        let (head, body) = line.split_at_mut(HEADER_BYTES);
        head.copy_from_slice(&header.to_ne_bytes());
        let Some(place) = body.get_mut(..payload.len()) else {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: payload.len(),
                segment_bytes: PAYLOAD_BYTES,
            });
        };
        place.copy_from_slice(payload);
        // Whole dwords at the beginning of a block are one packet.
        let used_bytes = (HEADER_BYTES + payload.len()).next_multiple_of(4);
        Ok(Self { line, used_bytes })
    }

    fn used(&self) -> &[u8] {
        self.line.get(..self.used_bytes).unwrap_or(&self.line)
    }
}

impl Drop for Ether {
    fn drop(&mut self) {
        let shared = &self.shared;
        if self
            .fork_guard
            .end_thread(&mut self.agent, || shared.stop())
        {
            self.finish();
        }
    }
}
