//! Finding `libfabric.so.1` and the functions in it.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr::NonNull;
use std::sync::OnceLock;

use hostwire_transport::os::{self, library::Scope};

use super::FabricError;
use super::abi::{FabricAttr, FidFabric, RawInfo};

const NAME: &CStr = c"libfabric.so.1";

type VersionFn = unsafe extern "C" fn() -> u32;
type GetInfoFn = unsafe extern "C" fn(
    u32,
    *const c_char,
    *const c_char,
    u64,
    *const RawInfo,
    *mut *mut RawInfo,
) -> c_int;
type FreeInfoFn = unsafe extern "C" fn(*mut RawInfo);
type DupInfoFn = unsafe extern "C" fn(*const RawInfo) -> *mut RawInfo;
type FabricFn = unsafe extern "C" fn(*mut FabricAttr, *mut *mut FidFabric, *mut c_void) -> c_int;
type StrErrorFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions that libfabric exports. It stays for the rest of the process, as its threads do.
#[derive(Debug)]
pub(crate) struct Library {
    version: VersionFn,
    pub(super) getinfo: GetInfoFn,
    pub(super) freeinfo: FreeInfoFn,
    pub(super) dupinfo: DupInfoFn,
    pub(super) fabric: FabricFn,
    strerror: StrErrorFn,
}

impl Library {
    /// The library, which is loaded by the first call.
    ///
    /// # Errors
    /// The message of the loader, or which function is missing.
    pub(crate) fn get() -> Result<&'static Self, &'static str> {
        static LOADED: OnceLock<Result<Library, String>> = OnceLock::new();
        let loaded = LOADED.get_or_init(Self::load);
        loaded.as_ref().map_err(String::as_str)
    }

    fn load() -> Result<Self, String> {
        let library = os::library::Library::load(NAME, Scope::Own)?;
        // Uses the newest version of each function, so that its structures have the full length.
        let find = |name: &CStr| {
            let found = library.function(name).map(NonNull::as_ptr);
            found.ok_or_else(|| format!("libfabric.so.1 has no {}", name.to_string_lossy()))
        };
        Ok(Self {
            // SAFETY: not null, and of the type that fabric.h gives fi_version since ABI 1.0.
            version: unsafe {
                core::mem::transmute::<*mut c_void, VersionFn>(find(c"fi_version")?)
            },
            // SAFETY: not null, and of the type that fabric.h gives fi_getinfo since ABI 1.0.
            getinfo: unsafe {
                core::mem::transmute::<*mut c_void, GetInfoFn>(find(c"fi_getinfo")?)
            },
            // SAFETY: not null, and of the type that fabric.h gives fi_freeinfo since ABI 1.0.
            freeinfo: unsafe {
                core::mem::transmute::<*mut c_void, FreeInfoFn>(find(c"fi_freeinfo")?)
            },
            // SAFETY: not null, and of the type that fabric.h gives fi_dupinfo since ABI 1.0.
            dupinfo: unsafe {
                core::mem::transmute::<*mut c_void, DupInfoFn>(find(c"fi_dupinfo")?)
            },
            // SAFETY: not null, and of the type that fabric.h gives fi_fabric since ABI 1.0.
            fabric: unsafe { core::mem::transmute::<*mut c_void, FabricFn>(find(c"fi_fabric")?) },
            // SAFETY: not null, and of the type that fi_errno.h gives fi_strerror since ABI 1.0.
            strerror: unsafe {
                core::mem::transmute::<*mut c_void, StrErrorFn>(find(c"fi_strerror")?)
            },
        })
    }

    /// Its version: major and minor number.
    pub(crate) fn version(&self) -> (u32, u32) {
        // SAFETY: takes nothing, and may be called at any time.
        let version = unsafe { (self.version)() };
        (version >> 16, version & 0xffff)
    }

    /// An error of `what`, from the negative number that it returned.
    pub(crate) fn error(&self, what: &str, status: isize) -> FabricError {
        let code = i32::try_from(status.unsigned_abs()).unwrap_or(i32::MAX);
        FabricError {
            code,
            text: format!("{what}: {}", self.text(code)).into(),
        }
    }

    /// Checks the status of a call: an error if it is negative.
    pub(super) fn check(&self, what: &str, status: isize) -> Result<(), FabricError> {
        match status {
            0.. => Ok(()),
            status => Err(self.error(what, status)),
        }
    }

    /// The library's text for a positive error number.
    pub(super) fn text(&self, code: c_int) -> String {
        // SAFETY: takes any number. It returns null or a string that is never freed, or that lasts
        // until the next call of this thread.
        let text = unsafe { (self.strerror)(code) };
        if text.is_null() {
            return format!("error {code}");
        }
        // SAFETY: a terminated string, as just said; copied before any other call.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }
}
