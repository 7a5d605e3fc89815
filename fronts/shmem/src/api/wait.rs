//! Waiting for own memory to change, and looking whether it has.

use core::ffi::c_int;

use crate::buffer::{self, Results};
use crate::element::Waitable;
use crate::wait::{self, Set};

/// `shmem_wait_until`.
#[inline]
pub unsafe fn wait_until<T: Waitable>(ivar: *mut T, cmp: c_int, cmp_value: T) {
    // SAFETY: C programs promise a valid word of this type.
    let word = unsafe { buffer::word(ivar) };
    wait::until("shmem_wait_until", word, cmp, cmp_value);
}

/// `shmem_wait` (deprecated): until `ivar` is no longer `cmp_value`.
#[inline]
pub unsafe fn wait<T: Waitable>(ivar: *mut T, cmp_value: T) {
    // SAFETY: C programs promise a valid word of this type.
    let word = unsafe { buffer::word(ivar) };
    wait::until("shmem_wait", word, wait::CMP_NE, cmp_value);
}

/// `shmem_test`.
#[inline]
pub unsafe fn test<T: Waitable>(ivar: *mut T, cmp: c_int, cmp_value: T) -> c_int {
    // SAFETY: C programs promise a valid word of this type.
    let word = unsafe { buffer::word(ivar) };
    wait::test("shmem_test", word, cmp, cmp_value).into()
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
    const WHAT: &str = "shmem_wait_until_all";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::same(WHAT, ivars, nelems, status, cmp, cmp_value) };
    set.wait_until_all()
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
    const WHAT: &str = "shmem_wait_until_any";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::same(WHAT, ivars, nelems, status, cmp, cmp_value) };
    set.wait_until_any()
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
    const WHAT: &str = "shmem_wait_until_some";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::same(WHAT, ivars, nelems, status, cmp, cmp_value) };
    // SAFETY: C programs promise room for as many indices.
    let indices = unsafe { Results::new(indices, nelems) };
    set.wait_until_some(indices)
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
    const WHAT: &str = "shmem_test_all";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::same(WHAT, ivars, nelems, status, cmp, cmp_value) };
    set.test_all().into()
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
    const WHAT: &str = "shmem_test_any";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::same(WHAT, ivars, nelems, status, cmp, cmp_value) };
    set.test_any()
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
    const WHAT: &str = "shmem_test_some";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::same(WHAT, ivars, nelems, status, cmp, cmp_value) };
    // SAFETY: C programs promise room for as many indices.
    let indices = unsafe { Results::new(indices, nelems) };
    set.test_some(indices)
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
    const WHAT: &str = "shmem_wait_until_all_vector";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::each(WHAT, ivars, nelems, status, cmp, cmp_values) };
    set.wait_until_all()
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
    const WHAT: &str = "shmem_wait_until_any_vector";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::each(WHAT, ivars, nelems, status, cmp, cmp_values) };
    set.wait_until_any()
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
    const WHAT: &str = "shmem_wait_until_some_vector";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::each(WHAT, ivars, nelems, status, cmp, cmp_values) };
    // SAFETY: C programs promise room for as many indices.
    let indices = unsafe { Results::new(indices, nelems) };
    set.wait_until_some(indices)
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
    const WHAT: &str = "shmem_test_all_vector";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::each(WHAT, ivars, nelems, status, cmp, cmp_values) };
    set.test_all().into()
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
    const WHAT: &str = "shmem_test_any_vector";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::each(WHAT, ivars, nelems, status, cmp, cmp_values) };
    set.test_any()
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
    const WHAT: &str = "shmem_test_some_vector";
    // SAFETY: C programs promise `nelems` elements at each array.
    let set = unsafe { Set::each(WHAT, ivars, nelems, status, cmp, cmp_values) };
    // SAFETY: C programs promise room for as many indices.
    let indices = unsafe { Results::new(indices, nelems) };
    set.test_some(indices)
}
