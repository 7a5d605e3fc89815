//! Contiguous puts and gets.

use core::ffi::c_int;

use crate::buffer::{Input, Output};
use crate::copy;
use crate::element::Element;
use crate::fast;
use crate::handle::Ctx;
use crate::remote;

// How a run of elements is moved in place. Two yes-or-no questions, each with its own path: for one answer out of
// three, the compiler would first put it together in a register, and then take it apart again.

/// Whether the run is moved as a word.
#[inline(always)]
fn is_word<T>(nelems: usize) -> bool {
    match const { size_of::<T>() } {
        8 => nelems == 1,
        4 => nelems == 1 || nelems == 2,
        element => element < 8 && nelems == 8 / element,
    }
}

/// Whether the run is moved as a few vectors.
#[inline(always)]
fn is_vectors<T>(nelems: usize) -> bool {
    let (least, most) = const {
        let element = size_of::<T>();
        (16usize.div_ceil(element), fast::SHORT_BYTES / element)
    };
    nelems.wrapping_sub(least) <= most - least
}

/// The bytes of a run that is short.
struct Short {
    /// If it [is a word](is_word).
    word: usize,
    /// If it [is a few vectors](is_vectors).
    vectors: usize,
}

/// Only where the product cannot overflow. Short runs would wait for the check that any run needs.
#[inline(always)]
const fn short_lens<T>(nelems: usize) -> Short {
    let vectors = nelems.wrapping_mul(size_of::<T>());
    let word = if size_of::<T>() == 4 { vectors } else { 8 };
    Short { word, vectors }
}

/// Whether words are tried first: a program that puts bytes mostly puts several.
const fn words_first<T>() -> bool {
    size_of::<T>() >= 4
}

/// A put of one word, if it is in reach.
///
/// # Safety
/// One word of `len` bytes is at `source`.
#[inline(always)]
unsafe fn put_word(dest: *mut u8, source: *const u8, len: usize, pe: c_int) -> bool {
    let Some(place) = fast::short(dest, pe) else {
        return false;
    };
    // SAFETY: one word in reach; the caller has one at `source`.
    unsafe { copy::word_to_peer(place.memory.at(), source, len) };
    place.stored(&"shmem_put", pe);
    true
}

/// A put of a few vectors, if they are in reach.
///
/// # Safety
/// `len` bytes are at `source`, 16 to 64.
#[inline(always)]
unsafe fn put_vectors(dest: *mut u8, source: *const u8, len: usize, pe: c_int) -> bool {
    let Some(place) = fast::short(dest, pe) else {
        return false;
    };
    // SAFETY: so many bytes in reach; the caller has as many at `source`.
    unsafe { copy::vectors(place.memory.at(), source, len) };
    place.stored(&"shmem_put", pe);
    true
}

/// `shmem_put`, of all types and sizes.
#[inline(always)]
pub unsafe fn put<T: Element>(ctx: Ctx, dest: *mut T, source: *const T, nelems: usize, pe: c_int) {
    let (dest, source) = (dest.cast(), source.cast());
    let Short { word, vectors } = short_lens::<T>(nelems);
    // SAFETY: C programs promise the elements at `source`, and `is_word` says that they are a word.
    let as_word = || is_word::<T>(nelems).then(|| unsafe { put_word(dest, source, word, pe) });
    let as_vectors = || {
        // SAFETY: C programs promise the elements at `source`, and `is_vectors` says that they are
        // 16 to 64 bytes.
        is_vectors::<T>(nelems).then(|| unsafe { put_vectors(dest, source, vectors, pe) })
    };
    let is_put = ctx.is_of_world()
        && match words_first::<T>() {
            true => as_word().or_else(as_vectors),
            false => as_vectors().or_else(as_word),
        }
        .unwrap_or(false);
    if !is_put {
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: C programs promise the elements at `source`.
        remote::put_many(dest, unsafe { Input::new(source, len) }, pe, ctx);
    }
}

