//! Objects of libfabric, the tables of their functions, and the structures that these take and
//! give.

use core::ffi::{c_char, c_int, c_void};

use crate::{
    AtomicOps, FabricAttr, InjectWriteDataFn, MrOps, QueryAtomicFn, RawInfo, RmaVectorFn,
    WriteDataFn, WriteFn,
};

/// `struct fid`, with which every object of the library begins.
#[repr(C)]
pub struct Fid {
    pub class: usize,
    pub context: *mut c_void,
    pub ops: *const FidOps,
}

pub type CloseFn = unsafe extern "C" fn(*mut Fid) -> c_int;
pub type BindFn = unsafe extern "C" fn(*mut Fid, *mut Fid, u64) -> c_int;
pub type ControlFn = unsafe extern "C" fn(*mut Fid, c_int, *mut c_void) -> c_int;

/// `struct fi_ops`.
#[repr(C)]
pub struct FidOps {
    pub size: usize,
    pub close: Option<CloseFn>,
    pub bind: Option<BindFn>,
    pub control: Option<ControlFn>,
    pub ops_open: *const c_void,
    pub tostr: *const c_void,
    pub ops_set: *const c_void,
}

/// `struct fid_fabric`.
#[repr(C)]
pub struct FidFabric {
    pub fid: Fid,
    pub ops: *const FabricOps,
    /// The library writes it.
    pub api_version: u32,
}

pub type TryWaitFn = unsafe extern "C" fn(*mut FidFabric, *mut *mut Fid, c_int) -> c_int;

/// `struct fi_ops_fabric`.
#[repr(C)]
pub struct FabricOps {
    pub size: usize,
    pub domain: Option<
        unsafe extern "C" fn(
            *mut FidFabric,
            *mut RawInfo,
            *mut *mut FidDomain,
            *mut c_void,
        ) -> c_int,
    >,
    pub passive_ep: *const c_void,
    pub eq_open: Option<EqOpenFn>,
    pub wait_open: Option<WaitOpenFn>,
    pub trywait: Option<TryWaitFn>,
    pub domain2: *const c_void,
}

pub type EqOpenFn =
    unsafe extern "C" fn(*mut FidFabric, *mut EqAttr, *mut *mut FidEq, *mut c_void) -> c_int;

/// `struct fi_eq_attr`.
#[repr(C)]
pub struct EqAttr {
    pub size: usize,
    pub flags: u64,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_set: *mut FidWait,
}

/// `struct fid_eq`.
#[repr(C)]
pub struct FidEq {
    pub fid: Fid,
    pub ops: *const EqOps,
}

/// `struct fi_ops_eq`.
#[repr(C)]
pub struct EqOps {
    pub size: usize,
    pub read: Option<unsafe extern "C" fn(*mut FidEq, *mut u32, *mut c_void, usize, u64) -> isize>,
    pub readerr: Option<unsafe extern "C" fn(*mut FidEq, *mut c_void, u64) -> isize>,
    pub write: Option<unsafe extern "C" fn(*mut FidEq, u32, *const c_void, usize, u64) -> isize>,
    pub sread:
        Option<unsafe extern "C" fn(*mut FidEq, *mut u32, *mut c_void, usize, c_int, u64) -> isize>,
    pub strerror: Option<
        unsafe extern "C" fn(*mut FidEq, c_int, *const c_void, *mut c_char, usize) -> *const c_char,
    >,
}

/// `struct fid_domain`.
#[repr(C)]
pub struct FidDomain {
    pub fid: Fid,
    pub ops: *const DomainOps,
    pub mr: *const MrOps,
}

/// `struct fi_ops_domain`.
#[repr(C)]
pub struct DomainOps {
    pub size: usize,
    pub av_open: Option<
        unsafe extern "C" fn(*mut FidDomain, *mut AvAttr, *mut *mut FidAv, *mut c_void) -> c_int,
    >,
    pub cq_open: Option<
        unsafe extern "C" fn(*mut FidDomain, *mut CqAttr, *mut *mut FidCq, *mut c_void) -> c_int,
    >,
    pub endpoint: Option<
        unsafe extern "C" fn(*mut FidDomain, *mut RawInfo, *mut *mut FidEp, *mut c_void) -> c_int,
    >,
    pub scalable_ep: *const c_void,
    pub cntr_open: Option<CntrOpenFn>,
    pub poll_open: Option<PollOpenFn>,
    pub stx_ctx: *const c_void,
    pub srx_ctx: *const c_void,
    pub query_atomic: Option<QueryAtomicFn>,
    pub query_collective: *const c_void,
    pub endpoint2: *const c_void,
}

