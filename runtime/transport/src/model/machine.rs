//! The machine of one run: PEs with their buffers, hosts with their caches, memory.

use core::sync::atomic::Ordering;
use std::collections::BTreeMap;

use super::buffer::{ENTRIES_MAX, Entry, Kept, StoreBuffer};
use super::cache::Cache;
use super::combine::{Combiner, Path};
use super::segment::{Kind, Line, Segment, Word};
use super::setting::{Processor, Setting, Temper};
use super::steps::{Step, Steps, What};
use crate::conformance::Random;
use crate::flush::Flush;
use crate::memory::Memory;
use crate::visibility::Visibility;

/// Addresses through which a PE accesses the segment of a PE.
#[derive(Debug)]
pub(super) struct Aperture {
    /// Keeps the addresses taken. Nothing is ever stored there.
    pub(super) addresses: Memory,
    pub(super) pe: usize,
    pub(super) segment: usize,
    pub(super) kind: Kind,
}

/// A piece of a word, as a PE accesses it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WordPart {
    pub(super) pe: usize,
    pub(super) kind: Kind,
    pub(super) word: Word,
    /// Its first bit in the word.
    pub(super) shift: u32,
    /// Which bits of the word it is.
    pub(super) mask: u64,
}

/// A PE. Its host is that of its segment.
#[derive(Debug, Default)]
pub(super) struct Pe {
    buffer: StoreBuffer,
    combiner: Combiner,
    /// Its posted packets to each PE.
    paths: Vec<Path>,
    /// No load may be executed before this step.
    floor: u64,
    /// The latest step at which a load was executed.
    latest: u64,
    /// The same per word that it has seen, and per line that it has flushed.
    seen: BTreeMap<Word, u64>,
    flushed: BTreeMap<Line, u64>,
    /// The word on which it sleeps.
    pub(super) asleep: Option<Word>,
    pub(super) ended: bool,
}

/// See the [module text](super).
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) setting: Setting,
    pub(super) temper: Temper,
    pub(super) dice: Random,
    pub(super) pes: Vec<Pe>,
    pub(super) steps: Steps,
    /// Sleeps that only a time-out could end, because nothing else could happen.
    pub(super) overslept: u64,
    pub(super) time: u64,
    apertures: Vec<Aperture>,
    memory: Vec<Segment>,
    /// One for each host. Used only where hosts are not coherent.
    caches: Vec<Cache>,
}

impl Machine {
    /// `pes` PEs with segments of `len_bytes` zeroed bytes.
    pub(super) fn new(setting: Setting, pes: usize, len_bytes: usize) -> Self {
        let pe = || Pe {
            paths: (0..pes).map(|_| Path::default()).collect(),
            ..Pe::default()
        };
        Self {
            setting,
            temper: setting.temper(),
            dice: setting.dice(),
            pes: (0..pes).map(|_| pe()).collect(),
            steps: Steps::default(),
            overslept: 0,
            time: 0,
            apertures: Vec::new(),
            memory: (0..pes).map(|_| Segment::new(len_bytes)).collect(),
            caches: (0..pes).map(|_| Cache::default()).collect(),
        }
    }

    pub(super) fn map(&mut self, aperture: Aperture) {
        self.apertures.push(aperture);
        self.apertures
            .sort_by_key(|aperture| aperture.addresses.base().as_ptr().addr());
    }

    /// The location at an address, if it is modelled. The `bytes` must lie in one word.
    pub(super) fn place(&self, address: usize, bytes: usize) -> Option<WordPart> {
        let begin = |aperture: &Aperture| aperture.addresses.base().as_ptr().addr();
        let after = self
            .apertures
            .partition_point(|aperture| begin(aperture) <= address);
        let aperture = &self.apertures[after.checked_sub(1)?];
        let offset = address - begin(aperture);
        if offset >= aperture.addresses.len_bytes() {
            return None;
        }
        let shift = (offset % 8) as u32 * 8;
        Some(WordPart {
            pe: aperture.pe,
            kind: aperture.kind,
            word: Word {
                segment: aperture.segment,
                word: offset / 8,
            },
            shift,
            mask: u64::MAX >> (64 - 8 * bytes) << shift,
        })
    }

