//! The lines of a region as bytes: `docs/wire/window.md` describes them.
//!
//! All numbers are little endian. A line has one writer at a time and the length of a cache line, so
//! no two writers share one.

use hostwire_transport::error::RegionFault;
use hostwire_transport::visibility::Visibility;

/// Bytes of a line.
pub(crate) const LINE_BYTES: usize = 64;
/// The bytes of a line, from outside.
pub type Bytes = [u8; LINE_BYTES];

/// How a region begins.
const MAGIC: [u8; 8] = *b"hwwindow";
/// The version of the format.
pub(crate) const VERSION: u32 = 2;
/// Everything in a region begins at a multiple of this and has a multiple of it as length: the size
/// of huge pages, and the alignment of device-dax. The first of these units holds the tables.
pub const ALIGN_BYTES: u64 = 2 << 20;
/// Most kernels that can have jobs in a region.
pub(crate) const KERNELS: u32 = 64;
/// Most jobs of each kernel there.
pub(crate) const PLACES: usize = 16;
/// Where the blocks of the kernels begin.
pub(crate) const BLOCKS_OFFSET_BYTES: usize = 4096;
/// Most PEs of a job.
const PES_MAX: u32 = 4096;

/// The first line: written when the region is made, and never changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The contract of the memory.
    pub contract: Visibility,
    /// All bytes, this line included.
    pub size_bytes: u64,
    /// Drawn at random when the region was made.
    pub identity: u128,
    /// How many kernels can have jobs in it.
    pub kernels: u32,
}

impl Head {
    /// The header of a region of `size_bytes`.
    pub fn new(contract: Visibility, size_bytes: u64, identity: u128) -> Self {
        Self {
            contract,
            size_bytes,
            identity,
            kernels: KERNELS,
        }
    }

    /// How many units of [`ALIGN_BYTES`] there are, including that of the tables.
    pub fn units(&self) -> u32 {
        u32::try_from(self.size_bytes / ALIGN_BYTES).unwrap_or(u32::MAX)
    }

    /// Bytes of the block of a kernel.
    pub(crate) const fn block_bytes(&self) -> usize {
        OVER_OFFSET_BYTES + self.kernels as usize * PLACES * 8
    }

    /// How many places jobs can have.
    pub(crate) const fn places(&self) -> usize {
        self.kernels as usize * PLACES
    }

    /// As bytes.
    pub fn emit(&self) -> Bytes {
        let mut line = [0; LINE_BYTES];
        put(&mut line, 0, MAGIC);
        put(&mut line, 8, VERSION.to_le_bytes());
        put(&mut line, 12, contract_number(self.contract).to_le_bytes());
        put(&mut line, 16, self.size_bytes.to_le_bytes());
        put(&mut line, 24, self.identity.to_le_bytes());
        put(&mut line, 40, self.kernels.to_le_bytes());
        seal(&mut line, 0);
        line
    }

    /// From bytes.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(line: &Bytes) -> Result<Self, RegionFault> {
        if take(line, 0) != MAGIC {
            return Err(RegionFault::NoRegion);
        }
        let theirs = u32::from_le_bytes(take(line, 8));
        if theirs != VERSION {
            let ours = VERSION;
            return Err(RegionFault::Version { theirs, ours });
        }
        let part = "its header";
        let damaged = || RegionFault::Damaged { part };
        let contract = u32::from_le_bytes(take(line, 12));
        let head = Self {
            contract: contract_of(contract).ok_or_else(damaged)?,
            size_bytes: u64::from_le_bytes(take(line, 16)),
            identity: u128::from_le_bytes(take(line, 24)),
            kernels: u32::from_le_bytes(take(line, 40)),
        };
        let fits = (1..=KERNELS).contains(&head.kernels) && head.units() >= 2;
        match is_sealed(line, 0) && fits {
            true => Ok(head),
            false => Err(damaged()),
        }
    }
}

/// The entry of a job in the table of jobs, after its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobEntry {
    /// The secret of its PEs.
    pub key: u128,
    /// The first of its units.
    pub first_unit: u32,
    /// How many it has.
    pub units: u32,
    /// Its PEs.
    pub pes: u32,
    /// Bytes of the segment of each.
    pub segment_bytes: u64,
}

