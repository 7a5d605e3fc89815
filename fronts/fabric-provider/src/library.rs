//! The libfabric that has loaded this library, of whatever version.
//!
//! It is not linked: a symbol bound at link time would be that of the version that was there then, whose
//! structures may be shorter.

use core::ffi::{CStr, c_void};
use std::sync::OnceLock;

use hostwire_fabric_abi::RawInfo;

type DupInfo = unsafe extern "C" fn(*const RawInfo) -> *mut RawInfo;
type FreeInfo = unsafe extern "C" fn(*mut RawInfo);
type Version = unsafe extern "C" fn() -> u32;

/// Functions of it.
pub(crate) struct Library {
    dupinfo: DupInfo,
    freeinfo: FreeInfo,
    version: Version,
}

/// `None` if this process has none.
pub(crate) fn get() -> Option<&'static Library> {
    static FOUND: OnceLock<Option<Library>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref()
}

fn find() -> Option<Library> {
    let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD;
    // SAFETY: the name is terminated; with NOLOAD nothing is loaded and no constructor runs.
    let handle = unsafe { libc::dlopen(c"libfabric.so.1".as_ptr(), flags) };
    // It may have been linked into the program under no name of its own.
    let handle = match handle.is_null() {
        true => libc::RTLD_DEFAULT,
        false => handle,
    };
    // SAFETY: the functions of these names have these types since libfabric 1.0.
    Some(unsafe {
        Library {
            dupinfo: core::mem::transmute::<*mut c_void, DupInfo>(symbol(handle, c"fi_dupinfo")?),
            freeinfo: core::mem::transmute::<*mut c_void, FreeInfo>(symbol(
                handle,
                c"fi_freeinfo",
            )?),
            version: core::mem::transmute::<*mut c_void, Version>(symbol(handle, c"fi_version")?),
        }
    })
}

fn symbol(handle: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the handle is one of `dlopen` that is never closed, or RTLD_DEFAULT; the name is
    // terminated.
    let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

impl Library {
    pub(crate) fn version(&self) -> u32 {
        // SAFETY: it takes nothing and gives a number.
        unsafe { (self.version)() }
    }

    /// An empty `fi_info`, as long as this version has it; null if there is no memory.
    pub(crate) fn new_info(&self) -> *mut RawInfo {
        // SAFETY: null means an empty one.
        unsafe { (self.dupinfo)(core::ptr::null()) }
    }

    /// # Safety
    /// `info` is one of `new_info`, and not used any more.
    pub(crate) unsafe fn free_info(&self, info: *mut RawInfo) {
        // SAFETY: as this function demands.
        unsafe { (self.freeinfo)(info) }
    }
}
