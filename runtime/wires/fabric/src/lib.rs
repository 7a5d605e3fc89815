//! A wire over libfabric: for clusters with RDMA, and for libfabric's TCP.
//!
//! libfabric is loaded when this wire is used. Every PE has its own endpoint (`FI_EP_RDM`) with
//! messages and remote memory. This wire does not lead to PEs of the own host.
//!
//! # How operations are carried out
//!
//! | | |
//! |---|---|
//! | long puts | `fi_write`, from where the bytes are to the segment |
//! | gets | `fi_read` |
//! | long puts and gets of registered memory | the same, with a key that the owner gives on request |
//! | short puts, words, lines | messages, which the target applies in their order |
//! | atomics | by the agent of the target, because all routes to a segment must be atomic with respect
//! to each other |
//!
//! libfabric does not promise that an aligned word is written in one piece, nor any order within a
//! write, nor that a write wakes the target. So operations that need one of these are messages: the
//! target itself does the store. A message that wakes the target follows a long put.
//!
//! # Order and completion
//!
//! Messages are in order (`FI_ORDER_SAS`, which every provider has to promise; each message is
//! numbered, and one out of order ends the wire). If the provider also keeps messages and writes
//! behind earlier writes (`FI_ORDER_SAW`, `FI_ORDER_WAW`), a long put returns when its bytes are under
//! way. Otherwise it returns when they are delivered (`FI_DELIVERY_COMPLETE`). A write may overtake
//! messages, so the first long put after a fence waits until the messages before the fence have been
//! applied. A quiet asks the target for an echo.
//!
//! # Progress
//!
//! Most providers make progress only when they are polled. Waiting threads poll. The *agent*, a thread
//! of this wire, polls while no thread does, and sleeps on the descriptor of the completion queue if
//! there is one.
//!
//! # Trust
//!
//! Traffic of libfabric is neither encrypted nor authenticated. Keys of memory and the number in the
//! messages of a job are random, but an attacker who reads the network learns them.

mod agent;
mod asking;
mod connect;
mod core;
mod ffi;
mod home;
mod join;
mod keys;
mod local;
mod message;
mod offers;
mod peer;
pub mod settings;
mod ticket;
mod transfer;

use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hostwire_address::{Place, SegmentId};
use hostwire_frames::ControlConnections;
use hostwire_link::silence::{self, Verdict};
use hostwire_transport::addresses::Addresses;
use hostwire_transport::error::{Loss, PeId, TransportError};
use hostwire_transport::fork_guard::ForkGuard;
use hostwire_transport::ring::PAYLOAD_BYTES;
use hostwire_transport::route::Route;
use hostwire_transport::wait::WaitLimits;
use hostwire_transport::window::Window;
use hostwire_transport::wire::{self, Capabilities, Lifetime, Line, Part, Wire};

use self::agent::{AgentShared, Hold};
pub use self::connect::{Opened, Party};
use self::core::{Counted, DATA_BYTES_MAX, MESSAGE_BYTES};
pub use self::join::FABRIC;
pub use self::local::local;
use self::message::{Kind, Outgoing, RECORD_BYTES};
pub use self::offers::{Choice, Offer, offers};
use self::peer::End;
pub use self::ticket::Ticket;

/// Longest wait before a store or a quiet checks everything again.
const LOOK_AGAIN: Duration = Duration::from_millis(1);
/// Polls with a yield between them, before that.
const YIELDS: u32 = 200;
/// How long a PE that ends waits for its last stores to arrive.
const LINGER: Duration = Duration::from_secs(3);
/// How long a transfer to a peer whose process has ended may stay without a completion.
const LAST_ERRORS: Duration = Duration::from_secs(1);
/// Waiting threads ask a peer for an echo if it has not been heard for so long.
const ASK_AFTER: Duration = Duration::from_secs(1);
const LINE_BYTES: usize = 8 + PAYLOAD_BYTES;

/// The transport over libfabric. See the [module text](self).
pub struct Fabric {
    fork_guard: ForkGuard,
    pe: PeId,
    pes: u32,
    segment: Window,
    addresses: Addresses,
    shared: Arc<AgentShared>,
    agent: Option<JoinHandle<()>>,
    limits: WaitLimits,
    /// By PE: whether this wire leads there.
    leads: Box<[bool]>,
    watch: Option<Arc<ControlConnections>>,
    lost_after: Duration,
    /// Messages stay behind earlier writes.
    orders_writes: bool,
    /// The caller's bytes cannot be sent in place.
    copies: bool,
    operation_bytes_max: usize,
    /// Guards the buffer to which they are copied.
    copying: Mutex<()>,
}

