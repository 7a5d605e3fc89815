//! Words and how often they occur.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::AddAssign;

/// A word with its count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub count: u64,
    pub word: Box<[u8]>,
}

/// How many words there are, and how many bytes they have together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    pub words: u64,
    pub bytes: u64,
}

impl Totals {
    pub fn words(words: u64) -> Self {
        Self { words, bytes: 0 }
    }
}

impl AddAssign for Totals {
    fn add_assign(&mut self, other: Self) {
        self.words += other.words;
        self.bytes += other.bytes;
    }
}

/// How often each word occurs.
#[derive(Debug, Default)]
pub struct Counts(HashMap<Box<[u8]>, u64>);

impl Counts {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn add(&mut self, word: &[u8], count: u64) {
        match self.0.get_mut(word) {
            Some(sum) => *sum = sum.saturating_add(count),
            None => {
                self.0.insert(word.into(), count);
            }
        }
    }

    /// How many different words there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for (word, count) in &self.0 {
            totals += Totals {
                words: *count,
                bytes: count.wrapping_mul(word.len() as u64),
            };
        }
        totals
    }

    /// Forgets one occurrence of one word.
    pub fn lose_one(&mut self) {
        if let Some(count) = self.0.values_mut().next() {
            *count -= 1;
        }
    }

    /// The `most` most frequent words, as [`sort`] has them.
    pub fn into_sorted(self, most: usize) -> Vec<Entry> {
        let mut entries: Vec<Entry> = self.into_iter().collect();
        sort(&mut entries);
        entries.truncate(most);
        entries
    }
}

impl IntoIterator for Counts {
    type Item = Entry;
    type IntoIter = Box<dyn Iterator<Item = Entry>>;

    fn into_iter(self) -> Self::IntoIter {
        let entry = |(word, count)| Entry { count, word };
        Box::new(self.0.into_iter().map(entry))
    }
}

/// As `LC_ALL=C sort -rn` does it: most frequent first, equally frequent ones in reverse
/// order of their bytes.
pub fn sort(entries: &mut [Entry]) {
    entries.sort_unstable_by(|a, b| {
        let key = |entry: &'_ Entry| Reverse(entry.count);
        key(a).cmp(&key(b)).then_with(|| b.word.cmp(&a.word))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_sort_rn() {
        let mut counts = Counts::new();
        for (word, count) in [("b", 2), ("a", 10), ("ba", 2), ("B", 2), ("c", 1)] {
            counts.add(word.as_bytes(), count);
        }
        let totals = counts.totals();
        assert_eq!((totals.words, totals.bytes), (17, 19));
        let words = |entries: Vec<Entry>| -> Vec<String> {
            let text = |entry: &Entry| String::from_utf8_lossy(&entry.word).into_owned();
            entries.iter().map(text).collect()
        };
        assert_eq!(words(counts.into_sorted(4)), ["a", "ba", "b", "B"]);
    }
}
