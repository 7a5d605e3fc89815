//! What the parts of one [`Tca`](super::Tca) share: the engine, who lets it work, and its thread.
//!
//! The engine works when a thread of the program asks for it: as it gives work, and while it waits. What that
//! leaves, and what comes from other PEs, a thread of its own does. Where a PE must not have threads, as in
//! virtual time, there is none, and copies to its devices are made while it waits for its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use hostwire_transport::{Memory, PeId, TransportError, Visibility, worker};

use super::buffer::Pool;
use super::devices::Devices;
use super::door::Door;
use super::engine::{Awaited, Engine, Work};
use super::failures::{Failures, Warnings};
use super::peers::Peers;
use super::progress::StreamProgress;
use crate::error::Result;
use crate::inner::Inner;
use crate::wait_hooks::Helper;

/// Copies of up to so many bytes are made at once by who gives them, if they can be. Fitted: waking the thread
/// takes about as long.
const AT_ONCE_BYTES_MAX: u64 = 64 << 10;
/// How long the thread of the engine sleeps at most before it looks whether it shall end.
const LOOK: Duration = Duration::from_millis(100);
/// How long a wait for a device takes at most, so that what else there is gets its turn.
const DEVICE_LOOK: Duration = Duration::from_micros(500);
/// How much of it keeps the core: a short copy has ended by then. Fitted.
const BUSY: Duration = Duration::from_micros(100);
/// The same for the thread of the engine, where the program may want the core. Fitted.
const BUSY_IN_BACKGROUND: Duration = Duration::from_micros(15);
/// How long the thread leaves the engine to threads of the program that let it work.
const ASIDE: Duration = Duration::from_micros(250);

/// See the [module text](self).
pub(super) struct TcaShared {
    pub(super) inner: Arc<Inner>,
    pub(super) door: Door,
    pub(super) pool: Pool,
    pub(super) devices: Devices,
    pub(super) peers: Peers,
    engine: Mutex<Engine>,
    /// Work that the engine has not seen.
    given: Mutex<Vec<(Arc<StreamProgress>, Work)>>,
    streams: AtomicU64,
    failures: Failures,
    /// By PE, whether it is known to take pieces for its devices.
    serving: Box<[AtomicBool]>,
    /// Whether a thread of the program has let the engine work since the engine's looked last.
    attended: AtomicBool,
    stop: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// For the thread, which must not keep it alive.
    this: Weak<TcaShared>,
}

