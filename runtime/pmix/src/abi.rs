//! The C interface: structures as the library lays them out, and one safe function for
//! each C function.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use std::ffi::CString;

use crate::PmixError;

/// The longest name of a job, without the terminating zero.
const NAMESPACE_BYTES_MAX: usize = 255;
/// The longest key, without the terminating zero.
pub(crate) const KEY_BYTES_MAX: usize = 511;
/// The longest value that is accepted: far longer than any value here.
const VALUE_BYTES_MAX: usize = 1 << 30;

pub(crate) const RANK_WILDCARD: u32 = u32::MAX - 1;
const SCOPE_GLOBAL: u8 = 3;
const SUCCESS: c_int = 0;

/// `pmix_data_type_t`.
mod kind {
    pub(super) const BOOL: u16 = 1;
    pub(super) const STRING: u16 = 3;
    pub(super) const SIZE: u16 = 4;
    pub(super) const INT: u16 = 6;
    pub(super) const INT32: u16 = 9;
    pub(super) const INT64: u16 = 10;
    pub(super) const UINT: u16 = 11;
    pub(super) const UINT16: u16 = 13;
    pub(super) const UINT32: u16 = 14;
    pub(super) const UINT64: u16 = 15;
    pub(super) const BYTE_OBJECT: u16 = 27;
}

/// `pmix_proc_t`: a process by the name of its job and its rank.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct Proc {
    namespace: [u8; NAMESPACE_BYTES_MAX + 1],
    pub(crate) rank: u32,
}

impl Proc {
    pub(crate) fn with_rank(&self, rank: u32) -> Self {
        Self {
            namespace: self.namespace,
            rank,
        }
    }
}

/// `pmix_byte_object_t`.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct ByteObject {
    pub(crate) bytes: *mut c_char,
    pub(crate) size: usize,
}

/// The union in `pmix_value_t`: the members used here, and the size of the largest.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) union Data {
    /// `pmix_envar_t` makes the union this large.
    pub(crate) words: [u64; 3],
    pub(crate) flag: u8,
    pub(crate) int: c_int,
    pub(crate) int64: i64,
    pub(crate) uint16: u16,
    pub(crate) uint32: u32,
    pub(crate) uint64: u64,
    pub(crate) string: *mut c_char,
    pub(crate) bytes: ByteObject,
}

/// `pmix_value_t`.
#[repr(C)]
pub(crate) struct Value {
    pub(crate) kind: u16,
    pub(crate) data: Data,
}

impl Value {
    fn new(kind: u16, set: impl FnOnce(&mut Data)) -> Self {
        let mut data = Data { words: [0; 3] };
        set(&mut data);
        Self { kind, data }
    }
}

/// `pmix_info_t`.
#[repr(C)]
pub(crate) struct Info {
    key: [u8; KEY_BYTES_MAX + 1],
    flags: u32,
    value: Value,
}

impl Info {
    fn new(name: &str, value: Value) -> Self {
        let mut key = [0; KEY_BYTES_MAX + 1];
        for (to, from) in key.iter_mut().take(KEY_BYTES_MAX).zip(name.bytes()) {
            *to = from;
        }
        Self {
            key,
            flags: 0,
            value,
        }
    }

    fn yes(name: &str) -> Self {
        Self::new(name, Value::new(kind::BOOL, |data| data.flag = 1))
    }
}

// The layout of OpenPMIx 4.2.2 on a 64-bit machine.
const _: () = {
    assert!(size_of::<Proc>() == 260 && core::mem::offset_of!(Proc, rank) == 256);
    assert!(size_of::<Value>() == 32 && core::mem::offset_of!(Value, data) == 8);
    assert!(size_of::<Info>() == 552 && core::mem::offset_of!(Info, flags) == 512);
    assert!(core::mem::offset_of!(Info, value) == 520);
};

type InitFn = unsafe extern "C" fn(*mut Proc, *mut Info, usize) -> c_int;
type FinalizeFn = unsafe extern "C" fn(*const Info, usize) -> c_int;
type AbortFn = unsafe extern "C" fn(c_int, *const c_char, *mut Proc, usize) -> c_int;
type PutFn = unsafe extern "C" fn(u8, *const c_char, *mut Value) -> c_int;
type CommitFn = unsafe extern "C" fn() -> c_int;
type FenceFn = unsafe extern "C" fn(*const Proc, usize, *const Info, usize) -> c_int;
type GetFn =
    unsafe extern "C" fn(*const Proc, *const c_char, *const Info, usize, *mut *mut Value) -> c_int;
type ErrorStringFn = unsafe extern "C" fn(c_int) -> *const c_char;

