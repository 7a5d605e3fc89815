//! A Verilator model behind its C interface (`native/model.cpp`): the only place with unsafe code.

use core::ffi::{CStr, c_char, c_void};
use core::ptr::NonNull;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use hostwire_transport::os::library::{Library, Scope};

/// What `rtl_version` of the library has to return.
const VERSION: u32 = 1;

/// Models of a process that write what they have run: each file has some megabytes.
const COVERED: u32 = 48;

/// Why there is no model.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum Error {
    /// Nobody has built it: environment.
    #[error("{} is not there: scripts/rtl.sh build makes it", path.display())]
    NotBuilt {
        /// Where it would be.
        path: PathBuf,
    },
    /// The loader refuses it, or it is not of this version: environment.
    #[error("{}: {reason}", path.display())]
    Library {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The design has no such port, or one of another direction or width: caller.
    #[error(
        "the model has no {expected} '{name}'; one of another version of the sources? scripts/rtl.sh build makes it anew"
    )]
    Port {
        /// Name asked for.
        name: String,
        /// What it was to be.
        expected: &'static str,
    },
}

#[repr(C)]
#[derive(Clone, Copy)]
struct RawPort {
    name: *const c_char,
    value: *mut c_void,
    bits: u32,
    bytes: u32,
    is_input: u32,
}

type Version = unsafe extern "C" fn() -> u32;
type New = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type Ports = unsafe extern "C" fn(*mut c_void, *mut RawPort, u32) -> u32;
type Eval = unsafe extern "C" fn(*mut c_void, u64);
type Free = unsafe extern "C" fn(*mut c_void, *const c_char);

/// Files that a model may write.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Values of all signals over time (VCD).
    pub waves: Option<CString>,
    /// Which lines were run, and which signals have changed.
    pub coverage: Option<CString>,
}

/// A running model. Ports are found by name, once; then they are read and written by [`In`] and [`Out`].
pub struct Model {
    handle: NonNull<c_void>,
    eval: Eval,
    free: Free,
    ports: Vec<Port>,
    files: Files,
}

/// Where a model keeps the value of a port.
struct Port {
    name: String,
    value: NonNull<u8>,
    bits: u32,
    bytes: usize,
    is_input: bool,
}

/// An input of the model that made it.
#[derive(Clone, Copy, Debug)]
pub struct In(usize);

/// An output of the model that made it.
#[derive(Clone, Copy, Debug)]
pub struct Out(usize);

/// The folder in which `scripts/rtl.sh` puts libraries.
pub fn folder() -> PathBuf {
    match std::env::var_os("HOSTWIRE_RTL") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/rtl"),
    }
}

/// The library of a design of `lab/rtl/designs`.
///
/// # Errors
/// [`Error::NotBuilt`].
pub fn find(design: &str) -> Result<PathBuf, Error> {
    let path = folder().join(format!("libhostwire_rtl_{design}.so"));
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::NotBuilt { path }),
    }
}

/// The library of a design that counts what is run, and the file for it, if `HOSTWIRE_RTL_COVERAGE` names a folder.
fn covered(design: &str) -> Option<(PathBuf, CString)> {
    static MODELS: AtomicU32 = AtomicU32::new(0);
    let to = std::env::var_os("HOSTWIRE_RTL_COVERAGE")?;
    let library = folder().join(format!("libhostwire_rtl_{design}-coverage.so"));
    let number = MODELS.fetch_add(1, Ordering::Relaxed);
    if number >= COVERED || !library.is_file() {
        return None;
    }
    let file = format!("{design}-{}-{number}.dat", std::process::id());
    let file = CString::new(
        Path::new(&to)
            .join(file)
            .into_os_string()
            .into_encoded_bytes(),
    );
    Some((library, file.ok()?))
}

