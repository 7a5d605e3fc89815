//! The shadow of symmetric memory: for each 8 bytes the accesses that still matter.
//!
//! Every access is recorded and compared with all recorded ones. A record is dropped only if
//! a later access replaces it: one that conflicts with everything with which the dropped one
//! conflicts, and that cannot be known to others without the dropped one.

use super::access::{Access, Footprint};
use super::clock::Clock;

const GRANULE_BYTES: usize = 8;
const PAGE_BYTES: usize = 4096;
const GRANULES: usize = PAGE_BYTES / GRANULE_BYTES;

/// An access to some bytes of a granule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cell {
    access: Access,
    mask: u8,
}

/// The first of them is at hand.
#[derive(Debug, Default)]
struct Granule {
    first: Option<Cell>,
    #[expect(
        clippy::box_collection,
        reason = "most granules have none: a word less for each"
    )]
    more: Option<Box<Vec<Cell>>>,
}

/// See the [module text](self). Offsets are those of the memory that is looked after.
#[derive(Debug, Default)]
pub(super) struct Shadow {
    pages: Vec<Option<Box<[Granule]>>>,
}

/// Two accesses to the byte at `offset` without an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conflict {
    pub(super) offset: usize,
    pub(super) before: Access,
}

/// The most conflicts that are reported for one access: they seldom belong to more than
/// one place.
const CONFLICTS_MAX: usize = 8;

/// Which bytes of the granule at `granule` lie in `start..end`.
fn mask(granule: usize, start: usize, end: usize) -> u8 {
    let first = start.max(granule) - granule;
    let last = end.min(granule + GRANULE_BYTES) - granule;
    (((1u16 << last) - 1) & !((1u16 << first) - 1)) as u8
}

impl Shadow {
    fn granule(&mut self, offset: usize) -> &mut Granule {
        let page = offset / PAGE_BYTES;
        if self.pages.len() <= page {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page]
            .get_or_insert_with(|| (0..GRANULES).map(|_| Granule::default()).collect());
        &mut page[offset % PAGE_BYTES / GRANULE_BYTES]
    }

    /// Records an access of a PE with `clock` to memory of `owner`.
    pub(super) fn record(
        &mut self,
        footprint: Footprint,
        access: &Access,
        clock: &Clock,
        owner: u32,
    ) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        for (start, len) in footprint.runs() {
            let end = start.saturating_add(len);
            let first = start / GRANULE_BYTES * GRANULE_BYTES;
            for offset in (first..end).step_by(GRANULE_BYTES) {
                let cell = Cell {
                    access: *access,
                    mask: mask(offset, start, end),
                };
                let granule = self.granule(offset);
                granule.record(offset, cell, clock, owner, &mut conflicts);
            }
        }
        conflicts
    }

    /// The accesses that are not ordered before an access to these bytes; records
    /// nothing.
    pub(super) fn check(
        &mut self,
        footprint: Footprint,
        access: &Access,
        clock: &Clock,
        owner: u32,
    ) -> Vec<Conflict> {
        let mut conflicts = Vec::new();
        self.each(footprint, |offset, mask, granule| {
            for cell in granule.cells().filter(|cell| cell.mask & mask != 0) {
                note(offset, cell, access, clock, owner, &mut conflicts);
            }
        });
        conflicts
    }

    /// These bytes are new: no PE has used them.
    pub(super) fn forget(&mut self, start: usize, len: usize) {
        self.each(Footprint::run(start, len), |_, mask, granule| {
            granule.change(|cell| {
                cell.mask &= !mask;
                cell.mask != 0
            });
        });
    }

    /// Open accesses that `is_over` picks are over by now, as this thread knows.
    pub(super) fn close(
        &mut self,
        footprint: Footprint,
        is_over: impl Fn(&Access) -> bool,
        (thread, epoch): (u16, u64),
    ) {
        self.each(footprint, |_, mask, granule| {
            granule.change(|cell| {
                if cell.mask & mask != 0 && cell.access.is_open && is_over(&cell.access) {
                    let access = &mut cell.access;
                    (access.is_open, access.thread, access.epoch) = (false, thread, epoch);
                }
                true
            });
        });
    }

    /// Those granules of the footprint that anybody has used, with the bytes.
    fn each(&mut self, footprint: Footprint, mut each: impl FnMut(usize, u8, &mut Granule)) {
        for (start, len) in footprint.runs() {
            let end = start.saturating_add(len);
            let mut offset = start / GRANULE_BYTES * GRANULE_BYTES;
            while offset < end {
                let Some(Some(page)) = self.pages.get_mut(offset / PAGE_BYTES) else {
                    offset = (offset / PAGE_BYTES + 1).saturating_mul(PAGE_BYTES);
                    continue;
                };
                let granule = &mut page[offset % PAGE_BYTES / GRANULE_BYTES];
                each(offset, mask(offset, start, end), granule);
                offset += GRANULE_BYTES;
            }
        }
    }
}

fn note(
    offset: usize,
    old: &Cell,
    access: &Access,
    clock: &Clock,
    owner: u32,
    conflicts: &mut Vec<Conflict>,
) -> bool {
    if old.access.is_program_order(access) {
        return true;
    }
    let is_before = old.access.is_before(access, clock, owner);
    if !is_before && old.access.kind.conflicts_with(access.kind) {
        let is_new = |known: &Conflict| known.before.place != old.access.place;
        if conflicts.len() < CONFLICTS_MAX && conflicts.iter().all(is_new) {
            conflicts.push(Conflict {
                offset: offset + old.mask.trailing_zeros() as usize,
                before: old.access,
            });
        }
    }
    is_before
}

