//! The file or device behind a region: opened, checked, mapped.

use core::ptr::NonNull;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hostwire_transport::error::{EnvironmentFault, RegionFault, SystemError, TransportError};
use hostwire_transport::memory::{Backing, Memory};
use hostwire_transport::quoted;
use hostwire_transport::visibility::Visibility;
use rustix::fs::{FallocateFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};

use super::format::ALIGN_BYTES;

/// The kind of object behind the path of a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A file whose pages belong to the kernel of this host: on tmpfs, hugetlbfs, virtio-fs, or without a name.
    File,
    /// A device-dax node, or another device that maps memory.
    Device,
    /// The memory of a PCI device.
    Bar {
        /// It is mapped write-combining.
        is_combining: bool,
        /// The device is memory that virtual machines of one host share, so it is cache-coherent.
        is_ivshmem: bool,
    },
}

/// Type of the file system that shows devices.
const SYSFS_MAGIC: u64 = 0x6265_6572;
/// `f_type` of hugetlbfs (linux/magic.h).
const HUGETLBFS_MAGIC: u64 = 0x9584_58f6;
/// Vendor and device of ivshmem.
const IVSHMEM: (&str, &str) = ("0x1af4", "0x1110");
/// The offset of the command register in the configuration of a PCI device.
const COMMAND_OFFSET_BYTES: usize = 4;
/// Its bit that enables memory accesses.
const COMMAND_MEMORY: u8 = 1 << 1;
/// The end of the name of a BAR that is mapped write-combining.
const COMBINING: &str = "_wc";

/// An opened file or device.
#[derive(Debug)]
pub(crate) struct RegionFile {
    pub(crate) file: Arc<OwnedFd>,
    pub(crate) kind: Kind,
    /// For texts.
    pub(crate) name: Box<str>,
    /// Bytes of all of it.
    pub(crate) len_bytes: u64,
}

type Result<T, E = TransportError> = core::result::Result<T, E>;

