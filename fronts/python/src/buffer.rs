//! The memory of Python objects, for the time of a call: NumPy arrays, and all else with the buffer
//! protocol.
//!
//! Memory that holds references to Python objects must not be copied to or from it: see
//! [`check_plain`]. Where the caller knows the dtype, as with symmetric arrays, that is known already.

use core::ffi::c_int;
use core::ops::Range;

use pyo3::ffi;
use pyo3::prelude::*;

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

    /// Where the bytes are.
    fn range(&self) -> Range<usize> {
        let begin = self.raw.buf.addr();
        begin..begin + self.len()
    }

    /// How the elements are made, as the module `struct` of Python has it.
    fn format(&self) -> &[u8] {
        match self.raw.format.is_null() {
            true => b"B",
            // SAFETY: the exporter keeps a string that ends with 0 there until the view is given back.
            false => unsafe { core::ffi::CStr::from_ptr(self.raw.format) }.to_bytes(),
        }
    }

    /// # Safety
    /// As of [`with_bytes`]: none of the bytes is written while the slice is in use.
    unsafe fn bytes(&self) -> &[u8] {
        match self.len() {
            0 => &[],
            // SAFETY: the exporter keeps so many readable bytes there until the view is given back,
            // and the caller promises the rest.
            len => unsafe { core::slice::from_raw_parts(self.raw.buf.cast(), len) },
        }
    }

    /// # Safety
    /// The view was filled as writable; and as of [`with_bytes_mut`]: nothing else reads or writes the bytes while the
    /// slice is in use.
    unsafe fn bytes_mut(&mut self) -> &mut [u8] {
        match self.len() {
            0 => &mut [],
            // SAFETY: the exporter keeps so many writable bytes there until the view is given back,
            // and the caller promises the rest.
            len => unsafe { core::slice::from_raw_parts_mut(self.raw.buf.cast(), len) },
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: either filled by `fill`, or never, which the call is defined for; `with_bytes` and
        // `with_bytes_mut` drop it before they return to the interpreter, whose lock they hold.
        unsafe { ffi::PyBuffer_Release(&mut self.raw) }
    }
}

const NOT_PLAIN: &str = "expected plain data, got references to Python objects";

/// An error if the elements of `object` are, or have, references to Python objects.
///
/// # Errors
/// `CallerError`; `TypeError` of what has no bytes.
pub(crate) fn check_plain(object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    let has_objects = match object.getattr_opt("dtype")? {
        Some(dtype) => dtype.getattr("hasobject")?.extract()?,
        None => {
            let mut view = View::empty();
            view.fill(object, ffi::PyBUF_FULL_RO)?;
            view.format().contains(&b'O')
        }
    };
    match has_objects {
        false => Ok(()),
        true => Err(errors::caller(py, NOT_PLAIN)),
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
    // SAFETY: the program promises, as for any extension that works without the interpreter's lock,
    // that none of its threads writes the bytes during the call.
    operation(unsafe { view.bytes() })
}

/// As [`with_bytes`], of an object that may be written.
#[inline]
pub(crate) fn with_bytes_mut<R>(
    object: &Bound<'_, PyAny>,
    operation: impl FnOnce(&mut [u8]) -> PyResult<R>,
) -> PyResult<R> {
    let mut view = View::empty();
    view.fill(object, ffi::PyBUF_WRITABLE)?;
    // SAFETY: asked for as writable; the program promises, as for any extension that works without the interpreter's lock,
    // that none of its threads reads or writes them meanwhile.
    operation(unsafe { view.bytes_mut() })
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

/// As [`with_bytes_mut`], of any object with elements that say that they are no references to Python objects. It asks for the buffer once.
///
/// # Errors
/// `CallerError`; `BufferError`, `ValueError` or `TypeError` of an object that has no such bytes; what `operation` gives.
pub(crate) fn with_plain_bytes_mut<R>(
    object: &Bound<'_, PyAny>,
    operation: impl FnOnce(&mut [u8]) -> PyResult<R>,
) -> PyResult<R> {
    let mut view = View::empty();
    view.fill(object, ffi::PyBUF_WRITABLE | ffi::PyBUF_FORMAT)?;
    if view.format().contains(&b'O') {
        return Err(errors::caller(object.py(), NOT_PLAIN));
    }
    // SAFETY: as in `with_bytes_mut`.
    operation(unsafe { view.bytes_mut() })
}

/// Calls `operation` with the bytes of all `values`, which are only read, and of all `outs`.
///
/// What lies in both is copied first, so `values` are those from before the call.
///
/// # Errors
/// `CallerError` if two of `outs` overlap; as [`with_bytes`] and [`in_place`].
pub(crate) fn with_exchanged<R>(
    values: &[Bound<'_, PyAny>],
    outs: &[Bound<'_, PyAny>],
    operation: impl FnOnce(&[&[u8]], &mut [&mut [u8]]) -> PyResult<R>,
) -> PyResult<R> {
    // Boxed, since an exporter may have pointed into a view.
    let views = |objects: &[Bound<'_, PyAny>], flags| {
        let view = |object| {
            check_plain(object)?;
            let mut view = Box::new(View::empty());
            view.fill(object, flags)?;
            Ok(view)
        };
        objects.iter().map(view).collect::<PyResult<Vec<_>>>()
    };
    let read = views(values, ffi::PyBUF_SIMPLE)?;
    let mut written = views(outs, ffi::PyBUF_WRITABLE)?;
    let mut ranges: Vec<_> = written.iter().map(|view| view.range()).collect();
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    let overlap = ranges.windows(2).any(|pair| pair[0].end > pair[1].start);
    if let (true, Some(out)) = (overlap, outs.first()) {
        let text = "outputs: two of them have elements in common";
        return Err(errors::caller(out.py(), text));
    }
    let is_written = |view: &View| {
        let at = view.range();
        let reach = ranges.partition_point(|range| range.end <= at.start);
        let next = ranges.get(reach);
        !at.is_empty() && next.is_some_and(|range| range.start < at.end)
    };
    // Many may be one and the same.
    let mut copies: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
    for view in &read {
        if is_written(view) && !copies.iter().any(|(range, _)| *range == view.range()) {
            // SAFETY: as in `with_bytes`; no other slice of these bytes is alive.
            let bytes = unsafe { view.bytes() }.to_vec();
            copies.push((view.range(), bytes));
        }
    }
    let values = read.iter().map(|view| {
        let copied = copies.iter().find(|(range, _)| *range == view.range());
        // SAFETY: as in `with_bytes`; what is written is not among them.
        copied.map_or_else(|| unsafe { view.bytes() }, |(_, bytes)| bytes)
    });
    let values: Vec<_> = values.collect();
    // SAFETY: as in `with_bytes_mut`; no two of them overlap.
    let outs = written.iter_mut().map(|view| unsafe { view.bytes_mut() });
    let mut outs: Vec<_> = outs.collect();
    operation(&values, &mut outs)
}