/// As [`put_word`], the other way.
///
/// # Safety
/// There is room for one word of `len` bytes at `dest`.
#[inline(always)]
unsafe fn get_word(dest: *mut u8, source: *const u8, len: usize, pe: c_int) -> bool {
    match fast::short(source, pe) {
        Some(place) if !place.may_be_dead() => {
            // SAFETY: one word in reach; the caller has room for one at `dest`.
            unsafe { copy::word_from_peer(dest, place.memory.at(), len) };
            true
        }
        _ => false,
    }
}

/// As [`put_vectors`], the other way.
///
/// # Safety
/// There is room for `len` bytes at `dest`, 16 to 64.
#[inline(always)]
unsafe fn get_vectors(dest: *mut u8, source: *const u8, len: usize, pe: c_int) -> bool {
    match fast::short(source, pe) {
        Some(place) if !place.may_be_dead() => {
            // SAFETY: so many bytes in reach; the caller has as many at `dest`.
            unsafe { copy::vectors(dest, place.memory.at(), len) };
            true
        }
        _ => false,
    }
}

/// `shmem_get`, of all types and sizes.
#[inline(always)]
pub unsafe fn get<T: Element>(ctx: Ctx, dest: *mut T, source: *const T, nelems: usize, pe: c_int) {
    let (dest, source) = (dest.cast(), source.cast());
    let Short { word, vectors } = short_lens::<T>(nelems);
    // SAFETY: C programs promise room for the elements, and `is_word` says that they are a word.
    let as_word = || is_word::<T>(nelems).then(|| unsafe { get_word(dest, source, word, pe) });
    let as_vectors = || {
        // SAFETY: C programs promise room for the elements, and `is_vectors` says that they are 16
        // to 64 bytes.
        is_vectors::<T>(nelems).then(|| unsafe { get_vectors(dest, source, vectors, pe) })
    };
    let is_got = ctx.is_of_world()
        && match words_first::<T>() {
            true => as_word().or_else(as_vectors),
            false => as_vectors().or_else(as_word),
        }
        .unwrap_or(false);
    if !is_got {
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: C programs promise room for the elements at `dest`.
        unsafe { remote::get_many(dest, source, len, pe, ctx) };
    }
}

/// `shmem_p`.
#[inline(always)]
pub unsafe fn p<T: Element>(ctx: Ctx, dest: *mut T, value: T, pe: c_int) {
    if ctx.is_of_world()
        && let Some(place) = fast::short(dest.cast(), pe)
    {
        place.memory.put(Input::of(&value));
        place.stored(&"shmem_p", pe);
    } else {
        remote::put_value(dest, value, pe, ctx);
    }
}

/// `shmem_g`.
#[inline(always)]
pub unsafe fn g<T: Element>(ctx: Ctx, source: *const T, pe: c_int) -> T {
    if ctx.is_of_world()
        && let Some(place) = fast::short(source.cast(), pe)
        && !place.may_be_dead()
    {
        let mut value = T::new_zeroed();
        place.memory.get(Output::of(&mut value));
        value
    } else {
        remote::get_value(source, pe, ctx)
    }
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
    if fast::is_coherent() {
        // SAFETY: C programs promise the elements at `source`.
        unsafe { put(ctx, dest, source, nelems, pe) }
    } else {
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: C programs promise the elements at `source`.
        let source = unsafe { Input::new(source.cast(), len) };
        remote::put_nbi(ctx, dest.cast(), source, pe);
    }
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
    if fast::is_coherent() {
        // SAFETY: C programs promise room for the elements at `dest`.
        unsafe { get(ctx, dest, source, nelems, pe) }
    } else {
        let len = nelems.saturating_mul(size_of::<T>());
        // SAFETY: C programs promise room for the elements at `dest`.
        let dest = unsafe { Output::new(dest.cast(), len) };
        remote::get_nbi(ctx, dest, source.cast(), pe);
    }
}
