//! The tables at the front of a region, and how a job takes its place there and gives it back.
//!
//! # Who writes what
//! Each kernel has a number ([`super::kernels`]) and a block of lines that it alone writes: the places of the
//! jobs whose PE 0 runs on it, and its words about the places of others. Its processes take turns
//! ([`super::table_lock`]). So no atomics are needed, and one algorithm works with all contracts.
//!
//! # Why no two jobs have the same bytes
//! A process that wants units writes this into its place, makes the store visible, and then reads the places of
//! all others. If two want the same units, the one whose store became visible later sees the other. It gives way
//! if the other has the units or the lower kernel number. Otherwise it polls until the other has given way or has
//! the units. No process gets units before it has read all other places after its own store. This does not depend
//! on a time limit.
//!
//! # What is over
//! A kernel frees its own places. To free a place of another kernel, it writes into a word of its own block that
//! this incarnation is over. All kernels read these words.

use std::time::Duration;

use hostwire_transport::error::{RegionFault, TransportError};
use hostwire_transport::memory::Memory;
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::Window;

use super::format::{
    ALIGN_BYTES, BLOCKS_OFFSET_BYTES, Bytes, Head, JobEntry, LINE_BYTES, Mark, OVER_OFFSET_BYTES,
    PLACES, PLACES_OFFSET_BYTES, SlotState, Span,
};
use super::kernels::{self, block_offset_bytes};
use super::lines::write_line;
use super::{Result, fault};

/// The time between two looks at others that want the same units.
const PAUSE: Duration = Duration::from_millis(1);
/// After so many looks, another process that wants the same units counts as dead.
const LOOKS: u32 = 2000;
/// Attempts to find units while others take theirs.
const ATTEMPTS: u32 = 64;

/// The tables of a region.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    window: Window,
    head: Head,
}

/// A job that has a place in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JobSlot {
    pub(crate) slot: usize,
    pub(crate) incarnation: u64,
    pub(crate) entry: JobEntry,
}

/// A place of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Also free if a kernel says that the incarnation is over.
    pub(crate) mark: Mark,
    /// The entry, unless the place is free.
    pub(crate) entry: Option<Result<JobEntry, RegionFault>>,
}

impl Table {
    /// The tables in `memory`, the first [`ALIGN_BYTES`] of a region. Its header says the contract.
    ///
    /// # Errors
    /// [`RegionFault::NoRegion`], [`RegionFault::Version`], [`RegionFault::Damaged`].
    pub(crate) fn open(memory: Memory) -> Result<Self> {
        let mut line = [0; LINE_BYTES];
        // Nothing was loaded from here before, so no copy is stale.
        Window::silent(memory.clone(), Visibility::Flushed).get(0, &mut line)?;
        let head = Head::parse(&line).map_err(fault)?;
        let window = Window::silent(memory, head.contract);
        Ok(Self { window, head })
    }

    /// Writes the header and empty tables of a region. The header comes last.
    pub(crate) fn make(memory: Memory, head: Head) -> Result<Self> {
        let window = Window::silent(memory, head.contract);
        let table = Self { window, head };
        let end = block_offset_bytes(&head, head.kernels);
        for at in (BLOCKS_OFFSET_BYTES..end).step_by(LINE_BYTES) {
            write_line(&table.window, at, &[0; LINE_BYTES])?;
        }
        write_line(&table.window, 0, &head.emit())?;
        table.window.visibility().quiet();
        Ok(table)
    }

    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// The number of the kernel with this epoch, which gets one if it has none. The token must be unique.
    ///
    /// # Errors
    /// [`RegionFault::Kernels`].
    pub(crate) fn enter(&self, epoch: u64, token: u64) -> Result<u32> {
        kernels::enter(&self.window, &self.head, epoch, token)
    }

    fn offset_bytes(&self, slot: usize) -> usize {
        let block = block_offset_bytes(&self.head, kernel_of(slot));
        block + PLACES_OFFSET_BYTES + slot % PLACES * LINE_BYTES
    }

    /// Where `kernel` says which incarnation of a place is over.
    fn over_offset_bytes(&self, kernel: u32, slot: usize) -> usize {
        block_offset_bytes(&self.head, kernel) + OVER_OFFSET_BYTES + slot * 8
    }

