//! The symmetric heap: `shmem_malloc` and similar routines.
//!
//! Every PE keeps the books for itself and makes the same calls, so all get the same
//! offsets ([`Heap`]); the sizes are compared in the barrier that each call ends or begins
//! with. Blocks are whole cache lines, and pages are the machine's concern: they are
//! committed when they are first touched.
//!
//! [`Heap`]: hostwire::attachment::Heap

use std::sync::{MutexGuard, PoisonError};

use hostwire::Error;
use hostwire::attachment::Heap;
use hostwire::board::Activity;
use hostwire::core::Kind;

use crate::fail::{fatal, say};
use crate::runtime::{self, LibraryPhase, Runtime};
use crate::team::agree;

/// The largest alignment of an object.
const ALIGN: usize = 64;

fn books(runtime: &Runtime) -> MutexGuard<'_, Heap> {
    runtime.heap.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn malloc(what: &'static str, size: usize) -> *mut u8 {
    let runtime = runtime::get(what);
    allocate(runtime, what, size, ALIGN, false)
}

pub(crate) fn calloc(count: usize, size: usize) -> *mut u8 {
    const WHAT: &str = "shmem_calloc";
    let runtime = runtime::get(WHAT);
    match count.checked_mul(size) {
        Some(size) => allocate(runtime, WHAT, size, ALIGN, true),
        None => core::ptr::null_mut(),
    }
}

pub(crate) fn align(alignment: usize, size: usize) -> *mut u8 {
    const WHAT: &str = "shmem_align";
    let runtime = runtime::get(WHAT);
    if !alignment.is_power_of_two() {
        return core::ptr::null_mut();
    }
    allocate(runtime, WHAT, size, alignment, false)
}

fn allocate(
    runtime: &Runtime,
    what: &'static str,
    size: usize,
    alignment: usize,
    zeroed: bool,
) -> *mut u8 {
    if size == 0 {
        return core::ptr::null_mut();
    }
    let at = take(runtime, what, size, alignment, zeroed);
    meet(runtime, what, Kind::Allocate, size);
    at
}

fn meet(runtime: &Runtime, what: &'static str, kind: Kind, number: usize) {
    runtime.attachment.activity(Activity::Allocating, None);
    agree(runtime, what, kind, number);
    runtime.attachment.activity(Activity::Computing, None);
}

/// A block, or null if there is no room; it is the same on all PEs.
fn take(runtime: &Runtime, what: &str, size: usize, alignment: usize, zeroed: bool) -> *mut u8 {
    if alignment > HEAP_ALIGN {
        // Segments lie at different addresses in different PEs.
        if runtime.attachment.pe() == 0 {
            say(&format!(
                "{what}: no symmetric object can be aligned to more than {HEAP_ALIGN} bytes, \
                 and {alignment} were asked for"
            ));
        }
        return core::ptr::null_mut();
    }
    let base = runtime.heap_region.address;
    let allocated = books(runtime).allocate(size, alignment);
    match allocated {
        Ok(block) => {
            let at: *mut u8 = core::ptr::with_exposed_provenance_mut(base + block.offset);
            runtime.debug.allocated(runtime, block.offset, size);
            if zeroed {
                // SAFETY: the block is in the own heap, and nobody knows of it yet.
                unsafe { at.write_bytes(0, block.used_bytes.min(size)) };
            }
            at
        }
        Err(error) => {
            if runtime.attachment.pe() == 0 {
                say(&no_room(what, error));
            }
            core::ptr::null_mut()
        }
    }
}

/// Segments are mapped at multiples of this, and the heap lies at one in them.
pub(crate) const HEAP_ALIGN: usize = 64 << 20;

fn no_room(what: &str, error: Error) -> String {
    match error {
        Error::OutOfMemory {
            asked_bytes,
            free_bytes,
            largest_bytes,
            heap_bytes,
        } => format!(
            "{what}: the symmetric heap has no room for {asked_bytes} bytes: {free_bytes} of \
             {heap_bytes} are free, the largest piece has {largest_bytes}; set \
             SHMEM_SYMMETRIC_SIZE (such as 512M or 1.5G) to have more"
        ),
        other => format!("{what}: {other}"),
    }
}

/// Where in the heap the block at `at` is; ends the job if there is none.
fn block(runtime: &Runtime, what: &str, at: *const u8) -> (usize, usize) {
    let offset = (at as usize).wrapping_sub(runtime.heap_region.address);
    if offset >= runtime.heap_region.len_bytes {
        fatal(what, format_args!("{at:p} is not in the symmetric heap"));
    }
    let (block, around) = {
        let books = books(runtime);
        (books.block_bytes(offset), books.block_of(offset))
    };
    if let Some(len) = block {
        return (offset, len);
    }
    match around {
        Some((start, len)) => fatal(
            what,
            format_args!(
                "{at:p} is {} bytes behind the beginning of a block of {len} bytes",
                offset - start
            ),
        ),
        None => fatal(
            what,
            format_args!("{at:p} is not allocated: was it freed before?"),
        ),
    }
}

pub(crate) fn free(at: *mut u8) {
    const WHAT: &str = "shmem_free";
    // A destructor that runs after shmem_finalize has nothing left to free.
    if at.is_null() || runtime::state() == LibraryPhase::Finalized {
        return;
    }
    let runtime = runtime::get(WHAT);
    let (offset, _) = block(runtime, WHAT, at);
    meet(runtime, WHAT, Kind::Free, offset);
    release(runtime, offset);
}

fn release(runtime: &Runtime, offset: usize) {
    runtime.debug.freed(runtime, offset);
    // The check above has found it.
    let _ = books(runtime).release(offset);
}

/// # Safety
/// No PE uses the block any more.
pub(crate) unsafe fn realloc(at: *mut u8, size: usize) -> *mut u8 {
    const WHAT: &str = "shmem_realloc";
    if at.is_null() {
        return malloc(WHAT, size);
    }
    if size == 0 {
        free(at);
        return core::ptr::null_mut();
    }
    let runtime = runtime::get(WHAT);
    let (offset, had) = block(runtime, WHAT, at);
    meet(runtime, WHAT, Kind::Resize, size);
    if size <= had && size > had / 2 {
        books(runtime).resize(offset, size);
        runtime.debug.allocated(runtime, offset, size);
        return at;
    }
    let new = take(runtime, WHAT, size, ALIGN, false);
    if !new.is_null() {
        // SAFETY: both blocks are in the own heap, and apart.
        unsafe { core::ptr::copy_nonoverlapping(at, new, had.min(size)) };
        release(runtime, offset);
    }
    meet(runtime, WHAT, Kind::Resize, size);
    new
}
