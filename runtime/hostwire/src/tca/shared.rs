//! What the parts of one [`Tca`](super::Tca) share: the engine, the calls that run it, and its thread.
//!
//! Threads of the program run the engine when they give work and while they wait. A thread of the engine does
//! the rest, and takes pieces from other PEs. Where a PE must not have threads, as in virtual time, this
//! thread does not exist, and copies to devices of the PE are made only while it waits.

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

/// Copies of up to so many bytes are made at once by the calling thread, if possible. Fitted: waking the
/// thread takes about as long.
const AT_ONCE_BYTES_MAX: u64 = 64 << 10;
/// How long the thread of the engine sleeps at most before it checks whether it should end.
const LOOK: Duration = Duration::from_millis(100);
/// How long a wait for a device takes at most, so that other work gets its turn.
const DEVICE_LOOK: Duration = Duration::from_micros(500);
/// How long such a wait spins: a short copy has ended by then. Fitted.
const BUSY: Duration = Duration::from_micros(100);
/// The same for the thread of the engine, where the program may want the core. Fitted.
const BUSY_IN_BACKGROUND: Duration = Duration::from_micros(15);
/// How long the thread leaves the engine to threads of the program that run it.
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
    /// Whether a thread of the program has run the engine since the engine's thread last looked.
    attended: AtomicBool,
    stop: AtomicBool,
    thread: Mutex<Option<JoinHandle<()>>>,
    /// For the thread: it must not keep this alive.
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

    /// An error if the awaited event may follow a failed copy, of this PE or of another.
    pub(super) fn check_failures(&self, warnings: &mut Warnings) -> Result<()> {
        match self.failures.tell() {
            Some(error) => Err(error),
            None => warnings.heed(&self.inner, &self.door),
        }
    }

    /// Bytes of the own segment for a device to read, and their offset in the returned memory. On memory that
    /// is not cache-coherent, this is a copy that was read as the wire requires.
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
        // The thread may sleep until a store.
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

    /// As [`help`](Self::help), and waits a moment if only a device can make progress.
    pub(super) fn work(&self) -> Result<()> {
        self.attended.store(true, Ordering::Relaxed);
        self.work_for(BUSY).map(|_| ())
    }

    /// Returns whether anything was done.
    fn work_for(&self, busy: Duration) -> Result<bool> {
        let (worked, awaited) = self.work_once()?;
        if let Some((device, ticket)) = &awaited {
            // No other event would end a sleep when the copy is done.
            device.wait(*ticket, DEVICE_LOOK, busy);
        }
        Ok(worked || awaited.is_some())
    }

    /// Returns whether anything was done, and a copy of a device for which the engine waits.
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

    /// Drops the work of a stream.
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

    /// From now on a thread also runs the engine, where a PE may have threads.
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
    /// Takes pieces for the devices during any wait of a thread of the program.
    fn step(&self) -> Result<()> {
        self.attended.store(true, Ordering::Relaxed);
        match self.engine.try_lock() {
            Ok(mut engine) => engine.take_arrivals(self).map(drop),
            // The thread that has the engine takes them.
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
        // The job may be over before this thread is told.
        if shared.stop.load(Ordering::Acquire) || !shared.inner.has_workers() {
            return;
        }
        let inner = &shared.inner;
        if shared.attended.swap(false, Ordering::Relaxed) {
            // The program runs the engine while it waits, and needs the core for that.
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
            // The PE cannot continue; its next call gets the error.
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
