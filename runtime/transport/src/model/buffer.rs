//! The store buffer of a PE: stores of its program that no other PE sees yet.

use super::segment::{Kind, Line, Word, merge};
use super::setting::Processor;

/// Deep enough to reorder the stores of the protocols.
pub(super) const ENTRIES_MAX: usize = 24;

#[derive(Debug, Clone, Copy)]
pub(super) enum Entry {
    Store {
        word: Word,
        value: u64,
        mask: u64,
        /// The kind of the aperture.
        kind: Kind,
        /// Leaves after all earlier stores.
        release: bool,
        /// How many barriers were before it.
        epoch: u64,
    },
    /// `clflush`, `clflushopt`, `clwb`, `dc civac`.
    Flush(Line, Kept),
    /// `sfence`: the contents of write-combining buffers go before later stores.
    Fence,
}

/// How a flush is ordered on x86, and whether the cache keeps the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// In the order of stores: `clflush`.
    Ordered,
    /// After earlier stores to its line, and unordered with everything else up to a fence:
    /// `clflushopt`.
    Loose,
    /// As `Loose`, and the cache keeps the line: `clwb`.
    LooseInCache,
}

/// The store buffer of one PE.
#[derive(Debug, Default)]
pub(super) struct StoreBuffer {
    entries: Vec<Entry>,
    pub(super) epoch: u64,
}

impl StoreBuffer {
    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// What the buffer holds for the word: the value, and a mask of its bits.
    pub(super) fn forward(&self, word: Word) -> (u64, u64) {
        let mut held = (0, 0);
        for entry in &self.entries {
            if let Entry::Store {
                word: to,
                value,
                mask,
                ..
            } = entry
                && *to == word
            {
                held = (merge(held.0, *value, *mask), held.1 | mask);
            }
        }
        held
    }

    pub(super) fn holds_release(&self) -> bool {
        let release = |entry: &Entry| matches!(entry, Entry::Store { release: true, .. });
        self.entries.iter().any(release)
    }

    pub(super) fn holds_flush(&self, line: Line) -> bool {
        let of_line = |entry: &Entry| matches!(entry, Entry::Flush(held, _) if *held == line);
        self.entries.iter().any(of_line)
    }

    /// Takes out one of the entries that may leave now. `pick` gets their number and chooses one.
    ///
    /// With `late_flushes`, all flushes except the last stay as long as any other entry may leave.
    pub(super) fn take(
        &mut self,
        processor: Processor,
        late_flushes: bool,
        pick: impl FnOnce(usize) -> usize,
    ) -> Option<Entry> {
        if self.entries.is_empty() {
            return None;
        }
        let mut free: Vec<usize> = match processor {
            Processor::X86 => (0..self.entries.len())
                .filter(|at| self.may_leave_x86(*at))
                .collect(),
            Processor::Arm => (0..self.entries.len())
                .filter(|at| self.may_leave(*at))
                .collect(),
        };
        let is_flush = |at: &usize| matches!(self.entries[*at], Entry::Flush(..));
        let last = (0..self.entries.len()).rfind(is_flush);
        if late_flushes && free.iter().any(|at| !is_flush(at) || Some(*at) == last) {
            free.retain(|at| !is_flush(at) || Some(*at) == last);
        }
        Some(self.entries.remove(free[pick(free.len())]))
    }

    /// Takes out a store, or the entry that blocks the first store. `None` when there is no store
    /// left. For barriers of the language on Arm, which do not wait for flushes.
    pub(super) fn take_store(&mut self) -> Option<Entry> {
        let store = |at: &usize| matches!(self.entries[*at], Entry::Store { .. });
        let mut stores = (0..self.entries.len()).filter(store).peekable();
        stores.peek()?;
        let free = stores.find(|at| self.may_leave(*at)).unwrap_or(0);
        Some(self.entries.remove(free))
    }

    /// On x86. The first entry always may.
    fn may_leave_x86(&self, at: usize) -> bool {
        let is_loose =
            |entry: &Entry| matches!(entry, Entry::Flush(_, Kept::Loose | Kept::LooseInCache));
        let earlier = &self.entries[..at];
        match self.entries[at] {
            Entry::Fence => at == 0,
            Entry::Flush(line, Kept::Loose | Kept::LooseInCache) => {
                !earlier.iter().any(|entry| match entry {
                    Entry::Store { word, .. } => word.line() == line,
                    Entry::Flush(..) => false,
                    Entry::Fence => true,
                })
            }
            Entry::Flush(..) | Entry::Store { .. } => earlier.iter().all(is_loose),
        }
    }

    /// On Arm. The first entry always may.
    fn may_leave(&self, at: usize) -> bool {
        let earlier = &self.entries[..at];
        match self.entries[at] {
            Entry::Fence => at == 0,
            Entry::Flush(line, _) => !earlier.iter().any(|entry| match entry {
                Entry::Store { word, .. } => word.line() == line,
                Entry::Flush(other, _) => *other == line,
                Entry::Fence => true,
            }),
            Entry::Store {
                word,
                release,
                epoch,
                ..
            } => !earlier.iter().any(|entry| match entry {
                Entry::Store {
                    word: other,
                    epoch: before,
                    ..
                } => *other == word || *before < epoch || release,
                Entry::Flush(line, _) => *line == word.line(),
                Entry::Fence => true,
            }),
        }
    }
}
