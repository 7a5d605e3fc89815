//! Messages in the background.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hostwire::{Completion, Queue, Ticket};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors;
use crate::shared::SharedJob;
use crate::waiting::blocking;

/// What is known of a message, and its bytes: `(source, tag, data)`.
pub(crate) type Parts<'py> = (u32, u64, Bound<'py, PyBytes>);

/// A send or a receive that goes on in the background.
#[pyclass(frozen, module = "hostwire", subclass)]
pub struct Request {
    queue: Queue<u8>,
    ticket: Ticket,
    is_receive: bool,
    done: Mutex<Option<Arc<Completion<u8>>>>,
    shared: Arc<SharedJob>,
}

impl Request {
    /// One that `start` starts in a queue of its own.
    pub(crate) fn start(
        py: Python<'_>,
        shared: &Arc<SharedJob>,
        is_receive: bool,
        start: impl FnOnce(&Queue<u8>) -> hostwire::Result<Ticket> + Send,
    ) -> PyResult<Self> {
        let job = shared.job(py)?;
        let (queue, ticket) = blocking(py, || {
            let queue = job.queue::<u8>()?;
            let ticket = start(&queue)?;
            Ok((queue, ticket))
        })?;
        Ok(Self {
            queue,
            ticket,
            is_receive,
            done: Mutex::new(None),
            shared: Arc::clone(shared),
        })
    }

    /// Held for a few instructions, with the interpreter's lock. As in [`SharedJob`], no Python object is
    /// made or dropped meanwhile.
    fn done(&self) -> MutexGuard<'_, Option<Arc<Completion<u8>>>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, completion: Option<Completion<u8>>) -> bool {
        let mut done = self.done();
        if completion.is_some() {
            *done = completion.map(Arc::new);
        }
        done.is_some()
    }
}

#[pymethods]
impl Request {
    /// Whether it has ended. Makes progress, and does not wait.
    fn test(&self, py: Python<'_>) -> PyResult<bool> {
        if self.keep(None) {
            return Ok(true);
        }
        let _operation = self.shared.begin(py)?;
        let completion = blocking(py, || self.queue.poll())?;
        Ok(self.keep(completion))
    }

    /// Waits for its end. `(source, tag, data)` of a receive, nothing of a send.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Option<Parts<'py>>> {
        if !self.keep(None) {
            let _operation = self.shared.begin(py)?;
            let completion = blocking(py, || self.queue.wait())?;
            self.keep(completion);
        }
        let done = self.done().clone();
        let Some(done) = done else {
            let text = "another thread waits for this request";
            return Err(errors::caller(py, text));
        };
        match &done.result {
            Err(error) => Err(errors::raise(py, error)),
            Ok(_) if !self.is_receive => Ok(None),
            Ok(envelope) => {
                let data = PyBytes::new(py, &done.values);
                Ok(Some((envelope.from, envelope.tag, data)))
            }
        }
    }

    /// Ends it, if nothing of the message has moved: whether it does.
    fn cancel(&self, py: Python<'_>) -> PyResult<bool> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.queue.cancel(self.ticket))
    }
}