/// How a thread waits for a peer.
#[derive(Debug, Default)]
struct Patience {
    looks: u32,
}

impl Patience {
    /// Returns whether it is time to check for lost peers.
    fn wait(&mut self, wire: &Fabric) -> bool {
        self.looks = self.looks.saturating_add(1);
        let WaitLimits { looks, .. } = wire.limits;
        if self.looks < looks {
            std::hint::spin_loop();
            return false;
        }
        if self.looks < looks.saturating_add(YIELDS) {
            std::thread::yield_now();
            return false;
        }
        wire.shared.wait(LOOK_AGAIN);
        true
    }
}

impl Fabric {
    /// Takes the lock of the wire. An error in a copy of the process, which must not wait for it.
    fn hold(&self) -> Result<Hold<'_>, TransportError> {
        self.fork_guard.check()?;
        Ok(self.shared.lock())
    }

    /// Which provider of libfabric this is.
    pub fn provider(&self) -> String {
        self.shared.lock().endpoint.provider()
    }

    /// Whether this wire leads to a PE.
    fn leads_to(&self, pe: PeId) -> bool {
        self.leads.get(pe as usize).is_some_and(|leads| *leads)
    }

    /// A place of this PE: the window, and the offset in it.
    fn own(&self, offset_bytes: usize) -> Result<(Window, usize), TransportError> {
        if !Place::is_registered(offset_bytes as u64) {
            self.fork_guard.check()?;
            return Ok((self.segment.clone(), offset_bytes));
        }
        let core = self.hold()?;
        let found = core.home.find(offset_bytes);
        let found = found.map(|(window, at)| (window.clone(), at));
        found.ok_or(TransportError::OutOfRange {
            offset_bytes,
            len_bytes: 1,
            segment_bytes: 0,
        })
    }

    /// Sends a message with stores. `quiet_waits`: a quiet has to wait for them.
    fn send(
        &self,
        pe: PeId,
        mut message: Outgoing,
        quiet_waits: bool,
    ) -> Result<(), TransportError> {
        let mut patience = Patience::default();
        let begin = Instant::now();
        loop {
            let mut core = self.hold()?;
            if core.open(pe)?.is_none() {
                return Ok(());
            }
            if let Some(number) = core.send(pe, &mut message)? {
                if let Some(peer) = core.peer_mut(pe) {
                    peer.has_stored(number, quiet_waits);
                }
                return Ok(());
            }
            self.go_on(core, &mut patience, (pe, begin));
        }
    }

    /// Lets the endpoint make progress for a thread that has waited for `pe` since `begin`, and waits
    /// a little if nothing came.
    fn go_on(&self, mut core: Hold<'_>, patience: &mut Patience, (pe, begin): (PeId, Instant)) {
        let came = core.drive();
        drop(core);
        if came {
            *patience = Patience::default();
        } else if patience.wait(self) {
            self.look_after(pe, begin);
        }
    }

    /// Sends a message with stores, for which a quiet has to wait.
    fn store_message(&self, pe: PeId, message: Outgoing) -> Result<(), TransportError> {
        self.send(pe, message, true)
    }

    /// Called while a thread has waited for a PE since `begin`: checks whether the PE has ended or is
    /// silent.
    fn look_after(&self, pe: PeId, begin: Instant) {
        let watch = self.watch.as_ref();
        let has_ended = watch.is_some_and(|watch| watch.has_ended(pe));
        let mut core = self.shared.lock();
        if has_ended {
            // Its last messages, also its farewell, may have come.
            core.drive();
            if let Some(peer) = core.peer_mut(pe) {
                peer.ends(End::Lost(Loss::Ended));
            }
        }
        if let Some(peer) = core.peer_mut(pe) {
            let heard_ago = peer.heard_at.elapsed();
            let silent = peer.stalled().max(begin.elapsed().min(heard_ago));
            if let Some(loss) = self.lost_by_silence(pe, silent, heard_ago) {
                peer.ends(End::Lost(loss));
            }
        }
    }

    /// The loss if a PE has owed an answer for so long.
    fn lost_by_silence(&self, pe: PeId, silent: Duration, heard_ago: Duration) -> Option<Loss> {
        if silent < self.lost_after {
            return None;
        }
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let watch = self.watch.as_ref();
        let host_silent = watch.and_then(|watch| watch.host_answered_ago(pe));
        let silent_ms = heard_ago.as_millis() as u64;
        match silence::judge(ns(silent), ns(self.lost_after), host_silent.map(ns)) {
            Verdict::Waits => None,
            Verdict::Silent => Some(Loss::Silent {
                silent_ms,
                may_have_ended: !watch.is_some_and(|watch| watch.leads_to(pe)),
            }),
            Verdict::HostSilent => Some(Loss::HostSilent { silent_ms }),
            Verdict::Stopped => Some(Loss::Stopped { silent_ms }),
        }
    }

    /// Waits until messages up to one have been applied.
    fn applied(&self, pe: PeId, number: u64) -> Result<(), TransportError> {
        let mut patience = Patience::default();
        let begin = Instant::now();
        loop {
            let mut core = self.hold()?;
            let Some(peer) = core.open(pe)? else {
                return Ok(());
            };
            if peer.echoed >= number {
                return Ok(());
            }
            core.ask(pe, number)?;
            self.go_on(core, &mut patience, (pe, begin));
        }
    }

    /// A quiet of some PEs. Waits for all, and then gives the first error. Each loss is reported once.
    fn quiet_with(&self, pes: impl Iterator<Item = PeId>) -> Result<(), TransportError> {
        let mut all = Ok(());
        let mut waiting = Vec::new();
        let mut core = self.hold()?;
        core.fault()?;
        for pe in pes {
            let Some(peer) = core.peer_mut(pe) else {
                continue;
            };
            if let Some(end) = peer.end {
                if !std::mem::replace(&mut peer.is_told, true) {
                    all = all.and(end.result(pe));
                }
                continue;
            }
            if peer.stored > peer.echoed {
                let number = peer.stored;
                // If there is no room now, it is asked later.
                all = all.and(core.ask(pe, number).map(drop));
                waiting.push((pe, number));
            }
        }
        drop(core);
        for (pe, number) in waiting {
            let applied = self.applied(pe, number);
            if applied.is_err()
                && let Some(peer) = self.shared.lock().peer_mut(pe)
            {
                peer.is_told = true;
            }
            all = all.and(applied);
        }
        all
    }

    /// Sends a message if a record of so many bytes does not fit behind it.
    fn make_room(
        &self,
        pe: PeId,
        message: &mut Outgoing,
        len: usize,
    ) -> Result<(), TransportError> {
        let is_full = message.len() + RECORD_BYTES + len.next_multiple_of(8) > MESSAGE_BYTES;
        match is_full {
            true => self.store_message(pe, std::mem::replace(message, Outgoing::new())),
            false => Ok(()),
        }
    }

    fn line(
        &self,
        pe: PeId,
        line: &Line<'_>,
        message: &mut Outgoing,
    ) -> Result<(), TransportError> {
        let &Line {
            offset_bytes,
            header,
            payload,
        } = line;
        self.addresses
            .of(pe, offset_bytes, LINE_BYTES, LINE_BYTES)?;
        if payload.len() > PAYLOAD_BYTES {
            return Err(TransportError::OutOfRange {
                offset_bytes: 0,
                len_bytes: payload.len(),
                segment_bytes: PAYLOAD_BYTES,
            });
        }
        message.push(Kind::Line, offset_bytes, &[&header.to_ne_bytes(), payload]);
        Ok(())
    }

    /// Whether a PE is known to have ended.
    fn has_end(&self, pe: PeId) -> Result<Option<End>, TransportError> {
        Ok(self.hold()?.peer(pe).and_then(|peer| peer.end))
    }
}

