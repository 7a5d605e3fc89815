//! Contiguous puts and gets.

use core::ffi::c_int;

use crate::copy;
use crate::element::Element;
use crate::fast;
use crate::handle::{CTX_DEFAULT, Ctx};
use crate::remote;

/// `shmem_put`, of all types and sizes.
#[inline(always)]
pub unsafe fn put<T: Element>(ctx: Ctx, dest: *mut T, source: *const T, nelems: usize, pe: c_int) {
    let few = const { fast::SHORT_BYTES / size_of::<T>() };
    if ctx == CTX_DEFAULT
        && nelems <= few
        && copy::is_short(dest.cast(), nelems * size_of::<T>())
        && let Some(place) = fast::at(dest.cast(), nelems * size_of::<T>(), pe)
    {
        // SAFETY: so many bytes in reach; the caller has as many at `source`.
        unsafe { copy::short_to_peer(place.at, source.cast(), nelems * size_of::<T>()) };
        place.stored("shmem_put", pe);
    } else {
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: as the caller promises.
        unsafe { remote::put_many(ctx, dest.cast(), source.cast(), len, pe) };
    }
}

/// `shmem_get`, of all types and sizes.
#[inline(always)]
pub unsafe fn get<T: Element>(ctx: Ctx, dest: *mut T, source: *const T, nelems: usize, pe: c_int) {
    let few = const { fast::SHORT_BYTES / size_of::<T>() };
    if ctx == CTX_DEFAULT
        && nelems <= few
        && copy::is_short(source.cast(), nelems * size_of::<T>())
        && let Some(place) = fast::at(source.cast(), nelems * size_of::<T>(), pe)
    {
        // SAFETY: so many bytes in reach; the caller has as many at `dest`.
        unsafe { copy::short_from_peer(dest.cast(), place.at, nelems * size_of::<T>()) };
        place.loaded("shmem_get", pe);
    } else {
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: as the caller promises.
        unsafe { remote::get_many(ctx, dest.cast(), source.cast(), len, pe) };
    }
}

/// `shmem_p`.
#[inline(always)]
pub unsafe fn p<T: Element>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    if ctx == CTX_DEFAULT
        && let Some(place) = fast::at(dest.cast(), size_of::<T>(), pe)
    {
        // SAFETY: one element in reach, and one on the stack.
        unsafe { copy::to_peer(place.at, (&raw const value).cast(), size_of::<T>()) };
        place.stored("shmem_p", pe);
    } else {
        remote::put_value(ctx, dest, value, pe);
    }
}

/// `shmem_g`.
#[inline(always)]
pub unsafe fn g<T: Element>(ctx: Ctx, source: *const T, pe: c_int) -> T {
    let mut value = core::mem::MaybeUninit::<T>::uninit();
    let len = size_of::<T>();
    if ctx == CTX_DEFAULT
        && let Some(place) = fast::at(source.cast(), len, pe)
    {
        // SAFETY: one element in reach, and room for one on the stack.
        unsafe { copy::from_peer(value.as_mut_ptr().cast(), place.at, len) };
        place.loaded("shmem_g", pe);
    } else {
        let dest = value.as_mut_ptr().cast();
        // SAFETY: room for one element on the stack; the address is checked there.
        unsafe { remote::get("shmem_g", ctx, dest, source.cast(), len, pe) };
    }
    // SAFETY: either way all its bytes were written, and any bytes are a value.
    unsafe { value.assume_init() }
}

/// `shmem_put_nbi`. Completes at once, as [`put`] does.
#[inline(always)]
pub unsafe fn put_nbi<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    unsafe { put(ctx, dest, source, nelems, pe) }
}

/// `shmem_get_nbi`. Completes at once, as [`get`] does.
#[inline(always)]
pub unsafe fn get_nbi<T: Element>(
    ctx: Ctx,
    dest: *mut T,
    source: *const T,
    nelems: usize,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    unsafe { get(ctx, dest, source, nelems, pe) }
}
