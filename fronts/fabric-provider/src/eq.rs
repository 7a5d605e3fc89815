//! Event queues. The only events are those that the program writes itself.

use core::ffi::{c_char, c_int, c_void};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire_fabric_abi::{
    EqAttr, EqOps, FI_CLASS_EQ, FI_ETOOSMALL, FI_PEEK, FI_WAIT_NONE, Fid, FidEq, FidFabric, FidOps,
};

use crate::object::{Table, fid_ops_of, give, no_bind, take};
use crate::wait::{self, Waitable, Waits};
use crate::waitset;

/// Most events that wait.
const EVENTS_MAX: usize = 4096;
/// Longest event.
const EVENT_BYTES_MAX: usize = 1024;
const AGAIN: isize = -(libc::EAGAIN as isize);

#[repr(C)]
struct Eq {
    fid: FidEq,
    events: Arc<Events>,
}

/// What waits to be read.
struct Events {
    events: Mutex<VecDeque<(u32, Vec<u8>)>>,
    waits: Waits,
}

impl Events {
    fn all(&self) -> MutexGuard<'_, VecDeque<(u32, Vec<u8>)>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waitable for Events {
    fn waits(&self) -> &Waits {
        &self.waits
    }

    fn is_ready(&self) -> bool {
        !self.all().is_empty()
    }
}

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, no_bind, control));

static OPS: Table<EqOps> = Table(EqOps {
    size: size_of::<EqOps>(),
    read: Some(read),
    readerr: Some(readerr),
    write: Some(write),
    sread: Some(sread),
    strerror: Some(strerror),
});

/// `fi_eq(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidFabric,
    attr: *mut EqAttr,
    out: *mut *mut FidEq,
    context: *mut c_void,
) -> c_int {
    // SAFETY: by the contract null, or such a structure.
    let (kind, set) = unsafe { attr.as_ref() }
        .map_or((FI_WAIT_NONE, core::ptr::null_mut()), |attr| {
            (attr.wait_obj, attr.wait_set)
        });
    // SAFETY: by the contract a wait set, if the kind says so.
    let set = unsafe { waitset::of(kind, set) };
    let waits = match Waits::new(kind, set.map(waitset::alarm)) {
        Ok(waits) => waits,
        Err(code) => return code,
    };
    let events = Arc::new(Events {
        events: Mutex::default(),
        waits,
    });
    waitset::join(set, &events);
    let fid = Fid {
        class: FI_CLASS_EQ,
        context,
        ops: &raw const FID_OPS.0,
    };
    let eq = Eq {
        fid: FidEq {
            fid,
            ops: &raw const OPS.0,
        },
        events,
    };
    // SAFETY: by the contract `out` can be written to; an `Eq` begins with a `FidEq`.
    unsafe { give(out, eq) }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    drop(unsafe { take::<Eq>(fid) });
    0
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: by the contract.
    unsafe { of(fid.cast()).waits.control(command, argument) }
}

/// # Safety
/// As the contract says of `eq`.
unsafe fn of<'a>(eq: *mut FidEq) -> &'a Arc<Events> {
    // SAFETY: as this function demands.
    let eq = unsafe { &*eq.cast::<Eq>() };
    debug_assert_eq!(eq.fid.fid.class, FI_CLASS_EQ);
    &eq.events
}

/// What waits for events of an event queue.
///
/// # Safety
/// `fid` is of an event queue of this library that is open.
pub(crate) unsafe fn waitable(fid: *mut Fid) -> Arc<dyn Waitable> {
    // SAFETY: as this function demands.
    Arc::<Events>::clone(unsafe { of(fid.cast()) })
}

unsafe extern "C" fn read(
    eq: *mut FidEq,
    event: *mut u32,
    buf: *mut c_void,
    len: usize,
    flags: u64,
) -> isize {
    // SAFETY: by the contract.
    let mut events = unsafe { of(eq) }.all();
    let Some((number, bytes)) = events.front() else {
        return AGAIN;
    };
    if bytes.len() > len {
        return -(FI_ETOOSMALL as isize);
    }
    let read = bytes.len();
    // SAFETY: by the contract `event` and `len` bytes at `buf` can be written to.
    unsafe {
        event.write(*number);
        core::ptr::copy_nonoverlapping(bytes.as_ptr(), buf.cast(), read);
    }
    if flags & FI_PEEK == 0 {
        events.pop_front();
    }
    read as isize
}

unsafe extern "C" fn readerr(_: *mut FidEq, _: *mut c_void, _: u64) -> isize {
    AGAIN
}

unsafe extern "C" fn write(
    eq: *mut FidEq,
    event: u32,
    buf: *const c_void,
    len: usize,
    _: u64,
) -> isize {
    if len > EVENT_BYTES_MAX {
        return -(libc::EINVAL as isize);
    }
    let mut bytes = vec![0; len];
    // SAFETY: by the contract `len` bytes at `buf` can be read.
    unsafe { core::ptr::copy_nonoverlapping(buf.cast(), bytes.as_mut_ptr(), len) };
    // SAFETY: by the contract.
    let events = unsafe { of(eq) };
    {
        let mut all = events.all();
        if all.len() >= EVENTS_MAX {
            return AGAIN;
        }
        all.push_back((event, bytes));
    }
    events.waits.tell(None);
    len as isize
}

unsafe extern "C" fn sread(
    eq: *mut FidEq,
    event: *mut u32,
    buf: *mut c_void,
    len: usize,
    timeout_ms: c_int,
    flags: u64,
) -> isize {
    // SAFETY: by the contract.
    let events = unsafe { of(eq) };
    let deadline = wait::deadline(timeout_ms);
    loop {
        // SAFETY: as the caller promises for this call.
        let got = unsafe { read(eq, event, buf, len, flags) };
        if got != AGAIN {
            return got;
        }
        match events.waits.wait(&|| events.is_ready(), deadline) {
            Ok(true) => {}
            Ok(false) => return AGAIN,
            Err(code) => return code as isize,
        }
    }
}

unsafe extern "C" fn strerror(
    _: *mut FidEq,
    _: c_int,
    _: *const c_void,
    _: *mut c_char,
    _: usize,
) -> *const c_char {
    c"no errors go through this queue".as_ptr()
}
