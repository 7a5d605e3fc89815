//! The long way to the memory of a PE. It checks everything, handles contexts and the wires that do not map memory, and
//! reports what went wrong.

mod atomics;
mod order;
mod strided;

use core::ffi::c_int;
use core::fmt::Display;

use hostwire::PeId;
use hostwire_transport::wait::Doorbell;
use hostwire_transport::window::DOORBELL_OFFSET_BYTES;

use crate::buffer::{Input, Output};
use crate::context;
use crate::copy;
use crate::debug;
use crate::debug::race::{Footprint, Race, Transfer};
use crate::element::Element;
use crate::fail::fatal;
use crate::fast::{self, MappedPe, Region, What};
use crate::handle::Ctx;
use crate::mapped::Mapped;
use crate::runtime::{self, Runtime};

pub(crate) use atomics::{
    atomic_at, atomic_out_of_reach, compare_swap_out_of_reach, gave, put_signal, signal,
};
pub(crate) use order::{fence, pe_quiet, quiet};
pub(crate) use strided::{get_strided, put_strided};

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

/// An operation in reach has seen that the doorbell of `pe` is not at rest: wakes the PE, or ends
/// the job because the PE is lost.
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

// A short operation that cannot be finished calls one of the functions here that are `extern "C"`.
// Such a function cannot unwind, and it takes its arguments in the registers in which the C program
// passed them. So the compiler makes the call a jump, and neither saves nor moves a register for it.

/// As [`ring`], after a store.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn ring_bell(what: What, pe: c_int) {
    ring(what, pe);
}

/// As [`ring`], after an atomic that gave back `old`.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn ring_bell_for(old: u64, what: What, pe: c_int) -> u64 {
    ring(what, pe);
    old
}

/// `len` bytes at `offset` of the segment of `pe`, if they are in it, and stores and loads reach it.
#[inline]
pub(crate) fn resolve(runtime: &Runtime, pe: PeId, offset: usize, len: usize) -> Option<Mapped> {
    let segment_bytes = runtime.attachment.layout().segment_bytes();
    if offset > segment_bytes || len > segment_bytes - offset {
        return None;
    }
    let segment = match runtime.mapped {
        Some((first, stride)) if pe < runtime.attachment.pes() => first + pe as usize * stride,
        Some(_) => return None,
        None => (*runtime.near.get(pe as usize)?)?,
    };
    let at = core::ptr::with_exposed_provenance_mut(segment + offset);
    // SAFETY: the bytes are in the segment, as just seen. The runtime has only addresses of
    // segments that stay mapped.
    Some(unsafe { Mapped::new(at, len) })
}

/// Wakes `pe` after a store to its memory that did not go by the wire, if it sleeps.
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
    let bell = resolve(runtime, pe, DOORBELL_OFFSET_BYTES, 4)?;
    bell.half().map(Doorbell::new)
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
) -> Option<(c_int, MappedPe)> {
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

/// The error text for memory that should be symmetric, and is not.
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

/// Ends the job if an access reaches beyond its block, where `SHMEM_DEBUG` asks for this check.
pub(crate) fn check_bounds(runtime: &Runtime, what: &str, role: &str, address: usize, len: usize) {
    runtime
        .debug
        .check_bounds(runtime, what, role, address, len);
}

/// Checks a local buffer, where `SHMEM_DEBUG` asks for checks.
fn local(runtime: &Runtime, what: &str, role: &str, address: usize, len: usize) {
    if runtime.debug.is_on() {
        debug::must_be_memory(runtime, what, role, address, len);
    }
}

/// Copies `source` to `offset` of `pe`.
pub(crate) fn put_at(
    runtime: &Runtime,
    what: &'static str,
    pe: PeId,
    offset: usize,
    source: Input<'_>,
) {
    match resolve(runtime, pe, offset, source.len()) {
        Some(memory) => {
            memory.put(source);
            stored(runtime, what, pe);
        }
        None => done(what, runtime.attachment.put(pe, offset, source.bytes())),
    }
}

/// Copies the bytes at `offset` of `pe` to `dest`.
fn get_at(runtime: &Runtime, what: &'static str, pe: PeId, offset: usize, mut dest: Output<'_>) {
    match resolve(runtime, pe, offset, dest.len()) {
        Some(memory) => {
            done(what, runtime.attachment.check(pe));
            memory.get(dest);
        }
        None => done(what, runtime.attachment.get(pe, offset, dest.bytes())),
    }
}

/// A put of more bytes than [`crate::api::put`] moves, or one that is not in reach. It moves up to
/// eight vectors, without a call, so that no register has to be saved.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn put_many(dest: *mut u8, source: Input<'_>, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && let Some(wide) = source.as_wide()
        && let Some(place) = fast::at(dest, source.len(), pe)
    {
        place.memory.put_wide(wide);
        place.stored(&"shmem_put", pe);
    } else {
        put_long(dest, source, pe, ctx);
    }
}

