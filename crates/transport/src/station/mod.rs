//! Processes that no launcher brought together: each meets those whose [`Name`] it gets.
//!
//! A *station* belongs to no job. It numbers the stations that it meets itself, in the order in which
//! it hears of them: 0 is itself. So each has numbers of its own, and what a segment has for a peer lies
//! at the number that the *owner of the segment* gave that peer: see [`Transport::number_at`].
//!
//! Two stations meet when one first wants something of the other ([`Stations::meet`]): it connects
//! to the Unix socket of the name, shows the key, and both hand over the memory of their segments and
//! say how they number each other. A thread of each station answers, whatever its program does.
//! Both may begin at once: then they meet twice, with the same result. The connection stays, so that
//! the end of a process shows, however it comes. A connection of another user, or without the key, is
//! dropped unanswered.
//!
//! Stations of one host only. A segment is as large for all peers that there may be
//! ([`PEERS_MAX`]); its pages are allocated on first touch.

mod hello;
mod name;
mod porter;
mod private;
mod table;
#[cfg(test)]
mod tests;

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::error::{EnvironmentFault, Loss, PeId, TransportError};
use crate::operation::{Request, apply};
use crate::origin::Origin;
use crate::route::Route;
use crate::shm::{create_file, handover, map_whole};
use crate::transport::{Offload, Transport};
use crate::visibility::Visibility;
use crate::wait::WaitLimits;
use crate::window::Window;

use hello::{Answer, Hello};
pub use name::Name;
use porter::Porter;
use private::{Beside, Proof};
pub use table::News;
use table::{Met, Table};

/// Most stations that one meets in its life, itself included.
pub const PEERS_MAX: u32 = 1024;

/// How long a station waits for the answer of another, which a thread of its own gives.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// After a connection that ended without an answer.
const AGAIN_AFTER: Duration = Duration::from_millis(10);

/// A station, as a wire to all that it meets. See the [module text](self).
pub struct Stations {
    origin: Origin,
    name: Name,
    /// What all have to have alike: bytes of a segment, and what those mean.
    terms: Terms,
    file: Arc<OwnedFd>,
    segment: Window,
    table: Arc<Table>,
    porter: Porter,
    /// Private memory of this process is lent to others, and theirs copied, in one copy.
    proof: Option<Proof>,
    limits: WaitLimits,
}

/// What two stations must have alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// What memory and addresses mean.
    pub version: u64,
    /// How long a segment is.
    pub segment_bytes: u64,
}

impl Stations {
    /// A new one, which others can meet from now on.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: no memory, no descriptors, no thread.
    pub fn open(terms: Terms) -> Result<Self, TransportError> {
        Self::start(terms, true)
    }

