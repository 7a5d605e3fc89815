//! The functions of an endpoint that change memory of others atomically, as libfabric has them: all of
//! them are [`Endpoint::access`](crate::ep::Endpoint::access).

use core::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;

use hostwire::station::{ATOMIC_BYTES_MAX, Atomic, Change, Deed, Number, PLACES_MAX, RegionRange};
use hostwire_fabric_abi::{
    AtomicAttr, AtomicOps, FI_ATOMIC, FI_COMPARE_ATOMIC, FI_FETCH_ATOMIC, FI_INJECT, FI_READ,
    FI_WRITE, FidDomain, FidEp, Ioc, MsgAtomic, RmaIoc,
};

use crate::access::Access;
use crate::buffer::{Loan, gather};
use crate::calls::result;
use crate::ep::of;
use crate::info::IOV_MAX;
use crate::object::{Code, Table};
use crate::ways::INJECT_BYTES_MAX;

pub(crate) static ATOMIC_OPS: Table<AtomicOps> = Table(AtomicOps {
    size: size_of::<AtomicOps>(),
    write: Some(write),
    writev: Some(writev),
    writemsg: Some(writemsg),
    inject: Some(inject),
    readwrite: Some(readwrite),
    readwritev: Some(readwritev),
    readwritemsg: Some(readwritemsg),
    compwrite: Some(compwrite),
    compwritev: Some(compwritev),
    compwritemsg: Some(compwritemsg),
    writevalid: Some(writevalid),
    readwritevalid: Some(readwritevalid),
    compwritevalid: Some(compwritevalid),
});

/// The three kinds of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Base,
    Fetch,
    Compare,
}

/// The atomic for a data type and an operation of libfabric, if it is offered in this form. The codes of `Number` and
/// `Change` are in the order of libfabric.
fn offered(form: Form, datatype: c_int, op: c_int) -> Option<Atomic> {
    let number = Number::from_code(u8::try_from(datatype).ok()?)?;
    let change = Change::from_code(u8::try_from(op).ok()?)?;
    let is_of_form = match form {
        Form::Base => !change.compares() && change != Change::Read,
        Form::Fetch => !change.compares(),
        Form::Compare => change.compares(),
    };
    Atomic::new(number, change).filter(|_| is_of_form)
}

const UNSUPPORTED: Code = -libc::EOPNOTSUPP;

/// The arguments that all of these calls have.
struct Call<'a> {
    form: Form,
    to: u64,
    there: &'a [RmaIoc],
    datatype: c_int,
    op: c_int,
    operands: &'a [Ioc],
    compares: &'a [Ioc],
    results: &'a [Ioc],
    /// Without a context its success is never reported.
    context: Option<*mut c_void>,
    /// `None`: the flags of the endpoint hold.
    flags: Option<u64>,
}

/// # Safety
/// `count` of them are there, unless it is 0.
unsafe fn list<'a, T>(first: *const T, count: usize, most: usize) -> Result<&'a [T], Code> {
    match count {
        0 => Ok(&[]),
        _ if count > most || first.is_null() => Err(-libc::EINVAL),
        // SAFETY: as this function demands; they are read before the call returns.
        _ => Ok(unsafe { core::slice::from_raw_parts(first, count) }),
    }
}

/// # Safety
/// By the contract of the call numbers of this length are there, and lent for the operation.
unsafe fn loans(iocs: &[Ioc], size: usize) -> Result<Vec<Loan>, Code> {
    let lend = |ioc: &Ioc| {
        let len = ioc.count.checked_mul(size).ok_or(-libc::EINVAL)?;
        // SAFETY: as this function demands.
        unsafe { Loan::new(ioc.addr, len) }
    };
    iocs.iter().map(lend).collect()
}

