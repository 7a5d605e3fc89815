//! `mmap` and its family: private anonymous memory that may be read and written is borrowed.
//!
//! The kernel sees other mappings than the program: borrowed memory is mapped shared, and addresses that nobody has are
//! reserved. So each call is cut into [pieces](region::pieces), and the checks that the kernel would make are made
//! here: what is not there, what goes to another place, and what becomes of the contents.

mod remap;

use core::ffi::{c_int, c_void};
use core::ops::Range;

use crate::addresses::is_near;
use crate::allocation::set_errno;
use crate::region::{self, Held, PAGE_BYTES, Piece, is_wanted};
use remap::Plan;

/// Flags that say where or how memory is to lie. Such a call gets exactly what it asks for.
const SPECIAL: c_int = libc::MAP_FIXED
    | libc::MAP_FIXED_NOREPLACE
    | libc::MAP_GROWSDOWN
    | libc::MAP_STACK
    | libc::MAP_HUGETLB
    | libc::MAP_LOCKED
    | libc::MAP_32BIT;

fn is_plain(protection: c_int, flags: c_int) -> bool {
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    flags & kind == kind && flags & SPECIAL == 0 && protection == BOTH
}

/// Flags of `mmap` with which borrowed memory can be in place of other borrowed memory.
const ANEW: c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
const BOTH: c_int = libc::PROT_READ | libc::PROT_WRITE;
/// Advice that makes touching the pages a fault: `MADV_GUARD_INSTALL` and `MADV_GUARD_REMOVE`.
const GUARDS: [c_int; 2] = [102, 103];

/// The pages of a range, if something of this library is among them. The kernel judges all other calls, and ranges that it
/// refuses in any case.
fn near(address: *mut c_void, len: usize) -> Option<Range<usize>> {
    let start = address.addr();
    let end = start.checked_add(len.checked_next_multiple_of(PAGE_BYTES)?)?;
    let is_page = start.is_multiple_of(PAGE_BYTES);
    Some(start..end).filter(|range| is_page && len > 0 && is_near(range))
}

fn pointer_to(address: usize) -> *mut c_void {
    core::ptr::with_exposed_provenance_mut(address)
}

fn failed(errno: c_int) -> c_int {
    set_errno(errno);
    -1
}

fn failed_map(errno: c_int) -> *mut c_void {
    set_errno(errno);
    libc::MAP_FAILED
}

/// # Safety
/// As for `mmap(2)`.
unsafe fn kernel_mmap(
    address: *mut c_void,
    len: usize,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: i64,
) -> *mut c_void {
    // SAFETY: as the caller promises.
    let mapped =
        unsafe { libc::syscall(libc::SYS_mmap, address, len, protection, flags, fd, offset) };
    pointer_to(mapped as usize)
}

/// # Safety
/// As for `mprotect(2)`.
unsafe fn kernel_mprotect(range: &Range<usize>, protection: c_int) -> c_int {
    let start = pointer_to(range.start);
    // SAFETY: as the caller promises.
    let done = unsafe { libc::syscall(libc::SYS_mprotect, start, range.len(), protection) };
    done as c_int
}

/// # Safety
/// As for `madvise(2)`.
unsafe fn kernel_madvise(range: &Range<usize>, advice: c_int) -> c_int {
    let start = pointer_to(range.start);
    // SAFETY: as the caller promises.
    let done = unsafe { libc::syscall(libc::SYS_madvise, start, range.len(), advice) };
    done as c_int
}

/// New local memory in place of what is there.
///
/// # Safety
/// Nothing there may be in use.
unsafe fn put_local(range: &Range<usize>, protection: c_int) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let start = pointer_to(range.start);
    // SAFETY: as the caller promises.
    let made = unsafe { kernel_mmap(start, range.len(), protection, flags, -1, 0) };
    made == start
}