impl RegionFile {
    /// Opens what is at `path`.
    ///
    /// # Errors
    /// Errors of the system; [`RegionFault::Owner`], [`RegionFault::Mode`], [`RegionFault::Kind`].
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = named(path);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let file = rustix::fs::open(path, flags, Mode::empty())
            .map_err(|e| TransportError::environment(format!("opening {name}"), e))?;
        Self::of(file, path, name)
    }

    /// Makes a file there, which must not exist, for this user alone.
    pub(crate) fn create(path: &Path, len_bytes: u64) -> Result<Self> {
        let name = named(path);
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::CREATE | OFlags::EXCL;
        let failed = |e: Errno| TransportError::environment(format!("making {name}"), e);
        hostwire_transport::shm::check_file_limit(len_bytes, || format!("making {name}"))?;
        let file = rustix::fs::open(path, flags, Mode::RUSR | Mode::WUSR).map_err(failed)?;
        rustix::fs::ftruncate(&file, len_bytes)
            .map_err(failed)
            .and_then(|()| Self::of(file, path, name))
            .inspect_err(|_| remove(path))
    }

    /// Memory of the system without a name. It ends with the last process that has it open.
    pub(crate) fn nameless(len_bytes: u64) -> Result<Self> {
        let what = || format!("making a region of {len_bytes} bytes");
        hostwire_transport::shm::check_file_limit(len_bytes, what)?;
        let len = usize::try_from(len_bytes).unwrap_or(usize::MAX);
        let file = hostwire_transport::shm::create_file("hostwire-window", len)?;
        rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR)
            .map_err(|e| TransportError::environment(what(), e))?;
        Ok(Self {
            file: Arc::new(file),
            kind: Kind::File,
            name: "the window without a name".into(),
            len_bytes,
        })
    }

    fn of(file: OwnedFd, path: &Path, name: String) -> Result<Self> {
        let failed = |e: Errno| TransportError::environment(format!("looking at {name}"), e);
        let stat = rustix::fs::fstat(&file).map_err(failed)?;
        let system = rustix::fs::fstatfs(&file).map_err(failed)?;
        let opened = |kind, len_bytes| Self {
            file: Arc::new(file),
            kind,
            name: name.clone().into(),
            len_bytes,
        };
        let file_bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let found = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile if system.f_type as u64 == SYSFS_MAGIC => {
                let kind = bar(path).map_err(|fault| in_region(&name, fault))?;
                opened(kind, file_bytes)
            }
            FileType::RegularFile => opened(Kind::File, file_bytes),
            FileType::CharacterDevice => opened(Kind::Device, device_bytes(&stat)),
            _ => return Err(in_region(&name, RegionFault::Kind)),
        };
        found.check_owner(&stat)?;
        Ok(found)
    }

    /// Checks the owner: PEs of a job belong to one user, and are not protected from processes that can open this.
    fn check_owner(&self, stat: &Stat) -> Result<()> {
        let (owner, user) = (stat.st_uid, rustix::process::geteuid().as_raw());
        // Devices may be given to groups of users.
        let (others, wanted) = match self.kind {
            Kind::File => (0o077, 0o600),
            Kind::Device | Kind::Bar { .. } => (0o007, 0o660),
        };
        let mode = stat.st_mode & 0o7777;
        if mode & others != 0 {
            return Err(self.fault(RegionFault::Mode { mode, wanted }));
        }
        if owner != user && owner != 0 && user != 0 {
            return Err(self.fault(RegionFault::Owner { owner, user }));
        }
        Ok(())
    }

    /// An error of this region.
    pub(crate) fn fault(&self, fault: RegionFault) -> TransportError {
        in_region(&self.name, fault)
    }

    /// The contract, as far as the system says it.
    pub(crate) fn contract(&self) -> Option<Visibility> {
        match self.kind {
            Kind::File => Some(Visibility::Coherent),
            Kind::Device => None,
            Kind::Bar {
                is_combining: true, ..
            } => Some(Visibility::WriteCombining),
            Kind::Bar { is_ivshmem, .. } => is_ivshmem.then_some(Visibility::Coherent),
        }
    }

    /// Extends the file to this length, if it is shorter.
    pub(crate) fn grow(&mut self, len_bytes: u64) -> Result<()> {
        if self.kind == Kind::File && self.len_bytes < len_bytes {
            let what = || format!("making {} longer", self.name);
            hostwire_transport::shm::check_file_limit(len_bytes, what)?;
            rustix::fs::ftruncate(&*self.file, len_bytes)
                .map_err(|e| TransportError::environment(what(), e))?;
            self.len_bytes = len_bytes;
        }
        Ok(())
    }

    /// Zeroes the bytes and gives their memory back to the system. False if that is not possible.
    pub(crate) fn punch(&self, offset_bytes: u64, len_bytes: u64) -> bool {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        self.kind == Kind::File
            && rustix::fs::fallocate(&*self.file, how, offset_bytes, len_bytes).is_ok()
    }

    /// Checks free space, because a store to a page without room ends the process.
    pub(crate) fn check_space(&self, wanted: u64) -> Result<()> {
        let Ok(system) = rustix::fs::fstatvfs(&*self.file) else {
            return Ok(());
        };
        let free = match system.f_blocks {
            // A file system without a limit of its own.
            0 => self.free_huge_pages_bytes(),
            _ => Some(system.f_bavail.saturating_mul(system.f_frsize)),
        };
        match free.filter(|free| self.kind == Kind::File && *free < wanted) {
            Some(free) => Err(self.fault(RegionFault::NoSpace { free, wanted })),
            None => Ok(()),
        }
    }

    /// Checks that the beginning was written, without a load: a load of a missing page takes memory, and ends the
    /// process if there is none. If nothing was written, there is no region.
    pub(crate) fn check_is_written(&self, offset_bytes: u64) -> Result<()> {
        let mut begin = [0; 8];
        // Files that cannot be read in this way, as on hugetlbfs, are left to loads.
        match rustix::io::pread(&*self.file, &mut begin, offset_bytes) {
            Ok(got) if self.kind == Kind::File && begin[..got] == [0; 8] => {
                Err(self.fault(RegionFault::NoRegion))
            }
            _ => Ok(()),
        }
    }

    /// The free huge pages of the system, in bytes, for a file on hugetlbfs; `None` for other files.
    fn free_huge_pages_bytes(&self) -> Option<u64> {
        let system = rustix::fs::fstatfs(&*self.file).ok()?;
        if system.f_type as u64 != HUGETLBFS_MAGIC {
            return None;
        }
        let page_bytes = u64::try_from(system.f_bsize).ok()?;
        let folder = format!("/sys/kernel/mm/hugepages/hugepages-{}kB", page_bytes / 1024);
        let pages = |name: &str| -> Option<u64> {
            let text = std::fs::read_to_string(Path::new(&folder).join(name)).ok()?;
            text.trim().parse().ok()
        };
        let free = pages("free_hugepages")?.saturating_sub(pages("resv_hugepages")?);
        Some(free.saturating_mul(page_bytes))
    }

    /// Maps pieces of it into `len_bytes` bytes at a multiple of `align_bytes`.
    ///
    /// # Errors
    /// [`EnvironmentFault::NoRoom`], errors of the system; [`RegionFault::Size`] if a piece does not lie in the
    /// file.
    pub(crate) fn map(
        &self,
        len_bytes: usize,
        align_bytes: usize,
        pieces: Vec<Piece>,
    ) -> Result<Memory> {
        let end = |piece: &Piece| piece.offset_bytes.saturating_add(piece.len_bytes as u64);
        let ours = pieces.iter().map(end).max().unwrap_or(0);
        // Beyond its end a load would end the process.
        if ours > self.len_bytes {
            let theirs = self.len_bytes;
            return Err(self.fault(RegionFault::Size { theirs, ours }));
        }
        let mapping = Mapping::new(&self.file, len_bytes, align_bytes, pieces);
        let mapping = mapping.map_err(|cause| {
            let what = format!("finding addresses for {len_bytes} bytes of {}", self.name);
            let cause = cause.map(SystemError::from);
            TransportError::environment(what, EnvironmentFault::NoRoom { cause })
        })?;
        let base = mapping.base;
        // SAFETY: every byte of a piece is mapped for reading and writing until the mapping is
        // dropped; what lies between pieces is mapped without access, and only parts that are
        // pieces are handed on. No reference to it exists. The file is not shorter than the
        // pieces; who may make it shorter is this user, and gets the signal.
        Ok(unsafe { Memory::new(base, len_bytes, Arc::new(mapping)) })
    }
}

