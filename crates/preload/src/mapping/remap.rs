//! `mremap` where borrowed memory is moved, or something is moved into its place.

use core::ffi::{c_int, c_void};
use core::ops::Range;

use super::{
    BOTH, any_local, failed_map, kernel_mprotect, kernel_mremap, pointer_to, put_local, renew,
    replaced,
};
use crate::allocation::set_errno;
use crate::region::{self, Held, PAGE_BYTES, Piece};

const FLAGS: c_int = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED | libc::MREMAP_DONTUNMAP;

/// A call that makes sense.
pub(super) struct Plan {
    old: Range<usize>,
    new_bytes: usize,
    flags: c_int,
    /// With `MREMAP_FIXED`.
    to: Option<Range<usize>>,
}

impl Plan {
    /// `errno` where the kernel refuses.
    pub fn new(
        start: usize,
        (old_len, new_len): (usize, usize),
        flags: c_int,
        to: usize,
    ) -> Result<Self, c_int> {
        let has = |flag: c_int| flags & flag != 0;
        let end = |start: usize, len: usize| {
            let whole = len.checked_next_multiple_of(PAGE_BYTES);
            let end = whole.and_then(|whole| start.checked_add(whole));
            end.ok_or(libc::EINVAL)
        };
        let moves = has(libc::MREMAP_FIXED) || has(libc::MREMAP_DONTUNMAP);
        let old = start..end(start, old_len)?;
        let new_bytes = end(0, new_len)?;
        let is_sound = flags & !FLAGS == 0
            && (!moves || has(libc::MREMAP_MAYMOVE))
            && (!has(libc::MREMAP_DONTUNMAP) || old.len() == new_bytes)
            && start.is_multiple_of(PAGE_BYTES)
            && new_bytes > 0;
        let to = match has(libc::MREMAP_FIXED) {
            true => Some(to..end(to, new_len)?),
            false => None,
        };
        let is_apart = to.as_ref().is_none_or(|to| {
            to.start.is_multiple_of(PAGE_BYTES) && (to.end <= old.start || old.end <= to.start)
        });
        match is_sound && is_apart {
            true => Ok(Self {
                old,
                new_bytes,
                flags,
                to,
            }),
            false => Err(libc::EINVAL),
        }
    }

    /// # Safety
    /// As for `mremap(2)`.
    pub unsafe fn carry_out(self) -> *mut c_void {
        let start = self.old.start;
        let first = region::pieces(start..start.saturating_add(PAGE_BYTES));
        let held = match first.first() {
            Some((_, Piece::Held(held))) if held.is_borrowed => *held,
            Some((_, Piece::Outside)) => {
                // SAFETY: as the caller promises.
                return unsafe { self.bring() };
            }
            // What the program has put there itself stays there.
            Some((_, Piece::Held(_))) => return failed_map(libc::ENOMEM),
            // It is the parent's. Whoever moves memory uses it: not without a word.
            // SAFETY: the caller promises that it is memory. It cannot be touched in this process, which ends by it.
            Some((_, Piece::Abandoned)) => unsafe {
                pointer_to(start).cast::<u8>().read_volatile();
                return failed_map(libc::EFAULT);
            },
            Some((_, Piece::Free)) | None => return failed_map(libc::EFAULT),
        };
        if self.old.is_empty() {
            return failed_map(libc::EINVAL);
        }
        let stays = self.flags & !libc::MREMAP_MAYMOVE == 0;
        if stays && self.new_bytes <= self.old.len() {
            let tail = start + self.new_bytes..self.old.end;
            // SAFETY: as the caller promises.
            return match unsafe { super::munmap(pointer_to(tail.start), tail.len()) } {
                0 => pointer_to(start),
                _ if tail.is_empty() => pointer_to(start),
                _ => libc::MAP_FAILED,
            };
        }
        // Only one mapping moves, and with what is behind its new end it only shrinks.
        let moved = start..self.old.end.min(start + self.new_bytes);
        if region::pieces(moved.clone()).len() > 1 {
            return failed_map(libc::EFAULT);
        }
        // SAFETY: as the caller promises.
        unsafe { self.move_to_new(moved, held) }
    }

    /// Copies borrowed memory to where it is to be.
    ///
    /// # Safety
    /// As for `mremap(2)`.
    unsafe fn move_to_new(&self, from: Range<usize>, held: Held) -> *mut c_void {
        // SAFETY: as the caller promises.
        let Some(to) = (unsafe { self.place() }) else {
            return libc::MAP_FAILED;
        };
        let is_readable = held.protection & libc::PROT_READ != 0;
        // SAFETY: the memory is the program's, which waits for this call.
        if !is_readable && unsafe { kernel_mprotect(&from, libc::PROT_READ) } != 0 {
            return libc::MAP_FAILED;
        }
        let (source, target) = (pointer_to(from.start), pointer_to(to.start));
        // SAFETY: `from` is memory of the program that may be read. At `to` there is new memory, as long or longer,
        // which overlaps nothing.
        unsafe {
            core::ptr::copy_nonoverlapping(source.cast::<u8>(), target.cast::<u8>(), from.len());
        }
        if held.protection != BOTH {
            // SAFETY: the memory is new.
            unsafe { super::mprotect(target, to.len(), held.protection) };
        }
        if self.flags & libc::MREMAP_DONTUNMAP == 0 {
            // SAFETY: as the caller promises.
            unsafe { super::munmap(source, self.old.len()) };
            return target;
        }
        if !is_readable {
            // SAFETY: as before the copy.
            unsafe { kernel_mprotect(&from, held.protection) };
        }
        // If the pager is gone, the process ends soon.
        let _ = region::discard(from);
        target
    }

    /// New memory for what moves. `errno` says why not.
    ///
    /// # Safety
    /// Nothing where it is to be may be in use.
    unsafe fn place(&self) -> Option<Range<usize>> {
        let Some(to) = &self.to else {
            if self.flags & libc::MREMAP_MAYMOVE == 0 {
                set_errno(libc::ENOMEM);
                return None;
            }
            let start = match region::take(self.new_bytes, false) {
                Ok(taken) => taken,
                Err(_) => any_local(self.new_bytes)?,
            };
            return Some(start..start + self.new_bytes);
        };
        let pieces = region::pieces(to.clone());
        let are = |like: fn(&Piece) -> bool| pieces.iter().all(|(_, piece)| like(piece));
        let is_made = if are(|piece| matches!(piece, Piece::Held(_))) {
            // SAFETY: as the caller promises.
            unsafe { renew(to, BOTH) }
        } else if are(|piece| matches!(piece, Piece::Outside | Piece::Abandoned)) {
            // SAFETY: as the caller promises.
            unsafe { put_local(to, BOTH) }
        } else {
            set_errno(libc::ENOMEM);
            false
        };
        is_made.then(|| to.clone())
    }

    /// The kernel moves other memory into the place of borrowed memory.
    ///
    /// # Safety
    /// As for `mremap(2)`.
    unsafe fn bring(self) -> *mut c_void {
        let to = self.to.unwrap_or(0..0);
        let pieces = region::pieces(to.clone());
        let is_own = |(_, piece): &(_, Piece)| matches!(piece, Piece::Free);
        if region::is_near(&self.old) || pieces.iter().any(is_own) {
            return failed_map(libc::ENOMEM);
        }
        let (old, new) = (pointer_to(self.old.start), pointer_to(to.start));
        // SAFETY: as the caller promises.
        let moved = unsafe { kernel_mremap(old, self.old.len(), self.new_bytes, self.flags, new) };
        if moved == new {
            replaced(pieces, BOTH);
        }
        moved
    }
}