/// New local memory where the kernel has room. `errno` says why not.
fn any_local(bytes: usize) -> Option<usize> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: the kernel chooses addresses where nothing is.
    let made = unsafe { kernel_mmap(core::ptr::null_mut(), bytes, BOTH, flags, -1, 0) };
    (made != libc::MAP_FAILED).then_some(made.addr())
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
        return pointer_to(taken);
    }
    let is_fixed = flags & (libc::MAP_FIXED | libc::MAP_FIXED_NOREPLACE) == libc::MAP_FIXED;
    let Some(range) = near(address, len).filter(|_| is_fixed) else {
        // SAFETY: as the caller promises.
        return unsafe { kernel_mmap(address, len, protection, flags, fd, offset) };
    };
    let pieces = region::pieces(range.clone());
    // The pager may give these to somebody.
    if pieces.iter().any(|(_, piece)| *piece == Piece::Free) {
        return failed_map(libc::ENOMEM);
    }
    let is_all_held = pieces
        .iter()
        .all(|(_, piece)| matches!(piece, Piece::Held(_)));
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    if is_all_held && flags & kind == kind && flags & !ANEW == 0 {
        // SAFETY: as the caller promises.
        return match unsafe { renew(&range, protection) } {
            true => address,
            false => libc::MAP_FAILED,
        };
    }
    // SAFETY: as the caller promises.
    let mapped = unsafe { kernel_mmap(address, len, protection, flags, fd, offset) };
    if mapped == address {
        replaced(pieces, protection);
    }
    mapped
}

/// Puts new borrowed memory in place of what the program has there. `errno` says why not.
///
/// # Safety
/// Nothing there may be in use.
unsafe fn renew(range: &Range<usize>, protection: c_int) -> bool {
    if region::renew(range.clone()).is_err() {
        set_errno(libc::ENOMEM);
        return false;
    }
    // SAFETY: as the caller promises.
    protection == BOTH || unsafe { protect(range, protection, Held::NEW) }
}

/// Changes what may be done with what the program has there. `errno` says why not.
///
/// # Safety
/// As for `mprotect(2)`.
unsafe fn protect(range: &Range<usize>, protection: c_int, held: Held) -> bool {
    // SAFETY: as the caller promises.
    let done = unsafe { kernel_mprotect(range, protection) };
    let held = Held { protection, ..held };
    done == 0 && region::set_held(range.clone(), held).is_ok()
}

/// The program has something else now in place of what it had.
fn replaced(pieces: Vec<(Range<usize>, Piece)>, protection: c_int) {
    for (range, piece) in pieces {
        if let Piece::Held(_) = piece {
            // If the pager is gone, the process ends soon.
            let _ = region::replace(range, protection);
        }
    }
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

/// `munmap(2)`.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn munmap(address: *mut c_void, len: usize) -> c_int {
    let Some(range) = near(address, len) else {
        // SAFETY: as the caller promises.
        let done = unsafe { libc::syscall(libc::SYS_munmap, address, len) };
        return done as c_int;
    };
    for (part, piece) in region::pieces(range) {
        let is_done = match piece {
            Piece::Free => true,
            Piece::Held(_) => region::give_back(part).is_ok(),
            // Pointers of the parent lead there: nothing else may come there.
            // SAFETY: as the caller promises.
            Piece::Abandoned => unsafe { put_local(&part, libc::PROT_NONE) },
            Piece::Outside => {
                let start = pointer_to(part.start);
                // SAFETY: as the caller promises.
                unsafe { libc::syscall(libc::SYS_munmap, start, part.len()) == 0 }
            }
        };
        if !is_done {
            return failed(libc::ENOMEM);
        }
    }
    0
}

/// `mprotect(2)`. It cannot give the program memory that the program does not have.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mprotect(address: *mut c_void, len: usize, protection: c_int) -> c_int {
    let Some(range) = near(address, len) else {
        // SAFETY: as the caller promises.
        let done = unsafe { libc::syscall(libc::SYS_mprotect, address, len, protection) };
        return done as c_int;
    };
    for (part, piece) in region::pieces(range) {
        let is_done = match piece {
            Piece::Free => return failed(libc::ENOMEM),
            // It cannot be touched in this process: touching it ends the process.
            Piece::Abandoned => true,
            // SAFETY: as the caller promises.
            Piece::Outside => unsafe { kernel_mprotect(&part, protection) == 0 },
            // SAFETY: as the caller promises.
            Piece::Held(held) => unsafe { protect(&part, protection, held) },
        };
        if !is_done {
            return -1;
        }
    }
    0
}