/// `struct fid_mr`.
#[repr(C)]
pub struct FidMr {
    pub fid: Fid,
    pub mem_desc: *mut c_void,
    pub key: u64,
}

/// `struct fi_av_attr`.
#[repr(C)]
pub struct AvAttr {
    pub kind: c_int,
    pub rx_ctx_bits: c_int,
    pub count: usize,
    pub ep_per_node: usize,
    pub name: *const c_char,
    pub map_addr: *mut c_void,
    pub flags: u64,
}

/// `struct fid_av`.
#[repr(C)]
pub struct FidAv {
    pub fid: Fid,
    pub ops: *const AvOps,
}

pub type InsertFn =
    unsafe extern "C" fn(*mut FidAv, *const c_void, usize, *mut u64, u64, *mut c_void) -> c_int;

/// `struct fi_ops_av`.
#[repr(C)]
pub struct AvOps {
    pub size: usize,
    pub insert: Option<InsertFn>,
    pub insertsvc: *const c_void,
    pub insertsym: *const c_void,
    pub remove: Option<unsafe extern "C" fn(*mut FidAv, *mut u64, usize, u64) -> c_int>,
    pub lookup: Option<unsafe extern "C" fn(*mut FidAv, u64, *mut c_void, *mut usize) -> c_int>,
    pub straddr: Option<
        unsafe extern "C" fn(*mut FidAv, *const c_void, *mut c_char, *mut usize) -> *const c_char,
    >,
    pub av_set: *const c_void,
}

/// `struct fi_cq_attr`.
#[repr(C)]
pub struct CqAttr {
    pub size: usize,
    pub flags: u64,
    pub format: c_int,
    pub wait_obj: c_int,
    pub signaling_vector: c_int,
    pub wait_cond: c_int,
    pub wait_set: *mut FidWait,
}

/// `struct fid_cq`.
#[repr(C)]
pub struct FidCq {
    pub fid: Fid,
    pub ops: *const CqOps,
}

pub type CqReadFn = unsafe extern "C" fn(*mut FidCq, *mut c_void, usize) -> isize;
pub type CqReadErrFn = unsafe extern "C" fn(*mut FidCq, *mut CqErrEntry, u64) -> isize;

/// `struct fi_ops_cq`.
#[repr(C)]
pub struct CqOps {
    pub size: usize,
    pub read: Option<CqReadFn>,
    pub readfrom: Option<CqReadFromFn>,
    pub readerr: Option<CqReadErrFn>,
    pub sread: Option<CqSreadFn>,
    pub sreadfrom: Option<CqSreadFromFn>,
    pub signal: Option<unsafe extern "C" fn(*mut FidCq) -> c_int>,
    pub strerror: Option<CqStrErrorFn>,
}

pub type CqReadFromFn = unsafe extern "C" fn(*mut FidCq, *mut c_void, usize, *mut u64) -> isize;
pub type CqSreadFn =
    unsafe extern "C" fn(*mut FidCq, *mut c_void, usize, *const c_void, c_int) -> isize;
pub type CqSreadFromFn =
    unsafe extern "C" fn(*mut FidCq, *mut c_void, usize, *mut u64, *const c_void, c_int) -> isize;
pub type CqStrErrorFn =
    unsafe extern "C" fn(*mut FidCq, c_int, *const c_void, *mut c_char, usize) -> *const c_char;

/// `struct fi_cq_tagged_entry`; those of other formats are its beginning.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct CqTaggedEntry {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
}

/// `struct fi_cq_data_entry`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct CqDataEntry {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    /// The address of a message that shares its receive with others.
    pub buf: *mut c_void,
    pub data: u64,
}

/// `struct fi_cq_err_entry`, and room for the fields that later versions add.
#[repr(C)]
pub struct CqErrEntry {
    pub op_context: *mut c_void,
    pub flags: u64,
    pub len: usize,
    pub buf: *mut c_void,
    pub data: u64,
    pub tag: u64,
    pub olen: usize,
    pub err: c_int,
    pub prov_errno: c_int,
    pub err_data: *mut c_void,
    pub err_data_size: usize,
    pub later: [u64; 8],
}

pub type CntrOpenFn =
    unsafe extern "C" fn(*mut FidDomain, *mut CntrAttr, *mut *mut FidCntr, *mut c_void) -> c_int;

/// `struct fi_cntr_attr`.
#[repr(C)]
pub struct CntrAttr {
    pub events: c_int,
    pub wait_obj: c_int,
    pub wait_set: *mut FidWait,
    pub flags: u64,
}

/// `struct fid_cntr`.
#[repr(C)]
pub struct FidCntr {
    pub fid: Fid,
    pub ops: *const CntrOps,
}