impl Model {
    /// Makes a model of a design of `lab/rtl/designs`.
    ///
    /// # Errors
    /// [`Error::NotBuilt`], or [`Error::Library`] for a library that does not fit.
    pub fn new(design: &str, mut files: Files) -> Result<Self, Error> {
        let path = match covered(design) {
            Some((library, file)) => {
                files.coverage = Some(file);
                library
            }
            None => find(design)?,
        };
        let refused = |reason: String| Error::Library {
            path: path.clone(),
            reason,
        };
        let name = CString::new(path.as_os_str().as_encoded_bytes())
            .map_err(|error| refused(error.to_string()))?;
        let library = Library::load(&name, Scope::Own).map_err(refused)?;
        let function = |name: &CStr| {
            let missing = || refused(format!("has no {}", name.to_string_lossy()));
            library.function(name).ok_or_else(missing)
        };
        let version = function(c"rtl_version")?;
        // SAFETY: the library is one that scripts/rtl.sh has built; its function of this name has this type in all versions.
        let version: Version = unsafe { core::mem::transmute(version) };
        // SAFETY: it takes nothing and only returns a number.
        let got = unsafe { version() };
        if got != VERSION {
            return Err(refused(format!("expected version {VERSION}, got {got}")));
        }
        let (new, ports) = (function(c"rtl_new")?, function(c"rtl_ports")?);
        let (eval, free) = (function(c"rtl_eval")?, function(c"rtl_free")?);
        // SAFETY: in a library of this version it has this type (native/model.cpp).
        let new: New = unsafe { core::mem::transmute(new) };
        // SAFETY: as above.
        let ports: Ports = unsafe { core::mem::transmute(ports) };
        // SAFETY: as above.
        let eval: Eval = unsafe { core::mem::transmute(eval) };
        // SAFETY: as above.
        let free: Free = unsafe { core::mem::transmute(free) };
        let waves = files
            .waves
            .as_ref()
            .map_or(core::ptr::null(), |w| w.as_ptr());
        // SAFETY: null or a terminated string that outlives the call.
        let handle = unsafe { new(waves) };
        let handle = NonNull::new(handle).ok_or_else(|| refused("no memory".to_owned()))?;
        Ok(Self {
            handle,
            eval,
            free,
            ports: list(handle, ports),
            files,
        })
    }

    /// The input of this name.
    ///
    /// # Errors
    /// [`Error::Port`].
    pub fn input(&self, name: &str) -> Result<In, Error> {
        self.find(name, true, "input").map(In)
    }

    /// The output of this name.
    ///
    /// # Errors
    /// [`Error::Port`].
    pub fn output(&self, name: &str) -> Result<Out, Error> {
        self.find(name, false, "output").map(Out)
    }

    fn find(&self, name: &str, is_input: bool, expected: &'static str) -> Result<usize, Error> {
        let fits = |port: &Port| port.name == name && port.is_input == is_input;
        let missing = || Error::Port {
            name: name.to_owned(),
            expected,
        };
        self.ports.iter().position(fits).ok_or_else(missing)
    }

    /// Sets an input of at most 64 bits. Bits that it does not have are dropped.
    pub fn set(&mut self, input: In, value: u64) {
        self.set_bits(input, 0, 64, value);
    }

    /// Sets at most 64 bits of an input, from bit `at`, a multiple of 8 unless the port has at most 64 bits.
    pub fn set_bits(&mut self, input: In, at: usize, len: usize, value: u64) {
        let Some(port) = self.ports.get(input.0) else {
            return;
        };
        let bits = port.bits as usize;
        if bits <= 64 {
            let mask = mask(len.min(bits.saturating_sub(at))) << at.min(63);
            let old = port.load(0);
            port.store(0, (old & !mask) | (value << at.min(63)) & mask);
            return;
        }
        for byte in 0..len / 8 {
            port.store_byte(at / 8 + byte, (value >> (8 * byte)) as u8);
        }
    }

    /// The lowest 64 bits of an output.
    pub fn get(&self, output: Out) -> u64 {
        self.get_bits(output, 0)
    }