/// `madvise(2)`. On borrowed memory, only advice that changes the contents is followed.
///
/// # Safety
/// As that of the C library.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn madvise(address: *mut c_void, len: usize, advice: c_int) -> c_int {
    let Some(range) = near(address, len) else {
        // SAFETY: as the caller promises.
        let done = unsafe { libc::syscall(libc::SYS_madvise, address, len, advice) };
        return done as c_int;
    };
    let mut is_whole = true;
    for (part, piece) in region::pieces(range) {
        let done = match piece {
            Piece::Free => {
                is_whole = false;
                0
            }
            // SAFETY: as the caller promises.
            Piece::Held(held) if held.is_borrowed => unsafe { advise_borrowed(part, advice) },
            // SAFETY: as the caller promises.
            _ => unsafe { kernel_madvise(&part, advice) },
        };
        if done != 0 {
            return done;
        }
    }
    match is_whole {
        true => 0,
        false => failed(libc::ENOMEM),
    }
}

/// # Safety
/// As for `madvise(2)`.
unsafe fn advise_borrowed(range: Range<usize>, advice: c_int) -> c_int {
    match advice {
        // SAFETY: as the caller promises.
        libc::MADV_DONTNEED | libc::MADV_FREE => unsafe { discard(range) },
        // The kernel does not do this with anonymous memory, or the program can do without it.
        libc::MADV_REMOVE => failed(libc::EINVAL),
        _ if GUARDS.contains(&advice) => failed(libc::EINVAL),
        // The kernel knows what is valid advice. With a length of 0 it changes nothing.
        // SAFETY: as the caller promises, of no bytes.
        _ => unsafe { kernel_madvise(&(range.start..range.start), advice) },
    }
}

/// Forgets what is in borrowed pages, up to those that the program has locked.
///
/// # Safety
/// As for `madvise(2)`.
unsafe fn discard(range: Range<usize>) -> c_int {
    // With this advice the kernel takes away no contents, and it knows what is locked.
    // SAFETY: as the caller promises.
    let judge = |range: &Range<usize>| unsafe { kernel_madvise(range, libc::MADV_DONTNEED) };
    let judged = judge(&range);
    let end = match judged {
        0 => range.end,
        _ => {
            let mut pages = range.clone().step_by(PAGE_BYTES);
            let refused = pages.find(|page| judge(&(*page..page + PAGE_BYTES)) != 0);
            refused.unwrap_or(range.end)
        }
    };
    if end > range.start && region::discard(range.start..end).is_err() {
        return failed(libc::ENOMEM);
    }
    match judged {
        0 => 0,
        _ => failed(libc::EINVAL),
    }
}

/// `mremap(2)`. Borrowed memory shrinks where it is, and moves by a copy: to new borrowed memory, or to the place that
/// is asked for.
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
    let is_fixed = flags & libc::MREMAP_FIXED != 0;
    let from = near(address, old_len.max(1));
    let to = near(new_address, new_len).filter(|_| is_fixed);
    if from.is_none() && to.is_none() {
        // SAFETY: as the caller promises.
        return unsafe { kernel_mremap(address, old_len, new_len, flags, new_address) };
    }
    let plan = Plan::new(
        address.addr(),
        (old_len, new_len),
        flags,
        new_address.addr(),
    );
    match plan {
        // SAFETY: as the caller promises.
        Ok(plan) => unsafe { plan.carry_out() },
        Err(errno) => failed_map(errno),
    }
}

/// # Safety
/// As for `mremap(2)`.
unsafe fn kernel_mremap(
    address: *mut c_void,
    old_len: usize,
    new_len: usize,
    flags: c_int,
    new_address: *mut c_void,
) -> *mut c_void {
    let call = libc::SYS_mremap;
    // SAFETY: as the caller promises.
    let mapped = unsafe { libc::syscall(call, address, old_len, new_len, flags, new_address) };
    pointer_to(mapped as usize)
}
