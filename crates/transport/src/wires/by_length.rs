//! Two wires to the same PEs, of which one is better at short stores and one at long ones.
//!
//! Long puts and gets of the segment go by the *long* wire, and all else by the *short* one. What
//! is promised of the order of stores to a PE has to hold across both, and neither knows of the
//! other. So a store that comes behind others waits for those of the other wire:
//!
//! | store | waits until these are visible |
//! |---|---|
//! | a word | long puts to the same PE |
//! | another short store | long puts to the same PE, if a fence lies between, or if it may change the same bytes |
//! | a long put or get | short stores to the same PE |
//!
//! A store that does not follow one of the other wire waits for nothing. No fence is needed between stores
//! to the same bytes: programs that leave it out are wrong, but no single wire shows them.

use core::ops::Range;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire_address::{Place, SegmentId};

use crate::error::{Loss, PeId, TransportError};
use crate::operation::Request;
use crate::reach::Reach;
use crate::route::Route;
use crate::transport::{Line, Offload, Transport};
use crate::visibility::LINE_BYTES;
use crate::wait::WaitLimits;
use crate::watch::Watch;
use crate::window::Window;

/// While nothing comes by the long wire, it is looked at in one of so many polls: its threads look, too,
/// and a look costs system calls.
const POLLS_BETWEEN_LOOKS: u32 = 128;
/// When something has come by it, it is looked at in so many polls.
const EAGER_POLLS: u32 = 256;

/// Two wires to the same PEs, of which one is better at short stores and one at long ones. What is
/// promised of the order of stores to a PE holds across both.
pub struct ByLength {
    short: Arc<dyn Transport>,
    long: Arc<dyn Transport>,
    /// Puts and gets of so many bytes are long.
    long_bytes: usize,
    /// By PE; `None` where the long wire does not lead.
    peers: Box<[Option<Peer>]>,
    /// How many fences there were.
    fences: AtomicU64,
    polls: AtomicU32,
    /// Until which of the polls the long wire is looked at each time.
    eager_until: AtomicU32,
}

/// What is under way to a PE that both wires lead to.
#[derive(Debug, Default)]
struct Peer {
    /// Whether there are long puts that may not be visible.
    is_open: AtomicBool,
    puts: Mutex<LongPuts>,
}

/// Long puts to a PE, counted.
#[derive(Debug, Default)]
struct LongPuts {
    begun: u64,
    visible: u64,
    /// The last fence before the first that may not be visible; or an earlier one.
    behind_fence: u64,
    /// From the first to the last byte of those that may not be visible; or more.
    bytes: Range<usize>,
}

impl Peer {
    fn puts(&self) -> MutexGuard<'_, LongPuts> {
        self.puts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A long put has been handed to its wire.
    fn note_put(&self, fences: &AtomicU64, bytes: Range<usize>) {
        let mut puts = self.puts();
        if puts.begun == puts.visible {
            puts.behind_fence = fences.load(Ordering::Acquire);
            puts.bytes = bytes;
        } else {
            let Range { start, end } = puts.bytes;
            puts.bytes = start.min(bytes.start)..end.max(bytes.end);
        }
        puts.begun += 1;
        self.is_open.store(true, Ordering::Release);
    }

    /// The number of the last long put, if it may not be visible.
    fn open_put(&self) -> Option<u64> {
        let is_open = self.is_open.load(Ordering::Acquire);
        is_open.then(|| self.puts().begun)
    }

    /// Long puts up to this one are visible.
    fn note_visible(&self, put: u64) {
        let mut puts = self.puts();
        puts.visible = puts.visible.max(put);
        self.is_open
            .store(puts.visible < puts.begun, Ordering::Release);
    }

    /// Whether a long put that may not be visible has to be before a short store to these bytes.
    fn is_before(&self, fences: &AtomicU64, bytes: &Range<usize>) -> bool {
        if !self.is_open.load(Ordering::Acquire) {
            return false;
        }
        let puts = self.puts();
        let overlaps = bytes.start < puts.bytes.end && puts.bytes.start < bytes.end;
        overlaps || puts.behind_fence < fences.load(Ordering::Acquire)
    }
}

