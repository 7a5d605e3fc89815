//! The long way of atomics, of signals, and of puts with a signal.

use core::ffi::c_int;

use hostwire::PeId;
use hostwire::attachment::{Operation, Request};

use super::{SIGNAL_ADD, SIGNAL_SET, done, local, put, put_at, resolve, stored, symmetric, target};
use crate::buffer::Input;
use crate::context;
use crate::debug::race::{AtomicUse, Footprint, Gives, Kind, Operands, Transfer};
use crate::element::Atomic;
use crate::fail::fatal;
use crate::fast::{self, What};
use crate::handle::{CTX_DEFAULT, Ctx};
use crate::mapped::Mapped;
use crate::runtime::{self, Runtime};

/// As [`atomic`], for short operations without a second operand.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn atomic_out_of_reach<T: Atomic>(
    dest: *const T,
    operand: u64,
    pe: c_int,
    ctx: Ctx,
    how: &'static (What, Operation),
) -> u64 {
    let (what, operation) = *how;
    atomic(what, ctx, operation, dest, operand, 0, pe)
}

/// As [`atomic`], for short compare-and-swaps.
#[cold]
#[inline(never)]
#[allow(improper_ctypes_definitions)]
pub(crate) extern "C" fn compare_swap_out_of_reach<T: Atomic, const IS_NBI: bool>(
    dest: *const T,
    compare: u64,
    operand: u64,
    pe: c_int,
    ctx: Ctx,
) -> u64 {
    let what = match IS_NBI {
        true => "shmem_atomic_compare_swap_nbi",
        false => "shmem_atomic_compare_swap",
    };
    let operation = Operation::CompareSwap;
    atomic(what, ctx, operation, dest, operand, compare, pe)
}

/// The long way of all atomics. Returns the bits of the old value.
#[cold]
#[inline(never)]
fn atomic<T: Atomic>(
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
        if let Some(old) = fast::atomic(how, CTX_DEFAULT, dest, operand, compare, pe) {
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
            gives: gives(what),
            data: None,
        };
        return race.atomic(runtime, pe, (offset, size), of);
    }
    // Atomics are the agent's on some wires: it must see what was put before.
    atomic_at(runtime, what, pe, offset, size, operation, operand, compare)
}

/// Whether and when an atomic of this name gives the program the old value.
fn gives(what: &str) -> Gives {
    let name = what.strip_prefix("shmem_atomic_").unwrap_or(what);
    match name.strip_suffix("_nbi") {
        Some(_) => Gives::WhenQuiet,
        None if name.starts_with("fetch") || name.ends_with("swap") => Gives::AtReturn,
        None => Gives::Nothing,
    }
}

/// A non-blocking atomic on a word of `pe` has given `len` bytes: informs the detector of
/// races.
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
#[cold]
pub(crate) fn signal(
    what: &'static str,
    ctx: Ctx,
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
) {
    signal_behind(what, ctx, sig_addr, (signal, sig_op), pe, None);
}

fn signal_behind(
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
        atomic::<u64>(what, ctx, operation, sig_addr, signal, 0, pe);
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
        gives: Gives::Nothing,
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
        None if pe != runtime.attachment.pe() => resolve(runtime, pe, offset, size),
        _ => None,
    };
    let word = near.filter(|_| size == 8).and_then(Mapped::word);
    let half = near.filter(|_| size == 4).and_then(Mapped::half);
    if word.is_some() || half.is_some() {
        done(what, runtime.attachment.check(pe));
    }
    let old = match (word, half) {
        (Some(word), _) => operation.apply_64(word, operand, compare),
        (None, Some(half)) => operation
            .apply_32(half, operand as u32, compare as u32)
            .into(),
        (None, None) => return done(what, runtime.attachment.atomic(pe, request)),
    };
    stored(runtime, what, pe);
    old
}

/// The long way of [`crate::api::put_signal`].
#[cold]
pub(crate) fn put_signal(
    what: &'static str,
    ctx: Ctx,
    (dest, source): (*mut u8, Input<'_>),
    sig_addr: *mut u64,
    signal: u64,
    sig_op: c_int,
    pe: c_int,
) {
    if sig_op != SIGNAL_SET && sig_op != SIGNAL_ADD {
        fatal(
            what,
            format_args!("{sig_op} is no signal operator (SHMEM_SIGNAL_SET or SHMEM_SIGNAL_ADD)"),
        );
    }
    let runtime = runtime::get(what);
    let len = source.len();
    let number = match runtime.debug.race().filter(|_| len > 0) {
        None => {
            put(what, ctx, dest, source, pe);
            None
        }
        Some(race) => {
            let pe = target(runtime, what, ctx, pe);
            let offset = symmetric(runtime, what, "the destination", dest, len);
            local(runtime, what, "the source", source.address(), len);
            let transfer = Transfer {
                what,
                slot: context::of_race(runtime, what, ctx).0,
                pe,
                remote: Footprint::run(offset, len),
                local: Footprint::run(source.address(), len),
                is_nbi: what.ends_with("nbi"),
            };
            let number = race.put_before_signal(runtime, transfer);
            put_at(runtime, what, pe, offset, source);
            Some(number)
        }
    };
    done(what, runtime.attachment.fence());
    signal_behind(what, ctx, sig_addr, (signal, sig_op), pe, number);
}
