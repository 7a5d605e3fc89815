//! Gets and atomics on wires that only carry stores.
//!
//! The asking PE stores one self-validating line into a *request line* that it has in
//! the target's segment; the target's agent does the work on its own memory, stores any
//! data back, and then the *reply line*. A PE may have several requests under way to one target. The
//! target's agent serves them in the order of their numbers: see `agent/asking.rs`.
//!
//! | request line | | reply line | |
//! |---|---|---|---|
//! | header | number of the request in bits 31:0, operation in 39:32, operand bytes in 47:40 | header | number of the request; before, by the asking PE, that number with bit 63 |
//! | word 0 | offset | word 0 | old value |
//! | word 1 | operand, or length of a get | word 1 | [`DONE`] or [`REFUSED`] |
//! | word 2 | value to compare with, or where to store what was got: [`IN_LINE`] if that goes in the reply | words 2 to 6 | what was got, if it is short |
//! | words 3 to 6 | what is put, if it is short | | |
//!
//! Where no wire stores to registered memory, the agent of its PE also does the puts ([`PUT`]). The
//! data is in the request, or in the landing place of the asking PE if the agent can load from
//! there.
//!
//! Where the wire needs it, an agent runs as a thread of its own, so that requests are served while
//! the program computes. Every wait polls the agent as well.

mod asking;
mod getting;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use asking::{Answer, Asking, Data, LANDED_BYTES_MAX, Line, RequestId};
pub use getting::Getting;
use hostwire_address::Place;
use hostwire_transport::operation::apply;
use hostwire_transport::ring::PAYLOAD_BYTES;
use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};
use hostwire_transport::{Operation, PeId, Request, Route, TransportError, Window, Wire, worker};

use crate::attachment::{Attachment, Pace, Watch};
use crate::error::{Error, Misbehaviour, Result};
use crate::layout::{LANDING_BYTES, Layout, REQUEST_LINES};
use crate::registry::Registry;

const DONE: u64 = 1;
const REFUSED: u64 = 2;
/// Beside the operations of [`Operation`]: store to registered memory.
const PUT: u8 = 14;
/// As word 2: the data is in the line. The data of a put is in the request, that of a get in the
/// reply.
const IN_LINE: u64 = u64::MAX;
/// Bytes of a put that fit into a request.
const IN_REQUEST_BYTES: usize = PAYLOAD_BYTES - 24;
/// Bytes in front of the data in the payload of a reply.
const REPLY_HEAD_BYTES: usize = 16;
/// Bytes that a get brings back in its reply.
const IN_REPLY_BYTES: usize = PAYLOAD_BYTES - REPLY_HEAD_BYTES;

/// What a PE asks for, as it stands in its request line.
struct Asked {
    code: u8,
    operand_bytes: u8,
    offset_bytes: usize,
    operand: u64,
    compare: u64,
    data: [u8; IN_REQUEST_BYTES],
}

impl Asked {
    /// An operation that needs no data.
    fn operation(request: Request) -> Self {
        Self {
            code: request.operation as u8,
            operand_bytes: request.operand_bytes,
            offset_bytes: request.offset_bytes,
            operand: request.operand,
            compare: request.compare,
            data: [0; IN_REQUEST_BYTES],
        }
    }

    /// A get whose bytes come in the reply.
    fn get(offset_bytes: usize, len_bytes: usize) -> Self {
        Self::operation(Request {
            operation: Operation::Get,
            offset_bytes,
            operand_bytes: 0,
            operand: len_bytes as u64,
            compare: IN_LINE,
        })
    }

    /// The operation with its operands; `None` if there is no such operation.
    fn request(&self) -> Option<Request> {
        Some(Request {
            operation: Operation::from_code(self.code)?,
            offset_bytes: self.offset_bytes,
            operand_bytes: self.operand_bytes,
            operand: self.operand,
            compare: self.compare,
        })
    }

    fn line(&self) -> Line {
        let header = u64::from(self.code) << 32 | u64::from(self.operand_bytes) << 40;
        (header, self.payload())
    }

