//! Symmetric arrays.

use std::sync::Arc;

use hostwire::{SignalOp, Symmetric};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PySlice, PyTuple};

use crate::arguments::{Whole, comparison, limit};
use crate::block::Block;
use crate::buffer::{with_bytes, with_bytes_mut};
use crate::dtype::{self, DType};
use crate::errors;
use crate::shared::Shared;
use crate::waiting::blocking;
use crate::words::{FetchOp, Place, Words};

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
    shared: Arc<Shared>,
}

impl Array {
    /// Allocates an array of `shape`. Collective.
    pub(crate) fn zeros(
        shared: &Arc<Shared>,
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
        shared: &Arc<Shared>,
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

    /// The memory, for who may keep it.
    fn open<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<&'a Bound<'py, PyAny>> {
        self.shared.check(py)?;
        // Of nothing: refused in a copy of the process, which shares the memory with the PE.
        let got = self.bytes.get(self.pe, 0, &mut []);
        got.map_err(|error| errors::raise(py, &error))?;
        Ok(self.local.bind(py))
    }

    /// As [`blocking`], for an operation of the memory alone: see [`Shared::begin`].
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
    fn place(&self, py: Python<'_>, pe: Whole, index: Whole) -> PyResult<Place<'_>> {
        self.shared.check(py)?;
        self.locate(py, index.index(), 1)?;
        let (pe, index) = (pe.pe(), index.index());
        let far = match self.bytes.local_ptr(pe) {
            Some(_) => None,
            None => Some(self.shared.begin(py)?),
        };
        Ok(Place { pe, index, far })
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

    /// Copies `values` to the elements from `index` on of PE `pe`.
    ///
    /// `values` is anything that NumPy makes an array of, of any shape; `index` counts elements, in C
    /// order. Returns when `values` may change again. Puts to one PE may become visible in any order
    /// unless `Job.fence` lies between them; `Job.quiet` waits until they are visible.
    ///
    /// Raises CallerError, and stores nothing, for a PE or elements that are not there, or values that
    /// the dtype cannot take; PeerLost.
    #[pyo3(signature = (pe, values, index=Whole::ZERO))]
    fn put(
        &self,
        py: Python<'_>,
        pe: Whole,
        values: &Bound<'_, PyAny>,
        index: Whole,
    ) -> PyResult<()> {
        self.shared.check(py)?;
        self.with_values(values, |bytes| {
            self.put_bytes(py, pe.pe(), index.index(), bytes)
        })
    }

    /// Copies elements of PE `pe` from `index` on, and returns them.
    ///
    /// With `out`, an array of the same dtype, as many as it has go there. Else they come in a new
    /// array: `count` elements, or all from `index` on; all elements come in the shape of the array.
    ///
    /// Raises CallerError for a PE or elements that are not there; PeerLost.
    #[pyo3(signature = (pe, out=None, index=Whole::ZERO, count=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        out: Option<Bound<'py, PyAny>>,
        index: Whole,
        count: Option<Whole>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.shared.check(py)?;
        let local = self.local.bind(py);
        let (pe, index) = (pe.pe(), index.index());
        let fresh = |out: Bound<'py, PyAny>| {
            with_bytes_mut(&out, |into| self.get_bytes(py, pe, index, into))?;
            Ok(out)
        };
        let Some(out) = out else {
            let shape = match (count, index) {
                (None, 0) => local.getattr("shape")?,
                (None, index) => PyTuple::new(py, [self.len.saturating_sub(index)])?.into_any(),
                (Some(count), _) => {
                    self.locate(py, index, count.index())?;
                    PyTuple::new(py, [count.index()])?.into_any()
                }
            };
            let empty = dtype::numpy(py)?.getattr("empty")?;
            return fresh(empty.call1((shape, self.dtype.object(py)))?);
        };
        if count.is_some() {
            let text = "either out, whose size is the count, or a count";
            return Err(errors::caller(py, text));
        }
        if !self.dtype.is_of(&out) {
            let text = format!(
                "out: expected an array of {}, got {}",
                self.dtype.object(py),
                out.getattr("dtype").unwrap_or(out.get_type().into_any())
            );
            return Err(errors::caller(py, &text));
        }
        let mut reached = false;
        let got = with_bytes_mut(&out, |into| {
            reached = true;
            self.get_bytes(py, pe, index, into)
        });
        if reached {
            return got.map(|()| out);
        }
        // Its elements lie apart, or it is not to be written, which the assignment refuses.
        let values = fresh(dtype::values(py, "room_for", (&out,))?)?;
        dtype::values(py, "assign", (&out, values))?;
        Ok(out)
    }

    /// As `put`, and then sets element `signal_index` of `signal`, an array of uint64, of the same PE
    /// to `value`; with `add`, adds `value`. The signal is never visible before the values: who waits
    /// for it by `wait_until` has both.
    #[pyo3(signature = (pe, values, signal, value, index=Whole::ZERO, signal_index=Whole::ZERO, add=false))]
    #[expect(
        clippy::too_many_arguments,
        reason = "a put and a signal; Python passes them by name"
    )]
    fn put_signal(
        &self,
        py: Python<'_>,
        pe: Whole,
        values: &Bound<'_, PyAny>,
        signal: &Bound<'_, Self>,
        value: Whole,
        index: Whole,
        signal_index: Whole,
        add: bool,
    ) -> PyResult<()> {
        self.shared.check(py)?;
        let signal = signal.get();
        let Some(signals) = signal.words.signals() else {
            let text = "signal: expected an array of uint64";
            return Err(errors::caller(py, text));
        };
        signal.locate(py, signal_index.index(), 1)?;
        let op = match add {
            true => SignalOp::Add(value.0),
            false => SignalOp::Set(value.0),
        };
        let pe = pe.pe();
        self.with_values(values, |bytes| {
            let at = self.locate(py, index.index(), bytes.len() / self.dtype.size_bytes)?;
            let copy = matches!(self.way(pe, at, bytes), Way::ByCopy).then(|| bytes.to_vec());
            let bytes = copy.as_deref().unwrap_or(bytes);
            self.wait(py, || {
                let bytes_of_all = &self.bytes;
                bytes_of_all.put_with_signal(pe, at, bytes, signals, signal_index.index(), op)
            })
        })
    }

    /// Reads element `index` of PE `pe`, atomically. For numbers of 32 or 64 bits, as all atomic
    /// operations; the result is a Python number.
    #[pyo3(signature = (pe, index=Whole::ZERO))]
    fn fetch<'py>(&self, py: Python<'py>, pe: Whole, index: Whole) -> PyResult<Bound<'py, PyAny>> {
        self.words.fetch(py, &self.place(py, pe, index)?)
    }

    /// Sets element `index` of PE `pe` to `value`, atomically.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn set<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<()> {
        self.swap(py, pe, value, index).map(|_| ())
    }

    /// Sets element `index` of PE `pe` to `value`, atomically, and returns what it was.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn swap<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.words.swap(py, &self.place(py, pe, index)?, value)
    }

    /// Sets element `index` of PE `pe` to `new` if it is `expected`, atomically, and returns what it was.
    /// For integers of 32 or 64 bits, as all atomic changes.
    #[pyo3(signature = (pe, expected, new, index=Whole::ZERO))]
    fn compare_swap<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        expected: &Bound<'py, PyAny>,
        new: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        let at = self.place(py, pe, index)?;
        self.words.compare_swap(py, &at, (expected, new))
    }

    /// Adds `value` to element `index` of PE `pe`, atomically, and returns what it was. Wraps.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn fetch_add<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.fetch_and_change(py, (pe, index), FetchOp::Add, value)
    }

    /// Ands element `index` of PE `pe` with `value`, atomically, and returns what it was.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn fetch_and<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.fetch_and_change(py, (pe, index), FetchOp::And, value)
    }

    /// Ors element `index` of PE `pe` with `value`, atomically, and returns what it was.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn fetch_or<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.fetch_and_change(py, (pe, index), FetchOp::Or, value)
    }

    /// Xors element `index` of PE `pe` with `value`, atomically, and returns what it was.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn fetch_xor<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.fetch_and_change(py, (pe, index), FetchOp::Xor, value)
    }

    /// Makes element `index` of PE `pe` the lesser of itself and `value`, atomically, and returns what
    /// it was.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn fetch_min<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.fetch_and_change(py, (pe, index), FetchOp::Min, value)
    }

    /// Makes element `index` of PE `pe` the greater of itself and `value`, atomically, and returns what
    /// it was.
    #[pyo3(signature = (pe, value, index=Whole::ZERO))]
    fn fetch_max<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.fetch_and_change(py, (pe, index), FetchOp::Max, value)
    }

    /// Whether own element `index` compares so with `value`, without waiting. `sign` is one of
    /// `== != < <= > >=`. If not, the job makes progress, so a program may call this until it holds.
    #[pyo3(signature = (sign, value, index=Whole::ZERO))]
    fn test<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        index: Whole,
    ) -> PyResult<bool> {
        let _operation = self.shared.begin(py)?;
        self.locate(py, index.index(), 1)?;
        let compare = comparison(py, sign)?;
        self.words.test(py, index.index(), compare, value)
    }

    /// Waits until own element `index` compares so with `value`: `flags.wait_until(">=", 1)`. `sign` is
    /// one of `== != < <= > >=`, for numbers of 32 or 64 bits. Everything is visible then that was
    /// stored before the signal, or before a fence and the put.
    ///
    /// With `timeout_s`, waits for so many seconds at most, and returns whether the comparison holds.
    /// Other threads run meanwhile; Ctrl-C ends it.
    ///
    /// Raises PeerLost when a PE of the job is found to have died while waiting: once for each loss, so
    /// a program may go on waiting for others.
    #[pyo3(signature = (sign, value, index=Whole::ZERO, timeout_s=None))]
    fn wait_until<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        index: Whole,
        timeout_s: Option<f64>,
    ) -> PyResult<bool> {
        let _operation = self.shared.begin(py)?;
        self.locate(py, index.index(), 1)?;
        let compare = comparison(py, sign)?;
        let limit = timeout_s
            .map(|timeout_s| limit(py, timeout_s))
            .transpose()?;
        let index = index.index();
        self.words.wait_until(py, index, (compare, value), limit)
    }
}
