//! A detector of races between PEs.
//!
//! Two accesses to the same bytes race if one of them changes them, they are not atomic with
//! each other, and nothing orders them. The specification says what orders accesses: fences and
//! quiets of a context, barriers and synchronisations, the flow of data in collective
//! operations, words that are waited for or fetched, locks. Times do not matter, so the same
//! program gets the same result however its PEs are delayed, as long as locks and atomics
//! happen in the same order.
//!
//! | module | |
//! |---|---|
//! | `clock` | what a PE knows, and which operations are complete |
//! | `access`, `shadow` | what was done to memory, which pairs conflict, which are ordered |
//! | `words`, `meetings` | how PEs learn of each other |
//! | `owner` | what a PE keeps of its own memory on behalf of all |
//! | `message`, `mail`, `bytes` | how the others reach that: the same way on any wire |
//! | `inner` | the detector of a PE: what it does itself, what it is told, and its threads |
//! | `view` | what the program's own code reads of the detector, and which addresses are symmetric |
//! | `program` | the program's own loads and stores, and what its threads tell each other |
//! | `finding`, `report` | two accesses that race, and what is said of them |
//!
//! Each PE keeps the record of its own memory, and other PEs report their accesses to it. The
//! owner carries out small puts, signals and atomics when it receives the report, so that
//! record and memory agree. Before a PE makes its operations known to others, all its reports
//! have been received.

mod access;
mod bytes;
mod clock;
mod finding;
mod inner;
mod mail;
mod meetings;
mod message;
mod owner;
mod private;
mod program;
mod report;
mod shadow;
mod view;
mod words;

use core::ops::{Deref, DerefMut};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire::PeId;
use hostwire::attachment::Operation;
use hostwire_transport::worker;

use super::location;
use crate::fail::fatal;
use crate::remote::done;
use crate::runtime::Runtime;
use inner::Inner;
use mail::Sleep;
use program::{INSIDE, THREAD};

pub(crate) use access::{Footprint, Kind, Operands};
pub(crate) use meetings::Flow;
#[cfg(feature = "fuzzing")]
pub(crate) use message::comes_back;

/// The default context.
pub(crate) const DEFAULT: u16 = clock::DEFAULT;

/// How often a thread looks at the mail before it sleeps, where PEs have cores of their own. Elsewhere it sleeps at
/// once: a woken thread gets a core sooner than one that yields.
const LOOKS: u32 = 200;

/// Most PEs of a job that it looks at: an entry names them in 16 bits.
const PES_MAX: u32 = 1 << 16;

pub(crate) fn area_bytes(pes: u32) -> usize {
    mail::area_bytes(pes)
}

/// FNV-1a of some words.
pub(crate) fn hash(words: impl IntoIterator<Item = u64>) -> u64 {
    let bytes = words.into_iter().flat_map(u64::to_le_bytes);
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// See the [module text](self).
#[derive(Debug)]
pub(crate) struct Race {
    /// Where in a segment its memory is.
    area: usize,
    inner: Mutex<Inner>,
    delays: Option<Delays>,
    stops: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The detector, for one thread at a time, which the program's own functions do not enter meanwhile.
struct Held<'a> {
    inner: MutexGuard<'a, Inner>,
    was_inside: bool,
}

impl Deref for Held<'_> {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.inner
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Inner {
        &mut self.inner
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        INSIDE.set(self.was_inside);
    }
}

/// Sleeps before operations, for tests of the detector: no result may depend on them.
#[derive(Debug)]
struct Delays(AtomicU64);

impl Delays {
    fn next(&self) -> u64 {
        // A step of SplitMix64: any thread may take one.
        let step = 0x9e37_79b9_7f4a_7c15;
        let mut z = self.0.fetch_add(step, Ordering::Relaxed).wrapping_add(step);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Once in `every` times, up to 400 microseconds.
    fn delay(&self, every: u64) {
        let number = self.next();
        if number.is_multiple_of(every) {
            std::thread::sleep(Duration::from_micros(number >> 32 & 0x1ff));
        }
    }
}

/// Members of a team or an active set in a collective operation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Members<'a> {
    /// The same number at all of them, and at no others.
    pub(crate) team: u64,
    pub(crate) members: &'a [PeId],
    pub(crate) rank: usize,
}

/// A put or a get: its target and its kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transfer {
    pub(crate) what: &'static str,
    pub(crate) slot: u16,
    pub(crate) pe: PeId,
    /// The symmetric side, by offset in a segment.
    pub(crate) remote: Footprint,
    /// The other side, by address.
    pub(crate) local: Footprint,
    pub(crate) is_nbi: bool,
}

