//! The PE's end: a wire that asks the simulator for everything.

use core::time::Duration;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::ThreadId;

use hostwire_transport::addresses::Addresses;
use hostwire_transport::chain::{Block, ChainLimits, Chains};
use hostwire_transport::error::{EnvironmentFault, Loss, PeId, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::os;
use hostwire_transport::route::Route;
use hostwire_transport::visibility::Visibility;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::wire::{self, Capabilities, Wire};

use super::clock;
use super::computing;
use super::desk::{Desk, PAYLOAD_BYTES, Turn};
use super::hello;
use super::model;
use super::request::{Arming, Kind, Words, block_bytes};

const WORD_BYTES: usize = 8;
const LINE_BYTES: usize = 64;
/// How often a PE checks that the simulator still exists while it waits for the turn. The wait itself may take any
/// time.
const LOOK: Duration = Duration::from_secs(1);

/// See the [module text](super).
///
/// Only the thread that begins uses it: with several threads, their order would depend on the host.
pub struct Modelled {
    fork_guard: ForkGuard,
    pe: PeId,
    pes: u32,
    segment: Window,
    /// By it the PEs see which of them live, until all have begun.
    _wire: Option<Arc<dyn Wire>>,
    addresses: Addresses,
    desk: Desk,
    socket: OwnedFd,
    /// The limits of a chain of puts that the hardware makes itself, as the simulator says when the PE begins.
    chains: OnceLock<ChainLimits>,
    state: Mutex<PeState>,
}

#[derive(Debug, Default)]
struct PeState {
    /// The thread that takes part.
    thread: Option<ThreadId>,
    arming: Arming,
    ended: bool,
}

impl Modelled {
    /// The wire of a PE that shares memory with the others. It takes part in the run of the model
    /// as soon as it [begins](hostwire_transport::wire::Lifetime::begin), and makes no request before.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the descriptors are not those of a simulator.
    pub fn new(
        wire: Arc<dyn Wire>,
        (desk, socket): (OwnedFd, OwnedFd),
    ) -> Result<Self, TransportError> {
        let seat = (wire.pe(), wire.pes());
        let segment = wire.segment().clone();
        Self::over(seat, segment, Some(wire), (Desk::map(&desk)?, socket))
    }

    /// The wire of a PE with a segment of its own, of so many bytes for so many PEs, which knows the others only from
    /// its desk. Also gives the number of the job.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn alone<E: From<TransportError>>(
        segment_bytes: impl FnOnce(u32) -> Result<usize, E>,
        (desk, socket): (OwnedFd, OwnedFd),
    ) -> Result<(Self, u128), E> {
        let desk = Desk::map(&desk)?;
        let (pe, pes, job) = desk.seat();
        if pe >= pes {
            return Err(TransportError::environment(
                "reading the desk of the simulator",
                EnvironmentFault::unexpected(
                    "the number of this PE",
                    format_args!("PE {pe} of {pes}"),
                ),
            )
            .into());
        }
        // Before the first store that a sleeping peer relies on.
        hostwire_transport::sync::registered();
        let memory = hostwire_transport::shm::lone("hostwire-segment", segment_bytes(pes)?)?;
        let segment = Window::own(memory, Visibility::Coherent)?;
        let wire = Self::over((pe, pes), segment, None, (desk, socket))?;
        Ok((wire, job))
    }

    fn over(
        (pe, pes): (PeId, u32),
        segment: Window,
        wire: Option<Arc<dyn Wire>>,
        (desk, socket): (Desk, OwnedFd),
    ) -> Result<Self, TransportError> {
        Ok(Self {
            fork_guard: ForkGuard::new(pe)?,
            addresses: Addresses::new(pes, segment.memory())?,
            chains: OnceLock::new(),
            state: Mutex::default(),
            _wire: wire,
            pe,
            pes,
            segment,
            desk,
            socket,
        })
    }

    /// Whether it takes part, or has done so.
    pub fn has_begun(&self) -> bool {
        self.state().thread.is_some()
    }

    /// Whether the program has read a clock since it got the turn.
    pub fn has_spent(&self) -> bool {
        self.desk.spent_ps() > 0
    }

    /// As [`sleep`](hostwire_transport::wire::Bell::sleep), for at most `limit`, but at least as long as a look at
    /// memory takes. The look before it, since the wire was [armed](hostwire_transport::wire::Bell::arm), is included.
    ///
    /// # Errors
    /// Those of all calls.
    pub fn doze(&self, limit: Duration) -> Result<(), TransportError> {
        self.ask(timed(Kind::Doze, limit), &[])
    }

    fn state(&self) -> MutexGuard<'_, PeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a request, and waits until it is done.
    fn ask(&self, words: Words, bytes: &[u8]) -> Result<(), TransportError> {
        self.fork_guard.check()?;
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
        computing::count(&self.desk);
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
        computing::begin(&self.desk);
        answer
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
            // The PE sends only its hello, and the simulator nothing: this is the end.
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

    /// Checks a store of `len` bytes. Returns PE and place, or `None` for a store to the own segment.
    fn place(
        &self,
        kind: Kind,
        pe: PeId,
        offset_bytes: usize,
        (len, align): (usize, usize),
    ) -> Result<Option<Words>, TransportError> {
        if pe == self.pe {
            self.fork_guard.check()?;
            return Ok(None);
        }
        self.addresses.of(pe, offset_bytes, len, align)?;
        self.segment.memory().range(offset_bytes, len)?;
        Ok(Some(Words {
            pe,
            offset_bytes,
            ..Words::new(kind)
        }))
    }
}

/// The words of a request with a time.
fn timed(kind: Kind, time: Duration) -> Words {
    let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    Words {
        value: ns.saturating_mul(1_000),
        ..Words::new(kind)
    }
}

#[cold]
fn refused(expected: &'static str, got: &'static str) -> TransportError {
    TransportError::misused("using a job in virtual time", expected, got)
}

impl Wire for Modelled {
    fn pe(&self) -> PeId {
        self.pe
    }

    fn pes(&self) -> u32 {
        self.pes
    }

    fn segment(&self) -> &Window {
        &self.segment
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        match pe == self.pe {
            true => Some(Route::Mapped(self.segment.clone())),
            false => (pe < self.pes).then_some(Route::Carried),
        }
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        match self.place(Kind::Store, pe, offset_bytes, (src.len(), 1))? {
            None => self.segment.put(offset_bytes, src),
            Some(_) if src.is_empty() => Ok(()),
            Some(words) => self.ask(words, src),
        }
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        let size = (WORD_BYTES, WORD_BYTES);
        match self.place(Kind::Word, pe, offset_bytes, size)? {
            None => self.segment.put_word(offset_bytes, value),
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
            None => self.segment.put_line(offset_bytes, header, payload),
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

    fn wait_limits(&self) -> WaitLimits {
        WaitLimits::SLEEP_ONLY
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            liveness: Some(self),
            lifetime: Some(self),
            bell: Some(self),
            clock: Some(self),
            chains: self.chains.get().map(|_| self as &dyn Chains),
            ..Capabilities::NONE
        }
    }
}

impl wire::Liveness for Modelled {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.addresses.of(pe, 0, 0, 1)?;
        Ok(!self.desk.has_ended(pe as usize))
    }

    fn loss(&self, _pe: PeId) -> Loss {
        Loss::Ended
    }

    fn give_up(&self, _pe: PeId) {}
}

impl wire::Lifetime for Modelled {
    fn begin(&self) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        let mut state = self.state();
        hello::send(&self.socket, self.pe, self.pes, self.segment.memory())?;
        state.thread = Some(std::thread::current().id());
        self.desk.set_thread(os::process::thread());
        self.wait_for_turn()?;
        if let Some(limits) = self.desk.chain_limits() {
            let _ = self.chains.set(limits);
        }
        computing::begin(&self.desk);
        Ok(())
    }

    fn finish(&self) {
        let _ = self.request(Kind::End);
    }

    fn close_recording(&self) -> Result<(), TransportError> {
        Ok(())
    }
}

