//! Gets and atomics on wires that only carry stores.
//!
//! The asking PE stores one self-validating line into the *request line* that it has in
//! the target's segment; the target's agent does the work on its own memory, stores any
//! data back, and then the *reply line*. A PE has one request under way per target.
//!
//! | request line | | reply line | |
//! |---|---|---|---|
//! | header | number of the request in bits 31:0, operation in 39:32, operand bytes in 47:40 | word 0 | number of the request, stored last; before, by the asking PE, that number with bit 63 |
//! | word 0 | offset | word 1 | old value |
//! | word 1 | operand, or length of a get | word 2 | [`DONE`] or [`REFUSED`] |
//! | word 2 | value to compare with, or where to store what was got | | |
//!
//! An agent runs as a thread of its own where the wire needs it, so that requests are
//! served while the program computes; and it is polled by every wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::time::Duration;

use hostwire_transport::ring::PAYLOAD_BYTES;
use hostwire_transport::sync::{AtomicU32, AtomicU64};
use hostwire_transport::wait::{Backoff, WaitLimits, WaitStep};
use hostwire_transport::{PeId, Route, Transport, TransportError, Window};

use crate::attachment::{Attachment, Pace, Watch};
use crate::error::{Error, Result};
use crate::layout::{LANDING_BYTES, Layout, NOT_YET};

const DONE: u64 = 1;
const REFUSED: u64 = 2;

/// What an agent can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Operation {
    /// Copy bytes back.
    Get = 1,
    /// Read a word.
    Fetch = 2,
    /// Set a word.
    Swap = 3,
    /// Set a word that has a certain value.
    CompareSwap = 4,
    /// Add.
    Add = 5,
    /// Bitwise and.
    And = 6,
    /// Bitwise or.
    Or = 7,
    /// Bitwise exclusive or.
    Xor = 8,
    /// The lesser, of numbers without a sign.
    Min = 9,
    /// The greater, of numbers without a sign.
    Max = 10,
    /// The lesser, of numbers with a sign.
    SignedMin = 11,
    /// The greater, of numbers with a sign.
    SignedMax = 12,
}

/// One operation on an atomic word of either width; `$signed` is as wide.
macro_rules! apply {
    ($operation:expr, $word:expr, $operand:expr, $compare:expr, $signed:ty) => {{
        const ORDER: Ordering = Ordering::SeqCst;
        let (word, operand) = ($word, $operand);
        let signed = |choose: fn($signed, $signed) -> $signed| {
            let new = |old| Some(choose(old as $signed, operand as $signed) as _);
            match word.fetch_update(ORDER, ORDER, new) {
                Ok(old) | Err(old) => old,
            }
        };
        match $operation {
            Operation::Get | Operation::Fetch => word.load(ORDER),
            Operation::Swap => word.swap(operand, ORDER),
            Operation::CompareSwap => {
                match word.compare_exchange($compare, operand, ORDER, ORDER) {
                    Ok(old) | Err(old) => old,
                }
            }
            Operation::Add => word.fetch_add(operand, ORDER),
            Operation::And => word.fetch_and(operand, ORDER),
            Operation::Or => word.fetch_or(operand, ORDER),
            Operation::Xor => word.fetch_xor(operand, ORDER),
            Operation::Min => word.fetch_min(operand, ORDER),
            Operation::Max => word.fetch_max(operand, ORDER),
            Operation::SignedMin => signed(Ord::min),
            Operation::SignedMax => signed(Ord::max),
        }
    }};
}

impl Operation {
    /// The operation with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        use Operation::*;
        let all = [
            Get,
            Fetch,
            Swap,
            CompareSwap,
            Add,
            And,
            Or,
            Xor,
            Min,
            Max,
            SignedMin,
            SignedMax,
        ];
        all.into_iter().find(|operation| *operation as u8 == code)
    }

    /// Does it to a 64-bit word and returns the old value.
    #[inline(always)]
    pub fn apply_64(self, word: &AtomicU64, operand: u64, compare: u64) -> u64 {
        apply!(self, word, operand, compare, i64)
    }

    /// Does it to a 32-bit word and returns the old value.
    #[inline(always)]
    pub fn apply_32(self, word: &AtomicU32, operand: u32, compare: u32) -> u32 {
        apply!(self, word, operand, compare, i32)
    }
}

/// Who does a PE's work in the background: serves what peers ask for, where the wire
/// needs that, and looks whether they live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentMode {
    /// Threads.
    Thread,
    /// Only the waits of the PE: for simulated time.
    Polled,
}

/// One atomic operation, as it is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request {
    /// What to do.
    pub operation: Operation,
    /// Where in the segment.
    pub offset_bytes: usize,
    /// 4 or 8; 0 for a get.
    pub operand_bytes: u8,
    /// The operand, in its lower end.
    pub operand: u64,
    /// What [`Operation::CompareSwap`] compares with.
    pub compare: u64,
}

