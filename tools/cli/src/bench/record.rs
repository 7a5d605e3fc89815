//! Brings the figures from the PEs to the command that started them: PE 0 writes each as a
//! line of JSON to a file without a name, which goes away with the command.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

use super::report::Line;

/// The command's end.
pub struct Record {
    file: File,
}

impl Record {
    /// A file that only the processes of this user can open.
    pub fn new() -> io::Result<Record> {
        let file = memfd_create("hostwire-bench", MemfdFlags::CLOEXEC)?;
        Ok(Record { file: file.into() })
    }

    /// The path that PEs open.
    pub fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.file.as_raw_fd())
    }

    /// Adds a figure of the command's own.
    pub fn add(&mut self, line: &Line) -> io::Result<()> {
        self.file.seek(SeekFrom::End(0))?;
        append(&self.file, line)
    }

    /// All figures so far.
    pub fn lines(&mut self) -> io::Result<Vec<Line>> {
        let mut text = String::new();
        self.file.rewind()?;
        self.file.read_to_string(&mut text)?;
        let lines = text.lines().map(serde_json::from_str);
        Ok(lines.collect::<Result<_, _>>()?)
    }
}

/// PE 0's end. To be opened before a wire gives up rights that opening needs.
pub fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Adds a figure to the file of a [`Record`].
pub fn append(mut file: &File, line: &Line) -> io::Result<()> {
    let mut text = serde_json::to_string(line)?;
    text.push('\n');
    file.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_come_back_as_they_went_in() {
        let mut record = Record::new().unwrap();
        let line = |pes| Line::alone("startup", "shm", pes, 0, "ms", vec![1.0 / 3.0], 1);
        let pe = open(Path::new(&record.path())).unwrap();
        append(&pe, &line(2)).unwrap();
        record.add(&line(64)).unwrap();
        append(&pe, &line(8)).unwrap();
        assert_eq!(record.lines().unwrap(), [2, 64, 8].map(line));
        assert_eq!(
            record.lines().unwrap().len(),
            3,
            "reading takes nothing away"
        );
    }
}
