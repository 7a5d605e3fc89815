//! The simulator's end of a desk.

use core::time::Duration;
use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::time::Instant;

use hostwire_transport::chain::ChainLimits;
use hostwire_transport::error::{EnvironmentFault, PeId, TransportError};
use hostwire_transport::memory::Memory;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::desk::{Desk, PAYLOAD_BYTES, Part, Turn};
use super::hello;
use super::request::{Arming, Kind, Request, Words};

/// How often the simulator checks that a PE that has the turn still lives.
const LOOK: Duration = Duration::from_millis(50);

/// The simulator's end of the desk of a PE that has begun.
#[derive(Debug)]
pub struct ModelEnd {
    pe: PeId,
    desk: Desk,
    socket: OwnedFd,
    /// The first bytes of a long store.
    pieces: RefCell<Vec<u8>>,
    /// The longest store: the size of a segment.
    bytes_max: usize,
}

/// A PE that has begun.
#[derive(Debug)]
pub struct Begun {
    /// Its desk.
    pub end: ModelEnd,
    /// Its segment.
    pub segment: Memory,
}

/// What a PE with the turn does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It makes this request.
    Request {
        /// What.
        request: Request,
        /// How far it is with falling asleep.
        arming: Arming,
        /// Time that it has spent before, in ps.
        spent_ps: u64,
    },
    /// Its process has ended, or has closed its socket.
    Gone,
    /// The caller has stopped the wait.
    Stopped,
}

/// The simulator's ends of desk and socket, before the PE begins.
#[derive(Debug)]
pub struct Seat {
    desk: Desk,
    socket: OwnedFd,
}

impl Seat {
    /// Makes a desk and a connection, and the PE's ends: the descriptors that it has to inherit, as
    /// [`VARIABLE`](super::VARIABLE) names them.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the system has no room for them.
    pub fn new() -> Result<(Self, [OwnedFd; 2]), TransportError> {
        let (here, there) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC,
            None,
        )
        .map_err(|errno| TransportError::environment("connecting a PE and its simulator", errno))?;
        let file = Desk::create()?;
        let desk = Desk::map(&file)?;
        Ok((Self { desk, socket: here }, [file, there]))
    }

    /// Makes computing take time: so much virtual time for a second of computing, in ns. 0 is none.
    pub fn measure_computing(&self, ns_per_s: u64) {
        self.desk.set_compute_ns_per_s(ns_per_s);
    }

    /// Stores number, number of PEs and job on the desk, for a PE that no launcher tells.
    pub fn assign(&self, (pe, pes): (PeId, u32), job: u128) {
        self.desk.set_seat(pe, pes, job);
    }

    /// Says how many bytes the hardware has for the segment of the PE.
    pub fn set_room(&self, bytes: u64) {
        self.desk.set_room_bytes(bytes);
    }

    /// Waits until this PE, one of `pes`, begins. `None` if its process ends before, or if `stop`
    /// says so.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if its hello makes no sense.
    pub fn wait_for(
        self,
        (pe, pes): (PeId, u32),
        stop: &dyn Fn() -> bool,
    ) -> Result<Option<Begun>, TransportError> {
        while !is_readable(&self.socket, LOOK) {
            if stop() {
                return Ok(None);
            }
        }
        let Some(hello) = hello::receive(&self.socket)? else {
            return Ok(None);
        };
        if (hello.pe, hello.pes) != (pe, pes) {
            return Err(TransportError::environment(
                "a PE beginning in virtual time",
                EnvironmentFault::unexpected(
                    format_args!("PE {pe} of {pes}"),
                    format_args!("PE {} of {}", hello.pe, hello.pes),
                ),
            ));
        }
        let end = ModelEnd {
            pe,
            desk: self.desk,
            socket: self.socket,
            pieces: RefCell::default(),
            bytes_max: hello.segment.len_bytes(),
        };
        let segment = hello.segment;
        Ok(Some(Begun { end, segment }))
    }
}

impl ModelEnd {
    /// Its number.
    pub fn pe(&self) -> PeId {
        self.pe
    }

    /// The hardware makes chains of puts itself. Call this before the PE gets its first turn.
    pub fn tell_chains(&self, limits: ChainLimits) {
        self.desk.set_chain_limits(limits);
    }

    /// Tells this PE that a PE has ended in the model.
    pub fn tell_ended(&self, pe: PeId) {
        self.desk.set_ended(pe as usize);
    }

    /// Gives the PE the turn, at this time of the model, with the answer to its request, and waits
    /// for its next request. While it makes none, `idle` is called from time to time with the
    /// waiting time; `Break` ends the wait.
    ///
    /// # Errors
    /// [`TransportError::Environment`] for an impossible request.
    pub fn next(
        &self,
        time_ps: u64,
        answer: Result<(), TransportError>,
        idle: &dyn Fn(Duration) -> core::ops::ControlFlow<()>,
    ) -> Result<Next, TransportError> {
        self.desk.set_clock_ps(time_ps);
        self.answer(answer)?;
        self.desk.set_part(Part::During);
        loop {
            self.desk.hand_to(Turn::Pe);
            let since = Instant::now();
            while !self.desk.wait_for(Turn::Model, LOOK) {
                // It may have handed over just before its end.
                let gone = is_readable(&self.socket, Duration::ZERO);
                if gone && !self.desk.wait_for(Turn::Model, Duration::ZERO) {
                    return Ok(Next::Gone);
                }
                if idle(since.elapsed()).is_break() {
                    return Ok(Next::Stopped);
                }
            }
            if let Some(next) = self.take()? {
                return Ok(next);
            }
        }
    }

    /// Releases the PE: it takes part no longer.
    pub fn release(&self, time_ps: u64) {
        self.desk.set_clock_ps(time_ps);
        self.desk.set_status(0);
        self.desk.set_part(Part::After);
        self.desk.hand_to(Turn::Pe);
    }

    fn answer(&self, answer: Result<(), TransportError>) -> Result<(), TransportError> {
        let text = match answer {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        };
        let text = &text.as_bytes()[..text.len().min(PAYLOAD_BYTES)];
        self.desk.set_status(text.len() as u64);
        self.desk.set_payload(text)
    }

    /// The request on the desk; `None` if it was only a piece of one.
    fn take(&self) -> Result<Option<Next>, TransportError> {
        let nonsense = || {
            TransportError::environment(
                format!("serving PE {}", self.pe),
                EnvironmentFault::unexpected("a request", "other bytes"),
            )
        };
        let words = Words::parse(&self.desk.request()).ok_or_else(nonsense)?;
        let mut bytes = self.pieces.take();
        if bytes.len() + words.len_bytes > self.bytes_max {
            return Err(nonsense());
        }
        self.desk.take_payload(words.len_bytes, &mut bytes)?;
        if words.kind == Kind::Piece {
            self.pieces.replace(bytes);
            return Ok(None);
        }
        Ok(Some(Next::Request {
            arming: words.arming,
            spent_ps: self.desk.take_spent_ps(),
            request: words.with(bytes).ok_or_else(nonsense)?,
        }))
    }
}

/// Whether data, or the end, has come.
pub(super) fn is_readable(socket: &OwnedFd, limit: Duration) -> bool {
    let limit = Timespec {
        tv_sec: 0,
        tv_nsec: limit.subsec_nanos().into(),
    };
    let mut fds = [PollFd::new(socket, PollFlags::IN)];
    poll(&mut fds, Some(&limit)).is_ok_and(|ready| ready > 0)
}