/// The functions of the library.
pub(crate) struct Api {
    pub(crate) init: InitFn,
    pub(crate) finalize: FinalizeFn,
    pub(crate) abort: AbortFn,
    pub(crate) put: PutFn,
    pub(crate) commit: CommitFn,
    pub(crate) fence: FenceFn,
    pub(crate) get: GetFn,
    pub(crate) error_string: ErrorStringFn,
}

/// The result of [`Api::get`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Number(u64),
    Bytes(Vec<u8>),
    /// A kind of value that this crate never asks for.
    Other(u16),
}

/// For errors: of a byte string only the beginning.
impl core::fmt::Display for Answer {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        const SHOWN: usize = 16;
        match self {
            Self::Number(number) => write!(f, "the number {number}"),
            Self::Bytes(bytes) => {
                let begin = bytes.get(..SHOWN).unwrap_or(bytes).escape_ascii();
                write!(f, "{} bytes that begin with \"{begin}\"", bytes.len())
            }
            Self::Other(kind) => write!(f, "a value of kind {kind}"),
        }
    }
}

impl Api {
    /// Takes the functions that `lookup` finds in `library`.
    pub(crate) fn from_lookup(
        library: &str,
        lookup: impl Fn(&CStr) -> *mut c_void,
    ) -> Result<Self, PmixError> {
        macro_rules! function {
            ($kind:ty, $name:literal) => {{
                let found = lookup($name);
                if found.is_null() {
                    return Err(PmixError::NoFunction {
                        library: library.to_owned(),
                        function: $name.to_str().unwrap_or_default(),
                    });
                }
                // SAFETY: not null, and the symbol of this name in a PMIx library is a
                // function of this type in all versions of the standard.
                unsafe { core::mem::transmute::<*mut c_void, $kind>(found) }
            }};
        }
        Ok(Self {
            init: function!(InitFn, c"PMIx_Init"),
            finalize: function!(FinalizeFn, c"PMIx_Finalize"),
            abort: function!(AbortFn, c"PMIx_Abort"),
            put: function!(PutFn, c"PMIx_Put"),
            commit: function!(CommitFn, c"PMIx_Commit"),
            fence: function!(FenceFn, c"PMIx_Fence"),
            get: function!(GetFn, c"PMIx_Get"),
            error_string: function!(ErrorStringFn, c"PMIx_Error_string"),
        })
    }

    /// Connects to the launcher; returns the name and rank of this process.
    pub(crate) fn init(&self) -> Result<Proc, PmixError> {
        let mut proc = Proc {
            namespace: [0; NAMESPACE_BYTES_MAX + 1],
            rank: u32::MAX,
        };
        // SAFETY: the function fills one `Proc`; no infos are passed, which null and 0 say.
        let status = unsafe { (self.init)(&raw mut proc, ptr::null_mut(), 0) };
        self.check("PMIx_Init", status)?;
        if proc.rank >= RANK_WILDCARD {
            return Err(PmixError::Unexpected {
                function: "PMIx_Init",
                seen: format!("the rank {:#x}", proc.rank),
                expected: "the rank of one process",
            });
        }
        Ok(proc)
    }

    pub(crate) fn finalize(&self) -> Result<(), PmixError> {
        // SAFETY: no infos are passed, which null and 0 say.
        let status = unsafe { (self.finalize)(ptr::null(), 0) };
        self.check("PMIx_Finalize", status)
    }

    pub(crate) fn abort(&self, code: i32, message: &str) -> Result<(), PmixError> {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: a terminated string that outlives the call; no processes are passed,
        // which null and 0 say, and which means all of the job.
        let status = unsafe { (self.abort)(code, message.as_ptr(), ptr::null_mut(), 0) };
        self.check("PMIx_Abort", status)
    }

    pub(crate) fn put(&self, key: &str, value: &[u8]) -> Result<(), PmixError> {
        let key = c_key(key)?;
        let mut value = Value::new(kind::BYTE_OBJECT, |data| {
            data.bytes = ByteObject {
                bytes: value.as_ptr().cast_mut().cast(),
                size: value.len(),
            }
        });
        // SAFETY: a terminated key and a value of the kind that it says, both of which
        // outlive the call; the function copies the bytes and does not write to them.
        let status = unsafe { (self.put)(SCOPE_GLOBAL, key.as_ptr(), &raw mut value) };
        self.check("PMIx_Put", status)?;
        // SAFETY: takes nothing.
        let status = unsafe { (self.commit)() };
        self.check("PMIx_Commit", status)
    }

    pub(crate) fn fence(&self) -> Result<(), PmixError> {
        let infos = [Info::yes("pmix.collect")];
        // SAFETY: no processes are passed, which null and 0 say, and which means all of the
        // job; the infos are initialised, as many as it says, and outlive the call.
        let status = unsafe { (self.fence)(ptr::null(), 0, infos.as_ptr(), infos.len()) };
        self.check("PMIx_Fence", status)
    }

