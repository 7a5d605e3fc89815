//! Domains: what their endpoints have in common is the memory that peers may use, and how progress is
//! made.

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use hostwire::station::MemoryRegions;
use hostwire_fabric_abi::{
    DomainOps, FI_CLASS_DOMAIN, FI_MR_BASIC, FI_MR_PROV_KEY, FI_MR_VIRT_ADDR, FI_PROGRESS_AUTO,
    Fid, FidDomain, FidFabric, FidOps, RawInfo,
};

use crate::domain_endpoints::DomainEndpoints;
use crate::object::{Table, UNSUPPORTED, fid_ops_of, give, take};
use crate::{atomic, av, cntr, cq, ep, mr, poll};

static FID_OPS: Table<FidOps> = Table(fid_ops_of(close, bind, control));

static OPS: Table<DomainOps> = Table(DomainOps {
    size: size_of::<DomainOps>(),
    av_open: Some(av::open),
    cq_open: Some(cq::open),
    endpoint: Some(ep::open),
    scalable_ep: UNSUPPORTED,
    cntr_open: Some(cntr::open),
    poll_open: Some(poll::open),
    stx_ctx: UNSUPPORTED,
    srx_ctx: UNSUPPORTED,
    query_atomic: Some(atomic::query),
    query_collective: UNSUPPORTED,
    endpoint2: UNSUPPORTED,
});

/// See the [module text](self).
#[repr(C)]
pub(crate) struct Domain {
    fid: FidDomain,
    pub(crate) regions: Arc<MemoryRegions>,
    mr_mode: c_int,
    pub(crate) members: Arc<DomainEndpoints>,
    /// Its endpoints make progress while nobody reads.
    pub(crate) is_automatic: bool,
}

impl Domain {
    /// Whether peers name bytes of registered memory by their addresses.
    pub(crate) fn has_addresses(&self) -> bool {
        self.mr_mode & (FI_MR_BASIC | FI_MR_VIRT_ADDR) != 0
    }

    /// Whether keys are chosen here.
    pub(crate) fn draws_keys(&self) -> bool {
        self.mr_mode & (FI_MR_BASIC | FI_MR_PROV_KEY) != 0
    }
}

/// `fi_domain(3)`.
pub(crate) unsafe extern "C" fn open(
    _: *mut FidFabric,
    info: *mut RawInfo,
    out: *mut *mut FidDomain,
    context: *mut c_void,
) -> c_int {
    // SAFETY: by the contract null, or one that `fi_getinfo` gave, with all its parts.
    let attr = unsafe { info.as_ref().and_then(|info| info.domain_attr.as_ref()) };
    let fid = Fid {
        class: FI_CLASS_DOMAIN,
        context,
        ops: &raw const FID_OPS.0,
    };
    let domain = Domain {
        fid: FidDomain {
            fid,
            ops: &raw const OPS.0,
            mr: &raw const mr::OPS.0,
        },
        regions: Arc::default(),
        mr_mode: attr.map_or(0, |attr| attr.mr_mode),
        members: Arc::default(),
        is_automatic: attr.is_some_and(|attr| attr.data_progress == FI_PROGRESS_AUTO),
    };
    // SAFETY: by the contract `out` can be written to; a `Domain` begins with a `FidDomain`.
    unsafe { give(out, domain) }
}

/// # Safety
/// `fid` is of a domain of this library that is open.
pub(crate) unsafe fn of<'a>(fid: *mut Fid) -> &'a Domain {
    // SAFETY: as this function demands.
    let domain = unsafe { &*fid.cast::<Domain>() };
    debug_assert_eq!(domain.fid.fid.class, FI_CLASS_DOMAIN);
    domain
}

unsafe extern "C" fn close(fid: *mut Fid) -> c_int {
    // SAFETY: by the contract it is one of `open`, and closed once.
    drop(unsafe { take::<Domain>(fid) });
    0
}

/// An event queue may be bound: nothing goes there.
unsafe extern "C" fn bind(_: *mut Fid, _: *mut Fid, _: u64) -> c_int {
    0
}

unsafe extern "C" fn control(_: *mut Fid, _: c_int, _: *mut c_void) -> c_int {
    -libc::ENOSYS
}