    fn payload(&self) -> [u8; PAYLOAD_BYTES] {
        let mut payload = [0; PAYLOAD_BYTES];
        let (words, data) = payload.split_at_mut(PAYLOAD_BYTES - IN_REQUEST_BYTES);
        let numbers = [self.offset_bytes as u64, self.operand, self.compare];
        for (bytes, number) in words.chunks_exact_mut(8).zip(numbers) {
            bytes.copy_from_slice(&number.to_le_bytes());
        }
        data.copy_from_slice(&self.data);
        payload
    }

    /// What a peer has stored.
    fn read(header: u64, payload: &[u8; PAYLOAD_BYTES]) -> Self {
        let word = |index: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&payload[index * 8..][..8]);
            u64::from_le_bytes(bytes)
        };
        let mut data = [0; IN_REQUEST_BYTES];
        data.copy_from_slice(&payload[PAYLOAD_BYTES - IN_REQUEST_BYTES..]);
        Self {
            code: (header >> 32) as u8,
            operand_bytes: (header >> 40) as u8,
            offset_bytes: word(0) as usize,
            operand: word(1),
            compare: word(2),
            data,
        }
    }
}

/// Who does a PE's work in the background: it serves the requests of peers, where the wire needs
/// that, and checks that peers are alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentMode {
    /// Threads.
    Thread,
    /// Only the waits of the PE. For simulated time.
    Polled,
}

/// The agent of one PE, and how it asks others. See the [module text](self).
#[derive(Debug)]
pub(crate) struct Agent {
    layout: Layout,
    /// Memory of this PE that it has registered.
    registry: Arc<Registry>,
    needed: AtomicBool,
    /// The thread that serves holds the lock.
    serving: Mutex<Serving>,
    asking: Asking,
    /// Whether a wait of the PE has served since the thread looked last.
    attended: AtomicBool,
    stop: AtomicBool,
}

/// What of the requests of others is done.
#[derive(Debug)]
struct Serving {
    /// By PE, the number of its last request that was served.
    served: Vec<u32>,
    /// Those that ask.
    asking: Vec<PeId>,
    /// By PE, whether it is one of those.
    asks: Vec<bool>,
}

impl Serving {
    fn new(pes: usize) -> Self {
        Self {
            served: vec![0; pes],
            asking: Vec::new(),
            asks: vec![false; pes],
        }
    }

    /// Finds those that have begun to ask.
    fn look_who_asks(&mut self, wire: &dyn Wire, layout: &Layout) -> Result<()> {
        if self.asking.len() == self.asks.len() {
            return Ok(());
        }
        let Self { asking, asks, .. } = self;
        let segment = wire.segment();
        let Some(words) = layout.asks(segment.visibility()) else {
            *asking = (0..asks.len() as PeId).collect();
            return Ok(());
        };
        let take_back = |at, value| segment.put_word_unannounced(at, value);
        words.look(
            |at| segment.load_word(at),
            take_back,
            |pe| {
                if let Some(asks) = asks.get_mut(pe as usize)
                    && !core::mem::replace(asks, true)
                {
                    asking.push(pe);
                }
            },
        )?;
        Ok(())
    }
}

/// How long the thread leaves the requests to a wait of the PE.
const ASIDE: Duration = Duration::from_micros(250);

impl Agent {
    /// Of a job of `pes` PEs. It is needed where a route of this PE needs one: reachability is symmetric, peers reach
    /// this PE in the way in which it reaches them.
    pub(crate) fn new(
        (pes, is_needed): (u32, bool),
        layout: Layout,
        registry: Arc<Registry>,
    ) -> Self {
        Self {
            layout,
            registry,
            needed: AtomicBool::new(is_needed),
            serving: Mutex::new(Serving::new(pes as usize)),
            asking: Asking::default(),
            attended: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        }
    }

    /// An agent is needed from now on, even if the routes do not need one.
    pub(crate) fn need(&self) {
        self.needed.store(true, Ordering::Release);
    }

    /// Starts the thread, if one is needed. It ends with [`stop`](Self::stop).
    pub(crate) fn start(
        self: &Arc<Self>,
        wire: &Arc<dyn Wire>,
        mode: AgentMode,
    ) -> Result<Option<std::thread::JoinHandle<()>>> {
        if !self.needed.load(Ordering::Acquire) || mode == AgentMode::Polled {
            return Ok(None);
        }
        self.stop.store(false, Ordering::Release);
        let (agent, wire) = (Arc::clone(self), Arc::clone(wire));
        worker::start("hostwire-agent", 128 << 10, move || agent.run(&*wire))
            .map(Some)
            .map_err(|e| TransportError::environment("starting the agent thread", e).into())
    }