impl JobEntry {
    /// As the bytes of a line whose first word, the state, is 0.
    pub fn emit(&self) -> Bytes {
        let mut line = [0; LINE_BYTES];
        put(&mut line, 8, self.key.to_le_bytes());
        put(&mut line, 24, self.first_unit.to_le_bytes());
        put(&mut line, 28, self.units.to_le_bytes());
        put(&mut line, 32, self.pes.to_le_bytes());
        put(&mut line, 40, self.segment_bytes.to_le_bytes());
        seal(&mut line, 8);
        line
    }

    /// From the bytes of a line of a region with that header. The state is not looked at.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(line: &Bytes, head: &Head) -> Result<Self, RegionFault> {
        let entry = Self {
            key: u128::from_le_bytes(take(line, 8)),
            first_unit: u32::from_le_bytes(take(line, 24)),
            units: u32::from_le_bytes(take(line, 28)),
            pes: u32::from_le_bytes(take(line, 32)),
            segment_bytes: u64::from_le_bytes(take(line, 40)),
        };
        let end = u64::from(entry.first_unit) + u64::from(entry.units);
        let lies_there = entry.first_unit >= 1 && end <= u64::from(head.units());
        let has_pes = (1..=PES_MAX).contains(&entry.pes);
        let needs = has_pes.then(|| Span::bytes(entry.pes, entry.segment_bytes));
        let room = u64::from(entry.units) * ALIGN_BYTES;
        let fits = needs.flatten().is_some_and(|needs| needs <= room);
        match is_sealed(line, 8) && lies_there && fits {
            true => Ok(entry),
            false => Err(RegionFault::Damaged {
                part: "an entry of its table of jobs",
            }),
        }
    }
}

/// In the block of a kernel: the token of the last process that asked for it.
pub(crate) const ASKED_OFFSET_BYTES: usize = 0;
/// Whether it may still be had.
pub(crate) const CLOSED_OFFSET_BYTES: usize = LINE_BYTES;
/// The epoch of the kernel that has it.
pub(crate) const EPOCH_OFFSET_BYTES: usize = 2 * LINE_BYTES;
/// Its places.
pub(crate) const PLACES_OFFSET_BYTES: usize = 3 * LINE_BYTES;
/// Its words about all places: which incarnation is over.
pub(crate) const OVER_OFFSET_BYTES: usize = PLACES_OFFSET_BYTES + PLACES * LINE_BYTES;

/// Where everything lies in the units of a job: the membership, the lines of the PEs, and their segments.
pub(crate) struct Span;

impl Span {
    /// Where the lines of the PEs begin, after the membership.
    pub(crate) const fn lines_offset_bytes(pes: u32) -> usize {
        (pes as usize * hostwire_transport::membership::RECORD_BYTES).next_multiple_of(LINE_BYTES)
    }

    /// Bytes before the segments.
    pub(crate) const fn front_bytes(pes: u32) -> usize {
        let bytes = Self::lines_offset_bytes(pes) + pes as usize * LINE_BYTES;
        bytes.next_multiple_of(ALIGN_BYTES as usize)
    }

    /// All bytes of a job; `None` if no region has so many.
    pub(crate) fn bytes(pes: u32, segment_bytes: u64) -> Option<u64> {
        let whole = segment_bytes.is_multiple_of(ALIGN_BYTES) && segment_bytes != 0;
        let segments = segment_bytes.checked_mul(pes.into()).filter(|_| whole)?;
        segments.checked_add(Self::front_bytes(pes) as u64)
    }
}

/// The word of a place of the table of jobs, and of the line of a PE: an incarnation and a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Counts the jobs that have had the place.
    pub incarnation: u64,
    /// Free, claimed or running; or not there, joined, left.
    pub state: SlotState,
}

/// The state of a place or of a PE.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotState {
    /// A place: nobody has it. A PE: it has not joined yet.
    Free = 0,
    /// A place: its units are taken, but no job is visible there yet. A PE: it has joined.
    Claimed = 1,
    /// A place: a job has it. A PE: it has left.
    Running = 2,
    /// A place: its units are requested, unless another place has them.
    Wanted = 3,
}

impl SlotState {
    /// Of the line of a PE: it has joined.
    pub(crate) const JOINED: Self = Self::Claimed;
    /// Of the line of a PE: it has left in good order.
    pub(crate) const LEFT: Self = Self::Running;
}

impl Mark {
    /// As a word.
    pub const fn to_word(self) -> u64 {
        self.incarnation << 8 | self.state as u64
    }