impl ByLength {
    /// Puts and gets of at least `long_bytes` go by `long` to the PEs to which that leads, and all else by
    /// `short`. Both are wires of the same PE of the same job, over the same segment.
    ///
    /// # Errors
    /// [`TransportError::Misused`] if they are not of the same PE.
    pub fn new(
        short: Arc<dyn Transport>,
        long: Arc<dyn Transport>,
        long_bytes: usize,
    ) -> Result<Self, TransportError> {
        let (pe, pes) = (short.pe(), short.pes());
        if (long.pe(), long.pes()) != (pe, pes) {
            return Err(TransportError::misused(
                "joining the wires of a PE",
                format_args!("two of PE {pe} of {pes}"),
                format_args!("one of PE {} of {}", long.pe(), long.pes()),
            ));
        }
        let leads = |other| other != pe && long.route(other).is_some();
        let peers = (0..pes).map(|other| leads(other).then(Peer::default));
        Ok(Self {
            peers: peers.collect(),
            short,
            long,
            long_bytes,
            fences: AtomicU64::new(0),
            polls: AtomicU32::new(0),
            eager_until: AtomicU32::new(0),
        })
    }

    fn peer(&self, pe: PeId) -> Option<&Peer> {
        self.peers.get(pe as usize)?.as_ref()
    }

    /// The peer, if so many bytes there go by the long wire.
    fn long_peer(&self, pe: PeId, offset_bytes: usize, len_bytes: usize) -> Option<&Peer> {
        let is_long = len_bytes >= self.long_bytes && !Place::is_registered(offset_bytes as u64);
        self.peer(pe).filter(|_| is_long)
    }

    /// Returns when long puts to `pe` are visible.
    fn finish_puts(&self, pe: PeId) -> Result<(), TransportError> {
        let Some((peer, put)) = self
            .peer(pe)
            .and_then(|peer| Some((peer, peer.open_put()?)))
        else {
            return Ok(());
        };
        let visible = self.long.quiet_of(pe);
        // If they never will be, that has been said.
        peer.note_visible(put);
        visible
    }

    /// Before a short store of these bytes that is no word.
    #[inline]
    fn before_store(&self, pe: PeId, bytes: Range<usize>) -> Result<(), TransportError> {
        match self.peer(pe) {
            Some(peer) if peer.is_before(&self.fences, &bytes) => self.finish_puts(pe),
            _ => Ok(()),
        }
    }

    fn count_fence(&self) {
        self.fences.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether it is worth while to look at the long wire in this poll.
    fn is_turn_of_long(&self) -> bool {
        let poll = self.polls.load(Ordering::Relaxed).wrapping_add(1);
        self.polls.store(poll, Ordering::Relaxed);
        let left = self.eager_until.load(Ordering::Relaxed).wrapping_sub(poll);
        left <= EAGER_POLLS || poll.is_multiple_of(POLLS_BETWEEN_LOOKS)
    }
}

impl Transport for ByLength {
    fn pe(&self) -> PeId {
        self.short.pe()
    }

    fn begin(&self) -> Result<(), TransportError> {
        self.short.begin()
    }

    fn pes(&self) -> u32 {
        self.peers.len() as u32
    }

    fn segment(&self) -> &Window {
        self.short.segment()
    }

    fn route(&self, pe: PeId) -> Option<Route> {
        let route = self.short.route(pe);
        let reads = |pe| matches!(self.long.route(pe), Some(Route::Read { .. }));
        match route {
            Some(Route::Carried) if self.peer(pe).is_some() && reads(pe) => Some(Route::Read {
                from_bytes: self.long_bytes,
            }),
            route => route,
        }
    }

    fn registered_route(&self, pe: PeId, segment: SegmentId) -> Option<Route> {
        self.short.registered_route(pe, segment)
    }

    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        self.short.register(segment, window)
    }

    fn unregister(&self, segment: SegmentId) {
        self.short.unregister(segment);
    }

    fn offload(&self) -> Option<&dyn Offload> {
        let offloads = self.short.offload().is_some() || self.long.offload().is_some();
        offloads.then_some(self)
    }