/// # Safety
/// The contract of the call that this is.
unsafe fn call(ep: *mut FidEp, call: Call<'_>) -> Result<(), Code> {
    // SAFETY: by the contract.
    let endpoint = unsafe { of(ep) };
    let atomic = offered(call.form, call.datatype, call.op).ok_or(UNSUPPORTED)?;
    let size = atomic.number.bytes();
    let place = |ioc: &RmaIoc| RegionRange {
        key: ioc.key,
        at: ioc.addr,
        len: (ioc.count as u64).saturating_mul(size as u64),
    };
    let there: Vec<RegionRange> = call.there.iter().map(place).collect();
    let len: u64 = there
        .iter()
        .fold(0, |sum, place| sum.saturating_add(place.len));
    if len > ATOMIC_BYTES_MAX as u64 {
        return Err(-libc::EMSGSIZE);
    }
    let flags = call
        .flags
        .unwrap_or_else(|| endpoint.tx_flags.load(Relaxed));
    let is_injected = call.context.is_none() || flags & FI_INJECT != 0;
    if len == 0 || (is_injected && len > INJECT_BYTES_MAX as u64) {
        return Err(-libc::EINVAL);
    }
    let wants_old = call.form != Form::Base;
    let bytes = |iocs: &[Ioc], is_needed: bool| {
        if !is_needed {
            return Ok(Vec::new());
        }
        // SAFETY: by the contract.
        let loans = unsafe { loans(iocs, size) }?;
        // The length is looked at before the bytes.
        let has: usize = loans.iter().map(Loan::len).sum();
        match has as u64 == len {
            true => Ok(gather(&loans)),
            false => Err(-libc::EINVAL),
        }
    };
    let deed = Deed::Atomic {
        atomic,
        operands: bytes(call.operands, atomic.change != Change::Read)?,
        compares: bytes(call.compares, atomic.change.compares())?,
        wants_old,
    };
    // SAFETY: by the contract.
    let results = unsafe { loans(call.results, size) }?;
    endpoint.access(Access {
        deed,
        loans: &results,
        to: call.to,
        there,
        context: call.context.unwrap_or(core::ptr::null_mut()),
        flags,
        told: FI_ATOMIC | if wants_old { FI_READ } else { FI_WRITE },
        is_silent: call.context.is_none(),
    })
}

fn ioc(addr: *const c_void, count: usize) -> Ioc {
    Ioc {
        addr: addr.cast_mut(),
        count,
    }
}

/// As many numbers of one region as these have.
fn one(iocs: &[Ioc], addr: u64, key: u64) -> [RmaIoc; 1] {
    let count = iocs
        .iter()
        .fold(0_usize, |sum, ioc| sum.saturating_add(ioc.count));
    [RmaIoc { addr, count, key }]
}

unsafe extern "C" fn write(
    ep: *mut FidEp,
    buf: *const c_void,
    count: usize,
    _: *mut c_void,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    let iov = ioc(buf, count);
    // SAFETY: by the contract; there is one.
    unsafe {
        let none = core::ptr::null_mut();
        writev(
            ep,
            &raw const iov,
            none,
            1,
            to,
            at,
            key,
            datatype,
            op,
            context,
        )
    }
}

unsafe extern "C" fn writev(
    ep: *mut FidEp,
    iov: *const Ioc,
    _: *mut *mut c_void,
    count: usize,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    let done = unsafe { list(iov, count, IOV_MAX) }.and_then(|operands| {
        let call_ = Call {
            form: Form::Base,
            to,
            there: &one(operands, at, key),
            datatype,
            op,
            operands,
            compares: &[],
            results: &[],
            context: Some(context),
            flags: None,
        };
        // SAFETY: by the contract.
        unsafe { call(ep, call_) }
    });
    result(done)
}

unsafe extern "C" fn inject(
    ep: *mut FidEp,
    buf: *const c_void,
    count: usize,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
) -> isize {
    let operands = [ioc(buf, count)];
    let call_ = Call {
        form: Form::Base,
        to,
        there: &one(&operands, at, key),
        datatype,
        op,
        operands: &operands,
        compares: &[],
        results: &[],
        context: None,
        flags: None,
    };
    // SAFETY: by the contract.
    result(unsafe { call(ep, call_) })
}

