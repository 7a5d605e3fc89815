//! The functions of an endpoint that read and write memory of others, as libfabric has them: all of
//! them are [`Endpoint::access`](crate::ep::Endpoint::access).

use core::ffi::c_void;
use std::sync::atomic::Ordering::Relaxed;

use hostwire::station::{Deed, PLACES_MAX, RegionRange};
use hostwire_fabric_abi::{FI_READ, FI_RMA, FI_WRITE, FidEp, MsgRma, RmaOps};

use crate::access::Access;
use crate::buffer::Loan;
use crate::calls::{data_of, loans, result};
use crate::ep::of;
use crate::object::{Code, Table};

pub(crate) static RMA_OPS: Table<RmaOps> = Table(RmaOps {
    size: size_of::<RmaOps>(),
    read: Some(read),
    readv: Some(readv),
    readmsg: Some(readmsg),
    write: Some(write),
    writev: Some(writev),
    writemsg: Some(writemsg),
    inject: Some(inject),
    writedata: Some(writedata),
    injectdata: Some(injectdata),
});

/// As many bytes of one region as these loans have.
fn there(loans: &[Loan], at: u64, key: u64) -> Vec<RegionRange> {
    let len = loans.iter().map(|loan| loan.len() as u64).sum();
    vec![RegionRange { key, at, len }]
}

const PUT: Deed = Deed::Put { data: None };

fn put_with(data: u64) -> Deed {
    Deed::Put { data: Some(data) }
}

fn told(deed: &Deed) -> u64 {
    match deed {
        Deed::Get => FI_RMA | FI_READ,
        _ => FI_RMA | FI_WRITE,
    }
}

/// A call without flags. Without a context its success is never reported.
///
/// # Safety
/// The contract of that call.
unsafe fn plainly(
    ep: *mut FidEp,
    deed: Deed,
    loans: Result<impl AsRef<[Loan]>, Code>,
    (to, at, key): (u64, u64, u64),
    context: Option<*mut c_void>,
) -> isize {
    // SAFETY: by the contract.
    let endpoint = unsafe { of(ep) };
    let flags = endpoint.tx_flags.load(Relaxed);
    result(loans.and_then(|loans| {
        endpoint.access(Access {
            told: told(&deed),
            deed,
            loans: loans.as_ref(),
            to,
            there: there(loans.as_ref(), at, key),
            context: context.unwrap_or(core::ptr::null_mut()),
            flags,
            is_silent: context.is_none(),
        })
    }))
}

/// # Safety
/// By the contract of a call with such a message it is there, and what it names.
unsafe fn of_message(
    ep: *mut FidEp,
    msg: *const MsgRma,
    flags: u64,
    deed: impl Fn(&MsgRma) -> Deed,
) -> Result<(), Code> {
    // SAFETY: as this function demands.
    let (endpoint, msg) = unsafe { (of(ep), &*msg) };
    // SAFETY: as this function demands.
    let loans = unsafe { loans(msg.msg_iov, msg.iov_count) }?;
    if msg.rma_iov_count > PLACES_MAX {
        return Err(-libc::EINVAL);
    }
    let mut there = Vec::with_capacity(msg.rma_iov_count);
    for at in 0..msg.rma_iov_count {
        // SAFETY: as this function demands.
        let place = unsafe { msg.rma_iov.add(at).read() };
        there.push(RegionRange {
            key: place.key,
            at: place.addr,
            len: place.len as u64,
        });
    }
    let deed = deed(msg);
    endpoint.access(Access {
        told: told(&deed),
        deed,
        loans: &loans,
        to: msg.addr,
        there,
        context: msg.context,
        flags,
        is_silent: false,
    })
}

unsafe extern "C" fn read(
    ep: *mut FidEp,
    buf: *mut c_void,
    len: usize,
    _: *mut c_void,
    from: u64,
    at: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe {
        plainly(
            ep,
            Deed::Get,
            Loan::one(buf, len),
            (from, at, key),
            Some(context),
        )
    }
}

unsafe extern "C" fn readv(
    ep: *mut FidEp,
    iov: *const libc::iovec,
    _: *mut *mut c_void,
    count: usize,
    from: u64,
    at: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe {
        plainly(
            ep,
            Deed::Get,
            loans(iov, count),
            (from, at, key),
            Some(context),
        )
    }
}

unsafe extern "C" fn readmsg(ep: *mut FidEp, msg: *const MsgRma, flags: u64) -> isize {
    // SAFETY: by the contract.
    result(unsafe { of_message(ep, msg, flags, |_| Deed::Get) })
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    _: *mut c_void,
    to: u64,
    at: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { plainly(ep, PUT, Loan::one(buf, len), (to, at, key), Some(context)) }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    iov: *const libc::iovec,
    _: *mut *mut c_void,
    count: usize,
    to: u64,
    at: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { plainly(ep, PUT, loans(iov, count), (to, at, key), Some(context)) }
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, msg: *const MsgRma, flags: u64) -> isize {
    let deed = |msg: &MsgRma| Deed::Put {
        data: data_of(flags, msg.data),
    };
    // SAFETY: by the contract.
    result(unsafe { of_message(ep, msg, flags, deed) })
}

unsafe extern "C" fn inject(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    to: u64,
    at: u64,
    key: u64,
) -> isize {
    // SAFETY: by the contract.
    unsafe { plainly(ep, PUT, Loan::one(buf, len), (to, at, key), None) }
}

unsafe extern "C" fn writedata(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    _: *mut c_void,
    data: u64,
    to: u64,
    at: u64,
    key: u64,
    context: *mut c_void,
) -> isize {
    let deed = put_with(data);
    // SAFETY: by the contract.
    unsafe { plainly(ep, deed, Loan::one(buf, len), (to, at, key), Some(context)) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    data: u64,
    to: u64,
    at: u64,
    key: u64,
) -> isize {
    let deed = put_with(data);
    // SAFETY: by the contract.
    unsafe { plainly(ep, deed, Loan::one(buf, len), (to, at, key), None) }
}
