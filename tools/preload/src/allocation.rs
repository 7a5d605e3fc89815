//! `malloc` and its family, as ISO C and POSIX define them.
//!
//! Small allocations go to the `malloc` of the GNU C library, by the names that it has for libraries like this one.

use core::ffi::{c_int, c_void};
use core::ptr::null_mut;

use crate::addresses::{Where, place_of};
use crate::region::{self, is_wanted};

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
    fn __libc_realloc(ptr: *mut c_void, size: usize) -> *mut c_void;
    fn __libc_free(ptr: *mut c_void);
    fn __libc_memalign(align: usize, size: usize) -> *mut c_void;
}

const PAGE_BYTES: usize = hostwire_borrow::PAGE_BYTES;

/// Borrowed memory, if it is wanted and there is some.
fn borrowed(bytes: usize) -> Option<*mut c_void> {
    if !is_wanted(bytes) {
        return None;
    }
    let address = region::take(bytes, true).ok()?;
    Some(core::ptr::with_exposed_provenance_mut(address))
}

/// `malloc(3)`.
#[unsafe(no_mangle)]
pub extern "C" fn malloc(size: usize) -> *mut c_void {
    match borrowed(size) {
        Some(ptr) => ptr,
        // SAFETY: `malloc` takes any size.
        None => unsafe { __libc_malloc(size) },
    }
}

/// `calloc(3)`.
#[unsafe(no_mangle)]
pub extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // Borrowed pages are zeros.
    match count.checked_mul(size).and_then(borrowed) {
        Some(ptr) => ptr,
        // SAFETY: `calloc` takes any sizes, and refuses a product that is too large.
        None => unsafe { __libc_calloc(count, size) },
    }
}

/// `free(3)`.
///
/// # Safety
/// As that of the C library: `ptr` is null, or of an allocation that was not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(ptr: *mut c_void) {
    match place_of(ptr.addr()) {
        // SAFETY: it is not of this library, so it is of the C library's `malloc`, or null.
        Where::Elsewhere => unsafe { __libc_free(ptr) },
        Where::Here => {
            region::free(ptr.addr());
        }
        // It is the parent's.
        Where::Abandoned => {}
    }
}

/// `realloc(3)`.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(ptr: *mut c_void, size: usize) -> *mut c_void {
    if ptr.is_null() {
        return malloc(size);
    }
    let here = place_of(ptr.addr());
    if here == Where::Elsewhere && !is_wanted(size) {
        // SAFETY: `ptr` is of the C library's `malloc`.
        return unsafe { __libc_realloc(ptr, size) };
    }
    // SAFETY: the caller promises that `ptr` is of an allocation.
    let old_bytes = unsafe { malloc_usable_size(ptr) };
    let stays = here == Where::Here && is_wanted(size);
    if stays && size.div_ceil(PAGE_BYTES) == old_bytes / PAGE_BYTES {
        return ptr;
    }
    if size == 0 {
        // SAFETY: as the caller promises; it does not use `ptr` any more.
        unsafe { free(ptr) };
        return null_mut();
    }
    let new = malloc(size);
    if !new.is_null() {
        // SAFETY: `ptr` has `old_bytes` bytes and `new` has `size`; a new allocation overlaps no
        // other one.
        unsafe {
            core::ptr::copy_nonoverlapping(ptr.cast::<u8>(), new.cast(), old_bytes.min(size))
        };
        // SAFETY: as the caller promises; it does not use `ptr` any more.
        unsafe { free(ptr) };
    }
    new
}

/// `reallocarray(3)`.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(ptr: *mut c_void, count: usize, size: usize) -> *mut c_void {
    match count.checked_mul(size) {
        // SAFETY: as the caller promises.
        Some(bytes) => unsafe { realloc(ptr, bytes) },
        None => {
            set_errno(libc::ENOMEM);
            null_mut()
        }
    }
}

/// `aligned_alloc(3)`.
#[unsafe(no_mangle)]
pub extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut c_void {
    match Some(size)
        .filter(|_| align <= PAGE_BYTES)
        .and_then(borrowed)
    {
        Some(ptr) => ptr,
        // SAFETY: `memalign` takes any numbers, and refuses what is no alignment.
        None => unsafe { __libc_memalign(align, size) },
    }
}

/// `memalign(3)`.
#[unsafe(no_mangle)]
pub extern "C" fn memalign(align: usize, size: usize) -> *mut c_void {
    aligned_alloc(align, size)
}

/// `valloc(3)`.
#[unsafe(no_mangle)]
pub extern "C" fn valloc(size: usize) -> *mut c_void {
    aligned_alloc(PAGE_BYTES, size)
}

/// `posix_memalign(3)`.
///
/// # Safety
/// `place` must be valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(
    place: *mut *mut c_void,
    align: usize,
    size: usize,
) -> c_int {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    let ptr = aligned_alloc(align, size);
    if ptr.is_null() {
        return libc::ENOMEM;
    }
    // SAFETY: the caller promises that it may be written.
    unsafe { place.write(ptr) };
    0
}

/// `malloc_usable_size(3)`.
///
/// # Safety
/// As [`free`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(ptr: *mut c_void) -> usize {
    match place_of(ptr.addr()) {
        Where::Here => region::block_bytes(ptr.addr()).map_or(0, whole),
        Where::Abandoned => {
            // The length is not known here. The caller is about to copy; a length of 0 would lose its bytes without an
            // error.
            // SAFETY: the caller promises that it is an allocation. It cannot be touched in this process, which ends by it.
            unsafe { ptr.cast::<u8>().read_volatile() };
            0
        }
        // SAFETY: `ptr` is null, or of the C library's `malloc`.
        Where::Elsewhere => unsafe { usable_size_of_libc(ptr) },
    }
}

fn whole(bytes: usize) -> usize {
    bytes.next_multiple_of(PAGE_BYTES)
}

/// # Safety
/// As [`free`], for what is of the C library.
unsafe fn usable_size_of_libc(ptr: *mut c_void) -> usize {
    // SAFETY: the name ends with a zero.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"malloc_usable_size".as_ptr()) };
    if found.is_null() {
        return 0;
    }
    // SAFETY: the C library has a function of this type under this name.
    let function = unsafe {
        core::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void) -> usize>(found)
    };
    // SAFETY: as the caller promises.
    unsafe { function(ptr) }
}

pub(crate) fn set_errno(errno: c_int) {
    // SAFETY: the C library gives a pointer to the calling thread's own errno.
    let place = unsafe { libc::__errno_location() };
    // SAFETY: it is valid for a write as long as the thread lives.
    unsafe { place.write(errno) };
}