/// # Safety
/// The contract of the call that this is.
unsafe fn of_message(
    ep: *mut FidEp,
    form: Form,
    msg: *const MsgAtomic,
    (compares, compare_count): (*const Ioc, usize),
    (results, result_count): (*mut Ioc, usize),
    flags: u64,
) -> isize {
    // SAFETY: as this function demands.
    let done = unsafe {
        let msg = &*msg;
        list(msg.rma_iov, msg.rma_iov_count, PLACES_MAX).and_then(|there| {
            let call_ = Call {
                form,
                to: msg.addr,
                there,
                datatype: msg.datatype,
                op: msg.op,
                operands: list(msg.msg_iov, msg.iov_count, IOV_MAX)?,
                compares: list(compares, compare_count, IOV_MAX)?,
                results: list(results.cast_const(), result_count, IOV_MAX)?,
                context: Some(msg.context),
                flags: Some(flags),
            };
            call(ep, call_)
        })
    };
    result(done)
}

unsafe extern "C" fn writemsg(ep: *mut FidEp, msg: *const MsgAtomic, flags: u64) -> isize {
    let none = (core::ptr::null(), 0);
    let nowhere = (core::ptr::null_mut(), 0);
    // SAFETY: by the contract.
    unsafe { of_message(ep, Form::Base, msg, none, nowhere, flags) }
}

unsafe extern "C" fn readwrite(
    ep: *mut FidEp,
    buf: *const c_void,
    count: usize,
    _: *mut c_void,
    results: *mut c_void,
    _: *mut c_void,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    let (operands, mut results) = (ioc(buf, count), ioc(results, count));
    let none = core::ptr::null_mut();
    // SAFETY: by the contract; there is one of each.
    unsafe {
        let (operands, results) = (&raw const operands, &raw mut results);
        readwritev(
            ep, operands, none, 1, results, none, 1, to, at, key, datatype, op, context,
        )
    }
}

unsafe extern "C" fn readwritev(
    ep: *mut FidEp,
    iov: *const Ioc,
    _: *mut *mut c_void,
    count: usize,
    results: *mut Ioc,
    _: *mut *mut c_void,
    result_count: usize,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    let lists = unsafe {
        let results = list(results.cast_const(), result_count, IOV_MAX);
        results.and_then(|results| Ok((list(iov, count, IOV_MAX)?, results)))
    };
    result(lists.and_then(|(operands, results)| {
        let call_ = Call {
            form: Form::Fetch,
            to,
            // A read has no operands.
            there: &one(results, at, key),
            datatype,
            op,
            operands,
            compares: &[],
            results,
            context: Some(context),
            flags: None,
        };
        // SAFETY: by the contract.
        unsafe { call(ep, call_) }
    }))
}

unsafe extern "C" fn readwritemsg(
    ep: *mut FidEp,
    msg: *const MsgAtomic,
    results: *mut Ioc,
    _: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    let none = (core::ptr::null(), 0);
    // SAFETY: by the contract.
    unsafe { of_message(ep, Form::Fetch, msg, none, (results, result_count), flags) }
}

unsafe extern "C" fn compwrite(
    ep: *mut FidEp,
    buf: *const c_void,
    count: usize,
    _: *mut c_void,
    compares: *const c_void,
    _: *mut c_void,
    results: *mut c_void,
    _: *mut c_void,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    let (operands, compares) = (ioc(buf, count), ioc(compares, count));
    let mut results = ioc(results, count);
    let none = core::ptr::null_mut();
    // SAFETY: by the contract; there is one of each.
    unsafe {
        compwritev(
            ep,
            &raw const operands,
            none,
            1,
            &raw const compares,
            none,
            1,
            &raw mut results,
            none,
            1,
            to,
            at,
            key,
            datatype,
            op,
            context,
        )
    }
}

