//! The tables at the front of a region, and how a job takes its place there and gives it back.
//!
//! # Who may do what at the same time
//! Where the contract is coherent, a place and each unit are taken by a compare-and-swap, so any
//! number of jobs may begin at once. A process that dies in between leaves units that name an
//! incarnation which is over; those count as free.
//!
//! Under the other contracts there are no atomics between hosts. Then a region holds one job, in the
//! first place, and the process that takes it stores, waits for [`SETTLE`] and looks whether it
//! is still there. Two that begin within that time see one of them left. It is no proof, as a
//! process may be stopped for longer: so PEs look at the place with each of their beats, too.

use std::time::Duration;

use super::format::{
    Bytes, Head, JOBS, JobEntry, LINE_BYTES, Mark, PeLine, Span, State, UNITS_OFFSET_BYTES,
};
use crate::error::{EnvironmentFault, RegionFault, TransportError};
use crate::memory::Memory;
use crate::sync::Ordering;
use crate::visibility::Visibility;
use crate::window::Window;

/// How long a store takes at most until all hosts see it.
const SETTLE: Duration = match cfg!(memory_model) {
    true => Duration::ZERO,
    false => Duration::from_millis(50),
};
/// Attempts to take a place while others take theirs.
const ATTEMPTS: u32 = 64;

/// The tables of a region.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    window: Window,
    head: Head,
}

/// A job that has a place in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) slot: usize,
    pub(crate) incarnation: u64,
    pub(crate) entry: JobEntry,
}

/// A place of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) mark: Mark,
    /// Of a job that runs.
    pub(crate) entry: Option<Result<JobEntry, RegionFault>>,
}

type Result<T, E = TransportError> = core::result::Result<T, E>;

fn fault(fault: RegionFault) -> TransportError {
    let fault = EnvironmentFault::from(fault);
    TransportError::environment("the window", fault)
}

impl Table {
    /// The tables in `memory`, the first [`ALIGN_BYTES`](super::format::ALIGN_BYTES) of a region,
    /// whose header says what its contract is.
    ///
    /// # Errors
    /// [`RegionFault::NoRegion`], [`RegionFault::Version`], [`RegionFault::Damaged`].
    pub(crate) fn open(memory: Memory) -> Result<Self> {
        let mut line = [0; LINE_BYTES];
        // Nothing was loaded from here before, so that no copy is stale.
        Window::silent(memory.clone(), Visibility::Flushed).get(0, &mut line)?;
        let head = Head::parse(&line).map_err(fault)?;
        let window = Window::silent(memory, head.contract);
        Ok(Self { window, head })
    }

