//! Finding `libpmix.so.2` and the functions in it.

use core::ffi::c_void;
use core::ptr::{self, NonNull};
use std::ffi::CString;
use std::os::unix::ffi::OsStringExt;

use hostwire_transport::os::library::{Library, Scope};

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
    let library = Library::load(&name, Scope::Global);
    let library = library.map_err(|reason| PmixError::NoLibrary { reason })?;
    Api::from_lookup(&shown, |function| {
        let found = library.function(function);
        found.map_or(ptr::null_mut::<c_void>(), NonNull::as_ptr)
    })
}