pub type CntrReadFn = unsafe extern "C" fn(*mut FidCntr) -> u64;
pub type CntrWriteFn = unsafe extern "C" fn(*mut FidCntr, u64) -> c_int;

/// `struct fi_ops_cntr`.
#[repr(C)]
pub struct CntrOps {
    pub size: usize,
    pub read: Option<CntrReadFn>,
    pub readerr: Option<CntrReadFn>,
    pub add: Option<CntrWriteFn>,
    pub set: Option<CntrWriteFn>,
    pub wait: Option<unsafe extern "C" fn(*mut FidCntr, u64, c_int) -> c_int>,
    pub adderr: Option<CntrWriteFn>,
    pub seterr: Option<CntrWriteFn>,
}

pub type WaitOpenFn =
    unsafe extern "C" fn(*mut FidFabric, *mut WaitAttr, *mut *mut FidWait) -> c_int;

/// `struct fi_wait_attr`.
#[repr(C)]
pub struct WaitAttr {
    pub wait_obj: c_int,
    pub flags: u64,
}

/// `struct fid_wait`.
#[repr(C)]
pub struct FidWait {
    pub fid: Fid,
    pub ops: *const WaitOps,
}

/// `struct fi_ops_wait`.
#[repr(C)]
pub struct WaitOps {
    pub size: usize,
    pub wait: Option<unsafe extern "C" fn(*mut FidWait, c_int) -> c_int>,
}

pub type PollOpenFn =
    unsafe extern "C" fn(*mut FidDomain, *mut PollAttr, *mut *mut FidPoll) -> c_int;

/// `struct fi_poll_attr`.
#[repr(C)]
pub struct PollAttr {
    pub flags: u64,
}

/// `struct fid_poll`.
#[repr(C)]
pub struct FidPoll {
    pub fid: Fid,
    pub ops: *const PollOps,
}

pub type PollChangeFn = unsafe extern "C" fn(*mut FidPoll, *mut Fid, u64) -> c_int;

/// `struct fi_ops_poll`.
#[repr(C)]
pub struct PollOps {
    pub size: usize,
    pub poll: Option<unsafe extern "C" fn(*mut FidPoll, *mut *mut c_void, c_int) -> c_int>,
    pub poll_add: Option<PollChangeFn>,
    pub poll_del: Option<PollChangeFn>,
}

/// `struct fid_ep`.
#[repr(C)]
pub struct FidEp {
    pub fid: Fid,
    pub ops: *const EpOps,
    pub cm: *const CmOps,
    pub msg: *const MsgOps,
    pub rma: *const RmaOps,
    pub tagged: *const TaggedOps,
    pub atomic: *const AtomicOps,
    pub collective: *const CollectiveOps,
}

pub type SetOptFn = unsafe extern "C" fn(*mut Fid, c_int, c_int, *const c_void, usize) -> c_int;

/// `struct fi_ops_ep`.
#[repr(C)]
pub struct EpOps {
    pub size: usize,
    pub cancel: Option<unsafe extern "C" fn(*mut Fid, *mut c_void) -> isize>,
    pub getopt:
        Option<unsafe extern "C" fn(*mut Fid, c_int, c_int, *mut c_void, *mut usize) -> c_int>,
    pub setopt: Option<SetOptFn>,
    pub tx_ctx: *const c_void,
    pub rx_ctx: *const c_void,
    pub rx_size_left: *const c_void,
    pub tx_size_left: *const c_void,
}

/// `struct fi_ops_cm`.
#[repr(C)]
pub struct CmOps {
    pub size: usize,
    pub setname: *const c_void,
    pub getname: Option<unsafe extern "C" fn(*mut Fid, *mut c_void, *mut usize) -> c_int>,
    pub getpeer: *const c_void,
    pub connect: *const c_void,
    pub listen: *const c_void,
    pub accept: *const c_void,
    pub reject: *const c_void,
    pub shutdown: *const c_void,
    pub join: *const c_void,
}

pub type RecvFn =
    unsafe extern "C" fn(*mut FidEp, *mut c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub type SendFn =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, *mut c_void, u64, *mut c_void) -> isize;
pub type InjectFn = unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64) -> isize;

pub type RecvMsgFn = unsafe extern "C" fn(*mut FidEp, *const Msg, u64) -> isize;

/// `struct fi_msg`.
#[repr(C)]
pub struct Msg {
    pub msg_iov: *const libc::iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub context: *mut c_void,
    pub data: u64,
}

