//! Numbers and names that a program passes.

use std::time::Duration;

use hostwire::{Compare, Source, Tag};
use pyo3::prelude::*;

use crate::errors;

/// A number of 0 or more: a PE, a rank, an index, a count, a tag.
#[derive(Clone, Copy)]
pub(crate) struct Whole(pub(crate) u64);

impl Whole {
    pub(crate) const ZERO: Self = Self(0);

    /// As an index or a count. Where it is compared with a length, a number that is too large is
    /// refused.
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }

    /// As a PE or a rank; one that is too large is no PE of any job.
    #[inline]
    pub(crate) fn pe(self) -> u32 {
        u32::try_from(self.0).unwrap_or(u32::MAX)
    }
}

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    #[inline]
    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match value.extract::<u64>() {
            Ok(number) => Ok(Self(number)),
            Err(_) => Err(not_whole(&value)),
        }
    }
}

#[cold]
fn not_whole(value: &Bound<'_, PyAny>) -> PyErr {
    let got = value.repr().map(|text| text.to_string());
    let got = got.unwrap_or_else(|_| "something else".into());
    let text = format!("expected a whole number from 0 to 2^64 - 1, got {got}");
    errors::caller(value.py(), &text)
}

/// A comparison by its sign.
pub(crate) fn comparison(py: Python<'_>, sign: &str) -> PyResult<Compare> {
    Ok(match sign {
        "==" => Compare::Eq,
        "!=" => Compare::Ne,
        "<" => Compare::Lt,
        "<=" => Compare::Le,
        ">" => Compare::Gt,
        ">=" => Compare::Ge,
        other => {
            let text = format!("expected a comparison (== != < <= > >=), got {other:?}");
            return Err(errors::caller(py, &text));
        }
    })
}

/// A time limit in seconds.
pub(crate) fn limit(py: Python<'_>, timeout_s: f64) -> PyResult<Duration> {
    if timeout_s == f64::INFINITY {
        return Ok(Duration::MAX);
    }
    Duration::try_from_secs_f64(timeout_s).map_err(|_| {
        let text = format!("timeout_s: expected 0 or more seconds, got {timeout_s}");
        errors::caller(py, &text)
    })
}

/// Whose messages are asked for; without a number, those of all PEs.
pub(crate) fn source(source: Option<Whole>) -> Source {
    source.map_or(Source::Any, |pe| Source::Pe(pe.pe()))
}

/// Which tags are asked for; without a number, all.
pub(crate) fn tag(tag: Option<Whole>) -> Tag {
    tag.map_or(Tag::ANY, |tag| Tag::from(tag.0))
}