impl Wire for Fabric {
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
        if pe == self.pe {
            return Some(Route::Mapped(self.segment.clone()));
        }
        self.leads_to(pe).then_some(Route::Read { from_bytes: 0 })
    }

    fn store(&self, pe: PeId, offset_bytes: usize, src: &[u8]) -> Result<(), TransportError> {
        if pe == self.pe {
            let (own, at) = self.own(offset_bytes)?;
            return own.put(at, src);
        }
        // This comes first: a copy of the process must not allocate.
        self.fork_guard.check()?;
        self.addresses.of(pe, offset_bytes, src.len(), 1)?;
        if src.len() > DATA_BYTES_MAX
            && let Some(at) = self.far(pe, offset_bytes, src.len())?
        {
            return self.put_long(pe, at, src);
        }
        let mut at = offset_bytes;
        for piece in src.chunks(DATA_BYTES_MAX) {
            self.store_message(pe, Outgoing::one(Kind::Store, at, &[piece]))?;
            at += piece.len();
        }
        Ok(())
    }

    fn store_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        if pe == self.pe {
            let (own, at) = self.own(offset_bytes)?;
            return own.put_word(at, value);
        }
        self.fork_guard.check()?;
        self.addresses.of(pe, offset_bytes, 8, 8)?;
        let word = value.to_ne_bytes();
        self.store_message(pe, Outgoing::one(Kind::Word, offset_bytes, &[&word]))
    }

    fn store_line(
        &self,
        pe: PeId,
        offset_bytes: usize,
        header: u64,
        payload: &[u8],
    ) -> Result<(), TransportError> {
        if pe == self.pe {
            let (own, at) = self.own(offset_bytes)?;
            return own.put_line(at, header, payload);
        }
        self.fork_guard.check()?;
        let line = Line {
            offset_bytes,
            header,
            payload,
        };
        let mut message = Outgoing::new();
        self.line(pe, &line, &mut message)?;
        self.store_message(pe, message)
    }

    fn fence(&self) -> Result<(), TransportError> {
        let mut core = self.hold()?;
        for pe in core.others() {
            if let Some(peer) = core.peer_mut(pe) {
                peer.fenced = peer.ordered;
            }
        }
        Ok(())
    }

    fn quiet(&self) -> Result<(), TransportError> {
        let others = self.hold()?.others();
        self.quiet_with(others)
    }

    fn poll(&self) -> Result<bool, TransportError> {
        self.fork_guard.check()?;
        Ok(self.shared.look())
    }

    fn wait_limits(&self) -> WaitLimits {
        self.limits
    }

    fn capabilities(&self) -> Capabilities<'_> {
        Capabilities {
            registration: Some(self),
            batches: Some(self),
            per_target: Some(self),
            liveness: Some(self),
            lifetime: Some(self),
            counting: Some(self),
            offload: Some(self),
            ..Capabilities::NONE
        }
    }
}

