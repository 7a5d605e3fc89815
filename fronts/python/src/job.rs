//! The job, and messages.

use std::sync::Arc;

use hostwire::Error;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::arguments::{self, Whole};
use crate::array::Array;
use crate::buffer::{check_plain, in_place, with_bytes};
use crate::dtype::{self, DType};
use crate::errors;
use crate::request::{Parts, Request};
use crate::shared::SharedJob;
use crate::team::Team;
use crate::waiting::{blocking, is_interrupted};

/// This process's place in its job.
#[pyclass(frozen, module = "hostwire", subclass)]
pub struct Job {
    shared: Arc<SharedJob>,
}

/// Calls `operation` with the bytes of an object; if they lie apart, with a copy.
fn with_message<R>(
    data: &Bound<'_, PyAny>,
    operation: impl Fn(&[u8]) -> PyResult<R>,
) -> PyResult<R> {
    let mut reached = false;
    if check_plain(data).is_err() {
        let data = dtype::values(data.py(), "message", (data,))?;
        return with_bytes(&data, operation);
    }
    let done = with_bytes(data, |bytes| {
        reached = true;
        operation(bytes)
    });
    match done {
        Err(_) if !reached => {
            let data = dtype::values(data.py(), "message", (data,))?;
            with_bytes(&data, operation)
        }
        done => done,
    }
}

/// An error if there is no such PE: the core orders what goes to it, which is nothing.
fn check_pe(py: Python<'_>, job: &hostwire::Job, pe: Option<Whole>) -> PyResult<()> {
    let (pe, pes) = (pe.map_or(0, Whole::pe), job.pes());
    if pe < pes {
        return Ok(());
    }
    let what = "PE";
    Err(errors::raise(py, &Error::NoSuchPe { what, pe, pes }))
}

impl Job {
    /// What all objects of the job look at.
    pub(crate) fn shared(&self) -> &Arc<SharedJob> {
        &self.shared
    }
}

#[pymethods]
impl Job {
    #[new]
    fn new(py: Python<'_>) -> PyResult<Self> {
        let job = blocking(py, hostwire::Job::attach)?;
        job.end_waits_if(is_interrupted);
        Ok(Self {
            shared: SharedJob::new(job),
        })
    }