impl TcaShared {
    pub(super) fn new(inner: &Arc<Inner>, door: Door, devices: Devices) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            pool: Pool::new(door.pool_bytes),
            engine: Mutex::new(Engine::new(inner.pes)),
            given: Mutex::default(),
            peers: Peers::default(),
            streams: AtomicU64::new(0),
            failures: Failures::default(),
            serving: (0..inner.pes).map(|_| AtomicBool::new(false)).collect(),
            attended: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            thread: Mutex::default(),
            this: this.clone(),
            inner: Arc::clone(inner),
            door,
            devices,
        })
    }

    /// A number for a new stream.
    pub(super) fn next_stream(&self) -> u64 {
        self.streams.fetch_add(1, Ordering::Relaxed)
    }

    /// A stream has failed.
    pub(super) fn has_failed(&self, state: &Arc<StreamProgress>) {
        self.failures.add(state);
        self.inner.helpers.add(self.this.clone());
    }

    /// Fails if what this PE waits for may be behind a copy that has failed, of this PE or of another.
    pub(super) fn check_failures(&self, warnings: &mut Warnings) -> Result<()> {
        match self.failures.tell() {
            Some(error) => Err(error),
            None => warnings.heed(&self.inner, &self.door),
        }
    }

    /// Bytes of the own segment, for a device to read, and where they are in what is returned. Memory that
    /// other hosts write without hardware that keeps caches equal is read as the wire says.
    pub(super) fn readable(&self, at: usize, len: usize) -> Result<(Memory, usize)> {
        let segment = self.inner.segment();
        if segment.visibility() != Visibility::Flushed {
            return Ok((segment.memory().clone(), at));
        }
        let mut bytes = vec![0; len];
        segment.get(at, &mut bytes)?;
        let memory = Memory::anonymous(len);
        memory.copy_in(0, &bytes)?;
        Ok((memory, 0))
    }

    /// Takes work for a stream.
    pub(super) fn give(&self, state: &Arc<StreamProgress>, work: Work, bytes: u64) -> Result<()> {
        self.given().push((Arc::clone(state), work));
        if bytes <= AT_ONCE_BYTES_MAX || !self.inner.has_workers() {
            self.help()?;
            if state.is_done() {
                return Ok(());
            }
        }
        self.work_in_background()?;
        // The thread may sleep until somebody stores.
        self.inner.segment().notify();
        Ok(())
    }

    fn given(&self) -> std::sync::MutexGuard<'_, Vec<(Arc<StreamProgress>, Work)>> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the engine do what it can do now, unless another thread does so.
    pub(super) fn help(&self) -> Result<()> {
        self.attended.store(true, Ordering::Relaxed);
        self.work_once().map(|_| ())
    }

    /// As [`help`](Self::help), and waits a moment if only a device can go on.
    pub(super) fn work(&self) -> Result<()> {
        self.attended.store(true, Ordering::Relaxed);
        self.work_for(BUSY).map(|_| ())
    }

    /// Whether anything was done.
    fn work_for(&self, busy: Duration) -> Result<bool> {
        let (worked, awaited) = self.work_once()?;
        if let Some((device, ticket)) = &awaited {
            // Nothing else would end a sleep when it is done.
            device.wait(*ticket, DEVICE_LOOK, busy);
        }
        Ok(worked || awaited.is_some())
    }

    /// Whether anything was done, and a copy of a device that is waited for.
    fn work_once(&self) -> Result<(bool, Option<Awaited>)> {
        self.inner.check_is_here()?;
        let mut engine = match self.engine.try_lock() {
            Ok(engine) => engine,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return Ok((false, None)),
        };
        let mut worked = false;
        loop {
            for (state, work) in std::mem::take(&mut *self.given()) {
                engine.take(state, work);
            }
            if !engine.step(self)? {
                return Ok((worked, engine.awaited()));
            }
            worked = true;
        }
    }

    /// Forgets what a stream has.
    pub(super) fn give_up(&self, state: &StreamProgress) {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        for (of, work) in std::mem::take(&mut *self.given()) {
            engine.take(of, work);
        }
        engine.give_up(state.id);
    }

    /// From now on this PE takes pieces for its devices.
    pub(super) fn serve(&self) -> Result<()> {
        self.work_in_background()?;
        self.inner.helpers.add(self.this.clone());
        let segment = self.inner.segment();
        Ok(segment.put_word_unannounced(self.door.serving(), 1)?)
    }

    /// Whether another PE takes pieces for its devices: one that has never had memory of a device does not.
    pub(super) fn is_serving(&self, pe: PeId) -> Result<bool> {
        if self.inner.wire.is_in_virtual_time() {
            return Ok(false);
        }
        let known = &self.serving[pe as usize];
        if known.load(Ordering::Relaxed) {
            return Ok(true);
        }
        let mut word = [0; 8];
        self.inner.get(pe, self.door.serving(), &mut word)?;
        let is_serving = word != [0; 8];
        known.store(is_serving, Ordering::Relaxed);
        Ok(is_serving)
    }

    /// From now on a thread lets the engine work, too, where a PE may have threads.
    pub(super) fn work_in_background(&self) -> Result<()> {
        if !self.inner.has_workers() {
            return Ok(());
        }
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let this = self.this.clone();
            let started = worker::start("hostwire-tca", 256 << 10, move || run(&this));
            let started = started
                .map_err(|e| TransportError::environment("starting the thread of copies", e))?;
            *thread = Some(started);
        }
        Ok(())
    }
}

impl Helper for TcaShared {
    /// Takes what comes for the devices, in whatever a thread of the program waits for.
    fn step(&self) -> Result<()> {
        self.attended.store(true, Ordering::Relaxed);
        match self.engine.try_lock() {
            Ok(mut engine) => engine.take_arrivals(self).map(drop),
            // Who has it takes them, too.
            Err(_) => Ok(()),
        }
    }

    fn audit(&self) -> Result<()> {
        self.failures.warn(&self.inner, &self.door)
    }
}

/// The thread of the engine.
fn run(shared: &Weak<TcaShared>) {
    while let Some(shared) = shared.upgrade() {
        // The job may be over before it is told so.
        if shared.stop.load(Ordering::Acquire) || !shared.inner.has_workers() {
            return;
        }
        let inner = &shared.inner;
        if shared.attended.swap(false, Ordering::Relaxed) {
            // The program lets the engine work while it waits, and wants the core for that.
            inner.wire.nap(ASIDE);
            continue;
        }
        let until = inner.wire.now().saturating_add(LOOK);
        let worked = inner.sleep_before(until, || {
            let worked = shared.work_for(BUSY_IN_BACKGROUND)?;
            let is_over = shared.stop.load(Ordering::Acquire)
                || shared.attended.load(Ordering::Relaxed)
                || inner.wire.now() >= until;
            Ok((worked || is_over).then_some(()))
        });
        if worked.is_err() {
            // The PE cannot go on, and hears so itself.
            return;
        }
    }
}

/// Ends the thread of the engine.
pub(super) struct Worker(Arc<TcaShared>);

impl Worker {
    pub(super) fn of(shared: &Arc<TcaShared>) -> Self {
        Self(Arc::clone(shared))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let shared = &self.0;
        shared.stop.store(true, Ordering::Release);
        let thread = shared
            .thread
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread
            && shared.inner.is_here()
        {
            shared.inner.segment().notify();
            // A panic in it has been reported.
            let _ = thread.join();
        }
    }
}
