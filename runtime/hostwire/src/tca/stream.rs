//! Copies that are made in their order.

use std::sync::Arc;

use super::chain::{Chain, Prepared, word_at};
use super::engine::Work;
use super::progress::StreamProgress;
use super::shared::TcaShared;
use super::spot::Spot;
use crate::board::Activity;
use crate::error::{Result, TcaError};
use crate::inner::Watch;

/// Copies of this PE that are made one after the other, as those of a stream of CUDA. Any thread may use it.
///
/// A call returns when the copy is noted, or already made. What went wrong is told by
/// [`synchronize`](Self::synchronize), and nothing behind it is done. Until then
/// [`Buffer::wait_until`](super::Buffer::wait_until) tells it, too, where it would wait; and if this PE waits long for
/// something else, that of a PE which the stream was to write to fails. Dropping a stream does not wait: what it has
/// goes on, and the next `wait_until` of this PE tells what went wrong.
pub struct Stream {
    shared: Arc<TcaShared>,
    progress: Arc<StreamProgress>,
}

impl Stream {
    pub(super) fn new(shared: &Arc<TcaShared>) -> Self {
        Self {
            progress: Arc::new(StreamProgress::new(shared.next_stream())),
            shared: Arc::clone(shared),
        }
    }

    /// Copies `len` bytes from memory of this PE to memory of any PE. They must not overlap, and the source
    /// is left alone until the copy is made.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca) for memory that is not there; of devices of other PEs, [`synchronize`](Self::synchronize)
    /// tells it. [`Error::NoSuchPe`](crate::Error::NoSuchPe), [`Error::PeerLost`](crate::Error::PeerLost).
    pub fn memcpy_peer(&self, to: Spot, from: Spot, len: usize) -> Result<()> {
        let mut chain = Chain::new();
        chain.copy(to, from, len as u64);
        self.start(&Prepared::check(&self.shared, &chain)?)
    }

    /// Starts a chain.
    ///
    /// # Errors
    /// [`Error::Environment`](crate::Error::Environment) if the machine gives no thread for it.
    pub fn start(&self, chain: &Prepared) -> Result<()> {
        self.progress.writes_to(&chain.0.pes);
        let bytes = chain.0.bytes;
        self.give(Work::Steps(Arc::clone(&chain.0)), bytes)
    }

    /// Stores `value` in a word of host memory of any PE when all before it in the stream is there.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca) for what is no word; [`Error::NoSuchPe`](crate::Error::NoSuchPe), [`Error::PeerLost`](crate::Error::PeerLost).
    pub fn signal(&self, word: Spot, value: u64) -> Result<()> {
        let mut chain = Chain::new();
        chain.signal(word, value);
        self.start(&Prepared::check(&self.shared, &chain)?)
    }

    /// What follows in the stream waits until a word of this PE is at least `value`: so one store, of any PE,
    /// starts what was given before.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca) for what is no word of this PE.
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
        self.progress.give_one();
        self.shared.give(&self.progress, work, bytes)
    }

    /// Whether all that was given has been done, or has failed.
    ///
    /// # Errors
    /// As [`synchronize`](Self::synchronize), of the engine.
    pub fn is_done(&self) -> Result<bool> {
        self.shared.help()?;
        Ok(self.progress.is_done())
    }

    /// Returns when all that was given is done, and visible to the other PEs.
    ///
    /// # Errors
    /// What went wrong since the last time, once: [`Error::Tca`](crate::Error::Tca), [`Error::PeerLost`](crate::Error::PeerLost). Nothing that was given
    /// behind that is done. The stream can be used again.
    pub fn synchronize(&self) -> Result<()> {
        let TcaShared { inner, .. } = &*self.shared;
        let _busy = inner.status.during(Activity::Waiting, None);
        let pes = self.progress.take_written_to();
        let waited = inner.wait(Watch::All(&pes), || {
            self.shared.work()?;
            Ok(self.progress.is_done().then_some(()))
        });
        if let Err(error) = waited {
            self.shared.give_up(&self.progress);
            self.progress.tell_owner();
            return Err(error);
        }
        if let Some(error) = self.progress.tell_owner() {
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
        self.progress.drop_owner();
    }
}
