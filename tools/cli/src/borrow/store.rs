//! Borrowed memory over the wires: which lender has which page.
//!
//! Memory that moves is dealt out in stripes of 64 pages, so that neighbouring pages come in one get, and all
//! lenders have about the same to do. With two copies, the second one of a stripe is on the next lender. Memory
//! that programs map is dealt out in one stripe per lender: a process may have 65530 mappings.

use std::ops::Range;
use std::os::fd::BorrowedFd;

use hostwire::attachment::{Attachment, Getting};
use hostwire::{Error, PeId};
use hostwire_borrow::PAGE_BYTES;
use hostwire_borrow::server::{FilePart, Store};
use hostwire_transport::{Route, Visibility};
use rustix::fs::{FileType, fstat, fstatfs};

use crate::lend::pe::FRONT_BYTES;

/// Pages of a stripe.
pub const STRIPE_PAGES: u64 = 64;
/// Bytes that become zeros at a time.
const CLEAR_BYTES: usize = 1 << 20;
const STRIPE_BYTES: u64 = STRIPE_PAGES * PAGE_BYTES as u64;

/// Borrowed memory that cannot be reached any more.
#[derive(Debug, thiserror::Error)]
#[error("memory of lender {pe} is lost: {cause}")]
pub struct LostMemory {
    /// The lender that had the last copy.
    pub pe: PeId,
    cause: Error,
}

/// `statfs(2)`: a file whose pages are huge.
const HUGETLBFS_MAGIC: i64 = 0x9584_58f6;

/// Why pages of lenders move, and are not mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotMapped {
    #[error("with --copies 2 each store goes to two lenders")]
    Copies,
    #[error("the wire reaches lender {pe} without loads and stores")]
    Carried { pe: PeId },
    #[error("the memory of lender {pe} is not coherent")]
    Contract { pe: PeId },
    #[error("the memory of lender {pe} is no file with pages of 4 KiB")]
    File { pe: PeId },
}

/// Whether programs can map the memory of all lenders.
///
/// # Errors
/// [`NotMapped`].
pub fn check_mapped(attachment: &Attachment, copies: u32) -> Result<(), NotMapped> {
    if copies > 1 {
        return Err(NotMapped::Copies);
    }
    (1..attachment.pes()).try_for_each(|pe| {
        let Some(Route::Mapped(window)) = attachment.route(pe) else {
            return Err(NotMapped::Carried { pe });
        };
        if window.visibility() != Visibility::Coherent {
            return Err(NotMapped::Contract { pe });
        }
        let file = window.memory().file();
        match file.is_some_and(|(file, _)| has_small_pages(file)) {
            true => Ok(()),
            false => Err(NotMapped::File { pe }),
        }
    })
}

/// A dax node and a file on hugetlbfs can only be mapped in whole huge pages.
fn has_small_pages(file: BorrowedFd<'_>) -> bool {
    let is_regular = fstat(file)
        .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile);
    is_regular && fstatfs(file).is_ok_and(|system| system.f_type != HUGETLBFS_MAGIC)
}

/// Where a stripe is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Spot {
    pe: PeId,
    /// Offset in what this lender lends.
    offset_bytes: u64,
}

/// How stripes are dealt out.
#[derive(Debug, Clone, Copy)]
struct Deal {
    lenders: u64,
    stripe_bytes: u64,
    /// Bytes that each lender has for each copy.
    part_bytes: u64,
}

impl Deal {
    /// Where copy `copy` of the stripe at `offset_bytes` is, and how many bytes it has from there on.
    fn spot(&self, offset_bytes: u64, copy: u64) -> (Spot, u64) {
        let (stripe, within) = (
            offset_bytes / self.stripe_bytes,
            offset_bytes % self.stripe_bytes,
        );
        let lender = (stripe + copy) % self.lenders;
        let own = stripe / self.lenders * self.stripe_bytes + within;
        let spot = Spot {
            pe: lender as PeId + 1,
            offset_bytes: copy * self.part_bytes + own,
        };
        (spot, self.stripe_bytes - within)
    }
}

/// See the [module text](self).
pub struct Lenders {
    attachment: Attachment,
    deal: Deal,
    copies: u64,
}

