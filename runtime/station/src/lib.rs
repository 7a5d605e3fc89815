//! Processes without a common launcher: each meets those whose [`Name`] it gets.
//!
//! A *station* belongs to no job, unless its hardware is a model: see `modelled.rs`. It chooses its own numbers for
//! other stations, in the order in which it learns of them; 0 is itself. So each station has its own numbering, and the
//! part of a segment for a peer lies at the number that the *owner of the segment* gave to that peer: see
//! [`Numbering::number_at`](hostwire_transport::wire::Numbering::number_at).
//!
//! Two stations meet at the first operation of one on the other ([`Stations::meet`]): it connects to the Unix socket in
//! the name and shows the key. Then both pass the memory of their segments and their numbers for each other. A thread
//! of each station answers, whatever its program does. Both may begin at once: then they meet twice, with the same
//! result. The connection stays open, so that any end of a process shows. A connection of another user, or without the
//! key, is dropped without an answer.
//!
//! This is how stations of one host meet. Stations of different hosts meet over TCP (`call.rs`), which also shows the
//! end of a process. Their stores travel as UDP datagrams or on TCP connections, by the links of
//! [`ether`](hostwire_frames) (`outside.rs`). A segment has room for all possible peers ([`PEERS_MAX`]); its pages are
//! allocated on first touch.

mod acceptor;
mod bell;
pub(crate) mod call;
mod contacts;
mod environment;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod hello;
pub mod memory_region;
mod modelled;
mod name;
mod outside;
mod private;
mod table;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use acceptor::Acceptor;
use bell::Bell;
pub use contacts::Contacts;
pub use environment::Environment;
use hello::{Answer, Hello};
use hostwire_frames::Ether;
use hostwire_transport::error::{EnvironmentFault, Loss, PeId, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::memory::Memory;
use hostwire_transport::operation::{Request, apply};
use hostwire_transport::route::Route;
use hostwire_transport::shm::{create_file, handover, map_kept, map_whole};
use hostwire_transport::visibility::Visibility;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::wire::{self, Capabilities, Line, Offload, Part, Wire};
pub use modelled::ModelledContacts;
pub use name::Name;
use outside::{Ears, Outside};
pub use outside::{Network, NetworkPlace, NetworkWire};
use private::{Beside, Proof};
use rustix::io::Errno;
pub use table::News;
use table::{Met, Table, Way};

/// Most stations that one can meet in its life, itself included.
pub const PEERS_MAX: u32 = 1024;

/// How long a station waits for the answer of another one's acceptor thread.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// The pause after a connection that ended without an answer.
const AGAIN_AFTER: Duration = Duration::from_millis(10);

/// A station, as a wire to all that it meets. See the [module text](self).
pub struct Stations {
    fork_guard: ForkGuard,
    name: Name,
    /// What must be the same at all stations: the size and layout of a segment.
    terms: Terms,
    file: Arc<OwnedFd>,
    segment: Window,
    table: Arc<Table>,
    acceptor: Acceptor,
    /// The way to stations of other hosts.
    outside: Option<Arc<Outside>>,
    /// Present if private memory is copied between processes in one copy.
    proof: Option<Proof>,
    limits: WaitLimits,
}

/// What must be the same at two stations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The version of the layout of memory and addresses.
    pub version: u64,
    /// How long a segment is.
    pub segment_bytes: u64,
}

/// The options of a station.
#[derive(Debug, Clone)]
pub struct Options {
    /// Whether private memory is copied between processes of a host, where the kernel allows it. Long messages
    /// go through staging memory otherwise.
    pub lends: bool,
    /// How it reaches stations of other hosts, or why it does not.
    pub network: Result<Network, TransportError>,
}

impl Options {
    /// The options of a station that stays within its host.
    pub fn within_host() -> Self {
        let missing = "it stays within its host, or network namespace";
        let fault = EnvironmentFault::Unsupported { missing };
        let what = "reaching a station of another host";
        Self {
            lends: true,
            network: Err(TransportError::environment(what, fault)),
        }
    }
}

