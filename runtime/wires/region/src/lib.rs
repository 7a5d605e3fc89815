//! A region of memory that several hosts map, as a wire: `window`.
//!
//! A region is a file, a device-dax node or the memory of a PCI device. Its beginning says what it is, and
//! which job has which part of it: see `docs/wire/window.md`. The segments of a job are adjacent as those of
//! [`hostwire_transport::shm`], and a PE reaches them in the same way. The differences: how PEs find the
//! memory, the contract of its windows, and how a PE of another kernel shows that it lives.
//!
//! | file | |
//! |---|---|
//! | `format.rs` | lines of the region as bytes |
//! | `table.rs` | places and units: which job has which part |
//! | `kernels.rs` | how a kernel gets a number there |
//! | `table_lock.rs` | how processes of a kernel take turns |
//! | `lines.rs` | the lines of the PEs of a job |
//! | `file.rs` | the file or device: opened, checked, mapped |
//! | `living.rs` | whether a job of the region still lives |
//! | `join.rs` | how PEs of a job meet in it |
//! | `heartbeat.rs` | how PEs of different kernels show that they live |
//! | `ticket.rs` | what PE 0 tells the others |
//! | `bell.rs` | the doorbell of an ivshmem device |
//! | `vfio.rs` | a PCI device that belongs to this process |

mod bell;
pub(crate) mod file;
pub(crate) mod format;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod heartbeat;
mod join;
mod kernels;
mod lines;
mod living;
mod local;
mod meet;
#[cfg(memory_model)]
pub mod model;
mod report;
pub mod settings;
mod table;
mod table_lock;
#[cfg(test)]
mod tests;
pub(crate) mod ticket;
mod vfio;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use file::{Piece, RegionFile, remove, tables_piece};
use format::Span;
pub use format::{ALIGN_BYTES, Bytes, Head, JobEntry, Mark, PeLine, SlotState};
use hostwire_transport::error::{EnvironmentFault, RegionFault, TransportError};
use hostwire_transport::flush::{self, Instructions};
use hostwire_transport::memory::Memory;
use hostwire_transport::os::random;
use hostwire_transport::visibility::Visibility;
use hostwire_transport::window::Window;
pub use join::{Joining, Needs};
use lines::Lines;
pub use local::{InRegion, local};
pub use meet::WINDOW;
pub use report::{JobReport, PeReport, Report};
pub use table::contract_name;
use table::{JobSlot, Slot, Table, kernel_of};
pub use ticket::Ticket;

/// Where a region is, and what its user says about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Spec {
    /// The file or device. `None`: memory of its own, for PEs of one kernel.
    pub path: Option<PathBuf>,
    /// Where in it the region begins.
    pub offset_bytes: u64,
    /// Its length; by default up to the end.
    pub size_bytes: Option<u64>,
    /// The contract; by default what the system or the region says.
    pub contract: Option<Visibility>,
    /// The doorbell of the device to which the memory belongs wakes PEs. The device must be bound to
    /// `vfio-pci`.
    pub has_bell: bool,
}

/// An opened region.
#[derive(Debug)]
pub struct Region {
    file: RegionFile,
    offset_bytes: u64,
    table: Table,
    /// The contract that the user names.
    contract: Option<Visibility>,
    is_nameless: bool,
    /// The memory of the device whose doorbell wakes PEs.
    bell: Option<PathBuf>,
}

type Result<T, E = TransportError> = core::result::Result<T, E>;

/// The error of a fault of the region.
fn fault(fault: RegionFault) -> TransportError {
    let fault = EnvironmentFault::from(fault);
    TransportError::environment("the window", fault)
}

impl Region {
    /// Makes a region of the file or device that `spec` names. A missing file is made; an existing one must be
    /// empty or a region without living jobs.
    ///
    /// # Errors
    /// [`RegionFault`], or as the system refuses.
    pub fn make(spec: &Spec) -> Result<Self> {
        let Some(path) = &spec.path else {
            let size_bytes = spec.size_bytes.unwrap_or(0);
            return Self::nameless(size_bytes, spec.contract.unwrap_or_default());
        };
        let end = spec
            .size_bytes
            .map(|size| size.saturating_add(spec.offset_bytes));
        let file = match (path.exists(), end) {
            (false, Some(end)) => RegionFile::create(path, end)?,
            _ => return Self::make_in(RegionFile::open(path)?, spec, end),
        };
        // Removes a new file if the region could not be made.
        Self::make_in(file, spec, end).inspect_err(|_| remove(path))
    }