/// The agent of one PE, and how it asks others. See the [module text](self).
#[derive(Debug)]
pub(crate) struct Agent {
    layout: Layout,
    needed: bool,
    /// Per peer, the number of its next request; whoever serves holds the lock.
    serving: Mutex<Vec<u32>>,
    /// Per target, the number of our last request.
    asked: Vec<AtomicU32>,
    /// Held by the thread that asks: one request is under way at a time, and what is got
    /// lands in one place.
    asking: Mutex<()>,
    /// Whether a wait of the PE has served since the thread looked last.
    attended: AtomicBool,
    stop: AtomicBool,
}

/// How long the thread leaves the requests to a PE that waits.
const ASIDE: Duration = Duration::from_micros(250);

impl Agent {
    /// How this PE reaches others is how they reach it.
    pub(crate) fn new(routes: &[Route], layout: Layout) -> Self {
        Self {
            layout,
            needed: routes.iter().any(Route::needs_agent),
            serving: Mutex::new(vec![1; routes.len()]),
            asked: routes.iter().map(|_| AtomicU32::new(0)).collect(),
            asking: Mutex::new(()),
            attended: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        }
    }

    /// Starts the thread, if a route needs one. It ends with [`stop`](Self::stop).
    pub(crate) fn start(
        self: &Arc<Self>,
        wire: &Arc<dyn Transport>,
        mode: AgentMode,
    ) -> Result<Option<std::thread::JoinHandle<()>>> {
        if !self.needed || mode == AgentMode::Polled {
            return Ok(None);
        }
        self.stop.store(false, Ordering::Release);
        let (agent, wire) = (Arc::clone(self), Arc::clone(wire));
        std::thread::Builder::new()
            .name("hostwire-agent".into())
            .stack_size(128 << 10)
            .spawn(move || agent.run(&*wire))
            .map(Some)
            .map_err(|e| TransportError::environment("starting the agent thread", e).into())
    }

    /// Ends the thread.
    pub(crate) fn stop(&self, wire: &dyn Transport) {
        self.stop.store(true, Ordering::Release);
        wire.segment().notify();
    }