impl Stations {
    /// A new station, which others can meet from now on. If the network is unusable, it does not reach other hosts, and
    /// operations that need one give the reason.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: no memory, no descriptors, no thread.
    pub fn open(terms: Terms, options: Options) -> Result<Self, TransportError> {
        // Before the first store that a sleeping peer relies on.
        hostwire_transport::sync::registered();
        let bytes = usize::try_from(terms.segment_bytes).unwrap_or(usize::MAX);
        let file = Arc::new(create_file("hostwire-station", bytes)?);
        let own = file.try_clone();
        let own = own.map_err(|e| TransportError::environment("keeping the segment open", e))?;
        let segment = Window::own(map_kept(own, bytes)?, Visibility::Coherent)?;
        let fork_guard = ForkGuard::new(0)?;
        let (ears, inside) = match options.network.and_then(Ears::open) {
            Ok(ears) => (Some(ears), None),
            Err(why) => (None, Some(why)),
        };
        let name = ears.as_ref().map_or_else(|| Name::draw(None), Ears::name)?;
        let table = Arc::new(Table::new(name, segment.clone(), inside)?);
        let bell = Arc::new(Bell::new()?);
        let (outside, heard) = match ears {
            None => (None, None),
            Some(ears) => {
                let what = (fork_guard.clone(), name, terms);
                let known = (Arc::clone(&table), Arc::clone(&bell));
                let (outside, heard) = Outside::new(ears, what, segment.clone(), known);
                let outside = Arc::new(outside);
                (Some(Arc::clone(&outside)), Some((outside, heard)))
            }
        };
        let proof = options.lends.then(|| Proof::new(name.key())).transpose()?;
        let proof_at = proof.as_ref().map_or(0, Proof::address);
        let (file_there, table_there) = (Arc::clone(&file), Arc::clone(&table));
        let acceptor = Acceptor::start(terms, file_there, proof_at, table_there, heard, bell)?;
        Ok(Self {
            fork_guard,
            name,
            terms,
            file,
            segment,
            table,
            acceptor,
            outside,
            proof,
            limits: WaitLimits::for_pes(2),
        })
    }

    /// Asks once. `None` if the connection ends without an answer.
    fn ask(
        &self,
        pe: PeId,
        name: &Name,
        deadline: Instant,
    ) -> Result<Option<(OwnedFd, Answer)>, TransportError> {
        let socket = handover::socket().map_err(|e| failed(pe, e.into()))?;
        let limit = Some(ANSWER_WITHIN);
        let timeout = rustix::net::sockopt::Timeout::Send;
        rustix::net::sockopt::set_socket_timeout(&socket, timeout, limit)
            .map_err(|e| failed(pe, e.into()))?;
        match rustix::net::connect(&socket, &name.address()?) {
            Ok(()) => {}
            Err(Errno::CONNREFUSED) => {
                self.table.end(pe);
                return Err(ended(pe));
            }
            Err(e) => return Err(failed(pe, e.into())),
        }
        if !handover::is_same_user(&socket) {
            return Err(failed(pe, EnvironmentFault::Stranger));
        }
        let hello = Hello {
            from: self.name,
            number: pe,
            terms: self.terms,
            proof_at: self.proof.as_ref().map_or(0, Proof::address),
        };
        match hello.send(&socket, name.key(), &self.file) {
            Ok(()) => {}
            Err(Errno::PIPE | Errno::CONNRESET) => return Ok(None),
            Err(e) => return Err(failed(pe, e.into())),
        }
        handover::wait_for_any(&socket, &[], deadline).map_err(|e| failed(pe, e.into()))?;
        let answer = Answer::receive(&socket).map_err(|fault| failed(pe, fault))?;
        Ok(answer.map(|answer| (socket, answer)))
    }

    fn peer(&self, pe: PeId) -> Result<Peer<'_>, TransportError> {
        self.fork_guard.check()?;
        match self.table.met(pe).map(|met| &met.way) {
            Some(Way::Mapped { window, .. }) => Ok(Peer::Here(window)),
            Some(Way::Carried) => self.far().map(Peer::Far).ok_or_else(|| no_such(pe)),
            None => Err(no_such(pe)),
        }
    }

    /// The wire to other hosts, if this station has met one there.
    #[inline]
    fn far(&self) -> Option<&Ether> {
        self.outside.as_ref()?.wire()
    }
}

