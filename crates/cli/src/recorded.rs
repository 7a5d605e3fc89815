//! The files that a recorded run on modelled hardware leaves.

use std::path::{Path, PathBuf};

use hostwire_sim::record::{Recording, TimeUnit};

use crate::file;

/// Where a recording goes.
#[derive(Debug, Clone, Default)]
pub struct Recorded {
    /// A Perfetto trace.
    pub trace: Option<PathBuf>,
    /// A packet capture.
    pub pcap: Option<PathBuf>,
}

impl Recorded {
    /// Whether anything is to be recorded.
    pub fn is_wanted(&self) -> bool {
        self.trace.is_some() || self.pcap.is_some()
    }

    /// Whether the files can be made: better said before a long run than behind it.
    ///
    /// # Errors
    /// A text that names the file.
    pub fn check(&self) -> Result<(), String> {
        for path in self.trace.iter().chain(&self.pcap) {
            file::check(path)?;
        }
        Ok(())
    }

    /// Writes the files.
    ///
    /// # Errors
    /// A text that names the file.
    pub fn write(&self, recording: &Recording) -> Result<(), String> {
        if let Some(path) = &self.pcap {
            write(path, |out| recording.write_pcapng(out))?;
        }
        if let Some(path) = &self.trace {
            write(path, |out| {
                recording.write_perfetto(out, TimeUnit::Picoseconds)
            })?;
        }
        Ok(())
    }
}

fn write(
    path: &Path,
    what: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
) -> Result<(), String> {
    let mut bytes = Vec::new();
    what(&mut bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    file::write_whole(path, &bytes)
}
