//! Symmetric arrays.
//!
//! | module | what it is |
//! |---|---|
//! | `transfer` | puts and gets |
//! | `words` | atomic operations, and waiting for words |

mod transfer;
mod words;

use std::sync::Arc;

use hostwire::Symmetric;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};

use crate::arguments::Whole;
use crate::block::Block;
use crate::buffer::with_bytes;
use crate::dtype::{self, DType};
use crate::errors;
use crate::shared::SharedJob;
use crate::waiting::blocking;
use crate::words::{FetchOp, WordTarget, Words};

/// Up to here a copy within this host holds the interpreter's lock: giving it away costs as much as
/// copying so many bytes. Fitted.
const QUICK_BYTES: usize = 4096;

/// An array that every PE has at the same place of its memory; made by `Job.zeros`.
#[pyclass(frozen, module = "hostwire")]
pub struct Array {
    bytes: Symmetric<u8>,
    /// This PE.
    pe: u32,
    words: Words,
    dtype: DType,
    /// Elements.
    len: usize,
    /// This PE's copy, as a NumPy array.
    local: Py<PyAny>,
    shared: Arc<SharedJob>,
}

impl Array {
    /// Allocates an array of `shape`. Collective.
    pub(crate) fn zeros(
        shared: &Arc<SharedJob>,
        shape: &Bound<'_, PyTuple>,
        dtype: DType,
    ) -> PyResult<Self> {
        let py = shape.py();
        let mut len = 1_usize;
        for extent in shape {
            len = len.saturating_mul(extent.extract::<Whole>()?.index());
        }
        let job = shared.job(py)?;
        let len_bytes = len.saturating_mul(dtype.size_bytes);
        let bytes = blocking(py, || job.alloc::<u8>(len_bytes))?;
        let local = ndarray(&bytes, job.pe(), &dtype, shape)?;
        let Some(local) = local else {
            return Err(errors::environment(
                py,
                "this wire does not let a PE reach its own memory",
            ));
        };
        Self::new(shared, (job.pe(), bytes), dtype, local.unbind(), py)
    }

    fn new(
        shared: &Arc<SharedJob>,
        (pe, bytes): (u32, Symmetric<u8>),
        dtype: DType,
        local: Py<PyAny>,
        py: Python<'_>,
    ) -> PyResult<Self> {
        let words = Words::new(&bytes, dtype.number);
        Ok(Self {
            words: words.map_err(|error| errors::raise(py, &error))?,
            len: bytes.len() / dtype.size_bytes,
            bytes,
            pe,
            dtype,
            local,
            shared: Arc::clone(shared),
        })
    }

    /// The memory, as bytes.
    pub(crate) fn bytes(&self) -> hostwire::Result<Symmetric<u8>> {
        self.bytes.part(..)
    }

    /// The elements as signals.
    ///
    /// # Errors
    /// If they are not of uint64.
    pub(crate) fn signals(&self, py: Python<'_>) -> PyResult<&Symmetric<u64>> {
        self.words.signals().ok_or_else(|| {
            let text = "signal: expected an array of uint64";
            errors::caller(py, text)
        })
    }

    /// The job that it is of.
    pub(crate) fn shared(&self) -> &Arc<SharedJob> {
        &self.shared
    }

    /// The memory, for callers that may keep it.
    fn open<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<&'a Bound<'py, PyAny>> {
        self.shared.check(py)?;
        // An empty get is refused in a copy of the process, which shares the memory with the PE.
        let got = self.bytes.get(self.pe, 0, &mut []);
        got.map_err(|error| errors::raise(py, &error))?;
        Ok(self.local.bind(py))
    }