/// The way to a station.
enum Peer<'a> {
    Here(&'a Window),
    Far(&'a Ether),
}

fn failed(pe: PeId, fault: EnvironmentFault) -> TransportError {
    TransportError::environment(format!("meeting station {pe}"), fault)
}

/// The segment that another station has passed.
fn window(file: &OwnedFd, terms: Terms) -> Result<Window, TransportError> {
    let memory = map_whole(file)?;
    if memory.len_bytes() as u64 != terms.segment_bytes {
        let expected = format_args!("{} bytes", terms.segment_bytes);
        let fault = EnvironmentFault::unexpected(expected, format_args!("{}", memory.len_bytes()));
        let what = "the segment that another station handed over is unusable";
        return Err(TransportError::environment(what, fault));
    }
    Window::new(memory, Visibility::Coherent)
}

fn no_such(pe: PeId) -> TransportError {
    TransportError::NoSuchPe { pe, pes: PEERS_MAX }
}

/// The error if a program meets the station's own name.
fn own_name() -> TransportError {
    let fault = EnvironmentFault::unexpected("another station", "this one");
    TransportError::environment("letting a station in", fault)
}

/// Gets and atomics to another host go by messages of stations, not by the wire.
fn only_stores(pe: PeId) -> TransportError {
    let missing = "the way to another host takes stores and nothing else";
    let fault = EnvironmentFault::Unsupported { missing };
    TransportError::environment(format!("reading memory of station {pe}"), fault)
}

fn ended(pe: PeId) -> TransportError {
    let loss = Loss::Ended;
    TransportError::PeerLost { pe, loss }
}

impl Contacts for Stations {
    fn name(&self) -> Name {
        self.name
    }

    fn number(&self, name: &Name) -> Result<PeId, TransportError> {
        self.fork_guard.check()?;
        self.table.number(name)
    }

    fn name_of(&self, pe: PeId) -> Option<Name> {
        self.table.name_of(pe)
    }

    fn meet(&self, pe: PeId) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        if self.table.have_met(pe) {
            return Ok(());
        }
        let name = self.table.name_of(pe).ok_or_else(|| no_such(pe))?;
        if self.table.has_ended(pe) {
            return Err(ended(pe));
        }
        let deadline = Instant::now() + ANSWER_WITHIN;
        if !name.is_beside(&self.name) {
            let outside = self.outside.as_ref().ok_or_else(|| no_such(pe))?;
            let watch = |stream| self.acceptor.watch(stream, pe);
            return outside.meet(pe, &name, deadline, watch);
        }
        loop {
            if let Some((socket, answer)) = self.ask(pe, &name, deadline)? {
                let lent = self.proof.as_ref();
                let way = Way::Mapped {
                    window: window(&answer.file, self.terms)?,
                    beside: lent.and_then(|_| Beside::of(&socket, answer.proof_at, name.key())),
                };
                let number = answer.number;
                let met = Met { way, number };
                self.table.join(pe, met)?;
                self.acceptor.watch(Arc::new(socket), pe);
                return Ok(());
            }
            // It has no descriptor left, or too many strangers at once: this is temporary. If it has ended, no process
            // listens at the next try.
            if Instant::now() >= deadline {
                let expected = "an answer";
                let fault = EnvironmentFault::unexpected(expected, "closed connections");
                return Err(failed(pe, fault));
            }
            std::thread::sleep(AGAIN_AFTER);
        }
    }

    fn news(&self) -> Option<Arc<AtomicBool>> {
        Some(self.table.news())
    }

    fn take_news(&self) -> Vec<News> {
        self.table.take_news()
    }

    fn lend_no_more(&self) {
        if let Some(proof) = self.proof.as_ref().filter(|_| self.fork_guard.is_here()) {
            proof.wipe();
        }
    }

    fn part(&self, pe: PeId) {
        self.table.end(pe);
        if let Some(outside) = &self.outside {
            outside.part(pe);
        }
        self.acceptor.part();
    }
}

impl Wire for Stations {
    fn pe(&self) -> PeId {
        0
    }