/// When an atomic gives the program the old value, and with it what is known behind that value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gives {
    Nothing,
    /// It is complete then.
    AtReturn,
    /// A non-blocking one: when its context is quiet.
    WhenQuiet,
}

/// An atomic, or a signal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtomicUse {
    pub(crate) what: &'static str,
    pub(crate) slot: u16,
    pub(crate) kind: Kind,
    pub(crate) operation: Operation,
    pub(crate) operand: u64,
    pub(crate) compare: u64,
    pub(crate) gives: Gives,
    /// The number of the put whose arrival it reports.
    pub(crate) data: Option<u64>,
}

impl Race {
    pub(crate) fn new(area: usize, me: PeId, pes: u32, delays: Option<u64>) -> Self {
        let seed = |seed: u64| Delays(AtomicU64::new(hash([seed, me.into()])));
        Self {
            area,
            inner: Mutex::new(Inner::new(area, me, pes)),
            delays: delays.map(seed),
            stops: AtomicBool::new(false),
            thread: Mutex::new(None),
        }
    }

    /// The reason why it cannot check this job, if there is one.
    pub(crate) fn refusal(&self, runtime: &Runtime) -> Option<String> {
        let pes = runtime.attachment.pes();
        (pes > PES_MAX).then(|| {
            format!(
                "SHMEM_DEBUG=race cannot find races in this job, since it has {pes} PEs and the \
                 detector can tell {PES_MAX} apart; SHMEM_DEBUG=checks,bounds works"
            )
        })
    }