    /// From a word. A correct peer writes no other state.
    ///
    /// # Errors
    /// If it is no mark.
    pub const fn parse(word: u64) -> Result<Self, RegionFault> {
        let state = match word & 0xff {
            0 => SlotState::Free,
            1 => SlotState::Claimed,
            2 => SlotState::Running,
            3 => SlotState::Wanted,
            _ => {
                return Err(RegionFault::Damaged {
                    part: "a state in its tables",
                });
            }
        };
        Ok(Self {
            incarnation: word >> 8,
            state,
        })
    }

    /// The same incarnation in another state.
    pub(crate) const fn with(self, state: SlotState) -> Self {
        Self { state, ..self }
    }
}

/// The line of a PE. After it has been zeroed for the job, only that PE writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeLine {
    /// Of which job, and whether the PE is there.
    pub mark: Mark,
    /// Grows while the process runs.
    pub beat: u64,
    /// The epoch of its host: the random boot id of its kernel. 0 if that is not known.
    pub epoch: u64,
    /// Where in the region its segment begins.
    pub segment_offset_bytes: u64,
    /// The number of its process, for people.
    pub process: u32,
    /// The number of its machine at the doorbell that wakes it, plus 1; 0 without a doorbell.
    pub bell: u32,
}

impl PeLine {
    /// Where the beat lies in the line.
    pub(crate) const BEAT_OFFSET_BYTES: usize = 8;

    /// As bytes.
    pub fn emit(&self) -> Bytes {
        let mut line = [0; LINE_BYTES];
        put(&mut line, 0, self.mark.to_word().to_le_bytes());
        put(&mut line, 8, self.beat.to_le_bytes());
        put(&mut line, 16, self.epoch.to_le_bytes());
        put(&mut line, 24, self.segment_offset_bytes.to_le_bytes());
        put(&mut line, 32, self.process.to_le_bytes());
        put(&mut line, 36, self.bell.to_le_bytes());
        line
    }

    /// From bytes.
    ///
    /// # Errors
    /// As [`Mark::parse`].
    pub fn parse(line: &Bytes) -> Result<Self, RegionFault> {
        Ok(Self {
            mark: Mark::parse(u64::from_le_bytes(take(line, 0)))?,
            beat: u64::from_le_bytes(take(line, 8)),
            epoch: u64::from_le_bytes(take(line, 16)),
            segment_offset_bytes: u64::from_le_bytes(take(line, 24)),
            process: u32::from_le_bytes(take(line, 32)),
            bell: u32::from_le_bytes(take(line, 36)),
        })
    }
}

/// The number of a contract in the header.
fn contract_number(contract: Visibility) -> u32 {
    match contract {
        Visibility::Coherent => 1,
        Visibility::Flushed => 2,
        Visibility::WriteCombining => 3,
    }
}

fn contract_of(number: u32) -> Option<Visibility> {
    match number {
        1 => Some(Visibility::Coherent),
        2 => Some(Visibility::Flushed),
        3 => Some(Visibility::WriteCombining),
        _ => None,
    }
}

/// Where the check of a line lies.
const CHECK_OFFSET_BYTES: usize = LINE_BYTES - 8;

/// FNV-1a of the bytes of a line from `from` on, up to the check.
fn check(line: &Bytes, from: usize) -> u64 {
    let bytes = line.get(from..CHECK_OFFSET_BYTES).unwrap_or_default();
    fnv(bytes)
}

/// FNV-1a of 64 bits.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

fn seal(line: &mut Bytes, from: usize) {
    let check = check(line, from);
    put(line, CHECK_OFFSET_BYTES, check.to_le_bytes());
}

fn is_sealed(line: &Bytes, from: usize) -> bool {
    u64::from_le_bytes(take(line, CHECK_OFFSET_BYTES)) == check(line, from)
}

/// Copies `bytes` to `at ..`. The caller knows that they fit.
fn put<const N: usize>(line: &mut Bytes, at: usize, bytes: [u8; N]) {
    for (to, from) in line.iter_mut().skip(at).zip(bytes) {
        *to = from;
    }
}