    /// Writes the header and empty tables of a region. The header comes last.
    pub(crate) fn make(memory: Memory, head: Head) -> Result<Self> {
        let window = Window::silent(memory, head.contract);
        let table = Self { window, head };
        let end = UNITS_OFFSET_BYTES + 8 * head.units() as usize;
        for at in (LINE_BYTES..end).step_by(LINE_BYTES) {
            table.write(at, &[0; LINE_BYTES])?;
        }
        table.write(0, &head.emit())?;
        table.window.visibility().quiet();
        Ok(table)
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    fn is_coherent(&self) -> bool {
        self.head.contract == Visibility::Coherent
    }

    /// The line becomes `bytes`, its first word last.
    fn write(&self, at: usize, bytes: &Bytes) -> Result<()> {
        write_line(&self.window, at, bytes)
    }

    /// What is at place `slot`.
    pub(crate) fn slot(&self, slot: usize) -> Result<Slot> {
        let mut line = [0; LINE_BYTES];
        let at = slot_offset_bytes(slot);
        let word = self.window.load_word(at)?;
        let mark = Mark::parse(word).map_err(fault)?;
        self.window.get(at, &mut line)?;
        let entry = JobEntry::parse(&line, &self.head);
        let is_running = mark.state == State::Running;
        Ok(Slot {
            mark,
            entry: is_running.then_some(entry),
        })
    }

    /// All places that are not free, with their numbers.
    pub(crate) fn taken(&self) -> Result<Vec<(usize, Slot)>> {
        let slots = (0..JOBS).map(|slot| Ok((slot, self.slot(slot)?)));
        let slots = slots.collect::<Result<Vec<_>>>()?;
        let is_taken = |(_, slot): &(usize, Slot)| slot.mark.state != State::Free;
        Ok(slots.into_iter().filter(is_taken).collect())
    }

    /// Whether the job is still where it was.
    pub(crate) fn holds(&self, place: &Place) -> Result<bool> {
        let word = self.window.load_word(slot_offset_bytes(place.slot))?;
        Ok(word == place.mark(State::Running).to_word())
    }

    /// The job of that place, incarnation and key.
    ///
    /// # Errors
    /// [`RegionFault::Incarnation`], [`RegionFault::Held`], [`RegionFault::Damaged`].
    pub(crate) fn find(&self, slot: usize, incarnation: u64, key: u128) -> Result<Place> {
        let found = self.slot(slot.min(JOBS - 1))?;
        let theirs = found.mark.incarnation;
        let entry = match found.entry {
            Some(entry) if theirs == incarnation => entry.map_err(fault)?,
            _ => {
                let ours = incarnation;
                return Err(fault(RegionFault::Incarnation { theirs, ours }));
            }
        };
        // Whoever can read the entry can read the key, so that how long this takes tells nothing.
        match entry.key == key && slot < JOBS {
            true => Ok(Place {
                slot,
                incarnation,
                entry,
            }),
            false => Err(fault(RegionFault::Held)),
        }
    }

    /// Takes a place and units for a job. Its memory holds what was left there.
    ///
    /// # Errors
    /// [`RegionFault::Full`], [`RegionFault::OneJob`].
    pub(crate) fn claim(&self, key: u128, pes: u32, segment_bytes: u64) -> Result<Claim<'_>> {
        let wanted = Span::bytes(pes, segment_bytes).unwrap_or(u64::MAX);
        let units = wanted.div_ceil(self.head.unit_bytes);
        let Ok(units) = u32::try_from(units) else {
            return Err(self.full(wanted));
        };
        for _ in 0..ATTEMPTS {
            let Some(slot) = self.free_slot()? else {
                break;
            };
            let old = self.slot(slot)?.mark;
            let mark = Mark {
                incarnation: (old.incarnation + 1) & (u64::MAX >> 16),
                state: State::Claimed,
            };
            if old.state != State::Free
                || !self.swap(slot_offset_bytes(slot), old.to_word(), mark.to_word())?
            {
                continue;
            }
            let mut claim = Claim {
                table: self,
                place: Place {
                    slot,
                    incarnation: mark.incarnation,
                    entry: JobEntry {
                        key,
                        first_unit: 0,
                        units: 0,
                        pes,
                        segment_bytes,
                    },
                },
                is_done: false,
            };
            match claim.take_units(units)? {
                Taken::All => return Ok(claim),
                Taken::TooFew => break,
                Taken::Others => {}
            }
        }
        match self.is_coherent() || self.taken()?.is_empty() {
            true => Err(self.full(wanted)),
            false => Err(fault(RegionFault::OneJob {
                contract: contract_name(self.head.contract),
            })),
        }
    }

    fn full(&self, wanted: u64) -> TransportError {
        let taken = self.taken().unwrap_or_default();
        let units = taken.iter().map(|(_, slot)| match &slot.entry {
            Some(Ok(entry)) => u64::from(entry.units),
            _ => 0,
        });
        fault(RegionFault::Full {
            jobs: taken.len(),
            used: (units.sum::<u64>() + 1) * self.head.unit_bytes,
            all: self.head.size_bytes,
            wanted,
        })
    }

    /// A place that may be taken.
    fn free_slot(&self) -> Result<Option<usize>> {
        let taken = self.taken()?;
        if !self.is_coherent() {
            return Ok(taken.is_empty().then_some(0));
        }
        Ok((0..JOBS).find(|slot| taken.iter().all(|(other, _)| other != slot)))
    }

    /// Frees the place and the units of a job of which nobody lives. False if somebody else has
    /// done so, or the place has another job.
    pub(crate) fn free(&self, slot: usize, mark: Mark) -> Result<bool> {
        let at = slot_offset_bytes(slot);
        let freed = self.swap(at, mark.to_word(), mark.with(State::Free).to_word())?;
        if freed && self.is_coherent() {
            let owner = owner(slot, mark.incarnation);
            for unit in 1..self.head.units() {
                // Those of others stay.
                self.swap(unit_offset_bytes(unit), owner, 0)?;
            }
        }
        Ok(freed)
    }

