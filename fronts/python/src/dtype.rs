//! What NumPy says of an array's elements.

use hostwire::core::Operands;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

use crate::errors;

/// Numbers that are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Number {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    /// NumPy has none: PyTorch.
    BF16,
    F32,
    F64,
    C64,
    C128,
}

impl Number {
    const ALL: [(Self, &'static str, usize); 15] = [
        (Self::Bool, "bool", 1),
        (Self::I8, "int8", 1),
        (Self::I16, "int16", 2),
        (Self::I32, "int32", 4),
        (Self::I64, "int64", 8),
        (Self::U8, "uint8", 1),
        (Self::U16, "uint16", 2),
        (Self::U32, "uint32", 4),
        (Self::U64, "uint64", 8),
        (Self::F16, "float16", 2),
        (Self::BF16, "bfloat16", 2),
        (Self::F32, "float32", 4),
        (Self::F64, "float64", 8),
        (Self::C64, "complex64", 8),
        (Self::C128, "complex128", 16),
    ];

    /// By the name that NumPy and PyTorch have for it.
    ///
    /// # Errors
    /// If none has it.
    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Self> {
        Self::with_name(name)
            .ok_or_else(|| errors::caller(py, &format!("elements of {name} are not combined")))
    }

    pub(crate) fn with_name(name: &str) -> Option<Self> {
        let found = Self::ALL.iter().find(|(_, of, _)| *of == name);
        found.map(|(number, ..)| *number)
    }

    /// The name of that with this code.
    pub(crate) fn name_at(code: usize) -> &'static str {
        Self::ALL
            .get(code)
            .map_or("unknown elements", |(_, name, _)| *name)
    }

    /// As members compare it.
    pub(crate) fn operands(self) -> Operands {
        let found = Self::ALL.iter().find(|(of, ..)| *of == self);
        found.map_or(Operands::UNKNOWN, |(_, name, _)| Operands::named(name))
    }

    /// Of one element.
    pub(crate) fn size_bytes(self) -> usize {
        let found = Self::ALL.iter().find(|(of, ..)| *of == self);
        found.map_or(1, |(.., size_bytes)| *size_bytes)
    }
}

/// A NumPy dtype.
pub(crate) struct DType {
    object: Py<PyAny>,
    pub(crate) size_bytes: usize,
    /// What it is, if it is a number in this machine's byte order.
    pub(crate) number: Option<Number>,
}

impl DType {
    /// What NumPy takes as a dtype.
    pub(crate) fn new(dtype: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = dtype.py();
        let object = numpy(py)?.getattr("dtype")?.call1((dtype,))?;
        Self::of(object)
    }

    /// That of an array.
    pub(crate) fn of(object: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = object.py();
        if object.getattr("hasobject")?.extract()? {
            let text = format!("elements have to be plain data; {object} has Python objects");
            return Err(errors::caller(py, &text));
        }
        let size_bytes = object.getattr("itemsize")?.extract()?;
        if size_bytes == 0 {
            let text = format!("elements have to have a size; those of {object} have none");
            return Err(errors::caller(py, &text));
        }
        let kind: String = object.getattr("kind")?.extract()?;
        let is_native: bool = object.getattr("isnative")?.extract()?;
        let number = number(&kind, size_bytes).filter(|_| is_native);
        Ok(Self {
            object: object.unbind(),
            size_bytes,
            number,
        })
    }

    /// What the members of a team compare of `values`, which may be an array or any other buffer.
    pub(crate) fn operands(values: &Bound<'_, PyAny>) -> PyResult<Operands> {
        match values.getattr_opt(pyo3::intern!(values.py(), "dtype"))? {
            Some(dtype) => {
                let number = Self::of(dtype)?.number;
                Ok(number.map_or_else(|| Operands::named("other"), Number::operands))
            }
            None => Ok(Operands::named("uint8")),
        }
    }

    pub(crate) fn object<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.object.bind(py)
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> Self {
        Self {
            object: self.object.clone_ref(py),
            ..*self
        }
    }

    /// Whether `values` is an array of exactly these elements.
    #[inline]
    pub(crate) fn is_of(&self, values: &Bound<'_, PyAny>) -> bool {
        match values.getattr(pyo3::intern!(values.py(), "dtype")) {
            // NumPy has one object for each of its own dtypes.
            Ok(dtype) => dtype.is(&self.object) || dtype.eq(&self.object).unwrap_or(false),
            Err(_) => false,
        }
    }
}

fn number(kind: &str, size_bytes: usize) -> Option<Number> {
    Some(match (kind, size_bytes) {
        ("b", 1) => Number::Bool,
        ("i", 1) => Number::I8,
        ("i", 2) => Number::I16,
        ("i", 4) => Number::I32,
        ("i", 8) => Number::I64,
        ("u", 1) => Number::U8,
        ("u", 2) => Number::U16,
        ("u", 4) => Number::U32,
        ("u", 8) => Number::U64,
        ("f", 2) => Number::F16,
        ("f", 4) => Number::F32,
        ("f", 8) => Number::F64,
        ("c", 8) => Number::C64,
        ("c", 16) => Number::C128,
        _ => return None,
    })
}

/// The module `numpy`.
pub(crate) fn numpy(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    static NUMPY: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module = NUMPY.get_or_try_init(py, || Ok::<_, PyErr>(py.import("numpy")?.unbind()))?;
    Ok(module.bind(py))
}

/// A function of `hostwire._values`, with `arguments`.
pub(crate) fn values<'py>(
    py: Python<'py>,
    function: &str,
    arguments: impl pyo3::call::PyCallArgs<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    static VALUES: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || Ok::<_, PyErr>(py.import("hostwire._values")?.unbind());
    let module = VALUES.get_or_try_init(py, import)?.bind(py);
    module.getattr(function)?.call1(arguments)
}
