//! `mremap` where borrowed memory is moved, or something is moved into its place.

use core::ffi::{c_int, c_void};
use core::ops::Range;

use super::{
    BOTH, any_local, failed_map, kernel_mmap, kernel_mprotect, kernel_mremap, pointer_to,
    put_local, renew, replaced,
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
            // SAFETY: as the caller promises.
            Some((_, Piece::Held(_) | Piece::Outside)) => return unsafe { self.by_kernel() },
            // It is the parent's. A program that moves memory uses it, so it must not fail silently.
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
        // The kernel moves one mapping only. The part behind the new end is given back, not moved.
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

    /// New memory for the part that moves. `errno` says why not.
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

    /// The kernel moves memory that is not borrowed, perhaps into the place of borrowed memory, or out of it.
    ///
    /// # Safety
    /// As for `mremap(2)`.
    unsafe fn by_kernel(self) -> *mut c_void {
        let to = self.to.clone().unwrap_or(0..0);
        let (from, into) = (region::pieces(self.old.clone()), region::pieces(to));
        let is_ours = |(_, piece): &(_, Piece)| match piece {
            Piece::Held(held) => held.is_borrowed,
            piece => *piece != Piece::Outside,
        };
        if from.iter().any(is_ours) {
            return failed_map(libc::EFAULT);
        }
        // The pager may give these to somebody.
        if into.iter().any(|(_, piece)| *piece == Piece::Free) {
            return failed_map(libc::ENOMEM);
        }
        let old = pointer_to(self.old.start);
        let new = pointer_to(self.to.as_ref().map_or(0, |to| to.start));
        // SAFETY: as the caller promises.
        let moved = unsafe { kernel_mremap(old, self.old.len(), self.new_bytes, self.flags, new) };
        if moved == libc::MAP_FAILED {
            return moved;
        }
        replaced(into, BOTH);
        let kept = match moved == old {
            true => self.new_bytes,
            false => 0,
        };
        let is_gone = self.flags & libc::MREMAP_DONTUNMAP == 0;
        for (part, piece) in from {
            let part = part.start.max(self.old.start.saturating_add(kept))..part.end;
            if is_gone && !part.is_empty() && matches!(piece, Piece::Held(_)) {
                // SAFETY: the kernel has taken away what was there.
                unsafe { vacate(part) };
            }
        }
        moved
    }
}

/// Gives back addresses at which the kernel has nothing any more. Another thread may have got them from the kernel
/// meanwhile: then they stay with the program, and the pager gives them to nobody.
///
/// # Safety
/// The program has nothing there.
unsafe fn vacate(range: Range<usize>) {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE | libc::MAP_NORESERVE;
    let start = pointer_to(range.start);
    // SAFETY: it takes only addresses at which nothing is.
    let made = unsafe { kernel_mmap(start, range.len(), libc::PROT_NONE, flags, -1, 0) };
    if made == start {
        // If the pager is gone, the process ends soon.
        let _ = region::give_back(range);
    }
}
