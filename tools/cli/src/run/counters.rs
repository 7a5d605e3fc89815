//! The launcher's side of the counters: make the file, print it at the end.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use hostwire::counters::{RECORD_BYTES, create};
use hostwire::settings::{WireChoice, WireName};
use rustix::io::Errno;

use crate::stats;

/// The memory file in which each PE shows what its wire counts.
#[derive(Debug)]
pub struct Counters {
    fd: Arc<OwnedFd>,
}

impl Counters {
    /// For `pes` PEs.
    pub fn new(pes: u32) -> Result<Counters, Errno> {
        Ok(Counters {
            fd: Arc::new(create(pes)?),
        })
    }

    /// The descriptor, to be inherited.
    pub fn fd(&self) -> &Arc<OwnedFd> {
        &self.fd
    }

    /// The record of `pe`, for a launcher on another host.
    pub fn record(&self, pe: u32) -> Vec<u8> {
        let mut record = vec![0; RECORD_BYTES];
        let at = u64::from(pe) * RECORD_BYTES as u64;
        let read = rustix::io::pread(&*self.fd, &mut record, at).unwrap_or(0);
        record.truncate(read);
        record
    }

    /// Notes the record of a PE on another host.
    pub fn mirror(&self, pe: u32, record: &[u8]) {
        let record = record.get(..RECORD_BYTES).unwrap_or(record);
        let _ = rustix::io::pwrite(&*self.fd, record, u64::from(pe) * RECORD_BYTES as u64);
    }

    /// Prints the counters.
    pub fn print(&self, choice: WireChoice) {
        let records = stats::read(&*self.fd);
        // Only a PE that has joined a job of several PEs says which wire it has taken.
        let wire = choice.named().unwrap_or(WireName::Shm).name();
        let wire = records.first().map_or(wire, |record| &record.wire);
        let title = format!("what the wire {wire} has counted");
        stats::print_table(&title, &records);
    }
}
