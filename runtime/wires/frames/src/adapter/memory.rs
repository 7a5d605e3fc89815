//! The memory that the PEs of a host share with its adapter.
//!
//! | at | what | written by |
//! |---|---|---|
//! | 0 | state: attempt, and [`AdapterState`] | the PE that starts the adapter, then the adapter |
//! | 8 | rights that opening the socket needs | the PE that starts the adapter |
//! | 16 | length of the text that says why it failed; the text is at 64 | the adapter |
//! | 1024 | its counters, a word each | the adapter |
//! | 4092 | doorbell | the adapter, when it goes to sleep; PEs, to wake it |
//! | 4096 | which PEs have ended ([`EndedPes`]) | the adapters of other hosts |
//! | then | for each host: whether it can be reached | the adapter |
//! | then | for each PE: the ends of its queue, and answers | that PE; the adapter |
//! | then | for each PE: its queue | that PE |
//!
//! Readers check everything in it: any PE of the host may have written anything.

use std::os::fd::OwnedFd;

use hostwire_transport::error::{Loss, PeId, TransportError};
use hostwire_transport::memory::Memory;
use hostwire_transport::shm::{create_file, map_whole};
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::{FIRST_FREE_OFFSET_BYTES, Window};
use rustix::thread::CapabilitySet;

use super::queue::{QUEUE_BYTES, Reader, Writer};
use crate::ended_pes::EndedPes;

const STATE: usize = 0;
const RIGHTS: usize = 8;
const TEXT_LEN: usize = 16;
const TEXT: usize = 64;
/// As much as is shown of a text from outside.
const TEXT_BYTES: usize = 960;
const COUNTERS: usize = TEXT + TEXT_BYTES;
/// Most counters that fit in front of the doorbell.
pub(super) const COUNTERS_MAX: usize = (FIRST_FREE_OFFSET_BYTES - 8 - COUNTERS) / 8;
const TABLE: usize = FIRST_FREE_OFFSET_BYTES;
/// For each host: kind, value, length of a text, the text.
const HOST_BYTES: usize = 256;
const HOST_TEXT: usize = 24;
/// For each PE: a line that the PE writes, then a line that the adapter writes.
const ENDS_BYTES: usize = 128;
const LINE_BYTES: usize = 64;

/// Of the ends of a queue: how far the PE has written.
const WRITTEN: usize = 0;
/// The PE has joined, so its liveness may be checked.
const JOINED: usize = 8;
/// How far the adapter has read.
const READ: usize = LINE_BYTES;
/// The last question that the adapter has answered.
const ANSWERED: usize = LINE_BYTES + 8;
/// The adapter does not read this queue any more, because its contents make no sense.
const UNREADABLE: usize = LINE_BYTES + 16;

/// What an adapter does at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AdapterState {
    /// It looks for the other hosts.
    Connecting,
    /// It takes stores.
    Serving,
    /// It has not found the other hosts, and has ended.
    Failed,
}

const CONNECTING: u64 = 1;
const SERVING: u64 = 2;
const FAILED: u64 = 3;
/// Attempts are counted above the state.
const ATTEMPT: u64 = 1 << 8;

/// The memory that the PEs of a host share with its adapter.
#[derive(Debug, Clone)]
pub struct AdapterMemory {
    window: Window,
    shape: Shape,
}

/// The numbers of PEs and hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shape {
    pes: u32,
    hosts: u32,
    here: u32,
}

impl Shape {
    const fn hosts_at(self) -> usize {
        TABLE + EndedPes::bytes(self.pes).next_multiple_of(LINE_BYTES)
    }

    const fn ends_at(self) -> usize {
        self.hosts_at() + self.hosts as usize * HOST_BYTES
    }

    const fn queues_at(self) -> usize {
        (self.ends_at() + self.here as usize * ENDS_BYTES).next_multiple_of(FIRST_FREE_OFFSET_BYTES)
    }

    const fn bytes(self) -> usize {
        self.queues_at() + self.here as usize * QUEUE_BYTES
    }
}

impl AdapterMemory {
    /// The length of the memory for `here` PEs that share a host, in a job of `pes` PEs on `hosts`
    /// hosts.
    pub fn bytes(pes: u32, hosts: u32, here: u32) -> usize {
        Shape { pes, hosts, here }.bytes()
    }

