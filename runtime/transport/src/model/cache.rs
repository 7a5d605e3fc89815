//! The cache of a host that is not coherent with other hosts: lines stay as they were
//! when they were filled, and are written back whole.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::log::Log;
use super::segment::{Line, Segment, WORDS, Word, merge};

type Data = [u64; WORDS];

#[derive(Debug, Clone)]
struct Held {
    data: Data,
    dirty: bool,
    /// The index of its line in [`Cache::order`].
    at: usize,
}

/// The cache of one host.
#[derive(Debug, Default)]
pub(super) struct Cache {
    lines: BTreeMap<Line, Held>,
    /// The same lines, so that one can be picked by index.
    order: Vec<Line>,
    logs: BTreeMap<Line, Log<Option<Data>>>,
}

impl Cache {
    fn note(&mut self, time: u64, line: Line) {
        let held = self.lines.get(&line).map(|held| held.data);
        let log = self.logs.entry(line).or_insert_with(|| Log::new(None));
        log.push(time, held);
    }

    /// Takes the line, if it is not there.
    pub(super) fn fill(&mut self, time: u64, memory: &[Segment], line: Line) {
        if let Entry::Vacant(place) = self.lines.entry(line) {
            let data = memory[line.segment].read_line(line.line);
            place.insert(Held {
                data,
                dirty: false,
                at: self.order.len(),
            });
            self.order.push(line);
            self.note(time, line);
        }
    }

    pub(super) fn load(&mut self, time: u64, memory: &[Segment], word: Word) -> u64 {
        self.fill(time, memory, word.line());
        self.lines[&word.line()].data[word.word % WORDS]
    }

    /// The value that a load would have found at `then`.
    pub(super) fn load_at(&self, then: u64, memory: &[Segment], word: Word) -> u64 {
        let held = self.logs.get(&word.line()).and_then(|log| *log.at(then));
        match held {
            Some(data) => data[word.word % WORDS],
            None => memory[word.segment].read_at(then, word.word),
        }
    }

    /// The earliest step at which the value of the word is known.
    pub(super) fn begin(&self, memory: &[Segment], word: Word) -> u64 {
        let held = self.logs.get(&word.line()).map_or(0, Log::begin);
        held.max(memory[word.segment].begin(word.word))
    }

    pub(super) fn store(
        &mut self,
        time: u64,
        memory: &[Segment],
        word: Word,
        value: u64,
        mask: u64,
    ) {
        self.fill(time, memory, word.line());
        if let Some(held) = self.lines.get_mut(&word.line()) {
            let old = &mut held.data[word.word % WORDS];
            *old = merge(*old, value, mask);
            held.dirty = true;
        }
        self.note(time, word.line());
    }

    /// Writes the whole line back if it is dirty, or if `clean` lines are written as
    /// well. Then drops it, or keeps it.
    pub(super) fn write_back(
        &mut self,
        time: u64,
        memory: &mut [Segment],
        line: Line,
        clean: bool,
        keep: bool,
    ) {
        let Some(held) = self.lines.get_mut(&line) else {
            return;
        };
        if held.dirty || clean {
            held.dirty = false;
            for (index, value) in held.data.iter().enumerate() {
                let at = line.word(index);
                memory[at.segment].write(time, at.word, *value, u64::MAX);
            }
        }
        if !keep {
            self.drop_line(line);
            self.note(time, line);
        }
    }

    fn drop_line(&mut self, line: Line) {
        let Some(held) = self.lines.remove(&line) else {
            return;
        };
        self.order.swap_remove(held.at);
        if let Some(moved) = self.order.get(held.at)
            && let Some(moved) = self.lines.get_mut(moved)
        {
            moved.at = held.at;
        }
    }

    /// The `index`-th line that is held, if there are any.
    pub(super) fn held(&self, index: u64) -> Option<Line> {
        let at = index.checked_rem(self.order.len() as u64)?;
        self.order.get(at as usize).copied()
    }
}