/// A put that [`put_many`] has not done: of more bytes, with a call of `memmove`.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
extern "C" fn put_long(dest: *mut u8, source: Input<'_>, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && source.len() > fast::SHORT_BYTES
        && let Some(place) = fast::at(dest, source.len(), pe)
    {
        place.memory.put_long(source);
        place.stored(&"shmem_put", pe);
    } else {
        put_few(dest, source, pe, ctx);
    }
}

/// A put that [`put_long`] has not done: of few bytes, or one that is not in reach.
#[inline(never)]
#[allow(improper_ctypes_definitions)]
extern "C" fn put_few(dest: *mut u8, source: Input<'_>, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && let Some(place) = fast::at(dest, source.len(), pe)
    {
        place.memory.put(source);
        place.stored(&"shmem_put", pe);
    } else {
        put("shmem_put", ctx, dest, source, pe);
    }
}

/// As [`put_many`], the other way. The destination and its length are not one argument: they would
/// have to be in other registers than those in which C passes them.
///
/// # Safety
/// `dest` can be written for `len` bytes, which nobody else uses.
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
        unsafe { copy::wide(dest, place.memory.at(), len) };
    } else {
        // SAFETY: the caller has `len` bytes at `dest`.
        unsafe { get_long(dest, source, len, pe, ctx) };
    }
}

/// As [`put_long`], the other way.
///
/// # Safety
/// As of [`get_many`].
#[inline(never)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn get_long(dest: *mut u8, source: *const u8, len: usize, pe: c_int, ctx: Ctx) {
    if ctx.is_of_world()
        && len > fast::SHORT_BYTES
        && let Some(place) = fast::at(source, len, pe)
        && !place.may_be_dead()
    {
        // SAFETY: the caller has `len` bytes at `dest`.
        let dest = unsafe { Output::new(dest, len) };
        place.memory.get_long(dest);
    } else {
        // SAFETY: the caller has `len` bytes at `dest`.
        unsafe { get_few(dest, source, len, pe, ctx) };
    }
}

/// As [`put_few`], the other way.
///
/// # Safety
/// As of [`get_many`].
#[inline(never)]
#[allow(improper_ctypes_definitions)]
unsafe extern "C" fn get_few(dest: *mut u8, source: *const u8, len: usize, pe: c_int, ctx: Ctx) {
    // SAFETY: the caller has `len` bytes at `dest`.
    let dest = unsafe { Output::new(dest, len) };
    if ctx.is_of_world()
        && let Some(place) = fast::at(source, len, pe)
        && !place.may_be_dead()
    {
        place.memory.get(dest);
    } else {
        get("shmem_get", ctx, dest, source, pe);
    }
}