impl wire::Bell for Modelled {
    fn arm(&self, wanted: Duration) -> Duration {
        self.state().arming = Arming::Armed;
        wanted
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        wanted
    }

    /// Sleeps until a peer stores or ends, without a time limit. Always reports that no peer rang,
    /// because an unneeded wake-up costs the peer nothing here.
    fn sleep(&self, _limit: Duration) -> bool {
        // This call cannot return an error; the next call that can does.
        let _ = self.request(Kind::Sleep);
        false
    }
}

impl wire::Clock for Modelled {
    fn is_in_virtual_time(&self) -> bool {
        true
    }

    fn now(&self) -> Duration {
        computing::count(&self.desk);
        clock::time(self.desk.time_ps())
    }

    fn nap(&self, time: Duration) {
        let _ = self.ask(timed(Kind::Nap, time), &[]);
    }

    fn yield_now(&self) {
        let _ = self.request(Kind::Yield);
    }
}

impl Chains for Modelled {
    fn chain_limits(&self) -> ChainLimits {
        self.chains.get().copied().unwrap_or(ChainLimits::NONE)
    }

    fn put_chain(&self, blocks: &[Block]) -> Result<(), TransportError> {
        let segment = self.segment.memory();
        self.chain_limits().check(blocks, self.pes, segment)?;
        self.ask(Words::new(Kind::Chain), &block_bytes(blocks))
    }
}

impl Drop for Modelled {
    fn drop(&mut self) {
        let takes_part = {
            let state = self.state();
            state.thread.is_some() && !state.ended
        };
        if self.fork_guard.is_here() && takes_part {
            let _ = self.request(Kind::End);
        }
    }
}
