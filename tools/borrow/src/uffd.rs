//! The system calls: `userfaultfd(2)` and the memory file behind the program's pages.
//!
//! The program's pages lie in a memory file that it maps shared and the pager has open. So the pager
//! can read a page that it writes back, and take it away, without the help of the program.
//!
//! # Source
//! Linux, `userfaultfd(2)`, `ioctl_userfaultfd(2)`, `include/uapi/linux/userfaultfd.h`.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::io::Errno;

use crate::PAGE_BYTES;

/// Version of the interface.
const API: u64 = 0xaa;
const FEATURE_PAGEFAULT_FLAG_WP: u64 = 1 << 0;
const FEATURE_MISSING_SHMEM: u64 = 1 << 5;
const FEATURE_WP_SHMEM: u64 = 1 << 12;
/// What the pager needs.
const FEATURES: u64 = FEATURE_PAGEFAULT_FLAG_WP | FEATURE_MISSING_SHMEM | FEATURE_WP_SHMEM;

const IOCTL_NEW: u64 = 0xaa00;
const IOCTL_API: u64 = 0xc018_aa3f;
const IOCTL_REGISTER: u64 = 0xc020_aa00;
const IOCTL_WAKE: u64 = 0x8010_aa02;
const IOCTL_COPY: u64 = 0xc028_aa03;
const IOCTL_WRITEPROTECT: u64 = 0xc018_aa06;

const REGISTER_MISSING: u64 = 1;
const REGISTER_WP: u64 = 2;
const COPY_WP: u64 = 2;
const WRITEPROTECT_WP: u64 = 1;

/// `struct uffd_msg`, as it is used here.
const MESSAGE_BYTES: usize = 32;
const EVENT_PAGEFAULT: u8 = 0x12;
const FLAG_WRITE: u64 = 1;
const FLAG_WP: u64 = 2;
/// Faults that are read at once.
const FAULTS_MAX: usize = 16;

#[repr(C)]
struct ApiRequest {
    api: u64,
    features: u64,
    ioctls: u64,
}

#[repr(C)]
struct RangeRequest {
    start: u64,
    len: u64,
}

#[repr(C)]
struct RegisterRequest {
    range: RangeRequest,
    mode: u64,
    ioctls: u64,
}

#[repr(C)]
struct CopyRequest {
    dst: u64,
    src: u64,
    len: u64,
    mode: u64,
    copied: i64,
}

#[repr(C)]
struct ProtectRequest {
    range: RangeRequest,
    mode: u64,
}

/// Why memory cannot be borrowed here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The kernel does not let this user have it.
    #[error(
        "userfaultfd is refused ({errno}): as root set 'sysctl vm.unprivileged_userfaultfd=1', or \
         give the user access to /dev/userfaultfd, or CAP_SYS_PTRACE; a container needs the device"
    )]
    Refused {
        /// What the system call says.
        errno: Errno,
    },
    /// The kernel has none.
    #[error("this kernel has no userfaultfd ({errno})")]
    Missing {
        /// What the system call says.
        errno: Errno,
    },
    /// The kernel is too old.
    #[error(
        "userfaultfd of this kernel cannot protect shared memory ({errno}): it takes Linux 5.19"
    )]
    TooOld {
        /// What the system call says.
        errno: Errno,
    },
}

/// A thread that was stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoppedAt {
    /// The address that it touched.
    pub address: usize,
    /// To store there.
    pub is_write: bool,
    /// The page is there, and protected.
    pub is_protected: bool,
}

/// The descriptor at which the faults of one process arrive.
#[derive(Debug)]
pub struct Uffd {
    fd: OwnedFd,
}

impl AsFd for Uffd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Uffd {
    /// One for the faults of this process, also of its system calls.
    ///
    /// # Errors
    /// [`Unusable`].
    pub fn new() -> Result<Self, Unusable> {
        let made = open_by_call().or_else(|errno| match errno {
            Errno::PERM | Errno::ACCESS => open_by_device().map_err(|_| errno),
            _ => Err(errno),
        });
        let fd = made.map_err(|errno| match errno {
            Errno::NOSYS => Unusable::Missing { errno },
            _ => Unusable::Refused { errno },
        })?;
        let uffd = Self { fd };
        let mut request = ApiRequest {
            api: API,
            features: FEATURES,
            ioctls: 0,
        };
        // SAFETY: UFFDIO_API reads and writes a `uffdio_api`, of which `ApiRequest` has the layout.
        let done = unsafe { uffd.ioctl(IOCTL_API, &mut request) };
        done.map_err(|errno| Unusable::TooOld { errno })?;
        Ok(uffd)
    }

