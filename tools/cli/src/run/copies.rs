//! What `--copy` sends to hosts: this program and the program of the job.

use std::path::Path;
use std::rc::Rc;

use hostwire_bootstrap::starter::PIECE_BYTES_MAX;
use object::Endianness;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, ProgramHeader};

use super::start_error::StartError;

/// What is copied to each host of a job.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    pub hostwire: Option<Rc<[u8]>>,
    pub program: Option<Rc<[u8]>>,
}

impl Copies {
    /// This program, and that of the job.
    pub fn read(program: Option<&Path>) -> Result<Copies, StartError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|error| StartError::Copy {
                path: path.display().to_string(),
                reason: error.to_string(),
            })
        };
        let own = read(Path::new("/proc/self/exe"))?;
        let needed_bytes = needed_bytes(&own).unwrap_or(own.len());
        Ok(Copies {
            hostwire: own.get(..needed_bytes).map(Rc::from),
            program: program.map(read).transpose()?.map(Rc::from),
        })
    }
}

/// How much of a program is needed to run it. Tables for debuggers come behind, and are most of it.
fn needed_bytes(program: &[u8]) -> Option<usize> {
    let header = FileHeader64::<Endianness>::parse(program).ok()?;
    let endian = header.endian().ok()?;
    let parts = header.program_headers(endian, program).ok()?;
    let ends = parts.iter().map(|part| {
        let (begin, bytes) = part.file_range(endian);
        begin.checked_add(bytes)
    });
    let end = ends.collect::<Option<Vec<u64>>>()?.into_iter().max()?;
    usize::try_from(end)
        .ok()
        .filter(|end| *end <= program.len())
}

/// Bytes on their way to a host.
#[derive(Debug, Default)]
pub struct Upload {
    bytes: Option<Rc<[u8]>>,
    sent: usize,
}

impl Upload {
    pub fn new(bytes: Option<Rc<[u8]>>) -> Upload {
        Upload { bytes, sent: 0 }
    }

    /// How many bytes there are, if there is anything.
    pub fn len(&self) -> Option<usize> {
        self.bytes.as_ref().map(|bytes| bytes.len())
    }

    /// The next piece, if there is one.
    pub fn next_piece(&mut self) -> Option<&[u8]> {
        let rest = self.bytes.as_ref()?.get(self.sent..)?;
        let piece = rest.get(..rest.len().min(PIECE_BYTES_MAX))?;
        self.sent += piece.len();
        (!piece.is_empty()).then_some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_a_program_that_is_needed_is_known() {
        let own = std::fs::read("/proc/self/exe").unwrap();
        let needed = needed_bytes(&own).unwrap();
        assert!(needed > 4096 && needed <= own.len());
        assert_eq!(needed_bytes(&own[..needed - 1]), None);
        assert_eq!(needed_bytes(b"#!/bin/sh\n"), None);
    }

    #[test]
    fn bytes_come_in_pieces() {
        let bytes: Rc<[u8]> = vec![7; PIECE_BYTES_MAX + 1].into();
        let mut upload = Upload::new(Some(bytes));
        assert_eq!(upload.next_piece().unwrap().len(), PIECE_BYTES_MAX);
        assert_eq!(upload.next_piece(), Some(&[7][..]));
        assert_eq!(upload.next_piece(), None);
        assert_eq!(Upload::default().next_piece(), None);
    }
}
