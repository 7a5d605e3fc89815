//! Where in the program a routine was called, as far as symbols tell.

use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

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

fn look_up(address: usize) -> bool {
    let mut is_own = false;
    backtrace::resolve(address.wrapping_sub(1) as *mut c_void, |symbol| {
        let Some(name) = symbol.name() else {
            return;
        };
        let name = name.to_string();
        is_own = ["hostwire", "backtrace", "core::", "std::", "alloc::", "<"]
            .iter()
            .any(|part| name.starts_with(part))
            || name.starts_with("shmem_")
            || name.starts_with("pshmem_");
    });
    is_own
}

/// "file.c:12 (main)", or as much of it as there is.
pub(crate) fn describe(address: usize) -> String {
    let mut function = None;
    let mut line = None;
    backtrace::resolve(address as *mut c_void, |symbol| {
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