    pub(crate) fn get(&self, proc: &Proc, key: &str) -> Result<Answer, PmixError> {
        let function = "PMIx_Get";
        let key = c_key(key)?;
        // The last fence has brought all values, so the library asks no other process
        // and does not wait.
        let infos = [Info::yes("pmix.immediate")];
        let mut found: *mut Value = ptr::null_mut();
        // SAFETY: the process, the terminated key and the infos, as many as it says, are
        // initialised and outlive the call; the function writes one pointer.
        let status = unsafe {
            (self.get)(
                proc,
                key.as_ptr(),
                infos.as_ptr(),
                infos.len(),
                &raw mut found,
            )
        };
        if status != SUCCESS {
            return Err(PmixError::Failed {
                function,
                status,
                reason: format!(
                    "{} for the key {:?} of rank {}",
                    self.reason(status),
                    key.to_string_lossy(),
                    proc.rank
                ),
            });
        }
        if found.is_null() {
            return Err(PmixError::Unexpected {
                function,
                seen: "success and no value".to_owned(),
                expected: "a value",
            });
        }
        // SAFETY: on success this points to a value that the library has allocated with
        // malloc and initialised, and that is the caller's from here on.
        let value = unsafe { found.read() };
        let answer = take(&value);
        // SAFETY: allocated with malloc, as above; nothing points to it any more.
        unsafe { libc::free(found.cast()) };
        answer.ok_or_else(|| PmixError::Unexpected {
            function,
            seen: format!(
                "no bytes or too many for the key {:?}",
                key.to_string_lossy()
            ),
            expected: "a value",
        })
    }

    fn check(&self, function: &'static str, status: c_int) -> Result<(), PmixError> {
        if status == SUCCESS {
            return Ok(());
        }
        Err(PmixError::Failed {
            function,
            status,
            reason: self.reason(status),
        })
    }

    fn reason(&self, status: c_int) -> String {
        // SAFETY: takes any number, and returns null or a string that lasts.
        let text = unsafe { (self.error_string)(status) };
        if text.is_null() {
            return "an error without a name".to_owned();
        }
        // SAFETY: terminated and lasting, as above.
        let text = unsafe { CStr::from_ptr(text) };
        text.to_string_lossy().into_owned()
    }
}

fn c_key(key: &str) -> Result<CString, PmixError> {
    let bad = PmixError::BadKey {
        got_bytes: key.len(),
    };
    if key.is_empty() || key.len() > KEY_BYTES_MAX {
        return Err(bad);
    }
    CString::new(key).map_err(|_| bad)
}

/// Copies a value out and frees its memory. `None` if the value contradicts itself.
fn take(value: &Value) -> Option<Answer> {
    macro_rules! member {
        ($name:ident) => {{
            // SAFETY: the kind says that the library has set this member, and any bytes
            // are a value of its type.
            unsafe { value.data.$name }
        }};
    }
    match value.kind {
        kind::SIZE | kind::UINT64 => Some(Answer::Number(member!(uint64))),
        kind::UINT | kind::UINT32 => Some(Answer::Number(member!(uint32).into())),
        kind::UINT16 => Some(Answer::Number(member!(uint16).into())),
        kind::INT64 => Some(Answer::Number(u64::try_from(member!(int64)).ok()?)),
        kind::INT | kind::INT32 => Some(Answer::Number(u64::try_from(member!(int)).ok()?)),
        kind::BYTE_OBJECT => take_bytes(member!(bytes)),
        kind::STRING => take_string(member!(string)),
        other => Some(Answer::Other(other)),
    }
}

fn take_bytes(ByteObject { bytes, size }: ByteObject) -> Option<Answer> {
    let copied = match size {
        0 => Some(Vec::new()),
        1..=VALUE_BYTES_MAX if !bytes.is_null() => {
            // SAFETY: the library says that this many bytes are there, in an allocation of
            // their own, and nobody else knows of them.
            Some(unsafe { core::slice::from_raw_parts(bytes.cast::<u8>(), size) }.to_vec())
        }
        _ => None,
    };
    // SAFETY: null, or allocated with malloc for this value alone, as everything that
    // hangs on a value is.
    unsafe { libc::free(bytes.cast()) };
    copied.map(Answer::Bytes)
}

fn take_string(string: *mut c_char) -> Option<Answer> {
    if string.is_null() {
        return None;
    }
    // SAFETY: a terminated string in an allocation of its own.
    let copied = unsafe { CStr::from_ptr(string) }.to_bytes().to_vec();
    // SAFETY: allocated with malloc for this value alone.
    unsafe { libc::free(string.cast()) };
    Some(Answer::Bytes(copied))
}
