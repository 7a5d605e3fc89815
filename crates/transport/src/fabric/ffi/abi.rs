//! The C interface of libfabric: structures as ABI 1.0 to 1.8 lay them out, as far as they are used.
//!
//! Later versions add fields at the end of a structure only. So nothing here is ever allocated in
//! place of the library where it may be longer: [`Info`](super::Info) is made by `fi_dupinfo` of the
//! library that runs, and entries that the library writes have room behind them.

use core::ffi::{c_char, c_int, c_void};

/// `FI_VERSION(1, 9)`: what this code is written to; every library from 2019 on speaks it.
pub(crate) const API_VERSION: u32 = 1 << 16 | 9;

pub(crate) const FI_MSG: u64 = 1 << 1;
pub(crate) const FI_RMA: u64 = 1 << 2;
pub(crate) const FI_READ: u64 = 1 << 8;
pub(crate) const FI_WRITE: u64 = 1 << 9;
pub(crate) const FI_RECV: u64 = 1 << 10;
pub(crate) const FI_SEND: u64 = 1 << 11;
pub(crate) const FI_MULTI_RECV: u64 = 1 << 16;
pub(crate) const FI_REMOTE_READ: u64 = 1 << 12;
pub(crate) const FI_REMOTE_WRITE: u64 = 1 << 13;
pub(crate) const FI_COMPLETION: u64 = 1 << 24;
pub(crate) const FI_DELIVERY_COMPLETE: u64 = 1 << 28;
pub(crate) const FI_CONTEXT: u64 = 1 << 59;
pub(crate) const FI_CONTEXT2: u64 = 1 << 52;

pub(crate) const FI_ORDER_WAW: u64 = 1 << 4;
pub(crate) const FI_ORDER_SAW: u64 = 1 << 7;
pub(crate) const FI_ORDER_SAS: u64 = 1 << 8;

pub(crate) const FI_MR_LOCAL: c_int = 1 << 2;
pub(crate) const FI_MR_VIRT_ADDR: c_int = 1 << 4;
pub(crate) const FI_MR_ALLOCATED: c_int = 1 << 5;
pub(crate) const FI_MR_PROV_KEY: c_int = 1 << 6;
pub(crate) const FI_MR_ENDPOINT: c_int = 1 << 9;

pub(crate) const FI_EP_RDM: c_int = 3;
pub(crate) const FI_THREAD_DOMAIN: c_int = 3;
pub(crate) const FI_RM_ENABLED: c_int = 2;
pub(crate) const FI_CQ_FORMAT_DATA: c_int = 3;
pub(crate) const FI_WAIT_NONE: c_int = 0;
pub(crate) const FI_WAIT_FD: c_int = 3;
pub(crate) const FI_SOCKADDR_IN: u32 = 2;
pub(crate) const FI_OPT_ENDPOINT: c_int = 0;
pub(crate) const FI_OPT_MIN_MULTI_RECV: c_int = 0;
pub(crate) const FI_GETWAIT: c_int = 5;
pub(crate) const FI_ENABLE: c_int = 6;
pub(crate) const FI_ADDR_UNSPEC: u64 = u64::MAX;
pub(crate) const FI_EAVAIL: isize = 259;
/// `struct fi_context2`: what a provider may use of a context while an operation is under way.
pub(crate) const CONTEXT_BYTES: usize = 64;

/// `struct fi_tx_attr`.
#[repr(C)]
pub(crate) struct TxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) inject_size: usize,
    pub(crate) size: usize,
}

/// `struct fi_rx_attr`.
#[repr(C)]
pub(crate) struct RxAttr {
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) op_flags: u64,
    pub(crate) msg_order: u64,
    pub(crate) comp_order: u64,
    pub(crate) total_buffered_recv: usize,
    pub(crate) size: usize,
}

/// `struct fi_ep_attr`.
#[repr(C)]
pub(crate) struct EpAttr {
    pub(crate) kind: c_int,
    pub(crate) protocol: u32,
    pub(crate) protocol_version: u32,
    pub(crate) max_msg_size: usize,
    pub(crate) msg_prefix_size: usize,
    pub(crate) max_order_raw_size: usize,
    pub(crate) max_order_war_size: usize,
    pub(crate) max_order_waw_size: usize,
}

/// `struct fi_domain_attr`.
#[repr(C)]
pub(crate) struct DomainAttr {
    pub(crate) domain: *mut c_void,
    pub(crate) name: *mut c_char,
    pub(crate) threading: c_int,
    pub(crate) control_progress: c_int,
    pub(crate) data_progress: c_int,
    pub(crate) resource_mgmt: c_int,
    pub(crate) av_type: c_int,
    pub(crate) mr_mode: c_int,
    pub(crate) mr_key_size: usize,
}

/// `struct fi_fabric_attr`.
#[repr(C)]
pub(crate) struct FabricAttr {
    pub(crate) fabric: *mut c_void,
    pub(crate) name: *mut c_char,
    pub(crate) prov_name: *mut c_char,
    pub(crate) prov_version: u32,
    pub(crate) api_version: u32,
}