    fn run(&self, wire: &dyn Transport) {
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
                // A peer that cannot be answered notices by itself; the others go on.
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
                        if nothing && !self.stop.load(Ordering::Acquire) && wire.sleep(limit) {
                            // If it was no request, the next step is to look less often
                            // rather than be woken by every put.
                            backoff.rung_in_vain();
                        }
                    }
                },
            }
        }
    }

    /// Answers the requests that have arrived.
    #[inline]
    pub(crate) fn serve(&self, wire: &dyn Transport) -> Result<()> {
        if self.needed {
            self.attended.store(true, Ordering::Relaxed);
            self.serve_some(wire)?;
        }
        Ok(())
    }

    fn serve_some(&self, wire: &dyn Transport) -> Result<bool> {
        let mut next = match self.serving.try_lock() {
            Ok(next) => next,
            // Somebody else is at it.
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let mut served = false;
        for (pe, number) in (0..).zip(next.iter_mut()) {
            if let Some(request) = self.read_request(wire, pe, *number)? {
                *number = number.wrapping_add(1);
                self.answer(wire, pe, number.wrapping_sub(1), request)?;
                served = true;
            }
        }
        Ok(served)
    }

    fn read_request(
        &self,
        wire: &dyn Transport,
        pe: PeId,
        number: u32,
    ) -> Result<Option<Option<Request>>> {
        let segment = wire.segment();
        let at = self.layout.request(pe);
        let header = segment.load_word(at)?;
        if header as u32 != number {
            return Ok(None);
        }
        let mut words = [0; 24];
        segment.memory().copy_out(at + 8, &mut words)?;
        let word = |index: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&words[index * 8..][..8]);
            u64::from_le_bytes(bytes)
        };
        let operation = Operation::from_code((header >> 32) as u8);
        Ok(Some(operation.zip(usize::try_from(word(0)).ok()).map(
            |(operation, offset_bytes)| Request {
                operation,
                offset_bytes,
                operand_bytes: (header >> 40) as u8,
                operand: word(1),
                compare: word(2),
            },
        )))
    }

    fn answer(
        &self,
        wire: &dyn Transport,
        pe: PeId,
        number: u32,
        request: Option<Request>,
    ) -> Result<()> {
        let outcome = match request {
            Some(request) if request.operation == Operation::Get => {
                self.answer_get(wire, pe, request)
            }
            Some(request) => self.apply(wire.segment(), request),
            None => None,
        };
        let reply = self.layout.reply(wire.pe());
        let status = if outcome.is_some() { DONE } else { REFUSED };
        wire.store_word(pe, reply + 8, outcome.unwrap_or(0))?;
        wire.store_word(pe, reply + 16, status)?;
        wire.store_word(pe, reply, u64::from(number))?;
        Ok(())
    }

    fn answer_get(&self, wire: &dyn Transport, pe: PeId, request: Request) -> Option<u64> {
        let len = usize::try_from(request.operand).ok()?;
        let back = usize::try_from(request.compare).ok()?;
        if len > LANDING_BYTES || !self.layout.is_the_programs(request.offset_bytes, len) {
            return None;
        }
        let mut bytes = vec![0; len];
        wire.segment().get(request.offset_bytes, &mut bytes).ok()?;
        wire.store(pe, back, &bytes).ok()?;
        Some(0)
    }

    fn apply(&self, segment: &Window, request: Request) -> Option<u64> {
        let operand_bytes = usize::from(request.operand_bytes);
        if !matches!(operand_bytes, 4 | 8)
            || !self
                .layout
                .is_the_programs(request.offset_bytes, operand_bytes)
        {
            return None;
        }
        let old = apply(segment, &request).ok()?;
        segment.notify();
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
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        let landing = self.layout.landing();
        for (index, piece) in dst.chunks_mut(LANDING_BYTES).enumerate() {
            self.ask_alone(
                inner,
                pe,
                Request {
                    operation: Operation::Get,
                    offset_bytes: offset_bytes + index * LANDING_BYTES,
                    operand_bytes: 0,
                    operand: piece.len() as u64,
                    compare: landing as u64,
                },
            )?;
            inner.segment().get(landing, piece)?;
        }
        Ok(())
    }

    /// Has `pe` do an operation and returns the old value.
    pub(crate) fn ask(&self, inner: &Attachment, pe: PeId, request: Request) -> Result<u64> {
        let _asking = self.asking.lock().unwrap_or_else(PoisonError::into_inner);
        self.ask_alone(inner, pe, request)
    }

    /// As [`ask`](Self::ask), while this thread is the one that asks.
    fn ask_alone(&self, inner: &Attachment, pe: PeId, request: Request) -> Result<u64> {
        let asked = self
            .asked
            .get(pe as usize)
            .ok_or(TransportError::NoSuchPe { pe, pes: inner.pes })?;
        let number = asked.load(Ordering::Relaxed).wrapping_add(1);
        asked.store(number, Ordering::Relaxed);
        let header = u64::from(number)
            | u64::from(request.operation as u8) << 32
            | u64::from(request.operand_bytes) << 40;
        let mut payload = [0; PAYLOAD_BYTES];
        let words = [
            request.offset_bytes as u64,
            request.operand,
            request.compare,
        ];
        for (bytes, word) in payload.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let reply = self.layout.reply(pe);
        let segment = inner.segment();
        let not_yet = NOT_YET | u64::from(number);
        segment.put_word(reply, not_yet)?;
        // An agent must see what was put before: a get after a put to one PE.
        inner.fence()?;
        let ask = || {
            let at = self.layout.request(inner.pe);
            inner.wire.store_line(pe, at, header, &payload)
        };
        ask()?;
        let progress = |pace| {
            inner.progress()?;
            match pace {
                Pace::Quick => Ok(()),
                // Somebody may have overwritten the request. An agent serves each number once.
                Pace::Slow => Ok(ask()?),
            }
        };
        inner.wait_and(Watch::Agent(pe), progress, || {
            let got = segment.load_word(reply)?;
            if got == u64::from(number) {
                Ok(Some(()))
            } else if got == not_yet {
                inner.progress()?;
                Ok(None)
            } else {
                Err(
                    TransportError::misbehaved(pe, "number of its agent's reply", number, got)
                        .into(),
                )
            }
        })?;
        match segment.load_word(reply + 16)? {
            DONE => Ok(segment.load_word(reply + 8)?),
            REFUSED => Err(Error::PeerMisbehaved(TransportError::misbehaved(
                pe,
                "answer of its agent",
                "an operation on its heap done",
                format_args!("{request:?} refused"),
            ))),
            other => {
                Err(
                    TransportError::misbehaved(pe, "status of its agent's reply", DONE, other)
                        .into(),
                )
            }
        }
    }
}

/// Does an atomic operation on memory that is mapped here.
#[inline(always)]
pub(crate) fn apply(
    window: &Window,
    request: &Request,
) -> core::result::Result<u64, TransportError> {
    let &Request {
        operation,
        offset_bytes,
        operand_bytes,
        operand,
        compare,
    } = request;
    if operand_bytes == 8 {
        let word = window.word(offset_bytes)?;
        Ok(operation.apply_64(word, operand, compare))
    } else {
        let word = window.half(offset_bytes)?;
        Ok(operation
            .apply_32(word, operand as u32, compare as u32)
            .into())
    }
}
