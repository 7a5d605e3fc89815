//! The long way to the memory of a PE: every check, contexts, wires that do not map
//! memory, and the words for what went wrong.

mod atomics;
mod order;
mod strided;

use core::ffi::c_int;
use core::fmt::Display;

use hostwire::PeId;
use hostwire_transport::wait::Doorbell;
use hostwire_transport::window::DOORBELL_OFFSET_BYTES;

use crate::arguments;
use crate::context;
use crate::copy;
use crate::debug::race::{Footprint, Race, Transfer};
use crate::element::Element;
use crate::fail::fatal;
use crate::fast::{self, Place, Region, What};
use crate::handle::Ctx;
use crate::runtime::{self, Runtime};

pub(crate) use atomics::{
    atomic_at, atomic_out_of_reach, compare_swap_out_of_reach, gave, put_signal, signal,
};
pub(crate) use order::{fence, pe_quiet, quiet};
pub(crate) use strided::{Strides, get_strided, put_strided};

/// `SHMEM_SIGNAL_SET`.
pub(crate) const SIGNAL_SET: c_int = 0;
/// `SHMEM_SIGNAL_ADD`.
pub(crate) const SIGNAL_ADD: c_int = 1;

/// The result of an operation that ends the job if it fails.
#[inline]
pub(crate) fn done<T, E: Display>(what: &str, result: Result<T, E>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fatal(what, error),
    }
}

/// A doorbell that is not at rest, seen by an operation in reach: wakes its PE, or finds
/// it lost.
#[cold]
#[inline(never)]
pub(crate) fn ring(what: &str, pe: c_int) {
    let Some(runtime) = runtime::any() else {
        return;
    };
    let reach = runtime.attachment.wire().reach();
    if !reach.is_some_and(|reach| reach.ring(pe as PeId)) {
        fatal(what, format_args!("PE {pe} is lost: its process has ended"));
    }
}

// Short operations end with what follows, and with what is behind the others that are `extern "C"`:
// these cannot unwind, and have their arguments where the C function that calls them got its own,
// so their call is a jump, and nothing is kept or moved for it.

/// As [`ring`], behind a store.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn ring_bell(what: What, pe: c_int) {
    ring(what, pe);
}

/// As [`ring`], behind an atomic that gave back `old`.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn ring_bell_for(old: u64, what: What, pe: c_int) -> u64 {
    ring(what, pe);
    old
}

/// The address of `offset` in the segment of `pe`, if stores and loads reach it.
#[inline]
pub(crate) fn resolve(runtime: &Runtime, pe: PeId, offset: usize) -> Option<*mut u8> {
    let address = match runtime.mapped {
        Some((first, stride)) => first + pe as usize * stride + offset,
        None => (*runtime.near.get(pe as usize)?)? + offset,
    };
    Some(core::ptr::with_exposed_provenance_mut(address))
}

/// What follows a store to the memory of `pe` that did not go by the wire.
#[inline]
pub(crate) fn stored(runtime: &Runtime, what: &'static str, pe: PeId) {
    let bell = bell(runtime, pe);
    if bell.is_none_or(Doorbell::is_at_rest) {
        return;
    }
    match (runtime.mapped, bell) {
        (None, Some(bell)) => bell.notify(),
        _ => ring(what, pe as c_int),
    }
}

#[inline]
fn bell(runtime: &Runtime, pe: PeId) -> Option<Doorbell<'static>> {
    let bell = resolve(runtime, pe, DOORBELL_OFFSET_BYTES)?;
    // SAFETY: the doorbell of a segment that stays mapped, only ever an atomic.
    Some(Doorbell::new(unsafe { &*bell.cast() }))
}

/// Where `len` bytes at `address` lie at number `pe` of the team of `ctx`, if that is not all
/// PEs, and which PE it is; nothing if they are not in reach.
#[inline]
fn of_team(
    runtime: &'static Runtime,
    ctx: Ctx,
    address: *const u8,
    len: usize,
    pe: c_int,
) -> Option<(c_int, Place)> {
    if ctx.is_of_world() {
        return None;
    }
    let pe = context::member(runtime, ctx, pe)?;
    Some((pe, fast::at(address, len, pe)?))
}