    /// As [`open`](Self::open), and as if the kernel let no process look into another: long messages
    /// go through staging memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_apart(terms: Terms) -> Result<Self, TransportError> {
        Self::start(terms, false)
    }

    fn start(terms: Terms, lends: bool) -> Result<Self, TransportError> {
        // Before the first store that a sleeping peer relies on.
        crate::sync::registered();
        let bytes = usize::try_from(terms.segment_bytes).unwrap_or(usize::MAX);
        let file = Arc::new(create_file("hostwire-station", bytes)?);
        let segment = Window::own(map_whole(&*file)?, Visibility::Coherent)?;
        let name = Name::draw()?;
        let table = Arc::new(Table::new(name, segment.clone())?);
        let proof = lends.then(|| Proof::new(name.key())).transpose()?;
        let proof_at = proof.as_ref().map_or(0, Proof::address);
        let porter = Porter::start(terms, Arc::clone(&file), proof_at, Arc::clone(&table))?;
        Ok(Self {
            origin: Origin::new(0)?,
            name,
            terms,
            file,
            segment,
            table,
            porter,
            proof,
            limits: WaitLimits::for_pes(2),
        })
    }

    /// What others need to reach it.
    pub fn name(&self) -> Name {
        self.name
    }

    /// The number of the station of this name, from now on.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if it is on another host, if its name says a socket of one
    /// station and the key of another, or if there are [`PEERS_MAX`] already.
    pub fn number(&self, name: &Name) -> Result<PeId, TransportError> {
        self.origin.check()?;
        self.table.number(name)
    }

    /// The name of a station that has a number.
    pub fn name_of(&self, pe: PeId) -> Option<Name> {
        self.table.name_of(pe)
    }

    /// Meets it, unless that has been done.
    ///
    /// # Errors
    /// [`TransportError::PeerLost`] if it has ended; [`TransportError::Environment`] if it does not
    /// answer, or refuses.
    pub fn meet(&self, pe: PeId) -> Result<(), TransportError> {
        self.origin.check()?;
        if self.table.met(pe).is_some() && !self.table.has_ended(pe) {
            return Ok(());
        }
        let name = self.table.name_of(pe).ok_or_else(|| no_such(pe))?;
        if self.table.has_ended(pe) {
            return Err(ended(pe));
        }
        let deadline = Instant::now() + ANSWER_WITHIN;
        loop {
            if let Some((socket, answer)) = self.ask(pe, &name, deadline)? {
                let lent = self.proof.as_ref();
                let met = Met {
                    window: window(&answer.file, self.terms)?,
                    number: answer.number,
                    beside: lent.and_then(|_| Beside::of(&socket, answer.proof_at, name.key())),
                };
                self.table.join(pe, met)?;
                self.porter.watch(socket, pe);
                return Ok(());
            }
            // It has no descriptor left, or too many strangers at once: that passes. If it has
            // ended, nobody listens the next time.
            if Instant::now() >= deadline {
                let expected = "an answer";
                let fault = EnvironmentFault::unexpected(expected, "closed connections");
                return Err(failed(pe, fault));
            }
            std::thread::sleep(AGAIN_AFTER);
        }
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

    /// What has happened since the last call: at most one call gets each.
    pub fn take_news(&self) -> Vec<News> {
        self.table.take_news()
    }

    /// From now on nobody copies private memory of this process: before buffers are given back whose
    /// messages have not ended.
    pub fn lend_no_more(&self) {
        if let Some(proof) = self.proof.as_ref().filter(|_| self.origin.is_here()) {
            proof.wipe();
        }
    }

    /// Has nothing to do with that station any more: it sees this one go.
    pub fn part(&self, pe: PeId) {
        self.table.end(pe);
        self.porter.part();
    }

    fn peer(&self, pe: PeId) -> Result<&Window, TransportError> {
        self.origin.check()?;
        match self.table.met(pe) {
            Some(met) => Ok(&met.window),
            None => Err(no_such(pe)),
        }
    }
}

fn failed(pe: PeId, fault: EnvironmentFault) -> TransportError {
    TransportError::environment(format!("meeting station {pe}"), fault)
}

/// The segment that another station handed over.
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

fn ended(pe: PeId) -> TransportError {
    let loss = Loss::Ended;
    TransportError::PeerLost { pe, loss }
}

impl Transport for Stations {
    fn pe(&self) -> PeId {
        0
    }

    fn pes(&self) -> u32 {
        PEERS_MAX
    }

    fn number_at(&self, pe: PeId) -> PeId {
        self.table.met(pe).map_or(0, |met| met.number)
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    /// Before two meet, no window leads there yet.
    fn route(&self, pe: PeId) -> Option<Route> {
        match self.table.met(pe) {
            Some(met) => Some(Route::Mapped(met.window.clone())),
            None => (pe < PEERS_MAX).then_some(Route::Offloaded),
        }
    }

    fn offload(&self) -> Option<&dyn Offload> {
        Some(self)
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        self.peer(pe)?.put(offset_bytes, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.peer(pe)?.put_word(offset_bytes, value)
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.peer(pe)?.put_line(offset_bytes, header, payload)
    }

    fn lends_private(&self, pe: PeId) -> bool {
        pe != 0 && self.proof.is_some() && self.table.met(pe).is_some()
    }

    fn copy_private(&self, pe: PeId, address: u64, dst: &mut [u8]) -> bool {
        let met = self.table.met(pe);
        let beside = met.and_then(|met| met.beside.as_ref());
        beside.is_some_and(|beside| beside.copy(address, dst))
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.origin.check()?;
        Visibility::Coherent.fence();
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.origin.check()?;
        Visibility::Coherent.quiet();
        Ok(())
    }

    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        Ok(!self.table.has_ended(pe))
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }
}

/// A station asks for what lies behind a window that may have come after the routes were found.
impl Offload for Stations {
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        self.peer(pe)?.get(offset_bytes, dst)
    }

    fn atomic(&self, pe: PeId, request: Request) -> Result<u64, TransportError> {
        let window = self.peer(pe)?;
        let old = apply(window, &request)?;
        window.notify();
        Ok(old)
    }
}

impl Drop for Stations {
    /// A copy of the process has no thread, only its handle.
    fn drop(&mut self) {
        self.lend_no_more();
        self.porter.end(self.origin.is_here());
    }
}
