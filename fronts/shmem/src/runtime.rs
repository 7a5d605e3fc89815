//! The state of this process in its job while the library is in use.

use core::ffi::c_int;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicPtr, AtomicU8, AtomicU64, Ordering};

use hostwire::attachment::{Attachment, Heap};

use crate::debug::Debug;
use crate::fail;
use crate::fast::Region;
use crate::team::{Handles, TeamState};

/// See the [module text](self). Made once, and never given back: a program may finalize
/// the library and initialise it again.
pub(crate) struct Runtime {
    pub(crate) attachment: Attachment,
    /// The address of the segment of PE 0, and from one segment to the next, where all
    /// are in reach.
    pub(crate) mapped: Option<(usize, usize)>,
    /// The addresses of the segments that loads, stores and CPU atomics reach, by PE.
    pub(crate) near: Box<[Option<usize>]>,
    pub(crate) heap_region: Region,
    pub(crate) statics: Region,
    /// The books of the symmetric heap; offsets are relative to it.
    pub(crate) heap: Mutex<Heap>,
    pub(crate) handles: Mutex<Handles>,
    pub(crate) world: TeamState,
    pub(crate) shared: TeamState,
    /// All PEs, for the barrier at the end.
    pub(crate) leaving: hostwire::core::Team,
    /// By PE: exchanges with it in operations on active sets, which number their lines so.
    pub(crate) pairs: Box<[AtomicU64]>,
    /// By their first initialisation, no PE has several threads in the library at a time, so
    /// operations come in one order.
    pub(crate) is_serial: AtomicBool,
    pub(crate) debug: Debug,
}

static RUNTIME: AtomicPtr<Runtime> = AtomicPtr::new(core::ptr::null_mut());

/// The state of the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum LibraryPhase {
    /// Never initialised.
    Fresh = 0,
    /// In use.
    Active = 1,
    /// Finalized, and may be initialised again.
    Finalized = 2,
    /// In a child that the program forked: the child does not use the library.
    Forked = 3,
}

static STATE: AtomicU8 = AtomicU8::new(LibraryPhase::Fresh as u8);

pub(crate) fn state() -> LibraryPhase {
    match STATE.load(Ordering::Acquire) {
        0 => LibraryPhase::Fresh,
        1 => LibraryPhase::Active,
        2 => LibraryPhase::Finalized,
        _ => LibraryPhase::Forked,
    }
}

pub(crate) fn set_state(state: LibraryPhase) {
    STATE.store(state as u8, Ordering::Release);
}

pub(crate) fn was_finalized() -> bool {
    state() == LibraryPhase::Finalized
}

/// `SHMEM_THREAD_SINGLE`.
pub(crate) const THREAD_SINGLE: c_int = 0;
/// `SHMEM_THREAD_MULTIPLE`.
pub(crate) const THREAD_MULTIPLE: c_int = 3;

/// The highest level that the program has asked for.
static THREAD_LEVEL: AtomicI32 = AtomicI32::new(THREAD_SINGLE);

pub(crate) fn thread_level() -> c_int {
    THREAD_LEVEL.load(Ordering::Relaxed)
}

pub(crate) fn raise_thread_level(level: c_int) {
    THREAD_LEVEL.fetch_max(level, Ordering::Relaxed);
}

/// Whether several threads may be in the library at a time.
pub(crate) fn may_have_threads() -> bool {
    thread_level() == THREAD_MULTIPLE
}

/// Keeps `runtime` for as long as the process lives.
pub(crate) fn install(runtime: Runtime) -> &'static Runtime {
    let runtime = Box::leak(Box::new(runtime));
    RUNTIME.store(runtime, Ordering::Release);
    runtime
}

/// The runtime, if there has ever been one here.
pub(crate) fn any() -> Option<&'static Runtime> {
    let runtime = RUNTIME.load(Ordering::Acquire);
    // SAFETY: null, or what `install` leaked.
    unsafe { runtime.as_ref() }.filter(|_| state() != LibraryPhase::Forked)
}

/// The runtime of a library that is in use; ends the job if it is not.
#[inline]
pub(crate) fn get(what: &str) -> &'static Runtime {
    match any() {
        Some(runtime) if state() == LibraryPhase::Active => runtime,
        _ => fail::not_in_use(what),
    }
}

impl Runtime {
    /// Where in a segment `len` bytes at `address` here are, if they are symmetric.
    #[inline]
    pub(crate) fn locate(&self, address: usize, len: usize) -> Option<usize> {
        let in_heap = self.heap_region.locate(address, len);
        in_heap.or_else(|| self.statics.locate(address, len))
    }
}
