//! Anonymous files as shared memory: made, sealed, checked, mapped.
//!
//! A memfd has no name, so it leaves nothing behind, whichever process dies. Only memory limits
//! its size, so a small or missing `/dev/shm` does not matter. The seals keep a peer from
//! truncating the file: a load beyond its new end would raise SIGBUS.

use core::ptr::NonNull;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::{Resource, getrlimit};

use crate::error::{EnvironmentFault, Limit, SystemError, TransportError};
use crate::memory::{Backing, Memory};

const SEALS: SealFlags = SealFlags::SHRINK
    .union(SealFlags::GROW)
    .union(SealFlags::SEAL);

/// Segments begin at multiples of a huge page and are whole huge pages long, so that the kernel can
/// use huge pages for them.
pub(super) const SEGMENT_ALIGN_BYTES: usize = 2 << 20;

/// The smallest alignment of a mapping. Where pages are larger, mappings are aligned to pages.
const PAGE_BYTES: usize = 4096;

/// A zeroed file of `len_bytes` bytes whose size can no longer change. Its pages are
/// allocated on first touch.
pub fn create(label: &str, len_bytes: usize) -> Result<OwnedFd, TransportError> {
    let failed = |what: &str, cause: Errno| {
        TransportError::environment(format!("{what} shared memory of {len_bytes} bytes"), cause)
    };
    let file = rustix::fs::memfd_create(label, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)
        .map_err(|e| failed("creating", e))?;
    rustix::fs::ftruncate(&file, len_bytes as u64).map_err(|e| failed("sizing", e))?;
    rustix::fs::fcntl_add_seals(&file, SEALS).map_err(|e| failed("sealing", e))?;
    Ok(file)
}

/// Checks the limit first: a process that makes a file longer than its limit gets no error but is
/// killed by a signal.
pub fn check_file_limit(len_bytes: u64, what: impl Fn() -> String) -> Result<(), TransportError> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < len_bytes => Err(TransportError::environment(
            what(),
            EnvironmentFault::Limit {
                limit: Limit::FileBytes,
                detail: format!("files may have at most {limit} bytes").into(),
            },
        )),
        _ => Ok(()),
    }
}

/// Maps a file that [`create`] made, possibly in another process, at a multiple of
/// `align_bytes`, a power of two and at least the size of a page. The memory keeps the file: see
/// [`Memory::file`].
///
/// # Errors
/// [`TransportError::Environment`] if the file has another size or is not sealed, or, with
/// the text that `finding` gives, if there is no address space for it.
pub(super) fn map_aligned(
    file: OwnedFd,
    len_bytes: usize,
    align_bytes: usize,
    finding: impl Fn() -> String,
) -> Result<Memory, TransportError> {
    let (base, mut mapping) = place(&file, len_bytes, align_bytes, finding)?;
    mapping.file = Some((file, base));
    // SAFETY: as `place` says; the file cannot be truncated, which it has checked.
    Ok(unsafe { Memory::new(base, len_bytes, Arc::new(mapping)) })
}

/// New memory in a file, which it keeps.
///
/// # Errors
/// [`TransportError::Environment`] if there is no memory, or no address space for it.
pub fn lone(label: &str, len_bytes: usize) -> Result<Memory, TransportError> {
    map_kept(create(label, len_bytes)?, len_bytes)
}

/// Maps a file that [`create`] made, which the memory keeps.
///
/// # Errors
/// [`TransportError::Environment`] if there is no address space for it.
pub fn map_kept(file: OwnedFd, len_bytes: usize) -> Result<Memory, TransportError> {
    let finding = || format!("finding addresses for {len_bytes} bytes of shared memory");
    map_aligned(file, len_bytes, PAGE_BYTES, finding)
}

/// Maps the file and returns its first byte. The memory there is aligned to pages and as long as
/// the file, it stays mapped until the mapping is dropped, and no reference to it exists.
fn place(
    file: &impl AsFd,
    len_bytes: usize,
    align_bytes: usize,
    finding: impl Fn() -> String,
) -> Result<(NonNull<u8>, Mapping), TransportError> {
    check(file, len_bytes)?;
    place_part(file, (0, len_bytes), align_bytes, finding)
}

