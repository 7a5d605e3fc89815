//! Joining, leaving, memory.

use core::ffi::{c_int, c_void};

use hostwire::Job;
use hostwire::tca::{Config, DeviceId, HOST_BYTES_USUAL, Tca};

use crate::state::{self, Session, device, state};
use crate::status::{Failure, Status, done};

#[unsafe(no_mangle)]
pub extern "C" fn tcaInit(host_bytes: usize) -> Status {
    done(|| {
        state::begin(|| {
            let job = Job::attach()?;
            let host_bytes = match host_bytes {
                0 => HOST_BYTES_USUAL,
                bytes => bytes,
            };
            let tca = Tca::new(
                &job,
                Config {
                    host_bytes,
                    devices: None,
                },
            )?;
            Ok(Session::new(job, tca))
        })
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaFinalize() -> Status {
    done(|| {
        let state = state::end()?;
        // Others may still copy to devices of this PE.
        state.job.barrier()?;
        Ok(state.into_job().finalize()?)
    })
}

fn number(get: impl FnOnce(&Session) -> u32) -> c_int {
    state().map_or(-1, |state| {
        c_int::try_from(get(&state)).unwrap_or(c_int::MAX)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaNode() -> c_int {
    number(|state| state.job.pe())
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaNodes() -> c_int {
    number(|state| state.job.pes())
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaDevices() -> c_int {
    number(|state| state.tca.devices())
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaBarrier() -> Status {
    done(|| Ok(state()?.job.barrier()?))
}

/// # Safety
/// `own` has `len` bytes, and `all` so many for each PE; they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaExchange(own: *const c_void, all: *mut c_void, len: usize) -> Status {
    done(|| {
        let state = state()?;
        let bytes = len.checked_mul(state.job.pes() as usize);
        let bytes = bytes.ok_or_else(|| Failure::caller("more bytes than a process can have"))?;
        // SAFETY: as the caller promises.
        let own = unsafe { read(own, len)? };
        // SAFETY: as above.
        let all = unsafe { write(all, bytes)? };
        Ok(state.job.all_gather(own, all)?)
    })
}

/// # Safety
/// `at` has `len` bytes, which nobody writes while the slice lives.
unsafe fn read<'a>(at: *const c_void, len: usize) -> Result<&'a [u8], Failure> {
    match at.is_null() {
        true if len == 0 => Ok(&[]),
        true => Err(Failure::caller("expected memory, got NULL")),
        // SAFETY: as the caller promises.
        false => Ok(unsafe { core::slice::from_raw_parts(at.cast(), len) }),
    }
}

/// # Safety
/// `at` has `len` bytes, which nobody else uses while the slice lives.
unsafe fn write<'a>(at: *mut c_void, len: usize) -> Result<&'a mut [u8], Failure> {
    match at.is_null() {
        true if len == 0 => Ok(&mut []),
        true => Err(Failure::caller("expected memory, got NULL")),
        // SAFETY: as the caller promises.
        false => Ok(unsafe { core::slice::from_raw_parts_mut(at.cast(), len) }),
    }
}

/// Stores what a function gives by a pointer.
///
/// # Safety
/// `at` may be written, or is null.
pub unsafe fn give<T>(at: *mut T, value: T) -> Result<(), Failure> {
    if at.is_null() {
        return Err(Failure::caller("expected a place for the result, got NULL"));
    }
    // SAFETY: as the caller promises; what is there is not read.
    unsafe { at.write(value) };
    Ok(())
}

/// # Safety
/// `address` may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaMalloc(
    address: *mut u64,
    of: c_int,
    len: usize,
    align: usize,
) -> Status {
    done(|| {
        let state = state()?;
        let given = state.keep(state.tca.malloc(device(of)?, len, align.max(1))?);
        // SAFETY: as the caller promises.
        unsafe { give(address, given) }
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaFree(address: u64, of: c_int) -> Status {
    done(|| state()?.take(device(of)?, address))
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaHostPointer(address: u64) -> *mut c_void {
    let found = state().and_then(|state| state.find(DeviceId::HOST, address));
    match found {
        Ok((buffer, 0)) => buffer
            .local_ptr()
            .map_or(core::ptr::null_mut(), <*mut u8>::cast),
        _ => core::ptr::null_mut(),
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaDevicePointer(address: u64, of: c_int) -> *mut c_void {
    let found = device(of).and_then(|device| state()?.find(device, address));
    let at = match found {
        Ok((buffer, 0)) => buffer.device_ptr(),
        _ => None,
    };
    // An address of the GPU, which this process only hands on.
    core::ptr::without_provenance_mut(at.unwrap_or(0) as usize)
}

/// # Safety
/// `from` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaWrite(to: u64, of: c_int, from: *const c_void, len: usize) -> Status {
    done(|| {
        let (buffer, offset) = state()?.find(device(of)?, to)?;
        // SAFETY: as the caller promises.
        let bytes = unsafe { read(from, len)? };
        Ok(buffer.write(offset, bytes)?)
    })
}

/// # Safety
/// `to` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tcaRead(to: *mut c_void, from: u64, of: c_int, len: usize) -> Status {
    done(|| {
        let (buffer, offset) = state()?.find(device(of)?, from)?;
        // SAFETY: as the caller promises.
        let bytes = unsafe { write(to, len)? };
        Ok(buffer.read(offset, bytes)?)
    })
}

#[unsafe(no_mangle)]
pub extern "C" fn tcaWait(word: u64, value: u64) -> Status {
    done(|| {
        let (buffer, offset) = state()?.find(DeviceId::HOST, word)?;
        Ok(buffer.wait_until(offset, value)?)
    })
}