    /// Ends the thread.
    pub(crate) fn stop(&self, wire: &dyn Wire) {
        self.stop.store(true, Ordering::Release);
        wire.segment().notify();
    }

    fn run(&self, wire: &dyn Wire) {
        // The program may want this core more than a spinning agent.
        let limits = WaitLimits {
            looks: 0,
            ..wire.wait_limits()
        };
        let mut backoff = Backoff::new(limits);
        while !self.stop.load(Ordering::Acquire) {
            if self.attended.swap(false, Ordering::Relaxed) {
                // The PE serves while it waits, and wants the core for that.
                wire.nap(ASIDE);
                continue;
            }
            match self.serve_some(wire) {
                Ok(true) => backoff = Backoff::new(limits),
                // A peer that cannot be answered notices this itself; others are not affected.
                Ok(false) | Err(_) => match backoff.step() {
                    WaitStep::Spin
                    | WaitStep::Pause
                    | WaitStep::Look
                    | WaitStep::Work
                    | WaitStep::Yield => wire.yield_now(),
                    WaitStep::Nap(time) => wire.nap(time),
                    WaitStep::Sleep(limit) => {
                        let limit = wire.arm(limit.min(Duration::from_millis(20)));
                        let nothing = self.serve_some(wire) == Ok(false);
                        if nothing && !self.stop.load(Ordering::Acquire) {
                            let begin = wire.now();
                            let rung = wire.sleep(limit);
                            backoff.woke(rung, wire.now().saturating_sub(begin));
                        }
                    }
                },
            }
        }
    }

    /// Answers the requests that have arrived.
    #[inline]
    pub(crate) fn serve(&self, wire: &dyn Wire) -> Result<()> {
        if self.needed.load(Ordering::Relaxed) {
            self.attended.store(true, Ordering::Relaxed);
            self.serve_some(wire)?;
        }
        Ok(())
    }

