//! `mmap` and its family: private anonymous memory that may be read and written is borrowed.

use core::ffi::{c_int, c_long, c_void};

use crate::allocation::set_errno;
use crate::region::{self, Where, is_wanted, place_of};

/// Flags that say where or how memory is to lie. Who has them gets what was asked for.
const SPECIAL: c_int = libc::MAP_FIXED
    | libc::MAP_FIXED_NOREPLACE
    | libc::MAP_GROWSDOWN
    | libc::MAP_STACK
    | libc::MAP_HUGETLB
    | libc::MAP_LOCKED
    | libc::MAP_32BIT;

fn is_plain(protection: c_int, flags: c_int) -> bool {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    flags & kind == kind && flags & SPECIAL == 0 && protection == libc::PROT_READ | libc::PROT_WRITE
}

/// `mmap(2)`.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    if is_plain(protection, flags)
        && is_wanted(len)
        && let Ok(taken) = region::take(len, false)
    {
        return core::ptr::with_exposed_provenance_mut(taken);
    }
    // SAFETY: as the caller promises.
    let mapped =
        unsafe { libc::syscall(libc::SYS_mmap, address, len, protection, flags, fd, offset) };
    pointer(mapped)
}

/// As [`mmap`]: offsets have 64 bits everywhere.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mmap64(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    unsafe { mmap(address, len, protection, flags, fd, offset) }
}

fn pointer(result: c_long) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(result as usize)
}

/// `munmap(2)`.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, len: usize) -> c_int {
    match place_of(address.addr()) {
        Where::Here | Where::Abandoned if len == 0 || !is_page(address) => refused(),
        Where::Here => status(region::give_back(address.addr(), len).is_ok()),
        // It is the parent's, and was never mapped here.
        Where::Abandoned => 0,
        Where::Elsewhere => {
            // SAFETY: as the caller promises.
            let done = unsafe { libc::syscall(libc::SYS_munmap, address, len) };
            done as c_int
        }
    }
}

fn is_page(address: *mut c_void) -> bool {
    address.addr().is_multiple_of(hostwire_borrow::PAGE_BYTES)
}

fn refused() -> c_int {
    set_errno(libc::EINVAL);
    -1
}

fn status(is_done: bool) -> c_int {
    if is_done {
        return 0;
    }
    set_errno(libc::ENOMEM);
    -1
}

/// `madvise(2)`. Of advice on borrowed memory only what changes its contents is followed.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(address: *mut c_void, len: usize, advice: c_int) -> c_int {
    match place_of(address.addr()) {
        Where::Here | Where::Abandoned if !is_page(address) => refused(),
        Where::Here => match advice {
            libc::MADV_DONTNEED | libc::MADV_FREE | libc::MADV_REMOVE if len > 0 => {
                status(region::discard(address.addr(), len).is_ok())
            }
            // The system knows what is advice. It changes nothing of no length.
            // SAFETY: as the caller promises, of no bytes.
            _ => unsafe { libc::syscall(libc::SYS_madvise, address, 0_usize, advice) as c_int },
        },
        Where::Abandoned => 0,
        Where::Elsewhere => {
            // SAFETY: as the caller promises.
            let done = unsafe { libc::syscall(libc::SYS_madvise, address, len, advice) };
            done as c_int
        }
    }
}

/// `mremap(2)`. Borrowed memory shrinks where it is, and grows by a copy.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mremap(
    address: *mut c_void,
    old_len: usize,
    new_len: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    if place_of(address.addr()) == Where::Elsewhere {
        // SAFETY: as the caller promises.
        let mapped = unsafe {
            libc::syscall(
                libc::SYS_mremap,
                address,
                old_len,
                new_len,
                flags,
                new_address,
            )
        };
        return pointer(mapped);
    }
    if flags & !libc::MREMAP_MAYMOVE != 0 || place_of(address.addr()) == Where::Abandoned {
        set_errno(libc::EINVAL);
        return libc::MAP_FAILED;
    }
    let page = hostwire_borrow::PAGE_BYTES;
    let (old, new) = (
        old_len.next_multiple_of(page),
        new_len.next_multiple_of(page),
    );
    if new <= old {
        let tail = old - new;
        return match tail == 0 || region::give_back(address.addr() + new, tail).is_ok() {
            true => address,
            false => libc::MAP_FAILED,
        };
    }
    let taken = match flags & libc::MREMAP_MAYMOVE {
        0 => None,
        _ => region::take(new_len, false).ok(),
    };
    let Some(taken) = taken else {
        set_errno(libc::ENOMEM);
        return libc::MAP_FAILED;
    };
    let to = core::ptr::with_exposed_provenance_mut::<c_void>(taken);
    // SAFETY: the caller promises that `old_len` bytes are mapped at `address`. At `to` there are
    // more, new ones, which overlap nothing.
    unsafe { core::ptr::copy_nonoverlapping(address.cast::<u8>(), to.cast(), old_len) };
    // What was moved from is not needed; if the pager is gone, the process ends soon.
    let _ = region::give_back(address.addr(), old);
    to
}
