//! The memory through which one PE and the simulator communicate.
//!
//! | bytes | field | written by |
//! |---|---|---|
//! | 0..4 | whose turn it is: 0 the simulator's, 1 the PE's; a futex | both |
//! | 4..8 | how far the PE is: 0 before it takes part, 1 while it does, 2 afterwards | the simulator |
//! | 8..16 | the time of the model at the last answer, in ps | the simulator |
//! | 16..24 | time that the PE has spent since, in ps | the PE |
//! | 24..88 | the request: number, PE, offset, length, value, arming, time | the PE |
//! | 88..96 | the answer: 0, or that it is an error | the simulator |
//! | 96..100 | the thread that takes part, by its number in the system | the PE |
//! | 104..112 | virtual time of a second that the PE computes, in ns; 0 if that is not measured | the launcher |
//! | 112..120 | the number of the PE, and how many there are: 4 each; 0 and 0 if it learns that elsewhere | the launcher |
//! | 120..128 | time that the PE has computed since the last answer, in ps | the PE |
//! | 128..640 | a bit per PE that has ended | the simulator |
//! | 640..656 | a number that all PEs of the job have, and those of no other | the launcher |
//! | 656..664 | blocks of a chain of puts, and the alignment of their ends: 4 each; 0 and 0 if there are no chains | the simulator |
//! | 664..680 | bytes of a block, and of all blocks of a chain: 8 each | the simulator |
//! | 680..688 | processor time of that thread at the last count, in ns | the PE |
//! | 688..696 | bytes that the modelled hardware has for the segment of the PE; 0 if that is not known | the launcher |
//! | 4096.. | bytes of the request, or the text of the error | both |
//!
//! Numbers have the byte order of this machine. The side without the turn only touches the
//! time spent and computed, so the two never write at the same time unless the PE has a bug.

use core::time::Duration;
use std::os::fd::OwnedFd;

use hostwire_transport::chain::ChainLimits;
use hostwire_transport::error::{PeId, TransportError};
use hostwire_transport::futex;
use hostwire_transport::memory::Memory;
use hostwire_transport::sync::{AtomicU32, AtomicU64, Ordering};

/// Bytes of a request that fit at a time.
pub(super) const PAYLOAD_BYTES: usize = 256 << 10;
const PAYLOAD_AT: usize = 4096;
const DESK_BYTES: usize = PAYLOAD_AT + PAYLOAD_BYTES;

const TURN_AT: usize = 0;
const PART_AT: usize = 4;
const CLOCK_AT: usize = 8;
const SPENT_AT: usize = 16;
const REQUEST_AT: usize = 24;
const STATUS_AT: usize = 88;
const THREAD_AT: usize = 96;
const COMPUTE_AT: usize = 104;
const PE_AT: usize = 112;
const PES_AT: usize = 116;
const COMPUTED_AT: usize = 120;
const ENDED_AT: usize = 128;
const ENDED_BYTES: usize = 512;
const JOB_AT: usize = 640;
const BLOCKS_AT: usize = 656;
const ALIGN_AT: usize = 660;
const BLOCK_BYTES_AT: usize = 664;
const BYTES_AT: usize = 672;
const COUNTED_AT: usize = 680;
const ROOM_AT: usize = 688;

/// Words of a request.
pub(super) const REQUEST_WORDS: usize = 8;

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    Model = 0,
    Pe = 1,
}

/// How far a PE is with its part in the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Before = 0,
    During = 1,
    After = 2,
}

/// See the [module text](self).
#[derive(Debug, Clone)]
pub(super) struct Desk(Memory);

impl Desk {
    /// A file for a new desk.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if there is no memory.
    pub(super) fn create() -> Result<OwnedFd, TransportError> {
        hostwire_transport::shm::create_file("hostwire-desk", DESK_BYTES)
    }

    /// Maps such a file.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if it is not one.
    pub(super) fn map(file: &OwnedFd) -> Result<Self, TransportError> {
        let memory = hostwire_transport::shm::map_whole(file)?;
        memory.range(0, DESK_BYTES)?;
        Ok(Self(memory))
    }

    fn half(&self, at: usize) -> &AtomicU32 {
        self.0.half(at).expect("a desk has all its fields")
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        self.0.word(at).expect("a desk has all its fields")
    }

