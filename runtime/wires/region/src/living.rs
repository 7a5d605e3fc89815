//! Whether the jobs of a region still live.
//!
//! A PE of this kernel holds a lock on the first byte of its line. A PE of another kernel stores new
//! beats there, and only waiting shows whether it does.

use std::time::{Duration, Instant};

use hostwire_transport::error::{RegionFault, TransportError};
use hostwire_transport::shm::LivenessWatch;

use super::file::epoch;
use super::format::{LINE_BYTES, Mark, PeLine, SlotState, Span};
use super::lines::Lines;
use super::table::{JobSlot, Slot};
use super::{Region, Result};

/// How often to look for beats.
const LOOK: Duration = Duration::from_millis(50);

/// What is known about a job without waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Living,
    Dead,
    /// Only its beats show whether it lives.
    Unknown,
}

impl Region {
    /// The locks of the PEs of a job.
    pub(super) fn locks(&self, place: &JobSlot) -> LivenessWatch {
        let lines = Span::lines_offset_bytes(place.entry.pes) as u64;
        LivenessWatch::locks_at(
            self.file.file.clone(),
            self.at(place) + lines,
            LINE_BYTES as u64,
        )
    }

    /// The lines of the PEs of a job.
    pub(super) fn lines(&self, place: &JobSlot) -> Result<Lines> {
        let front = self.front(place)?;
        Lines::new(&front, place.entry.pes, self.head().contract)
    }

    /// What is known about a PE without waiting.
    pub(super) fn pe_lives(&self, place: &JobSlot, pe: u32, line: &PeLine) -> Result<Verdict> {
        if line.mark == place.mark(SlotState::LEFT) {
            return Ok(Verdict::Dead);
        }
        // The PE may be about to join.
        if line.mark != place.mark(SlotState::JOINED) || line.epoch == 0 || line.epoch != epoch() {
            return Ok(Verdict::Unknown);
        }
        Ok(match self.locks(place).is_alive(pe)? {
            true => Verdict::Living,
            // A process does not see its own locks.
            false if line.process == std::process::id() => Verdict::Unknown,
            false => Verdict::Dead,
        })
    }

    fn verdict(&self, place: &JobSlot) -> Result<Verdict> {
        let lines = self.lines(place)?;
        let mut all = Verdict::Dead;
        for pe in 0..place.entry.pes {
            match self.pe_lives(place, pe, &lines.read(pe)?)? {
                Verdict::Living => return Ok(Verdict::Living),
                Verdict::Unknown => all = Verdict::Unknown,
                Verdict::Dead => {}
            }
        }
        Ok(all)
    }

    /// The job at a taken place. `None` while it is not visible yet.
    pub(super) fn place_of(&self, slot: usize, found: &Slot) -> Result<Option<JobSlot>> {
        let (Some(entry), SlotState::Running) = (&found.entry, found.mark.state) else {
            return Ok(None);
        };
        Ok(Some(JobSlot {
            slot,
            incarnation: found.mark.incarnation,
            entry: entry.clone().map_err(|fault| self.file.fault(fault))?,
        }))
    }

    /// Whether any of its beats changes within that time.
    fn moves(&self, slot: usize, found: &Slot, within: Duration) -> Result<bool> {
        let place = self.place_of(slot, found)?;
        let lines = place.as_ref().map(|place| self.lines(place)).transpose()?;
        let pes = place.map_or(0, |place| place.entry.pes);
        let beats = || -> Result<(Mark, Vec<u64>)> {
            let beats = lines
                .iter()
                .flat_map(|lines| (0..pes).map(|pe| Ok(lines.read(pe)?.beat)));
            Ok((self.table.slot(slot)?.mark, beats.collect::<Result<_>>()?))
        };
        let before = beats()?;
        let begin = Instant::now();
        while begin.elapsed() < within {
            std::thread::sleep(LOOK.min(within));
            if beats()? != before {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Frees the places of dead jobs, and returns their number. Jobs of other kernels are watched
    /// for that time, if one is given.
    ///
    /// # Errors
    /// [`RegionFault::Damaged`].
    pub fn take_back(&self, watched: Option<Duration>) -> Result<usize> {
        let mut freed = 0;
        for (slot, found) in self
            .table
            .taken()
            .map_err(|e| super::of_file(&self.file, e))?
        {
            let place = self.place_of(slot, &found)?;
            let verdict = match &place {
                Some(place) => self.verdict(place)?,
                None => Verdict::Unknown,
            };
            let is_dead = match (verdict, watched) {
                (Verdict::Dead, _) => true,
                (Verdict::Unknown, Some(time)) => !self.moves(slot, &found, time)?,
                _ => false,
            };
            if is_dead {
                freed += usize::from(self.release(slot, &found)?);
            }
        }
        Ok(freed)
    }

    /// How many jobs may live.
    pub(super) fn living(&self) -> Result<usize> {
        let mut living = 0;
        for (slot, found) in self.table.taken()? {
            // A damaged entry belongs to no job.
            let Ok(place) = self.place_of(slot, &found) else {
                continue;
            };
            let verdict = place.map_or(Ok(Verdict::Unknown), |place| self.verdict(&place));
            living += usize::from(verdict? != Verdict::Dead);
        }
        Ok(living)
    }

    /// Checks that the place exists.
    pub(super) fn check_slot(&self, slot: u32) -> Result<usize, TransportError> {
        let slot = slot as usize;
        let part = "the ticket of the job";
        match slot < self.head().places() {
            true => Ok(slot),
            false => Err(self.file.fault(RegionFault::Damaged { part })),
        }
    }
}
