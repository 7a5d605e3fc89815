//! The PE's end: a wire that asks the simulator for everything.

use core::time::Duration;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;

use crate::addresses::Addresses;
use crate::error::{EnvironmentFault, PeId, TransportError};
use crate::origin::Origin;
use crate::os;
use crate::route::Route;
use crate::shm::Shm;
use crate::transport::Transport;
use crate::wait::WaitLimits;
use crate::window::Window;

use super::clock;
use super::desk::{Desk, PAYLOAD_BYTES, Turn};
use super::hello;
use super::model;
use super::request::{Arming, Kind, Words};

const WORD_BYTES: usize = 8;
const LINE_BYTES: usize = 64;
/// The turn comes back when the simulator has done what was asked for; how long that takes does not
/// matter. It looks so often whether there is still a simulator.
const LOOK: Duration = Duration::from_secs(1);

/// See the [module text](super).
///
/// One thread uses it: the one that begins. Which of several threads runs would depend on the
/// host.
#[derive(Debug)]
pub struct Modelled {
    origin: Origin,
    /// The memory of the PEs.
    wire: Shm,
    addresses: Addresses,
    desk: Desk,
    socket: OwnedFd,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Whose thread takes part.
    thread: Option<ThreadId>,
    arming: Arming,
    ended: bool,
    /// The processor time of the thread when it had the turn back.
    computes_since: Duration,
}