/// The PE of the job that `pe` is in the team of `ctx`.
pub(crate) fn target(runtime: &'static Runtime, what: &str, ctx: Ctx, pe: c_int) -> PeId {
    let team = context::team_of(runtime, what, ctx);
    let member = usize::try_from(pe)
        .ok()
        .and_then(|rank| team.members().get(rank));
    match member {
        Some(pe) => *pe,
        None => fatal(
            what,
            format_args!(
                "there is no PE {pe}: the {} {} PEs (0 to {})",
                if team.core.slot() == 0 {
                    "job has"
                } else {
                    "team of the context has"
                },
                team.size(),
                team.size() - 1
            ),
        ),
    }
}

/// Where in a segment `len` bytes at `address` here are. Ends the job if they are not
/// symmetric.
pub(crate) fn symmetric(
    runtime: &Runtime,
    what: &str,
    role: &str,
    address: *const u8,
    len: usize,
) -> usize {
    match runtime.locate(address as usize, len) {
        Some(offset) => {
            check_bounds(runtime, what, role, address as usize, len);
            offset
        }
        None => fatal(what, NotSymmetric::new(runtime, role, address.addr(), len)),
    }
}

/// What is said of memory that should be symmetric.
pub(crate) struct NotSymmetric<'a> {
    runtime: &'a Runtime,
    role: &'a str,
    address: usize,
    len: usize,
}

impl<'a> NotSymmetric<'a> {
    pub(crate) fn new(runtime: &'a Runtime, role: &'a str, address: usize, len: usize) -> Self {
        Self {
            runtime,
            role,
            address,
            len,
        }
    }
}

impl Display for NotSymmetric<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            role, address, len, ..
        } = self;
        match address {
            0 => write!(f, "{role} is NULL, which is not symmetric")?,
            _ => write!(f, "{role} {address:#x} ({len} bytes) is not symmetric")?,
        }
        let end = |region: Region| region.address + region.len_bytes;
        let (heap, statics) = (self.runtime.heap_region, self.runtime.statics);
        write!(
            f,
            ": neither in the symmetric heap ({:#x} to {:#x}) nor a static object of the program \
             ({:#x} to {:#x})",
            heap.address,
            end(heap),
            statics.address,
            end(statics)
        )
    }
}

/// That an access stays in its block, where the program has asked for that to be looked at.
pub(crate) fn check_bounds(runtime: &Runtime, what: &str, role: &str, address: usize, len: usize) {
    runtime
        .debug
        .check_bounds(runtime, what, role, address, len);
}

/// A local buffer, where the program has asked for that to be looked at.
fn local(runtime: &Runtime, what: &str, role: &str, address: *const u8, len: usize) {
    if runtime.debug.is_on() {
        arguments::own(runtime, what, role, address.addr(), len);
    }
}

/// Copies `len` bytes to `offset` of `pe`.
///
/// # Safety
/// `source` is valid for `len` bytes; the offset was checked.
pub(crate) unsafe fn put_at(
    runtime: &Runtime,
    what: &'static str,
    pe: PeId,
    offset: usize,
    source: *const u8,
    len: usize,
) {
    match resolve(runtime, pe, offset) {
        Some(at) => {
            // SAFETY: in the segment of `pe`; the caller has the source.
            unsafe { copy::to_peer(at, source, len) };
            stored(runtime, what, pe);
        }
        None => {
            // SAFETY: as the caller promises; nobody writes there while we read.
            let source = unsafe { core::slice::from_raw_parts(source, len) };
            done(what, runtime.attachment.put(pe, offset, source));
        }
    }
}

/// Copies `len` bytes at `offset` of `pe` to `dest`.
///
/// # Safety
/// `dest` is valid for `len` bytes; the offset was checked.
pub(crate) unsafe fn get_at(
    runtime: &Runtime,
    what: &'static str,
    pe: PeId,
    offset: usize,
    dest: *mut u8,
    len: usize,
) {
    match resolve(runtime, pe, offset) {
        Some(at) => {
            done(what, runtime.attachment.check(pe));
            // SAFETY: in the segment of `pe`; the caller has the destination.
            unsafe { copy::from_peer(dest, at, len) };
        }
        None => {
            // SAFETY: as the caller promises; nobody else uses it meanwhile.
            let dest = unsafe { core::slice::from_raw_parts_mut(dest, len) };
            done(what, runtime.attachment.get(pe, offset, dest));
        }
    }
}