    /// Makes the file of the memory for `here` PEs that share a host, in a job of `pes` PEs on
    /// `hosts` hosts.
    ///
    /// # Errors
    /// [`TransportError::Environment`]: no memory.
    pub fn create(pes: u32, hosts: u32, here: u32) -> Result<OwnedFd, TransportError> {
        create_file("hostwire-adapter", Self::bytes(pes, hosts, here))
    }

    /// The memory in a file of such a job.
    ///
    /// # Errors
    /// [`TransportError::Environment`] if the file belongs to another job.
    pub fn open(file: &OwnedFd, pes: u32, hosts: u32, here: u32) -> Result<Self, TransportError> {
        let shape = Shape { pes, hosts, here };
        let memory = map_whole(file)?;
        memory.range(0, shape.bytes())?;
        let window = Window::new(memory, Visibility::Coherent)?;
        Ok(Self { window, shape })
    }

    /// How many PEs share it.
    pub(super) const fn here(&self) -> u32 {
        self.shape.here
    }

    pub(super) const fn hosts(&self) -> u32 {
        self.shape.hosts
    }

    /// For the doorbell.
    pub(super) const fn window(&self) -> &Window {
        &self.window
    }

    fn load(&self, at: usize) -> u64 {
        self.window.load_word(at).unwrap_or(0)
    }

    fn store(&self, at: usize, value: u64) {
        // All offsets are in range: `open` has checked them.
        let stored = self.window.put_word_unannounced(at, value);
        debug_assert_eq!(stored, Ok(()));
    }

    /// Another adapter is about to start.
    pub(super) fn begin(&self, rights: CapabilitySet) {
        self.store(RIGHTS, rights.bits());
        let attempt = self.load(STATE) / ATTEMPT + 1;
        self.store(STATE, attempt * ATTEMPT + CONNECTING);
    }

    /// The attempt, and the state of its adapter. `None` before the first one.
    pub(super) fn state(&self) -> Option<(u64, AdapterState)> {
        let word = self.load(STATE);
        let state = match word % ATTEMPT {
            CONNECTING => AdapterState::Connecting,
            SERVING => AdapterState::Serving,
            FAILED => AdapterState::Failed,
            _ => return None,
        };
        Some((word / ATTEMPT, state))
    }

    pub(super) fn say_serving(&self) {
        let attempt = self.load(STATE) / ATTEMPT;
        self.store(STATE, attempt * ATTEMPT + SERVING);
    }

    pub(super) fn say_failed(&self, why: &str) {
        let attempt = self.load(STATE) / ATTEMPT;
        self.write_text(TEXT_LEN, TEXT, TEXT_BYTES, why);
        self.store(STATE, attempt * ATTEMPT + FAILED);
    }

    /// Why it failed.
    pub(super) fn failure(&self) -> String {
        self.read_text(TEXT_LEN, TEXT, TEXT_BYTES)
    }

    /// The rights that a PE need not have.
    pub(super) fn rights(&self) -> CapabilitySet {
        CapabilitySet::from_bits_truncate(self.load(RIGHTS))
    }

    fn write_text(&self, len_at: usize, at: usize, bytes_max: usize, text: &str) {
        let bytes = text.as_bytes();
        let bytes = bytes.get(..bytes_max).unwrap_or(bytes);
        let stored = self.window.put_unannounced(at, bytes);
        debug_assert_eq!(stored, Ok(()));
        self.store(len_at, bytes.len() as u64);
    }

    fn read_text(&self, len_at: usize, at: usize, bytes_max: usize) -> String {
        let len = usize::try_from(self.load(len_at)).unwrap_or(bytes_max);
        let mut bytes = vec![0; len.min(bytes_max)];
        let read = self.window.get(at, &mut bytes);
        debug_assert_eq!(read, Ok(()));
        hostwire_transport::printable(&String::from_utf8_lossy(&bytes))
    }

    pub(super) fn write_counters(&self, values: impl Iterator<Item = u64>) {
        for (at, value) in values.take(COUNTERS_MAX).enumerate() {
            self.store(COUNTERS + at * 8, value);
        }
    }

    pub(super) fn counter(&self, number: usize) -> u64 {
        match number < COUNTERS_MAX {
            true => self.load(COUNTERS + number * 8),
            false => 0,
        }
    }

