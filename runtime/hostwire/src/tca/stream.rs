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
/// A call returns when the copy is noted, or already made. [`synchronize`](Self::synchronize) reports an error; work
/// after the error is not done. Until then a [`Buffer::wait_until`](super::Buffer::wait_until) that would wait gives
/// the error too. If this PE waits long for something else, a `wait_until` of a PE to which the stream was to write
/// fails. Dropping a stream does not wait: its work continues, and the next `wait_until` of this PE gives its error.
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

    /// Copies `len` bytes from memory of this PE to memory of any PE. They must not overlap, and the source must not
    /// change until the copy is made.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca) for memory that does not exist; for devices of other PEs,
    /// [`synchronize`](Self::synchronize) gives this error. [`Error::NoSuchPe`](crate::Error::NoSuchPe),
    /// [`Error::PeerLost`](crate::Error::PeerLost).
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

    /// Stores `value` in a word of host memory of any PE when everything before it in the stream is there.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca) if this is no word; [`Error::NoSuchPe`](crate::Error::NoSuchPe),
    /// [`Error::PeerLost`](crate::Error::PeerLost).
    pub fn signal(&self, word: Spot, value: u64) -> Result<()> {
        let mut chain = Chain::new();
        chain.signal(word, value);
        self.start(&Prepared::check(&self.shared, &chain)?)
    }

    /// Later work of the stream waits until a word of this PE is at least `value`. So one store of any PE can start
    /// work that was given in advance.
    ///
    /// # Errors
    /// [`Error::Tca`](crate::Error::Tca) if this is no word of this PE.
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

    /// Whether all work has been done, or has failed.
    ///
    /// # Errors
    /// Those of the engine, as in [`synchronize`](Self::synchronize).
    pub fn is_done(&self) -> Result<bool> {
        self.shared.help()?;
        Ok(self.progress.is_done())
    }

    /// Returns when all work is done, and visible to the other PEs.
    ///
    /// # Errors
    /// The first error since the last call, once: [`Error::Tca`](crate::Error::Tca),
    /// [`Error::PeerLost`](crate::Error::PeerLost). Work after the error is not done. The stream can be used again.
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
