//! Wait sets: one descriptor for several queues and counters.

use core::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use hostwire_fabric_abi::{
    FI_CLASS_WAIT, FI_GETWAIT, FI_GETWAITOBJ, FI_WAIT_FD, FI_WAIT_SET, FI_WAIT_UNSPEC,
    FI_WAIT_YIELD, Fid, FidFabric, FidOps, FidWait, WaitAttr, WaitOps,
};

use crate::object::{Code, Table, fid_ops_of, give, no_bind, take};
use crate::wait::{self, Alarm, Waitable};

#[repr(C)]
pub(crate) struct WaitSet {
    fid: FidWait,
    kind: c_int,
    alarm: Arc<Alarm>,
    members: Mutex<Vec<Weak<dyn Waitable>>>,
}

impl WaitSet {
    fn books(&self) -> MutexGuard<'_, Vec<Weak<dyn Waitable>>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that are still there.
    fn members(&self) -> Vec<Arc<dyn Waitable>> {
        let mut members = self.books();
        members.retain(|member| member.strong_count() > 0);
        members.iter().filter_map(Weak::upgrade).collect()
    }

    /// Whether it is safe to sleep on the descriptor.
    fn try_wait(&self) -> Result<bool, Code> {
        wait::are_idle(&self.members(), &self.alarm)
    }

    fn wait(&self, timeout_ms: c_int) -> Result<(), Code> {
        let deadline = wait::deadline(timeout_ms);
        while self.try_wait()? {
            if deadline.is_some_and(|end| Instant::now() >= end) {
                return Err(-libc::ETIMEDOUT);
            }
            wait::sleep(&self.alarm, deadline);
        }
        Ok(())
    }
}

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, no_bind, control));

static OPS: Table<WaitOps> = Table(WaitOps {
    size: size_of::<WaitOps>(),
    wait: Some(wait_for),
});

/// `fi_wait_open(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidFabric,
    attr: *mut WaitAttr,
    out: *mut *mut FidWait,
) -> c_int {
    // SAFETY: by the contract null, or such a structure.
    let kind = unsafe { attr.as_ref() }.map_or(FI_WAIT_UNSPEC, |attr| attr.wait_obj);
    if ![FI_WAIT_UNSPEC, FI_WAIT_FD, FI_WAIT_YIELD].contains(&kind) {
        return -libc::ENOSYS;
    }
    let alarm = match Alarm::new() {
        Ok(alarm) => alarm,
        Err(code) => return code,
    };
    let fid = Fid {
        class: FI_CLASS_WAIT,
        context: core::ptr::null_mut(),
        ops: &raw const FID_OPS.0,
    };
    let set = WaitSet {
        fid: FidWait {
            fid,
            ops: &raw const OPS.0,
        },
        kind,
        alarm,
        members: Mutex::default(),
    };
    // SAFETY: by the contract `out` can be written to; a `WaitSet` begins with a `FidWait`.
    unsafe { give(out, set) }
}

/// The wait set that the attributes of an object name, if they do.
///
/// # Safety
/// If the kind is [`FI_WAIT_SET`], `set` is null or a wait set of this library that is open.
pub(crate) unsafe fn of<'a>(kind: c_int, set: *mut FidWait) -> Option<&'a WaitSet> {
    if kind != FI_WAIT_SET {
        return None;
    }
    // SAFETY: as this function demands.
    let set = unsafe { set.cast::<WaitSet>().as_ref() }?;
    debug_assert_eq!(set.fid.fid.class, FI_CLASS_WAIT);
    Some(set)
}

/// Whether it is safe to sleep on the descriptor of that set.
///
/// # Safety
/// `fid` is of a wait set of this library that is open.
pub(crate) unsafe fn try_wait(fid: *mut Fid) -> Result<bool, Code> {
    // SAFETY: as this function demands.
    unsafe { &*fid.cast::<WaitSet>() }.try_wait()
}

pub(crate) fn alarm(set: &WaitSet) -> Arc<Alarm> {
    Arc::clone(&set.alarm)
}

/// Makes that object a member of its set, if it has one.
pub(crate) fn join<T: Waitable + 'static>(set: Option<&WaitSet>, object: &Arc<T>) {
    if let Some(set) = set {
        let object: Weak<T> = Arc::downgrade(object);
        set.books().push(object);
    }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`.
    let set = unsafe { &*fid.cast::<WaitSet>() };
    if !set.members().is_empty() {
        return -libc::EBUSY;
    }
    // SAFETY: by the contract it is closed once.
    drop(unsafe { take::<WaitSet>(fid) });
    0
}

unsafe extern "C" fn control(fid: *mut Fid, command: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: by the contract it is one of `open`.
    let set = unsafe { &*fid.cast::<WaitSet>() };
    match command {
        _ if argument.is_null() => -libc::EINVAL,
        // SAFETY: by the contract a number can be written there.
        FI_GETWAIT if set.kind == FI_WAIT_FD => unsafe {
            wait::give_descriptor(&set.alarm, argument)
        },
        FI_GETWAITOBJ => {
            // SAFETY: by the contract a number can be written there.
            unsafe { argument.cast::<c_int>().write(set.kind) };
            0
        }
        _ => -libc::ENOSYS,
    }
}

unsafe extern "C" fn wait_for(set: *mut FidWait, timeout_ms: c_int) -> c_int {
    // SAFETY: by the contract it is one of `open`.
    let set = unsafe { &*set.cast::<WaitSet>() };
    set.wait(timeout_ms).map_or_else(|code| code, |()| 0)
}