    /// One more step, and what the hardware does meanwhile. Returns whether another PE
    /// continues.
    pub(super) fn step(&mut self, place: WordPart, what: What, value: u64) -> bool {
        self.steps.note(Step {
            pe: place.pe,
            what,
            segment: place.word.segment,
            offset_bytes: place.word.word * 8 + place.shift as usize / 8,
            value,
        });
        self.memory[place.word.segment].use_line(place.word.line().line);
        self.pass();
        self.dice.one_in(self.temper.switch)
    }

    pub(super) fn load(&mut self, place: WordPart, order: Ordering) -> u64 {
        if place.kind == Kind::WriteCombining {
            self.refuse(place, "loads");
        }
        let (pe, word) = (place.pe, place.word);
        if order == Ordering::SeqCst && self.pes[pe].buffer.holds_release() {
            self.drain_stores(pe);
        }
        while self.processor() == Processor::Arm && self.pes[pe].buffer.holds_flush(word.line()) {
            self.drain(pe);
        }
        let (held, bits) = self.pes[pe].buffer.forward(word);
        if bits & place.mask == place.mask {
            return (held & place.mask) >> place.shift;
        }
        if bits & place.mask != 0 {
            // The word is partly in the buffer, so the load has to wait.
            self.drain_stores(pe);
        }
        let value = match self.processor() {
            Processor::X86 => self.look(place),
            Processor::Arm => self.load_early(place, order),
        };
        (value & place.mask) >> place.shift
    }

    fn load_early(&mut self, place: WordPart, order: Ordering) -> u64 {
        let (pe, word) = (&self.pes[place.pe], place.word);
        let begin = match place.kind {
            Kind::Flushed => self.caches[place.pe].begin(&self.memory, word),
            _ => self.memory[word.segment].begin(word.word),
        };
        let seen = pe.seen.get(&word).copied().unwrap_or(0);
        let flushed = pe.flushed.get(&word.line()).copied().unwrap_or(0);
        let from = pe.floor.max(begin).max(seen).max(flushed);
        let early = from < self.time && self.dice.one_in(self.temper.early);
        let then = match early {
            false => self.time,
            true if self.dice.one_in(2) => from,
            true => from + self.dice.word() % (self.time - from),
        };
        let value = match (early, place.kind) {
            (false, _) => self.look(place),
            (true, Kind::Flushed) => self.caches[place.pe].load_at(then, &self.memory, word),
            (true, _) => self.memory[word.segment].read_at(then, word.word),
        };
        let pe = &mut self.pes[place.pe];
        pe.seen.insert(word, then);
        pe.latest = pe.latest.max(then);
        if matches!(order, Ordering::Acquire | Ordering::SeqCst) {
            pe.floor = pe.floor.max(then);
        }
        value
    }

    /// The value of the word now, as the host of the PE sees it.
    fn look(&mut self, place: WordPart) -> u64 {
        match place.kind {
            Kind::Flushed => self.caches[place.pe].load(self.time, &self.memory, place.word),
            _ => self.memory[place.word.segment].read(place.word.word),
        }
    }

    pub(super) fn store(&mut self, place: WordPart, value: u64, order: Ordering) {
        let release = matches!(order, Ordering::Release | Ordering::SeqCst);
        let buffer = &mut self.pes[place.pe].buffer;
        buffer.push(Entry::Store {
            word: place.word,
            value: value << place.shift,
            mask: place.mask,
            kind: place.kind,
            release,
            epoch: buffer.epoch,
        });
        if order == Ordering::SeqCst && self.processor() == Processor::X86 {
            self.full_fence(place.pe);
        }
        while self.pes[place.pe].buffer.len() > ENTRIES_MAX {
            self.drain(place.pe);
        }
    }

    /// A read-modify-write: `new` gives the new value, if any. It is executed after all
    /// earlier stores, whatever its ordering; Arm allows more.
    pub(super) fn change(
        &mut self,
        place: WordPart,
        order: Ordering,
        new: &dyn Fn(u64) -> Option<u64>,
    ) -> u64 {
        if place.kind == Kind::WriteCombining {
            self.refuse(place, "does an atomic operation");
        }
        match self.processor() {
            Processor::X86 => self.full_fence(place.pe),
            Processor::Arm => self.drain_stores(place.pe),
        }
        self.time += 1;
        let old = (self.look(place) & place.mask) >> place.shift;
        if let Some(new) = new(old) {
            self.write(
                place.pe,
                place.kind,
                place.word,
                new << place.shift,
                place.mask,
            );
        }
        let (time, pe) = (self.time, &mut self.pes[place.pe]);
        pe.seen.insert(place.word, time);
        pe.latest = time;
        if !matches!(order, Ordering::Relaxed | Ordering::Release) {
            pe.floor = time;
        }
        old
    }