    /// The number of this PE, `0 .. pes`.
    #[getter]
    fn pe(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.shared.job(py)?.pe())
    }

    /// How many PEs the job has.
    #[getter]
    fn pes(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.shared.job(py)?.pes())
    }

    /// The team of all PEs: collective operations. A PE's rank in it is its number.
    #[getter]
    fn world(&self, py: Python<'_>) -> PyResult<Team> {
        self.shared.check(py)?;
        Ok(Team::world(&self.shared))
    }

    /// Whether the job is neither closed nor abandoned.
    #[getter]
    fn is_open(&self) -> bool {
        self.shared.is_open()
    }

    /// Bytes of the symmetric heap that are free.
    #[getter]
    fn free_bytes(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.shared.job(py)?.free_bytes())
    }

    /// Seconds since some moment of this process. In virtual time it is the simulated time.
    fn clock_s(&self, py: Python<'_>) -> PyResult<f64> {
        Ok(self.shared.job(py)?.clock().as_secs_f64())
    }

    /// The number of the host that PE `pe` is on; None if there is no such PE.
    fn node(&self, py: Python<'_>, pe: Whole) -> PyResult<Option<u32>> {
        Ok(self.shared.job(py)?.nodes().node_of(pe.pe()))
    }

    fn _zeros(
        &self,
        py: Python<'_>,
        shape: &Bound<'_, PyTuple>,
        dtype: &Bound<'_, PyAny>,
    ) -> PyResult<Array> {
        self.shared.check(py)?;
        Array::zeros(&self.shared, shape, DType::new(dtype)?)
    }

    /// Orders puts before this call before puts after it, for each target PE, or for PE `pe`.
    #[pyo3(signature = (pe=None))]
    fn fence(&self, py: Python<'_>, pe: Option<Whole>) -> PyResult<()> {
        let job = self.shared.job(py)?;
        check_pe(py, &job, pe)?;
        blocking(py, || match pe {
            Some(pe) => job.fence_of(pe.pe()),
            None => job.fence(),
        })
    }

    /// Returns when all puts before it, or those to PE `pe`, are visible at their targets.
    #[pyo3(signature = (pe=None))]
    fn quiet(&self, py: Python<'_>, pe: Option<Whole>) -> PyResult<()> {
        let job = self.shared.job(py)?;
        check_pe(py, &job, pe)?;
        blocking(py, || match pe {
            Some(pe) => job.quiet_of(pe.pe()),
            None => job.quiet(),
        })
    }

    /// Waits for all PEs. Everything that they stored before is then visible to all of them.
    fn barrier(&self, py: Python<'_>) -> PyResult<()> {
        let job = self.shared.job(py)?;
        blocking(py, || job.barrier())
    }

    /// Sends `data`, bytes or a NumPy array, to PE `to`, as bytes. The tag is any number from 0 to
    /// 2^64 - 1. Messages of one pair with one tag arrive in the order of sending. A message that does
    /// not fit the ring of the receiver waits for its receive.
    ///
    /// Raises CallerError; PeerLost.
    #[pyo3(signature = (to, data, tag=Whole::ZERO))]
    fn send(&self, py: Python<'_>, to: Whole, data: &Bound<'_, PyAny>, tag: Whole) -> PyResult<()> {
        let job = self.shared.job(py)?;
        with_message(data, |bytes| {
            blocking(py, || job.send(to.pe(), tag.0, bytes))
        })
    }

    fn _recv<'py>(
        &self,
        py: Python<'py>,
        source: Option<Whole>,
        tag: Option<Whole>,
    ) -> PyResult<Parts<'py>> {
        let job = self.shared.job(py)?;
        let (source, tag) = (arguments::source(source), arguments::tag(tag));
        let (envelope, bytes) = blocking(py, || job.recv_any_vec::<u8>(source, tag))?;
        Ok((envelope.from, envelope.tag, PyBytes::new(py, &bytes)))
    }

    /// `(source, tag, bytes)` of a message whose bytes are in `out` now.
    fn _recv_into(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyAny>,
        source: Option<Whole>,
        tag: Option<Whole>,
    ) -> PyResult<(u32, u64, usize)> {
        let job = self.shared.job(py)?;
        let (source, tag) = (arguments::source(source), arguments::tag(tag));
        let envelope = in_place(out, |room| blocking(py, || job.recv_any(source, tag, room)))?;
        Ok((envelope.from, envelope.tag, envelope.len_bytes))
    }

    /// `(source, tag, bytes)` of a message that has arrived, which stays.
    fn _probe(
        &self,
        py: Python<'_>,
        source: Option<Whole>,
        tag: Option<Whole>,
        waits: bool,
    ) -> PyResult<Option<(u32, u64, usize)>> {
        let job = self.shared.job(py)?;
        let (source, tag) = (arguments::source(source), arguments::tag(tag));
        let envelope = blocking(py, || match waits {
            true => job.probe(source, tag).map(Some),
            false => job.try_probe(source, tag),
        })?;
        Ok(envelope.map(|envelope| (envelope.from, envelope.tag, envelope.len_bytes)))
    }

    fn _start_send(
        &self,
        py: Python<'_>,
        to: Whole,
        data: &Bound<'_, PyAny>,
        tag: Whole,
    ) -> PyResult<Request> {
        let bytes = with_message(data, |bytes| Ok(bytes.to_vec()))?;
        Request::start(py, &self.shared, false, move |queue| {
            queue.send(to.pe(), tag.0, bytes)
        })
    }

    fn _start_recv(
        &self,
        py: Python<'_>,
        source: Option<Whole>,
        tag: Option<Whole>,
        room_bytes: Whole,
    ) -> PyResult<Request> {
        let (source, tag) = (arguments::source(source), arguments::tag(tag));
        let mut room = Vec::new();
        if room.try_reserve_exact(room_bytes.index()).is_err() {
            let text = format!("there is no memory for {} bytes", room_bytes.0);
            return Err(errors::environment(py, &text));
        }
        room.resize(room_bytes.index(), 0);
        Request::start(py, &self.shared, true, move |queue| {
            queue.recv(source, tag, room)
        })
    }

    /// Leaves the job: waits for all PEs.
    fn _close(&self, py: Python<'_>) -> PyResult<()> {
        if !self.shared.is_open() {
            return Ok(());
        }
        let job = self.shared.take_idle(py)?;
        blocking(py, || job.finalize())
    }

    /// Leaves the job without waiting for anybody: the others see this PE as lost.
    fn abandon(&self, py: Python<'_>) {
        let job = self.shared.abandon();
        // It waits for threads of the core, which do not need the interpreter.
        py.detach(|| drop(job));
    }

    /// Asks the launcher to end all PEs.
    fn _abort(&self, py: Python<'_>, status: i32, message: &str) -> PyResult<()> {
        let mut job = self.shared.take(py)?;
        blocking(py, || job.abort(status, message))
    }
}
