//! The memory of Python objects, for the time of a call: NumPy arrays, and all else with the buffer
//! protocol.
//!
//! Memory that holds references to Python objects must not be copied to or from it: see
//! [`check_plain`]. Where the caller knows the dtype, as with symmetric arrays, that is known already.

use core::ffi::c_int;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

use crate::errors;

/// An exported buffer. Given back when dropped; neither that nor making it is done without the
/// interpreter's lock.
struct View {
    raw: ffi::Py_buffer,
}

impl View {
    fn empty() -> Self {
        Self {
            raw: ffi::Py_buffer::new(),
        }
    }

    /// Asks for the bytes of `object`, which then lie behind each other. The view must not be moved
    /// from then on: an exporter may have pointed into it.
    #[inline]
    fn fill(&mut self, object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<()> {
        // SAFETY: the object is alive; the view is writable, and holds no buffer yet.
        let result = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &mut self.raw, flags) };
        match result {
            0 => Ok(()),
            _ => Err(PyErr::fetch(object.py())),
        }
    }

    fn len(&self) -> usize {
        usize::try_from(self.raw.len).unwrap_or(0)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: either filled by `fill`, or never, which the call is defined for; `with_bytes` and
        // `with_bytes_mut` drop it before they return to the interpreter, whose lock they hold.
        unsafe { ffi::PyBuffer_Release(&mut self.raw) }
    }
}

/// An error if the elements of `object` are, or have, references to Python objects.
///
/// # Errors
/// `CallerError`; `TypeError` of what has no bytes.
pub(crate) fn check_plain(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    let has_objects = match object.getattr_opt("dtype")? {
        Some(dtype) => dtype.getattr("hasobject")?.extract()?,
        None => {
            let format = PyMemoryView::from(object)?.getattr("format")?;
            format.extract::<String>()?.contains('O')
        }
    };
    match has_objects {
        false => Ok(()),
        true => Err(errors::caller(
            py,
            "expected plain data, got references to Python objects",
        )),
    }
}

/// Calls `operation` with the bytes of `object`, which is plain.
///
/// # Errors
/// `BufferError`, `ValueError` or `TypeError` of an object that has no bytes that lie behind each
/// other; what `operation` gives.
#[inline]
pub(crate) fn with_bytes<R>(
    object: &Bound<'_, PyAny>,
    operation: impl FnOnce(&[u8]) -> PyResult<R>,
) -> PyResult<R> {
    let mut view = View::empty();
    view.fill(object, ffi::PyBUF_SIMPLE)?;
    if view.len() == 0 {
        return operation(&[]);
    }
    // SAFETY: the exporter keeps `len` readable bytes at `buf` until the view is given back, which
    // is after the call. The program promises, as for any extension that works without the
    // interpreter's lock, that none of its threads writes them meanwhile.
    let bytes = unsafe { core::slice::from_raw_parts(view.raw.buf.cast(), view.len()) };
    operation(bytes)
}

/// As [`with_bytes`], of an object that may be written.
#[inline]
pub(crate) fn with_bytes_mut<R>(
    object: &Bound<'_, PyAny>,
    operation: impl FnOnce(&mut [u8]) -> PyResult<R>,
) -> PyResult<R> {
    let mut view = View::empty();
    view.fill(object, ffi::PyBUF_WRITABLE)?;
    if view.len() == 0 {
        return operation(&mut []);
    }
    // SAFETY: as above, and asked for as writable; the program promises that none of its threads
    // reads or writes them meanwhile.
    let bytes = unsafe { core::slice::from_raw_parts_mut(view.raw.buf.cast(), view.len()) };
    operation(bytes)
}

/// As [`with_bytes_mut`], of any object that a program names for a result.
///
/// # Errors
/// `CallerError` if it cannot be written so, or its elements are not plain.
pub(crate) fn in_place<R>(
    values: &Bound<'_, PyAny>,
    operation: impl FnOnce(&mut [u8]) -> PyResult<R>,
) -> PyResult<R> {
    check_plain(values)?;
    let mut reached = false;
    let done = with_bytes_mut(values, |bytes| {
        reached = true;
        operation(bytes)
    });
    match done {
        Err(error) if !reached => {
            let expected = "a writable array whose elements lie behind each other";
            let text = format!("expected {expected}: {error}");
            Err(errors::caller(values.py(), &text))
        }
        done => done,
    }
}