    /// Waits until the thread that serves now has finished: it may still use memory that is no
    /// longer registered.
    pub(crate) fn finish_serving(&self) {
        drop(self.serving.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn serve_some(&self, wire: &dyn Wire) -> Result<bool> {
        let mut serving = match self.serving.try_lock() {
            Ok(serving) => serving,
            // Another thread serves.
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let serving = &mut *serving;
        serving.look_who_asks(wire, &self.layout)?;
        let mut any = false;
        for pe in serving.asking.iter().copied() {
            let Some(served) = serving.served.get_mut(pe as usize) else {
                continue;
            };
            // Then it is the next PE's turn.
            for _ in 0..REQUEST_LINES {
                let number = served.wrapping_add(1);
                let Some(request) = self.read_request(wire, pe, number)? else {
                    break;
                };
                *served = number;
                self.answer(wire, pe, number, &request)?;
                any = true;
            }
        }
        Ok(any)
    }

    fn read_request(&self, wire: &dyn Wire, pe: PeId, number: u32) -> Result<Option<Asked>> {
        let segment = wire.segment();
        let at = self.layout.request(pe, number);
        let header = segment.load_word(at)?;
        if header as u32 != number {
            return Ok(None);
        }
        let mut payload = [0; PAYLOAD_BYTES];
        segment.memory().copy_out(at + 8, &mut payload)?;
        Ok(Some(Asked::read(header, &payload)))
    }

    fn answer(&self, wire: &dyn Wire, pe: PeId, number: u32, asked: &Asked) -> Result<()> {
        let mut payload = [0; PAYLOAD_BYTES];
        let (head, data) = payload.split_at_mut(REPLY_HEAD_BYTES);
        let mut data_bytes = 0;
        let outcome = match asked.request() {
            Some(request) if request.operation == Operation::Get => {
                let got = self.answer_get(wire, pe, request, data);
                data_bytes = got.unwrap_or(0);
                got.map(|_| 0)
            }
            Some(request) => self.apply(wire, request),
            None if asked.code == PUT => self.answer_put(wire, pe, asked),
            None => None,
        };
        let status = if outcome.is_some() { DONE } else { REFUSED };
        for (bytes, word) in head.chunks_exact_mut(8).zip([outcome.unwrap_or(0), status]) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        let payload = payload.get(..REPLY_HEAD_BYTES + data_bytes);
        let reply = self.layout.reply(wire.pe(), number);
        wire.store_line(pe, reply, u64::from(number), payload.unwrap_or_default())?;
        Ok(())
    }

    /// The memory of this PE that a peer names, if the program lets peers read and change it.
    fn programs_memory(
        &self,
        wire: &dyn Wire,
        offset_bytes: usize,
        len: usize,
    ) -> Option<(Window, usize)> {
        match Place::of(offset_bytes as u64)? {
            Place::Near(_) if self.layout.is_the_programs(offset_bytes, len) => {
                Some((wire.segment().clone(), offset_bytes))
            }
            Place::Near(_) => None,
            Place::Registered(segment, offset) => {
                let window = self.registry.window(segment)?;
                let offset = usize::try_from(offset).ok()?;
                window.memory().range(offset, len).ok()?;
                Some((window, offset))
            }
        }
    }

    /// Answers a get: copies the bytes to `in_line` and returns their number, or stores them where
    /// the request wants them.
    fn answer_get(
        &self,
        wire: &dyn Wire,
        pe: PeId,
        request: Request,
        in_line: &mut [u8],
    ) -> Option<usize> {
        let len = usize::try_from(request.operand).ok()?;
        let (window, at) = self.programs_memory(wire, request.offset_bytes, len)?;
        if request.compare == IN_LINE {
            window.get(at, in_line.get_mut(..len)?).ok()?;
            return Some(len);
        }
        let back = usize::try_from(request.compare).ok()?;
        // Nothing lands in registered memory.
        if len > LANDING_BYTES || Place::is_registered(request.compare) {
            return None;
        }
        let mut bytes = vec![0; len];
        window.get(at, &mut bytes).ok()?;
        wire.store(pe, back, &bytes).ok()?;
        // Before the reply.
        wire.fence_of(pe).ok()?;
        Some(0)
    }

    /// Only to registered memory. Peers store to all other memory without the agent.
    fn answer_put(&self, wire: &dyn Wire, pe: PeId, asked: &Asked) -> Option<u64> {
        if !Place::is_registered(asked.offset_bytes as u64) {
            return None;
        }
        let len = usize::try_from(asked.operand).ok()?;
        if len > LANDING_BYTES {
            return None;
        }
        let (window, at) = self.programs_memory(wire, asked.offset_bytes, len)?;
        if asked.compare == IN_LINE {
            window.put(at, asked.data.get(..len)?).ok()?;
        } else {
            let from = usize::try_from(asked.compare).ok()?;
            let Some(Route::Mapped(theirs)) = wire.route(pe) else {
                return None;
            };
            let mut bytes = vec![0; len];
            theirs.get(from, &mut bytes).ok()?;
            window.put(at, &bytes).ok()?;
        }
        wire.segment().notify();
        Some(0)
    }

    fn apply(&self, wire: &dyn Wire, request: Request) -> Option<u64> {
        let operand_bytes = usize::from(request.operand_bytes);
        if !matches!(operand_bytes, 4 | 8) {
            return None;
        }
        let (window, at) = self.programs_memory(wire, request.offset_bytes, operand_bytes)?;
        let at_window = Request {
            offset_bytes: at,
            ..request
        };
        let old = apply(&window, &at_window).ok()?;
        wire.segment().notify();
        Some(old)
    }

    /// Gets `dst.len()` bytes at `offset_bytes` from `pe`.
    pub(crate) fn get(
        &self,
        inner: &Attachment,
        pe: PeId,
        offset_bytes: usize,
        dst: &mut [u8],
    ) -> Result<()> {
        Getting::begin(inner, pe, offset_bytes, dst.len())?.finish(inner, dst)
    }

    /// Has `pe` store `src` at `offset_bytes`, in memory that it has registered.
    pub(crate) fn put(
        &self,
        inner: &Attachment,
        pe: PeId,
        offset_bytes: usize,
        src: &[u8],
    ) -> Result<()> {
        // How this PE reaches it is how it reaches this PE.
        let lands = src.len() > IN_REQUEST_BYTES && inner.load_window(pe).is_some();
        let piece_bytes = match lands {
            true => LANDED_BYTES_MAX,
            false => IN_REQUEST_BYTES,
        };
        for (index, piece) in src.chunks(piece_bytes).enumerate() {
            let mut asked = Asked {
                code: PUT,
                operand_bytes: 0,
                offset_bytes: offset_bytes + index * piece_bytes,
                operand: piece.len() as u64,
                compare: IN_LINE,
                data: [0; IN_REQUEST_BYTES],
            };
            let place = asked.data.get_mut(..piece.len());
            let data = match place {
                Some(place) => {
                    place.copy_from_slice(piece);
                    Data::NONE
                }
                None => Data::Landing(piece.len()),
            };
            self.ask_for(inner, pe, data, asked, |landing, asked| {
                if data != Data::NONE {
                    inner.segment().put(landing, piece)?;
                    asked.compare = landing as u64;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Has `pe` do an operation and returns the old value.
    pub(crate) fn ask(&self, inner: &Attachment, pe: PeId, request: Request) -> Result<u64> {
        self.ask_for(inner, pe, Data::NONE, Asked::operation(request), |_, _| {
            Ok(())
        })
    }

    /// Asks `pe` for an answer to nothing. After it, all earlier stores of this PE to `pe` have
    /// arrived.
    pub(crate) fn hear_from(&self, inner: &Attachment, pe: PeId) -> Result<()> {
        let nothing = Asked::get(inner.layout.heap(), 0);
        let heard = self.ask_for(inner, pe, Data::NONE, nothing, |_, _| Ok(()));
        heard.map(|_| ())
    }

    /// As [`ask`](Self::ask), for any request. `prepare` gets the place of its data.
    fn ask_for(
        &self,
        inner: &Attachment,
        pe: PeId,
        data: Data,
        mut asked: Asked,
        prepare: impl Fn(usize, &mut Asked) -> Result<()>,
    ) -> Result<u64> {
        let id = self.wait(inner, pe, || {
            self.asking.start(inner, pe, data, |landing| {
                prepare(landing, &mut asked)?;
                Ok(asked.line())
            })
        })?;
        match self.wait(inner, pe, || self.asking.finish(inner, id, None)) {
            Ok(Answer::Done(old)) => Ok(old),
            Ok(Answer::Refused) => Err(refused(pe, &asked)),
            Err(error) => {
                self.asking.forget(id);
                Err(error)
            }
        }
    }

    /// Asks `pe` for so many bytes, at most [`LANDED_BYTES_MAX`], if there is room for the request.
    fn start_get(
        &self,
        inner: &Attachment,
        pe: PeId,
        offset_bytes: usize,
        len_bytes: usize,
    ) -> Result<Option<RequestId>> {
        let mut asked = Asked::get(offset_bytes, len_bytes);
        if len_bytes <= IN_REPLY_BYTES {
            let data = Data::Reply(len_bytes);
            return self.asking.start(inner, pe, data, |_| Ok(asked.line()));
        }
        let data = Data::Landing(len_bytes);
        self.asking.start(inner, pe, data, |landing| {
            asked.compare = landing as u64;
            Ok(asked.line())
        })
    }

    /// Waits for the agent of `pe`.
    fn wait<R>(
        &self,
        inner: &Attachment,
        pe: PeId,
        mut poll: impl FnMut() -> Result<Option<R>>,
    ) -> Result<R> {
        let progress = |pace| {
            inner.progress()?;
            match pace {
                Pace::Quick => Ok(()),
                Pace::Slow => self.asking.ask_again(inner, pe),
            }
        };
        inner.wait_and(Watch::Agent(pe), progress, || {
            let got = poll()?;
            if got.is_none() {
                inner.progress()?;
            }
            Ok(got)
        })
    }
}

/// The error for a request that an agent refused. This PE checks requests to the heap before it
/// sends them, so there a refusal is the peer's fault.
#[cold]
fn refused(pe: PeId, asked: &Asked) -> Error {
    if let Some(Place::Registered(segment, offset)) = Place::of(asked.offset_bytes as u64) {
        return Error::NotRegistered {
            pe,
            segment: segment.get(),
            offset_bytes: offset,
        };
    }
    let how = Misbehaviour::Refused {
        code: asked.code,
        offset_bytes: asked.offset_bytes,
    };
    Error::PeerMisbehaved { pe, how }
}
