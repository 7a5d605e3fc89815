//! The functions of the CUDA driver. Its library `libcuda.so.1` is loaded at run time.
//!
//! Every call of the driver is here, and checks its status. A [`Context`] is the device's primary context. Each
//! call that needs one makes it current on the calling thread, so that any thread may call.
//!
//! # Source
//! CUDA driver API reference, 12.x: types and constants of `cuda.h`; the header's macros map names to functions
//! with the suffix `_v2`.

use core::ffi::{CStr, c_char, c_int, c_uint, c_void};
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use hostwire_transport::os::library::{Library, Scope};
use hostwire_transport::os::signals;

use crate::{Blocks, DeviceError, Export, Result};

const NAME: &CStr = c"libcuda.so.1";

const SUCCESS: c_int = 0;
const INVALID_VALUE: c_int = 1;
const NOT_READY: c_int = 600;
const OUT_OF_MEMORY: c_int = 2;
/// `CU_STREAM_NON_BLOCKING`.
const STREAM_NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`.
const EVENT_DISABLE_TIMING: c_uint = 2;
/// `CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS`.
const IPC_LAZY_PEER_ACCESS: c_uint = 1;
/// `CU_MEMHOSTREGISTER_PORTABLE`.
const HOST_REGISTER_PORTABLE: c_uint = 1;

/// `CU_MEMORYTYPE_DEVICE`.
const MEMORY_TYPE_DEVICE: c_uint = 2;
/// The smallest `CU_DEVICE_ATTRIBUTE_MAX_PITCH` of any device.
const PITCH_BYTES_MAX: usize = (1 << 31) - 1;

type Handle = *mut c_void;
/// `CUdeviceptr` on 64-bit systems.
pub(super) type Address = u64;

/// `CUipcMemHandle`: passed by value.
#[derive(Clone, Copy)]
#[repr(C)]
struct IpcHandle {
    reserved: Export,
}

/// `CUDA_MEMCPY2D`: rows of bytes.
#[repr(C)]
struct Rows {
    from_x: usize,
    from_y: usize,
    from_type: c_uint,
    from_host: *const c_void,
    from: Address,
    from_array: Handle,
    from_pitch: usize,
    to_x: usize,
    to_y: usize,
    to_type: c_uint,
    to_host: *mut c_void,
    to: Address,
    to_array: Handle,
    to_pitch: usize,
    width: usize,
    height: usize,
}

/// Declares the table of functions, and the code that fills it.
macro_rules! functions {
    ($($field:ident = $name:literal ($($argument:ty),*);)*) => {
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn load(library: Library) -> core::result::Result<Self, String> {
                Ok(Self {
                    $($field: {
                        let found = library.function($name)
                            .ok_or_else(|| format!("{NAME:?} has no function {:?}", $name))?;
                        // SAFETY: not null, so it is the driver's function of this name, which has these
                        // arguments and returns a `CUresult`, a C enum.
                        unsafe {
                            core::mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C" fn($($argument),*) -> c_int,
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

functions! {
    init = c"cuInit" (c_uint);
    error_string = c"cuGetErrorString" (c_int, *mut *const c_char);
    device_count = c"cuDeviceGetCount" (*mut c_int);
    device_get = c"cuDeviceGet" (*mut c_int, c_int);
    device_name = c"cuDeviceGetName" (*mut c_char, c_int, c_int);
    retain = c"cuDevicePrimaryCtxRetain" (*mut Handle, c_int);
    release = c"cuDevicePrimaryCtxRelease_v2" (c_int);
    push_current = c"cuCtxPushCurrent_v2" (Handle);
    pop_current = c"cuCtxPopCurrent_v2" (*mut Handle);
    enable_peer = c"cuCtxEnablePeerAccess" (Handle, c_uint);
    alloc = c"cuMemAlloc_v2" (*mut Address, usize);
    free = c"cuMemFree_v2" (Address);
    set_bytes = c"cuMemsetD8Async" (Address, u8, usize, Handle);
    to_device = c"cuMemcpyHtoDAsync_v2" (Address, *const c_void, usize, Handle);
    to_host = c"cuMemcpyDtoHAsync_v2" (*mut c_void, Address, usize, Handle);
    copy = c"cuMemcpyAsync" (Address, Address, usize, Handle);
    copy_rows = c"cuMemcpy2DAsync_v2" (*const Rows, Handle);
    stream_create = c"cuStreamCreate" (*mut Handle, c_uint);
    stream_destroy = c"cuStreamDestroy_v2" (Handle);
    stream_synchronize = c"cuStreamSynchronize" (Handle);
    event_create = c"cuEventCreate" (*mut Handle, c_uint);
    event_record = c"cuEventRecord" (Handle, Handle);
    event_query = c"cuEventQuery" (Handle);
    event_destroy = c"cuEventDestroy_v2" (Handle);
    ipc_get = c"cuIpcGetMemHandle" (*mut IpcHandle, Address);
    ipc_open = c"cuIpcOpenMemHandle_v2" (*mut Address, IpcHandle, c_uint);
    ipc_close = c"cuIpcCloseMemHandle" (Address);
    host_register = c"cuMemHostRegister_v2" (*mut c_void, usize, c_uint);
    host_unregister = c"cuMemHostUnregister" (*mut c_void);
}

/// The driver of this process.
pub(super) struct Driver {
    functions: Functions,
}

/// The driver, loaded and initialized once.
///
/// # Errors
/// [`DeviceError::Refused`]: there is no driver, or no device.
pub(super) fn driver() -> Result<&'static Driver> {
    static DRIVER: OnceLock<core::result::Result<Driver, String>> = OnceLock::new();
    let loaded = DRIVER.get_or_init(|| {
        let driver = Driver {
            functions: Functions::load(open()?)?,
        };
        // SAFETY: may be called at any time, any number of times; flags have to be 0.
        let status = signals::kept(|| unsafe { (driver.functions.init)(0) });
        match status {
            SUCCESS => Ok(driver),
            status => Err(format!("cuInit: {}", driver.text(status))),
        }
    });
    loaded.as_ref().map_err(|why| DeviceError::Refused {
        what: "loading the driver of CUDA".into(),
        why: why.clone(),
    })
}

fn open() -> core::result::Result<Library, String> {
    Library::load(NAME, Scope::Own)
        .map_err(|why| format!("no libcuda.so.1: the driver of NVIDIA has it ({why})"))
}

impl Driver {
    /// The driver's text for a status.
    fn text(&self, status: c_int) -> String {
        let mut text = core::ptr::null();
        // SAFETY: stores a pointer to a string that lasts as long as the library, or null.
        let found = unsafe { (self.functions.error_string)(status, &mut text) };
        if found != SUCCESS || text.is_null() {
            return format!("status {status}");
        }
        // SAFETY: not null, terminated, and constant.
        let text = unsafe { CStr::from_ptr(text) };
        format!("{} (status {status})", text.to_string_lossy())
    }

    fn check(&self, what: &str, status: c_int) -> Result<()> {
        match status {
            SUCCESS => Ok(()),
            status => Err(DeviceError::Refused {
                what: what.to_owned(),
                why: self.text(status),
            }),
        }
    }

    /// How many devices there are.
    pub(super) fn count(&self) -> Result<u32> {
        let mut count = 0;
        // SAFETY: stores a number.
        let status = unsafe { (self.functions.device_count)(&mut count) };
        self.check("cuDeviceGetCount", status)?;
        Ok(count.max(0).unsigned_abs())
    }

    /// The driver's handle of device `number`, which must exist.
    fn device(&self, number: u32) -> Result<c_int> {
        let mut device = 0;
        // SAFETY: stores a number.
        let status = unsafe { (self.functions.device_get)(&mut device, number as c_int) };
        self.check("cuDeviceGet", status).map(|()| device)
    }

    /// The driver's name for device `number`, which must exist.
    pub(super) fn name(&self, number: u32) -> Result<String> {
        let device = self.device(number)?;
        let mut name = [0; 256];
        // SAFETY: stores at most as many characters as is said, the last of them zero.
        let status = unsafe { (self.functions.device_name)(name.as_mut_ptr(), 255, device) };
        self.check("cuDeviceGetName", status)?;
        let bytes = name.map(|character| character as u8);
        let name = CStr::from_bytes_until_nul(&bytes).unwrap_or_default();
        Ok(name.to_string_lossy().into_owned())
    }

    /// Opens device `number`, which must exist.
    pub(super) fn open(&'static self, number: u32) -> Result<Context> {
        let (device, name) = (self.device(number)?, self.name(number)?);
        let mut context = core::ptr::null_mut();
        // SAFETY: stores a handle, which `Context` releases.
        let status = unsafe { (self.functions.retain)(&mut context, device) };
        self.check("cuDevicePrimaryCtxRetain", status)?;
        let mut opened = Context {
            driver: self,
            device,
            context,
            stream: core::ptr::null_mut(),
            name,
        };
        let _entered = self.enter(context)?;
        // SAFETY: the context is current. Stores a handle, which `Context` destroys.
        let status =
            unsafe { (self.functions.stream_create)(&mut opened.stream, STREAM_NON_BLOCKING) };
        self.check("cuStreamCreate", status)?;
        opened.meet_others();
        Ok(opened)
    }

    /// Makes a context the current one of this thread, until the result is dropped.
    fn enter(&'static self, context: Handle) -> Result<Entered> {
        // SAFETY: a context that the caller retains.
        let status = unsafe { (self.functions.push_current)(context) };
        self.check("cuCtxPushCurrent", status)?;
        Ok(Entered(self))
    }
}

/// While this exists, a context of ours is the current one of this thread.
struct Entered(&'static Driver);

impl Drop for Entered {
    fn drop(&mut self) {
        let mut ours = core::ptr::null_mut();
        // SAFETY: `enter` has pushed one on this thread. Stores its handle.
        unsafe { (self.0.functions.pop_current)(&mut ours) };
    }
}

/// The devices in use and their contexts, one for each [`Context`]. A context stays valid while it is in this
/// list.
static MET: Mutex<Vec<(c_int, Address)>> = Mutex::new(Vec::new());

fn met() -> MutexGuard<'static, Vec<(c_int, Address)>> {
    MET.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A device that is in use, with a stream of its own.
pub(super) struct Context {
    driver: &'static Driver,
    device: c_int,
    context: Handle,
    /// Null until it has been made.
    stream: Handle,
    pub(super) name: String,
}

// SAFETY: a primary context may be current on any number of threads, and the driver's functions may be called
// from any thread; the handles are values.
unsafe impl Send for Context {}
// SAFETY: as above: nothing here changes after `open`.
unsafe impl Sync for Context {}

/// The driver's answer to a copy between host and device.
pub(super) enum HostCopy {
    /// It is under way.
    Started,
    /// An argument is invalid. This happens if only a part of the host's bytes is pinned.
    Refused,
}

/// Marks a point in the stream of a [`Context`].
pub(super) struct Mark(Handle);

// SAFETY: a handle, which any thread may use.
unsafe impl Send for Mark {}

impl Context {
    /// Makes it the current one of this thread, until the result is dropped, because the program has its own.
    fn enter(&self) -> Result<Entered> {
        self.driver.enter(self.context)
    }

    /// Gives this device and those opened before access to each other. Where the hardware does not allow it, the
    /// driver copies through host memory.
    fn meet_others(&self) {
        let own = self.context.expose_provenance() as Address;
        let mut met = met();
        for (device, context) in &*met {
            if *device == self.device {
                continue;
            }
            let other = core::ptr::with_exposed_provenance_mut(*context as usize);
            for (from, to) in [(self.context, other), (other, self.context)] {
                // Both contexts are retained: this one by `self`, the other one by the list, which is locked.
                let Ok(_entered) = self.driver.enter(from) else {
                    continue;
                };
                // SAFETY: as above. It is no error that they have access already, or cannot have it.
                unsafe { (self.driver.functions.enable_peer)(to, 0) };
            }
        }
        met.push((self.device, own));
    }

    /// Zeroed memory at a multiple of at least 256, as the driver promises.
    pub(super) fn allocate(&self, len: usize) -> Result<Address> {
        let _entered = self.enter()?;
        let functions = &self.driver.functions;
        let mut at = 0;
        // SAFETY: the context is current. Stores an address.
        let status = unsafe { (functions.alloc)(&mut at, len) };
        if status == OUT_OF_MEMORY {
            let (device, why) = (self.name.clone(), self.driver.text(status));
            return Err(DeviceError::OutOfMemory { device, len, why });
        }
        self.driver.check("cuMemAlloc", status)?;
        // SAFETY: `len` bytes that were allocated just now, and the stream of this context.
        let status = unsafe { (functions.set_bytes)(at, 0, len, self.stream) };
        let zeroed = self.driver.check("cuMemsetD8Async", status);
        zeroed
            .and_then(|()| self.finish())
            .map(|()| at)
            .inspect_err(|_| {
                // The caller gets the error of the zeroing.
                let _ = self.release(at);
            })
    }

    /// Frees memory of [`allocate`](Self::allocate). All copies must be done.
    pub(super) fn release(&self, at: Address) -> Result<()> {
        self.finish()?;
        // SAFETY: the context is current, the caller got the address from `allocate`, and no copy is under way.
        let status = unsafe { (self.driver.functions.free)(at) };
        self.driver.check("cuMemFree", status)
    }

    /// Waits for all copies.
    pub(super) fn finish(&self) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: the stream of this context.
        let status = unsafe { (self.driver.functions.stream_synchronize)(self.stream) };
        self.driver.check("cuStreamSynchronize", status)
    }

    /// Starts a copy to the device.
    ///
    /// # Safety
    /// `len` bytes at `from` stay mapped until the copy is done, and `len` bytes at `to` are of allocations that
    /// this process has.
    pub(super) unsafe fn to_device(
        &self,
        to: Address,
        from: *const u8,
        len: usize,
    ) -> Result<HostCopy> {
        let _entered = self.enter()?;
        // SAFETY: as the caller promises.
        let status =
            unsafe { (self.driver.functions.to_device)(to, from.cast(), len, self.stream) };
        self.host_copy("cuMemcpyHtoDAsync", status)
    }

    /// Starts a copy to the host.
    ///
    /// # Safety
    /// As [`to_device`](Self::to_device), and no Rust reference leads to `to`.
    pub(super) unsafe fn to_host(
        &self,
        to: *mut u8,
        from: Address,
        len: usize,
    ) -> Result<HostCopy> {
        let _entered = self.enter()?;
        // SAFETY: as the caller promises.
        let status = unsafe { (self.driver.functions.to_host)(to.cast(), from, len, self.stream) };
        self.host_copy("cuMemcpyDtoHAsync", status)
    }

    fn host_copy(&self, what: &str, status: c_int) -> Result<HostCopy> {
        match status {
            INVALID_VALUE => Ok(HostCopy::Refused),
            status => self.driver.check(what, status).map(|()| HostCopy::Started),
        }
    }

    /// Copies to the device, and waits for the end.
    ///
    /// # Safety
    /// As many bytes at `to` are of allocations that this process has.
    pub(super) unsafe fn to_device_now(&self, to: Address, from: &[u8]) -> Result<()> {
        // SAFETY: `from` stays until `finish` has returned; for `to` the caller promises it.
        let copy = unsafe { self.to_device(to, from.as_ptr(), from.len())? };
        self.now("cuMemcpyHtoDAsync", copy)
    }

    /// Copies to the host, and waits for the end.
    ///
    /// # Safety
    /// As many bytes at `from` are of allocations that this process has.
    pub(super) unsafe fn to_host_now(&self, to: &mut [u8], from: Address) -> Result<()> {
        // SAFETY: `to` stays, and nobody else uses it, until `finish` has returned; for `from` the caller promises
        // it.
        let copy = unsafe { self.to_host(to.as_mut_ptr(), from, to.len())? };
        self.now("cuMemcpyDtoHAsync", copy)
    }

    fn now(&self, what: &str, copy: HostCopy) -> Result<()> {
        match copy {
            HostCopy::Started => self.finish(),
            HostCopy::Refused => self.driver.check(what, INVALID_VALUE),
        }
    }

    /// Starts a copy between memory of devices: of this one, or opened memory of another one.
    ///
    /// # Safety
    /// `len` bytes at both are of allocations that this process has or has opened.
    pub(super) unsafe fn copy(&self, to: Address, from: Address, len: usize) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: as the caller promises; all devices share one address space.
        let status = unsafe { (self.driver.functions.copy)(to, from, len, self.stream) };
        self.driver.check("cuMemcpyAsync", status)
    }

    /// Whether blocks can be copied as rows.
    pub(super) fn can_copy_blocks(blocks: Blocks) -> bool {
        let is_pitch = |step| (blocks.len..=PITCH_BYTES_MAX).contains(&step);
        blocks.len > 0 && is_pitch(blocks.to_step) && is_pitch(blocks.from_step)
    }

    /// Starts to copy blocks, as [`copy`](Self::copy) copies one, if they [can be](Self::can_copy_blocks).
    ///
    /// # Safety
    /// All bytes from the first block to the last, at both ends, are of allocations that this process has or has
    /// opened.
    pub(super) unsafe fn copy_blocks(
        &self,
        to: Address,
        from: Address,
        blocks: Blocks,
    ) -> Result<()> {
        let _entered = self.enter()?;
        let null = core::ptr::null_mut();
        let rows = Rows {
            from_x: 0,
            from_y: 0,
            from_type: MEMORY_TYPE_DEVICE,
            from_host: null,
            from,
            from_array: null,
            from_pitch: blocks.from_step,
            to_x: 0,
            to_y: 0,
            to_type: MEMORY_TYPE_DEVICE,
            to_host: null,
            to,
            to_array: null,
            to_pitch: blocks.to_step,
            width: blocks.len,
            height: blocks.count,
        };
        // SAFETY: as the caller promises; the description is read before the call returns.
        let status = unsafe { (self.driver.functions.copy_rows)(&rows, self.stream) };
        self.driver.check("cuMemcpy2DAsync", status)
    }

    /// Marks the end of the started copies. Reuses a spare mark if there is one.
    pub(super) fn mark(&self, spare: Option<Mark>) -> Result<Mark> {
        let _entered = self.enter()?;
        let mark = match spare {
            Some(mark) => mark,
            None => {
                let mut event = core::ptr::null_mut();
                // SAFETY: the context is current. Stores a handle, which `forget` destroys.
                let status = unsafe {
                    (self.driver.functions.event_create)(&mut event, EVENT_DISABLE_TIMING)
                };
                self.driver.check("cuEventCreate", status)?;
                Mark(event)
            }
        };
        // SAFETY: an event and a stream of the same context.
        let status = unsafe { (self.driver.functions.event_record)(mark.0, self.stream) };
        match self.driver.check("cuEventRecord", status) {
            Ok(()) => Ok(mark),
            Err(error) => {
                self.forget(mark);
                Err(error)
            }
        }
    }

    /// Whether the device has passed a mark.
    pub(super) fn is_past(&self, mark: &Mark) -> Result<bool> {
        let _entered = self.enter()?;
        // SAFETY: an event that was not destroyed.
        match unsafe { (self.driver.functions.event_query)(mark.0) } {
            NOT_READY => Ok(false),
            status => self.driver.check("cuEventQuery", status).map(|()| true),
        }
    }

    /// Destroys a mark that is not needed any more.
    pub(super) fn forget(&self, mark: Mark) {
        if let Ok(_entered) = self.enter() {
            // SAFETY: an event that is destroyed once, as the mark is consumed.
            unsafe { (self.driver.functions.event_destroy)(mark.0) };
        }
    }

    /// Names an allocation for other processes.
    pub(super) fn export(&self, at: Address) -> Result<Export> {
        let _entered = self.enter()?;
        let mut handle = IpcHandle { reserved: [0; 64] };
        // SAFETY: the caller has the allocation. Stores a handle of plain bytes.
        let status = unsafe { (self.driver.functions.ipc_get)(&mut handle, at) };
        self.driver.check("cuIpcGetMemHandle", status)?;
        Ok(handle.reserved)
    }

    /// Opens memory of another process.
    pub(super) fn import(&self, export: &Export) -> Result<Address> {
        let _entered = self.enter()?;
        let (mut at, handle) = (0, IpcHandle { reserved: *export });
        // SAFETY: the context is current; the driver checks the handle. Stores an address.
        let status =
            unsafe { (self.driver.functions.ipc_open)(&mut at, handle, IPC_LAZY_PEER_ACCESS) };
        self.driver.check("cuIpcOpenMemHandle", status)?;
        Ok(at)
    }

    /// Closes memory of [`import`](Self::import). All copies must be done.
    pub(super) fn close(&self, at: Address) -> Result<()> {
        self.finish()?;
        // SAFETY: the caller got the address from `import`, and no copy is under way.
        let status = unsafe { (self.driver.functions.ipc_close)(at) };
        self.driver.check("cuIpcCloseMemHandle", status)
    }

    /// Pins memory of the host, so that copies of it overlap with other work.
    ///
    /// # Safety
    /// `len` bytes at `at` stay mapped until they are [unpinned](Self::unpin).
    pub(super) unsafe fn pin(&self, at: *mut u8, len: usize) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: as the caller promises.
        let status = unsafe {
            (self.driver.functions.host_register)(at.cast(), len, HOST_REGISTER_PORTABLE)
        };
        self.driver.check("cuMemHostRegister", status)
    }

    /// Unpins memory at this address.
    ///
    /// # Safety
    /// [`pin`](Self::pin) was called for this address, and no copy uses the memory.
    pub(super) unsafe fn unpin(&self, at: *mut u8) -> Result<()> {
        let _entered = self.enter()?;
        // SAFETY: as the caller promises.
        let status = unsafe { (self.driver.functions.host_unregister)(at.cast()) };
        self.driver.check("cuMemHostUnregister", status)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        if !self.stream.is_null() && self.finish().is_ok() {
            // SAFETY: made in `open`, idle, and destroyed once.
            unsafe { (self.driver.functions.stream_destroy)(self.stream) };
        }
        let mut met = met();
        let own = met.iter().position(|(device, _)| *device == self.device);
        if let Some(own) = own {
            met.swap_remove(own);
        }
        // SAFETY: retained in `open`, and released once.
        unsafe { (self.driver.functions.release)(self.device) };
    }
}
