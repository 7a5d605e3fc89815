//! Copies between memory of hosts and devices: what `python/hostwire/tca.py` gives to programs.

use core::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

use hostwire::tca::{self, Config, DeviceId, Stride};
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::Whole;
use crate::buffer::{in_place, with_bytes};
use crate::errors;
use crate::job::Job;
use crate::shared::SharedJob;
use crate::waiting::blocking;

/// A device by its number; host memory without one.
fn device(number: Option<Whole>) -> DeviceId {
    number.map_or(DeviceId::HOST, |number| DeviceId::new(number.pe()))
}

/// Memory of hosts and devices, and copies between them.
#[pyclass(frozen, module = "hostwire.tca")]
pub struct Tca {
    shared: Arc<SharedJob>,
    /// Nothing once it is closed. As in [`SharedJob`], locked for a few instructions.
    tca: Mutex<Option<Arc<tca::Tca>>>,
}

impl Tca {
    fn tca(&self, py: Python<'_>) -> PyResult<Arc<tca::Tca>> {
        self.shared.check(py)?;
        let tca = self
            .tca
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        tca.ok_or_else(|| errors::caller(py, "it is closed"))
    }
}

#[pymethods]
impl Tca {
    #[new]
    fn new(py: Python<'_>, job: &Bound<'_, Job>, host_bytes: Whole) -> PyResult<Self> {
        let shared = Arc::clone(job.get().shared());
        let job = shared.job(py)?;
        let host_bytes = host_bytes.index();
        let config = Config {
            host_bytes,
            devices: None,
        };
        let tca = blocking(py, || tca::Tca::new(&job, config))?;
        let tca = Mutex::new(Some(Arc::new(tca)));
        Ok(Self { shared, tca })
    }

    /// How many devices this PE has.
    #[getter]
    fn devices(&self, py: Python<'_>) -> PyResult<u32> {
        Ok(self.tca(py)?.devices())
    }

    /// What a device is, for people; without a number, host memory.
    #[pyo3(signature = (device=None))]
    fn device_name(&self, py: Python<'_>, device: Option<Whole>) -> PyResult<String> {
        let tca = self.tca(py)?;
        blocking(py, || tca.device_name(self::device(device)))
    }

    /// `len_bytes` zeroed bytes of the host, or of a device, at a multiple of `align`. Not collective.
    #[pyo3(signature = (len_bytes, device=None, *, align=64))]
    fn malloc(
        &self,
        py: Python<'_>,
        len_bytes: Whole,
        device: Option<Whole>,
        align: usize,
    ) -> PyResult<Buffer> {
        let tca = self.tca(py)?;
        let (len, device) = (len_bytes.index(), self::device(device));
        let buffer = blocking(py, || tca.malloc(device, len, align))?;
        let shared = Arc::clone(&self.shared);
        Ok(Buffer { shared, buffer })
    }

    /// The first bytes of the buffers that all PEs name, in their order. Collective.
    fn exchange(&self, py: Python<'_>, buffer: &Bound<'_, Buffer>) -> PyResult<Vec<Spot>> {
        let job = self.shared.job(py)?;
        let own = buffer.get().buffer.spot();
        let spots = blocking(py, || {
            let mut spots = vec![own; job.pes() as usize];
            job.all_gather(&[own], &mut spots).map(|()| spots)
        })?;
        Ok(spots.into_iter().map(Spot).collect())
    }

    /// A stream of copies.
    fn stream(&self, py: Python<'_>) -> PyResult<Stream> {
        let stream = self.tca(py)?.stream();
        let shared = Arc::clone(&self.shared);
        Ok(Stream { shared, stream })
    }

    /// Checks a chain, so that it can be started.
    fn prepare(&self, py: Python<'_>, chain: &Bound<'_, Chain>) -> PyResult<Prepared> {
        let tca = self.tca(py)?;
        let chain = chain.borrow().0.clone();
        blocking(py, || tca.prepare(&chain)).map(Prepared)
    }

    /// Copies bytes of this PE to any device of any PE, and returns when they are there.
    #[pyo3(signature = (to, from_, len_bytes, /))]
    fn memcpy_peer(&self, py: Python<'_>, to: Spot, from_: Spot, len_bytes: Whole) -> PyResult<()> {
        let tca = self.tca(py)?;
        blocking(py, || tca.memcpy_peer(to.0, from_.0, len_bytes.index()))
    }

