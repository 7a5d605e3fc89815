//! Caches.

use crate::engine::Ps;

use super::CacheConfig;

/// The requests of a cache to the level below, and of the last cache to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transaction {
    Read(u64),
    Write(u64),
}

impl Transaction {
    pub(super) fn line(self) -> u64 {
        match self {
            Self::Read(line) | Self::Write(line) => line,
        }
    }

    /// The same, `lines` lines on.
    pub(super) fn shifted(self, lines: u64) -> Transaction {
        match self {
            Self::Read(line) => Self::Read(line.wrapping_add(lines)),
            Self::Write(line) => Self::Write(line.wrapping_add(lines)),
        }
    }
}

/// No line: lines are at least 8 bytes, so that a real one has three high bits clear.
const EMPTY: u64 = u64::MAX;
const DIRTY: u64 = 1;

/// One cache. A set is a slice of places, the most recently used line first; a place
/// holds twice the line's number, plus one if it is dirty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cache {
    places: Vec<u64>,
    ways: usize,
    sets: u64,
    hit: Ps,
}

impl Cache {
    pub(super) fn new(config: &CacheConfig, line_bytes: u64) -> Cache {
        let lines = config.bytes / line_bytes;
        Cache {
            places: vec![EMPTY; lines as usize],
            ways: config.ways as usize,
            sets: lines / config.ways,
            hit: config.hit,
        }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let first = (line % self.sets) as usize * self.ways;
        &mut self.places[first..first + self.ways]
    }

    /// Whether the line is here; if so, it becomes the most recently used one.
    #[inline]
    fn touch(&mut self, line: u64, dirty: bool) -> bool {
        let set = self.set(line);
        let Some(place) = set.iter().position(|held| held >> 1 == line) else {
            return false;
        };
        let held = set[place] | u64::from(dirty);
        set.copy_within(..place, 1);
        set[0] = held;
        true
    }

    /// Puts a line in that is not here. Returns the line that had to leave, if it is dirty.
    #[inline]
    fn insert(&mut self, line: u64, dirty: bool) -> Option<u64> {
        let set = self.set(line);
        let last = set.len() - 1;
        let victim = set[last];
        set.copy_within(..last, 1);
        set[0] = line << 1 | u64::from(dirty);
        (victim != EMPTY && victim & DIRTY == DIRTY).then_some(victim >> 1)
    }

    /// Whether `later` holds the same lines as this one, `lines` lines further on.
    fn is_shifted(&self, later: &Cache, lines: u64) -> bool {
        let ways = self.ways;
        (0..self.sets).all(|set| {
            let to = ((set + lines % self.sets) % self.sets) as usize * ways;
            let from = set as usize * ways;
            let places = self.places[from..from + ways].iter();
            places
                .zip(&later.places[to..to + ways])
                .all(|(earlier, later)| *later == shifted(*earlier, lines))
        })
    }

    /// Moves everything `lines` lines on.
    fn shift(&mut self, lines: u64) {
        let by = (lines % self.sets) as usize * self.ways;
        self.places.rotate_right(by);
        for place in &mut self.places {
            *place = shifted(*place, lines);
        }
    }
}

fn shifted(place: u64, lines: u64) -> u64 {
    match place {
        EMPTY => EMPTY,
        held => held.wrapping_add(lines << 1),
    }
}

/// Caches one below the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Caches {
    levels: Vec<Cache>,
    write_allocate: bool,
}

impl Caches {
    pub(super) fn new(configs: &[CacheConfig], write_allocate: bool, line_bytes: u64) -> Caches {
        let levels = configs.iter().map(|config| Cache::new(config, line_bytes));
        Caches {
            levels: levels.collect(),
            write_allocate,
        }
    }

    /// A load or store of a line. Requests to memory go to `out`, in order; the result
    /// is the cost of hits.
    pub(super) fn access(
        &mut self,
        line: u64,
        store: bool,
        out: &mut impl FnMut(Transaction),
    ) -> Ps {
        match store && !self.write_allocate {
            true => store_around(&mut self.levels, line, out),
            false => fetch(&mut self.levels, line, store, out),
        }
    }

    /// Lines of one set of the first cache: so many different lines that are accessed one
    /// after the other are all there when the first comes again. 0 without a cache.
    pub(super) fn first_ways(&self) -> usize {
        self.levels.first().map_or(0, |cache| cache.ways)
    }

    /// The cost of a hit in the first cache.
    pub(super) fn first_hit(&self) -> Ps {
        self.levels.first().map_or(Ps::ZERO, |cache| cache.hit)
    }

    pub(super) fn allocates_writes(&self) -> bool {
        self.write_allocate
    }

    pub(super) fn is_shifted(&self, later: &Caches, lines: u64) -> bool {
        let levels = self.levels.iter().zip(&later.levels);
        levels
            .into_iter()
            .all(|(earlier, later)| earlier.is_shifted(later, lines))
    }

    pub(super) fn shift(&mut self, lines: u64) {
        self.levels.iter_mut().for_each(|cache| cache.shift(lines));
    }

    /// All places of all levels.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> {
        self.levels.iter().flat_map(|cache| &cache.places).copied()
    }
}

/// Brings a line into the first of `levels`, from wherever it is.
fn fetch(levels: &mut [Cache], line: u64, store: bool, out: &mut impl FnMut(Transaction)) -> Ps {
    let Some((first, below)) = levels.split_first_mut() else {
        out(match store {
            true => Transaction::Write(line),
            false => Transaction::Read(line),
        });
        return Ps::ZERO;
    };
    if first.touch(line, store) {
        return first.hit;
    }
    let hit = fetch(below, line, false, out);
    if let Some(victim) = first.insert(line, store) {
        write_back(below, victim, out);
    }
    hit
}

/// A store that does not fetch: to the first level that has the line, else to memory.
fn store_around(levels: &mut [Cache], line: u64, out: &mut impl FnMut(Transaction)) -> Ps {
    for cache in levels {
        if cache.touch(line, true) {
            return cache.hit;
        }
    }
    out(Transaction::Write(line));
    Ps::ZERO
}

/// A dirty line that has left the level above. It is whole: nothing is fetched.
fn write_back(levels: &mut [Cache], line: u64, out: &mut impl FnMut(Transaction)) {
    let Some((first, below)) = levels.split_first_mut() else {
        return out(Transaction::Write(line));
    };
    if first.touch(line, true) {
        return;
    }
    if let Some(victim) = first.insert(line, true) {
        write_back(below, victim, out);
    }
}