    /// The state of a job changes from one to another; false if it is not in that one.
    pub(crate) fn mark(&self, place: &Place, from: State, to: State) -> Result<bool> {
        let at = slot_offset_bytes(place.slot);
        self.swap(at, place.mark(from).to_word(), place.mark(to).to_word())
    }

    /// The word becomes `new` if it is `old`; says whether it did. Where there are no atomics,
    /// only one process may do so at a time.
    fn swap(&self, at: usize, old: u64, new: u64) -> Result<bool> {
        if self.is_coherent() {
            let word = self.window.word(at)?;
            let swapped = word.compare_exchange(old, new, Ordering::SeqCst, Ordering::SeqCst);
            return Ok(swapped.is_ok());
        }
        if self.window.load_word(at)? != old {
            return Ok(false);
        }
        self.window.put_word(at, new)?;
        Ok(true)
    }

    /// Whether nobody has the unit of this word.
    fn is_free(&self, word: u64) -> Result<bool> {
        let (incarnation, slot) = (word >> 8, (word & 0xff) as usize);
        if word == 0 || !(1..=JOBS).contains(&slot) {
            return Ok(true);
        }
        let mark = self.slot(slot - 1)?.mark;
        Ok(mark.incarnation != incarnation || mark.state == State::Free)
    }
}

/// What has come of the search for units.
enum Taken {
    All,
    /// There are not so many that lie side by side.
    TooFew,
    /// Others were quicker.
    Others,
}

/// A place that is not yet seen as that of a job. It is given back when dropped.
#[derive(Debug)]
pub(crate) struct Claim<'a> {
    table: &'a Table,
    place: Place,
    is_done: bool,
}

impl Claim<'_> {
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    fn take_units(&mut self, wanted: u32) -> Result<Taken> {
        let (table, place) = (self.table, &mut self.place);
        let end = table.head.units();
        if !table.is_coherent() {
            place.entry.first_unit = 1;
            place.entry.units = wanted;
            return Ok(match wanted < end {
                true => Taken::All,
                false => Taken::TooFew,
            });
        }
        let words = (1..end).map(|unit| table.window.load_word(unit_offset_bytes(unit)));
        let words = words.collect::<Result<Vec<u64>>>()?;
        let mut run: Vec<(u32, u64)> = Vec::new();
        for (unit, word) in (1..end).zip(words) {
            match table.is_free(word)? {
                true => run.push((unit, word)),
                false => run.clear(),
            }
            if run.len() == wanted as usize {
                break;
            }
        }
        if run.len() < wanted as usize {
            return Ok(Taken::TooFew);
        }
        let owner = owner(place.slot, place.incarnation);
        for (unit, word) in &run {
            if !table.swap(unit_offset_bytes(*unit), *word, owner)? {
                return Ok(Taken::Others);
            }
        }
        place.entry.first_unit = run.first().map_or(0, |(unit, _)| *unit);
        place.entry.units = wanted;
        Ok(Taken::All)
    }

    /// From now on others see the job.
    ///
    /// # Errors
    /// [`RegionFault::Held`] if another one has taken the place.
    pub(crate) fn finish(mut self) -> Result<Place> {
        let (table, place) = (self.table, self.place);
        let at = slot_offset_bytes(place.slot);
        let line = place.entry.emit();
        table
            .window
            .put(at + 8, line.get(8..).unwrap_or_default())?;
        let claimed = place.mark(State::Claimed).to_word();
        let running = place.mark(State::Running).to_word();
        if !table.swap(at, claimed, running)? {
            return Err(fault(RegionFault::Held));
        }
        if !table.is_coherent() {
            table.window.visibility().quiet();
            std::thread::sleep(SETTLE);
            let found = table.find(place.slot, place.incarnation, place.entry.key);
            if found.is_err() {
                self.is_done = true;
                return Err(fault(RegionFault::Held));
            }
        }
        self.is_done = true;
        Ok(place)
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            let mark = self.place.mark(State::Claimed);
            // If the region has gone bad, there is nothing to give back.
            let _ = self.table.free(self.place.slot, mark);
        }
    }
}

impl Place {
    pub(crate) fn mark(&self, state: State) -> Mark {
        Mark {
            incarnation: self.incarnation,
            state,
        }
    }

    /// Where in the region its units begin.
    pub(crate) fn offset_bytes(&self, head: &Head) -> u64 {
        u64::from(self.entry.first_unit) * head.unit_bytes
    }
}

/// The lines of the PEs of a job.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    window: Window,
}