/// Removes a file that was made in vain.
pub(super) fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
}

fn named(path: &Path) -> String {
    format!("the window {}", quoted(&path.to_string_lossy()))
}

fn in_region(name: &str, fault: RegionFault) -> TransportError {
    TransportError::environment(name, fault)
}

/// The kind of the device to which this memory belongs, as the system says.
///
/// # Errors
/// As [`bar_of`].
fn bar(path: &Path) -> Result<Kind, RegionFault> {
    let folder = path.canonicalize().ok();
    let folder = folder.as_deref().and_then(Path::parent);
    let fact = |name: &str| {
        let text = std::fs::read_to_string(folder?.join(name)).ok()?;
        Some(text.trim().to_owned())
    };
    let is = |name, value| fact(name).as_deref() == Some(value);
    let is_ivshmem = is("vendor", IVSHMEM.0) && is("device", IVSHMEM.1);
    let registers = || {
        let mut registers = [0; COMMAND_OFFSET_BYTES + 2];
        let mut config = std::fs::File::open(folder?.join("config")).ok()?;
        config.read_exact(&mut registers).ok()?;
        Some(registers)
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    bar_of(&name, is_ivshmem, registers())
}

/// The kind of the BAR with this name. `registers` is the beginning of the device's configuration, if the system
/// shows it.
///
/// # Errors
/// [`RegionFault::SwitchedOff`]: the device would not answer loads and stores. The command register shows it. The
/// file `enable` does not: it only counts requests, and firmware enables devices without a request.
fn bar_of(
    name: &str,
    is_ivshmem: bool,
    registers: Option<[u8; COMMAND_OFFSET_BYTES + 2]>,
) -> Result<Kind, RegionFault> {
    match registers {
        Some(registers) if registers[COMMAND_OFFSET_BYTES] & COMMAND_MEMORY == 0 => {
            Err(RegionFault::SwitchedOff)
        }
        _ => Ok(Kind::Bar {
            is_combining: name.ends_with(COMBINING),
            is_ivshmem,
        }),
    }
}

/// The length of a device, as the system says. 0 if it does not.
fn device_bytes(stat: &Stat) -> u64 {
    let (major, minor) = (
        rustix::fs::major(stat.st_rdev),
        rustix::fs::minor(stat.st_rdev),
    );
    let path = PathBuf::from(format!("/sys/dev/char/{major}:{minor}/size"));
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.trim().parse().unwrap_or(0)
}

/// A range of a file, and where it is mapped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// In the mapping.
    pub(crate) at_bytes: usize,
    /// In the file.
    pub(crate) offset_bytes: u64,
    pub(crate) len_bytes: usize,
}