impl wire::Registration for Fabric {
    /// The owner says at first use whether the memory has a key.
    fn registered_route(&self, pe: PeId, _segment: SegmentId) -> Option<Route> {
        self.leads_to(pe).then_some(Route::Read { from_bytes: 0 })
    }

    fn register(&self, segment: SegmentId, window: &Window) -> Result<(), TransportError> {
        self.hold()?.home.register(segment, window.clone());
        Ok(())
    }

    fn unregister(&self, segment: SegmentId) {
        if let Ok(mut core) = self.hold() {
            core.home.unregister(segment);
            drop(core);
            self.take_back(segment);
        }
    }
}

impl wire::Batches for Fabric {
    fn signal_word(&self, pe: PeId, offset_bytes: usize, value: u64) -> Result<(), TransportError> {
        if pe == self.pe {
            return self.store_word(pe, offset_bytes, value);
        }
        self.fork_guard.check()?;
        self.addresses.of(pe, offset_bytes, 8, 8)?;
        let word = value.to_ne_bytes();
        self.send(pe, Outgoing::one(Kind::Word, offset_bytes, &[&word]), false)
    }

    /// In as few messages as possible.
    fn store_lines(
        &self,
        pe: PeId,
        lines: &mut dyn Iterator<Item = Line<'_>>,
    ) -> Result<(), TransportError> {
        if pe == self.pe {
            return (self as &dyn Wire).store_each(pe, lines);
        }
        self.fork_guard.check()?;
        let mut message = Outgoing::new();
        let mut all = Ok(());
        for line in lines {
            all = self.line(pe, &line, &mut message);
            if all.is_err() {
                break;
            }
            if message.len() + RECORD_BYTES + LINE_BYTES > MESSAGE_BYTES {
                let full = std::mem::replace(&mut message, Outgoing::new());
                self.store_message(pe, full)?;
            }
        }
        // Lines before the wrong one have been stored.
        if !message.is_empty() {
            self.store_message(pe, message)?;
        }
        all
    }

    /// All of it in messages, which stay in order. A write by RDMA would wait for an answer to earlier messages.
    fn store_behind(
        &self,
        pe: PeId,
        parts: &mut dyn Iterator<Item = Part<'_>>,
        line: Line<'_>,
    ) -> Result<(), TransportError> {
        self.fork_guard.check()?;
        let mut message = Outgoing::new();
        for part in parts {
            let len = part.bytes.len();
            self.addresses.of(pe, part.offset_bytes, len, 1)?;
            let mut at = part.offset_bytes;
            for piece in part.bytes.chunks(DATA_BYTES_MAX) {
                self.make_room(pe, &mut message, piece.len())?;
                message.push(Kind::Store, at, &[piece]);
                at += piece.len();
            }
        }
        self.make_room(pe, &mut message, LINE_BYTES)?;
        self.line(pe, &line, &mut message)?;
        self.store_message(pe, message)
    }
}

