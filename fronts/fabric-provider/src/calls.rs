//! The functions of an endpoint that send and receive, as libfabric has them: all of them are
//! [`Endpoint::send`](crate::ep::Endpoint::send) or
//! [`Endpoint::receive`](crate::ep::Endpoint::receive).

use core::ffi::c_void;
use core::sync::atomic::Ordering::Relaxed;

use hostwire::Tag;
use hostwire::station::{Label, Lane};
use hostwire_fabric_abi::{FI_REMOTE_CQ_DATA, FidEp, Msg, MsgOps, MsgTagged, TaggedOps};

use crate::buffer::Loan;
use crate::ep::of;
use crate::info::IOV_MAX;
use crate::object::{Code, Table};
use crate::ways::{Loans, Receive, Send};

pub(crate) static MSG_OPS: Table<MsgOps> = Table(MsgOps {
    size: size_of::<MsgOps>(),
    recv: Some(recv),
    recvv: Some(recvv),
    recvmsg: Some(recvmsg),
    send: Some(send),
    sendv: Some(sendv),
    sendmsg: Some(sendmsg),
    inject: Some(inject),
    senddata: Some(senddata),
    injectdata: Some(injectdata),
});

pub(crate) static TAGGED_OPS: Table<TaggedOps> = Table(TaggedOps {
    size: size_of::<TaggedOps>(),
    recv: Some(trecv),
    recvv: Some(trecvv),
    recvmsg: Some(trecvmsg),
    send: Some(tsend),
    sendv: Some(tsendv),
    sendmsg: Some(tsendmsg),
    inject: Some(tinject),
    senddata: Some(tsenddata),
    injectdata: Some(tinjectdata),
});

fn plain(data: Option<u64>) -> Label {
    Label {
        lane: Lane::Plain,
        tag: 0,
        data,
    }
}

fn tagged(tag: u64, data: Option<u64>) -> Label {
    Label {
        lane: Lane::Tagged,
        tag,
        data,
    }
}

/// The data of a message with these flags, if it has any.
pub(crate) fn data_of(flags: u64, data: u64) -> Option<u64> {
    (flags & FI_REMOTE_CQ_DATA != 0).then_some(data)
}

pub(crate) fn result(result: Result<(), Code>) -> isize {
    result.map_or_else(|code| code as isize, |()| 0)
}

/// The program's memory that a call names.
///
/// # Safety
/// By the contract of that call `count` of them are there, each about memory that is lent for the
/// operation.
pub(crate) unsafe fn loans(iov: *const libc::iovec, count: usize) -> Result<Vec<Loan>, Code> {
    if count > IOV_MAX {
        return Err(-libc::EINVAL);
    }
    let mut loans = Vec::with_capacity(count);
    for at in 0..count {
        // SAFETY: as this function demands.
        let iovec = unsafe { iov.add(at).read() };
        // SAFETY: as this function demands.
        loans.push(unsafe { Loan::new(iovec.iov_base, iovec.iov_len) }?);
    }
    Ok(loans)
}

/// How a call without flags and with one address sends.
///
/// # Safety
/// The contract of that call.
#[inline(always)]
unsafe fn send_plainly(
    ep: *mut FidEp,
    (buf, len): (*const c_void, usize),
    to: u64,
    label: Label,
    context: Option<*mut c_void>,
) -> isize {
    // SAFETY: by the contract.
    let (endpoint, loan) = unsafe { (of(ep), Loan::new(buf.cast_mut(), len)) };
    let loan = match loan {
        Ok(loan) => loan,
        Err(code) => return code as isize,
    };
    let send = Send {
        loans: Loans::One(loan),
        to,
        label,
        context: context.unwrap_or(core::ptr::null_mut()),
        flags: endpoint.tx_flags.load(Relaxed),
        is_silent: context.is_none(),
    };
    result(endpoint.send(send))
}

/// The same with several addresses, or with flags.
///
/// # Safety
/// The contract of that call.
#[inline(never)]
unsafe fn send_parts(
    ep: *mut FidEp,
    (iov, count): (*const libc::iovec, usize),
    to: u64,
    label: Label,
    context: *mut c_void,
    flags: Option<u64>,
) -> isize {
    // SAFETY: by the contract.
    let (endpoint, loans) = unsafe { (of(ep), loans(iov, count)) };
    result(loans.and_then(|loans| {
        endpoint.send(Send {
            loans: match loans.as_slice() {
                [one] => Loans::One(*one),
                several => Loans::Several(several),
            },
            to,
            label,
            context,
            flags: flags.unwrap_or_else(|| endpoint.tx_flags.load(Relaxed)),
            is_silent: false,
        })
    }))
}

/// How a call without flags and with one address receives.
///
/// # Safety
/// The contract of that call.
#[inline(always)]
unsafe fn receive_plainly(
    ep: *mut FidEp,
    (buf, len): (*mut c_void, usize),
    from: u64,
    (lane, tag): (Lane, Tag),
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    let (endpoint, loan) = unsafe { (of(ep), Loan::new(buf, len)) };
    let loan = match loan {
        Ok(loan) => loan,
        Err(code) => return code as isize,
    };
    let receive = Receive {
        loans: Loans::One(loan),
        from,
        lane,
        tag,
        context,
        flags: endpoint.rx_flags.load(Relaxed),
    };
    result(endpoint.receive(receive))
}