    /// What it does not look at in this program, if that is worth a line.
    pub(crate) fn hint(&self) -> Option<&'static str> {
        (!view::is_instrumented()).then_some(
            "SHMEM_DEBUG=race: only calls of the library are looked at; compile and link the program with \
             `oshcc --race` (or `oshc++ --race`) to have its own loads and stores looked at, too",
        )
    }

    /// Begins to receive the messages of others.
    pub(crate) fn start(&'static self, runtime: &'static Runtime) {
        self.stops.store(false, Ordering::Relaxed);
        match worker::start("hostwire-race", 2 << 20, || self.listen(runtime)) {
            Ok(thread) => *lock(&self.thread) = Some(thread),
            Err(error) => fatal(
                "shmem_init",
                format_args!("SHMEM_DEBUG=race needs a thread, and none can be started: {error}"),
            ),
        }
        view::watch(runtime);
    }

    /// All PEs are done; the others have been heard.
    pub(crate) fn finish(&self, runtime: &Runtime, what: &'static str, world: Members<'_>) {
        view::look_away();
        // Twice: races that are found in the messages of others also have to be
        // reported.
        for _ in 0..2 {
            self.barrier(runtime, what, world);
        }
    }

    pub(crate) fn stop(&self) {
        self.stops.store(true, Ordering::Relaxed);
        // It looks again within the limit of its sleep.
        if let Some(thread) = lock(&self.thread).take() {
            // A panic cannot have left an inconsistent state here.
            let _ = thread.join();
        }
    }

    /// Whether this PE has reported a race.
    pub(crate) fn has_reported(&self) -> bool {
        self.lock().has_reported()
    }

    fn listen(&self, runtime: &Runtime) {
        let Some(mut sleep) = Sleep::new(runtime, self.area) else {
            return;
        };
        let looks = looks(runtime);
        let mut idle = 0u32;
        while !self.stops.load(Ordering::Relaxed) {
            if idle == looks {
                sleep.arm();
            }
            let has_heard = self.lock().listen(runtime);
            match has_heard {
                true => idle = 0,
                false if idle < looks => {
                    idle += 1;
                    core::hint::spin_loop();
                }
                false => sleep.sleep(),
            }
        }
    }

    fn lock(&self) -> Held<'_> {
        let was_inside = INSIDE.replace(true);
        let mut inner = lock(&self.inner);
        inner.enter(THREAD.get());
        Held { inner, was_inside }
    }

    /// Called at the beginning of each call of the program.
    fn enter(&self, runtime: &Runtime) -> Held<'_> {
        if let Some(delays) = &self.delays {
            delays.delay(4);
        }
        let mut inner = self.lock();
        inner.settle(runtime);
        inner
    }

    /// Lets the detector work until there is something.
    fn until<R>(
        &self,
        runtime: &Runtime,
        what: &str,
        mut is: impl FnMut(&mut Inner) -> Option<R>,
    ) -> R {
        let mut sleep = Sleep::new(runtime, self.area);
        let at_once = self::looks(runtime);
        let mut looks = 0u32;
        loop {
            {
                let mut inner = self.lock();
                inner.listen(runtime);
                if let Some(result) = is(&mut inner) {
                    return result;
                }
            }
            looks = looks.saturating_add(1);
            if runtime.mapped.is_none() && looks.is_multiple_of(8) {
                done(what, runtime.attachment.progress());
            }
            match &mut sleep {
                _ if looks < at_once => core::hint::spin_loop(),
                // Every second time: one look is between.
                Some(sleep) if looks.is_multiple_of(2) => sleep.arm(),
                Some(sleep) => sleep.sleep(),
                None => std::thread::yield_now(),
            }
            if looks.is_multiple_of(1024) {
                self.look_for_lost(runtime, what);
            }
        }
    }

    fn look_for_lost(&self, runtime: &Runtime, what: &str) {
        for pe in (0..runtime.attachment.pes()).filter(|pe| *pe != runtime.attachment.pe()) {
            if done(what, runtime.attachment.is_lost(pe)) {
                fatal(what, format_args!("PE {pe} is lost: its process has ended"));
            }
        }
    }

    /// Returns when all messages to PEs other than `except` have been received.
    fn flush(&self, runtime: &Runtime, what: &str, except: Option<PeId>) {
        self.until(runtime, what, |inner| {
            inner.is_heard(runtime, except).then_some(())
        });
    }

    fn answer(&self, runtime: &Runtime, what: &str, question: u64) -> u64 {
        self.until(runtime, what, |inner| inner.take_answer(question, None))
    }

    /// A put. A small put, which may be a flag, is done here: `value` gives the bytes.
    /// Returns whether it was done.
    pub(crate) fn put(
        &self,
        runtime: &Runtime,
        transfer: Transfer,
        value: impl FnOnce() -> u64,
    ) -> bool {
        let place = location::caller_place();
        self.enter(runtime).put_source(runtime, &transfer, place);
        let (remote, len) = (transfer.remote, transfer.remote.block_bytes);
        let is_word = remote.blocks == 1 && matches!(len, 4 | 8);
        if !is_word || !remote.start.is_multiple_of(len) {
            let mut inner = self.lock();
            let epoch = inner.epoch();
            inner.put_data(runtime, &transfer, place, epoch);
            return false;
        }
        let flag = AtomicUse {
            what: transfer.what,
            slot: transfer.slot,
            kind: Kind::Put,
            operation: Operation::Swap,
            operand: value(),
            compare: 0,
            gives: Gives::Nothing,
            data: None,
        };
        self.word(runtime, transfer.pe, remote, flag, place);
        true
    }

    /// The data of a put with signal: what the signal has to name.
    pub(crate) fn put_before_signal(&self, runtime: &Runtime, transfer: Transfer) -> u64 {
        let place = location::caller_place();
        let mut inner = self.enter(runtime);
        inner.put_source(runtime, &transfer, place);
        let epoch = inner.own_epoch();
        inner.put_data(runtime, &transfer, place, epoch);
        epoch
    }

    /// Called before a get.
    pub(crate) fn get(&self, runtime: &Runtime, transfer: Transfer) {
        let place = location::caller_place();
        self.enter(runtime).get(runtime, &transfer, place);
    }

    /// An atomic on `len` bytes at `offset` of `pe`, which are aligned: does it, and returns the
    /// old value if it gives that.
    pub(crate) fn atomic(
        &self,
        runtime: &Runtime,
        pe: PeId,
        (offset, len): (usize, usize),
        of: AtomicUse,
    ) -> u64 {
        let place = location::caller_place();
        drop(self.enter(runtime));
        self.word(runtime, pe, Footprint::run(offset, len), of, place)
    }

    fn word(
        &self,
        runtime: &Runtime,
        pe: PeId,
        footprint: Footprint,
        of: AtomicUse,
        place: u64,
    ) -> u64 {
        self.flush(runtime, of.what, Some(pe));
        let question = self.lock().word(runtime, pe, footprint, &of, place);
        let later = (of.gives == Gives::WhenQuiet).then_some((of.slot, pe));
        match question {
            Some(question) => {
                self.until(runtime, of.what, |inner| inner.take_answer(question, later))
            }
            None => 0,
        }
    }

    /// The old value of a non-blocking atomic will be at this address.
    pub(crate) fn fetch_nbi(
        &self,
        runtime: &Runtime,
        what: &'static str,
        slot: u16,
        pe: PeId,
        fetch: Footprint,
    ) {
        let place = location::caller_place();
        let mut inner = self.lock();
        let kind = Kind::NbiDestination;
        inner.local(runtime, what, fetch, kind, (slot, Some(pe)), place);
    }

    pub(crate) fn fence(&self, runtime: &Runtime, what: &str, slot: u16) {
        drop(self.enter(runtime));
        self.flush(runtime, what, None);
        self.lock().fence(slot);
    }

    pub(crate) fn quiet(&self, runtime: &Runtime, what: &str, slot: u16) {
        drop(self.enter(runtime));
        self.flush(runtime, what, None);
        self.lock().quiet(slot);
    }

    pub(crate) fn pe_quiet(&self, runtime: &Runtime, what: &str, slot: u16, pes: &[PeId]) {
        drop(self.enter(runtime));
        self.flush(runtime, what, None);
        self.lock().pe_quiet(runtime, slot, pes);
    }

    /// A wait or a test of the own word at `offset` has ended well.
    pub(crate) fn seen(
        &self,
        runtime: &Runtime,
        (offset, size): (usize, usize),
        ends_it: &dyn Fn(u64) -> bool,
    ) {
        self.enter(runtime).seen((offset, size as u8), ends_it);
    }

    /// Members of a team meet, and what they had begun on the default context is complete.
    pub(crate) fn barrier(&self, runtime: &Runtime, what: &'static str, members: Members<'_>) {
        self.quiet(runtime, what, clock::DEFAULT);
        self.meet(runtime, what, members, Flow::All, (None, true));
    }

    /// Members of a team meet, and their own stores have arrived.
    pub(crate) fn sync(&self, runtime: &Runtime, what: &'static str, members: Members<'_>) {
        self.quiet(runtime, what, clock::STORES);
        self.meet(runtime, what, members, Flow::All, (None, true));
    }

    fn meet(
        &self,
        runtime: &Runtime,
        what: &str,
        members: Members<'_>,
        flow: Flow,
        (stores, gives): (Option<u64>, bool),
    ) {
        if members.members.len() < 2 {
            return;
        }
        self.flush(runtime, what, None);
        let question = self.lock().come(runtime, members, flow, (stores, gives));
        self.answer(runtime, what, question);
    }

    /// A member comes to an operation in which it reads `source`, an offset in its segment, and
    /// that stores into the destinations of the members at these ranks.
    pub(crate) fn collective(
        &self,
        runtime: &Runtime,
        what: &'static str,
        members: Members<'_>,
        flow: Flow,
        source: Option<Footprint>,
        destinations: impl IntoIterator<Item = (usize, Footprint)>,
    ) {
        let place = location::caller_place();
        let stores = {
            let mut inner = self.enter(runtime);
            inner.contribute(runtime, what, members, place, source, destinations)
        };
        self.meet(runtime, what, members, flow, (stores, stores.is_some()));
    }

    /// A lock was taken; its home is `home`.
    pub(crate) fn lock_taken(
        &self,
        runtime: &Runtime,
        what: &'static str,
        home: PeId,
        offset: usize,
    ) {
        let place = location::caller_place();
        let question = self
            .enter(runtime)
            .take_lock(runtime, what, (home, offset), place);
        self.answer(runtime, what, question);
    }

    /// A lock is about to be given up.
    pub(crate) fn lock_given(&self, runtime: &Runtime, what: &str, home: PeId, offset: usize) {
        self.quiet(runtime, what, clock::DEFAULT);
        self.lock().give_lock(runtime, home, offset);
        self.flush(runtime, what, None);
    }

    /// A block of the heap is new.
    pub(crate) fn allocated(&self, runtime: &Runtime, offset: usize, len_bytes: usize) {
        let place = location::caller_place();
        self.lock().allocated(runtime, offset, len_bytes, place);
    }

    /// A block is given back; all PEs have met.
    pub(crate) fn freed(&self, runtime: &Runtime, offset: usize) {
        let place = location::caller_place();
        self.lock().freed(runtime, offset, place);
    }

    /// A number for a context that is being made.
    pub(crate) fn context_made(&self, is_without_stores: bool) -> u16 {
        self.lock().context_made(is_without_stores)
    }

    /// The context is destroyed; it was quiet.
    pub(crate) fn context_gone(&self, slot: u16) {
        self.lock().context_gone(slot);
    }
}

fn looks(runtime: &Runtime) -> u32 {
    if runtime.attachment.is_crowded() {
        1
    } else {
        LOOKS
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