/// `struct fi_ops_msg`.
#[repr(C)]
pub struct MsgOps {
    pub size: usize,
    pub recv: Option<RecvFn>,
    pub recvv: Option<RecvvFn>,
    pub recvmsg: Option<RecvMsgFn>,
    pub send: Option<SendFn>,
    pub sendv: Option<SendvFn>,
    pub sendmsg: Option<RecvMsgFn>,
    pub inject: Option<InjectFn>,
    pub senddata: Option<SendDataFn>,
    pub injectdata: Option<InjectDataFn>,
}

pub type RecvvFn = unsafe extern "C" fn(
    *mut FidEp,
    *const libc::iovec,
    *mut *mut c_void,
    usize,
    u64,
    *mut c_void,
) -> isize;
pub type SendvFn = RecvvFn;
pub type SendDataFn = unsafe extern "C" fn(
    *mut FidEp,
    *const c_void,
    usize,
    *mut c_void,
    u64,
    u64,
    *mut c_void,
) -> isize;
pub type InjectDataFn = unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64) -> isize;

/// `struct fi_msg_tagged`.
#[repr(C)]
pub struct MsgTagged {
    pub msg_iov: *const libc::iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub tag: u64,
    pub ignore: u64,
    pub context: *mut c_void,
    pub data: u64,
}

pub type TaggedMsgFn = unsafe extern "C" fn(*mut FidEp, *const MsgTagged, u64) -> isize;

/// `struct fi_ops_tagged`.
#[repr(C)]
pub struct TaggedOps {
    pub size: usize,
    pub recv: Option<
        unsafe extern "C" fn(
            *mut FidEp,
            *mut c_void,
            usize,
            *mut c_void,
            u64,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub recvv: Option<
        unsafe extern "C" fn(
            *mut FidEp,
            *const libc::iovec,
            *mut *mut c_void,
            usize,
            u64,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub recvmsg: Option<TaggedMsgFn>,
    pub send: Option<
        unsafe extern "C" fn(
            *mut FidEp,
            *const c_void,
            usize,
            *mut c_void,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub sendv: Option<
        unsafe extern "C" fn(
            *mut FidEp,
            *const libc::iovec,
            *mut *mut c_void,
            usize,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub sendmsg: Option<TaggedMsgFn>,
    pub inject: Option<unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64) -> isize>,
    pub senddata: Option<
        unsafe extern "C" fn(
            *mut FidEp,
            *const c_void,
            usize,
            *mut c_void,
            u64,
            u64,
            u64,
            *mut c_void,
        ) -> isize,
    >,
    pub injectdata:
        Option<unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64, u64) -> isize>,
}

/// `struct fi_ops_collective`: its size and its functions.
#[repr(C)]
pub struct CollectiveOps {
    pub size: usize,
    pub all: [*const c_void; 12],
}

/// `struct fi_provider`.
#[repr(C)]
pub struct Provider {
    pub version: u32,
    pub fi_version: u32,
    /// The library writes it.
    pub context: [*mut c_void; 4],
    pub name: *const c_char,
    pub getinfo: unsafe extern "C" fn(
        u32,
        *const c_char,
        *const c_char,
        u64,
        *const RawInfo,
        *mut *mut RawInfo,
    ) -> c_int,
    pub fabric: unsafe extern "C" fn(*mut FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int,
    pub cleanup: unsafe extern "C" fn(),
}

pub type ReadFn = unsafe extern "C" fn(
    *mut FidEp,
    *mut c_void,
    usize,
    *mut c_void,
    u64,
    u64,
    u64,
    *mut c_void,
) -> isize;
pub type WriteMsgFn = unsafe extern "C" fn(*mut FidEp, *const MsgRma, u64) -> isize;
pub type InjectWriteFn =
    unsafe extern "C" fn(*mut FidEp, *const c_void, usize, u64, u64, u64) -> isize;

/// `struct fi_ops_rma`.
#[repr(C)]
pub struct RmaOps {
    pub size: usize,
    pub read: Option<ReadFn>,
    pub readv: Option<RmaVectorFn>,
    pub readmsg: Option<WriteMsgFn>,
    pub write: Option<WriteFn>,
    pub writev: Option<RmaVectorFn>,
    pub writemsg: Option<WriteMsgFn>,
    pub inject: Option<InjectWriteFn>,
    pub writedata: Option<WriteDataFn>,
    pub injectdata: Option<InjectWriteDataFn>,
}

/// `struct fi_rma_iov`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct RmaIov {
    pub addr: u64,
    pub len: usize,
    pub key: u64,
}

/// `struct fi_msg_rma`.
#[repr(C)]
pub struct MsgRma {
    pub msg_iov: *const libc::iovec,
    pub desc: *mut *mut c_void,
    pub iov_count: usize,
    pub addr: u64,
    pub rma_iov: *const RmaIov,
    pub rma_iov_count: usize,
    pub context: *mut c_void,
    pub data: u64,
}