    fn reach(&self) -> Option<&Arc<Reach>> {
        self.short.reach()
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        let bytes = offset_bytes..offset_bytes.saturating_add(src.len());
        if let Some(peer) = self.long_peer(pe, offset_bytes, src.len()) {
            self.short.quiet_of(pe)?;
            let put = self.long.store(pe, offset_bytes, src);
            peer.note_put(&self.fences, bytes);
            return put;
        }
        self.before_store(pe, bytes)?;
        self.short.store(pe, offset_bytes, src)
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.finish_puts(pe)?;
        self.short.store_word(pe, offset_bytes, value)
    }

    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        self.finish_puts(pe)?;
        self.short.signal_word(pe, offset_bytes, value)
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        self.before_store(pe, offset_bytes..offset_bytes.saturating_add(LINE_BYTES))?;
        self.short.store_line(pe, offset_bytes, header, payload)
    }

    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        // Nobody puts to where lines go.
        self.before_store(pe, 0..0)?;
        self.short.store_lines(pe, lines)
    }

    /// Only counts: who stores behind it waits if it has to.
    fn fence(&self) -> Result<(), TransportError> {
        self.count_fence();
        self.short.fence()
    }

    fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        self.count_fence();
        self.short.fence_of(pe)
    }

    fn quiet(&self) -> Result<(), TransportError> {
        let peers = self.peers.iter().flatten();
        let open: Vec<(&Peer, u64)> = peers
            .filter_map(|peer| Some((peer, peer.open_put()?)))
            .collect();
        let short = self.short.quiet();
        if open.is_empty() {
            return short;
        }
        let long = self.long.quiet();
        for (peer, put) in open {
            peer.note_visible(put);
        }
        short.and(long)
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        let short = self.short.quiet_of(pe);
        short.and(self.finish_puts(pe))
    }

    fn poll(&self) -> Result<bool, TransportError> {
        let mut came = self.short.poll()?;
        if self.is_turn_of_long() && self.long.poll()? {
            let poll = self.polls.load(Ordering::Relaxed);
            let until = poll.wrapping_add(EAGER_POLLS);
            self.eager_until.store(until, Ordering::Relaxed);
            came = true;
        }
        Ok(came)
    }

    /// As the short wire says: the other one hears it from there.
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        self.short.is_alive(pe)
    }

    fn loss(&self, pe: PeId) -> Loss {
        self.short.loss(pe)
    }

    fn give_up(&self, pe: PeId) {
        self.short.give_up(pe);
        self.long.give_up(pe);
    }

    /// The short wire last: who hears there that a PE has ended misses nothing by the long one.
    fn finish(&self) {
        self.long.finish();
        self.short.finish();
    }

    fn wait_limits(&self) -> WaitLimits {
        self.short.wait_limits().joined(self.long.wait_limits())
    }

    fn tally(&self) -> Vec<(String, u64)> {
        let both = [&self.short, &self.long];
        both.into_iter().flat_map(|wire| wire.tally()).collect()
    }

    fn sleep_max(&self, wanted: Duration) -> Duration {
        self.short
            .sleep_max(wanted)
            .min(self.long.sleep_max(wanted))
    }

    fn is_in_virtual_time(&self) -> bool {
        self.short.is_in_virtual_time()
    }

    fn now(&self) -> Duration {
        self.short.now()
    }

    fn nap(&self, time: Duration) {
        self.short.nap(time);
    }

    fn yield_now(&self) {
        self.short.yield_now();
    }
}

fn not_offloaded(pe: PeId) -> TransportError {
    TransportError::misused(
        "an operation that the wire does",
        "a PE to which an offloaded route leads",
        format_args!("PE {pe}"),
    )
}

impl Offload for ByLength {
    fn get(&self, pe: PeId, offset_bytes: usize, dst: &mut [u8]) -> Result<(), TransportError> {
        if self.long_peer(pe, offset_bytes, dst.len()).is_some()
            && let Some(long) = self.long.offload()
        {
            self.short.quiet_of(pe)?;
            return long.get(pe, offset_bytes, dst);
        }
        self.finish_puts(pe)?;
        let short = self.short.offload().ok_or_else(|| not_offloaded(pe))?;
        short.get(pe, offset_bytes, dst)
    }

    fn atomic(&self, pe: PeId, request: Request) -> Result<u64, TransportError> {
        self.finish_puts(pe)?;
        let short = self.short.offload().ok_or_else(|| not_offloaded(pe))?;
        short.atomic(pe, request)
    }
}

/// Notices the end of PEs as a wire does that leads to them.
pub struct EndsSeenBy(pub Arc<dyn Transport>);

impl Watch for EndsSeenBy {
    fn has_ended(&self, pe: PeId) -> bool {
        matches!(self.0.is_alive(pe), Ok(false))
    }

    /// Such a wire gives up a PE that is silent for long.
    fn notices(&self, _pe: PeId) -> bool {
        true
    }

    /// It asks before it gives one up: whom it holds for alive is given more time here, too.
    fn host_answered_ago(&self, pe: PeId) -> Option<Duration> {
        matches!(self.0.is_alive(pe), Ok(true)).then_some(Duration::ZERO)
    }
}

#[cfg(all(test, target_os = "linux"))]
#[path = "by_length_tests.rs"]
mod tests;
