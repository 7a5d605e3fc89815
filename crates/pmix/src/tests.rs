//! The safe side against a library that answers as it likes: functions in Rust behind the
//! C interface.

use core::ffi::{c_char, c_int, c_void};
use std::cell::RefCell;
use std::collections::BTreeMap;

use super::*;
use crate::abi::{ByteObject, Data, Info, Proc, Value};

/// What the next `PMIx_Get` gives: a status, and a value or null.
type Given = (c_int, Option<(u16, Data)>);

thread_local! {
    static GIVEN: RefCell<BTreeMap<String, Given>> = const { RefCell::new(BTreeMap::new()) };
    static PUT: RefCell<Vec<(String, Vec<u8>)>> = const { RefCell::new(Vec::new()) };
    static RANK: RefCell<(c_int, u32)> = const { RefCell::new((0, 1)) };
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

fn api() -> Api {
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

fn give(key: &str, status: c_int, value: Option<(u16, Data)>) {
    GIVEN.with(|given| given.borrow_mut().insert(key.into(), (status, value)));
}

/// Memory as the library would hand it over.
fn malloced(bytes: &[u8]) -> *mut c_char {
    // SAFETY: takes a size.
    let at = unsafe { libc::malloc(bytes.len().max(1)) }.cast::<u8>();
    // SAFETY: room for so many, and fresh.
    unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    at.cast()
}

fn bytes(value: &[u8]) -> (u16, Data) {
    let bytes = ByteObject {
        bytes: malloced(value),
        size: value.len(),
    };
    (27, Data { bytes })
}

/// Rank 1 of 4.
fn pmix() -> Pmix {
    give("pmix.job.size", 0, Some((14, Data { uint32: 4 })));
    Pmix::init_with(api()).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_whole_conversation() {
    let mut pmix = pmix();
    assert_eq!((pmix.rank(), pmix.size()), (1, 4));
    pmix.put("k", b"a\0b").unwrap();
    pmix.put("empty", b"").unwrap();
    let put = PUT.with(RefCell::take);
    assert_eq!(
        put,
        [
            ("k".into(), b"=a\0b".to_vec()),
            ("empty".into(), b"=".to_vec())
        ]
    );
    pmix.fence().unwrap();
    give("k", 0, Some(bytes(b"=x\0y")));
    assert_eq!(pmix.get(3, "k").unwrap(), b"x\0y");
    give("k", 0, Some(bytes(b"=")));
    assert_eq!(pmix.get(3, "k").unwrap(), b"");
    let string = malloced(b"=text\0");
    give("k", 0, Some((3, Data { string })));
    assert_eq!(pmix.get(3, "k").unwrap(), b"text");
    pmix.finalize().unwrap();
}

#[test]
fn what_fails_is_named() {
    let mut pmix = pmix();
    assert_eq!(
        pmix.get(2, "none").unwrap_err().to_string(),
        "PMIx_Get: PMIX_ERR_NOT_FOUND for the key \"none\" of rank 2 (status -46)"
    );
    assert_eq!(
        pmix.abort(3, "out of\0paper").unwrap_err().to_string(),
        "PMIx_Abort: an error without a name (status -47)"
    );
    for key in ["", "a\0b", &"k".repeat(512)] {
        let bad = Err(PmixError::BadKey {
            got_bytes: key.len(),
        });
        assert_eq!(pmix.put(key, b""), bad);
        assert_eq!(pmix.get(0, key), bad.map(|()| Vec::new()));
    }
}

#[test]
fn values_that_contradict_themselves_are_errors() {
    let mut pmix = pmix();
    let null = core::ptr::null_mut();
    let no_bytes = ByteObject {
        bytes: null,
        size: 5,
    };
    let far_too_long = ByteObject {
        bytes: malloced(b"abc"),
        size: usize::MAX,
    };
    for value in [
        None,
        Some(bytes(b"")),
        Some(bytes(b"not ours")),
        Some((27, Data { bytes: no_bytes })),
        Some((
            27,
            Data {
                bytes: far_too_long,
            },
        )),
        Some((3, Data { string: null })),
        Some((6, Data { int: -1 })),
        Some((14, Data { uint32: 7 })),
        Some((0, Data { words: [0; 3] })),
        Some((u16::MAX, Data { words: [1; 3] })),
    ] {
        give("k", 0, value);
        let error = pmix.get(0, "k").unwrap_err();
        assert!(matches!(error, PmixError::Unexpected { .. }), "{error}");
    }
}

#[test]
fn a_job_that_cannot_be_is_refused() {
    let sizes = [
        (14, Data { uint32: 1 }),
        (14, Data { uint32: 0 }),
        (15, Data { uint64: 1 << 32 }),
        (6, Data { int: -4 }),
        bytes(b"4"),
    ];
    for size in sizes {
        give("pmix.job.size", 0, Some(size));
        assert!(Pmix::init_with(api()).is_err());
    }
    RANK.with(|given| *given.borrow_mut() = (0, u32::MAX));
    assert!(Pmix::init_with(api()).is_err());
    RANK.with(|given| *given.borrow_mut() = (-25, 0));
    let error = Pmix::init_with(api()).err().unwrap().to_string();
    assert_eq!(error, "PMIx_Init: an error without a name (status -25)");
}

#[test]
fn a_library_that_is_none_is_named() {
    let nothing = |_: &core::ffi::CStr| core::ptr::null_mut::<c_void>();
    assert_eq!(
        Api::from_lookup("/lib/libm.so.6", nothing).err(),
        Some(PmixError::NoFunction {
            library: "/lib/libm.so.6".into(),
            function: "PMIx_Init"
        })
    );
}