impl Modelled {
    /// The wire of a PE that shares memory with the others. It takes part in the run of the model
    /// as soon as it [begins](Transport::begin), and asks for nothing before.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the descriptors are not those of a simulator.
    pub fn new(wire: Shm, (desk, socket): (OwnedFd, OwnedFd)) -> Result<Self, TransportError> {
        Ok(Self {
            origin: Origin::new(wire.pe())?,
            addresses: Addresses::new(wire.pes(), wire.segment().memory())?,
            desk: Desk::map(&desk)?,
            socket,
            state: Mutex::default(),
            wire,
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for something, and waits until it is done.
    fn ask(&self, words: Words, bytes: &[u8]) -> Result<(), TransportError> {
        self.origin.check()?;
        let mut state = self.state();
        if state.ended {
            return Err(refused("a PE that takes part", "one that has left the job"));
        }
        let here = std::thread::current().id();
        match state.thread {
            None => return Err(refused("a PE that has begun", "one that has not")),
            Some(thread) if thread == here => {}
            Some(_) => {
                let got = "a call from another thread of the PE: use one thread per PE";
                return Err(refused("the thread that has used the job before", got));
            }
        }
        self.spend_computing(state.computes_since);
        let arming = core::mem::take(&mut state.arming);
        let mut pieces = bytes.chunks(PAYLOAD_BYTES).peekable();
        let mut last: &[u8] = &[];
        while let Some(piece) = pieces.next() {
            if pieces.peek().is_none() {
                last = piece;
                break;
            }
            self.exchange(Words::new(Kind::Piece), piece)?;
        }
        state.ended = words.kind == Kind::End;
        let answer = self.exchange(Words { arming, ..words }, last);
        if self.desk.compute_ns_per_s() > 0 {
            state.computes_since = os::process::thread_time();
        }
        answer
    }

    /// Where computing takes time: all that this thread has computed since it had the turn.
    fn spend_computing(&self, since: Duration) {
        let ns_per_s = self.desk.compute_ns_per_s();
        if ns_per_s > 0 {
            let computed = os::process::thread_time().saturating_sub(since);
            let time_ps = computed.as_nanos() * u128::from(ns_per_s) / 1_000_000;
            self.desk.spend_ps(time_ps.try_into().unwrap_or(u64::MAX));
        }
    }

    fn exchange(&self, words: Words, bytes: &[u8]) -> Result<(), TransportError> {
        let words = Words {
            len_bytes: bytes.len(),
            ..words
        };
        self.desk.set_payload(bytes)?;
        self.desk.set_request(words.to_words());
        self.desk.hand_to(Turn::Model);
        self.wait_for_turn()?;
        match usize::try_from(self.desk.status()) {
            Ok(0) => Ok(()),
            len => Err(self.refusal(len.unwrap_or(PAYLOAD_BYTES).min(PAYLOAD_BYTES))?),
        }
    }

    /// The error in the answer.
    #[cold]
    fn refusal(&self, len: usize) -> Result<TransportError, TransportError> {
        let mut text = Vec::new();
        self.desk.take_payload(len, &mut text)?;
        let refusal = String::from_utf8_lossy(&text).into();
        Ok(TransportError::environment(
            "on the modelled hardware",
            EnvironmentFault::Model { refusal },
        ))
    }

    fn wait_for_turn(&self) -> Result<(), TransportError> {
        while !self.desk.wait_for(Turn::Pe, LOOK) {
            // The PE says everything at the beginning, and the simulator nothing: this is the end.
            let gone = model::is_readable(&self.socket, Duration::ZERO);
            if gone && !self.desk.wait_for(Turn::Pe, Duration::ZERO) {
                return Err(TransportError::environment(
                    "taking turns with the simulator",
                    EnvironmentFault::Model {
                        refusal: "it has ended".into(),
                    },
                ));
            }
        }
        Ok(())
    }

    fn request(&self, kind: Kind) -> Result<(), TransportError> {
        self.ask(Words::new(kind), &[])
    }

    /// A store to another PE of `len` bytes; its number and place, or nothing if it is one to the
    /// own segment.
    fn place(
        &self,
        kind: Kind,
        pe: PeId,
        offset_bytes: usize,
        (len, align): (usize, usize),
    ) -> Result<Option<Words>, TransportError> {
        if pe == self.wire.pe() {
            return Ok(None);
        }
        self.addresses.of(pe, offset_bytes, len, align)?;
        self.wire.segment().memory().range(offset_bytes, len)?;
        Ok(Some(Words {
            pe,
            offset_bytes,
            ..Words::new(kind)
        }))
    }
}

#[cold]
fn refused(expected: &'static str, got: &'static str) -> TransportError {
    TransportError::misused("using a job in virtual time", expected, got)
}

impl Transport for Modelled {
    fn pe(&self) -> PeId {
        self.wire.pe()
    }

    fn begin(&self) -> Result<(), TransportError> {
        self.origin.check()?;
        let mut state = self.state();
        let segment = self.wire.segment().memory();
        hello::send(&self.socket, self.wire.pe(), self.wire.pes(), segment)?;
        state.thread = Some(std::thread::current().id());
        self.desk.set_thread(os::process::thread());
        self.wait_for_turn()?;
        state.computes_since = os::process::thread_time();
        Ok(())
    }

    fn pes(&self) -> u32 {
        self.wire.pes()
    }

    fn segment(&self) -> &Window {
        self.wire.segment()
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let route = self.wire.route(pe)?;
        Some(match pe == self.wire.pe() {
            true => route,
            false => Route::Carried,
        })
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        match self.place(Kind::Store, pe, offset_bytes, (src.len(), 1))? {
            None => self.wire.store(pe, offset_bytes, src),
            Some(_) if src.is_empty() => Ok(()),
            Some(words) => self.ask(words, src),
        }
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        let size = (WORD_BYTES, WORD_BYTES);
        match self.place(Kind::Word, pe, offset_bytes, size)? {
            None => self.wire.store_word(pe, offset_bytes, value),
            Some(words) => self.ask(Words { value, ..words }, &[]),
        }
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        let size = (LINE_BYTES, LINE_BYTES);
        let place = self.place(Kind::Line, pe, offset_bytes, size)?;
        if payload.len() > LINE_BYTES - WORD_BYTES {
            return Err(TransportError::OutOfRange {
                offset_bytes: WORD_BYTES,
                len_bytes: payload.len(),
                segment_bytes: LINE_BYTES,
            });
        }
        let value = header;
        match place {
            None => self.wire.store_line(pe, offset_bytes, header, payload),
            Some(words) => self.ask(Words { value, ..words }, payload),
        }
    }

    fn fence(&self) -> Result<(), TransportError> {
        self.request(Kind::Fence)
    }

    fn quiet(&self) -> Result<(), TransportError> {
        self.request(Kind::Quiet)
    }

    fn poll(&self) -> Result<bool, TransportError> {
        let mut state = self.state();
        if state.arming == Arming::Armed {
            // The sleep that follows includes this look.
            state.arming = Arming::Looked;
            return Ok(false);
        }
        drop(state);
        self.request(Kind::Look)?;
        Ok(false)
    }

    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.addresses.of(pe, 0, 0, 1)?;
        Ok(!self.desk.has_ended(pe as usize))
    }

    fn finish(&self) {
        let _ = self.request(Kind::End);
    }

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SLEEP_ONLY
    }

    fn arm(&self, wanted: Duration) -> Duration {
        self.state().arming = Arming::Armed;
        wanted
    }

    /// Sleeps until a peer stores or ends, without a time limit. Always reports that no peer rang,
    /// because an unneeded wake-up costs the peer nothing here.
    fn sleep(&self, _limit: Duration) -> bool {
        // This call cannot return an error; the next call that can does.
        let _ = self.request(Kind::Sleep);
        false
    }

    fn is_in_virtual_time(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        clock::time(self.desk.clock_ps().saturating_add(self.desk.spent_ps()))
    }

    fn nap(&self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let words = Words {
            value: ns.saturating_mul(1_000),
            ..Words::new(Kind::Nap)
        };
        let _ = self.ask(words, &[]);
    }

    fn yield_now(&self) {
        let _ = self.request(Kind::Yield);
    }
}

impl Drop for Modelled {
    fn drop(&mut self) {
        let takes_part = {
            let state = self.state();
            state.thread.is_some() && !state.ended
        };
        if self.origin.is_here() && takes_part {
            let _ = self.request(Kind::End);
        }
    }
}
