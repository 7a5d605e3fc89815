//! The files that a recorded run on modelled hardware leaves.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use hostwire_sim::record::{Recording, TimeUnit};

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
            File::create(path).map_err(|error| failed(path, &error))?;
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
    what: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), String> {
    let written = File::create(path).and_then(|file| {
        let mut out = BufWriter::new(file);
        what(&mut out)?;
        out.flush()
    });
    written.map_err(|error| failed(path, &error))
}

fn failed(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}
