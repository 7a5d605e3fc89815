//! The fabric: there is one.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use hostwire_fabric_abi::{
    FI_CLASS_CNTR, FI_CLASS_CQ, FI_CLASS_EQ, FI_CLASS_FABRIC, FI_CLASS_WAIT, FabricAttr, FabricOps,
    Fid, FidFabric, FidOps, TryWaitFn,
};

use crate::object::{Code, Table, UNSUPPORTED, fid_ops, give, take};
use crate::wait::Waitable;
use crate::{cntr, cq, domain, eq, waitset};

static FID_OPS: Table<FidOps> = Table(fid_ops(close));

static OPS: Table<FabricOps> = Table(FabricOps {
    size: size_of::<FabricOps>(),
    domain: Some(domain::open),
    passive_ep: UNSUPPORTED,
    eq_open: Some(eq::open),
    wait_open: Some(waitset::open),
    trywait: Some(trywait as TryWaitFn),
    domain2: UNSUPPORTED,
});

/// `fi_fabric(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FabricAttr,
    out: *mut *mut FidFabric,
    context: *mut c_void,
) -> c_int {
    let fid = Fid {
        class: FI_CLASS_FABRIC,
        context,
        ops: &raw const FID_OPS.0,
    };
    let fabric = FidFabric {
        fid,
        ops: &raw const OPS.0,
        api_version: 0,
    };
    // SAFETY: by the contract `out` can be written to.
    unsafe { give(out, fabric) }
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    let _ = unsafe { take::<FidFabric>(fid) };
    0
}

/// `fi_trywait(3)`: whether it is safe to sleep on the descriptors of all these objects. If it is,
/// they become readable as soon as there is something to look at.
unsafe extern "C" fn trywait(_: *mut FidFabric, these: *mut *mut Fid, count: c_int) -> c_int {
    for at in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: by the contract `count` objects of this library are there.
        let idle = unsafe { try_one(these.add(at).read()) };
        match idle {
            Ok(true) => {}
            Ok(false) => return -libc::EAGAIN,
            Err(code) => return code,
        }
    }
    0
}

/// # Safety
/// `fid` is of an object of this library that is open.
unsafe fn try_one(fid: *mut Fid) -> Result<bool, Code> {
    // SAFETY: as this function demands; the class says which object it is.
    let object: Arc<dyn Waitable> = unsafe {
        match (*fid).class {
            FI_CLASS_CQ => cq::queue(fid),
            FI_CLASS_CNTR => cntr::counter(fid),
            FI_CLASS_EQ => eq::waitable(fid),
            FI_CLASS_WAIT => return waitset::try_wait(fid),
            _ => return Err(-libc::EINVAL),
        }
    };
    object.waits().try_wait(&|| object.is_ready())
}