/// `struct fi_info`.
#[repr(C)]
pub(crate) struct RawInfo {
    pub(crate) next: *mut Self,
    pub(crate) caps: u64,
    pub(crate) mode: u64,
    pub(crate) addr_format: u32,
    pub(crate) src_addrlen: usize,
    pub(crate) dest_addrlen: usize,
    pub(crate) src_addr: *mut c_void,
    pub(crate) dest_addr: *mut c_void,
    pub(crate) handle: *mut c_void,
    pub(crate) tx_attr: *mut TxAttr,
    pub(crate) rx_attr: *mut RxAttr,
    pub(crate) ep_attr: *mut EpAttr,
    pub(crate) domain_attr: *mut DomainAttr,
    pub(crate) fabric_attr: *mut FabricAttr,
}

/// `struct fid`, with which every object of the library begins.
#[repr(C)]
pub(crate) struct Fid {
    pub(crate) class: usize,
    pub(crate) context: *mut c_void,
    pub(crate) ops: *const FidOps,
}

pub(crate) type CloseFn = unsafe extern "C" fn(*mut Fid) -> c_int;
pub(crate) type BindFn = unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int;
pub(crate) type ControlFn = unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int;

/// `struct fi_ops`.
#[repr(C)]
pub(crate) struct FidOps {
    pub(crate) size: usize,
    pub(crate) close: Option<CloseFn>,
    pub(crate) bind: Option<BindFn>,
    pub(crate) control: Option<ControlFn>,
}

/// `struct fid_fabric`.
#[repr(C)]
pub(crate) struct FidFabric {
    pub(crate) fid: Fid,
    pub(crate) ops: *const FabricOps,
}

pub(crate) type TryWaitFn = unsafe extern "C" fn(*mut FidFabric, *mut *mut Fid, c_int) -> c_int;

/// `struct fi_ops_fabric`.
#[repr(C)]
pub(crate) struct FabricOps {
    pub(crate) size: usize,
    pub(crate) domain: Option<
        unsafe extern "C" fn(
            *mut FidFabric,
            *mut RawInfo,
            *mut *mut FidDomain,
            *mut c_void,
        ) -> c_int,
    >,
    pub(crate) passive_ep: *const c_void,
    pub(crate) eq_open: *const c_void,
    pub(crate) wait_open: *const c_void,
    pub(crate) trywait: Option<TryWaitFn>,
}

/// `struct fid_domain`.
#[repr(C)]
pub(crate) struct FidDomain {
    pub(crate) fid: Fid,
    pub(crate) ops: *const DomainOps,
    pub(crate) mr: *const MrOps,
}

/// `struct fi_ops_domain`.
#[repr(C)]
pub(crate) struct DomainOps {
    pub(crate) size: usize,
    pub(crate) av_open: Option<
        unsafe extern "C" fn(*mut FidDomain, *mut AvAttr, *mut *mut FidAv, *mut c_void) -> c_int,
    >,
    pub(crate) cq_open: Option<
        unsafe extern "C" fn(*mut FidDomain, *mut CqAttr, *mut *mut FidCq, *mut c_void) -> c_int,
    >,
    pub(crate) endpoint: Option<
        unsafe extern "C" fn(*mut FidDomain, *mut RawInfo, *mut *mut FidEp, *mut c_void) -> c_int,
    >,
}

/// `struct fi_ops_mr`.
#[repr(C)]
pub(crate) struct MrOps {
    pub(crate) size: usize,
    pub(crate) reg: Option<
        unsafe extern "C" fn(
            *mut Fid,
            *const c_void,
            usize,
            u64,
            u64,
            u64,
            u64,
            *mut *mut FidMr,
            *mut c_void,
        ) -> c_int,
    >,
}

/// `struct fid_mr`.
#[repr(C)]
pub(crate) struct FidMr {
    pub(crate) fid: Fid,
    pub(crate) mem_desc: *mut c_void,
    pub(crate) key: u64,
}

/// `struct fi_av_attr`.
#[repr(C)]
pub(crate) struct AvAttr {
    pub(crate) kind: c_int,
    pub(crate) rx_ctx_bits: c_int,
    pub(crate) count: usize,
    pub(crate) ep_per_node: usize,
    pub(crate) name: *const c_char,
    pub(crate) map_addr: *mut c_void,
    pub(crate) flags: u64,
}

/// `struct fid_av`.
#[repr(C)]
pub(crate) struct FidAv {
    pub(crate) fid: Fid,
    pub(crate) ops: *const AvOps,
}