    fn make_in(mut file: RegionFile, spec: &Spec, end: Option<u64>) -> Result<Self> {
        if let Some(end) = end {
            file.grow(end)?;
        }
        let (contract, size_bytes) = check(&file, spec)?;
        let contract = contract.ok_or_else(|| file.fault(RegionFault::NoContract))?;
        file.check_space(ALIGN_BYTES)?;
        let memory = file.map(
            ALIGN_BYTES as usize,
            ALIGN_BYTES as usize,
            vec![tables_piece(spec.offset_bytes)],
        )?;
        may_be_made(&file, spec, &memory)?;
        Self::with_head(
            file,
            spec,
            memory,
            Head::new(contract, size_bytes, u128::from_ne_bytes(random()?)),
        )
    }

    /// A region of memory without a name, for PEs of one kernel.
    fn nameless(size_bytes: u64, contract: Visibility) -> Result<Self> {
        let file = RegionFile::nameless(size_bytes)?;
        let align = ALIGN_BYTES as usize;
        let memory = file.map(align, align, vec![tables_piece(0)])?;
        let head = Head::new(contract, size_bytes, u128::from_ne_bytes(random()?));
        let made = Self::with_head(file, &Spec::default(), memory, head)?;
        Ok(Self {
            is_nameless: true,
            contract: Some(contract),
            ..made
        })
    }

    fn with_head(file: RegionFile, spec: &Spec, memory: Memory, head: Head) -> Result<Self> {
        // A header that cannot be parsed again is not written.
        Head::parse(&head.emit()).map_err(|_| {
            let ours = 2 * ALIGN_BYTES;
            let theirs = head.size_bytes;
            file.fault(RegionFault::Size { theirs, ours })
        })?;
        Ok(Self {
            table: Table::make(memory, head)?,
            file,
            offset_bytes: spec.offset_bytes,
            contract: spec.contract,
            is_nameless: false,
            bell: None,
        })
    }

    /// Opens the region that `spec` names.
    ///
    /// # Errors
    /// [`RegionFault`], or as the system refuses.
    pub fn open(spec: &Spec) -> Result<Self> {
        let Some(path) = &spec.path else {
            return Err(TransportError::environment(
                "the window",
                RegionFault::NoPath,
            ));
        };
        Self::open_at(path, spec)
    }

    fn open_at(path: &Path, spec: &Spec) -> Result<Self> {
        let file = RegionFile::open(path)?;
        let (_, size_bytes) = check(&file, spec)?;
        file.check_is_written(spec.offset_bytes)?;
        let align = ALIGN_BYTES as usize;
        let memory = file.map(align, align, vec![tables_piece(spec.offset_bytes)])?;
        let table = Table::open(memory).map_err(|error| of_file(&file, error))?;
        let head = *table.head();
        // The file may be longer than the region, but the region does not grow.
        let whole =
            size_bytes >= head.size_bytes && spec.size_bytes.is_none_or(|it| it == head.size_bytes);
        if !whole {
            let (theirs, ours) = (size_bytes, head.size_bytes);
            return Err(file.fault(RegionFault::Size { theirs, ours }));
        }
        let is_combining = file.contract() == Some(Visibility::WriteCombining);
        let path_says = is_combining.then_some(Visibility::WriteCombining);
        for ours in [spec.contract, path_says].into_iter().flatten() {
            if ours != head.contract {
                let theirs = contract_name(head.contract);
                let ours = contract_name(ours);
                return Err(file.fault(RegionFault::Contract { theirs, ours }));
            }
        }
        if head.contract == Visibility::Flushed && flush::instructions() == Instructions::None {
            return Err(file.fault(RegionFault::NoFlush));
        }
        if spec.has_bell && head.contract != Visibility::Coherent {
            return Err(file.fault(RegionFault::Bell {
                why: "only where the contract is coherent can a PE be seen to sleep",
            }));
        }
        Ok(Self {
            file,
            offset_bytes: spec.offset_bytes,
            table,
            contract: spec.contract,
            is_nameless: false,
            bell: spec.has_bell.then(|| path.to_owned()),
        })
    }

