//! Atomic operations, and waiting for words: of arrays whose elements are numbers of 32 or 64 bits.

use std::time::Duration;

use hostwire::{Compare, Symmetric};
use pyo3::BoundObject;
use pyo3::prelude::*;

use crate::dtype::Number;
use crate::errors;
use crate::shared::Operation;
use crate::waiting::blocking;

/// An array by the type of its elements, if they are words.
pub(crate) enum Words {
    I32(Symmetric<i32>),
    U32(Symmetric<u32>),
    I64(Symmetric<i64>),
    U64(Symmetric<u64>),
    F32(Symmetric<f32>),
    F64(Symmetric<f64>),
    None,
}

/// Calls `$body` with the array under the name `$words`.
macro_rules! integers {
    ($py:expr, $self:expr, $what:expr, $words:ident => $body:expr) => {
        match $self {
            Words::I32($words) => $body,
            Words::U32($words) => $body,
            Words::I64($words) => $body,
            Words::U64($words) => $body,
            _ => Err(no_words($py, $what, "integers of 32 or 64 bits")),
        }
    };
}

macro_rules! words {
    ($py:expr, $self:expr, $what:expr, $words:ident => $body:expr) => {
        match $self {
            Words::I32($words) => $body,
            Words::U32($words) => $body,
            Words::I64($words) => $body,
            Words::U64($words) => $body,
            Words::F32($words) => $body,
            Words::F64($words) => $body,
            Words::None => Err(no_words($py, $what, "numbers of 32 or 64 bits")),
        }
    };
}

#[cold]
fn no_words(py: Python<'_>, what: &str, expected: &str) -> PyErr {
    errors::caller(py, &format!("{what} needs an array of {expected}"))
}

/// An operation that gives the value that was there before.
#[derive(Clone, Copy)]
pub(crate) enum FetchOp {
    Add,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// How many of several words a program waits for.
#[derive(Clone, Copy)]
pub(crate) enum HowMany {
    Any,
    Some,
    All,
}

/// Where an operation goes. `far` is `None` where the CPU does it, which takes no time.
pub(crate) struct WordTarget<'a> {
    pub(crate) pe: u32,
    pub(crate) index: usize,
    pub(crate) far: Option<Operation<'a>>,
}

impl WordTarget<'_> {
    #[inline]
    fn run<R: Send>(
        &self,
        py: Python<'_>,
        operation: impl FnOnce() -> hostwire::Result<R> + Send,
    ) -> PyResult<R> {
        match &self.far {
            None => operation().map_err(|error| errors::raise(py, &error)),
            Some(_) => blocking(py, operation),
        }
    }
}

type Value<'a, 'py> = &'a Bound<'py, PyAny>;

/// A Python number as an element.
fn element<'py, T>(value: Value<'_, 'py>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    value.extract::<T>().map_err(|error| {
        let text = format!("not a value of these elements: {}", error.into());
        errors::caller(value.py(), &text)
    })
}