    /// As [`blocking`], for an operation of the memory alone: see [`SharedJob::begin`].
    fn wait<R: Send>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce() -> hostwire::Result<R> + Send,
    ) -> PyResult<R> {
        let _operation = self.shared.begin(py)?;
        blocking(py, operation)
    }

    /// Where the elements `index .. index + count` begin, in bytes.
    #[inline]
    fn locate(&self, py: Python<'_>, index: usize, count: usize) -> PyResult<usize> {
        if index <= self.len && count <= self.len - index {
            return Ok(index * self.dtype.size_bytes);
        }
        let error = hostwire::Error::OutOfRange {
            index,
            count,
            elements: self.len,
        };
        Err(errors::raise(py, &error))
    }

    #[inline]
    fn place(&self, py: Python<'_>, pe: Whole, index: Whole) -> PyResult<WordTarget<'_>> {
        self.shared.check(py)?;
        self.locate(py, index.index(), 1)?;
        let (pe, index) = (pe.pe(), index.index());
        let far = match self.bytes.local_ptr(pe) {
            Some(_) => None,
            None => Some(self.shared.begin(py)?),
        };
        Ok(WordTarget { pe, index, far })
    }

    /// How a copy of `other` to or from the bytes at `at` of `pe` is best done.
    #[inline]
    fn way(&self, pe: u32, at: usize, other: &[u8]) -> Way {
        let Some(base) = self.bytes.local_ptr(pe) else {
            return Way::Waiting;
        };
        let there = base.addr().wrapping_add(at);
        let here = other.as_ptr().addr();
        let is_apart = here.abs_diff(there) >= other.len();
        match (is_apart, other.len() <= QUICK_BYTES) {
            (true, true) => Way::Quick,
            (true, false) => Way::Waiting,
            (false, _) => Way::ByCopy,
        }
    }

    /// Calls `operation` with the elements of `values`, converted if need be.
    fn with_values<R>(
        &self,
        values: &Bound<'_, PyAny>,
        operation: impl Fn(&[u8]) -> PyResult<R>,
    ) -> PyResult<R> {
        if self.dtype.is_of(values) {
            let mut reached = false;
            let done = with_bytes(values, |bytes| {
                reached = true;
                operation(bytes)
            });
            if reached {
                return done;
            }
            // They lie apart.
        }
        let py = values.py();
        let values = dtype::values(py, "converted", (values, self.dtype.object(py)))?;
        with_bytes(&values, operation)
    }

    #[inline]
    fn put_bytes(&self, py: Python<'_>, pe: u32, index: usize, bytes: &[u8]) -> PyResult<()> {
        let at = self.locate(py, index, bytes.len() / self.dtype.size_bytes)?;
        match self.way(pe, at, bytes) {
            Way::Quick => {
                let put = self.bytes.put(pe, at, bytes);
                put.map_err(|error| errors::raise(py, &error))
            }
            Way::Waiting => self.wait(py, || self.bytes.put(pe, at, bytes)),
            Way::ByCopy => {
                let copy = bytes.to_vec();
                self.wait(py, || self.bytes.put(pe, at, &copy))
            }
        }
    }

    fn get_bytes(&self, py: Python<'_>, pe: u32, index: usize, into: &mut [u8]) -> PyResult<()> {
        let at = self.locate(py, index, into.len() / self.dtype.size_bytes)?;
        match self.way(pe, at, into) {
            Way::Quick => {
                let got = self.bytes.get(pe, at, into);
                got.map_err(|error| errors::raise(py, &error))
            }
            Way::Waiting => self.wait(py, || self.bytes.get(pe, at, into)),
            Way::ByCopy => self.wait(py, || {
                let mut copy = vec![0; into.len()];
                self.bytes.get(pe, at, &mut copy)?;
                into.copy_from_slice(&copy);
                Ok(())
            }),
        }
    }

    fn fetch_and_change<'py>(
        &self,
        py: Python<'py>,
        (pe, index): (Whole, Whole),
        op: FetchOp,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let at = self.place(py, pe, index)?;
        self.words.fetch_and_change(py, &at, op, value)
    }
}

/// See [`Array::way`].
enum Way {
    /// At once.
    Quick,
    /// Without the interpreter's lock.
    Waiting,
    /// The two overlap, which a copy must not see.
    ByCopy,
}