pub(crate) type InsertFn =
    unsafe extern "C" fn(*mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int;

/// `struct fi_ops_av`.
#[repr(C)]
pub(crate) struct AvOps {
    pub(crate) size: usize,
    pub(crate) insert: Option<InsertFn>,
}

/// `struct fi_cq_attr`.
#[repr(C)]
pub(crate) struct CqAttr {
    pub(crate) size: usize,
    pub(crate) flags: u64,
    pub(crate) format: c_int,
    pub(crate) wait_obj: c_int,
    pub(crate) signaling_vector: c_int,
    pub(crate) wait_cond: c_int,
    pub(crate) wait_set: *mut c_void,
}

/// `struct fid_cq`.
#[repr(C)]
pub(crate) struct FidCq {
    pub(crate) fid: Fid,
    pub(crate) ops: *const CqOps,
}

pub(crate) type CqReadFn = unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize;
pub(crate) type CqReadErrFn = unsafe extern "C" fn(*mut FidCq, *mut CqErrEntry, u64) -> isize;

/// `struct fi_ops_cq`.
#[repr(C)]
pub(crate) struct CqOps {
    pub(crate) size: usize,
    pub(crate) read: Option<CqReadFn>,
    pub(crate) readfrom: *const c_void,
    pub(crate) readerr: Option<CqReadErrFn>,
}

/// `struct fi_cq_data_entry`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CqDataEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    /// Of a message that shares its receive with others: where it lies.
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
}

/// `struct fi_cq_err_entry`, and room for what later versions have behind it.
#[repr(C)]
pub(crate) struct CqErrEntry {
    pub(crate) op_context: *mut c_void,
    pub(crate) flags: u64,
    pub(crate) len: usize,
    pub(crate) buf: *mut c_void,
    pub(crate) data: u64,
    pub(crate) tag: u64,
    pub(crate) olen: usize,
    pub(crate) err: c_int,
    pub(crate) prov_errno: c_int,
    pub(crate) err_data: *mut c_void,
    pub(crate) err_data_size: usize,
    pub(crate) later: [u64; 8],
}

/// `struct fid_ep`.
#[repr(C)]
pub(crate) struct FidEp {
    pub(crate) fid: Fid,
    pub(crate) ops: *const EpOps,
    pub(crate) cm: *const CmOps,
    pub(crate) msg: *const MsgOps,
    pub(crate) rma: *const RmaOps,
}

pub(crate) type SetOptFn =
    unsafe extern "C" fn(*mut Fid, c_int, c_int, *const c_void, usize) -> c_int;

/// `struct fi_ops_ep`.
#[repr(C)]
pub(crate) struct EpOps {
    pub(crate) size: usize,
    pub(crate) cancel: *const c_void,
    pub(crate) getopt: *const c_void,
    pub(crate) setopt: Option<SetOptFn>,
}

/// `struct fi_ops_cm`.
#[repr(C)]
pub(crate) struct CmOps {
    pub(crate) size: usize,
    pub(crate) setname: *const c_void,
    pub(crate) getname: Option<unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int>,
}

pub(crate) type RecvFn =
    unsafe extern "C" fn(*mut FidEp, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub(crate) type SendFn =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub(crate) type InjectFn = unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64) -> isize;

pub(crate) type RecvMsgFn = unsafe extern "C" fn(*mut FidEp, *const Msg, u64) -> isize;

/// `struct fi_msg`.
#[repr(C)]
pub(crate) struct Msg {
    pub(crate) msg_iov: *const libc::iovec,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: u64,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}

/// `struct fi_ops_msg`.
#[repr(C)]
pub(crate) struct MsgOps {
    pub(crate) size: usize,
    pub(crate) recv: Option<RecvFn>,
    pub(crate) recvv: *const c_void,
    pub(crate) recvmsg: Option<RecvMsgFn>,
    pub(crate) send: Option<SendFn>,
    pub(crate) sendv: *const c_void,
    pub(crate) sendmsg: *const c_void,
    pub(crate) inject: Option<InjectFn>,
}

pub(crate) type ReadFn = unsafe extern "C" fn(
    *mut FidEp,
    *mut c_void,
    usize,
    *mut c_void,
    u64,
    u64,
    u64,
    *mut c_void,
) -> isize;
pub(crate) type WriteMsgFn = unsafe extern "C" fn(*mut FidEp, *const MsgRma, u64) -> isize;
pub(crate) type InjectWriteFn =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64, u64) -> isize;

/// `struct fi_ops_rma`.
#[repr(C)]
pub(crate) struct RmaOps {
    pub(crate) size: usize,
    pub(crate) read: Option<ReadFn>,
    pub(crate) readv: *const c_void,
    pub(crate) readmsg: *const c_void,
    pub(crate) write: *const c_void,
    pub(crate) writev: *const c_void,
    pub(crate) writemsg: Option<WriteMsgFn>,
    pub(crate) inject: Option<InjectWriteFn>,
}

/// `struct fi_rma_iov`.
#[repr(C)]
pub(crate) struct RmaIov {
    pub(crate) addr: u64,
    pub(crate) len: usize,
    pub(crate) key: u64,
}

/// `struct fi_msg_rma`.
#[repr(C)]
pub(crate) struct MsgRma {
    pub(crate) msg_iov: *const libc::iovec,
    pub(crate) desc: *mut *mut c_void,
    pub(crate) iov_count: usize,
    pub(crate) addr: u64,
    pub(crate) rma_iov: *const RmaIov,
    pub(crate) rma_iov_count: usize,
    pub(crate) context: *mut c_void,
    pub(crate) data: u64,
}