impl wire::PerTarget for Fabric {
    fn fence_of(&self, pe: PeId) -> Result<(), TransportError> {
        if let Some(peer) = self.hold()?.peer_mut(pe) {
            peer.fenced = peer.ordered;
        }
        Ok(())
    }

    fn quiet_of(&self, pe: PeId) -> Result<(), TransportError> {
        if pe == self.pe {
            return self.fork_guard.check();
        }
        let pes = self.pes;
        match self.leads_to(pe) {
            true => self.quiet_with([pe].into_iter()),
            false => self
                .fork_guard
                .check()
                .and(Err(TransportError::NoSuchPe { pe, pes })),
        }
    }
}

impl wire::Liveness for Fabric {
    fn is_alive(&self, pe: PeId) -> Result<bool, TransportError> {
        if pe == self.pe {
            return Ok(true);
        }
        let pes = self.pes;
        self.fork_guard.check()?;
        if !self.leads_to(pe) {
            return Err(TransportError::NoSuchPe { pe, pes });
        }
        // Only a sign of life is awaited here.
        self.look_after(pe, Instant::now());
        let mut core = self.hold()?;
        let Some(peer) = core.peer(pe).filter(|peer| peer.end.is_none()) else {
            return Ok(false);
        };
        let behind_all = peer.sent + 1;
        if peer.heard_at.elapsed() > ASK_AFTER && peer.asked_at.is_none() {
            // If there is no room for the question, another answer of the peer is awaited anyway.
            let _ = core.ask(pe, behind_all);
        }
        Ok(core.peer(pe).is_some_and(|peer| peer.end.is_none()))
    }

    fn loss(&self, pe: PeId) -> Loss {
        match self.has_end(pe) {
            Ok(Some(End::Lost(loss))) => loss,
            _ => Loss::Ended,
        }
    }

    fn give_up(&self, pe: PeId) {
        if let Ok(mut core) = self.hold()
            && let Some(peer) = core.peer_mut(pe)
        {
            peer.ends(End::Lost(Loss::Ended));
        }
    }
}

impl wire::Lifetime for Fabric {
    fn begin(&self) -> Result<(), TransportError> {
        Ok(())
    }

    fn finish(&self) {
        if !self.fork_guard.is_here() {
            return;
        }
        self.shared.stop();
        let begin = Instant::now();
        let mut unsaid: Vec<PeId> = self.shared.lock().others().collect();
        loop {
            let mut core = self.shared.lock();
            unsaid.retain(|pe| {
                let is_open = core.peer(*pe).is_some_and(|peer| peer.end.is_none());
                let mut farewell = Outgoing::one(Kind::Farewell, 0, &[]);
                farewell.push(Kind::Echo, 0, &[]);
                match is_open {
                    true => match core.send(*pe, &mut farewell) {
                        Ok(Some(number)) => {
                            if let Some(peer) = core.peer_mut(*pe) {
                                peer.asked = number;
                            }
                            false
                        }
                        Ok(None) => true,
                        Err(_) => false,
                    },
                    false => false,
                }
            });
            core.drive();
            let waits = core.others().any(|pe| {
                core.peer(pe)
                    .is_some_and(|peer| peer.end.is_none() && peer.echoed < peer.asked)
            });
            drop(core);
            if (unsaid.is_empty() && !waits) || begin.elapsed() > LINGER {
                break;
            }
            self.shared.wait(LOOK_AGAIN);
            for pe in 0..self.pes {
                self.look_after(pe, begin);
            }
        }
    }

    fn close_recording(&self) -> Result<(), TransportError> {
        Ok(())
    }
}

impl wire::Counting for Fabric {
    fn tally(&self) -> Vec<(String, u64)> {
        let counted = self.hold().map(|core| core.counted).unwrap_or_default();
        let names = Counted::table().map(|(name, _)| name.to_owned());
        names.zip(counted.values()).collect()
    }
}

impl Drop for Fabric {
    fn drop(&mut self) {
        let shared = &self.shared;
        // In a copy of the process the endpoint belongs to the original.
        if self
            .fork_guard
            .end_thread(&mut self.agent, || shared.stop())
        {
            self.finish();
        }
    }
}
