//! Where in the program a routine was called, as far as symbols tell.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

/// The header whose functions are inline in the program's.
const INLINE: &str = "shmemx_inline.h";

/// Whether the code at an address is the library's own, by address.
static OWN: Mutex<Option<HashMap<usize, bool>>> = Mutex::new(None);

/// The address of the call that the program made.
pub(crate) fn caller() -> usize {
    let mut found = 0;
    backtrace::trace(|frame| {
        let address = frame.ip() as usize;
        if is_own(address) {
            return true;
        }
        // A return address: the call is in front of it.
        found = address.wrapping_sub(1);
        false
    });
    found
}

fn is_own(address: usize) -> bool {
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    *own.get_or_insert_default()
        .entry(address)
        .or_insert_with(|| look_up(address))
}

/// What is in the shared library is its own. In a program that has the library linked in,
/// symbols have to tell: the library's code is Rust, or has the name of a routine.
fn look_up(address: usize) -> bool {
    let call = address.wrapping_sub(1);
    let Some(object) = object_of(call) else {
        return false;
    };
    if Some(object) != object_of(look_up as *const () as usize) {
        return false;
    }
    // SAFETY: reads a number that the kernel has given the process.
    let entry = unsafe { libc::getauxval(libc::AT_ENTRY) };
    if Some(object) != object_of(entry as usize) {
        return true;
    }
    let mut is_own = false;
    backtrace::resolve(call as *mut c_void, |symbol| {
        let is_rust = symbol
            .filename()
            .is_some_and(|file| file.extension().is_some_and(|extension| extension == "rs"));
        let name = symbol
            .name()
            .map(|name| name.to_string())
            .unwrap_or_default();
        // The last one is the function itself, those before are inline in it: of the program's
        // functions, ours may be.
        is_own = is_rust || name.starts_with("shmem_") || name.starts_with("pshmem_");
    });
    is_own
}

/// Where the executable or library that has this address begins.
fn object_of(address: usize) -> Option<usize> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: looks the address up, whatever it is, and fills in the structure.
    let known = unsafe { libc::dladdr(address as *const c_void, found.as_mut_ptr()) } != 0;
    // SAFETY: zeroed, which is valid for its pointers, or filled in.
    let found = unsafe { found.assume_init() };
    known.then_some(found.dli_fbase as usize)
}

/// "file.c:12 (main)", or as much of it as there is.
pub(crate) fn describe(address: usize) -> String {
    let mut function = None;
    let mut line = None;
    backtrace::resolve(address as *mut c_void, |symbol| {
        if symbol.filename().is_some_and(|file| file.ends_with(INLINE)) {
            return;
        }
        if function.is_none() {
            function = symbol.name().map(|name| name.to_string());
        }
        if let (None, Some(file), Some(number)) = (&line, symbol.filename(), symbol.lineno()) {
            line = Some(format!("{}:{number}", file.display()));
        }
    });
    match (line, function) {
        (Some(line), Some(function)) => format!("{line} ({function})"),
        (Some(line), None) => line,
        (None, Some(function)) => format!("{function} (address {address:#x})"),
        (None, None) => format!("address {address:#x}"),
    }
}

/// As a part of a sentence.
pub(crate) fn here() -> String {
    format!("called at {}", describe(caller()))
}