    /// One that another process has made for itself.
    pub fn of_another(fd: OwnedFd) -> Self {
        Self { fd }
    }

    /// Its descriptor.
    pub fn fd(&self) -> &OwnedFd {
        &self.fd
    }

    /// # Safety
    /// The request must read and write at most a `T` with this layout.
    unsafe fn ioctl<T>(&self, request: u64, argument: &mut T) -> Result<(), Errno> {
        // SAFETY: the caller promises that the request fits `T`, which outlives the call.
        let done = unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                request as libc::Ioctl,
                core::ptr::from_mut(argument),
            )
        };
        match done {
            -1 => Err(last_errno()),
            _ => Ok(()),
        }
    }

    /// From now on touching a page of this range that is not there stops the thread.
    ///
    /// # Errors
    /// As the system says.
    pub fn register(&self, range: Range<usize>) -> Result<(), Errno> {
        let mut request = RegisterRequest {
            range: request_of(&range),
            mode: REGISTER_MISSING | REGISTER_WP,
            ioctls: 0,
        };
        // SAFETY: UFFDIO_REGISTER reads and writes a `uffdio_register`, of which `RegisterRequest` has
        // the layout.
        unsafe { self.ioctl(IOCTL_REGISTER, &mut request) }
    }

    /// Puts pages there, and wakes the threads that wait for them. Pages that are there already stay. Where the process
    /// has mapped something else by now, or nothing, the waiting threads try again.
    ///
    /// # Errors
    /// As the system says. [`Errno::SRCH`] where the process has ended.
    pub fn copy(&self, to: usize, bytes: &[u8], is_protected: bool) -> Result<(), Errno> {
        let mut at_once = bytes.len();
        let mut done = 0;
        while let Some(rest) = bytes.get(done..).filter(|rest| !rest.is_empty()) {
            let now = rest.get(..at_once).unwrap_or(rest);
            let mut request = CopyRequest {
                dst: (to + done) as u64,
                src: now.as_ptr() as u64,
                len: now.len() as u64,
                mode: if is_protected { COPY_WP } else { 0 },
                copied: 0,
            };
            // SAFETY: UFFDIO_COPY reads and writes a `uffdio_copy`, of which `CopyRequest` has the
            // layout. It reads `len` bytes at `src`, which are `now`, and writes in the process of
            // this descriptor to pages that are not there, to which no reference can lead.
            let result = unsafe { self.ioctl(IOCTL_COPY, &mut request) };
            let copied = usize::try_from(request.copied).unwrap_or(0);
            done += copied;
            match result {
                Ok(()) => {}
                // The pages are not of one mapping: the program has protected or locked a part, or put something
                // else there. One page is.
                Err(Errno::NOENT) if now.len() > PAGE_BYTES => at_once = PAGE_BYTES,
                Err(Errno::EXIST | Errno::NOENT) => {
                    self.wake(to + done, PAGE_BYTES)?;
                    done += PAGE_BYTES;
                }
                // The map of the process is being changed, or a part was done.
                Err(Errno::AGAIN) => std::thread::yield_now(),
                Err(errno) => return Err(errno),
            }
        }
        Ok(())
    }

    /// Protects pages from stores, or allows stores and wakes the threads that wait to store. Where the process has
    /// mapped something else by now, or nothing, the waiting threads try again.
    ///
    /// # Errors
    /// As [`copy`](Self::copy).
    pub fn protect(&self, range: Range<usize>, is_protected: bool) -> Result<(), Errno> {
        match self.protect_one(&range, is_protected) {
            // As in `copy`.
            Err(Errno::NOENT) => {}
            result => return result,
        }
        for start in range.step_by(PAGE_BYTES) {
            match self.protect_one(&(start..start + PAGE_BYTES), is_protected) {
                Err(Errno::NOENT) => self.wake(start, PAGE_BYTES)?,
                result => result?,
            }
        }
        Ok(())
    }

    /// As [`protect`](Self::protect), for a range in one mapping. [`Errno::NOENT`] if it spans several.
    fn protect_one(&self, range: &Range<usize>, is_protected: bool) -> Result<(), Errno> {
        loop {
            let mut request = ProtectRequest {
                range: request_of(range),
                mode: if is_protected { WRITEPROTECT_WP } else { 0 },
            };
            // SAFETY: UFFDIO_WRITEPROTECT reads and writes a `uffdio_writeprotect`, of which
            // `ProtectRequest` has the layout. It changes what stores do, no bytes.
            match unsafe { self.ioctl(IOCTL_WRITEPROTECT, &mut request) } {
                Err(Errno::AGAIN) => std::thread::yield_now(),
                result => return result,
            }
        }
    }

    /// Wakes the threads that wait there. They try again.
    ///
    /// # Errors
    /// As the system says.
    pub fn wake(&self, start: usize, len: usize) -> Result<(), Errno> {
        let mut request = request_of(&(start..start + len));
        // SAFETY: UFFDIO_WAKE reads a `uffdio_range`, of which `RangeRequest` has the layout.
        unsafe { self.ioctl(IOCTL_WAKE, &mut request) }
    }

    /// Threads that were stopped since the last call.
    ///
    /// # Errors
    /// As the system says.
    pub fn stopped(&self) -> Result<Vec<StoppedAt>, Errno> {
        let mut bytes = [0; FAULTS_MAX * MESSAGE_BYTES];
        let len = match rustix::io::read(&self.fd, &mut bytes) {
            Ok(len) => len,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(errno) => return Err(errno),
        };
        let messages = bytes.get(..len).unwrap_or_default();
        Ok(messages
            .chunks_exact(MESSAGE_BYTES)
            .filter_map(parse)
            .collect())
    }
}

