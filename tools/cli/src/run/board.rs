//! The launcher's side of the board: make it, read it, note deaths.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use hostwire::board::{Activity, ENDED, ENDED_AT, LOST_AT, RECORD_BYTES, Record};
use hostwire_bootstrap::starter::Look;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;

/// The memory file in which each PE writes what it does.
#[derive(Debug)]
pub struct Board {
    fd: Arc<OwnedFd>,
}

impl Board {
    /// A board for `pes` PEs. Its size is sealed: a PE cannot cut it off under
    /// the others.
    pub fn new(pes: u32) -> Result<Board, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let fd = memfd_create("hostwire-board", flags)?;
        ftruncate(&fd, u64::from(pes) * RECORD_BYTES as u64)?;
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(Board { fd: Arc::new(fd) })
    }

    /// The descriptor, to be inherited.
    pub fn fd(&self) -> &Arc<OwnedFd> {
        &self.fd
    }

    /// Tells all PEs that the process of `pe` has ended without leaving the job. They
    /// would also learn it without this, but later.
    pub fn note_end(&self, pe: u32) {
        let at = u64::from(pe) * RECORD_BYTES as u64 + ENDED_AT as u64;
        let _ = rustix::io::pwrite(&*self.fd, &ENDED, at);
    }

    /// The last entry of `pe`. `None` if it never attached, or if its entry makes no
    /// sense.
    pub fn last(&self, pe: u32) -> Option<Record> {
        let word = self.word(pe, 0)?;
        Record::parse(word).filter(|record| record.activity != Activity::NotAttached)
    }

    /// The PE that `pe` says it found lost first. Such a PE may not exist.
    pub fn lost(&self, pe: u32) -> Option<u32> {
        let lost = u64::from_le_bytes(self.word(pe, LOST_AT)?);
        lost.checked_sub(1).and_then(|lost| lost.try_into().ok())
    }

    /// What `pe` has written, for a launcher on another host.
    pub fn look(&self, pe: u32) -> Look {
        let word = |offset| u64::from_le_bytes(self.word(pe, offset).unwrap_or_default());
        Look {
            pe,
            activity: word(0),
            lost: word(LOST_AT),
        }
    }

    /// Notes what a PE on another host has written there.
    pub fn mirror(&self, look: Look) {
        let begin = u64::from(look.pe) * RECORD_BYTES as u64;
        for (offset, word) in [(0, look.activity), (LOST_AT, look.lost)] {
            let _ = rustix::io::pwrite(&*self.fd, &word.to_le_bytes(), begin + offset as u64);
        }
    }

    fn word(&self, pe: u32, offset: usize) -> Option<[u8; 8]> {
        let mut word = [0; 8];
        let at = u64::from(pe) * RECORD_BYTES as u64 + offset as u64;
        let read = rustix::io::pread(&*self.fd, &mut word, at).ok()?;
        (read == word.len()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_where_the_pes_write_them() {
        let board = Board::new(3).unwrap();
        let record = Record {
            activity: Activity::Receiving,
            peer: Some(0),
        };
        rustix::io::pwrite(&**board.fd(), &record.to_word().to_le_bytes(), 128).unwrap();
        assert_eq!(board.last(2), Some(record));
        assert_eq!(board.last(0), None);
        assert_eq!(board.last(3), None);
        rustix::io::pwrite(&**board.fd(), &[0xee; 8], 64).unwrap();
        assert_eq!(board.last(1), None);
    }

    #[test]
    fn what_a_pe_says_is_lost_is_read() {
        let board = Board::new(2).unwrap();
        let lost = |bytes: [u8; 8]| {
            rustix::io::pwrite(&**board.fd(), &bytes, 80).unwrap();
            board.lost(1)
        };
        assert_eq!(lost([1, 0, 0, 0, 0, 0, 0, 0]), Some(0));
        assert_eq!(lost([0, 1, 0, 0, 0, 0, 0, 0]), Some(255));
        assert_eq!(lost([0; 8]), None);
        assert_eq!(lost([0xff; 8]), None);
        assert_eq!(board.lost(0), None);
        assert_eq!(board.lost(2), None);
    }

    #[test]
    fn an_end_is_noted_behind_what_the_pe_wrote() {
        let board = Board::new(2).unwrap();
        board.note_end(1);
        let mut bytes = [1; 128];
        assert_eq!(rustix::io::pread(&**board.fd(), &mut bytes, 0), Ok(128));
        let mut expected = [0; 128];
        expected[72..80].copy_from_slice(b"hw-ended");
        assert_eq!(bytes, expected);
    }

    #[test]
    fn the_size_is_sealed() {
        let board = Board::new(1).unwrap();
        assert_eq!(ftruncate(&**board.fd(), 0), Err(Errno::PERM));
        assert_eq!(ftruncate(&**board.fd(), 4096), Err(Errno::PERM));
    }
}
