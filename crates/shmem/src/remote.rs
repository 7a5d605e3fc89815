//! The long way to the memory of a PE: every check, contexts, wires that do not map
//! memory, and the words for what went wrong.

use core::ffi::c_int;
use core::fmt::Display;

use hostwire::PeId;
use hostwire::attachment::{Operation, Request};
use hostwire_transport::wait::Doorbell;
use hostwire_transport::window::DOORBELL_OFFSET_BYTES;

use crate::api::in_reach;
use crate::arguments;
use crate::context;
use crate::copy;
use crate::debug::race::{AtomicUse, Footprint, Kind, Operands, Race, Transfer};
use crate::element::{Atomic, Element};
use crate::fail::fatal;
use crate::fast::{self, Place, Region, What};
use crate::handle::{CTX_DEFAULT, CTX_INVALID, Ctx};
use crate::runtime::{self, Runtime};

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

/// As [`stored`], if it is all the same whether `pe` lives.
#[inline]
pub(crate) fn wake(runtime: &Runtime, pe: PeId) {
    if let Some(bell) = bell(runtime, pe) {
        bell.notify();
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
        .and_then(|rank| team.members.get(rank));
    match member {
        Some(pe) => *pe,
        None => fatal(
            what,
            format_args!(
                "there is no PE {pe}: the {} {} PEs (0 to {})",
                if team.slot == 0 {
                    "job has"
                } else {
                    "team of the context has"
                },
                team.members.len(),
                team.members.len() - 1
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

/// As [`atomic`], for short operations without a second operand.
///
/// # Safety
/// None beyond what it checks.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) unsafe extern "C" fn atomic_out_of_reach<T: Atomic>(
    dest: *const T,
    operand: u64,
    pe: c_int,
    ctx: Ctx,
    how: &'static (What, Operation),
) -> u64 {
    let (what, operation) = *how;
    // SAFETY: as the caller promises.
    unsafe { atomic(what, ctx, operation, dest, operand, 0, pe) }
}

/// As [`atomic`], for short compare-and-swaps.
///
/// # Safety
/// None beyond what it checks.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) unsafe extern "C" fn compare_swap_out_of_reach<T: Atomic>(
    dest: *const T,
    compare: u64,
    operand: u64,
    pe: c_int,
    ctx: Ctx,
) -> u64 {
    const WHAT: &str = "shmem_atomic_compare_swap";
    let operation = Operation::CompareSwap;
    // SAFETY: as the caller promises.
    unsafe { atomic(WHAT, ctx, operation, dest, operand, compare, pe) }
}

/// The long way of all atomics. Returns the bits of the old value.
///
/// # Safety
/// None beyond what it checks.
#[cold]
#[inline(never)]
pub(crate) unsafe fn atomic<T: Atomic>(
    what: &'static str,
    ctx: Ctx,
    operation: Operation,
    dest: *const T,
    operand: u64,
    compare: u64,
    pe: c_int,
) -> u64 {
    let runtime = runtime::get(what);
    if !ctx.is_of_world()
        && let Some(pe) = context::member(runtime, ctx, pe)
    {
        let how: (What, Operation) = (&"an atomic", operation);
        if let Some(old) = in_reach(how, CTX_DEFAULT, dest, operand, compare, pe) {
            return old;
        }
    }
    let pe = target(runtime, what, ctx, pe);
    let size = size_of::<T>();
    let offset = symmetric(runtime, what, "the object", dest.cast(), size);
    if !offset.is_multiple_of(size) {
        fatal(
            what,
            format_args!("{dest:p} is not aligned to {size} bytes"),
        );
    }
    if let Some(race) = runtime.debug.race() {
        let (slot, is_of_shared) = context::of_race(runtime, what, ctx);
        let operands = Operands {
            class: T::CLASS,
            is_of_shared,
        };
        let of = AtomicUse {
            what,
            slot,
            kind: match operation {
                Operation::Fetch => Kind::AtomicRead(operands),
                _ => Kind::Atomic(operands),
            },
            operation,
            operand,
            compare,
            is_fetching: is_fetching(what),
            data: None,
        };
        return race.atomic(runtime, pe, (offset, size), of);
    }
    // Atomics are the agent's on some wires: it must see what was put before.
    atomic_at(runtime, what, pe, offset, size, operation, operand, compare)
}

/// Whether an atomic gives the program the old value.
fn is_fetching(what: &str) -> bool {
    let name = what.strip_prefix("shmem_atomic_").unwrap_or(what);
    name.starts_with("fetch") || name.ends_with("swap")
}

/// A non-blocking atomic on a word of `pe` has given `len` bytes: tells the detector of races.
#[cold]
pub(crate) fn gave(ctx: Ctx, fetch: *const u8, len: usize, pe: c_int) {
    const WHAT: &str = "shmem_atomic_fetch_nbi";
    let runtime = runtime::get(WHAT);
    if let Some(race) = runtime.debug.race() {
        let pe = target(runtime, WHAT, ctx, pe);
        let slot = context::of_race(runtime, WHAT, ctx).0;
        race.fetch_nbi(runtime, WHAT, slot, pe, Footprint::run(fetch as usize, len));
    }
}

/// A signal alone, or behind the data of the put with this number.
///
/// # Safety
/// None beyond what it checks.
#[cold]
pub(crate) unsafe fn signal(
    what: &'static str,
    ctx: Ctx,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
) {
    // SAFETY: as the caller promises.
    unsafe { signal_behind(what, ctx, sig_addr, (signal, sig_op), pe, None) };
}

unsafe fn signal_behind(
    what: &'static str,
    ctx: Ctx,
    sig_addr: *mut u64,
    (signal, sig_op): (u64, c_int),
    pe: c_int,
    data: Option<u64>,
) {
    let runtime = runtime::get(what);
    let operation = match sig_op {
        SIGNAL_ADD => Operation::Add,
        _ => Operation::Swap,
    };
    let Some(race) = runtime.debug.race() else {
        // SAFETY: everything is checked there.
        unsafe { atomic::<u64>(what, ctx, operation, sig_addr, signal, 0, pe) };
        return;
    };
    let pe = target(runtime, what, ctx, pe);
    let offset = symmetric(runtime, what, "the signal", sig_addr.cast(), 8);
    if !offset.is_multiple_of(8) {
        fatal(what, format_args!("{sig_addr:p} is not aligned to 8 bytes"));
    }
    let of = AtomicUse {
        what,
        slot: context::of_race(runtime, what, ctx).0,
        kind: match sig_op {
            SIGNAL_ADD => Kind::SignalAdd,
            _ => Kind::SignalSet,
        },
        operation,
        operand: signal,
        compare: 0,
        is_fetching: false,
        data,
    };
    race.atomic(runtime, pe, (offset, 8), of);
}

/// An atomic on the `size` bytes at `offset` of `pe`, which are aligned.
#[allow(clippy::too_many_arguments)]
pub(crate) fn atomic_at(
    runtime: &Runtime,
    what: &'static str,
    pe: PeId,
    offset: usize,
    size: usize,
    operation: Operation,
    operand: u64,
    compare: u64,
) -> u64 {
    let request = Request {
        operation,
        offset_bytes: offset,
        operand_bytes: size as u8,
        operand,
        compare,
    };
    let near = match runtime.mapped {
        None if pe != runtime.attachment.pe() => resolve(runtime, pe, offset),
        _ => None,
    };
    let Some(at) = near else {
        return done(what, runtime.attachment.atomic(pe, request));
    };
    done(what, runtime.attachment.check(pe));
    let old = match size {
        // SAFETY: in a segment that stays mapped, aligned; what is shared is accessed by
        // atomics and raw copies only.
        8 => operation.apply_64(unsafe { &*at.cast() }, operand, compare),
        _ => {
            // SAFETY: as above.
            let half = unsafe { &*at.cast() };
            operation
                .apply_32(half, operand as u32, compare as u32)
                .into()
        }
    };
    stored(runtime, what, pe);
    old
}

/// The long way of [`crate::api::put_signal`]. `data` is destination, source and bytes.
///
/// # Safety
/// The source is valid for the bytes.
#[cold]
#[inline(never)]
pub(crate) unsafe fn put_signal(
    what: &'static str,
    ctx: Ctx,
    data: (*mut u8, *const u8, usize),
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
) {
    let (dest, source, len) = data;
    if sig_op != SIGNAL_SET && sig_op != SIGNAL_ADD {
        fatal(
            what,
            format_args!("{sig_op} is no signal operator (SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD)"),
        );
    }
    let runtime = runtime::get(what);
    let number = match runtime.debug.race().filter(|_| len > 0) {
        None => {
            // SAFETY: as the caller promises.
            unsafe { put(what, ctx, dest, source, len, pe) };
            None
        }
        Some(race) => {
            let pe = target(runtime, what, ctx, pe);
            let offset = symmetric(runtime, what, "the destination", dest, len);
            local(runtime, what, "the source", source, len);
            let transfer = Transfer {
                what,
                slot: context::of_race(runtime, what, ctx).0,
                pe,
                remote: Footprint::run(offset, len),
                local: Footprint::run(source as usize, len),
                is_nbi: what.ends_with("nbi"),
            };
            let number = race.put_before_signal(runtime, transfer);
            // SAFETY: as the caller promises; the offset was checked.
            unsafe { put_at(runtime, what, pe, offset, source, len) };
            Some(number)
        }
    };
    done(what, runtime.attachment.fence());
    // SAFETY: everything is checked there.
    unsafe { signal_behind(what, ctx, sig_addr, (signal, sig_op), pe, number) };
}

/// How elements of a strided operation lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Strides {
    /// From one block to the next, in elements.
    pub(crate) dst: isize,
    pub(crate) sst: isize,
    pub(crate) block_elements: usize,
    pub(crate) blocks: usize,
    pub(crate) element_bytes: usize,
}

impl Strides {
    fn block_bytes(&self) -> usize {
        self.block_elements.saturating_mul(self.element_bytes)
    }

    /// The bytes of all blocks from `start` on, with this stride.
    fn footprint(&self, start: usize, stride: isize) -> Footprint {
        Footprint {
            start,
            block_bytes: self.block_bytes(),
            stride_bytes: stride.wrapping_mul(self.element_bytes as isize),
            blocks: self.blocks,
        }
    }

    /// The lowest byte that blocks with this stride touch, relative to the first one, and
    /// how many bytes they span. `None` if that is more than there can be.
    fn span(&self, stride: isize) -> Option<(isize, usize)> {
        let step = stride.checked_mul(self.element_bytes as isize)?;
        let last = isize::try_from(self.blocks - 1).ok()?.checked_mul(step)?;
        let span = last.unsigned_abs().checked_add(self.block_bytes())?;
        Some((last.min(0), span))
    }
}

/// Checks the symmetric side of a strided operation: the offset of its first block.
fn symmetric_blocks(
    runtime: &Runtime,
    what: &'static str,
    role: &str,
    address: *const u8,
    how: &Strides,
    stride: isize,
) -> usize {
    let Some((lowest, span)) = how.span(stride) else {
        fatal(what, "the blocks reach beyond the address space");
    };
    let first = address.wrapping_offset(lowest);
    let offset = symmetric(runtime, what, role, first, span);
    offset.wrapping_add_signed(lowest.wrapping_neg())
}

fn strided(
    runtime: &'static Runtime,
    what: &'static str,
    ctx: Ctx,
    (remote, local): (Footprint, Footprint),
    pe: PeId,
) -> Transfer {
    Transfer {
        what,
        slot: context::of_race(runtime, what, ctx).0,
        pe,
        remote,
        local,
        is_nbi: false,
    }
}

/// Strided and block-strided puts.
///
/// # Safety
/// The source is valid for all blocks.
pub(crate) unsafe fn put_strided(
    what: &'static str,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    how: Strides,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let pe = target(runtime, what, ctx, pe);
    let len = how.block_bytes();
    if how.blocks == 0 || len == 0 {
        return;
    }
    let first = symmetric_blocks(runtime, what, "the destination", dest, &how, how.dst);
    let sides = (
        how.footprint(first, how.dst),
        how.footprint(source as usize, how.sst),
    );
    if let Some(race) = runtime.debug.race() {
        if how.blocks == 1 {
            // SAFETY: the caller has the source; the destination was checked.
            return unsafe { put_looked_at(race, runtime, (what, false), ctx, sides, pe) };
        }
        race.put(runtime, strided(runtime, what, ctx, sides, pe), || 0);
    }
    let element = how.element_bytes as isize;
    for block in 0..how.blocks as isize {
        let offset = first.wrapping_add_signed(block * how.dst * element);
        let source = source.wrapping_offset(block * how.sst * element);
        match resolve(runtime, pe, offset) {
            // SAFETY: the span of all blocks was checked; the caller has the source.
            Some(at) => unsafe { copy::to_peer(at, source, len) },
            // SAFETY: as above.
            None => unsafe { put_at(runtime, what, pe, offset, source, len) },
        }
    }
    stored(runtime, what, pe);
}

/// Strided and block-strided gets.
///
/// # Safety
/// The destination is valid for all blocks.
pub(crate) unsafe fn get_strided(
    what: &'static str,
    ctx: Ctx,
    dest: *mut u8,
    source: *const u8,
    how: Strides,
    pe: c_int,
) {
    let runtime = runtime::get(what);
    let pe = target(runtime, what, ctx, pe);
    let len = how.block_bytes();
    if how.blocks == 0 || len == 0 {
        return;
    }
    done(what, runtime.attachment.check(pe));
    let first = symmetric_blocks(runtime, what, "the source", source, &how, how.sst);
    if let Some(race) = runtime.debug.race() {
        let sides = (
            how.footprint(first, how.sst),
            how.footprint(dest as usize, how.dst),
        );
        race.get(runtime, strided(runtime, what, ctx, sides, pe));
    }
    let element = how.element_bytes as isize;
    for block in 0..how.blocks as isize {
        let offset = first.wrapping_add_signed(block * how.sst * element);
        let dest = dest.wrapping_offset(block * how.dst * element);
        match resolve(runtime, pe, offset) {
            // SAFETY: the span of all blocks was checked; the caller has the destination.
            Some(at) => unsafe { copy::from_peer(dest, at, len) },
            // SAFETY: as above.
            None => unsafe { get_at(runtime, what, pe, offset, dest, len) },
        }
    }
}

/// The long way of a fence. Nothing on the invalid context.
#[cold]
pub(crate) fn fence(what: &'static str, ctx: Ctx) {
    let runtime = runtime::get(what);
    if ctx == CTX_INVALID {
        return;
    }
    context::team_of(runtime, what, ctx);
    if let Some(race) = runtime.debug.race() {
        race.fence(runtime, what, context::of_race(runtime, what, ctx).0);
    }
    done(what, runtime.attachment.fence());
}

/// The long way of a quiet. Nothing on the invalid context.
#[cold]
pub(crate) fn quiet(what: &'static str, ctx: Ctx) {
    let runtime = runtime::get(what);
    if ctx == CTX_INVALID {
        return;
    }
    context::team_of(runtime, what, ctx);
    if let Some(race) = runtime.debug.race() {
        race.quiet(runtime, what, context::of_race(runtime, what, ctx).0);
    }
    done(what, runtime.attachment.quiet());
}

/// `shmem_pe_quiet`: as a quiet of all PEs.
///
/// # Safety
/// `npes` numbers at `target_pes`.
pub(crate) unsafe fn pe_quiet(ctx: Ctx, target_pes: *const c_int, npes: usize) {
    const WHAT: &str = "shmem_pe_quiet";
    let runtime = runtime::get(WHAT);
    if npes == 0 || ctx == CTX_INVALID {
        return;
    }
    let targets = (0..npes).map(|index| {
        // SAFETY: as the caller promises.
        let pe = unsafe { target_pes.wrapping_add(index).read() };
        target(runtime, WHAT, ctx, pe)
    });
    match runtime.debug.race() {
        None => {
            targets.for_each(drop);
            quiet(WHAT, ctx);
        }
        Some(race) => {
            let pes: Vec<PeId> = targets.collect();
            let slot = context::of_race(runtime, WHAT, ctx).0;
            race.pe_quiet(runtime, WHAT, slot, &pes);
            done(WHAT, runtime.attachment.quiet());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_blocks_span_from_the_lowest_to_the_highest_byte() {
        let how = Strides {
            dst: 3,
            sst: -3,
            block_elements: 2,
            blocks: 4,
            element_bytes: 8,
        };
        assert_eq!(how.span(how.dst), Some((0, 3 * 3 * 8 + 16)));
        assert_eq!(how.span(how.sst), Some((-72, 72 + 16)));
        assert_eq!(how.span(isize::MAX), None);
        let none = Strides {
            blocks: usize::MAX,
            ..how
        };
        assert_eq!(none.span(1), None);
    }
}