/// A fault, if the message is one.
fn parse(message: &[u8]) -> Option<StoppedAt> {
    let word = |at: usize| {
        let bytes = message.get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let (flags, address) = (word(8)?, word(16)?);
    (message.first() == Some(&EVENT_PAGEFAULT)).then_some(StoppedAt {
        address: address as usize,
        is_write: flags & FLAG_WRITE != 0,
        is_protected: flags & FLAG_WP != 0,
    })
}

fn request_of(range: &Range<usize>) -> RangeRequest {
    RangeRequest {
        start: range.start as u64,
        len: range.len() as u64,
    }
}

fn last_errno() -> Errno {
    Errno::from_io_error(&io::Error::last_os_error()).unwrap_or(Errno::IO)
}

fn open_by_call() -> Result<OwnedFd, Errno> {
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the call takes flags only, and makes a descriptor.
    let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
    owned(fd)
}

/// By the device, whose permissions an administrator may change.
fn open_by_device() -> Result<OwnedFd, Errno> {
    let device = File::options()
        .read(true)
        .write(true)
        .open("/dev/userfaultfd");
    let device = device.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    let flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
    // SAFETY: the request takes flags only, and makes a descriptor.
    let fd = unsafe { libc::ioctl(device.as_raw_fd(), IOCTL_NEW as libc::Ioctl, flags) };
    owned(fd.into())
}

fn owned(fd: i64) -> Result<OwnedFd, Errno> {
    match i32::try_from(fd) {
        // SAFETY: the kernel has just made this descriptor, and nobody else knows it.
        Ok(fd) if fd >= 0 => Ok(unsafe { OwnedFd::from_raw_fd(fd) }),
        _ => Err(last_errno()),
    }
}

/// The file in which the pages that are here lie.
///
/// # Errors
/// As the system says.
pub fn memory_file(bytes: u64) -> Result<File, Errno> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let fd = rustix::fs::memfd_create(c"hostwire-borrowed", flags)?;
    rustix::fs::ftruncate(&fd, bytes)?;
    rustix::fs::fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(File::from(fd))
}

/// Takes pages of the file away, for all who map it.
///
/// # Errors
/// As the system says.
pub fn remove(file: &File, bytes: Range<u64>) -> Result<(), Errno> {
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    loop {
        match rustix::fs::fallocate(file, flags, bytes.start, bytes.end - bytes.start) {
            Err(Errno::INTR) => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_is_no_fault_is_none() {
        let mut message = [0; MESSAGE_BYTES];
        assert_eq!(parse(&message), None);
        message[0] = EVENT_PAGEFAULT;
        message[8] = (FLAG_WRITE | FLAG_WP) as u8;
        message[17] = 0x10;
        let stopped = StoppedAt {
            address: 0x1000,
            is_write: true,
            is_protected: true,
        };
        assert_eq!(parse(&message), Some(stopped));
        assert_eq!(parse(&message[..16]), None);
    }
}
