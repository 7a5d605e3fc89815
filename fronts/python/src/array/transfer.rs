//! Puts and gets.

use hostwire::SignalOp;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use super::{Array, Way};
use crate::arguments::Whole;
use crate::buffer::with_bytes_mut;
use crate::dtype;
use crate::errors;
use crate::get::Get;
use crate::waiting::blocking;

#[pymethods]
impl Array {
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
        let signals = signal.signals(py)?;
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

    /// As `put`, but element `i` of `values` goes to element `index + i * stride`: a put for each.
    #[pyo3(signature = (pe, values, stride, index=Whole::ZERO))]
    fn put_strided(
        &self,
        py: Python<'_>,
        pe: Whole,
        values: &Bound<'_, PyAny>,
        stride: Whole,
        index: Whole,
    ) -> PyResult<()> {
        self.shared.check(py)?;
        self.with_values(values, |bytes| {
            let size_bytes = self.dtype.size_bytes;
            let count = bytes.len() / size_bytes;
            let (at, step) = self.locate_strided(py, (index, stride), count)?;
            // It may be of the memory that is put to.
            let bytes = bytes.to_vec();
            self.wait(py, || {
                let mut places = (at..).step_by(step);
                let mut values = bytes.chunks_exact(size_bytes);
                values.try_for_each(|value| match places.next() {
                    Some(at) => self.bytes.put(pe.pe(), at, value),
                    None => Ok(()),
                })
            })
        })
    }

    /// `count` elements of PE `pe`, in a new array: element `index`, `index + stride` and so on. A get
    /// for each; between hosts, one after the other.
    #[pyo3(signature = (pe, count, stride, index=Whole::ZERO))]
    fn get_strided<'py>(
        &self,
        py: Python<'py>,
        pe: Whole,
        count: Whole,
        stride: Whole,
        index: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.shared.check(py)?;
        let (at, step) = self.locate_strided(py, (index, stride), count.index())?;
        let out = self.empty(py, count.index())?;
        with_bytes_mut(&out, |into| {
            self.wait(py, || {
                let mut places = (at..).step_by(step);
                let mut values = into.chunks_exact_mut(self.dtype.size_bytes);
                values.try_for_each(|value| match places.next() {
                    Some(at) => self.bytes.get(pe.pe(), at, value),
                    None => Ok(()),
                })
            })
        })?;
        Ok(out)
    }

    /// Begins to copy `count` elements of PE `pe` from `index` on, or all from there, and does not wait
    /// for them: `wait` of what it returns does, and gives them. Any number of such gets may be on
    /// their way. The values are those of some moment between the two calls.
    #[pyo3(signature = (pe, index=Whole::ZERO, count=None))]
    fn start_get(
        &self,
        py: Python<'_>,
        pe: Whole,
        index: Whole,
        count: Option<Whole>,
    ) -> PyResult<Get> {
        let operation = self.shared.begin(py)?;
        let index = index.index();
        let count = count.map_or(self.len.saturating_sub(index), Whole::index);
        let at = self.locate(py, index, count)?;
        let len_bytes = count * self.dtype.size_bytes;
        let begun = blocking(py, || self.bytes.start_get(pe.pe(), at, len_bytes))?;
        drop(operation);
        Ok(Get::new(begun, self.dtype.copy(py), &self.shared))
    }
}

impl Array {
    /// A new NumPy array of so many elements.
    fn empty<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyAny>> {
        let empty = dtype::numpy(py)?.getattr("empty")?;
        empty.call1((count, self.dtype.object(py)))
    }

    /// Where the first of `count` elements is, in bytes, and how far apart they are.
    fn locate_strided(
        &self,
        py: Python<'_>,
        (index, stride): (Whole, Whole),
        count: usize,
    ) -> PyResult<(usize, usize)> {
        if stride.0 == 0 {
            return Err(errors::caller(py, "stride: expected 1 or more, got 0"));
        }
        let steps = count.saturating_sub(1).saturating_mul(stride.index());
        let span = steps.saturating_add(count.min(1));
        let at = self.locate(py, index.index(), span)?;
        Ok((at, stride.index().saturating_mul(self.dtype.size_bytes)))
    }
}