/// A put of more bytes than [`crate::api::put`] moves, or one that is not in reach. Up to
/// a few vectors without a call, and so without a register that has to be kept.
///
/// # Safety
/// `source` is valid for `len` bytes.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) unsafe extern "C" fn put_many(
    dest: *mut u8,
    source: *const u8,
    len: usize,
    pe: c_int,
    ctx: Ctx,
) {
    if ctx.is_of_world()
        && copy::is_wide(len)
        && let Some(place) = fast::at(dest, len, pe)
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `source`.
        unsafe { copy::wide(place.at, source, len) };
        place.stored(&"shmem_put", pe);
    } else {
        // SAFETY: as the caller promises.
        unsafe { put_long(dest, source, len, pe, ctx) };
    }
}

/// What [`put_many`] does not do itself: with a call of `memmove`.
///
/// # Safety
/// `source` is valid for `len` bytes.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn put_long(dest: *mut u8, source: *const u8, len: usize, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && len > fast::SHORT_BYTES
        && let Some(place) = fast::at(dest, len, pe)
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `source`.
        unsafe { core::ptr::copy(source, place.at, len) };
        place.stored(&"shmem_put", pe);
    } else {
        // SAFETY: as the caller promises.
        unsafe { put_few(dest, source, len, pe, ctx) };
    }
}

/// What [`put_long`] does not do itself. A jump, too: its arguments are where they were.
///
/// # Safety
/// `source` is valid for `len` bytes.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn put_few(dest: *mut u8, source: *const u8, len: usize, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && let Some(place) = fast::at(dest, len, pe)
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `source`.
        unsafe { copy::to_peer(place.at, source, len) };
        place.stored(&"shmem_put", pe);
    } else {
        // SAFETY: as the caller promises.
        unsafe { put("shmem_put", ctx, dest, source, len, pe) };
    }
}

/// As [`put_many`], the other way.
///
/// # Safety
/// `dest` is valid for `len` bytes.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) unsafe extern "C" fn get_many(
    dest: *mut u8,
    source: *const u8,
    len: usize,
    pe: c_int,
    ctx: Ctx,
) {
    if ctx.is_of_world()
        && copy::is_wide(len)
        && let Some(place) = fast::at(source, len, pe)
        && !place.may_be_dead()
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `dest`.
        unsafe { copy::wide(dest, place.at, len) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { get_long(dest, source, len, pe, ctx) };
    }
}

/// As [`put_long`], the other way.
///
/// # Safety
/// `dest` is valid for `len` bytes.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn get_long(dest: *mut u8, source: *const u8, len: usize, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && len > fast::SHORT_BYTES
        && let Some(place) = fast::at(source, len, pe)
        && !place.may_be_dead()
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `dest`.
        unsafe { core::ptr::copy(place.at, dest, len) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { get_few(dest, source, len, pe, ctx) };
    }
}

/// As [`put_few`], the other way.
///
/// # Safety
/// `dest` is valid for `len` bytes.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn get_few(dest: *mut u8, source: *const u8, len: usize, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && let Some(place) = fast::at(source, len, pe)
        && !place.may_be_dead()
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `dest`.
        unsafe { copy::from_peer(dest, place.at, len) };
    } else {
        // SAFETY: as the caller promises.
        unsafe { get("shmem_get", ctx, dest, source, len, pe) };
    }
}

/// The long way of [`crate::api::put`].
///
/// # Safety
/// `source` is valid for `len` bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn put(
    what: &'static str,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    if let Some((pe, place)) = of_team(runtime, ctx, dest, len, pe) {
        // SAFETY: `len` bytes in reach; the caller has as many at `source`.
        unsafe { copy::to_peer(place.at, source, len) };
        return place.stored(&"shmem_put", pe);
    }
    let pe = target(runtime, what, ctx, pe);
    if len == 0 {
        return;
    }
    let offset = symmetric(runtime, what, "the destination", dest, len);
    local(runtime, what, "the source", source, len);
    if let Some(race) = runtime.debug.race() {
        let sides = (
            Footprint::run(offset, len),
            Footprint::run(source as usize, len),
        );
        // SAFETY: as the caller promises; the offset was checked.
        return unsafe { put_looked_at(race, runtime, (what, false), ctx, sides, pe) };
    }
    // SAFETY: as the caller promises; the offset was checked.
    unsafe { put_at(runtime, what, pe, offset, source, len) };
}

