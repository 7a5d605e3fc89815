//! Start, end, identity, and what is where.

use core::ffi::{c_char, c_int, c_void};

use crate::handle::{TEAM_WORLD, Team};
use crate::{fast, lifecycle, query, runtime, team};

/// `shmem_init`.
pub unsafe fn init() {
    lifecycle::init("shmem_init", runtime::THREAD_SINGLE);
}

/// `shmem_init_thread`.
pub unsafe fn init_thread(requested: c_int, provided: *mut c_int) -> c_int {
    // SAFETY: C programs promise that `provided` can be written, or is null.
    unsafe { lifecycle::init_thread(requested, provided) }
}

/// `start_pes` (deprecated).
pub unsafe fn start_pes(_npes: c_int) {
    lifecycle::start_pes();
}

/// `shmem_finalize`.
pub unsafe fn finalize() {
    lifecycle::finalize();
}

/// `shmem_global_exit`.
pub unsafe fn global_exit(status: c_int) -> ! {
    lifecycle::global_exit(status)
}

/// `shmem_query_thread`.
pub unsafe fn query_thread(provided: *mut c_int) {
    // SAFETY: C programs promise that `provided` can be written.
    unsafe { provided.write(lifecycle::thread_level()) }
}

/// `shmem_query_initialized`.
pub unsafe fn query_initialized(initialized: *mut c_int) {
    // SAFETY: C programs promise that `initialized` can be written.
    unsafe { initialized.write(lifecycle::is_initialized().into()) }
}

/// `shmem_my_pe`, `_my_pe`.
#[inline]
pub unsafe fn my_pe() -> c_int {
    fast::my_pe()
}

/// `shmem_n_pes`, `_num_pes`.
#[inline]
pub unsafe fn n_pes() -> c_int {
    fast::n_pes()
}

/// `shmem_info_get_version`.
pub unsafe fn info_get_version(major: *mut c_int, minor: *mut c_int) {
    // SAFETY: C programs promise that `major` can be written.
    unsafe { major.write(query::MAJOR_VERSION) };
    // SAFETY: C programs promise that `minor` can be written.
    unsafe { minor.write(query::MINOR_VERSION) };
}

/// `shmem_info_get_name`. `name` has room for `SHMEM_MAX_NAME_LEN` bytes.
pub unsafe fn info_get_name(name: *mut c_char) {
    let text = query::VENDOR_STRING.to_bytes_with_nul();
    // SAFETY: C programs promise room for `SHMEM_MAX_NAME_LEN` bytes, and the text is shorter.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr().cast(), name, text.len()) }
}

/// `shmem_pe_accessible`.
pub unsafe fn pe_accessible(pe: c_int) -> c_int {
    query::pe_accessible(pe).into()
}

/// `shmem_addr_accessible`.
pub unsafe fn addr_accessible(addr: *const c_void, pe: c_int) -> c_int {
    query::addr_accessible(addr.cast(), pe).into()
}

/// `shmem_ptr`.
pub unsafe fn ptr(dest: *const c_void, pe: c_int) -> *mut c_void {
    query::team_ptr("shmem_ptr", TEAM_WORLD, dest.cast(), pe).cast()
}

/// `shmem_team_ptr`.
pub unsafe fn team_ptr(team: Team, dest: *const c_void, pe: c_int) -> *mut c_void {
    query::team_ptr("shmem_team_ptr", team, dest.cast(), pe).cast()
}

// Not inlined: a break point on the C function has to stop in it, and not where its code was merged
// into another one.

/// `shmem_barrier_all`.
#[inline(never)]
pub unsafe fn barrier_all() {
    team::barrier_all();
}

/// `shmem_sync_all`.
#[inline(never)]
pub unsafe fn sync_all() {
    team::sync_all();
}

/// `shmem_set_cache_inv` and similar routines (deprecated): caches are coherent.
#[inline]
pub unsafe fn set_cache_inv() {}

/// `shmem_clear_cache_inv` (deprecated).
#[inline]
pub unsafe fn clear_cache_inv() {}

/// `shmem_set_cache_line_inv` (deprecated).
#[inline]
pub unsafe fn set_cache_line_inv(_dest: *mut c_void) {}

/// `shmem_clear_cache_line_inv` (deprecated).
#[inline]
pub unsafe fn clear_cache_line_inv(_dest: *mut c_void) {}

/// `shmem_udcflush` (deprecated).
#[inline]
pub unsafe fn udcflush() {}

/// `shmem_udcflush_line` (deprecated).
#[inline]
pub unsafe fn udcflush_line(_dest: *mut c_void) {}