impl Granule {
    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.first
            .iter()
            .chain(self.more.iter().flat_map(|more| more.iter()))
    }

    /// Keeps the cells for which `change` returns true.
    fn change(&mut self, mut change: impl FnMut(&mut Cell) -> bool) {
        if let Some(more) = &mut self.more {
            more.retain_mut(&mut change);
            if more.is_empty() {
                self.more = None;
            }
        }
        if let Some(first) = &mut self.first
            && !change(first)
        {
            self.first = self.more.as_mut().and_then(|more| more.pop());
        }
    }

    fn record(
        &mut self,
        offset: usize,
        new: Cell,
        clock: &Clock,
        owner: u32,
        conflicts: &mut Vec<Conflict>,
    ) {
        let is_known = |old: &Cell| old.access == new.access && old.mask & new.mask == new.mask;
        if self.first.as_ref().is_some_and(is_known) {
            return;
        }
        let mut merged = false;
        self.change(|old| {
            if old.access == new.access {
                old.mask |= new.mask;
                merged = true;
                return true;
            }
            if old.mask & new.mask == 0 {
                return true;
            }
            let is_before = note(offset, old, &new.access, clock, owner, conflicts);
            if new.access.replaces(&old.access, is_before) {
                old.mask &= !new.mask;
            }
            old.mask != 0
        });
        if !merged {
            // In front: the next access is likely to be the same once more.
            if let Some(old) = self.first.replace(new) {
                let more = self.more.get_or_insert_default();
                // There are many of these, and each has one or two.
                more.reserve_exact(1);
                more.push(old);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::access::Kind;
    use super::super::clock::{DEFAULT, STORES, Who};
    use super::*;

    fn access(pe: u32, epoch: u64, kind: Kind, is_open: bool) -> Access {
        Access {
            pe,
            thread: 0,
            epoch,
            fenced: 0,
            place: u64::from(pe) << 32 | epoch,
            kind,
            slot: if is_open { DEFAULT } else { STORES },
            is_open,
            name: 0,
        }
    }

    #[test]
    fn only_bytes_that_overlap_conflict() {
        let clock = Clock::new(2);
        let mut shadow = Shadow::default();
        let put = access(1, 1, Kind::Put, true);
        assert!(
            shadow
                .record(Footprint::run(4092, 6), &put, &clock, 0)
                .is_empty()
        );
        let load = access(0, 1, Kind::Load, false);
        for (start, len, expected) in [
            (4088, 4, None),
            (4091, 1, None),
            (4091, 2, Some(4092)),
            (4097, 1, Some(4096)),
            (4098, 6, None),
        ] {
            let found = shadow.check(Footprint::run(start, len), &load, &clock, 0);
            assert_eq!(found.first().map(|found| found.offset), expected, "{start}");
        }
    }

    #[test]
    fn what_is_between_strides_is_free() {
        let clock = Clock::new(2);
        let mut shadow = Shadow::default();
        let strided = Footprint {
            start: 0,
            block_bytes: 4,
            stride_bytes: 8,
            blocks: 8,
        };
        let put = access(1, 1, Kind::Put, true);
        shadow.record(strided, &put, &clock, 0);
        let store = access(0, 1, Kind::Store, true);
        assert!(shadow.record(strided.at(4), &store, &clock, 0).is_empty());
        assert_eq!(shadow.record(strided, &store, &clock, 0).len(), 1);
    }

    #[test]
    fn a_race_is_found_whoever_comes_first() {
        let clock = Clock::new(3);
        let (put, get) = (
            access(1, 1, Kind::Put, true),
            access(2, 1, Kind::Get, false),
        );
        for [first, second] in [[put, get], [get, put]] {
            let mut shadow = Shadow::default();
            let place = Footprint::run(64, 8);
            assert!(shadow.record(place, &first, &clock, 0).is_empty());
            let found = shadow.record(place, &second, &clock, 0);
            assert_eq!(found.len(), 1);
            assert_eq!(found[0].before, first);
        }
    }

    #[test]
    fn reads_of_all_pes_are_kept_until_a_write_that_knows_them() {
        let mut shadow = Shadow::default();
        let place = Footprint::run(0, 8);
        let clock = Clock::new(3);
        for pe in [1, 2] {
            shadow.record(place, &access(pe, 5, Kind::Get, false), &clock, 0);
        }
        // It knows of one of them only.
        let mut clock = Clock::new(3);
        clock.pass(Who::first(2), 5);
        let found = shadow.record(place, &access(0, 1, Kind::Store, true), &clock, 0);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].before.pe, 1);
        let left: Vec<u32> = shadow
            .granule(0)
            .cells()
            .map(|cell| cell.access.pe)
            .collect();
        assert_eq!(
            left,
            [0, 1],
            "the read that is before the write is not needed"
        );
    }

    #[test]
    fn memory_that_is_new_has_no_past() {
        let clock = Clock::new(2);
        let mut shadow = Shadow::default();
        shadow.record(
            Footprint::run(0, 64),
            &access(1, 1, Kind::Put, true),
            &clock,
            0,
        );
        shadow.forget(0, 60);
        let load = access(0, 1, Kind::Load, false);
        assert!(
            shadow
                .check(Footprint::run(0, 60), &load, &clock, 0)
                .is_empty()
        );
        assert_eq!(
            shadow.check(Footprint::run(56, 8), &load, &clock, 0).len(),
            1
        );
    }
}
