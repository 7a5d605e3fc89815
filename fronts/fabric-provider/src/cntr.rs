//! Counters: how many operations have ended, well or not.

use core::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use hostwire_fabric_abi::{
    CntrAttr, CntrOps, FI_CLASS_CNTR, FI_EAVAIL, FI_READ, FI_RECV, FI_REMOTE_READ, FI_REMOTE_WRITE,
    FI_SEND, FI_WAIT_UNSPEC, FI_WRITE, Fid, FidCntr, FidDomain, FidOps,
};

use crate::endpoints::Endpoints;
use crate::ep::Endpoint;
use crate::object::{Code, Table, fid_ops_of, give, no_bind, take};
use crate::wait::{self, Waitable, Waits};
use crate::waitset;

/// The part of a counter that endpoints count with.
pub(crate) struct Counter {
    done: AtomicU64,
    failed: AtomicU64,
    /// What the program has seen of both.
    seen: [AtomicU64; 2],
    /// What a poll set has reported of both.
    polled: [AtomicU64; 2],
    waits: Waits,
}

impl Counter {
    fn new(waits: Waits) -> Self {
        Self {
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            seen: Default::default(),
            polled: Default::default(),
            waits,
        }
    }

    /// The endpoints that make progress when somebody looks at the counter.
    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.waits.endpoints
    }

    /// Counts a use of memory, through any endpoint. Threads that sleep at that endpoint have to be woken.
    pub(crate) fn count_use(&self) {
        self.done.fetch_add(1, Ordering::SeqCst);
        self.waits.ring();
    }

    /// An operation at `endpoint` has ended.
    #[inline(never)]
    fn count(&self, endpoint: &Endpoint, is_done: bool) {
        let value = match is_done {
            true => &self.done,
            false => &self.failed,
        };
        value.fetch_add(1, Ordering::SeqCst);
        self.waits.tell(Some(endpoint));
    }

    fn values(&self) -> [u64; 2] {
        [
            self.done.load(Ordering::SeqCst),
            self.failed.load(Ordering::SeqCst),
        ]
    }

    fn differs(&self, known: &[AtomicU64; 2]) -> bool {
        let pairs = self.values().into_iter().zip(known);
        pairs
            .into_iter()
            .any(|(now, known)| now != known.load(Ordering::Relaxed))
    }

    fn note(&self, known: &[AtomicU64; 2]) {
        for (now, known) in self.values().into_iter().zip(known) {
            known.store(now, Ordering::Relaxed);
        }
    }

    /// A change by the program is no news for a poll set.
    fn change(&self, change: impl FnOnce()) -> c_int {
        change();
        self.note(&self.polled);
        self.waits.tell(None);
        0
    }

    /// Makes progress before the program looks. The operations that end report the errors.
    fn get_on(&self) {
        let _ = self.waits.endpoints.progress(None);
    }

    /// How many have ended well. The program has seen this number then, but not how many failed.
    fn see_done(&self) -> u64 {
        self.see(&self.done, &self.seen[0])
    }

    /// How many have failed. The program has seen this number then, but not how many ended well.
    fn see_failed(&self) -> u64 {
        self.see(&self.failed, &self.seen[1])
    }

    /// The value, which is noted as `seen`.
    fn see(&self, value: &AtomicU64, seen: &AtomicU64) -> u64 {
        let now = value.load(Ordering::SeqCst);
        if seen.swap(now, Ordering::Relaxed) != now {
            self.waits.endpoints.have_brought();
        }
        now
    }

    fn wait(&self, threshold: u64, timeout_ms: c_int) -> Result<(), Code> {
        let failed = self.failed.load(Ordering::SeqCst);
        let has_failed = || self.failed.load(Ordering::SeqCst) != failed;
        let is_there = || self.done.load(Ordering::SeqCst) >= threshold;
        let deadline = wait::deadline(timeout_ms);
        self.get_on();
        let came = self.waits.wait(&|| is_there() || has_failed(), deadline)?;
        if self.see_done() >= threshold {
            return Ok(());
        }
        if came {
            self.see_failed();
            return Err(-(FI_EAVAIL as c_int));
        }
        Err(-libc::ETIMEDOUT)
    }
}

impl Waitable for Counter {
    fn waits(&self) -> &Waits {
        &self.waits
    }

    fn is_ready(&self) -> bool {
        self.differs(&self.seen)
    }

    fn is_new(&self) -> bool {
        let mut is_new = false;
        for (now, known) in self.values().into_iter().zip(&self.polled) {
            is_new |= known.swap(now, Ordering::Relaxed) != now;
        }
        is_new
    }
}

/// The counters of an endpoint, one for each kind of operation that may have one.
#[derive(Default)]
pub(crate) struct Counters([OnceLock<Arc<Counter>>; KINDS.len()]);

/// What a counter can be bound for.
const KINDS: [u64; 6] = [
    FI_SEND,
    FI_RECV,
    FI_READ,
    FI_WRITE,
    FI_REMOTE_READ,
    FI_REMOTE_WRITE,
];

impl Counters {
    /// Counts with that counter from now on what the flags say.
    pub(crate) fn bind(
        &self,
        counter: &Arc<Counter>,
        endpoint: &Arc<Endpoint>,
        flags: u64,
    ) -> Result<(), Code> {
        let all = KINDS.iter().fold(0, |all, kind| all | kind);
        if flags & !all != 0 {
            return Err(-libc::EINVAL);
        }
        let places = KINDS.iter().zip(&self.0);
        let places = places.filter(|(kind, _)| flags & *kind != 0);
        let places: Vec<_> = places.map(|(_, place)| place).collect();
        let endpoints = &counter.waits.endpoints;
        endpoints.bind(endpoint, &places, || Arc::clone(counter))
    }

