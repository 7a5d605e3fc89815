//! A report about a region, for people.

use super::format::{ALIGN_BYTES, Head, SlotState};
use super::living::Verdict;
use super::{Region, Result};

/// A region and the jobs in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// Its header.
    pub head: Head,
    /// Bytes that jobs and tables have.
    pub used_bytes: u64,
    /// Its jobs, by place.
    pub jobs: Vec<JobReport>,
}

/// A job in a region.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobReport {
    /// The number of its place.
    pub slot: usize,
    /// Counts the jobs that have had the place.
    pub incarnation: u64,
    /// Bytes that it has.
    pub bytes: u64,
    /// Its PEs; empty while it begins.
    pub pes: Vec<PeReport>,
}

/// A PE of such a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeReport {
    /// The number of its process, on its host.
    pub process: u32,
    /// The epoch of its host.
    pub epoch: u64,
    /// Where its segment begins.
    pub segment_offset_bytes: u64,
    /// Whether it has left in order.
    pub has_left: bool,
    /// Whether it lives. `None` if only its host knows.
    pub lives: Option<bool>,
}

impl Region {
    /// The present contents of the region.
    ///
    /// # Errors
    /// [`RegionFault::Damaged`](hostwire_transport::error::RegionFault::Damaged).
    pub fn report(&self) -> Result<Report> {
        let mut jobs = Vec::new();
        let taken = self.table.taken();
        for (slot, found) in taken.map_err(|error| super::of_file(&self.file, error))? {
            let mut job = JobReport {
                slot,
                incarnation: found.mark.incarnation,
                bytes: 0,
                pes: Vec::new(),
            };
            if let Some(place) = self.place_of(slot, &found)? {
                job.bytes = self.bytes_of(&place);
                let lines = self.lines(&place)?;
                for pe in 0..place.entry.pes {
                    let line = lines.read(pe)?;
                    job.pes.push(PeReport {
                        process: line.process,
                        epoch: line.epoch,
                        segment_offset_bytes: line.segment_offset_bytes,
                        has_left: line.mark == place.mark(SlotState::LEFT),
                        lives: match self.pe_lives(&place, pe, &line)? {
                            Verdict::Living => Some(true),
                            Verdict::Dead => Some(false),
                            Verdict::Unknown => None,
                        },
                    });
                }
            }
            jobs.push(job);
        }
        let jobs_bytes: u64 = jobs.iter().map(|job| job.bytes).sum();
        Ok(Report {
            head: *self.head(),
            used_bytes: jobs_bytes + ALIGN_BYTES,
            jobs,
        })
    }
}
