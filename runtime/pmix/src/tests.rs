//! The safe code with a library that gives any answers.

use core::ffi::c_void;
use std::cell::RefCell;

use super::*;
use crate::abi::{ByteObject, Data};
use crate::fake::{PUT, RANK, api, bytes, give, malloced};

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