    /// Ends it. Meet in a barrier before: other PEs may still copy to devices of this one.
    fn close(&self, py: Python<'_>) {
        let tca = self
            .tca
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // It waits for a thread, which may wait for nothing of Python.
        py.detach(|| drop(tca));
    }

    fn __enter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _kind: Bound<'_, PyAny>,
        _error: Bound<'_, PyAny>,
        _trace: Bound<'_, PyAny>,
    ) {
        self.close(py);
    }
}

/// A byte of memory of a PE, on the host or on a device.
#[pyclass(frozen, eq, hash, module = "hostwire.tca", from_py_object)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spot(tca::Spot);

#[pymethods]
impl Spot {
    #[new]
    #[pyo3(signature = (pe, device, address))]
    fn new(pe: Whole, device: Option<Whole>, address: Whole) -> Self {
        Self(tca::Spot::new(pe.pe(), self::device(device), address.0))
    }

    /// Whose memory it is.
    #[getter]
    fn pe(&self) -> u32 {
        self.0.pe()
    }

    /// The number of the device; None for host memory.
    #[getter]
    fn device(&self) -> Option<u32> {
        self.0.device().number()
    }

    /// Where in the memory, as its PE counts.
    #[getter]
    fn address(&self) -> u64 {
        self.0.address()
    }

    /// The byte so many bytes further.
    fn at(&self, offset_bytes: Whole) -> Self {
        Self(self.0.at(offset_bytes.0))
    }

    fn __repr__(&self) -> String {
        format!("<{}>", self.0)
    }

    fn __getnewargs__(&self) -> (u32, Option<u32>, u64) {
        (self.pe(), self.device(), self.address())
    }
}

/// Memory of this PE. Host memory has the buffer protocol: `numpy.frombuffer(buffer, dtype)` copies nothing.
/// Memory of a GPU has `__cuda_array_interface__`: `torch.as_tensor(buffer, device="cuda")` copies nothing.
#[pyclass(frozen, module = "hostwire.tca")]
pub struct Buffer {
    shared: Arc<SharedJob>,
    buffer: tca::Buffer,
}

#[pymethods]
impl Buffer {
    /// Its first byte, for this PE and others.
    #[getter]
    fn spot(&self) -> Spot {
        Spot(self.buffer.spot())
    }

    /// The number of the device; None for host memory.
    #[getter]
    fn device(&self) -> Option<u32> {
        self.buffer.device().number()
    }

    fn __len__(&self) -> usize {
        self.buffer.len()
    }

    /// The bytes as an array of `uint8` for CuPy, PyTorch, Numba and others that run kernels of CUDA; only memory
    /// of a GPU has it. Nothing is copied. Finish kernels before copies of what they write, and copies before
    /// kernels that read what they bring.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Some(at) = self.buffer.device_ptr() else {
            return Err(PyAttributeError::new_err(
                "only memory of a GPU has __cuda_array_interface__",
            ));
        };
        let interface = PyDict::new(py);
        interface.set_item("shape", (self.buffer.len(),))?;
        interface.set_item("typestr", "|u1")?;
        interface.set_item("data", (at, false))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("version", 3)?;
        Ok(interface)
    }

    /// Copies bytes, or the elements of an array, to `offset_bytes`.
    #[pyo3(signature = (data, offset_bytes=Whole::ZERO))]
    fn write(&self, py: Python<'_>, data: &Bound<'_, PyAny>, offset_bytes: Whole) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        crate::buffer::check_plain(data)?;
        let offset = offset_bytes.index();
        with_bytes(data, |bytes| {
            blocking(py, || self.buffer.write(offset, bytes))
        })
    }

    /// `len_bytes` bytes from `offset_bytes` on; all that follow without a number.
    #[pyo3(signature = (offset_bytes=Whole::ZERO, len_bytes=None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        offset_bytes: Whole,
        len_bytes: Option<Whole>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let _operation = self.shared.begin(py)?;
        let offset = offset_bytes.index();
        let rest = self.buffer.len().saturating_sub(offset);
        let len = len_bytes
            .map_or(rest, Whole::index)
            .min(rest.saturating_add(1));
        PyBytes::new_with(py, len, |bytes| {
            blocking(py, || self.buffer.read(offset, bytes))
        })
    }

    /// Copies bytes from `offset_bytes` on to an array, as many as it has.
    #[pyo3(signature = (out, offset_bytes=Whole::ZERO))]
    fn read_into(
        &self,
        py: Python<'_>,
        out: &Bound<'_, PyAny>,
        offset_bytes: Whole,
    ) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        let offset = offset_bytes.index();
        in_place(out, |bytes| {
            blocking(py, || self.buffer.read(offset, bytes))
        })
    }

    /// The word of 8 bytes at `offset_bytes` of host memory.
    #[pyo3(signature = (offset_bytes=Whole::ZERO))]
    fn load(&self, py: Python<'_>, offset_bytes: Whole) -> PyResult<u64> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.buffer.load(offset_bytes.index()))
    }

    /// Waits until the word at `offset_bytes` of host memory is at least `value`.
    fn wait_until(&self, py: Python<'_>, offset_bytes: Whole, value: Whole) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.buffer.wait_until(offset_bytes.index(), value.0))
    }

    /// # Safety
    /// The interpreter calls it, with a view that is its own.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let buffer = &slf.get().buffer;
        let Some(at) = buffer.local_ptr() else {
            return Err(PyBufferError::new_err(
                "memory of a device has no bytes here: use read",
            ));
        };
        let Ok(len) = ffi::Py_ssize_t::try_from(buffer.len()) else {
            return Err(PyBufferError::new_err("more bytes than a buffer can have"));
        };
        // SAFETY: the view is writable, as the caller says. The `len` bytes are mapped for as long as this object
        // lives, and the view keeps it alive.
        let result =
            unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at.cast(), len, 0, flags) };
        match result {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}