    /// The counter for one kind of operation: one of the flags that it can be bound with.
    #[inline(always)]
    pub(crate) fn of(&self, kind: u64) -> Option<&Arc<Counter>> {
        let at = KINDS.iter().position(|known| *known == kind)?;
        self.0.get(at)?.get()
    }

    /// An operation of this kind at `endpoint` has ended.
    #[inline(always)]
    pub(crate) fn count(&self, endpoint: &Endpoint, kind: u64, is_done: bool) {
        if let Some(counter) = self.of(kind) {
            counter.count(endpoint, is_done);
        }
    }

    /// The counters make no progress for it any more.
    pub(crate) fn leave(&self, endpoint: &Arc<Endpoint>) {
        for counter in self.0.iter().filter_map(OnceLock::get) {
            counter.waits.endpoints.remove(endpoint);
        }
    }
}

#[repr(C)]
struct Cntr {
    fid: FidCntr,
    counter: Arc<Counter>,
}

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, no_bind, control));

static OPS: Table<CntrOps> = Table(CntrOps {
    size: size_of::<CntrOps>(),
    read: Some(read),
    readerr: Some(readerr),
    add: Some(add),
    set: Some(set),
    wait: Some(wait_for),
    adderr: Some(adderr),
    seterr: Some(seterr),
});

/// `fi_cntr_open(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidDomain,
    attr: *mut CntrAttr,
    out: *mut *mut FidCntr,
    context: *mut c_void,
) -> c_int {
    let (mut kind, mut set) = (FI_WAIT_UNSPEC, core::ptr::null_mut());
    // SAFETY: by the contract null, or such a structure.
    if let Some(attr) = unsafe { attr.as_ref() } {
        // Bytes are counted by later versions.
        if attr.events != 0 || attr.flags != 0 {
            return -libc::ENOSYS;
        }
        (kind, set) = (attr.wait_obj, attr.wait_set);
    }
    // SAFETY: by the contract a wait set, if the kind says so.
    let set = unsafe { waitset::of(kind, set) };
    let waits = match Waits::new(kind, set.map(waitset::alarm)) {
        Ok(waits) => waits,
        Err(code) => return code,
    };
    let counter = Arc::new(Counter::new(waits));
    waitset::join(set, &counter);
    let fid = Fid {
        class: FI_CLASS_CNTR,
        context,
        ops: &raw const FID_OPS.0,
    };
    let cntr = Cntr {
        fid: FidCntr {
            fid,
            ops: &raw const OPS.0,
        },
        counter,
    };
    // SAFETY: by the contract `out` can be written to; a `Cntr` begins with a `FidCntr`.
    unsafe { give(out, cntr) }
}

/// The counter of an object of this class.
///
/// # Safety
/// `fid` is of a counter of this library that is open.
pub(crate) unsafe fn counter(fid: *mut Fid) -> Arc<Counter> {
    // SAFETY: as this function demands.
    let cntr = unsafe { &*fid.cast::<Cntr>() };
    Arc::clone(&cntr.counter)
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    drop(unsafe { take::<Cntr>(fid) });
    0
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: by the contract.
    unsafe { of(fid.cast()).waits.control(command, argument) }
}

/// # Safety
/// As the contract says of `cntr`.
unsafe fn of<'a>(cntr: *mut FidCntr) -> &'a Counter {
    // SAFETY: as this function demands.
    let cntr = unsafe { &*cntr.cast::<Cntr>() };
    debug_assert_eq!(cntr.fid.fid.class, FI_CLASS_CNTR);
    &cntr.counter
}

unsafe extern "C" fn read(cntr: *mut FidCntr) -> u64 {
    // SAFETY: by the contract.
    let counter = unsafe { of(cntr) };
    counter.get_on();
    counter.see_done()
}

unsafe extern "C" fn readerr(cntr: *mut FidCntr) -> u64 {
    // SAFETY: by the contract.
    let counter = unsafe { of(cntr) };
    counter.get_on();
    counter.see_failed()
}

unsafe extern "C" fn add(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: by the contract.
    let counter = unsafe { of(cntr) };
    counter.change(|| {
        counter.done.fetch_add(value, Ordering::SeqCst);
    })
}

unsafe extern "C" fn set(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: by the contract.
    let counter = unsafe { of(cntr) };
    counter.change(|| counter.done.store(value, Ordering::SeqCst))
}

unsafe extern "C" fn adderr(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: by the contract.
    let counter = unsafe { of(cntr) };
    counter.change(|| {
        counter.failed.fetch_add(value, Ordering::SeqCst);
    })
}

unsafe extern "C" fn seterr(cntr: *mut FidCntr, value: u64) -> c_int {
    // SAFETY: by the contract.
    let counter = unsafe { of(cntr) };
    counter.change(|| counter.failed.store(value, Ordering::SeqCst))
}

unsafe extern "C" fn wait_for(cntr: *mut FidCntr, threshold: u64, timeout_ms: c_int) -> c_int {
    // SAFETY: by the contract.
    let waited = unsafe { of(cntr).wait(threshold, timeout_ms) };
    waited.map_or_else(|code| code, |()| 0)
}