    /// Opens the region of a ticket: the one that `spec` names, or the one without a name.
    ///
    /// # Errors
    /// [`RegionFault::Identity`], [`RegionFault::Size`]; as [`open`](Self::open).
    pub fn open_for(spec: &Spec, ticket: &Ticket) -> Result<Self> {
        let region = match (&spec.path, ticket.path()) {
            (None, Some(path)) => {
                let region = Self::open_at(Path::new(&path), spec);
                let region = region.map_err(|_| {
                    TransportError::environment("the window of PE 0", RegionFault::NoPath)
                })?;
                Self {
                    is_nameless: true,
                    contract: Some(region.table.head().contract),
                    ..region
                }
            }
            _ => Self::open(spec)?,
        };
        let head = region.head();
        if head.identity != ticket.identity {
            return Err(region.file.fault(RegionFault::Identity {
                theirs: head.identity,
                ours: ticket.identity,
            }));
        }
        if head.size_bytes != ticket.size_bytes {
            return Err(region.file.fault(RegionFault::Size {
                theirs: head.size_bytes,
                ours: ticket.size_bytes,
            }));
        }
        Ok(region)
    }

    /// Its header.
    pub fn head(&self) -> &Head {
        self.table.head()
    }

    /// Finds room for a job and takes it: for PE 0. Frees units of dead jobs. A job of other hosts counts as
    /// dead after `lost_after` of silence.
    ///
    /// # Errors
    /// [`RegionFault::Full`], [`RegionFault::NoSpace`], [`RegionFault::Kernels`],
    /// [`RegionFault::NoEpoch`], [`RegionFault::Stopped`].
    pub fn claim(&self, needs: &Needs, lost_after: Duration) -> Result<Ticket> {
        let wanted = Span::bytes(needs.pes, needs.segment_bytes).unwrap_or(u64::MAX);
        let key = u128::from_ne_bytes(random()?);
        let claim = || {
            self.file.check_space(wanted)?;
            let _turn = self.file.turn()?;
            let kernel = self.kernel()?;
            let claim = self
                .table
                .claim(kernel, key, needs.pes, needs.segment_bytes);
            claim.map_err(|error| of_file(&self.file, error))
        };
        // Units of killed jobs may make room.
        self.take_back(None)?;
        let place = match claim() {
            Err(full) if self.take_back(Some(lost_after))? == 0 => return Err(full),
            Err(_) => claim()?,
            Ok(place) => place,
        };
        let emptied = self.empty(&place);
        let _turn = self.file.turn()?;
        let begun = emptied.and_then(|is_zeroed| self.table.run(&place).map(|()| is_zeroed));
        let is_zeroed = begun.map_err(|error| {
            // If the region is damaged, there is nothing to give back.
            let mark = place.mark(SlotState::Claimed);
            let _ = self.table.free(kernel_of(place.slot), place.slot, mark);
            of_file(&self.file, error)
        })?;
        Ok(Ticket {
            identity: self.head().identity,
            size_bytes: self.head().size_bytes,
            slot: place.slot as u32,
            incarnation: place.incarnation,
            key,
            is_zeroed,
            epoch: file::epoch(),
            nameless: self.is_nameless.then(|| {
                use std::os::fd::AsRawFd;
                let number = self.file.file.as_raw_fd();
                (std::process::id(), number.unsigned_abs())
            }),
        })
    }

    /// A region for one job of PEs of one kernel, and its ticket.
    ///
    /// # Errors
    /// As [`claim`](Self::claim).
    pub fn of_its_own(needs: &Needs, contract: Visibility) -> Result<(Self, Ticket)> {
        let wanted = Span::bytes(needs.pes, needs.segment_bytes);
        let wanted = wanted.and_then(|bytes| bytes.checked_add(2 * ALIGN_BYTES));
        let size_bytes = wanted
            .filter(|bytes| *bytes < i64::MAX as u64)
            .unwrap_or(1 << 62);
        let region = Self::nameless(size_bytes, contract)?;
        let ticket = region.claim(needs, Duration::ZERO)?;
        Ok((region, ticket))
    }

    /// The number of this kernel in the region.
    fn kernel(&self) -> Result<u32> {
        let epoch = match file::epoch() {
            // No other kernel has the region.
            0 if self.is_nameless => 1,
            0 => return Err(self.file.fault(RegionFault::NoEpoch)),
            epoch => epoch,
        };
        let token = u64::from_ne_bytes(random()?).max(1);
        let kernel = self.table.enter(epoch, token);
        kernel.map_err(|error| of_file(&self.file, error))
    }

    /// Zeroes the units of a job. False if its segments could not be zeroed.
    fn empty(&self, place: &JobSlot) -> Result<bool> {
        let is_zeroed = self.file.punch(self.at(place), self.bytes_of(place));
        if !is_zeroed {
            self.zero_front(place)?;
        }
        Ok(is_zeroed)
    }