/// The long way of [`crate::api::put`].
#[cold]
#[inline(never)]
pub(crate) fn put(what: &'static str, ctx: Ctx, dest: *mut u8, source: Input<'_>, pe: c_int) {
    let runtime = runtime::get(what);
    let len = source.len();
    if let Some((pe, place)) = of_team(runtime, ctx, dest, len, pe) {
        place.memory.put(source);
        return place.stored(&"shmem_put", pe);
    }
    let pe = target(runtime, what, ctx, pe);
    if len == 0 {
        return;
    }
    let offset = symmetric(runtime, what, "the destination", dest, len);
    local(runtime, what, "the source", source.address(), len);
    match runtime.debug.race() {
        Some(race) => put_looked_at(race, runtime, (what, false), ctx, (pe, offset), source),
        None => put_at(runtime, what, pe, offset, source),
    }
}

/// A put of contiguous bytes to an offset at a PE, which the detector of races looks at.
fn put_looked_at(
    race: &Race,
    runtime: &'static Runtime,
    (what, is_nbi): (&'static str, bool),
    ctx: Ctx,
    (pe, offset): (PeId, usize),
    source: Input<'_>,
) {
    let transfer = Transfer {
        what,
        slot: context::of_race(runtime, what, ctx).0,
        pe,
        remote: Footprint::run(offset, source.len()),
        local: Footprint::run(source.address(), source.len()),
        is_nbi,
    };
    if !race.put(runtime, transfer, || source.first_word()) {
        put_at(runtime, what, pe, offset, source);
    }
}

/// The long way of [`crate::api::put_nbi`].
#[cold]
#[inline(never)]
pub(crate) fn put_nbi(ctx: Ctx, dest: *mut u8, source: Input<'_>, pe: c_int) {
    const WHAT: &str = "shmem_put_nbi";
    let runtime = runtime::get(WHAT);
    let len = source.len();
    match runtime.debug.race().filter(|_| len > 0) {
        None => put(WHAT, ctx, dest, source, pe),
        Some(race) => {
            let pe = target(runtime, WHAT, ctx, pe);
            let offset = symmetric(runtime, WHAT, "the destination", dest, len);
            local(runtime, WHAT, "the source", source.address(), len);
            put_looked_at(race, runtime, (WHAT, true), ctx, (pe, offset), source);
        }
    }
}

/// The long way of [`crate::api::get_nbi`].
#[cold]
#[inline(never)]
pub(crate) fn get_nbi(ctx: Ctx, dest: Output<'_>, source: *const u8, pe: c_int) {
    const WHAT: &str = "shmem_get_nbi";
    get_how((WHAT, true), ctx, dest, source, pe);
}

/// The long way of [`crate::api::p`]. It takes the value itself, so that the short way need not store
/// it in memory.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn put_value<T: Element>(dest: *mut T, value: T, pe: c_int, ctx: Ctx) {
    put("shmem_p", ctx, dest.cast(), Input::of(&value), pe);
}

/// The long way of [`crate::api::g`].
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn get_value<T: Element>(source: *const T, pe: c_int, ctx: Ctx) -> T {
    let mut value = T::new_zeroed();
    get("shmem_g", ctx, Output::of(&mut value), source.cast(), pe);
    value
}

/// The long way of [`crate::api::get`].
#[cold]
#[inline(never)]
pub(crate) fn get(what: &'static str, ctx: Ctx, dest: Output<'_>, source: *const u8, pe: c_int) {
    get_how((what, false), ctx, dest, source, pe);
}

fn get_how(
    (what, is_nbi): (&'static str, bool),
    ctx: Ctx,
    dest: Output<'_>,
    source: *const u8,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let len = dest.len();
    if let Some((_, place)) = of_team(runtime, ctx, source, len, pe)
        && !place.may_be_dead()
    {
        return place.memory.get(dest);
    }
    let pe = target(runtime, what, ctx, pe);
    if len == 0 {
        return;
    }
    let offset = symmetric(runtime, what, "the source", source, len);
    local(runtime, what, "the destination", dest.address(), len);
    if let Some(race) = runtime.debug.race() {
        let transfer = Transfer {
            what,
            slot: context::of_race(runtime, what, ctx).0,
            pe,
            remote: Footprint::run(offset, len),
            local: Footprint::run(dest.address(), len),
            is_nbi,
        };
        race.get(runtime, transfer);
    }
    get_at(runtime, what, pe, offset, dest);
}
