//! A PMIx library for tests: functions in Rust behind the C interface, which give the answers
//! that the test sets.

use core::ffi::{c_char, c_int};
use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::abi::{Api, ByteObject, Data, Info, Proc, Value};

/// What the next `PMIx_Get` gives: a status, and a value or null.
type Given = (c_int, Option<(u16, Data)>);

thread_local! {
    static GIVEN: RefCell<BTreeMap<String, Given>> = const { RefCell::new(BTreeMap::new()) };
    pub(crate) static PUT: RefCell<Vec<(String, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
    pub(crate) static RANK: RefCell<(c_int, u32)> = const { RefCell::new((0, 1)) };
}

extern "C" fn init(proc: *mut Proc, _: *mut Info, _: usize) -> c_int {
    let (status, rank) = RANK.with(|given| *given.borrow());
    // SAFETY: the caller passes a whole `Proc`.
    unsafe { (*proc).rank = rank };
    status
}

extern "C" fn finalize(_: *const Info, _: usize) -> c_int {
    0
}

extern "C" fn abort(_: c_int, _: *const c_char, _: *mut Proc, _: usize) -> c_int {
    -47
}

extern "C" fn put(_: u8, key: *const c_char, value: *mut Value) -> c_int {
    // SAFETY: the caller passes a terminated key.
    let key = unsafe { core::ffi::CStr::from_ptr(key) };
    // SAFETY: the caller passes a value.
    let value = unsafe { &*value };
    assert_eq!(value.kind, 27);
    // SAFETY: of the kind that says so.
    let ByteObject { bytes, size } = unsafe { value.data.bytes };
    // SAFETY: the caller says that so many are there.
    let bytes = unsafe { core::slice::from_raw_parts(bytes.cast::<u8>(), size) };
    let key = key.to_str().unwrap().to_owned();
    PUT.with(|put| put.borrow_mut().push((key, bytes.to_vec())));
    0
}

extern "C" fn commit() -> c_int {
    0
}

extern "C" fn fence(_: *const Proc, _: usize, _: *const Info, infos: usize) -> c_int {
    assert_eq!(infos, 1);
    0
}

extern "C" fn get(
    _: *const Proc,
    key: *const c_char,
    _: *const Info,
    _: usize,
    found: *mut *mut Value,
) -> c_int {
    // SAFETY: the caller passes a terminated key.
    let key = unsafe { core::ffi::CStr::from_ptr(key) }.to_str().unwrap();
    let Some((status, value)) = GIVEN.with(|given| given.borrow_mut().remove(key)) else {
        return -46;
    };
    if let Some((kind, data)) = value {
        // SAFETY: takes a size.
        let at = unsafe { libc::calloc(1, size_of::<Value>()) }.cast::<Value>();
        // SAFETY: large enough and aligned, as malloc gives it.
        unsafe { at.write(Value { kind, data }) };
        // SAFETY: the caller passes room for one pointer.
        unsafe { *found = at };
    }
    status
}

extern "C" fn error_string(status: c_int) -> *const c_char {
    match status {
        -46 => c"PMIX_ERR_NOT_FOUND".as_ptr(),
        _ => core::ptr::null(),
    }
}

pub(crate) fn api() -> Api {
    Api {
        init,
        finalize,
        abort,
        put,
        commit,
        fence,
        get,
        error_string,
    }
}

pub(crate) fn give(key: &str, status: c_int, value: Option<(u16, Data)>) {
    GIVEN.with(|given| given.borrow_mut().insert(key.into(), (status, value)));
}

/// Memory as the library would hand it over.
pub(crate) fn malloced(bytes: &[u8]) -> *mut c_char {
    // SAFETY: takes a size.
    let at = unsafe { libc::malloc(bytes.len().max(1)) }.cast::<u8>();
    // SAFETY: room for so many, and fresh.
    unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    at.cast()
}

#[cfg(test)]
pub(crate) fn bytes(value: &[u8]) -> (u16, Data) {
    let bytes = ByteObject {
        bytes: malloced(value),
        size: value.len(),
    };
    (27, Data { bytes })
}