/// As [`place`], of the `len_bytes` bytes from `begin` on of a file that is long enough and sealed.
fn place_part(
    file: &impl AsFd,
    (begin, len_bytes): (u64, usize),
    align_bytes: usize,
    finding: impl Fn() -> String,
) -> Result<(NonNull<u8>, Mapping), TransportError> {
    let no_room = |cause: Option<Errno>| {
        let cause = cause.map(SystemError::from);
        TransportError::environment(finding(), EnvironmentFault::NoRoom { cause })
    };
    // Long enough to hold the file at a multiple of the alignment.
    let reserved_bytes = len_bytes
        .checked_add(align_bytes)
        .filter(|bytes| *bytes <= isize::MAX as usize)
        .ok_or_else(|| no_room(None))?;
    // SAFETY: a fresh mapping at an address of the kernel's choice touches no memory
    // of this process.
    let reserved = unsafe {
        rustix::mm::mmap_anonymous(
            core::ptr::null_mut(),
            reserved_bytes,
            ProtFlags::empty(),
            MapFlags::PRIVATE | MapFlags::NORESERVE,
        )
    }
    .map_err(|e| no_room(Some(e)))?;
    let reserved = NonNull::new(reserved.cast::<u8>()).ok_or_else(|| no_room(None))?;
    // From here on dropping this unmaps everything.
    let mapping = Mapping {
        base: reserved,
        len_bytes: reserved_bytes,
        file: None,
    };
    let to_aligned = reserved.as_ptr().align_offset(align_bytes);
    // SAFETY: less than the alignment, and so many bytes more were reserved.
    let base = unsafe { reserved.add(to_aligned) };
    // SAFETY: replaces a part of the reservation above, to which no reference exists.
    unsafe {
        rustix::mm::mmap(
            base.as_ptr().cast(),
            len_bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED,
            file,
            begin,
        )
    }
    .map_err(|e| no_room(Some(e)))?;
    Ok((base, mapping))
}

/// Maps one such file.
pub fn map(file: impl AsFd, len_bytes: usize) -> Result<Memory, TransportError> {
    let (base, mapping) = place(&file, len_bytes, PAGE_BYTES, || {
        format!("finding addresses for a shared file of {len_bytes} bytes")
    })?;
    // SAFETY: as `place` says; the file cannot be truncated, which it has checked.
    Ok(unsafe { Memory::new(base, len_bytes, Arc::new(mapping)) })
}

/// Maps all of a sealed file of any size.
pub fn map_whole(file: impl AsFd) -> Result<Memory, TransportError> {
    let len_bytes = size_of_file(&file)?;
    map(file, len_bytes)
}

/// Maps `len_bytes` bytes of a sealed file, from `begin` on, a multiple of the page size. A process that needs a part of each of many
/// long files would not have the addresses for all of them.
///
/// # Errors
/// [`TransportError::OutOfRange`] if the file is shorter; [`TransportError::Environment`] if it is not sealed, or cannot be mapped.
pub fn map_part(
    file: impl AsFd,
    (begin, len_bytes): (u64, usize),
) -> Result<Memory, TransportError> {
    let size_bytes = size_of_file(&file)?;
    check(&file, size_bytes)?;
    let offset_bytes = usize::try_from(begin).unwrap_or(usize::MAX);
    if offset_bytes
        .checked_add(len_bytes)
        .is_none_or(|end| end > size_bytes)
    {
        return Err(TransportError::OutOfRange {
            offset_bytes,
            len_bytes,
            segment_bytes: size_bytes,
        });
    }
    let (base, mapping) = place_part(&file, (begin, len_bytes), PAGE_BYTES, || {
        format!("finding addresses for {len_bytes} bytes of a shared file")
    })?;
    // SAFETY: as `place` says; the file cannot be truncated, which `check` has seen, and is long enough.
    Ok(unsafe { Memory::new(base, len_bytes, Arc::new(mapping)) })
}

fn size_of_file(file: &impl AsFd) -> Result<usize, TransportError> {
    let found = rustix::fs::fstat(file)
        .map_err(|e| TransportError::environment("looking at a shared file", e))?;
    Ok(usize::try_from(found.st_size).unwrap_or(0))
}

