//! Objects of the library: how they are made and closed.

use core::ffi::{c_int, c_void};
use core::ptr::{self, NonNull};
use std::os::fd::RawFd;

use super::abi::*;
use super::{FabricError, Info};

/// An object of the library, closed on drop.
pub(super) struct Object<T> {
    pub(super) at: NonNull<T>,
    ops: &'static FidOps,
}

// SAFETY: the library lets any thread use an object, one at a time; all uses take `&mut Endpoint`.
unsafe impl<T> Send for Object<T> {}

impl<T> Object<T> {
    /// From the result of a call that makes one.
    pub(super) fn made(
        library: &super::Library,
        what: &str,
        status: c_int,
        at: *mut T,
    ) -> Result<Self, FabricError> {
        library.check(what, status as isize)?;
        let at = NonNull::new(at).ok_or_else(|| FabricError::lacks(what))?;
        // SAFETY: every object begins with a `struct fid`.
        let fid = unsafe { at.cast::<Fid>().as_ref() };
        // SAFETY: null or a table that lasts as long as the object, and the library is never unloaded.
        let ops = unsafe { fid.ops.as_ref() }.ok_or_else(|| FabricError::lacks(what))?;
        Ok(Self { at, ops })
    }

    pub(super) fn fid(&self) -> *mut Fid {
        self.at.as_ptr().cast()
    }

    pub(super) fn bind<U>(
        &self,
        library: &super::Library,
        other: &Object<U>,
        flags: u64,
    ) -> Result<(), FabricError> {
        let bind = self.ops.bind.ok_or_else(|| FabricError::lacks("bind"))?;
        // SAFETY: both are alive, and were made by the same domain.
        let status = unsafe { bind(self.fid(), other.fid(), flags) };
        library.check("fi_bind", status as isize)
    }

    pub(super) fn control(&self, command: c_int, argument: *mut c_void) -> c_int {
        match self.ops.control {
            // SAFETY: alive; the argument is what the command takes, as the callers below see to.
            Some(control) => unsafe { control(self.fid(), command, argument) },
            None => -libc::ENOSYS,
        }
    }
}

impl Object<FidEp> {
    /// Makes a shared receive end when less than `room_bytes` are left. False if the provider
    /// cannot do that.
    pub(super) fn end_shared_receives_below(&self, room_bytes: usize) -> bool {
        // SAFETY: alive, and nobody changes it.
        let ops = unsafe { self.at.as_ref() }.ops;
        // SAFETY: null or a table that lasts as long as the endpoint.
        let setopt = unsafe { ops.as_ref() }.and_then(|ops| ops.setopt);
        setopt.is_some_and(|setopt| {
            let (level, option) = (FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV);
            let value = (&raw const room_bytes).cast();
            // SAFETY: alive; the option is a `size_t`, which is read before the call returns.
            unsafe { setopt(self.fid(), level, option, value, size_of::<usize>()) == 0 }
        })
    }
}

impl<T> Drop for Object<T> {
    fn drop(&mut self) {
        if let Some(close) = self.ops.close {
            // SAFETY: alive until now, and the order of the fields of `Endpoint` ends what is used
            // by others after those.
            let _ = unsafe { close(self.fid()) };
        }
    }
}

/// The domain of an offer.
pub(super) fn open_domain(
    info: &Info,
    fabric: &Object<FidFabric>,
) -> Result<Object<FidDomain>, FabricError> {
    // SAFETY: alive, and nobody changes it.
    let ops = unsafe { fabric.at.as_ref() }.ops;
    // SAFETY: null or a table that lasts as long as the fabric.
    let domain = unsafe { ops.as_ref() }.and_then(|ops| ops.domain);
    let domain = domain.ok_or_else(|| FabricError::lacks("fi_domain"))?;
    let mut made = ptr::null_mut();
    // SAFETY: the offer is one of this fabric; the object is written.
    let status = unsafe {
        domain(
            fabric.at.as_ptr(),
            info.as_ptr(),
            &raw mut made,
            ptr::null_mut(),
        )
    };
    Object::made(info.library(), "fi_domain", status, made)
}

/// Opens the address vector and the completion queue. Also returns whether the queue can be waited
/// on.
pub(super) fn open_queues(
    info: &Info,
    domain: &Object<FidDomain>,
    tokens: usize,
) -> Result<(Object<FidAv>, Object<FidCq>, bool), FabricError> {
    let library = info.library();
    // SAFETY: alive, and nobody changes it.
    let ops = unsafe { domain.at.as_ref() }.ops;
    // SAFETY: null or a table that lasts as long as the domain.
    let ops = unsafe { ops.as_ref() }.ok_or_else(|| FabricError::lacks("domain"))?;
    let mut attributes = AvAttr {
        kind: info.av_type(),
        rx_ctx_bits: 0,
        count: 0,
        ep_per_node: 0,
        name: ptr::null(),
        map_addr: ptr::null_mut(),
        flags: 0,
    };
    let av_open = ops
        .av_open
        .ok_or_else(|| FabricError::lacks("fi_av_open"))?;
    let mut made = ptr::null_mut();
    // SAFETY: an open domain and complete attributes; the object is written.
    let status = unsafe {
        av_open(
            domain.at.as_ptr(),
            &raw mut attributes,
            &raw mut made,
            ptr::null_mut(),
        )
    };
    let av = Object::made(library, "fi_av_open", status, made)?;
    let cq_open = ops
        .cq_open
        .ok_or_else(|| FabricError::lacks("fi_cq_open"))?;
    let open = |wait_obj| {
        let mut attributes = CqAttr {
            size: 2 * tokens,
            flags: 0,
            format: FI_CQ_FORMAT_DATA,
            wait_obj,
            signaling_vector: 0,
            wait_cond: 0,
            wait_set: ptr::null_mut(),
        };
        let mut made = ptr::null_mut();
        // SAFETY: an open domain and complete attributes; the object is written.
        let status = unsafe {
            cq_open(
                domain.at.as_ptr(),
                &raw mut attributes,
                &raw mut made,
                ptr::null_mut(),
            )
        };
        Object::made(library, "fi_cq_open", status, made)
    };
    match open(FI_WAIT_FD) {
        Ok(cq) => Ok((av, cq, true)),
        Err(_) => Ok((av, open(FI_WAIT_NONE)?, false)),
    }
}

/// The endpoint of an offer, which is not enabled yet.
pub(super) fn open_endpoint(
    info: &Info,
    domain: &Object<FidDomain>,
) -> Result<Object<FidEp>, FabricError> {
    // SAFETY: alive, and nobody changes it.
    let ops = unsafe { domain.at.as_ref() }.ops;
    // SAFETY: null or a table that lasts as long as the domain.
    let endpoint = unsafe { ops.as_ref() }.and_then(|ops| ops.endpoint);
    let endpoint = endpoint.ok_or_else(|| FabricError::lacks("fi_endpoint"))?;
    let mut made = ptr::null_mut();
    // SAFETY: the offer is one of this domain; the object is written.
    let status = unsafe {
        endpoint(
            domain.at.as_ptr(),
            info.as_ptr(),
            &raw mut made,
            ptr::null_mut(),
        )
    };
    Object::made(info.library(), "fi_endpoint", status, made)
}

/// The descriptor that says when something has completed.
pub(super) fn wait_fd(cq: &Object<FidCq>) -> Option<RawFd> {
    let mut fd: c_int = -1;
    // The command writes one descriptor.
    let status = cq.control(FI_GETWAIT, (&raw mut fd).cast());
    (status == 0 && fd >= 0).then_some(fd)
}
