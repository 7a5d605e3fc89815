//! Symmetric memory as a Python buffer.

use core::ffi::c_int;

use hostwire::Symmetric;
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;

/// The bytes of one PE's copy of a symmetric array, where this process can reach them. NumPy arrays
/// over it keep it, and with it the memory, alive: also after the job is closed.
#[pyclass(frozen, module = "hostwire")]
pub struct Block {
    /// Keeps the mapping, and this PE's claim to the memory.
    _memory: Symmetric<u8>,
    address: usize,
    len_bytes: usize,
}

impl Block {
    /// The copy of `pe`; nothing where it is out of reach.
    pub(crate) fn new(memory: &Symmetric<u8>, pe: u32) -> hostwire::Result<Option<Self>> {
        let memory = memory.part(..)?;
        let address = memory.local_ptr(pe).map(|at| at.expose_provenance());
        Ok(address.map(|address| Self {
            len_bytes: memory.len(),
            _memory: memory,
            address,
        }))
    }
}

#[pymethods]
impl Block {
    /// # Safety
    /// The interpreter calls it, with a view that is its own.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        let (address, len_bytes) = (slf.get().address, slf.get().len_bytes);
        let Ok(len) = ffi::Py_ssize_t::try_from(len_bytes) else {
            return Err(PyBufferError::new_err("more bytes than a buffer can have"));
        };
        let at = core::ptr::with_exposed_provenance_mut(address);
        // SAFETY: the view is writable, as the caller says. The `len` bytes are those of an array,
        // mapped for as long as this object lives, and the view keeps it alive.
        let result = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), at, len, 0, flags) };
        match result {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