    /// 64 bits of an output from bit `at`, a multiple of 8; bits behind its end are 0.
    pub fn get_bits(&self, output: Out, at: usize) -> u64 {
        self.ports.get(output.0).map_or(0, |port| port.load(at / 8))
    }

    /// Sets at most 32 bits of an input, from any bit on.
    pub fn set_field(&mut self, input: In, at: usize, len: usize, value: u64) {
        let Some(port) = self.ports.get(input.0) else {
            return;
        };
        let (byte, shift) = (at / 8, at % 8);
        let mask = mask(len) << shift;
        let old = port.load(byte);
        port.store(byte, (old & !mask) | (value << shift) & mask);
    }

    /// At most 32 bits of an output, from any bit on.
    pub fn get_field(&self, output: Out, at: usize, len: usize) -> u64 {
        (self.get_bits(output, at) >> (at % 8)) & mask(len)
    }

    /// Lets the inputs take effect. `time` is for waves only; it grows.
    pub fn eval(&mut self, time: u64) {
        // SAFETY: a handle that `rtl_new` gave and only `drop` frees; nobody else uses it, because of `&mut`.
        unsafe { (self.eval)(self.handle.as_ptr(), time) }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let coverage = self.files.coverage.as_ref();
        let coverage = coverage.map_or(core::ptr::null(), |name| name.as_ptr());
        // SAFETY: the handle is used nowhere after this. The name is null or a terminated string.
        unsafe { (self.free)(self.handle.as_ptr(), coverage) }
    }
}

impl Port {
    fn store_byte(&self, at: usize, value: u8) {
        if at < self.bytes {
            // SAFETY: `at` is inside the value.
            let place = unsafe { self.value.add(at) };
            // SAFETY: the model keeps this byte as long as it lives, and runs only inside `eval`.
            unsafe { place.write_volatile(value) };
        }
    }

    fn store(&self, from: usize, value: u64) {
        for (at, byte) in value.to_le_bytes().into_iter().enumerate() {
            self.store_byte(from + at, byte);
        }
    }

    fn load(&self, from: usize) -> u64 {
        let mut bytes = [0; 8];
        let end = self.bytes.saturating_sub(from).min(8);
        for (at, byte) in bytes.iter_mut().enumerate().take(end) {
            // SAFETY: `from + at` is inside the value.
            let place = unsafe { self.value.add(from + at) };
            // SAFETY: as in `store_byte`.
            *byte = unsafe { place.read_volatile() };
        }
        u64::from_le_bytes(bytes)
    }
}

const fn mask(bits: usize) -> u64 {
    if bits >= 64 {
        u64::MAX
    } else {
        (1 << bits) - 1
    }
}

fn list(handle: NonNull<c_void>, ports: Ports) -> Vec<Port> {
    let none = RawPort {
        name: core::ptr::null(),
        value: core::ptr::null_mut(),
        bits: 0,
        bytes: 0,
        is_input: 0,
    };
    let mut raw = [none; 256];
    // SAFETY: a live handle, and room for as many ports as it says.
    let count = unsafe { ports(handle.as_ptr(), raw.as_mut_ptr(), raw.len() as u32) };
    let named = raw.iter().take(count as usize).filter_map(|port| {
        let value = NonNull::new(port.value.cast::<u8>())?;
        if port.name.is_null() {
            return None;
        }
        // SAFETY: a terminated string that the library has among its constants.
        let name = unsafe { CStr::from_ptr(port.name) };
        Some(Port {
            name: name.to_string_lossy().into_owned(),
            value,
            bits: port.bits,
            bytes: port.bytes as usize,
            is_input: port.is_input != 0,
        })
    });
    named.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_nobody_built_is_named() {
        let error = Model::new("there-is-none", Files::default()).err().unwrap();
        assert!(
            error
                .to_string()
                .contains("libhostwire_rtl_there-is-none.so")
        );
        assert!(matches!(error, Error::NotBuilt { .. }));
    }

    #[test]
    fn masks() {
        assert_eq!((mask(0), mask(1), mask(64)), (0, 1, u64::MAX));
    }
}
