//! Finding `libpmix.so.2` and the functions in it.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;

use crate::abi::Api;
use crate::{LIBRARY_VARIABLE, PmixError};

const NAME: &str = "libpmix.so.2";

/// Loads the library. It stays for the rest of the process, as its threads do.
pub(crate) fn load() -> Result<Api, PmixError> {
    let name = std::env::var_os(LIBRARY_VARIABLE)
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| NAME.into());
    let shown = name.to_string_lossy().into_owned();
    let name = CString::new(name.into_vec()).map_err(|_| PmixError::NoLibrary {
        reason: format!("{shown:?} holds a zero byte"),
    })?;
    let open = loader().ok_or_else(|| PmixError::NoLibrary {
        reason: format!("{shown}: this program is linked statically and cannot load libraries"),
    })?;
    // SAFETY: the name is terminated. The library's constructors run, as they would if
    // this program were linked with it; its file is the administrator's, or the user's
    // own choice.
    let handle = unsafe { open(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) };
    if handle.is_null() {
        return Err(PmixError::NoLibrary {
            reason: last_error().unwrap_or(shown),
        });
    }
    Api::from_lookup(&shown, |function| symbol(handle, function))
}

type Open = unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void;

/// `dlopen`, where the program has a loader. A program that is linked statically has none: with the
/// `dlopen` of a static C library PMIx would bring a second C library along and crash. A reference
/// by name would also make the linker warn in each such program.
fn loader() -> Option<Open> {
    let found = symbol(libc::RTLD_DEFAULT, c"dlopen");
    if found.is_null() {
        return None;
    }
    // SAFETY: not null, so it is the function of this name, which has the type that dlopen(3) gives.
    Some(unsafe { core::mem::transmute::<*mut c_void, Open>(found) })
}

fn symbol(handle: *mut c_void, function: &CStr) -> *mut c_void {
    // SAFETY: the default scope or a handle that `dlopen` gave and nobody closes, and a terminated
    // name.
    unsafe { libc::dlsym(handle, function.as_ptr()) }
}

fn last_error() -> Option<String> {
    // SAFETY: takes nothing. It returns null or a string that lasts until the next call
    // of this thread.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return None;
    }
    // SAFETY: a terminated string, as above; copied before any other call.
    let text = unsafe { CStr::from_ptr(text) };
    Some(text.to_string_lossy().into_owned())
}
