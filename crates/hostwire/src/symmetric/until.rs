//! Waiting for own words to change.
//!
//! A word counts as changed when any PE has changed it, by a put, a signal or an atomic.
//! When the wait is over, everything is visible that this PE stored before the signal,
//! before a fence and the put, or before the atomic.

use std::time::Duration;

use hostwire_transport::sync::{Ordering, fence};

use super::Symmetric;
use crate::board::Activity;
use crate::element::AtomicElement;
use crate::error::Result;
use crate::inner::Watch;

/// How a word is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compare {
    /// Equal.
    Eq,
    /// Not equal.
    Ne,
    /// The word is less.
    Lt,
    /// The word is less or equal.
    Le,
    /// The word is greater.
    Gt,
    /// The word is greater or equal.
    Ge,
}

impl Compare {
    #[inline(always)]
    pub(crate) fn holds<T: PartialOrd>(self, word: &T, value: &T) -> bool {
        match self {
            Self::Eq => word == value,
            Self::Ne => word != value,
            Self::Lt => word < value,
            Self::Le => word <= value,
            Self::Gt => word > value,
            Self::Ge => word >= value,
        }
    }
}

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
        self.tested(|| self.find_any(indices, compare, value))
    }

    /// All of `indices` for which the comparison holds.
    pub fn test_some(&self, indices: &[usize], compare: Compare, value: T) -> Result<Vec<usize>> {
        let found = self.tested(|| {
            let found = self.find_some(indices, compare, value)?;
            Ok((!found.is_empty()).then_some(found))
        })?;
        Ok(found.unwrap_or_default())
    }

    /// Whether the comparison holds for all of `indices`.
    pub fn test_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<bool> {
        self.tested(|| Ok(self.find_all(indices, compare, value)?.then_some(())))
            .map(|found| found.is_some())
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
        if indices.is_empty() {
            return Ok(None);
        }
        self.wait(|| self.find_any(indices, compare, value))
            .map(Some)
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
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        self.wait(|| {
            let found = self.find_some(indices, compare, value)?;
            Ok((!found.is_empty()).then_some(found))
        })
    }

    /// Waits until the comparison holds for all of `indices`.
    pub fn wait_until_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<()> {
        self.wait(|| Ok(self.find_all(indices, compare, value)?.then_some(())))
    }

    #[inline]
    fn holds(&self, index: usize, compare: Compare, value: T) -> Result<bool> {
        let holds = compare.holds(&self.load(index)?, &value);
        fence(Ordering::Acquire);
        Ok(holds)
    }

    fn find_any(&self, indices: &[usize], compare: Compare, value: T) -> Result<Option<usize>> {
        for index in indices {
            if self.holds(*index, compare, value)? {
                return Ok(Some(*index));
            }
        }
        Ok(None)
    }

    fn find_some(&self, indices: &[usize], compare: Compare, value: T) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for index in indices {
            if self.holds(*index, compare, value)? {
                found.push(*index);
            }
        }
        Ok(found)
    }

    fn find_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<bool> {
        for index in indices {
            if !self.holds(*index, compare, value)? {
                return Ok(false);
            }
        }
        Ok(true)
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