impl Lenders {
    /// All PEs but this one lend `share_bytes` each.
    pub fn new(attachment: Attachment, share_bytes: u64, copies: u32, is_mapped: bool) -> Self {
        let copies = u64::from(copies);
        let stripe_bytes = if is_mapped { share_bytes } else { STRIPE_BYTES };
        Self {
            deal: Deal {
                lenders: u64::from(attachment.pes().saturating_sub(1)).max(1),
                stripe_bytes: stripe_bytes.max(1),
                part_bytes: share_bytes / copies,
            },
            attachment,
            copies,
        }
    }

    /// The place in the job.
    pub fn attachment(&self) -> &Attachment {
        &self.attachment
    }

    fn offset_in_segment(&self, spot: Spot) -> usize {
        self.attachment.layout().heap() + FRONT_BYTES + spot.offset_bytes as usize
    }

    /// Gets a part of a stripe from the first lender that has it.
    fn fetch(&self, offset_bytes: u64, bytes: &mut [u8]) -> Result<(), LostMemory> {
        let bytes = core::cell::RefCell::new(bytes);
        let get = |job: &Attachment, pe, offset| job.get(pe, offset, &mut bytes.borrow_mut());
        self.with_copies(offset_bytes, get, true)
    }

    /// Does something with each copy. An error if it could be done with none.
    fn with_copies(
        &self,
        offset_bytes: u64,
        each: impl Fn(&Attachment, PeId, usize) -> hostwire::Result<()>,
        first_only: bool,
    ) -> Result<(), LostMemory> {
        let mut lost = None;
        let mut done = false;
        for copy in 0..self.copies {
            let (spot, _) = self.deal.spot(offset_bytes, copy);
            match each(&self.attachment, spot.pe, self.offset_in_segment(spot)) {
                Ok(()) if first_only => return Ok(()),
                Ok(()) => done = true,
                Err(cause) => lost = Some(LostMemory { pe: spot.pe, cause }),
            }
        }
        match lost {
            Some(lost) if !done => Err(lost),
            _ => Ok(()),
        }
    }
}

/// Bytes on their way from lenders.
pub struct Coming {
    offset_bytes: u64,
    bytes: Vec<u8>,
    parts: Vec<Part>,
}

/// What comes from one lender.
struct Part {
    /// Which of the bytes.
    bytes: Range<usize>,
    state: PieceState,
}

enum PieceState {
    Here,
    Coming(Getting),
    /// It could not be asked for. There may be a second copy.
    Failed,
}

impl Store for Lenders {
    type Error = LostMemory;
    type Coming = Coming;