    fn pes(&self) -> u32 {
        PEERS_MAX
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    /// Before two meet, no window leads there yet.
    fn route(&self, pe: PeId) -> Option<Route> {
        match self.table.met(pe).map(|met| &met.way) {
            Some(Way::Mapped { window, .. }) => Some(Route::Mapped(window.clone())),
            Some(Way::Carried) => Some(Route::Carried),
            None => (pe < PEERS_MAX).then_some(Route::Offloaded),
        }
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        match self.peer(pe)? {
            Peer::Here(window) => window.put(offset_bytes, src),
            Peer::Far(wire) => wire.store(pe, offset_bytes, src),
        }
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        match self.peer(pe)? {
            Peer::Here(window) => window.put_word(offset_bytes, value),
            Peer::Far(wire) => wire.store_word(pe, offset_bytes, value),
        }
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        match self.peer(pe)? {
            Peer::Here(window) => window.put_line(offset_bytes, header, payload),
            Peer::Far(wire) => wire.store_line(pe, offset_bytes, header, payload),
        }
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        Visibility::Coherent.fence();
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        Visibility::Coherent.quiet();
        self.far().map_or(Ok(()), Wire::quiet)
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.far().map_or(Ok(false), Wire::poll)
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            batches: Some(self),
            private_copies: Some(self),
            liveness: Some(self),
            numbering: Some(self),
            offload: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Batches for Stations {
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.store_word(pe, offset_bytes, value)
    }

    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        match self.peer(pe)? {
            Peer::Far(wire) => wire.store_lines(pe, lines),
            Peer::Here(window) => {
                for line in lines {
                    window.put_line(line.offset_bytes, line.header, line.payload)?;
                }
                Ok(())
            }
        }
    }

    fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        match self.peer(pe)? {
            Peer::Far(wire) => wire.store_behind(pe, parts, line),
            Peer::Here(_) => (self as &dyn Wire).store_each_behind(pe, parts, line),
        }
    }
}

impl wire::PrivateCopies for Stations {
    fn lends_private(&self, pe: PeId) -> bool {
        let way = self.table.met(pe).map(|met| &met.way);
        pe != 0 && self.proof.is_some() && matches!(way, Some(Way::Mapped { .. }))
    }

    fn copy_private(&self, pe: PeId, address: u64, dst: &mut [u8]) -> bool {
        match self.table.met(pe).map(|met| &met.way) {
            Some(Way::Mapped { beside, .. }) => {
                let beside = beside.as_ref();
                beside.is_some_and(|beside| beside.copy(address, dst))
            }
            _ => false,
        }
    }

    fn copy_private_to(&self, pe: PeId, address: u64, to: (&Memory, usize, usize)) -> bool {
        match self.table.met(pe).map(|met| &met.way) {
            Some(Way::Mapped { beside, .. }) => {
                let beside = beside.as_ref();
                beside.is_some_and(|beside| beside.copy_to(address, to))
            }
            _ => false,
        }
    }
}

impl wire::Liveness for Stations {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        Ok(!self.table.has_ended(pe))
    }

    fn loss(&self, pe: PeId) -> Loss {
        let outside = self.outside.as_ref();
        outside.map_or(Loss::Ended, |outside| outside.loss(pe))
    }

    fn give_up(&self, _pe: PeId) {}
}

impl wire::Numbering for Stations {
    fn number_at(&self, pe: PeId) -> PeId {
        self.table.met(pe).map_or(0, |met| met.number)
    }
}

/// Offloaded, because the window to a station may have come after the routes were found.
impl Offload for Stations {
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        match self.peer(pe)? {
            Peer::Here(window) => window.get(offset_bytes, dst),
            Peer::Far(_) => Err(only_stores(pe)),
        }
    }

    fn atomic(&self, pe: PeId, request: Request) -> Result<u64, TransportError> {
        let Peer::Here(window) = self.peer(pe)? else {
            return Err(only_stores(pe));
        };
        let old = apply(window, &request)?;
        window.notify();
        Ok(old)
    }
}

impl Drop for Stations {
    /// A copy of the process has no thread, only its handle.
    fn drop(&mut self) {
        self.lend_no_more();
        // Before the connections close: stores have arrived before peers see this one go.
        if let Some(outside) = &self.outside {
            outside.finish();
        }
        self.acceptor.end(self.fork_guard.is_here());
    }
}