fn object<'py, T: IntoPyObject<'py>>(py: Python<'py>, value: T) -> PyResult<Bound<'py, PyAny>> {
    let object = value.into_pyobject(py).map_err(Into::into)?;
    Ok(object.into_any().into_bound())
}

impl Words {
    /// The elements of `bytes`, which are `number`s.
    pub(crate) fn new(bytes: &Symmetric<u8>, number: Option<Number>) -> hostwire::Result<Self> {
        Ok(match number {
            Some(Number::I32) => Self::I32(bytes.cast()?),
            Some(Number::U32) => Self::U32(bytes.cast()?),
            Some(Number::I64) => Self::I64(bytes.cast()?),
            Some(Number::U64) => Self::U64(bytes.cast()?),
            Some(Number::F32) => Self::F32(bytes.cast()?),
            Some(Number::F64) => Self::F64(bytes.cast()?),
            _ => Self::None,
        })
    }

    /// The elements as signals.
    pub(crate) fn signals(&self) -> Option<&Symmetric<u64>> {
        match self {
            Self::U64(words) => Some(words),
            _ => None,
        }
    }

    pub(crate) fn fetch<'py>(
        &self,
        py: Python<'py>,
        at: &WordTarget<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        words!(py, self, "fetch", words => {
            object(py, at.run(py, || words.fetch(at.pe, at.index))?)
        })
    }

    pub(crate) fn swap<'py>(
        &self,
        py: Python<'py>,
        at: &WordTarget<'_>,
        value: Value<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        words!(py, self, "swap", words => {
            let value = element(value)?;
            object(py, at.run(py, || words.swap(at.pe, at.index, value))?)
        })
    }

    pub(crate) fn compare_swap<'py>(
        &self,
        py: Python<'py>,
        at: &WordTarget<'_>,
        (expected, new): (Value<'_, 'py>, Value<'_, 'py>),
    ) -> PyResult<Bound<'py, PyAny>> {
        integers!(py, self, "compare_swap", words => {
            let (expected, new) = (element(expected)?, element(new)?);
            object(py, at.run(py, || words.compare_swap(at.pe, at.index, expected, new))?)
        })
    }

    pub(crate) fn fetch_and_change<'py>(
        &self,
        py: Python<'py>,
        at: &WordTarget<'_>,
        op: FetchOp,
        value: Value<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        integers!(py, self, "an atomic change", words => {
            let value = element(value)?;
            let (pe, index) = (at.pe, at.index);
            object(py, at.run(py, || match op {
                FetchOp::Add => words.fetch_add(pe, index, value),
                FetchOp::And => words.fetch_and(pe, index, value),
                FetchOp::Or => words.fetch_or(pe, index, value),
                FetchOp::Xor => words.fetch_xor(pe, index, value),
                FetchOp::Min => words.fetch_min(pe, index, value),
                FetchOp::Max => words.fetch_max(pe, index, value),
            })?)
        })
    }

    pub(crate) fn test<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        compare: Compare,
        value: Value<'_, 'py>,
    ) -> PyResult<bool> {
        words!(py, self, "test", words => {
            let value = element(value)?;
            blocking(py, || words.test(index, compare, value))
        })
    }

    /// Waits; with a limit, for that long at most. Whether the comparison holds.
    pub(crate) fn wait_until<'py>(
        &self,
        py: Python<'py>,
        index: usize,
        (compare, value): (Compare, Value<'_, 'py>),
        limit: Option<Duration>,
    ) -> PyResult<bool> {
        words!(py, self, "wait_until", words => {
            let value = element(value)?;
            blocking(py, || match limit {
                Some(limit) => words.wait_until_for(index, compare, value, limit),
                None => words.wait_until(index, compare, value).map(|()| true),
            })
        })
    }

    /// Which of the elements `indices` compare so, if as many do as `how_many` asks for; with `waits`,
    /// when they do.
    pub(crate) fn several(
        &self,
        py: Python<'_>,
        indices: &[usize],
        (compare, value): (Compare, Value<'_, '_>),
        (how_many, waits): (HowMany, bool),
    ) -> PyResult<Option<Vec<usize>>> {
        words!(py, self, "waiting for words", words => {
            let value = element(value)?;
            let one = |found: Option<usize>| found.map(|index| vec![index]);
            let all = || Some(indices.to_vec());
            blocking(py, || Ok(match (how_many, waits) {
                (HowMany::Any, false) => one(words.test_any(indices, compare, value)?),
                (HowMany::Any, true) => one(words.wait_until_any(indices, compare, value)?),
                (HowMany::Some, false) => Some(words.test_some(indices, compare, value)?),
                (HowMany::Some, true) => Some(words.wait_until_some(indices, compare, value)?),
                (HowMany::All, false) => match words.test_all(indices, compare, value)? {
                    true => all(),
                    false => None,
                },
                (HowMany::All, true) => {
                    words.wait_until_all(indices, compare, value)?;
                    all()
                }
            }))
        })
    }
}
