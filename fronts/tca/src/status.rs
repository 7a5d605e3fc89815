//! What functions return.

use core::ffi::c_char;
use std::cell::RefCell;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use hostwire::{Error, TcaError};

/// `tcaError`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum Status {
    Success = 0,
    Caller = 1,
    Peer = 2,
    Environment = 3,
    NotReady = 4,
}

/// Why a function fails.
pub struct Failure {
    status: Status,
    text: String,
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

impl Failure {
    /// The program's own fault.
    pub fn caller(text: impl Into<String>) -> Self {
        Self {
            status: Status::Caller,
            text: text.into(),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let status = match &error {
            Error::PeerLost { .. } | Error::PeerLeft { .. } | Error::PeerMisbehaved { .. } => {
                Status::Peer
            }
            Error::Launch { .. } | Error::Setting(_) | Error::Environment { .. } => {
                Status::Environment
            }
            Error::Tca(fault) => match **fault {
                TcaError::Device { .. } => Status::Environment,
                TcaError::FarDevice { .. } | TcaError::StreamFailed { .. } => Status::Peer,
                _ => Status::Caller,
            },
            _ => Status::Caller,
        };
        let text = error.to_string();
        Self { status, text }
    }
}

/// Runs the body of a function. A panic, which is a bug, does not cross into C.
pub fn run(body: impl FnOnce() -> Result<Status, Failure>) -> Status {
    let result = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
        Err(Failure::caller(
            "a bug of hostwire: a panic, whose text is on standard error",
        ))
    });
    result.unwrap_or_else(|Failure { status, text }| {
        let text = CString::new(text.replace('\0', "?")).unwrap_or_default();
        LAST.replace(text);
        status
    })
}

/// As [`run`], for a body that returns nothing.
pub fn done(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    run(|| body().map(|()| Status::Success))
}

/// The text of the last failure of the calling thread: valid until its next one.
#[unsafe(no_mangle)]
pub extern "C" fn tcaGetErrorString() -> *const c_char {
    LAST.with(|last| {
        last.try_borrow()
            .map_or(core::ptr::null(), |text| text.as_ptr())
    })
}
