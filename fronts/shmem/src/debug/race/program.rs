//! The program's own loads and stores, and what its threads tell each other: `oshcc --race` has the
//! compiler call these functions in front of each load and store (`csrc/race.c` is between), and puts
//! functions in front of those of the system's threads and of OpenMP (`csrc/race_threads.c`, `race_openmp.c`).

use core::cell::Cell;
use core::ffi::{c_int, c_void};

use super::access::Kind;
use super::inner::{Atomic, Inner};
use super::view::symmetric;
use super::{Held, Race};
use crate::debug::location;
use crate::runtime::{self, LibraryPhase, Runtime};

/// Loads; also in [`shmemx_race_access_1`].
const LOAD: c_int = 0;
const STORE: c_int = 1;
/// In one piece, or volatile: perhaps to wait for it.
const LOOK: c_int = 2;
/// A store by an atomic of the language.
const LANGUAGE: c_int = 3;

thread_local! {
    /// Whether this thread is in the detector: neither a signal handler nor what the detector uses
    /// itself must enter it again.
    pub(super) static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The number of this thread.
    pub(super) static THREAD: Cell<u16> = const { Cell::new(0) };
}

impl Race {
    fn of_program(
        &self,
        runtime: &'static Runtime,
        (address, len): (usize, usize),
        how: c_int,
        pc: usize,
    ) {
        if let Some(delays) = &self.delays {
            delays.delay(256);
        }
        let place = || location::place(pc.wrapping_sub(1));
        let kind = match how {
            STORE => Kind::Store,
            LANGUAGE => Kind::Language,
            _ => Kind::Load,
        };
        let mut inner = self.lock();
        inner.settle(runtime);
        if how == LOOK {
            return inner.look_at(runtime, address, len);
        }
        let is_other_word = kind.is_store()
            && matches!(len, 4 | 8)
            && symmetric(runtime, address, len)
                .is_some_and(|(pe, _)| pe != runtime.attachment.pe());
        if is_other_word {
            // It may be a flag: what was done before has to be known before it is seen.
            drop(inner);
            self.flush(runtime, "a store", None);
            inner = self.lock();
        }
        if inner.program_access(runtime, (address, len), place, kind) {
            drop(inner);
            self.flush(runtime, "a store", None);
        }
    }
}

/// The program is about to load (0), store (1), test (2) or store by an atomic (3) `len` bytes; its code
/// continues at `pc`.
///
/// # Safety
/// None: the address is only compared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_race_access_1(
    address: *const c_void,
    len: usize,
    how: c_int,
    pc: *const c_void,
) {
    if runtime::state() != LibraryPhase::Active || INSIDE.replace(true) {
        return;
    }
    if let Some(runtime) = runtime::any()
        && let Some(race) = runtime.debug.race()
        && (LOAD..=LANGUAGE).contains(&how)
        && len > 0
    {
        race.of_program(runtime, (address as usize, len), how, pc as usize);
    }
    INSIDE.set(false);
}

/// What threads tell each other; `csrc/race.h` has the same in C.
fn told(inner: &mut Inner, what: c_int, object: u64, detail: u64) -> u64 {
    let atomic = || Atomic {
        reads: detail & 1 << 8 != 0,
        writes: detail & 1 << 9 != 0,
        order: detail as u8,
    };
    let own = THREAD.get();
    match what {
        0 => return inner.fork().into(),
        1 => {
            let number = u16::try_from(detail).unwrap_or(0);
            THREAD.set(number);
            inner.enter(number);
            inner.can_be_joined(object);
        }
        2 => inner.end(),
        3 => inner.join(object),
        4 => inner.acquire(object),
        5 => inner.release(object),
        6 => inner.forget(object),
        7 => return inner.arrive(object, detail),
        8 => inner.leave(object, detail),
        // A thread of OpenMP whose begin was not seen.
        9 if own == 0 => THREAD.set(inner.adopt(object)),
        9 => inner.acquire(object),
        10 => {
            THREAD.set(inner.adopt(object));
            return own.into();
        }
        11 => {
            inner.end();
            THREAD.set(u16::try_from(object).unwrap_or(0));
        }
        12 => inner.language(object, atomic()),
        13 => inner.language_fence(atomic()),
        _ => {}
    }
    0
}

/// A thread of the program tells what it does to the object at this address, or with this number.
///
/// # Safety
/// None: the address is only compared.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn shmemx_race_sync_1(what: c_int, object: u64, detail: u64) -> u64 {
    if runtime::state() != LibraryPhase::Active || INSIDE.get() {
        return 0;
    }
    let Some(runtime) = runtime::any() else {
        return 0;
    };
    let Some(race) = runtime.debug.race() else {
        return 0;
    };
    if let Some(delays) = &race.delays {
        delays.delay(4);
    }
    let mut inner: Held<'_> = race.lock();
    inner.settle(runtime);
    told(&mut inner, what, object, detail)
}
