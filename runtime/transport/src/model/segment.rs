//! The memory of a PE: the values that packets or write-backs have stored.

use std::collections::{BTreeMap, BTreeSet};

use super::log::Log;

/// Words of a line.
pub(super) const WORDS: usize = 8;

/// The kind of memory behind an aperture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Cached, and coherent between hosts.
    Coherent,
    /// Stores only, through write-combining buffers.
    WriteCombining,
    /// Cached, and not coherent between hosts.
    Flushed,
}

/// A word: a PE, and the index in its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Word {
    pub(super) segment: usize,
    pub(super) word: usize,
}

impl Word {
    pub(super) fn line(self) -> Line {
        Line {
            segment: self.segment,
            line: self.word / WORDS,
        }
    }
}

/// A line: a PE, and the index in its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Line {
    pub(super) segment: usize,
    pub(super) line: usize,
}

impl Line {
    pub(super) fn word(self, index: usize) -> Word {
        Word {
            segment: self.segment,
            word: self.line * WORDS + index,
        }
    }
}

/// `old` with the bytes of `mask` from `new`.
pub(super) fn merge(old: u64, new: u64, mask: u64) -> u64 {
    old & !mask | new & mask
}

/// The memory of one PE.
#[derive(Debug)]
pub(super) struct Segment {
    words: Vec<u64>,
    logs: BTreeMap<usize, Log<u64>>,
    /// Lines that some PE has used: prefetchers take only these. In the order of first use, so that
    /// one can be picked by index.
    used: BTreeSet<usize>,
    used_in_order: Vec<usize>,
}

impl Segment {
    pub(super) fn new(len_bytes: usize) -> Self {
        Self {
            words: vec![0; len_bytes.next_multiple_of(64) / 8],
            logs: BTreeMap::new(),
            used: BTreeSet::new(),
            used_in_order: Vec::new(),
        }
    }

    pub(super) fn read(&self, word: usize) -> u64 {
        self.words[word]
    }

    pub(super) fn read_line(&self, line: usize) -> [u64; WORDS] {
        std::array::from_fn(|index| self.words[line * WORDS + index])
    }

    pub(super) fn write(&mut self, time: u64, word: usize, value: u64, mask: u64) {
        let old = self.words[word];
        let new = merge(old, value, mask);
        if new != old {
            self.words[word] = new;
            let log = self.logs.entry(word).or_insert_with(|| Log::new(old));
            log.push(time, new);
        }
    }

    pub(super) fn read_at(&self, time: u64, word: usize) -> u64 {
        match self.logs.get(&word) {
            Some(log) => *log.at(time),
            None => self.words[word],
        }
    }

    /// The earliest step at which the value of the word is known.
    pub(super) fn begin(&self, word: usize) -> u64 {
        self.logs.get(&word).map_or(0, Log::begin)
    }

    pub(super) fn use_line(&mut self, line: usize) {
        if self.used.insert(line) {
            self.used_in_order.push(line);
        }
    }

    /// The `index`-th line that is used, if there are any.
    pub(super) fn used(&self, index: u64) -> Option<usize> {
        let len = self.used_in_order.len() as u64;
        let at = index.checked_rem(len)?;
        self.used_in_order.get(at as usize).copied()
    }
}
