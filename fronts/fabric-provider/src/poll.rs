//! Poll sets: which of several queues and counters have something.

use core::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire_fabric_abi::{
    FI_CLASS_CNTR, FI_CLASS_CQ, FI_CLASS_POLL, Fid, FidDomain, FidOps, FidPoll, PollAttr, PollOps,
};

use crate::object::{Table, fid_ops, give, take};
use crate::wait::Waitable;
use crate::{cntr, cq};

#[repr(C)]
struct Poll {
    fid: FidPoll,
    members: Mutex<Vec<Member>>,
}

struct Member {
    /// Which object it is: never followed.
    fid: *mut Fid,
    context: *mut c_void,
    object: Arc<dyn Waitable>,
}

impl Poll {
    fn members(&self) -> MutexGuard<'_, Vec<Member>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static FID_OPS: Table<FidOps> = Table(fid_ops(close));

static OPS: Table<PollOps> = Table(PollOps {
    size: size_of::<PollOps>(),
    poll: Some(poll),
    poll_add: Some(add),
    poll_del: Some(remove),
});

/// `fi_poll_open(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidDomain,
    attr: *mut PollAttr,
    out: *mut *mut FidPoll,
) -> c_int {
    // SAFETY: by the contract null, or such a structure.
    if unsafe { attr.as_ref() }.is_some_and(|attr| attr.flags != 0) {
        return -libc::EINVAL;
    }
    let fid = Fid {
        class: FI_CLASS_POLL,
        context: core::ptr::null_mut(),
        ops: &raw const FID_OPS.0,
    };
    let set = Poll {
        fid: FidPoll {
            fid,
            ops: &raw const OPS.0,
        },
        members: Mutex::default(),
    };
    // SAFETY: by the contract `out` can be written to; a `Poll` begins with a `FidPoll`.
    unsafe { give(out, set) }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    drop(unsafe { take::<Poll>(fid) });
    0
}

/// # Safety
/// As the contract says of `set`.
unsafe fn of<'a>(set: *mut FidPoll) -> &'a Poll {
    // SAFETY: as this function demands.
    let set = unsafe { &*set.cast::<Poll>() };
    debug_assert_eq!(set.fid.fid.class, FI_CLASS_POLL);
    set
}

unsafe extern "C" fn add(set: *mut FidPoll, object: *mut Fid, flags: u64) -> c_int {
    // SAFETY: by the contract.
    let mut members = unsafe { of(set) }.members();
    if flags != 0 || members.iter().any(|member| member.fid == object) {
        return -libc::EINVAL;
    }
    // SAFETY: by the contract an object of this library that is open; its class says which.
    let (context, found): (_, Arc<dyn Waitable>) = unsafe {
        match (*object).class {
            FI_CLASS_CQ => ((*object).context, cq::queue(object)),
            FI_CLASS_CNTR => ((*object).context, cntr::counter(object)),
            _ => return -libc::EINVAL,
        }
    };
    members.push(Member {
        fid: object,
        context,
        object: found,
    });
    0
}

unsafe extern "C" fn remove(set: *mut FidPoll, object: *mut Fid, flags: u64) -> c_int {
    // SAFETY: by the contract.
    let mut members = unsafe { of(set) }.members();
    let at = members.iter().position(|member| member.fid == object);
    match at {
        Some(at) if flags == 0 => {
            members.remove(at);
            0
        }
        _ => -libc::EINVAL,
    }
}

unsafe extern "C" fn poll(set: *mut FidPoll, out: *mut *mut c_void, count: c_int) -> c_int {
    // SAFETY: by the contract.
    let members = unsafe { of(set) }.members();
    for member in &*members {
        if let Err(error) = member.object.waits().endpoints.progress(None) {
            return crate::code(&error);
        }
    }
    let mut told = 0;
    for member in &*members {
        // What is not reported now is new the next time.
        if told >= count {
            break;
        }
        if member.object.is_new() {
            // SAFETY: by the contract there is room for `count` of them.
            unsafe { out.add(told as usize).write(member.context) };
            told += 1;
        }
    }
    told
}