impl Lines {
    /// Those in `front`, what comes before the segments of a job of `pes` PEs.
    pub(crate) fn new(front: &Memory, pes: u32, contract: Visibility) -> Result<Self> {
        let lines_bytes = pes as usize * LINE_BYTES;
        let memory = front.part(Span::lines_offset_bytes(pes), lines_bytes)?;
        let window = Window::silent(memory, contract);
        Ok(Self { window })
    }

    pub(crate) fn read(&self, pe: u32) -> Result<PeLine> {
        let mut line = [0; LINE_BYTES];
        let at = pe as usize * LINE_BYTES;
        // It is stored last, so what belongs to it is there.
        let mark = self.window.load_word(at)?;
        self.window.get(at, &mut line)?;
        let mark = Mark::parse(mark).map_err(fault)?;
        PeLine::parse(&line)
            .map(|line| PeLine { mark, ..line })
            .map_err(fault)
    }

    pub(crate) fn write(&self, pe: u32, line: &PeLine) -> Result<()> {
        write_line(&self.window, pe as usize * LINE_BYTES, &line.emit())?;
        self.window.visibility().quiet();
        Ok(())
    }

    /// Makes the lines of `pes` PEs those of PEs that have not joined.
    pub(crate) fn zero(&self, pes: u32) -> Result<()> {
        for pe in 0..pes as usize {
            write_line(&self.window, pe * LINE_BYTES, &[0; LINE_BYTES])?;
        }
        self.window.visibility().quiet();
        Ok(())
    }

    pub(crate) fn beat(&self, pe: u32, beat: u64) -> Result<()> {
        let at = pe as usize * LINE_BYTES + PeLine::BEAT_OFFSET_BYTES;
        self.window.put_word(at, beat)
    }
}

fn write_line(window: &Window, at: usize, bytes: &Bytes) -> Result<()> {
    let (first, rest) = bytes.split_at(8);
    window.put(at + 8, rest)?;
    let first = first.try_into().unwrap_or_default();
    window.put_word(at, u64::from_le_bytes(first))
}

/// Where the line of a place lies. Its byte is the one that the process locks that claims it.
pub(crate) const fn slot_offset_bytes(slot: usize) -> usize {
    (1 + slot) * LINE_BYTES
}

const fn unit_offset_bytes(unit: u32) -> usize {
    UNITS_OFFSET_BYTES + unit as usize * 8
}

/// What stands in the word of a unit of that job.
const fn owner(slot: usize, incarnation: u64) -> u64 {
    incarnation << 8 | (slot as u64 + 1)
}

