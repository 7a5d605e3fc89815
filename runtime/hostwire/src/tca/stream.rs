//! Copies that are made in their order.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use hostwire_transport::PeId;

use super::chain::{Chain, Prepared, word_at};
use super::engine::Work;
use super::shared::Shared;
use super::spot::Spot;
use crate::board::Activity;
use crate::error::{Error, Result, TcaError};
use crate::inner::Watch;

/// Copies of this PE that are made one after the other, as those of a stream of CUDA. Any thread may use it.
///
/// A call returns when the copy is noted, or already made. What went wrong is told by
/// [`synchronize`](Self::synchronize), and nothing behind it is done. Until then
/// [`Buffer::wait_until`](super::Buffer::wait_until) tells it, too, where it would wait; and if this PE waits long for
/// something else, that of a PE which the stream was to write to fails. Dropping a stream does not wait: what it has
/// goes on, and the next `wait_until` of this PE tells what went wrong.
pub struct Stream {
    shared: Arc<Shared>,
    state: Arc<State>,
}

/// What a stream and the engine know of each other.
#[derive(Debug)]
pub(super) struct State {
    pub(super) id: u64,
    /// Pieces of work that were given.
    given: AtomicU64,
    /// Those that the engine has ended.
    ended: AtomicU64,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// The first error since it was told.
    error: Option<Error>,
    /// PEs that were written to since the last synchronization.
    pes: Vec<PeId>,
    /// Nobody can synchronize it any more.
    is_dropped: bool,
}

impl State {
    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One piece of work has ended.
    pub(super) fn end_one(&self) {
        self.ended.fetch_add(1, Ordering::Release);
    }

    /// The stream has failed: what it has will not be done.
    pub(super) fn fail(&self, error: Error) {
        self.told().error.get_or_insert(error);
    }

    /// Whether it has failed, and nobody was told.
    pub(super) fn has_error(&self) -> bool {
        self.told().error.is_some()
    }

    /// What it has failed by, as long as nobody was told. If nobody can synchronize it any more, this tells it.
    pub(super) fn tell(&self) -> Option<Error> {
        let mut told = self.told();
        match told.is_dropped {
            true => told.error.take(),
            false => told.error.clone(),
        }
    }

    /// PEs that were written to since the last synchronization.
    pub(super) fn written_to(&self) -> Vec<PeId> {
        self.told().pes.clone()
    }

    pub(super) fn is_done(&self) -> bool {
        self.ended.load(Ordering::Acquire) == self.given.load(Ordering::Acquire)
    }
}

impl Stream {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            state: Arc::new(State {
                id: shared.next_stream(),
                given: AtomicU64::new(0),
                ended: AtomicU64::new(0),
                told: Mutex::default(),
            }),
            shared: Arc::clone(shared),
        }
    }

    /// Copies `len` bytes from memory of this PE to memory of any PE. They must not overlap, and the source
    /// is left alone until the copy is made.
    ///
    /// # Errors
    /// [`Error::Tca`] for memory that is not there; of devices of other PEs, [`synchronize`](Self::synchronize)
    /// tells it. [`Error::NoSuchPe`], [`Error::PeerLost`].
    pub fn memcpy_peer(&self, to: Spot, from: Spot, len: usize) -> Result<()> {
        let mut chain = Chain::new();
        chain.copy(to, from, len as u64);
        self.start(&Prepared::check(&self.shared, &chain)?)
    }

    /// Starts a chain.
    ///
    /// # Errors
    /// [`Error::Environment`] if the machine gives no thread for it.
    pub fn start(&self, chain: &Prepared) -> Result<()> {
        for pe in &chain.0.pes {
            let pes = &mut self.state.told().pes;
            if !pes.contains(pe) {
                pes.push(*pe);
            }
        }
        let bytes = chain.0.bytes;
        self.give(Work::Steps(Arc::clone(&chain.0)), bytes)
    }

    /// Stores `value` in a word of host memory of any PE when all before it in the stream is there.
    ///
    /// # Errors
    /// [`Error::Tca`] for what is no word; [`Error::NoSuchPe`], [`Error::PeerLost`].
    pub fn signal(&self, word: Spot, value: u64) -> Result<()> {
        let mut chain = Chain::new();
        chain.signal(word, value);
        self.start(&Prepared::check(&self.shared, &chain)?)
    }

    /// What follows in the stream waits until a word of this PE is at least `value`: so one store, of any PE,
    /// starts what was given before.
    ///
    /// # Errors
    /// [`Error::Tca`] for what is no word of this PE.
    pub fn wait_value(&self, word: Spot, value: u64) -> Result<()> {
        if word.pe() != self.shared.inner.pe {
            return Err(TcaError::NoWord {
                place: word.to_string(),
            }
            .into());
        }
        let at = word_at(&self.shared, word)?;
        self.give(Work::Wait { at, value }, 0)
    }

    fn give(&self, work: Work, bytes: u64) -> Result<()> {
        self.shared.inner.check_is_here()?;
        self.state.given.fetch_add(1, Ordering::Relaxed);
        self.shared.give(&self.state, work, bytes)
    }

    /// Whether all that was given has been done, or has failed.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize), of the engine.
    pub fn is_done(&self) -> Result<bool> {
        self.shared.help()?;
        Ok(self.state.is_done())
    }

    /// Returns when all that was given is done, and visible to the other PEs.
    ///
    /// # Errors
    /// What went wrong since the last time, once: [`Error::Tca`], [`Error::PeerLost`]. Nothing that was given
    /// behind that is done. The stream can be used again.
    pub fn synchronize(&self) -> Result<()> {
        let Shared { inner, .. } = &*self.shared;
        let _busy = inner.status.during(Activity::Waiting, None);
        let pes = std::mem::take(&mut self.state.told().pes);
        let waited = inner.wait(Watch::All(&pes), || {
            self.shared.work()?;
            Ok(self.state.is_done().then_some(()))
        });
        if let Err(error) = waited {
            self.shared.give_up(&self.state);
            self.state.told().error = None;
            return Err(error);
        }
        if let Some(error) = self.state.told().error.take() {
            return Err(error);
        }
        for pe in pes {
            inner.quiet_of(pe)?;
        }
        Ok(())
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.state.told().is_dropped = true;
    }
}
