//! How a word is compared with a value. Sets of words of which one, some or all have to hold.
//!
//! The caller knows what a word is and how to load it.

use crate::error::Result;

/// How a word is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// The numbers are those of OpenSHMEM: its library translates them without a table.
#[repr(u8)]
pub enum Compare {
    /// Equal.
    Eq = 1,
    /// Not equal.
    Ne = 2,
    /// The word is greater.
    Gt = 3,
    /// The word is less or equal.
    Le = 4,
    /// The word is less.
    Lt = 5,
    /// The word is greater or equal.
    Ge = 6,
}

impl Compare {
    /// Whether a word with this value compares so with `value`.
    #[inline(always)]
    pub fn holds<T: PartialOrd>(self, word: &T, value: &T) -> bool {
        match self {
            Self::Eq => word == value,
            Self::Ne => word != value,
            Self::Gt => word > value,
            Self::Le => word <= value,
            Self::Lt => word < value,
            Self::Ge => word >= value,
        }
    }
}

/// Words that are tested, or waited for, together. Each has an index; the first one has 0.
#[derive(Debug)]
pub struct Words<L> {
    count: usize,
    look: L,
}

/// `look` gives whether the comparison holds for the word with this index, and `None` for a word
/// that does not count.
impl<L: Fn(usize) -> Result<Option<bool>>> Words<L> {
    /// So many words.
    pub fn new(count: usize, look: L) -> Self {
        Self { count, look }
    }

    fn holds(&self, index: usize) -> Result<bool> {
        Ok((self.look)(index)? == Some(true))
    }

    /// Whether no word counts: then there is nothing to wait for.
    ///
    /// # Errors
    /// What `look` gives; so do the others.
    pub fn is_empty(&self) -> Result<bool> {
        for index in 0..self.count {
            if (self.look)(index)?.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A word that holds. The search begins at index `start`, and continues with 0 after the
    /// last.
    pub fn one(&self, start: usize) -> Result<Option<usize>> {
        let start = start.min(self.count);
        for index in (start..self.count).chain(0..start) {
            if self.holds(index)? {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    /// Calls `found` for each word that holds. `None` if there is none, else their number.
    pub fn some(&self, mut found: impl FnMut(usize)) -> Result<Option<usize>> {
        let mut count = 0;
        for index in 0..self.count {
            if self.holds(index)? {
                found(index);
                count += 1;
            }
        }
        Ok((count > 0).then_some(count))
    }

    /// Whether all words that count hold, from index `next` on. If not, `next` becomes the first
    /// that does not hold: words before it have held, and a wait does not look at them again.
    pub fn all(&self, next: &mut usize) -> Result<Option<()>> {
        while *next < self.count {
            if (self.look)(*next)? == Some(false) {
                return Ok(None);
            }
            *next += 1;
        }
        Ok(Some(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All sets of up to four words, each of which does not count, does not hold, or holds.
    fn every_set(check: impl Fn(&[Option<bool>])) {
        const STATES: [Option<bool>; 3] = [None, Some(false), Some(true)];
        for count in 0..=4u32 {
            for number in 0..3usize.pow(count) {
                let state = |index| STATES[number / 3usize.pow(index) % 3];
                check(&(0..count).map(state).collect::<Vec<_>>());
            }
        }
    }

    fn words(states: &[Option<bool>]) -> Words<impl Fn(usize) -> Result<Option<bool>>> {
        Words::new(states.len(), |index| Ok(states[index]))
    }

    fn holding(states: &[Option<bool>]) -> Vec<usize> {
        let indices = 0..states.len();
        indices.filter(|at| states[*at] == Some(true)).collect()
    }

    #[test]
    fn some_are_those_that_count_and_hold() {
        every_set(|states| {
            let mut found = Vec::new();
            let count = words(states).some(|index| found.push(index)).unwrap();
            assert_eq!(found, holding(states));
            assert_eq!(count, (!found.is_empty()).then_some(found.len()));
        });
    }

    #[test]
    fn one_is_the_next_that_holds() {
        every_set(|states| {
            let holding = holding(states);
            for start in 0..=states.len() {
                let next = holding.iter().find(|index| **index >= start);
                let next = next.or(holding.first()).copied();
                assert_eq!(
                    words(states).one(start).unwrap(),
                    next,
                    "{states:?} {start}"
                );
            }
        });
    }

    #[test]
    fn all_stops_at_the_first_that_counts_and_does_not_hold() {
        every_set(|states| {
            let words = words(states);
            let none_counts = states.iter().all(Option::is_none);
            assert_eq!(words.is_empty().unwrap(), none_counts);
            for from in 0..=states.len() {
                let mut next = from;
                let missing = (from..states.len()).find(|at| states[*at] == Some(false));
                let all = words.all(&mut next).unwrap();
                assert_eq!(all.is_none(), missing.is_some());
                assert_eq!(next, missing.unwrap_or(states.len()));
            }
        });
    }

    #[test]
    fn a_word_that_cannot_be_looked_at_is_an_error() {
        let words = Words::new(2, |index| match index {
            0 => Ok(Some(true)),
            index => Err(crate::Error::OutOfRange {
                index,
                count: 1,
                elements: 1,
            }),
        });
        assert_eq!(words.one(0).unwrap(), Some(0));
        assert!(words.one(1).is_err());
        assert!(words.some(|_| {}).is_err());
        assert!(words.all(&mut 0).is_err());
    }
}
