//! Atomic operations, and waiting for words.

use pyo3::prelude::*;

use super::Array;
use crate::arguments::{Whole, comparison, limit};
use crate::words::{FetchOp, HowMany};

#[pymethods]
impl Array {
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

    /// As `test`, of the elements `indices`, or of all: the first of them that compares so, or None.
    #[pyo3(signature = (sign, value, indices=None))]
    fn test_any<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        indices: Option<Vec<Whole>>,
    ) -> PyResult<Option<usize>> {
        let how = (HowMany::Any, false);
        let found = self.several(py, (sign, value), indices, how)?;
        Ok(found.and_then(|found| found.first().copied()))
    }

    /// As `test`, of the elements `indices`, or of all: those that compare so.
    #[pyo3(signature = (sign, value, indices=None))]
    fn test_some<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        indices: Option<Vec<Whole>>,
    ) -> PyResult<Vec<usize>> {
        let how = (HowMany::Some, false);
        let found = self.several(py, (sign, value), indices, how)?;
        Ok(found.unwrap_or_default())
    }

    /// As `test`, of the elements `indices`, or of all: whether all of them compare so.
    #[pyo3(signature = (sign, value, indices=None))]
    fn test_all<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        indices: Option<Vec<Whole>>,
    ) -> PyResult<bool> {
        let how = (HowMany::All, false);
        let found = self.several(py, (sign, value), indices, how)?;
        Ok(found.is_some())
    }

    /// As `wait_until` without a time limit, until one of the elements `indices`, or of all, compares
    /// so: returns which. None at once if there are none.
    #[pyo3(signature = (sign, value, indices=None))]
    fn wait_until_any<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        indices: Option<Vec<Whole>>,
    ) -> PyResult<Option<usize>> {
        let how = (HowMany::Any, true);
        let found = self.several(py, (sign, value), indices, how)?;
        Ok(found.and_then(|found| found.first().copied()))
    }

    /// As `wait_until_any`, and returns all of them that compare so.
    #[pyo3(signature = (sign, value, indices=None))]
    fn wait_until_some<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        indices: Option<Vec<Whole>>,
    ) -> PyResult<Vec<usize>> {
        let how = (HowMany::Some, true);
        let found = self.several(py, (sign, value), indices, how)?;
        Ok(found.unwrap_or_default())
    }

    /// As `wait_until_any`, until all of them have compared so. One that has is not looked at again.
    #[pyo3(signature = (sign, value, indices=None))]
    fn wait_until_all<'py>(
        &self,
        py: Python<'py>,
        sign: &str,
        value: &Bound<'py, PyAny>,
        indices: Option<Vec<Whole>>,
    ) -> PyResult<()> {
        let how = (HowMany::All, true);
        self.several(py, (sign, value), indices, how).map(drop)
    }
}

impl Array {
    fn several(
        &self,
        py: Python<'_>,
        (sign, value): (&str, &Bound<'_, PyAny>),
        indices: Option<Vec<Whole>>,
        how: (HowMany, bool),
    ) -> PyResult<Option<Vec<usize>>> {
        let _operation = self.shared.begin(py)?;
        let indices: Vec<_> = match indices {
            Some(indices) => indices.into_iter().map(Whole::index).collect(),
            None => (0..self.len).collect(),
        };
        for index in &indices {
            self.locate(py, *index, 1)?;
        }
        let compare = comparison(py, sign)?;
        self.words.several(py, &indices, (compare, value), how)
    }
}
