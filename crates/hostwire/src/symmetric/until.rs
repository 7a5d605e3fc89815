//! Waiting for own words to change.
//!
//! A word counts as changed when any PE has changed it by whatever means: put, signal or
//! atomic. What that PE stored before a signal, a fence and a put, or an atomic, is
//! visible when the wait is over.

use std::sync::atomic::{Ordering, fence};

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
    fn holds<T: PartialOrd>(self, word: &T, value: &T) -> bool {
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
    /// Whether own element `index` compares so with `value`, without waiting.
    #[inline]
    pub fn test(&self, index: usize, compare: Compare, value: T) -> Result<bool> {
        let holds = compare.holds(&self.load(index)?, &value);
        fence(Ordering::Acquire);
        Ok(holds)
    }

    /// The first of `indices` whose own element compares so.
    pub fn test_any(&self, indices: &[usize], compare: Compare, value: T) -> Result<Option<usize>> {
        for index in indices {
            if self.test(*index, compare, value)? {
                return Ok(Some(*index));
            }
        }
        Ok(None)
    }

    /// All of `indices` whose own elements compare so.
    pub fn test_some(&self, indices: &[usize], compare: Compare, value: T) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for index in indices {
            if self.test(*index, compare, value)? {
                found.push(*index);
            }
        }
        Ok(found)
    }

    /// Whether all of `indices` compare so.
    pub fn test_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<bool> {
        Ok(self.test_some(indices, compare, value)?.len() == indices.len())
    }

    /// Waits until own element `index` compares so with `value`.
    ///
    /// # Errors
    /// [`crate::Error::PeerLost`] when a PE of the job is found to have died while
    /// waiting; each loss is reported once, so a program may go on waiting for others.
    #[inline]
    pub fn wait_until(&self, index: usize, compare: Compare, value: T) -> Result<()> {
        self.wait(|| Ok(self.test(index, compare, value)?.then_some(())))
    }

    /// Waits until one of `indices` compares so, and says which. Returns at once with
    /// `None` if there are no indices.
    pub fn wait_until_any(
        &self,
        indices: &[usize],
        compare: Compare,
        value: T,
    ) -> Result<Option<usize>> {
        if indices.is_empty() {
            return Ok(None);
        }
        self.wait(|| self.test_any(indices, compare, value))
            .map(Some)
    }

    /// Waits until at least one of `indices` compares so, and says which do.
    pub fn wait_until_some(
        &self,
        indices: &[usize],
        compare: Compare,
        value: T,
    ) -> Result<Vec<usize>> {
        if indices.is_empty() {
            return Ok(Vec::new());
        }
        self.wait(|| {
            let found = self.test_some(indices, compare, value)?;
            Ok((!found.is_empty()).then_some(found))
        })
    }

    /// Waits until all of `indices` compare so.
    pub fn wait_until_all(&self, indices: &[usize], compare: Compare, value: T) -> Result<()> {
        self.wait(|| Ok(self.test_all(indices, compare, value)?.then_some(())))
    }

    #[inline]
    fn wait<R>(&self, poll: impl FnMut() -> Result<Option<R>>) -> Result<R> {
        let _busy = self.inner.status.during(Activity::Waiting, None);
        self.inner.wait(Watch::Anybody, poll)
    }
}
