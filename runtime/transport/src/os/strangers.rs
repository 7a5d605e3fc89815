//! Connections whose peers have not identified themselves yet.

use std::collections::VecDeque;
use std::collections::vec_deque::{IntoIter, Iter};

/// Strangers in the order of arrival, and a bound on their number: beyond it, a new one displaces the oldest. So
/// connections that stay silent cost a bounded number of descriptors, and do not keep out peers that identify
/// themselves.
#[derive(Debug)]
pub struct Strangers<T> {
    all: VecDeque<T>,
    most: usize,
}

impl<T> Strangers<T> {
    /// Room for so many.
    pub const fn new(most: usize) -> Self {
        let all = VecDeque::new();
        Self { all, most }
    }

    /// Adds a stranger. Returns the one that it displaces, if any.
    pub fn come(&mut self, stranger: T) -> Option<T> {
        self.all.push_back(stranger);
        match self.all.len() > self.most {
            true => self.all.pop_front(),
            false => None,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// In the order of arrival.
    pub fn iter(&self) -> Iter<'_, T> {
        self.all.iter()
    }

    /// The stranger at this index, counted from the oldest.
    pub fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        self.all.get_mut(at)
    }

    /// Removes one: it has identified itself, or has to go.
    pub fn remove(&mut self, at: usize) -> Option<T> {
        self.all.remove(at)
    }

    /// Removes all except those for which `stays` is true.
    pub fn retain_mut(&mut self, stays: impl FnMut(&mut T) -> bool) {
        self.all.retain_mut(stays);
    }

    /// Removes all.
    pub fn take(&mut self) -> IntoIter<T> {
        core::mem::take(&mut self.all).into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_goes_for_one_too_many() {
        let mut strangers = Strangers::new(2);
        let gone: Vec<_> = (1..=4).map(|number| strangers.come(number)).collect();
        assert_eq!(gone, [None, None, Some(1), Some(2)]);
        assert_eq!(strangers.iter().copied().collect::<Vec<_>>(), [3, 4]);
        assert_eq!(strangers.remove(1), Some(4));
        assert_eq!(strangers.come(5), None);
        strangers.retain_mut(|number| *number != 3);
        assert_eq!((strangers.len(), strangers.get_mut(0)), (1, Some(&mut 5)));
        assert_eq!(strangers.take().collect::<Vec<_>>(), [5]);
        assert!(strangers.is_empty());
    }
}