    fn mark(&self, slot: usize) -> Result<Mark> {
        let word = self.window.load_word(self.offset_bytes(slot))?;
        Mark::parse(word).map_err(fault)
    }

    /// Whether any kernel says that the incarnation of the place is over.
    fn is_over(&self, slot: usize, incarnation: u64) -> Result<bool> {
        for kernel in 0..self.head.kernels {
            let at = self.over_offset_bytes(kernel, slot);
            if self.window.load_word(at)? >= incarnation {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The contents of place `slot`.
    pub(crate) fn slot(&self, slot: usize) -> Result<Slot> {
        let mut line: Bytes = [0; LINE_BYTES];
        let at = self.offset_bytes(slot);
        let mut mark = self.mark(slot)?;
        for _ in 0..ATTEMPTS {
            if mark.state == SlotState::Free {
                break;
            }
            // The mark again behind its entry: what follows a get comes after it.
            self.window.get(at, &mut line)?;
            let again = self.mark(slot)?;
            if again == mark {
                break;
            }
            mark = again;
        }
        if mark.state == SlotState::Free || self.is_over(slot, mark.incarnation)? {
            let mark = mark.with(SlotState::Free);
            return Ok(Slot { mark, entry: None });
        }
        let entry = Some(JobEntry::parse(&line, &self.head));
        Ok(Slot { mark, entry })
    }

    /// All places that are not free, with their numbers.
    pub(crate) fn taken(&self) -> Result<Vec<(usize, Slot)>> {
        let mut taken = Vec::new();
        for kernel in 0..self.head.kernels {
            // A kernel gets its number before it claims anything.
            if !kernels::is_had(&self.window, &self.head, kernel)? {
                continue;
            }
            for slot in places_of(kernel) {
                let found = self.slot(slot)?;
                if found.mark.state != SlotState::Free {
                    taken.push((slot, found));
                }
            }
        }
        Ok(taken)
    }

    /// Whether the job is still where it was.
    pub(crate) fn holds(&self, place: &JobSlot) -> Result<bool> {
        Ok(self.mark(place.slot)? == place.mark(SlotState::Running)
            && !self.is_over(place.slot, place.incarnation)?)
    }

    /// The job with this place, incarnation and key.
    ///
    /// # Errors
    /// [`RegionFault::Incarnation`], [`RegionFault::Held`], [`RegionFault::Damaged`].
    pub(crate) fn find(&self, slot: usize, incarnation: u64, key: u128) -> Result<JobSlot> {
        let found = self.slot(slot.min(self.head.places() - 1))?;
        let theirs = found.mark.incarnation;
        let entry = match found.entry {
            Some(entry) if theirs == incarnation && found.mark.state == SlotState::Running => {
                entry.map_err(fault)?
            }
            _ => {
                let ours = incarnation;
                return Err(fault(RegionFault::Incarnation { theirs, ours }));
            }
        };
        // Constant time is not needed: a process that can read the entry can read the key.
        match entry.key == key && slot < self.head.places() {
            true => Ok(JobSlot {
                slot,
                incarnation,
                entry,
            }),
            false => Err(fault(RegionFault::Held)),
        }
    }

    /// Takes a place of `kernel` and units for a job. The bytes are not zeroed. The caller must have the turn.
    ///
    /// # Errors
    /// [`RegionFault::Full`], [`RegionFault::Damaged`].
    pub(crate) fn claim(
        &self,
        kernel: u32,
        key: u128,
        pes: u32,
        segment_bytes: u64,
    ) -> Result<JobSlot> {
        let wanted = Span::bytes(pes, segment_bytes).unwrap_or(u64::MAX);
        let units = u32::try_from(wanted.div_ceil(ALIGN_BYTES));
        let (Ok(units), Some((slot, old))) = (units, self.free_slot(kernel)?) else {
            return Err(self.full(wanted));
        };
        let mut place = JobSlot {
            slot,
            incarnation: old.incarnation,
            entry: JobEntry {
                key,
                first_unit: 0,
                units,
                pes,
                segment_bytes,
            },
        };
        for _ in 0..ATTEMPTS {
            let others = self.others(slot)?;
            let Some(first_unit) = gap(&others, units, self.head.units()) else {
                let may_leave = |other: &Other| other.state == SlotState::Wanted;
                if !others.iter().any(may_leave) {
                    break;
                }
                pause();
                continue;
            };
            place.entry.first_unit = first_unit;
            place.incarnation = next(place.incarnation);
            self.write(&place, SlotState::Wanted)?;
            if self.has_alone(&place)? {
                self.set(slot, place.mark(SlotState::Claimed))?;
                return Ok(place);
            }
            self.set(slot, place.mark(SlotState::Free))?;
        }
        Err(self.full(wanted))
    }

    /// A place of the kernel that may be taken. A pending request in one of them is from a dead process, because
    /// its turn is over.
    fn free_slot(&self, kernel: u32) -> Result<Option<(usize, Mark)>> {
        let mut free = None;
        for slot in places_of(kernel) {
            let mark = self.slot(slot)?.mark;
            if matches!(mark.state, SlotState::Free | SlotState::Wanted) {
                self.set(slot, mark.with(SlotState::Free))?;
                free = free.or(Some((slot, mark)));
            }
        }
        Ok(free)
    }

    /// The units of all places other than `slot`.
    fn others(&self, slot: usize) -> Result<Vec<Other>> {
        let mut others = Vec::new();
        for (slot, found) in self.taken()?.into_iter().filter(|(it, _)| *it != slot) {
            let Some(entry) = found.entry else { continue };
            let entry = entry.map_err(fault)?;
            others.push(Other {
                kernel: kernel_of(slot),
                state: found.mark.state,
                units: entry.first_unit..entry.first_unit + entry.units,
            });
        }
        Ok(others)
    }

    /// Whether no other place has any units of this place, which is already visible to others. Of two requests,
    /// the one of the higher kernel number gives way, and the other one waits for that.
    fn has_alone(&self, place: &JobSlot) -> Result<bool> {
        hostwire_transport::site!(
            "claim: seen before the others are looked at",
            self.window.visibility().quiet()
        );
        let (first, end) = (
            place.entry.first_unit,
            place.entry.first_unit + place.entry.units,
        );
        for _ in 0..LOOKS {
            let mut others = self.others(place.slot)?;
            others.retain(|other| other.units.start < end && first < other.units.end);
            let gives_way = |other: &Other| {
                other.state == SlotState::Wanted && other.kernel > kernel_of(place.slot)
            };
            match others.iter().all(gives_way) {
                true if others.is_empty() => return Ok(true),
                true => pause(),
                false => return Ok(false),
            }
        }
        Ok(false)
    }

    fn full(&self, wanted: u64) -> TransportError {
        let taken = self.taken().unwrap_or_default();
        let units = taken.iter().map(|(_, slot)| match &slot.entry {
            Some(Ok(entry)) => u64::from(entry.units),
            _ => 0,
        });
        fault(RegionFault::Full {
            jobs: taken.len(),
            used: (units.sum::<u64>() + 1) * ALIGN_BYTES,
            all: self.head.size_bytes,
            wanted,
        })
    }

    /// From now on others see the job. The caller must have the turn.
    ///
    /// # Errors
    /// [`RegionFault::Held`] if others have declared it over.
    pub(crate) fn run(&self, place: &JobSlot) -> Result<()> {
        if self.mark(place.slot)? == place.mark(SlotState::Claimed) {
            self.set(place.slot, place.mark(SlotState::Running))?;
            self.window.visibility().quiet();
            if self.holds(place)? {
                return Ok(());
            }
        }
        Err(fault(RegionFault::Held))
    }

    /// Takes the units of a job that is over, until they have been zeroed. `None` if others have some of them
    /// already. The caller must have the turn, and its kernel the place.
    pub(crate) fn retake(&self, place: &JobSlot) -> Result<Option<JobSlot>> {
        let retaken = JobSlot {
            incarnation: next(place.incarnation),
            ..*place
        };
        self.set(place.slot, retaken.mark(SlotState::Claimed))?;
        match self.has_alone(&retaken)? {
            true => Ok(Some(retaken)),
            false => {
                self.set(place.slot, retaken.mark(SlotState::Free))?;
                Ok(None)
            }
        }
    }

    /// Frees the place and its units. `kernel` is the kernel that frees them. The caller must have the turn.
    pub(crate) fn free(&self, kernel: u32, slot: usize, mark: Mark) -> Result<()> {
        if kernel == kernel_of(slot) {
            self.set(slot, mark.with(SlotState::Free))?;
        } else {
            let at = self.over_offset_bytes(kernel, slot);
            self.window.put_word(at, mark.incarnation)?;
        }
        self.window.visibility().quiet();
        Ok(())
    }

    pub(super) fn write(&self, place: &JobSlot, state: SlotState) -> Result<()> {
        let line = place.entry.emit();
        let at = self.offset_bytes(place.slot) + 8;
        hostwire_transport::site!(
            "place: free before its entry changes",
            self.window.visibility().store_fence()
        );
        self.window.put(at, line.get(8..).unwrap_or_default())?;
        self.set(place.slot, place.mark(state))
    }

    pub(super) fn set(&self, slot: usize, mark: Mark) -> Result<()> {
        self.window
            .put_word(self.offset_bytes(slot), mark.to_word())
    }
}

/// The units that another place has or wants.
struct Other {
    kernel: u32,
    state: SlotState,
    units: core::ops::Range<u32>,
}

/// The first of so many adjacent units between 1 and `end` that no place has or wants.
fn gap(others: &[Other], units: u32, end: u32) -> Option<u32> {
    let behind = others.iter().map(|other| other.units.end);
    let mut firsts: Vec<u32> = behind.chain([1]).collect();
    firsts.sort_unstable();
    firsts.into_iter().find(|first| {
        let last = first.saturating_add(units);
        let is_apart = |other: &Other| last <= other.units.start || other.units.end <= *first;
        last <= end && others.iter().all(is_apart)
    })
}

/// Lets others continue.
fn pause() {
    if !cfg!(memory_model) {
        std::thread::sleep(PAUSE);
    }
}

/// The next incarnation: it has less than 56 bits.
const fn next(incarnation: u64) -> u64 {
    (incarnation + 1) & (u64::MAX >> 16)
}

const fn places_of(kernel: u32) -> core::ops::Range<usize> {
    let first = kernel as usize * PLACES;
    first..first + PLACES
}

/// The kernel of this place.
pub(crate) const fn kernel_of(slot: usize) -> u32 {
    (slot / PLACES) as u32
}

impl JobSlot {
    pub(crate) fn mark(&self, state: SlotState) -> Mark {
        Mark {
            incarnation: self.incarnation,
            state,
        }
    }

    /// Where in the region its units begin.
    pub(crate) fn offset_bytes(&self) -> u64 {
        u64::from(self.entry.first_unit) * ALIGN_BYTES
    }
}

/// The name of a contract in settings.
pub const fn contract_name(contract: Visibility) -> &'static str {
    match contract {
        Visibility::Coherent => "coherent",
        Visibility::Flushed => "flushed",
        Visibility::WriteCombining => "write-combining",
    }
}

#[cfg(test)]
mod tests {
    use hostwire_transport::error::EnvironmentFault;

    use super::*;

    const MIB: u64 = 1 << 20;
    const CONTRACTS: [Visibility; 3] = [
        Visibility::Coherent,
        Visibility::Flushed,
        Visibility::WriteCombining,
    ];

    fn table(contract: Visibility, units: u64) -> Table {
        let memory = Memory::anonymous(ALIGN_BYTES as usize);
        let head = Head::new(contract, units * ALIGN_BYTES, 7);
        let made = Table::make(memory.clone(), head).unwrap();
        assert_eq!(Table::open(memory).unwrap().head(), made.head());
        made
    }

    /// A job of one PE, begun by the kernel with this epoch.
    fn claim_by(table: &Table, epoch: u64, segment_mib: u64) -> Result<JobSlot> {
        let kernel = table.enter(epoch, epoch)?;
        let place = table.claim(kernel, 5, 1, segment_mib * MIB)?;
        table.run(&place)?;
        Ok(place)
    }

    fn claim(table: &Table, segment_mib: u64) -> Result<JobSlot> {
        claim_by(table, 9, segment_mib)
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
        for contract in CONTRACTS {
            let table = table(contract, 16);
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
            // Freed units can be taken again, by another incarnation.
            table.free(0, 0, a.mark(SlotState::Running)).unwrap();
            assert!(!table.holds(&a).unwrap());
            let c = claim(&table, 6).unwrap();
            assert_eq!((c.slot, c.entry.first_unit), (0, 1));
            assert!(c.incarnation > a.incarnation);
            assert!(!table.holds(&a).unwrap() && table.holds(&c).unwrap());
        }
    }

    #[test]
    fn kernels_have_numbers_until_there_are_no_more() {
        let table = table(Visibility::Flushed, 8);
        for epoch in 1..=64 {
            assert_eq!(table.enter(epoch, epoch).unwrap(), epoch as u32 - 1);
        }
        assert_eq!(table.enter(7, 65).unwrap(), 6, "it has one");
        let kernels = 64;
        let refused = region_fault(table.enter(65, 65));
        assert_eq!(refused, Some(RegionFault::Kernels { kernels }));
    }

    #[test]
    fn a_kernel_says_what_is_over_of_another_and_never_of_a_later_job() {
        let table = table(Visibility::Flushed, 8);
        let a = claim_by(&table, 3, 10).unwrap();
        assert!(claim_by(&table, 4, 10).is_err());
        table.free(1, a.slot, a.mark(SlotState::Running)).unwrap();
        assert!(!table.holds(&a).unwrap());
        let b = claim_by(&table, 4, 10).unwrap();
        assert_eq!((b.slot, b.entry.first_unit), (PLACES, 1));
        // A late `retake` does not take units that others have now.
        assert_eq!(table.retake(&a).unwrap(), None);
        table.free(1, b.slot, b.mark(SlotState::Running)).unwrap();
        let c = claim_by(&table, 3, 10).unwrap();
        assert_eq!(c.slot, a.slot);
        table.free(1, a.slot, a.mark(SlotState::Running)).unwrap();
        assert!(table.holds(&c).unwrap());
        let retaken = table.retake(&c).unwrap().unwrap();
        assert!(!table.holds(&c).unwrap());
        table
            .free(0, c.slot, retaken.mark(SlotState::Claimed))
            .unwrap();
        assert_eq!(table.taken().unwrap(), []);
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
    fn what_a_process_wanted_that_has_ended_is_free_to_its_kernel() {
        let table = table(Visibility::Flushed, 8);
        let a = claim(&table, 8).unwrap();
        table.set(a.slot, a.mark(SlotState::Wanted)).unwrap();
        let b = claim(&table, 8).unwrap();
        assert_eq!((b.slot, b.entry.first_unit), (a.slot, 1));
        assert!(b.incarnation > a.incarnation);
        assert_eq!(region_fault(table.run(&a)), Some(RegionFault::Held));
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
        memory.copy_in(table.offset_bytes(0) + 30, &[9]).unwrap();
        for damaged in [
            region_fault(table.find(0, a.incarnation, 5)),
            region_fault(claim(&table, 2)),
        ] {
            assert!(matches!(damaged, Some(RegionFault::Damaged { .. })));
        }
        memory.copy_in(table.offset_bytes(1), &[9]).unwrap();
        let damaged = region_fault(table.taken());
        assert!(matches!(damaged, Some(RegionFault::Damaged { .. })));
    }

    #[test]
    fn gaps_are_found_between_others_and_behind_them() {
        let other = |units| Other {
            kernel: 0,
            state: SlotState::Running,
            units,
        };
        let others = [other(5..7), other(1..3)];
        assert_eq!(gap(&others, 2, 9), Some(3));
        assert_eq!(gap(&others, 3, 10), Some(7));
        assert_eq!(gap(&others, 3, 9), None);
        assert_eq!(gap(&[], u32::MAX, 9), None);
        assert_eq!(gap(&[], 8, 9), Some(1));
    }
}
