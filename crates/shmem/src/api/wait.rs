//! Waiting for own memory to change, and looking whether it has.

use core::ffi::c_int;

use crate::element::Waitable;
use crate::wait::{self, Set, Values};

/// `shmem_wait_until`.
#[inline]
pub unsafe fn wait_until<T: Waitable>(ivar: *mut T, cmp: c_int, cmp_value: T) {
    // SAFETY: as the caller promises.
    unsafe { wait::until("shmem_wait_until", ivar, cmp, cmp_value) };
}

/// `shmem_wait` (deprecated): until `ivar` is no longer `cmp_value`.
#[inline]
pub unsafe fn wait<T: Waitable>(ivar: *mut T, cmp_value: T) {
    // SAFETY: as the caller promises.
    unsafe { wait::until("shmem_wait", ivar, wait::CMP_NE, cmp_value) };
}

/// `shmem_test`.
#[inline]
pub unsafe fn test<T: Waitable>(ivar: *mut T, cmp: c_int, cmp_value: T) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { wait::test("shmem_test", ivar, cmp, cmp_value) }.into()
}

/// `shmem_wait_until_all`.
#[inline]
pub unsafe fn wait_until_all<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_value: T,
) {
    let set = Set::new(
        "shmem_wait_until_all",
        ivars,
        nelems,
        status,
        cmp,
        Values::Same(cmp_value),
    );
    // SAFETY: as the caller promises.
    unsafe { set.wait_until_all() }
}

/// `shmem_wait_until_any`.
#[inline]
pub unsafe fn wait_until_any<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_value: T,
) -> usize {
    let set = Set::new(
        "shmem_wait_until_any",
        ivars,
        nelems,
        status,
        cmp,
        Values::Same(cmp_value),
    );
    // SAFETY: as the caller promises.
    unsafe { set.wait_until_any() }
}

/// `shmem_wait_until_some`.
#[inline]
pub unsafe fn wait_until_some<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    cmp_value: T,
) -> usize {
    let set = Set::new(
        "shmem_wait_until_some",
        ivars,
        nelems,
        status,
        cmp,
        Values::Same(cmp_value),
    );
    // SAFETY: as the caller promises.
    unsafe { set.wait_until_some(indices) }
}

/// `shmem_test_all`.
#[inline]
pub unsafe fn test_all<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_value: T,
) -> c_int {
    let set = Set::new(
        "shmem_test_all",
        ivars,
        nelems,
        status,
        cmp,
        Values::Same(cmp_value),
    );
    // SAFETY: as the caller promises.
    unsafe { set.test_all() }.into()
}

/// `shmem_test_any`.
#[inline]
pub unsafe fn test_any<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_value: T,
) -> usize {
    let set = Set::new(
        "shmem_test_any",
        ivars,
        nelems,
        status,
        cmp,
        Values::Same(cmp_value),
    );
    // SAFETY: as the caller promises.
    unsafe { set.test_any() }
}

/// `shmem_test_some`.
#[inline]
pub unsafe fn test_some<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    cmp_value: T,
) -> usize {
    let set = Set::new(
        "shmem_test_some",
        ivars,
        nelems,
        status,
        cmp,
        Values::Same(cmp_value),
    );
    // SAFETY: as the caller promises.
    unsafe { set.test_some(indices) }
}

/// `shmem_wait_until_all_vector`.
#[inline]
pub unsafe fn wait_until_all_vector<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_values: *const T,
) {
    let set = Set::new(
        "shmem_wait_until_all_vector",
        ivars,
        nelems,
        status,
        cmp,
        Values::Each(cmp_values),
    );
    // SAFETY: as the caller promises.
    unsafe { set.wait_until_all() }
}

/// `shmem_wait_until_any_vector`.
#[inline]
pub unsafe fn wait_until_any_vector<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_values: *const T,
) -> usize {
    let set = Set::new(
        "shmem_wait_until_any_vector",
        ivars,
        nelems,
        status,
        cmp,
        Values::Each(cmp_values),
    );
    // SAFETY: as the caller promises.
    unsafe { set.wait_until_any() }
}

/// `shmem_wait_until_some_vector`.
#[inline]
pub unsafe fn wait_until_some_vector<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    cmp_values: *const T,
) -> usize {
    let set = Set::new(
        "shmem_wait_until_some_vector",
        ivars,
        nelems,
        status,
        cmp,
        Values::Each(cmp_values),
    );
    // SAFETY: as the caller promises.
    unsafe { set.wait_until_some(indices) }
}

/// `shmem_test_all_vector`.
#[inline]
pub unsafe fn test_all_vector<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_values: *const T,
) -> c_int {
    let set = Set::new(
        "shmem_test_all_vector",
        ivars,
        nelems,
        status,
        cmp,
        Values::Each(cmp_values),
    );
    // SAFETY: as the caller promises.
    unsafe { set.test_all() }.into()
}

/// `shmem_test_any_vector`.
#[inline]
pub unsafe fn test_any_vector<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    status: *const c_int,
    cmp: c_int,
    cmp_values: *const T,
) -> usize {
    let set = Set::new(
        "shmem_test_any_vector",
        ivars,
        nelems,
        status,
        cmp,
        Values::Each(cmp_values),
    );
    // SAFETY: as the caller promises.
    unsafe { set.test_any() }
}

/// `shmem_test_some_vector`.
#[inline]
pub unsafe fn test_some_vector<T: Waitable>(
    ivars: *mut T,
    nelems: usize,
    indices: *mut usize,
    status: *const c_int,
    cmp: c_int,
    cmp_values: *const T,
) -> usize {
    let set = Set::new(
        "shmem_test_some_vector",
        ivars,
        nelems,
        status,
        cmp,
        Values::Each(cmp_values),
    );
    // SAFETY: as the caller promises.
    unsafe { set.test_some(indices) }
}