    /// A fence of the language: `dmb` on Arm, which does not order accesses to devices and
    /// to other hosts.
    pub(super) fn fence(&mut self, pe: usize, order: Ordering) {
        match (self.processor(), order) {
            (Processor::X86, Ordering::SeqCst) => self.full_fence(pe),
            (Processor::X86, _) => {}
            (Processor::Arm, Ordering::Acquire) => self.acquire(pe),
            (Processor::Arm, Ordering::Release) => self.pes[pe].buffer.epoch += 1,
            (Processor::Arm, Ordering::AcqRel) => {
                self.acquire(pe);
                self.pes[pe].buffer.epoch += 1;
            }
            (Processor::Arm, _) => {
                self.drain_stores(pe);
                self.pes[pe].floor = self.time;
            }
        }
    }

    fn acquire(&mut self, pe: usize) {
        let pe = &mut self.pes[pe];
        pe.floor = pe.floor.max(pe.latest);
    }

    /// `sfence` or `dsb`.
    pub(super) fn store_fence(&mut self, pe: usize) {
        match self.processor() {
            Processor::X86 => self.pes[pe].buffer.push(Entry::Fence),
            Processor::Arm => self.full_fence(pe),
        }
    }

    /// `mfence` or `dsb`.
    pub(super) fn full_fence(&mut self, pe: usize) {
        while self.pes[pe].buffer.len() > 0 {
            self.drain(pe);
        }
        self.evict_all(pe);
        self.pes[pe].floor = self.time;
    }

    /// `membarrier` reaches every CPU of the host.
    pub(super) fn fence_host(&mut self, pe: usize) {
        if self.one_host() {
            for other in (0..self.pes.len()).filter(|other| *other != pe) {
                self.fence(other, Ordering::SeqCst);
            }
        }
        // It returns when all CPUs have done so.
        self.fence(pe, Ordering::SeqCst);
    }

    /// Flushes by the instruction of the processor: every second x86 has `clwb` and
    /// `clflushopt`, and each Arm `dc cvac` and `dc civac`, whose order the store buffer knows.
    pub(super) fn flush_line(&mut self, place: WordPart, flush: Flush) {
        let kept = match flush {
            Flush::WriteBack if self.processor() == Processor::Arm => Kept::LooseInCache,
            _ if self.processor() == Processor::Arm || !self.setting.late_flushes() => {
                Kept::Ordered
            }
            Flush::BeforeStore => Kept::Ordered,
            Flush::BeforeFence => Kept::Loose,
            Flush::WriteBack => Kept::LooseInCache,
        };
        self.pes[place.pe]
            .buffer
            .push(Entry::Flush(place.word.line(), kept));
        while self.pes[place.pe].buffer.len() > ENTRIES_MAX {
            self.drain(place.pe);
        }
    }

    /// Whether all PEs run on one host.
    pub(super) fn one_host(&self) -> bool {
        self.setting.visibility == Visibility::Coherent
    }

    pub(super) fn processor(&self) -> Processor {
        self.setting.processor()
    }

    /// Lets one entry of the store buffer leave.
    pub(super) fn drain(&mut self, pe: usize) {
        let (processor, dice) = (self.processor(), &mut self.dice);
        // The last entry that may leave overtakes the others.
        let pick = |free| match dice.one_in(2) {
            true => free - 1,
            false => dice.below(free),
        };
        let late_flushes = self.setting.late_flushes();
        let entry = self.pes[pe].buffer.take(processor, late_flushes, pick);
        if let Some(entry) = entry {
            self.apply(pe, entry);
        }
    }

    fn drain_stores(&mut self, pe: usize) {
        while let Some(entry) = self.pes[pe].buffer.take_store() {
            self.apply(pe, entry);
        }
    }

    fn apply(&mut self, pe: usize, entry: Entry) {
        self.time += 1;
        match entry {
            Entry::Store {
                word,
                value,
                mask,
                kind,
                ..
            } => {
                self.write(pe, kind, word, value, mask);
                let time = self.time;
                self.pes[pe].seen.insert(word, time);
            }
            Entry::Flush(line, kept) => {
                let keep = kept == Kept::LooseInCache;
                self.caches[pe].write_back(self.time, &mut self.memory, line, false, keep);
                let time = self.time;
                self.pes[pe].flushed.insert(line, time);
            }
            Entry::Fence => self.evict_all(pe),
        }
    }

