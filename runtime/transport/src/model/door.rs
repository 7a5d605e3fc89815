//! The entry from the code of the transport into the machine of this thread's run, if there
//! is one.

use core::sync::atomic::Ordering;
use std::cell::RefCell;

use super::machine::{Machine, WordPart};
use super::steps::What;
use crate::coroutine;
use crate::flush::Flush;

thread_local! {
    static MACHINE: RefCell<Option<Machine>> = const { RefCell::new(None) };
    /// The PE whose code runs.
    static RUNNING: core::cell::Cell<usize> = const { core::cell::Cell::new(0) };
}

/// Calls `work` with the machine of the run, if there is one.
pub(super) fn with<R>(work: impl FnOnce(&mut Machine) -> R) -> Option<R> {
    MACHINE
        .try_with(|machine| machine.borrow_mut().as_mut().map(work))
        .ok()
        .flatten()
}

/// Begins a run, or ends it.
pub(super) fn set(machine: Option<Machine>) -> Option<Machine> {
    MACHINE.with(|place| core::mem::replace(&mut *place.borrow_mut(), machine))
}

/// Sets the PE whose code runs from now on.
pub(super) fn run(pe: usize) {
    RUNNING.set(pe);
}

/// The PE whose code runs.
pub(super) fn running() -> usize {
    RUNNING.get()
}

/// One access, and then perhaps the turn of another PE.
fn access(
    address: usize,
    bytes: usize,
    what: What,
    work: impl FnOnce(&mut Machine, WordPart) -> u64,
) -> Option<u64> {
    let (value, switch, late) = with(|machine| {
        let place = machine.place(address, bytes)?;
        // All PEs are unwound together.
        let own = place.pe == running() || std::thread::panicking();
        debug_assert!(own, "PE {} has an address of another", running());
        let value = work(machine, place);
        let switch = machine.step(place, what, value);
        let late = machine.steps.count > machine.setting.steps_max;
        Some((value, switch, late))
    })??;
    // An unwinding PE only cleans up.
    if !std::thread::panicking() {
        assert!(!late, "this run has no end");
        if switch {
            // Fails outside of a PE, where no other PE runs.
            let _ = coroutine::suspend();
        }
    }
    Some(value)
}

pub(super) fn load(address: usize, bytes: usize, order: Ordering) -> Option<u64> {
    let load = |machine: &mut Machine, place| machine.load(place, order);
    access(address, bytes, What::Load, load)
}

/// Returns whether the address is modelled.
pub(super) fn store(address: usize, bytes: usize, value: u64, order: Ordering) -> bool {
    let store = |machine: &mut Machine, place| {
        machine.store(place, value, order);
        value
    };
    access(address, bytes, What::Store, store).is_some()
}

pub(super) fn change(
    address: usize,
    bytes: usize,
    order: Ordering,
    new: &dyn Fn(u64) -> Option<u64>,
) -> Option<u64> {
    let change = |machine: &mut Machine, place| machine.change(place, order, new);
    access(address, bytes, What::Change, change)
}

/// A flush of the line at `address`. Returns whether it is modelled.
pub(crate) fn flush_line(address: usize, flush: Flush) -> bool {
    let flush = |machine: &mut Machine, place| {
        machine.flush_line(place, flush);
        0
    };
    access(address, 8, What::Flush, flush).is_some()
}

/// A fence of the language.
pub(crate) fn fence(order: Ordering) {
    if with(|machine| machine.fence(running(), order)).is_none() {
        core::sync::atomic::fence(order);
    }
}

/// `sfence`, `dsb`.
pub(crate) fn store_fence() {
    with(|machine| machine.store_fence(running()));
}

/// `mfence`, `dsb`.
pub(crate) fn full_fence() {
    with(|machine| machine.full_fence(running()));
}

/// A barrier on every CPU of the host. Returns whether there is a run.
pub(crate) fn fence_host() -> bool {
    with(|machine| machine.fence_host(running())).is_some()
}

/// Splits `len` bytes at `address` at the borders of words: for each piece its offset and
/// length.
fn pieces(address: usize, len: usize) -> Vec<(usize, usize)> {
    let mut pieces = Vec::with_capacity(len / 8 + 2);
    let mut at = 0;
    while at < len {
        let bytes = (8 - (address + at) % 8).min(len - at);
        pieces.push((at, bytes));
        at += bytes;
    }
    pieces
}

/// Stores bytes, a word at a time, up or down. Returns whether they are modelled.
pub(crate) fn store_bytes(address: usize, src: &[u8]) -> bool {
    let Some(Some(down)) = with(|machine| {
        machine.place(address, 1)?;
        Some(machine.dice.one_in(2))
    }) else {
        return false;
    };
    let mut pieces = pieces(address, src.len());
    if down {
        pieces.reverse();
    }
    for (at, bytes) in pieces {
        let mut word = [0; 8];
        word[..bytes].copy_from_slice(&src[at..at + bytes]);
        let value = u64::from_le_bytes(word);
        store(address + at, bytes, value, Ordering::Relaxed);
    }
    true
}

/// Loads bytes. Returns whether they are modelled.
pub(crate) fn load_bytes(address: usize, dst: &mut [u8]) -> bool {
    if !matches!(with(|machine| machine.place(address, 1)), Some(Some(_))) {
        return false;
    }
    for (at, bytes) in pieces(address, dst.len()) {
        let word = load(address + at, bytes, Ordering::Relaxed).unwrap_or(0);
        dst[at..at + bytes].copy_from_slice(&word.to_le_bytes()[..bytes]);
    }
    true
}

/// The futex: sleeps while the word is `value`. Returns whether the address is modelled.
pub(crate) fn wait(address: usize, value: u32) -> bool {
    let Some(Some(is)) = with(|machine| {
        let place = machine.place(address, 4)?;
        // The kernel has a full barrier before it loads the word, and before it searches
        // for sleepers.
        machine.fence(place.pe, Ordering::SeqCst);
        let is = machine.load(place, Ordering::SeqCst);
        machine.step(place, What::Sleep, is);
        if is == u64::from(value) {
            machine.pes[place.pe].asleep = Some(place.word);
        }
        Some(is)
    }) else {
        return false;
    };
    if is == u64::from(value) && coroutine::suspend().is_err() {
        with(|machine| machine.pes[running()].asleep = None);
    }
    true
}

/// The other side of the futex: wakes sleepers of the same host only. Returns whether the
/// address is modelled.
pub(crate) fn wake(address: usize) -> bool {
    let woken = with(|machine| {
        let place = machine.place(address, 4)?;
        machine.fence(place.pe, Ordering::SeqCst);
        machine.step(place, What::Wake, 0);
        let near = machine.one_host();
        for (number, pe) in machine.pes.iter_mut().enumerate() {
            if pe.asleep == Some(place.word) && (near || number == place.pe) {
                pe.asleep = None;
            }
        }
        Some(())
    });
    woken.flatten().is_some()
}

/// Gives the turn to another PE.
pub(super) fn turn() {
    with(|machine| {
        machine.steps.count += 1;
        machine.pass();
    });
    if !std::thread::panicking() {
        let late = with(|machine| machine.steps.count > machine.setting.steps_max);
        assert_ne!(late, Some(true), "this run has no end");
        let _ = coroutine::suspend();
    }
}