fn check(file: &impl AsFd, len_bytes: usize) -> Result<(), TransportError> {
    let unusable = |fault: EnvironmentFault| {
        TransportError::environment("shared memory that was handed over is unusable", fault)
    };
    let got = rustix::fs::fstat(file)
        .map_err(|e| unusable(e.into()))?
        .st_size;
    if u64::try_from(got) != Ok(len_bytes as u64) {
        return Err(unusable(EnvironmentFault::unexpected(
            format_args!("{len_bytes} bytes"),
            format_args!("{got} (do all PEs run with the same heap and ring sizes?)"),
        )));
    }
    let seals = rustix::fs::fcntl_get_seals(file).map_err(|e| unusable(e.into()))?;
    if !seals.contains(SEALS) {
        return Err(unusable(EnvironmentFault::unexpected(
            format_args!("seals {SEALS:?}"),
            format_args!("{seals:?}"),
        )));
    }
    Ok(())
}

struct Mapping {
    base: NonNull<u8>,
    len_bytes: usize,
    /// The file and the address of its first byte, if the memory keeps the file.
    file: Option<(OwnedFd, NonNull<u8>)>,
}

// SAFETY: an address range; `Memory` governs access to what is behind it.
unsafe impl Send for Mapping {}
// SAFETY: the method of a shared one only computes with addresses.
unsafe impl Sync for Mapping {}

impl Backing for Mapping {
    fn file(&self, address: NonNull<u8>) -> Option<(BorrowedFd<'_>, u64)> {
        let (file, first) = self.file.as_ref()?;
        let offset_bytes = address.addr().get().checked_sub(first.addr().get())?;
        Some((file.as_fd(), offset_bytes as u64))
    }

    fn give_back(&self, address: NonNull<u8>, len_bytes: usize) -> bool {
        let how = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        let punch = |(file, begin)| rustix::fs::fallocate(file, how, begin, len_bytes as u64);
        let file = self.file(address);
        match len_bytes {
            0 => file.is_some(),
            _ => file.is_some_and(|file| punch(file).is_ok()),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly the range that `map` mapped, and the last `Memory` over it
        // is gone.
        let _ = unsafe { rustix::mm::munmap(self.base.as_ptr().cast(), self.len_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page of any machine.
    const PAGE: usize = 64 << 10;

    #[test]
    fn two_mappings_of_one_file_are_the_same_bytes() {
        let file = create("test", 2 * PAGE).unwrap();
        let (a, b) = (map(&file, 2 * PAGE).unwrap(), map(&file, 2 * PAGE).unwrap());
        a.copy_in(PAGE + 904, b"hello").unwrap();
        let mut out = [0; 5];
        b.copy_out(PAGE + 904, &mut out).unwrap();
        assert_eq!(&out, b"hello");
    }

    #[test]
    fn a_part_of_a_file_is_those_bytes_of_it() {
        let file = create("test", 3 * PAGE).unwrap();
        let (whole, part) = (
            map(&file, 3 * PAGE).unwrap(),
            map_part(&file, (PAGE as u64, PAGE)).unwrap(),
        );
        whole.copy_in(PAGE + 70, b"hello").unwrap();
        let mut out = [0; 5];
        part.copy_out(70, &mut out).unwrap();
        assert_eq!((&out, part.len_bytes()), (b"hello", PAGE));
        for wrong in [(2 * PAGE as u64, PAGE + 1), (u64::MAX, 1), (100, 64)] {
            assert!(map_part(&file, wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_peer_cannot_shrink_the_file() {
        let file = create("test", 8192).unwrap();
        assert_eq!(rustix::fs::ftruncate(&file, 0), Err(Errno::PERM));
    }

    #[test]
    fn a_file_of_the_wrong_size_or_without_seals_is_refused() {
        let file = create("test", 8192).unwrap();
        let refused = |file: &OwnedFd, expected: &str, got: &str| {
            let fault = EnvironmentFault::unexpected(expected, got);
            let what = "shared memory that was handed over is unusable";
            assert_eq!(
                map(file, 4096).unwrap_err(),
                TransportError::environment(what, fault)
            );
        };
        refused(
            &file,
            "4096 bytes",
            "8192 (do all PEs run with the same heap and ring sizes?)",
        );
        let bare = rustix::fs::memfd_create("bare", MemfdFlags::ALLOW_SEALING).unwrap();
        rustix::fs::ftruncate(&bare, 4096).unwrap();
        refused(&bare, &format!("seals {SEALS:?}"), "SealFlags(0x0)");
    }
}