    /// A store reaches the memory behind the aperture.
    fn write(&mut self, pe: usize, kind: Kind, word: Word, value: u64, mask: u64) {
        let (time, chunks) = (self.time, self.temper.chunks);
        match kind {
            Kind::Coherent => self.memory[word.segment].write(time, word.word, value, mask),
            Kind::Flushed => self.caches[pe].store(time, &self.memory, word, value, mask),
            Kind::WriteCombining => {
                let Pe {
                    combiner, paths, ..
                } = &mut self.pes[pe];
                combiner.store(word, value, mask, &mut self.dice, chunks, paths);
            }
        }
    }

    fn evict_all(&mut self, pe: usize) {
        let Pe {
            combiner, paths, ..
        } = &mut self.pes[pe];
        combiner.evict_all(&mut self.dice, self.temper.chunks, paths);
    }

    /// Time passes: the hardware may do anything that it is allowed to.
    pub(super) fn pass(&mut self) {
        self.time += 1;
        let temper = self.temper;
        let pe = self.dice.below(self.pes.len());
        if self.happens(temper.drain) {
            for _ in 0..self.burst() {
                self.drain(pe);
            }
        }
        if self.happens(temper.deliver) {
            let to = self.dice.below(self.pes.len());
            for _ in 0..self.burst() {
                self.pes[pe].paths[to].deliver(self.time, &mut self.memory);
            }
        }
        match self.setting.visibility {
            Visibility::WriteCombining => self.combiner_lives(pe),
            Visibility::Flushed => self.cache_lives(pe),
            _ => {}
        }
    }

    fn combiner_lives(&mut self, pe: usize) {
        if self.happens(self.temper.evict) {
            let Pe {
                combiner, paths, ..
            } = &mut self.pes[pe];
            combiner.evict_one(&mut self.dice, self.temper.chunks, paths);
        }
    }

    /// How many events of a kind happen at once: mostly one, sometimes about all that are
    /// possible.
    fn burst(&mut self) -> usize {
        match self.dice.one_in(6) {
            true => 1 + self.dice.below(ENTRIES_MAX),
            false => 1,
        }
    }

    fn happens(&mut self, one_in: usize) -> bool {
        one_in > 0 && self.dice.one_in(one_in)
    }

    /// Fills and write-backs that the cache of a host makes by itself.
    fn cache_lives(&mut self, host: usize) {
        if self.happens(self.temper.fill) {
            let segment = self.dice.below(self.memory.len());
            if let Some(line) = self.memory[segment].used(self.dice.word()) {
                self.caches[host].fill(self.time, &self.memory, Line { segment, line });
            }
        }
        if self.happens(self.temper.write_back)
            && let Some(line) = self.caches[host].held(self.dice.word())
        {
            let (keep, clean) = (self.dice.one_in(2), self.setting.clean_write_backs);
            self.caches[host].write_back(self.time, &mut self.memory, line, clean, keep);
        }
    }

    /// Whether the process of a PE has ended. Its stores arrive before others learn that it
    /// has ended. The check takes a system call, which is a barrier.
    pub(super) fn has_ended(&mut self, asks: usize, pe: usize) -> bool {
        let ended = self.pes[pe].ended;
        if ended {
            self.full_fence(pe);
            self.settle_pe(pe);
        }
        self.fence(asks, Ordering::SeqCst);
        ended
    }

    /// Lets everything happen that must happen some time. Returns whether anything did.
    pub(super) fn settle(&mut self) -> bool {
        (0..self.pes.len()).fold(false, |any, pe| self.settle_pe(pe) | any)
    }

    fn settle_pe(&mut self, pe: usize) -> bool {
        let mut any = false;
        while self.pes[pe].buffer.len() > 0 {
            self.drain(pe);
            any = true;
        }
        for to in 0..self.pes.len() {
            self.time += 1;
            while self.pes[pe].paths[to].deliver(self.time, &mut self.memory) {
                any = true;
            }
        }
        any
    }

    /// # Panics
    /// Always.
    fn refuse(&self, place: WordPart, what: &str) -> ! {
        panic!(
            "PE {} {what} through a window that takes stores only: at {:#x} of the segment of PE {}",
            place.pe,
            place.word.word * 8 + place.shift as usize / 8,
            place.word.segment
        )
    }
}