    fn save(&mut self, offset_bytes: u64, bytes: &[u8]) -> Result<(), LostMemory> {
        let mut at = offset_bytes;
        let mut rest = bytes;
        while !rest.is_empty() {
            let (_, len) = self.deal.spot(at, 0);
            let (now, behind) = rest.split_at(rest.len().min(len as usize));
            self.with_copies(at, |job, pe, offset| job.put(pe, offset, now), false)?;
            at += now.len() as u64;
            rest = behind;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), LostMemory> {
        let mut lost = None;
        let lenders = 1..=self.deal.lenders as PeId;
        for pe in lenders {
            if let Err(cause) = self.attachment.quiet_of(pe) {
                lost = Some(LostMemory { pe, cause });
            }
        }
        match lost {
            // What one lender had is on the next one, too.
            Some(lost) if self.copies == 1 => Err(lost),
            _ => Ok(()),
        }
    }

    fn begin(&mut self, offset_bytes: u64, mut bytes: Vec<u8>) -> Coming {
        let mut parts = Vec::new();
        let mut done = 0;
        while let Some(rest) = bytes.get_mut(done..).filter(|rest| !rest.is_empty()) {
            let (spot, len) = self.deal.spot(offset_bytes + done as u64, 0);
            let len = rest.len().min(len as usize);
            let now = rest.get_mut(..len).unwrap_or_default();
            let offset = self.offset_in_segment(spot);
            parts.push(Part {
                bytes: done..done + len,
                state: match self.attachment.begin_get(spot.pe, offset, now) {
                    Ok(None) => PieceState::Here,
                    Ok(Some(getting)) => PieceState::Coming(getting),
                    Err(_) => PieceState::Failed,
                },
            });
            done += len;
        }
        Coming {
            offset_bytes,
            bytes,
            parts,
        }
    }

    fn finish(&mut self, coming: Coming) -> Result<Vec<u8>, LostMemory> {
        let Coming {
            offset_bytes,
            mut bytes,
            parts,
        } = coming;
        let mut lost = None;
        for Part { bytes: part, state } in parts {
            let at = offset_bytes + part.start as u64;
            let part = bytes.get_mut(part).unwrap_or_default();
            let is_here = match state {
                PieceState::Here => true,
                PieceState::Coming(mut getting) if lost.is_some() => {
                    getting.forget(&self.attachment);
                    true
                }
                PieceState::Coming(getting) => getting.finish(&self.attachment, part).is_ok(),
                PieceState::Failed => false,
            };
            if !is_here && let Err(error) = self.fetch(at, part) {
                lost = Some(error);
            }
        }
        lost.map_or(Ok(bytes), Err)
    }

    fn forget(&mut self, coming: Coming) -> Vec<u8> {
        for part in coming.parts {
            if let PieceState::Coming(mut getting) = part.state {
                getting.forget(&self.attachment);
            }
        }
        coming.bytes
    }

    fn part_at(&self, offset_bytes: u64) -> Option<FilePart<'_>> {
        let (spot, len_bytes) = self.deal.spot(offset_bytes, 0);
        let Route::Mapped(window) = self.attachment.route(spot.pe)? else {
            return None;
        };
        let memory = window.memory();
        let part = memory.part(self.offset_in_segment(spot), PAGE_BYTES).ok()?;
        // All parts of a mapping have the same file.
        let (file, _) = memory.file()?;
        let (_, offset_bytes) = part.file()?;
        Some(FilePart {
            file,
            offset_bytes,
            len_bytes,
        })
    }

    fn clear(&mut self, bytes: Range<u64>) -> Result<(), LostMemory> {
        let zeros = vec![0; CLEAR_BYTES];
        let mut at = bytes.start;
        while at < bytes.end {
            let len = (bytes.end - at).min(CLEAR_BYTES as u64);
            self.save(at, zeros.get(..len as usize).unwrap_or_default())?;
            at += len;
        }
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_a_stripe_are_on_two_lenders_and_nothing_overlaps() {
        for lenders in 2..5 {
            let part_bytes = 4 * STRIPE_BYTES;
            let deal = Deal {
                lenders,
                stripe_bytes: STRIPE_BYTES,
                part_bytes,
            };
            let mut seen = std::collections::BTreeSet::new();
            for stripe in 0..4 * lenders {
                let spots = [0, 1].map(|copy| deal.spot(stripe * STRIPE_BYTES, copy).0);
                assert_ne!(spots[0].pe, spots[1].pe);
                for spot in spots {
                    assert!(spot.pe >= 1 && u64::from(spot.pe) <= lenders);
                    assert!(spot.offset_bytes + STRIPE_BYTES <= 2 * part_bytes);
                    assert!(seen.insert((spot.pe, spot.offset_bytes)), "{spot:?}");
                }
            }
        }
        let deal = Deal {
            lenders: 3,
            stripe_bytes: STRIPE_BYTES,
            part_bytes: 1 << 30,
        };
        let spot = Spot {
            pe: 2,
            offset_bytes: STRIPE_BYTES + 5,
        };
        assert_eq!(deal.spot(4 * STRIPE_BYTES + 5, 0), (spot, STRIPE_BYTES - 5));
    }

    #[test]
    fn mapped_memory_of_a_lender_is_in_one_piece() {
        let deal = Deal {
            lenders: 2,
            stripe_bytes: 1 << 30,
            part_bytes: 1 << 30,
        };
        let first = Spot {
            pe: 1,
            offset_bytes: 5,
        };
        assert_eq!(deal.spot(5, 0), (first, (1 << 30) - 5));
        let second = Spot {
            pe: 2,
            offset_bytes: 7,
        };
        assert_eq!(deal.spot((1 << 30) + 7, 0), (second, (1 << 30) - 7));
    }
}