    /// Whose turn it is.
    pub(super) fn is_turn_of(&self, turn: Turn) -> bool {
        self.half(TURN_AT).load(Ordering::Acquire) == turn as u32
    }

    /// Hands the turn over.
    pub(super) fn hand_to(&self, turn: Turn) {
        let word = self.half(TURN_AT);
        word.store(turn as u32, Ordering::Release);
        futex::wake(word);
    }

    /// Waits for the turn, for `limit` or a little longer. Returns whether it has come.
    pub(super) fn wait_for(&self, turn: Turn, limit: Duration) -> bool {
        let word = self.half(TURN_AT);
        if !self.is_turn_of(turn) {
            let other = match turn {
                Turn::Model => Turn::Pe,
                Turn::Pe => Turn::Model,
            };
            futex::wait(word, other as u32, limit);
        }
        self.is_turn_of(turn)
    }

    /// How far the PE is.
    pub(super) fn part(&self) -> Part {
        match self.half(PART_AT).load(Ordering::Acquire) {
            0 => Part::Before,
            1 => Part::During,
            _ => Part::After,
        }
    }

    pub(super) fn set_part(&self, part: Part) {
        self.half(PART_AT).store(part as u32, Ordering::Release);
    }

    /// The thread that takes part, by its number in the system.
    pub(super) fn thread(&self) -> Option<u32> {
        let thread = self.half(THREAD_AT).load(Ordering::Relaxed);
        (thread > 0).then_some(thread)
    }

    pub(super) fn set_thread(&self, thread: u32) {
        self.half(THREAD_AT).store(thread, Ordering::Relaxed);
    }

    /// Virtual time of a second that the PE computes, in ns.
    pub(super) fn compute_ns_per_s(&self) -> u64 {
        self.word(COMPUTE_AT).load(Ordering::Relaxed)
    }

    pub(super) fn set_compute_ns_per_s(&self, time_ns: u64) {
        self.word(COMPUTE_AT).store(time_ns, Ordering::Relaxed);
    }

    /// The owner of the desk: its number, the number of PEs, and the number of their job.
    pub(super) fn seat(&self) -> (PeId, u32, u128) {
        let number = |at| self.half(at).load(Ordering::Relaxed);
        let half = |at| u128::from(self.word(at).load(Ordering::Relaxed));
        let job = half(JOB_AT) | half(JOB_AT + 8) << 64;
        (number(PE_AT), number(PES_AT), job)
    }

    pub(super) fn set_seat(&self, pe: PeId, pes: u32, job: u128) {
        self.half(PE_AT).store(pe, Ordering::Relaxed);
        self.half(PES_AT).store(pes, Ordering::Relaxed);
        self.word(JOB_AT).store(job as u64, Ordering::Relaxed);
        let high = (job >> 64) as u64;
        self.word(JOB_AT + 8).store(high, Ordering::Relaxed);
    }

    /// Bytes that the modelled hardware has for the segment of the PE.
    pub(super) fn room_bytes(&self) -> Option<u64> {
        let bytes = self.word(ROOM_AT).load(Ordering::Relaxed);
        (bytes > 0).then_some(bytes)
    }

    pub(super) fn set_room_bytes(&self, bytes: u64) {
        self.word(ROOM_AT).store(bytes, Ordering::Relaxed);
    }

    /// What the hardware can do in one chain of puts.
    pub(super) fn chain_limits(&self) -> Option<ChainLimits> {
        let half = |at| self.half(at).load(Ordering::Relaxed) as usize;
        let word = |at| usize::try_from(self.word(at).load(Ordering::Relaxed));
        let limits = ChainLimits {
            blocks_max: half(BLOCKS_AT),
            align_bytes: half(ALIGN_AT),
            block_bytes_max: word(BLOCK_BYTES_AT).ok()?,
            bytes_max: word(BYTES_AT).ok()?,
        };
        (limits.blocks_max > 0).then_some(limits)
    }

    pub(super) fn set_chain_limits(&self, limits: ChainLimits) {
        let half = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
        let set = |at, value| self.half(at).store(half(value), Ordering::Relaxed);
        set(BLOCKS_AT, limits.blocks_max);
        set(ALIGN_AT, limits.align_bytes);
        let set = |at, value: usize| self.word(at).store(value as u64, Ordering::Relaxed);
        set(BLOCK_BYTES_AT, limits.block_bytes_max);
        set(BYTES_AT, limits.bytes_max);
    }