/// A put of contiguous bytes, under the eyes of the detector of races. `sides` are the offset
/// and the source.
///
/// # Safety
/// The source is valid; the offset was checked.
unsafe fn put_looked_at(
    race: &Race,
    runtime: &'static Runtime,
    (what, is_nbi): (&'static str, bool),
    ctx: Ctx,
    (remote, local): (Footprint, Footprint),
    pe: PeId,
) {
    let transfer = Transfer {
        what,
        slot: context::of_race(runtime, what, ctx).0,
        pe,
        remote,
        local,
        is_nbi,
    };
    let len = remote.block_bytes;
    let source: *const u8 = core::ptr::with_exposed_provenance(local.start);
    let word = || {
        let mut bytes = [0; 8];
        // SAFETY: the caller has the source; a word has at most 8 bytes.
        unsafe { core::ptr::copy_nonoverlapping(source, bytes.as_mut_ptr(), len.min(8)) };
        u64::from_le_bytes(bytes)
    };
    if !race.put(runtime, transfer, word) {
        // SAFETY: as the caller promises.
        unsafe { put_at(runtime, what, pe, remote.start, source, len) };
    }
}

/// The long way of [`crate::api::put_nbi`].
///
/// # Safety
/// `source` is valid for `len` bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn put_nbi(ctx: Ctx, dest: *mut u8, source: *const u8, len: usize, pe: c_int) {
    const WHAT: &str = "shmem_put_nbi";
    let runtime = runtime::get(WHAT);
    match runtime.debug.race().filter(|_| len > 0) {
        None => {
            // SAFETY: as the caller promises.
            unsafe { put(WHAT, ctx, dest, source, len, pe) };
        }
        Some(race) => {
            let pe = target(runtime, WHAT, ctx, pe);
            let offset = symmetric(runtime, WHAT, "the destination", dest, len);
            local(runtime, WHAT, "the source", source, len);
            let sides = (
                Footprint::run(offset, len),
                Footprint::run(source as usize, len),
            );
            // SAFETY: as the caller promises; the offset was checked.
            unsafe { put_looked_at(race, runtime, (WHAT, true), ctx, sides, pe) };
        }
    }
}

/// The long way of [`crate::api::get_nbi`].
///
/// # Safety
/// `dest` is valid for `len` bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn get_nbi(ctx: Ctx, dest: *mut u8, source: *const u8, len: usize, pe: c_int) {
    const WHAT: &str = "shmem_get_nbi";
    // SAFETY: as the caller promises.
    unsafe { get_how((WHAT, true), ctx, dest, source, len, pe) };
}

/// The long way of [`crate::api::p`]: takes the value itself, so that the short way need
/// not have it in memory.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn put_value<T: Element>(dest: *mut T, value: T, pe: c_int, ctx: Ctx) {
    let (source, len) = ((&raw const value).cast(), size_of::<T>());
    // SAFETY: one element, on the stack.
    unsafe { put("shmem_p", ctx, dest.cast(), source, len, pe) };
}

/// The long way of [`crate::api::g`].
///
/// # Safety
/// None beyond what it checks.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) unsafe extern "C" fn get_value<T: Element>(source: *const T, pe: c_int, ctx: Ctx) -> T {
    let mut value = core::mem::MaybeUninit::<T>::uninit();
    let (dest, len) = (value.as_mut_ptr().cast(), size_of::<T>());
    // SAFETY: room for one element, on the stack.
    unsafe { get("shmem_g", ctx, dest, source.cast(), len, pe) };
    // SAFETY: all its bytes were written, and any bytes are a value.
    unsafe { value.assume_init() }
}

/// The long way of [`crate::api::get`].
///
/// # Safety
/// `dest` is valid for `len` bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn get(
    what: &'static str,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    unsafe { get_how((what, false), ctx, dest, source, len, pe) };
}

unsafe fn get_how(
    (what, is_nbi): (&'static str, bool),
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    len: usize,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    if let Some((_, place)) = of_team(runtime, ctx, source, len, pe)
        && !place.may_be_dead()
    {
        // SAFETY: `len` bytes in reach; the caller has as many at `dest`.
        return unsafe { copy::from_peer(dest, place.at, len) };
    }
    let pe = target(runtime, what, ctx, pe);
    if len == 0 {
        return;
    }
    let offset = symmetric(runtime, what, "the source", source, len);
    local(runtime, what, "the destination", dest, len);
    if let Some(race) = runtime.debug.race() {
        let transfer = Transfer {
            what,
            slot: context::of_race(runtime, what, ctx).0,
            pe,
            remote: Footprint::run(offset, len),
            local: Footprint::run(dest as usize, len),
            is_nbi,
        };
        race.get(runtime, transfer);
    }
    // SAFETY: as the caller promises; the offset was checked.
    unsafe { get_at(runtime, what, pe, offset, dest, len) };
}