/// Copies, and words to store behind them, in their order: for [`Tca::prepare`].
#[pyclass(module = "hostwire.tca")]
pub struct Chain(tca::Chain);

#[pymethods]
impl Chain {
    #[new]
    fn new() -> Self {
        Self(tca::Chain::new())
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Adds a copy of consecutive bytes.
    #[pyo3(signature = (to, from_, len_bytes, /))]
    fn copy(&mut self, to: Spot, from_: Spot, len_bytes: Whole) {
        self.0.copy(to.0, from_.0, len_bytes.0);
    }

    /// Adds a copy of blocks, whose beginnings are so many bytes apart.
    #[pyo3(signature = (to, from_, /, *, block_bytes, blocks, to_step, from_step))]
    fn block_stride(
        &mut self,
        to: Spot,
        from_: Spot,
        block_bytes: Whole,
        blocks: Whole,
        to_step: Whole,
        from_step: Whole,
    ) {
        let stride = Stride {
            block_bytes: block_bytes.0,
            blocks: blocks.0,
            to_step: to_step.0,
            from_step: from_step.0,
        };
        self.0.block_stride(to.0, from_.0, stride);
    }

    /// Adds a word of host memory that gets a value when all before it is there.
    fn signal(&mut self, word: Spot, value: Whole) {
        self.0.signal(word.0, value.0);
    }
}

/// A chain that was checked.
#[pyclass(frozen, module = "hostwire.tca")]
pub struct Prepared(tca::Prepared);

#[pymethods]
impl Prepared {
    /// Bytes of all its copies.
    #[getter]
    fn len_bytes(&self) -> u64 {
        self.0.len_bytes()
    }
}

/// Copies of this PE that are made one after the other.
#[pyclass(frozen, module = "hostwire.tca")]
pub struct Stream {
    shared: Arc<SharedJob>,
    stream: tca::Stream,
}

#[pymethods]
impl Stream {
    /// Copies bytes of this PE to any device of any PE.
    #[pyo3(signature = (to, from_, len_bytes, /))]
    fn memcpy_peer(&self, py: Python<'_>, to: Spot, from_: Spot, len_bytes: Whole) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || {
            self.stream.memcpy_peer(to.0, from_.0, len_bytes.index())
        })
    }

    /// Starts a chain.
    fn start(&self, py: Python<'_>, chain: &Bound<'_, Prepared>) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        let chain = &chain.get().0;
        blocking(py, || self.stream.start(chain))
    }

    /// Stores a value in a word of host memory of any PE when all before it in the stream is there.
    fn signal(&self, py: Python<'_>, word: Spot, value: Whole) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.stream.signal(word.0, value.0))
    }

    /// What follows waits until a word of this PE is at least `value`.
    fn wait_value(&self, py: Python<'_>, word: Spot, value: Whole) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.stream.wait_value(word.0, value.0))
    }

    /// Whether all that was given is done, or has failed.
    fn is_done(&self, py: Python<'_>) -> PyResult<bool> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.stream.is_done())
    }

    /// Returns when all that was given is done, and visible to the other PEs.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        let _operation = self.shared.begin(py)?;
        blocking(py, || self.stream.synchronize())
    }
}