/// What a contract is called in settings.
pub const fn contract_name(contract: Visibility) -> &'static str {
    match contract {
        Visibility::Coherent => "coherent",
        Visibility::Flushed => "flushed",
        Visibility::WriteCombining => "write-combining",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::format::ALIGN_BYTES;

    const MIB: u64 = 1 << 20;

    fn table(contract: Visibility, units: u64) -> Table {
        let memory = Memory::anonymous(ALIGN_BYTES as usize);
        let head = Head::new(contract, units * ALIGN_BYTES, 7);
        let made = Table::make(memory.clone(), head).unwrap();
        assert_eq!(Table::open(memory).unwrap().head(), made.head());
        made
    }

    fn claim(table: &Table, segment_mib: u64) -> Result<Place> {
        table.claim(5, 1, segment_mib * MIB)?.finish()
    }

    fn region_fault<T>(result: Result<T>) -> Option<RegionFault> {
        match result.err()? {
            TransportError::Environment {
                fault: EnvironmentFault::Region(fault),
                ..
            } => Some(*fault),
            _ => None,
        }
    }

    #[test]
    fn jobs_get_places_and_units_of_their_own() {
        let table = table(Visibility::Coherent, 16);
        let (a, b) = (claim(&table, 6).unwrap(), claim(&table, 8).unwrap());
        assert_eq!((a.slot, a.entry.first_unit, a.entry.units), (0, 1, 4));
        assert_eq!((b.slot, b.entry.first_unit, b.entry.units), (1, 5, 5));
        assert_eq!(table.find(1, b.incarnation, 5).unwrap(), b);
        let full = region_fault(claim(&table, 12)).unwrap();
        let (jobs, used) = (2, 20 * MIB);
        let (all, wanted) = (32 * MIB, 14 * MIB);
        assert_eq!(
            full,
            RegionFault::Full {
                jobs,
                used,
                all,
                wanted
            }
        );
        // What is freed can be had again, as another incarnation.
        assert!(table.free(0, a.mark(State::Running)).unwrap());
        assert!(!table.free(0, a.mark(State::Running)).unwrap());
        let c = claim(&table, 6).unwrap();
        assert_eq!((c.slot, c.entry.first_unit), (0, 1));
        assert!(c.incarnation > a.incarnation);
        assert!(!table.holds(&a).unwrap() && table.holds(&c).unwrap());
    }

    #[test]
    fn a_job_that_is_not_there_is_refused() {
        let table = table(Visibility::Coherent, 16);
        let a = claim(&table, 2).unwrap();
        let held = region_fault(table.find(a.slot, a.incarnation, 6));
        assert_eq!(held, Some(RegionFault::Held));
        let (theirs, ours) = (a.incarnation, a.incarnation + 1);
        let older = region_fault(table.find(a.slot, ours, 5));
        assert_eq!(older, Some(RegionFault::Incarnation { theirs, ours }));
        assert!(table.find(usize::MAX, 1, 5).is_err());
    }

    #[test]
    fn a_claim_that_is_given_up_leaves_nothing() {
        let table = table(Visibility::Coherent, 8);
        drop(table.claim(5, 1, 8 * MIB).unwrap());
        assert_eq!(table.taken().unwrap(), []);
        assert_eq!(claim(&table, 8).unwrap().entry.first_unit, 1);
    }

    #[test]
    fn units_of_an_incarnation_that_is_over_are_free() {
        let table = table(Visibility::Coherent, 8);
        let a = table.claim(5, 1, 8 * MIB).unwrap();
        let place = *a.place();
        // As if its process had been stopped, another had freed the place, and it went on.
        core::mem::forget(a);
        let at = slot_offset_bytes(place.slot);
        let claimed = place.mark(State::Claimed);
        assert!(
            table
                .swap(at, claimed.to_word(), claimed.with(State::Free).to_word())
                .unwrap()
        );
        let b = claim(&table, 8).unwrap();
        assert_eq!((b.slot, b.entry.first_unit), (0, 1));
    }

    #[test]
    fn without_atomics_there_is_one_job() {
        for contract in [Visibility::Flushed, Visibility::WriteCombining] {
            let table = table(contract, 8);
            let a = claim(&table, 4).unwrap();
            let contract = contract_name(contract);
            let refused = region_fault(claim(&table, 2));
            assert_eq!(refused, Some(RegionFault::OneJob { contract }));
            assert!(table.free(a.slot, a.mark(State::Running)).unwrap());
            assert_eq!(claim(&table, 4).unwrap().slot, 0);
        }
    }

    #[test]
    fn jobs_that_begin_at_once_share_nothing() {
        let table = table(Visibility::Coherent, 64);
        let places = std::thread::scope(|scope| {
            let table = &table;
            let claims: Vec<_> = (0..8)
                .map(|n| scope.spawn(move || claim(table, 2 + 2 * (n % 3)).unwrap()))
                .collect();
            claims
                .into_iter()
                .map(|claim| claim.join().unwrap())
                .collect::<Vec<_>>()
        });
        let mut units: Vec<u32> = places
            .iter()
            .flat_map(|place| (0..place.entry.units).map(|unit| place.entry.first_unit + unit))
            .collect();
        let count = units.len();
        units.sort_unstable();
        units.dedup();
        assert_eq!(units.len(), count, "{places:?}");
    }

    #[test]
    fn a_damaged_table_is_an_error() {
        let memory = Memory::anonymous(ALIGN_BYTES as usize);
        assert_eq!(
            region_fault(Table::open(memory.clone())),
            Some(RegionFault::NoRegion)
        );
        let table =
            Table::make(memory.clone(), Head::new(Visibility::Coherent, 16 * MIB, 7)).unwrap();
        let a = claim(&table, 2).unwrap();
        memory.copy_in(slot_offset_bytes(0) + 30, &[9]).unwrap();
        let damaged = region_fault(table.find(0, a.incarnation, 5));
        assert!(matches!(damaged, Some(RegionFault::Damaged { .. })));
        memory.copy_in(slot_offset_bytes(1), &[9]).unwrap();
        let damaged = region_fault(table.taken());
        assert!(matches!(damaged, Some(RegionFault::Damaged { .. })));
    }
}