/// The copy of `pe` as a NumPy array; nothing where it is out of reach.
fn ndarray<'py>(
    bytes: &Symmetric<u8>,
    pe: u32,
    dtype: &DType,
    shape: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = shape.py();
    let block = Block::new(bytes, pe).map_err(|error| errors::raise(py, &error))?;
    let Some(block) = block else {
        return Ok(None);
    };
    let make = dtype::numpy(py)?.getattr("ndarray")?;
    make.call1((shape, dtype.object(py), block)).map(Some)
}

#[pymethods]
impl Array {
    /// This PE's copy as a NumPy array: the memory itself. It stays valid as long as it is referred to,
    /// also after the job is closed; what other PEs do there meanwhile is for the program to order.
    #[getter]
    fn local<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open(py).cloned()
    }

    /// The lengths of the axes, in elements.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.local.bind(py).getattr("shape")
    }

    /// The NumPy dtype of the elements.
    #[getter]
    fn dtype<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.dtype.object(py).clone()
    }

    /// How many elements each PE has.
    #[getter]
    fn size(&self) -> usize {
        self.len
    }

    /// How many bytes each PE has.
    #[getter]
    fn nbytes(&self) -> usize {
        self.bytes.len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (shape, dtype) = (self.shape(py)?, self.dtype.object(py));
        Ok(format!("<hostwire.Array shape={shape} dtype={dtype}>"))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.local.bind(py).len()
    }

    /// NumPy's description of the copy of this PE.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.getattr("__array_interface__")
    }

    /// What `numpy.asarray` calls, where it does not use the buffer: without a copy, unless asked for.
    #[pyo3(signature = (dtype=None, *, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dtype::values(py, "as_array", (self.open(py)?, dtype, copy))
    }

    /// The copy of this PE for other libraries, without a copy, as NumPy gives it.
    #[pyo3(signature = (**options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.call_method("__dlpack__", (), options)
    }

    /// The device of `__dlpack__`: the CPU.
    fn __dlpack_device__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.call_method0("__dlpack_device__")
    }

    /// # Safety
    /// The interpreter calls it, with a view that is its own.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut pyo3::ffi::Py_buffer,
        flags: core::ffi::c_int,
    ) -> PyResult<()> {
        let py = slf.py();
        let local = slf.get().open(py)?;
        // SAFETY: the array is alive and the view writable, as the caller says. The buffer is that
        // of the array, which the view then belongs to: the protocol calls that a redirection.
        let result = unsafe { pyo3::ffi::PyObject_GetBuffer(local.as_ptr(), view, flags) };
        match result {
            0 => Ok(()),
            _ => Err(PyErr::fetch(py)),
        }
    }

    /// The rows `begin` to `end - 1` (of the first axis) as an array of its own. Not collective.
    ///
    /// Raises CallerError if they are not there.
    fn part(&self, py: Python<'_>, begin: Whole, end: Whole) -> PyResult<Self> {
        let local = self.open(py)?;
        let (begin, end) = (begin.index(), end.index());
        let rows = local.len()?;
        if begin > end || end > rows {
            let text = format!("expected a part of rows 0 to {rows}, got {begin} to {end}");
            return Err(errors::caller(py, &text));
        }
        let row_bytes = self.bytes.len().checked_div(rows).unwrap_or(0);
        let bytes = self.bytes.part(begin * row_bytes..end * row_bytes);
        let bytes = bytes.map_err(|error| errors::raise(py, &error))?;
        // Both are the length of memory that is there.
        let rows = PySlice::new(py, begin as isize, end as isize, 1);
        let local = local.get_item(rows)?.unbind();
        Self::new(
            &self.shared,
            (self.pe, bytes),
            self.dtype.copy(py),
            local,
            py,
        )
    }

    /// The copy of PE `pe` as a NumPy array, where this process reaches it by loads and stores (on
    /// one host); else None. Stores there need a `Job.fence` as a put does, and a PE that sleeps in
    /// `wait_until` notices them up to 0.1 s late.
    fn view<'py>(&self, py: Python<'py>, pe: Whole) -> PyResult<Option<Bound<'py, PyAny>>> {
        let local = self.open(py)?;
        let shape = local.getattr("shape")?;
        ndarray(&self.bytes, pe.pe(), &self.dtype, shape.cast::<PyTuple>()?)
    }
}