/// The same with several addresses, or with flags.
///
/// # Safety
/// The contract of that call.
#[inline(never)]
unsafe fn receive_parts(
    ep: *mut FidEp,
    (iov, count): (*const libc::iovec, usize),
    from: u64,
    (lane, tag): (Lane, Tag),
    context: *mut c_void,
    flags: Option<u64>,
) -> isize {
    // SAFETY: by the contract.
    let (endpoint, loans) = unsafe { (of(ep), loans(iov, count)) };
    result(loans.and_then(|loans| {
        endpoint.receive(Receive {
            loans: match loans.as_slice() {
                [one] => Loans::One(*one),
                several => Loans::Several(several),
            },
            from,
            lane,
            tag,
            context,
            flags: flags.unwrap_or_else(|| endpoint.rx_flags.load(Relaxed)),
        })
    }))
}

const ANY: (Lane, Tag) = (Lane::Plain, Tag::ANY);

fn wanted(tag: u64, ignore: u64) -> (Lane, Tag) {
    (Lane::Tagged, Tag::masked(tag, !ignore))
}

unsafe extern "C" fn recv(
    ep: *mut FidEp,
    buf: *mut c_void,
    len: usize,
    _: *mut c_void,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { receive_plainly(ep, (buf, len), from, ANY, context) }
}

unsafe extern "C" fn recvv(
    ep: *mut FidEp,
    iov: *const libc::iovec,
    _: *mut *mut c_void,
    count: usize,
    from: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { receive_parts(ep, (iov, count), from, ANY, context, None) }
}

unsafe extern "C" fn recvmsg(ep: *mut FidEp, msg: *const Msg, flags: u64) -> isize {
    // SAFETY: by the contract it is there.
    let msg = unsafe { &*msg };
    let (iov, count) = (msg.msg_iov, msg.iov_count);
    // SAFETY: by the contract.
    unsafe { receive_parts(ep, (iov, count), msg.addr, ANY, msg.context, Some(flags)) }
}

unsafe extern "C" fn send(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    _: *mut c_void,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, plain(None), Some(context)) }
}

unsafe extern "C" fn sendv(
    ep: *mut FidEp,
    iov: *const libc::iovec,
    _: *mut *mut c_void,
    count: usize,
    to: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { send_parts(ep, (iov, count), to, plain(None), context, None) }
}

unsafe extern "C" fn sendmsg(ep: *mut FidEp, msg: *const Msg, flags: u64) -> isize {
    // SAFETY: by the contract it is there.
    let msg = unsafe { &*msg };
    let (iov, count) = (msg.msg_iov, msg.iov_count);
    let label = plain(data_of(flags, msg.data));
    // SAFETY: by the contract.
    unsafe { send_parts(ep, (iov, count), msg.addr, label, msg.context, Some(flags)) }
}

unsafe extern "C" fn inject(ep: *mut FidEp, buf: *const c_void, len: usize, to: u64) -> isize {
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, plain(None), None) }
}

unsafe extern "C" fn senddata(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    _: *mut c_void,
    data: u64,
    to: u64,
    context: *mut c_void,
) -> isize {
    let label = plain(Some(data));
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, label, Some(context)) }
}

unsafe extern "C" fn injectdata(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    data: u64,
    to: u64,
) -> isize {
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, plain(Some(data)), None) }
}

unsafe extern "C" fn trecv(
    ep: *mut FidEp,
    buf: *mut c_void,
    len: usize,
    _: *mut c_void,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { receive_plainly(ep, (buf, len), from, wanted(tag, ignore), context) }
}

unsafe extern "C" fn trecvv(
    ep: *mut FidEp,
    iov: *const libc::iovec,
    _: *mut *mut c_void,
    count: usize,
    from: u64,
    tag: u64,
    ignore: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { receive_parts(ep, (iov, count), from, wanted(tag, ignore), context, None) }
}

unsafe extern "C" fn trecvmsg(ep: *mut FidEp, msg: *const MsgTagged, flags: u64) -> isize {
    // SAFETY: by the contract it is there.
    let msg = unsafe { &*msg };
    let (iov, count) = (msg.msg_iov, msg.iov_count);
    let wanted = wanted(msg.tag, msg.ignore);
    // SAFETY: by the contract.
    unsafe { receive_parts(ep, (iov, count), msg.addr, wanted, msg.context, Some(flags)) }
}

unsafe extern "C" fn tsend(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    _: *mut c_void,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    let label = tagged(tag, None);
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, label, Some(context)) }
}

unsafe extern "C" fn tsendv(
    ep: *mut FidEp,
    iov: *const libc::iovec,
    _: *mut *mut c_void,
    count: usize,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    unsafe { send_parts(ep, (iov, count), to, tagged(tag, None), context, None) }
}

unsafe extern "C" fn tsendmsg(ep: *mut FidEp, msg: *const MsgTagged, flags: u64) -> isize {
    // SAFETY: by the contract it is there.
    let msg = unsafe { &*msg };
    let (iov, count) = (msg.msg_iov, msg.iov_count);
    let label = tagged(msg.tag, data_of(flags, msg.data));
    // SAFETY: by the contract.
    unsafe { send_parts(ep, (iov, count), msg.addr, label, msg.context, Some(flags)) }
}

unsafe extern "C" fn tinject(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    to: u64,
    tag: u64,
) -> isize {
    let label = tagged(tag, None);
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, label, None) }
}

unsafe extern "C" fn tsenddata(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    _: *mut c_void,
    data: u64,
    to: u64,
    tag: u64,
    context: *mut c_void,
) -> isize {
    let label = tagged(tag, Some(data));
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, label, Some(context)) }
}

unsafe extern "C" fn tinjectdata(
    ep: *mut FidEp,
    buf: *const c_void,
    len: usize,
    data: u64,
    to: u64,
    tag: u64,
) -> isize {
    let label = tagged(tag, Some(data));
    // SAFETY: by the contract.
    unsafe { send_plainly(ep, (buf, len), to, label, None) }
}