struct Mapping {
    file: Arc<OwnedFd>,
    base: NonNull<u8>,
    reserved: NonNull<u8>,
    reserved_bytes: usize,
    pieces: Vec<Piece>,
}

// SAFETY: an address range; `Memory` governs access to what is behind it.
unsafe impl Send for Mapping {}
// SAFETY: the method of a shared one only computes with addresses.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(
        file: &Arc<OwnedFd>,
        len_bytes: usize,
        align_bytes: usize,
        pieces: Vec<Piece>,
    ) -> Result<Self, Option<Errno>> {
        let reserved_bytes = len_bytes
            .checked_add(align_bytes)
            .filter(|bytes| *bytes <= isize::MAX as usize)
            .ok_or(None)?;
        // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory of this
        // process.
        let reserved = unsafe {
            rustix::mm::mmap_anonymous(
                core::ptr::null_mut(),
                reserved_bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?;
        let reserved = NonNull::new(reserved.cast::<u8>()).ok_or(None)?;
        let to_aligned = reserved.as_ptr().align_offset(align_bytes);
        // SAFETY: less than the alignment, and so many bytes more than needed are reserved.
        let base = unsafe { reserved.add(to_aligned) };
        // From here on dropping this unmaps everything.
        let mapping = Self {
            file: Arc::clone(file),
            base,
            reserved,
            reserved_bytes,
            pieces,
        };
        for piece in &mapping.pieces {
            let fits = piece.at_bytes <= len_bytes && piece.len_bytes <= len_bytes - piece.at_bytes;
            if !fits {
                return Err(None);
            }
            // SAFETY: inside the reservation, as was just checked.
            let at = unsafe { base.add(piece.at_bytes) };
            // SAFETY: replaces a part of the reservation above, to which no reference exists.
            unsafe {
                rustix::mm::mmap(
                    at.as_ptr().cast(),
                    piece.len_bytes,
                    ProtFlags::READ | ProtFlags::WRITE,
                    MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED,
                    &**file,
                    piece.offset_bytes,
                )
            }?;
        }
        Ok(mapping)
    }
}

impl Backing for Mapping {
    fn file(&self, address: NonNull<u8>) -> Option<(BorrowedFd<'_>, u64)> {
        let at_bytes = address.addr().get().checked_sub(self.base.addr().get())?;
        let within = |piece: &&Piece| {
            let behind = at_bytes.checked_sub(piece.at_bytes);
            behind.is_some_and(|bytes| bytes < piece.len_bytes)
        };
        let piece = self.pieces.iter().find(within)?;
        let offset_bytes = piece.offset_bytes + (at_bytes - piece.at_bytes) as u64;
        Some((self.file.as_fd(), offset_bytes))
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `new` reserved, and the last `Memory` over it is gone.
        let _ = unsafe { rustix::mm::munmap(self.reserved.as_ptr().cast(), self.reserved_bytes) };
    }
}

/// The tables of a region that begins at `offset_bytes`.
pub(crate) fn tables_piece(offset_bytes: u64) -> Piece {
    Piece {
        at_bytes: 0,
        offset_bytes,
        len_bytes: ALIGN_BYTES as usize,
    }
}

/// The random boot id of this host's kernel, as a number; 0 if it is not known.
pub(crate) fn epoch() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    match text.as_deref().map(str::trim) {
        Ok(text) if !text.is_empty() => super::format::fnv(text.as_bytes()).max(1),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Vendor, device and command of an ivshmem.
    const fn registers(command: u8) -> [u8; 6] {
        [0xf4, 0x1a, 0x10, 0x11, command, 0x01]
    }

    #[test]
    fn a_device_that_is_switched_off_is_refused() {
        for command in [0x00, 0x05] {
            let off = bar_of("resource2", true, Some(registers(command)));
            assert_eq!(off, Err(RegionFault::SwitchedOff));
        }
        let bar = |is_combining, is_ivshmem| {
            Ok(Kind::Bar {
                is_combining,
                is_ivshmem,
            })
        };
        let on = Some(registers(0x07));
        assert_eq!(bar_of("resource2", true, on), bar(false, true));
        assert_eq!(bar_of("resource2_wc", false, on), bar(true, false));
        // A configuration that the system does not show is no fault.
        assert_eq!(bar_of("resource2", true, None), bar(false, true));
    }
}
