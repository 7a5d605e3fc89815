//! Remote memory: the parts of registration, RMA and atomic operations that only providers need.

use core::ffi::{c_int, c_void};

use crate::{FidDomain, FidEp, FidMr};

pub const FI_ATOMIC: u64 = 1 << 4;
pub const FI_RMA_EVENT: u64 = 1 << 56;
/// Of `fi_query_atomic`.
pub const FI_FETCH_ATOMIC: u64 = 1 << 58;
/// Of `fi_query_atomic`.
pub const FI_COMPARE_ATOMIC: u64 = 1 << 59;

/// All orders among reads, writes and sends: `FI_ORDER_RAR` to `FI_ORDER_SAS`.
pub const FI_ORDER_STRICT: u64 = 0x1ff;
/// `FI_ORDER_RMA_RAR` to `FI_ORDER_ATOMIC_WAW`: those of only RMA and atomic operations.
pub const FI_ORDER_RMA_RAR: u64 = 1 << 32;
pub const FI_ORDER_ATOMIC_WAW: u64 = 1 << 39;

/// Of versions before 1.5: addresses are virtual ones, and keys are the provider's.
pub const FI_MR_BASIC: c_int = 1;
/// Of versions before 1.5: offsets, and keys of the user.
pub const FI_MR_SCALABLE: c_int = 2;
pub const FI_CLASS_MR: usize = 12;
pub const FI_ENOKEY: c_int = 266;

/// `struct fi_mr_attr`, as far as it is read.
#[repr(C)]
pub struct MrAttr {
    pub mr_iov: *const libc::iovec,
    pub iov_count: usize,
    pub access: u64,
    pub offset: u64,
    pub requested_key: u64,
    pub context: *mut c_void,
}

pub type RegFn = unsafe extern "C" fn(
    *mut crate::Fid,
    *const c_void,
    usize,
    u64,
    u64,
    u64,
    u64,
    *mut *mut FidMr,
    *mut c_void,
) -> c_int;
pub type RegvFn = unsafe extern "C" fn(
    *mut crate::Fid,
    *const libc::iovec,
    usize,
    u64,
    u64,
    u64,
    u64,
    *mut *mut FidMr,
    *mut c_void,
) -> c_int;
pub type RegAttrFn =
    unsafe extern "C" fn(*mut crate::Fid, *const MrAttr, u64, *mut *mut FidMr) -> c_int;

/// `struct fi_ops_mr`.
#[repr(C)]
pub struct MrOps {
    pub size: usize,
    pub reg: Option<RegFn>,
    pub regv: Option<RegvFn>,
    pub regattr: Option<RegAttrFn>,
}

pub type WriteFn = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    u64,
    u64,
    u64,
    *mut c_void,
) -> isize;
pub type RmaVectorFn = unsafe extern "C" fn(
    *mut FidEp,
    *const libc::iovec,
    *mut *mut c_void,
    usize,
    u64,
    u64,
    u64,
    *mut c_void,
) -> isize;
pub type WriteDataFn = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    u64,
    u64,
    u64,
    u64,
    *mut c_void,
) -> isize;
pub type InjectWriteDataFn =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64, u64, u64) -> isize;

/// `struct fi_ioc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Ioc {
    pub addr: *mut c_void,
    pub count: usize,
}

/// `struct fi_rma_ioc`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RmaIoc {
    pub addr: u64,
    pub count: usize,
    pub key: u64,
}

/// `struct fi_msg_atomic`.
#[repr(C)]
pub struct MsgAtomic {
    pub msg_iov: *const Ioc,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub rma_iov: *const RmaIoc,
    pub rma_iov_count: usize,
    pub datatype: c_int,
    pub op: c_int,
    pub context: *mut c_void,
    pub data: u64,
}

pub type AtomicWriteFn = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
pub type AtomicWriteVectorFn = unsafe extern "C" fn(
    *mut FidEp,
    *const Ioc,
    *mut *mut c_void,
    usize,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
pub type AtomicWriteMsgFn = unsafe extern "C" fn(*mut FidEp, *const MsgAtomic, u64) -> isize;
pub type AtomicInjectFn =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64, u64, c_int, c_int) -> isize;
pub type AtomicFetchFn = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
pub type AtomicFetchVectorFn = unsafe extern "C" fn(
    *mut FidEp,
    *const Ioc,
    *mut *mut c_void,
    usize,
    *mut Ioc,
    *mut *mut c_void,
    usize,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
pub type AtomicFetchMsgFn = unsafe extern "C" fn(
    *mut FidEp,
    *const MsgAtomic,
    *mut Ioc,
    *mut *mut c_void,
    usize,
    u64,
) -> isize;
pub type AtomicCompareFn = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    *const c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
pub type AtomicCompareVectorFn = unsafe extern "C" fn(
    *mut FidEp,
    *const Ioc,
    *mut *mut c_void,
    usize,
    *const Ioc,
    *mut *mut c_void,
    usize,
    *mut Ioc,
    *mut *mut c_void,
    usize,
    u64,
    u64,
    u64,
    c_int,
    c_int,
    *mut c_void,
) -> isize;
pub type AtomicCompareMsgFn = unsafe extern "C" fn(
    *mut FidEp,
    *const MsgAtomic,
    *const Ioc,
    *mut *mut c_void,
    usize,
    *mut Ioc,
    *mut *mut c_void,
    usize,
    u64,
) -> isize;
pub type AtomicValidFn = unsafe extern "C" fn(*mut FidEp, c_int, c_int, *mut usize) -> c_int;

/// `struct fi_ops_atomic`.
#[repr(C)]
pub struct AtomicOps {
    pub size: usize,
    pub write: Option<AtomicWriteFn>,
    pub writev: Option<AtomicWriteVectorFn>,
    pub writemsg: Option<AtomicWriteMsgFn>,
    pub inject: Option<AtomicInjectFn>,
    pub readwrite: Option<AtomicFetchFn>,
    pub readwritev: Option<AtomicFetchVectorFn>,
    pub readwritemsg: Option<AtomicFetchMsgFn>,
    pub compwrite: Option<AtomicCompareFn>,
    pub compwritev: Option<AtomicCompareVectorFn>,
    pub compwritemsg: Option<AtomicCompareMsgFn>,
    pub writevalid: Option<AtomicValidFn>,
    pub readwritevalid: Option<AtomicValidFn>,
    pub compwritevalid: Option<AtomicValidFn>,
}

/// `struct fi_atomic_attr`.
#[repr(C)]
pub struct AtomicAttr {
    pub count: usize,
    pub size: usize,
}

pub type QueryAtomicFn =
    unsafe extern "C" fn(*mut FidDomain, c_int, c_int, *mut AtomicAttr, u64) -> c_int;