    /// The time of the model at the last answer.
    pub(super) fn clock_ps(&self) -> u64 {
        self.word(CLOCK_AT).load(Ordering::Relaxed)
    }

    pub(super) fn set_clock_ps(&self, time_ps: u64) {
        self.word(CLOCK_AT).store(time_ps, Ordering::Relaxed);
    }

    /// Time that the PE has spent since the last answer.
    pub(super) fn spent_ps(&self) -> u64 {
        self.word(SPENT_AT).load(Ordering::Relaxed)
    }

    /// The PE spends time. Returns all that it has spent.
    pub(super) fn spend_ps(&self, time_ps: u64) -> u64 {
        let before = self.word(SPENT_AT).fetch_add(time_ps, Ordering::Relaxed);
        before.saturating_add(time_ps)
    }

    /// The PE has computed for so long.
    pub(super) fn compute_ps(&self, time_ps: u64) {
        self.word(COMPUTED_AT).fetch_add(time_ps, Ordering::Relaxed);
    }

    /// The time of the model, with all that the PE has spent and computed since the last answer.
    pub(super) fn time_ps(&self) -> u64 {
        let computed_ps = self.word(COMPUTED_AT).load(Ordering::Relaxed);
        let spent_ps = self.spent_ps().saturating_add(computed_ps);
        self.clock_ps().saturating_add(spent_ps)
    }

    /// Takes the time that the PE has spent and computed.
    pub(super) fn take_spent_ps(&self) -> u64 {
        let take = |at| self.word(at).swap(0, Ordering::Relaxed);
        take(SPENT_AT).saturating_add(take(COMPUTED_AT))
    }

    /// Processor time of the thread that takes part at the last count, in ns.
    pub(super) fn counted_ns(&self) -> u64 {
        self.word(COUNTED_AT).load(Ordering::Relaxed)
    }

    pub(super) fn set_counted_ns(&self, time_ns: u64) {
        self.word(COUNTED_AT).store(time_ns, Ordering::Relaxed);
    }

    pub(super) fn set_request(&self, words: [u64; REQUEST_WORDS]) {
        for (index, value) in words.into_iter().enumerate() {
            self.word(REQUEST_AT + 8 * index)
                .store(value, Ordering::Relaxed);
        }
    }

    pub(super) fn request(&self) -> [u64; REQUEST_WORDS] {
        core::array::from_fn(|index| self.word(REQUEST_AT + 8 * index).load(Ordering::Relaxed))
    }

    /// Writes bytes of a request or an answer: at most [`PAYLOAD_BYTES`].
    pub(super) fn set_payload(&self, bytes: &[u8]) -> Result<(), TransportError> {
        self.0.copy_in(PAYLOAD_AT, bytes)
    }

    /// Adds `len` bytes of a request to `to`.
    pub(super) fn take_payload(&self, len: usize, to: &mut Vec<u8>) -> Result<(), TransportError> {
        self.0.range(PAYLOAD_AT, len)?;
        let begin = to.len();
        to.resize(begin + len, 0);
        self.0.copy_out(PAYLOAD_AT, &mut to[begin..])
    }

    /// The answer: the length of the text of an error, or 0.
    pub(super) fn set_status(&self, status: u64) {
        self.word(STATUS_AT).store(status, Ordering::Relaxed);
    }

    pub(super) fn status(&self) -> u64 {
        self.word(STATUS_AT).load(Ordering::Relaxed)
    }

    /// A PE has ended.
    pub(super) fn set_ended(&self, pe: usize) {
        if pe / 8 < ENDED_BYTES {
            let word = self.word(ENDED_AT + pe / 64 * 8);
            word.fetch_or(1 << (pe % 64), Ordering::Relaxed);
        }
    }

    pub(super) fn has_ended(&self, pe: usize) -> bool {
        pe / 8 < ENDED_BYTES
            && self.word(ENDED_AT + pe / 64 * 8).load(Ordering::Relaxed) >> (pe % 64) & 1 == 1
    }
}
