//! Chains.

use core::ffi::c_int;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire::tca::{Chain, Prepared};

use crate::copies::{Named, ends, stride, with};
use crate::job::give;
use crate::state::{Session, spot, state};
use crate::status::{Failure, Status, done};

/// The chain behind a handle of a program. It keeps the job.
pub struct Held {
    chain: Mutex<Phase>,
    state: Arc<Session>,
}

enum Phase {
    Open(Chain),
    Prepared(Prepared),
}

impl Held {
    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.chain.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// # Safety
/// `chain` comes from `tcaChainCreate` and was not destroyed, or is null.
unsafe fn held<'a>(chain: *mut Held) -> Result<&'a Held, Failure> {
    // SAFETY: as the caller promises; all that changes is behind a lock.
    let held = unsafe { chain.as_ref() };
    held.ok_or_else(|| Failure::caller("expected a chain, got NULL"))
}

/// Adds to a chain.
///
/// # Safety
/// As [`held`].
unsafe fn add(
    chain: *mut Held,
    add: impl FnOnce(&mut Chain) -> Result<(), Failure>,
) -> Result<(), Failure> {
    // SAFETY: as the caller promises.
    match &mut *unsafe { held(chain)? }.phase() {
        Phase::Open(chain) => add(chain),
        Phase::Prepared(_) => Err(Failure::caller(
            "expected a chain that is not prepared: nothing can be added to one that is",
        )),
    }
}

/// # Safety
/// `chain` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaChainCreate(chain: *mut *mut Held) -> Status {
    done(|| {
        let held = Held {
            chain: Mutex::new(Phase::Open(Chain::new())),
            state: state()?,
        };
        // SAFETY: as the caller promises.
        unsafe { give(chain, Box::into_raw(Box::new(held))) }
    })
}

/// # Safety
/// `chain` comes from `tcaChainCreate`, and is not used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaChainDestroy(chain: *mut Held) -> Status {
    done(|| {
        if !chain.is_null() {
            // SAFETY: made by `Box::into_raw` and given back once, as the caller promises.
            drop(unsafe { Box::from_raw(chain) });
        }
        Ok(())
    })
}

/// # Safety
/// `chain` comes from `tcaChainCreate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaChainCopy(
    chain: *mut Held,
    dst: u64,
    dst_node: c_int,
    dst_device: c_int,
    src: u64,
    src_device: c_int,
    len: usize,
) -> Status {
    done(|| {
        let (to, from) = ends((dst, dst_node, dst_device), (src, src_device))?;
        let copy = |chain: &mut Chain| {
            chain.copy(to, from, len as u64);
            Ok(())
        };
        // SAFETY: as the caller promises.
        unsafe { add(chain, copy) }
    })
}

/// # Safety
/// `chain` comes from `tcaChainCreate`.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "as the header says")]
pub unsafe extern "C" fn tcaChainStride(
    chain: *mut Held,
    dst: u64,
    dst_node: c_int,
    dst_device: c_int,
    dst_step: usize,
    src: u64,
    src_device: c_int,
    src_step: usize,
    block_len: usize,
    blocks: usize,
) -> Status {
    done(|| {
        let (to, from) = ends((dst, dst_node, dst_device), (src, src_device))?;
        let copy = |chain: &mut Chain| {
            chain.block_stride(to, from, stride((dst_step, src_step), block_len, blocks));
            Ok(())
        };
        // SAFETY: as the caller promises.
        unsafe { add(chain, copy) }
    })
}

/// # Safety
/// `chain` comes from `tcaChainCreate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaChainSignal(
    chain: *mut Held,
    word: u64,
    node: c_int,
    value: u64,
) -> Status {
    done(|| {
        let word = spot(node, -1, word)?;
        let signal = |chain: &mut Chain| {
            chain.signal(word, value);
            Ok(())
        };
        // SAFETY: as the caller promises.
        unsafe { add(chain, signal) }
    })
}

/// # Safety
/// `chain` comes from `tcaChainCreate`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaChainPrepare(chain: *mut Held) -> Status {
    done(|| {
        // SAFETY: as the caller promises.
        let held = unsafe { held(chain)? };
        let mut phase = held.phase();
        if let Phase::Open(chain) = &*phase {
            let prepared = held.state.tca.prepare(chain)?;
            *phase = Phase::Prepared(prepared);
        }
        Ok(())
    })
}

/// # Safety
/// `chain` comes from `tcaChainCreate`; `stream` is NULL, or what `tcaStreamCreate` gave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaChainStart(chain: *mut Held, stream: *mut Named) -> Status {
    done(|| {
        // SAFETY: as the caller promises.
        let prepared = match &*unsafe { held(chain)? }.phase() {
            Phase::Prepared(prepared) => prepared.clone(),
            Phase::Open(_) => {
                return Err(Failure::caller(
                    "expected a chain that is prepared: call tcaChainPrepare",
                ));
            }
        };
        // SAFETY: as the caller promises.
        unsafe { with(stream, |_, stream| Ok(stream.start(&prepared)?)) }
    })
}
