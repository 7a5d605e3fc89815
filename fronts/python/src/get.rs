//! Gets that do not wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire::StartedGet;
use pyo3::prelude::*;

use crate::buffer::with_bytes_mut;
use crate::dtype::{self, DType};
use crate::errors;
use crate::shared::SharedJob;
use crate::waiting::blocking;

/// A get that has begun, made by `Array.start_get`.
#[pyclass(frozen, module = "hostwire")]
pub struct Get {
    state: Mutex<GetState>,
    dtype: DType,
    shared: Arc<SharedJob>,
}

enum GetState {
    Begun(StartedGet<u8>),
    /// The values; nothing if they did not come.
    Ended(Option<Py<PyAny>>),
}

impl Get {
    pub(crate) fn new(begun: StartedGet<u8>, dtype: DType, shared: &Arc<SharedJob>) -> Self {
        Self {
            state: Mutex::new(GetState::Begun(begun)),
            dtype,
            shared: Arc::clone(shared),
        }
    }

    /// Held for a few instructions, with the interpreter's lock.
    fn state(&self) -> MutexGuard<'_, GetState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those of `bytes`, as an array.
    fn array(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        let count = bytes.len() / self.dtype.size_bytes;
        let empty = dtype::numpy(py)?.getattr("empty")?;
        let out = empty.call1((count, self.dtype.object(py)))?;
        with_bytes_mut(&out, |into| {
            into.copy_from_slice(bytes);
            Ok(())
        })?;
        Ok(out.unbind())
    }
}

#[pymethods]
impl Get {
    /// Waits for the values, and returns them: a new NumPy array, the same in each call.
    ///
    /// Raises PeerLost; CallerError if the job is closed, or another thread waits for this get.
    fn wait(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let begun = {
            let mut state = self.state();
            match &*state {
                GetState::Ended(Some(values)) => return Ok(values.clone_ref(py)),
                GetState::Ended(None) => None,
                GetState::Begun(_) => Some(core::mem::replace(&mut *state, GetState::Ended(None))),
            }
        };
        let Some(GetState::Begun(begun)) = begun else {
            let text = "these values did not come, or another thread waits for them";
            return Err(errors::caller(py, text));
        };
        let operation = self.shared.begin(py)?;
        let bytes = blocking(py, || begun.wait())?;
        drop(operation);
        let values = self.array(py, &bytes)?;
        *self.state() = GetState::Ended(Some(values.clone_ref(py)));
        Ok(values)
    }
}
