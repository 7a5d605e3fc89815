//! Waiting for own words to change.
//!
//! A word counts as changed when any PE has changed it, by a put, a signal or an atomic.
//! When the wait is over, all stores of that PE are visible that it made before the signal,
//! before a fence and the put, or before the atomic.

use std::time::Duration;

use hostwire_transport::sync::{Ordering, fence};

use super::Symmetric;
use crate::board::Activity;
use crate::core::{Compare, Words};
use crate::element::AtomicElement;
use crate::error::Result;
use crate::inner::Watch;

impl<T: AtomicElement> Symmetric<T> {
    /// Whether the comparison of own element `index` with `value` holds, without
    /// waiting.
    ///
    /// If not, the job makes progress, so a program may call this until it holds.
    #[inline]
    pub fn test(&self, index: usize, compare: Compare, value: T) -> Result<bool> {
        self.tested(|| Ok(self.holds(index, compare, value)?.then_some(())))
            .map(|found| found.is_some())
    }

    /// The first of `indices` for which the comparison holds.
    pub fn test_any(&self, indices: &[usize], compare: Compare, value: T) -> Result<Option<usize>> {
        let words = self.words(indices, compare, value);
        let found = self.tested(|| words.one(0))?;
        Ok(found.map(|at| indices[at]))
    }

    /// All of `indices` for which the comparison holds.
    pub fn test_some(&self, indices: &[usize], compare: Compare, value: T) -> Result<Vec<usize>> {
        let words = self.words(indices, compare, value);
        let mut found = Vec::new();
        self.tested(|| words.some(|at| found.push(indices[at])))?;
        Ok(found)
    }

    /// Whether the comparison holds for all of `indices`.
    pub fn test_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<bool> {
        let words = self.words(indices, compare, value);
        Ok(self.tested(|| words.all(&mut 0))?.is_some())
    }

    /// Waits until own element `index` compares so with `value`.
    ///
    /// # Errors
    /// [`crate::Error::PeerLost`] when a PE of the job is found to have died while
    /// waiting; each loss is reported once, so a program may go on waiting for others.
    #[inline]
    pub fn wait_until(&self, index: usize, compare: Compare, value: T) -> Result<()> {
        self.wait(|| Ok(self.holds(index, compare, value)?.then_some(())))
    }

    /// As [`wait_until`](Self::wait_until), for at most `limit`. Returns whether the comparison
    /// holds.
    ///
    /// # Errors
    /// As [`wait_until`](Self::wait_until); a time limit that has passed is not an
    /// error.
    pub fn wait_until_for(
        &self,
        index: usize,
        compare: Compare,
        value: T,
        limit: Duration,
    ) -> Result<bool> {
        let _busy = self.inner.status.during(Activity::Waiting, None);
        let waited = self.inner.wait_for(limit, Watch::Anybody, || {
            Ok(self.holds(index, compare, value)?.then_some(()))
        });
        waited.map(|found| found.is_some())
    }

    /// Waits until the comparison holds for one of `indices`, and returns this index.
    /// Returns `None` at once if there are no indices.
    pub fn wait_until_any(
        &self,
        indices: &[usize],
        compare: Compare,
        value: T,
    ) -> Result<Option<usize>> {
        self.inner.check_is_here()?;
        let words = self.words(indices, compare, value);
        if words.is_empty()? {
            return Ok(None);
        }
        let found = self.wait(|| words.one(0))?;
        Ok(Some(indices[found]))
    }

    /// Waits until the comparison holds for at least one of `indices`, and returns all
    /// for which it does.
    pub fn wait_until_some(
        &self,
        indices: &[usize],
        compare: Compare,
        value: T,
    ) -> Result<Vec<usize>> {
        self.inner.check_is_here()?;
        let words = self.words(indices, compare, value);
        let mut found = Vec::new();
        if !words.is_empty()? {
            self.wait(|| words.some(|at| found.push(indices[at])))?;
        }
        Ok(found)
    }

    /// Waits until the comparison has held for each of `indices`. A word for which it has held
    /// once is not checked again.
    pub fn wait_until_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<()> {
        let words = self.words(indices, compare, value);
        let mut next = 0;
        self.wait(|| words.all(&mut next))
    }

    #[inline]
    fn holds(&self, index: usize, compare: Compare, value: T) -> Result<bool> {
        let holds = compare.holds(&self.load(index)?, &value);
        fence(Ordering::Acquire);
        Ok(holds)
    }

    /// The own elements with these indices.
    fn words(
        &self,
        indices: &[usize],
        compare: Compare,
        value: T,
    ) -> Words<impl Fn(usize) -> Result<Option<bool>>> {
        let look = move |at: usize| self.holds(indices[at], compare, value).map(Some);
        Words::new(indices.len(), look)
    }

    /// Looks once.
    #[inline]
    fn tested<R>(&self, poll: impl FnOnce() -> Result<Option<R>>) -> Result<Option<R>> {
        self.inner.check_is_here()?;
        let found = poll()?;
        if found.is_none() {
            self.inner.progress()?;
        }
        Ok(found)
    }

    #[inline]
    fn wait<R>(&self, poll: impl FnMut() -> Result<Option<R>>) -> Result<R> {
        let _busy = self.inner.status.during(Activity::Waiting, None);
        self.inner.wait(Watch::Anybody, poll)
    }
}