    /// Which PEs have ended, in this memory.
    pub(super) fn ended_pes(&self) -> Result<EndedPes, TransportError> {
        let bytes = EndedPes::bytes(self.shape.pes);
        let memory: Memory = self.window.memory().part(TABLE, bytes)?;
        EndedPes::new(memory, self.shape.pes)
    }

    const fn host_at(&self, host: u32) -> usize {
        self.shape.hosts_at() + host as usize * HOST_BYTES
    }

    /// From now on a host cannot be reached.
    pub(super) fn close_host(&self, host: u32, why: &Closed) {
        if host >= self.shape.hosts {
            return;
        }
        let at = self.host_at(host);
        let (kind, value) = why.to_words();
        if let Closed::Failed(text) = why {
            self.write_text(at + 16, at + HOST_TEXT, HOST_BYTES - HOST_TEXT, text);
        }
        self.store(at + 8, value);
        self.store(at, kind);
    }

    /// Why a host cannot be reached; `None` if it can.
    #[inline]
    pub(super) fn closed(&self, host: u32) -> Option<Closed> {
        let at = self.host_at(host);
        match self.load(at) {
            0 => None,
            kind => Some(self.closed_as(at, kind)),
        }
    }

    #[cold]
    fn closed_as(&self, at: usize, kind: u64) -> Closed {
        let value = self.load(at + 8);
        let text = || self.read_text(at + 16, at + HOST_TEXT, HOST_BYTES - HOST_TEXT);
        Closed::from_words(kind, value, text)
    }

    const fn ends_at(&self, local: u32) -> usize {
        self.shape.ends_at() + local as usize * ENDS_BYTES
    }

    pub(super) fn join(&self, local: u32) {
        self.store(self.ends_at(local) + JOINED, 1);
    }

    pub(super) fn has_joined(&self, local: u32) -> bool {
        self.load(self.ends_at(local) + JOINED) != 0
    }

    #[inline]
    pub(super) fn written(&self, local: u32) -> u64 {
        self.load(self.ends_at(local) + WRITTEN)
    }

    #[inline]
    pub(super) fn set_written(&self, local: u32, at: u64) {
        self.store(self.ends_at(local) + WRITTEN, at);
    }

    #[inline]
    pub(super) fn read(&self, local: u32) -> u64 {
        self.load(self.ends_at(local) + READ)
    }

    #[inline]
    pub(super) fn set_read(&self, local: u32, at: u64) {
        self.store(self.ends_at(local) + READ, at);
    }

    pub(super) fn answered(&self, local: u32) -> u64 {
        self.load(self.ends_at(local) + ANSWERED)
    }

    pub(super) fn set_answered(&self, local: u32, question: u64) {
        self.store(self.ends_at(local) + ANSWERED, question);
    }

    pub(super) fn is_unreadable(&self, local: u32) -> bool {
        self.load(self.ends_at(local) + UNREADABLE) != 0
    }

    pub(super) fn say_unreadable(&self, local: u32) {
        self.store(self.ends_at(local) + UNREADABLE, 1);
    }

    fn queue(&self, local: u32) -> Result<Memory, TransportError> {
        let at = self.shape.queues_at() + local as usize * QUEUE_BYTES;
        self.window.memory().part(at, QUEUE_BYTES)
    }

    /// Writes anything into the queue of a PE.
    #[cfg(feature = "fuzzing")]
    pub(super) fn fill_queue(&self, local: u32, content: &[u8]) {
        let filled = self
            .queue(local)
            .and_then(|queue| queue.copy_in(0, content));
        debug_assert_eq!(filled, Ok(()));
    }

    /// The queue of a PE: the side of the PE.
    pub(super) fn writer(&self, local: u32) -> Result<Writer, TransportError> {
        Ok(Writer::new(self.queue(local)?, self.clone(), local))
    }

    /// The queue of a PE: the side of the adapter.
    pub(super) fn reader(&self, local: u32) -> Result<Reader, TransportError> {
        Ok(Reader::new(self.queue(local)?, self.clone(), local))
    }
}

/// Why a host cannot be reached any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Closed {
    /// All its PEs have ended in good order.
    Finished,
    /// It is lost.
    Lost(Loss),
    /// Something else is wrong.
    Failed(String),
    /// The word there is one that no adapter writes.
    Unclear,
}