/// The bytes from `at` on.
fn take<const N: usize>(line: &Bytes, at: usize) -> [u8; N] {
    core::array::from_fn(|index| line.get(at + index).copied().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: Head = Head {
        contract: Visibility::Flushed,
        size_bytes: 64 << 20,
        identity: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10,
        kernels: 64,
    };
    const ENTRY: JobEntry = JobEntry {
        key: 0x11,
        first_unit: 1,
        units: 5,
        pes: 2,
        segment_bytes: 4 << 20,
    };

    #[test]
    fn a_header_is_these_bytes() {
        let line = HEAD.emit();
        assert_eq!(&line[..16], b"hwwindow\x02\0\0\0\x02\0\0\0");
        assert_eq!(line[16..24], [0, 0, 0, 4, 0, 0, 0, 0]);
        assert_eq!(
            line[24..40],
            [16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
        );
        assert_eq!(line[40..48], [64, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(line[48..56], [0; 8]);
        assert_eq!(line[56..], fnv(&line[..56]).to_le_bytes());
        assert_eq!(Head::parse(&line), Ok(HEAD));
        assert_eq!(fnv(b"a"), 0xaf63_dc4c_8601_ec8c, "a published value");
    }

    #[test]
    fn every_bit_of_a_header_or_an_entry_counts() {
        for (line, from, parse) in [
            (
                HEAD.emit(),
                0,
                (|line| Head::parse(line).is_ok()) as fn(&Bytes) -> bool,
            ),
            (ENTRY.emit(), 8, |line| JobEntry::parse(line, &HEAD).is_ok()),
        ] {
            assert!(parse(&line));
            for bit in from * 8..LINE_BYTES * 8 {
                let mut flipped = line;
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert!(!parse(&flipped), "bit {bit}");
            }
        }
        assert_eq!(Head::parse(&[0; LINE_BYTES]), Err(RegionFault::NoRegion));
    }

    #[test]
    fn an_entry_is_these_bytes_and_lies_in_the_region() {
        let line = ENTRY.emit();
        assert_eq!(line[..8], [0; 8], "the state has a writer of its own");
        assert_eq!(line[8..24], 0x11_u128.to_le_bytes());
        assert_eq!(
            line[24..40],
            [1, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(line[40..48], [0, 0, 0x40, 0, 0, 0, 0, 0]);
        assert_eq!(JobEntry::parse(&line, &HEAD), Ok(ENTRY));
        for bad in [
            JobEntry {
                first_unit: 0,
                ..ENTRY
            },
            JobEntry {
                first_unit: 28,
                ..ENTRY
            },
            JobEntry { units: 4, ..ENTRY },
            JobEntry {
                units: u32::MAX,
                ..ENTRY
            },
            JobEntry { pes: 0, ..ENTRY },
            JobEntry { pes: 3, ..ENTRY },
            JobEntry {
                pes: u32::MAX,
                ..ENTRY
            },
            JobEntry {
                segment_bytes: 4096,
                ..ENTRY
            },
            JobEntry {
                segment_bytes: u64::MAX << 21,
                ..ENTRY
            },
        ] {
            assert!(JobEntry::parse(&bad.emit(), &HEAD).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_line_of_a_pe_is_these_bytes() {
        let mark = Mark {
            incarnation: 3,
            state: SlotState::JOINED,
        };
        let line = PeLine {
            mark,
            beat: 7,
            epoch: 9,
            segment_offset_bytes: 6 << 20,
            process: 0x1234,
            bell: 0x0102,
        };
        let bytes = line.emit();
        assert_eq!(bytes[..8], [1, 3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[8..16], [7, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[16..24], [9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[24..32], [0, 0, 0x60, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[32..40], [0x34, 0x12, 0, 0, 2, 1, 0, 0]);
        assert_eq!(bytes[40..], [0; 24]);
        assert_eq!(PeLine::parse(&bytes), Ok(line));
        assert!(Mark::parse(4).is_err());
        assert_eq!(Mark::parse(mark.to_word()), Ok(mark));
    }

    #[test]
    fn regions_of_any_size_have_room_for_the_tables() {
        for size_bytes in [4 << 20, (8 << 30) - 1, 8 << 30, 1 << 40] {
            let head = Head::new(Visibility::Coherent, size_bytes, 1);
            assert_eq!(Head::parse(&head.emit()), Ok(head), "{size_bytes}");
            let tables_bytes = BLOCKS_OFFSET_BYTES + KERNELS as usize * head.block_bytes();
            assert!(tables_bytes as u64 <= ALIGN_BYTES);
        }
        let small = Head::new(Visibility::Coherent, (4 << 20) - 1, 1);
        assert!(Head::parse(&small.emit()).is_err());
        let many = Head {
            kernels: KERNELS + 1,
            ..HEAD
        };
        assert!(Head::parse(&many.emit()).is_err());
    }
}
