//! hostwire as a provider of libfabric: `libhostwire-fi.so`.
//!
//! libfabric loads it from a folder of `FI_PROVIDER_PATH` and calls [`fi_prov_ini`]. It is thin over
//! [`Station`](hostwire::station::Station): an endpoint is a station, its address is the name of the
//! station.
//!
//! | file | |
//! |---|---|
//! | `info` | what is offered, and whether that is what is asked for |
//! | `library` | the libfabric that has loaded it |
//! | `object` | what all objects have |
//! | `fabric`, `domain`, `eq` | objects that do little |
//! | `av` | addresses |
//! | `cq`, `cntr`, `completions` | completions, and how many |
//! | `wait`, `waitset`, `poll`, `watch` | waiting for them |
//! | `endpoints`, `progress`, `thread` | the endpoints that make progress at a look, and those that make it by
//! themselves |
//! | `backoff` | when a thread that looks for progress gives its core away |
//! | `ep`, `ways`, `post`, `calls` | endpoints: the object, which way a message goes, what sends and receives, the functions of libfabric |
//! | `access`, `rma`, `atomic` | memory of others: what uses it, the functions of libfabric |
//! | `mr`, `domain_endpoints` | memory that others may use, and who makes progress for its counters |
//! | `buffer` | memory of the program that is under way |
//!
//! # Safety
//! Every function here that libfabric or its user calls rests on what `fi_*(3)` demand of callers, and
//! says so as *the contract*: an object is one that this library has made and has not closed, memory
//! is there for as long as the operation, and what is to be written to can be. Numbers, flags, lengths
//! and addresses of peers are checked. A panic would end the process: it does not leave an
//! `extern "C"` function.

#![cfg(target_os = "linux")]
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    reason = "what a call of C does with its arguments rests on one contract"
)]

mod access;
mod atomic;
mod av;
mod backoff;
mod buffer;
mod calls;
mod cntr;
mod completions;
mod cq;
mod domain;
mod domain_endpoints;
mod endpoints;
mod ep;
mod eq;
mod fabric;
mod info;
mod library;
mod mr;
mod object;
mod poll;
mod post;
mod rma;
mod thread;
mod wait;
mod waitset;
mod watch;
mod ways;

use core::ffi::CStr;

use hostwire::station::Refusal;
use hostwire::{Error, Loss};
use hostwire_fabric_abi::Provider;

/// What users ask for.
const NAME: &CStr = c"hostwire";

/// What libfabric calls after it has loaded the library.
///
/// # Safety
/// Only a process with libfabric in it calls this. What it gives stays for ever.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fi_prov_ini() -> *mut Provider {
    let Some(library) = library::get() else {
        return core::ptr::null_mut();
    };
    // libfabric writes to it: it is never freed.
    Box::into_raw(Box::new(Provider {
        version: info::PROVIDER_VERSION,
        // Users may ask for all that their library knows; `info` says what is offered.
        fi_version: library.version(),
        context: [core::ptr::null_mut(); 4],
        name: NAME.as_ptr(),
        getinfo: info::getinfo,
        fabric: fabric::open,
        cleanup,
    }))
}

unsafe extern "C" fn cleanup() {}

/// The number that libfabric has for an error, negative.
fn code(error: &Error) -> i32 {
    -match error {
        Error::PeerLost { .. } | Error::PeerLeft { .. } => libc::ECONNRESET,
        Error::Cancelled => libc::ECANCELED,
        Error::NoSuchPe { .. } => libc::EINVAL,
        Error::MemoryRefused {
            why: Refusal::NoKey,
            ..
        } => libc::EKEYREJECTED,
        Error::MemoryRefused {
            why: Refusal::NotCopied,
            ..
        } => libc::EFAULT,
        Error::MemoryRefused { .. } => libc::EACCES,
        Error::Length { .. } | Error::Setting(_) => libc::EINVAL,
        Error::Environment { .. } => libc::EHOSTUNREACH,
        Error::PeerMisbehaved { .. } => libc::EPROTO,
        _ => libc::EIO,
    }
}

/// As [`code`], of an operation on memory of a peer. On `ECONNRESET`, `EHOSTUNREACH` and the like, Open MPI 5.0.11 ends
/// a window's operation as if it had been done. On another number it ends the job.
fn memory_code(error: &Error) -> i32 {
    match error {
        Error::PeerLost {
            loss:
                Loss::Silent { .. }
                | Loss::HostSilent { .. }
                | Loss::Stopped { .. }
                | Loss::Unacknowledged { .. }
                | Loss::Unreachable { .. },
            ..
        } => -libc::ETIMEDOUT,
        Error::PeerLost { .. } | Error::PeerLeft { .. } => -libc::ESHUTDOWN,
        Error::Environment { .. } => -libc::ENETUNREACH,
        other => code(other),
    }
}