    fn zero_front(&self, place: &JobSlot) -> Result<()> {
        let (front, pes) = (self.front(place)?, place.entry.pes);
        let window = Window::silent(front.clone(), self.head().contract);
        window.put(0, &vec![0; Span::lines_offset_bytes(pes)])?;
        Lines::new(&front, pes, self.head().contract)?.zero(pes)
    }

    /// The part of a job's units before its segments.
    fn front(&self, place: &JobSlot) -> Result<Memory> {
        let len_bytes = Span::front_bytes(place.entry.pes);
        let piece = Piece {
            at_bytes: 0,
            offset_bytes: self.at(place),
            len_bytes,
        };
        self.file.map(len_bytes, ALIGN_BYTES as usize, vec![piece])
    }

    /// The offset in the file at which the units of a job begin.
    fn at(&self, place: &JobSlot) -> u64 {
        self.offset_bytes + place.offset_bytes()
    }

    fn bytes_of(&self, place: &JobSlot) -> u64 {
        u64::from(place.entry.units) * ALIGN_BYTES
    }

    /// Frees the place of a dead job. If the place belongs to this kernel, its memory is given back to the
    /// system. False if another process was faster.
    fn release(&self, slot: usize, found: &Slot) -> Result<bool> {
        let _turn = self.file.turn()?;
        let kernel = self.kernel()?;
        if self.table.slot(slot)?.mark != found.mark {
            return Ok(false);
        }
        let place = match kernel == kernel_of(slot) {
            true => self.place_of(slot, found)?,
            false => None,
        };
        let Some(place) = place else {
            self.table.free(kernel, slot, found.mark)?;
            return Ok(true);
        };
        // If another job has already taken the units, their contents must stay.
        if let Some(place) = self.table.retake(&place)? {
            self.file.punch(self.at(&place), self.bytes_of(&place));
            self.table
                .free(kernel, slot, place.mark(SlotState::Claimed))?;
        }
        Ok(true)
    }
}

/// The contract and the length of the file or device that `spec` names.
fn check(file: &RegionFile, spec: &Spec) -> Result<(Option<Visibility>, u64)> {
    let aligned = |what, bytes: u64| match bytes.is_multiple_of(ALIGN_BYTES) {
        true => Ok(()),
        false => Err(file.fault(RegionFault::Unaligned {
            what,
            bytes,
            align_bytes: ALIGN_BYTES,
        })),
    };
    aligned("its offset", spec.offset_bytes)?;
    let there = file.len_bytes.saturating_sub(spec.offset_bytes);
    let size_bytes = spec.size_bytes.unwrap_or(there / ALIGN_BYTES * ALIGN_BYTES);
    aligned("its size", size_bytes)?;
    if size_bytes > there {
        let (theirs, ours) = (there, size_bytes);
        return Err(file.fault(RegionFault::Size { theirs, ours }));
    }
    let found = file.contract();
    if let (Some(Visibility::WriteCombining), Some(ours)) = (found, spec.contract)
        && ours != Visibility::WriteCombining
    {
        let theirs = contract_name(Visibility::WriteCombining);
        let ours = contract_name(ours);
        return Err(file.fault(RegionFault::Contract { theirs, ours }));
    }
    Ok((spec.contract.or(found), size_bytes))
}

/// Whether the present contents may be replaced by an empty region.
fn may_be_made(file: &RegionFile, spec: &Spec, memory: &Memory) -> Result<()> {
    let mut front = [0; 4096];
    memory.copy_out(0, &mut front)?;
    if front == [0; 4096] {
        return Ok(());
    }
    let old = match Table::open(memory.clone()) {
        Ok(table) => Region {
            file: file.again(),
            offset_bytes: spec.offset_bytes,
            table,
            contract: None,
            is_nameless: false,
            bell: None,
        },
        Err(_) if front.starts_with(b"hwwindow") => return Ok(()),
        Err(_) => return Err(file.fault(RegionFault::OtherContents)),
    };
    match old.living()? {
        0 => Ok(()),
        jobs => Err(file.fault(RegionFault::Living { jobs })),
    }
}

/// The same error, with the name of this file.
fn of_file(file: &RegionFile, error: TransportError) -> TransportError {
    match error {
        TransportError::Environment { fault, .. } => {
            TransportError::environment(file.name.clone(), fault)
        }
        other => other,
    }
}

impl RegionFile {
    fn again(&self) -> Self {
        Self {
            file: Arc::clone(&self.file),
            kind: self.kind,
            name: self.name.clone(),
            len_bytes: self.len_bytes,
        }
    }
}
