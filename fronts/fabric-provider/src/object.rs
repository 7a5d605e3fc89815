//! What all objects of a provider have: the head that libfabric looks at, and tables of functions.

use core::ffi::{c_int, c_void};

use hostwire_fabric_abi::{BindFn, CloseFn, ControlFn, Fid, FidOps};

/// The number of an error, negative.
pub(crate) type Code = c_int;

/// A table of functions that never changes.
pub(crate) struct Table<T>(pub(crate) T);

// SAFETY: nothing writes to one, and its pointers lead to functions.
unsafe impl<T> Sync for Table<T> {}

/// Fills every slot that is not offered: libfabric calls most slots without a check. It ignores its arguments, as the
/// calling conventions of C on Linux allow.
extern "C" fn unsupported() -> isize {
    -(libc::ENOSYS as isize)
}

pub(crate) const UNSUPPORTED: *const c_void = unsupported as *const c_void;

/// The function of an object to which nothing can be bound.
pub(crate) unsafe extern "C" fn no_bind(_: *mut Fid, _: *mut Fid, _: u64) -> c_int {
    -libc::ENOSYS
}

unsafe extern "C" fn control(_: *mut Fid, _: c_int, _: *mut c_void) -> c_int {
    -libc::ENOSYS
}

/// The functions of an object that can be closed.
pub(crate) const fn fid_ops(close: CloseFn) -> FidOps {
    fid_ops_of(close, no_bind, control)
}

/// As [`fid_ops`], for an object that can also be bound and controlled.
pub(crate) const fn fid_ops_of(close: CloseFn, bind: BindFn, control: ControlFn) -> FidOps {
    FidOps {
        size: size_of::<FidOps>(),
        close: Some(close),
        bind: Some(bind),
        control: Some(control),
        ops_open: UNSUPPORTED,
        tostr: UNSUPPORTED,
        ops_set: UNSUPPORTED,
    }
}

/// Gives a new object away: `close` takes it back by [`take`].
///
/// # Safety
/// `out` can be written to. `T` begins with an `F`.
pub(crate) unsafe fn give<T, F>(out: *mut *mut F, object: T) -> c_int {
    // SAFETY: as this function demands.
    unsafe { out.write(Box::into_raw(Box::new(object)).cast()) };
    0
}

/// # Safety
/// `fid` is of an object that [`give`] gave as a `T` and that nobody uses any more.
pub(crate) unsafe fn take<T>(fid: *mut Fid) -> T {
    // SAFETY: the fid is the beginning of the object, which came out of a box of this type.
    *unsafe { Box::from_raw(fid.cast::<T>()) }
}
