//! The launcher's side of the counters: make the file, print it at the end.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use hostwire::counters::create;
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