impl Closed {
    /// The result of a store to `pe` of that host.
    pub(super) fn as_result(&self, pe: PeId) -> Result<(), TransportError> {
        match self {
            // No PE can see that nothing is stored.
            Self::Finished => Ok(()),
            Self::Lost(loss) => Err(TransportError::PeerLost { pe, loss: *loss }),
            Self::Failed(text) => Err(super::super::storing_failed(pe, text)),
            Self::Unclear => Err(super::super::storing_failed(
                pe,
                "the memory that the PEs of this host share with the process hw-adapter holds what that never \
                 writes: a PE of this host has written there by mistake",
            )),
        }
    }

    fn to_words(&self) -> (u64, u64) {
        match *self {
            Self::Finished => (1, 0),
            Self::Failed(_) => (2, 0),
            Self::Unclear => (u64::MAX, 0),
            Self::Lost(loss) => loss.to_words(),
        }
    }

    fn from_words(kind: u64, value: u64, text: impl FnOnce() -> String) -> Self {
        match kind {
            1 => Self::Finished,
            2 => Self::Failed(text()),
            _ => Loss::from_words(kind, value).map_or(Self::Unclear, Self::Lost),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use hostwire_packet::htoe::CloseReason;

    use super::*;

    pub(in super::super) fn adapter_memory(pes: u32, hosts: u32, here: u32) -> AdapterMemory {
        let file = AdapterMemory::create(pes, hosts, here).unwrap();
        AdapterMemory::open(&file, pes, hosts, here).unwrap()
    }

    #[test]
    fn all_reasons_come_back() {
        let adapter_memory = adapter_memory(5, 3, 2);
        let lost = [
            Loss::Ended,
            Loss::Silent {
                silent_ms: 7,
                may_have_ended: false,
            },
            Loss::Silent {
                silent_ms: 8,
                may_have_ended: true,
            },
            Loss::Unacknowledged { stalled_ms: 9 },
            Loss::Unreachable { after_ms: 10 },
            Loss::HostSilent { silent_ms: 11 },
            Loss::Stopped { silent_ms: 12 },
            Loss::Restarted,
            Loss::GaveUp,
            Loss::NoAdapter,
            Loss::Disconnected,
            Loss::CutOff(CloseReason::Misused),
            Loss::CutOff(CloseReason::Other(77)),
        ];
        let others = [Closed::Finished, Closed::Failed("no\u{7}room".into())];
        for why in lost.map(Closed::Lost).into_iter().chain(others) {
            assert_eq!(adapter_memory.closed(2), None.or(adapter_memory.closed(2)));
            adapter_memory.close_host(1, &why);
            let shown = adapter_memory.closed(1).unwrap();
            match why {
                Closed::Failed(_) => {
                    assert!(matches!(shown, Closed::Failed(text) if !text.contains('\u{7}')))
                }
                why => assert_eq!(shown, why),
            }
        }
        assert_eq!(
            (adapter_memory.closed(0), adapter_memory.closed(2)),
            (None, None)
        );
    }

    #[test]
    fn attempts_are_counted_and_a_failure_has_a_text() {
        let adapter_memory = adapter_memory(5, 3, 2);
        assert_eq!(adapter_memory.state(), None);
        adapter_memory.begin(CapabilitySet::NET_RAW);
        assert_eq!(adapter_memory.state(), Some((1, AdapterState::Connecting)));
        let long = "x".repeat(5000);
        adapter_memory.say_failed(&long);
        assert_eq!(adapter_memory.state(), Some((1, AdapterState::Failed)));
        assert_eq!(adapter_memory.failure(), long[..960]);
        adapter_memory.begin(CapabilitySet::empty());
        adapter_memory.say_serving();
        assert_eq!(adapter_memory.state(), Some((2, AdapterState::Serving)));
        assert!(adapter_memory.rights().is_empty());
    }

    #[test]
    fn the_region_of_another_job_is_refused() {
        let file = AdapterMemory::create(5, 3, 2).unwrap();
        assert!(AdapterMemory::open(&file, 5, 3, 64).is_err());
    }

    #[test]
    fn counters_fit() {
        assert!(crate::counted().count() <= COUNTERS_MAX);
    }
}