unsafe extern "C" fn compwritev(
    ep: *mut FidEp,
    iov: *const Ioc,
    _: *mut *mut c_void,
    count: usize,
    compares: *const Ioc,
    _: *mut *mut c_void,
    compare_count: usize,
    results: *mut Ioc,
    _: *mut *mut c_void,
    result_count: usize,
    to: u64,
    at: u64,
    key: u64,
    datatype: c_int,
    op: c_int,
    context: *mut c_void,
) -> isize {
    // SAFETY: by the contract.
    let lists = unsafe {
        list(iov, count, IOV_MAX).and_then(|operands| {
            let compares = list(compares, compare_count, IOV_MAX)?;
            let results = list(results.cast_const(), result_count, IOV_MAX)?;
            Ok((operands, compares, results))
        })
    };
    result(lists.and_then(|(operands, compares, results)| {
        let call_ = Call {
            form: Form::Compare,
            to,
            there: &one(operands, at, key),
            datatype,
            op,
            operands,
            compares,
            results,
            context: Some(context),
            flags: None,
        };
        // SAFETY: by the contract.
        unsafe { call(ep, call_) }
    }))
}

unsafe extern "C" fn compwritemsg(
    ep: *mut FidEp,
    msg: *const MsgAtomic,
    compares: *const Ioc,
    _: *mut *mut c_void,
    compare_count: usize,
    results: *mut Ioc,
    _: *mut *mut c_void,
    result_count: usize,
    flags: u64,
) -> isize {
    let compares = (compares, compare_count);
    // SAFETY: by the contract.
    unsafe {
        of_message(
            ep,
            Form::Compare,
            msg,
            compares,
            (results, result_count),
            flags,
        )
    }
}

/// How long the numbers are, if the operation is offered.
fn valid(form: Form, datatype: c_int, op: c_int) -> Result<usize, Code> {
    let atomic = offered(form, datatype, op);
    atomic
        .map(|atomic| atomic.number.bytes())
        .ok_or(UNSUPPORTED)
}

/// # Safety
/// `out` can be written to, or is null.
unsafe fn tell_valid(form: Form, datatype: c_int, op: c_int, out: *mut usize) -> c_int {
    match valid(form, datatype, op) {
        Ok(size) => {
            if !out.is_null() {
                // SAFETY: as this function demands.
                unsafe { out.write(ATOMIC_BYTES_MAX / size) };
            }
            0
        }
        Err(code) => code,
    }
}

unsafe extern "C" fn writevalid(
    _: *mut FidEp,
    datatype: c_int,
    op: c_int,
    out: *mut usize,
) -> c_int {
    // SAFETY: by the contract.
    unsafe { tell_valid(Form::Base, datatype, op, out) }
}

unsafe extern "C" fn readwritevalid(
    _: *mut FidEp,
    datatype: c_int,
    op: c_int,
    out: *mut usize,
) -> c_int {
    // SAFETY: by the contract.
    unsafe { tell_valid(Form::Fetch, datatype, op, out) }
}

unsafe extern "C" fn compwritevalid(
    _: *mut FidEp,
    datatype: c_int,
    op: c_int,
    out: *mut usize,
) -> c_int {
    // SAFETY: by the contract.
    unsafe { tell_valid(Form::Compare, datatype, op, out) }
}

/// `fi_query_atomic(3)`.
pub(crate) unsafe extern "C" fn query(
    _: *mut FidDomain,
    datatype: c_int,
    op: c_int,
    attr: *mut AtomicAttr,
    flags: u64,
) -> c_int {
    let form = match flags {
        0 => Form::Base,
        FI_FETCH_ATOMIC => Form::Fetch,
        FI_COMPARE_ATOMIC => Form::Compare,
        _ => return UNSUPPORTED,
    };
    match valid(form, datatype, op) {
        Ok(size) => {
            let count = ATOMIC_BYTES_MAX / size;
            // SAFETY: by the contract it can be written to.
            unsafe { attr.write(AtomicAttr { count, size }) };
            0
        }
        Err(code) => code,
    }
}
