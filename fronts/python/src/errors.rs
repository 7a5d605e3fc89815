//! Errors as exceptions, which say who is at fault. Their classes are in `python/hostwire/errors.py`.

use hostwire::Error;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The class of an error, and the PE that is to blame if it is one.
fn class(error: &Error) -> (&'static str, Option<u32>) {
    match error {
        Error::Copied(_) => ("CopiedError", None),
        Error::PeerLost { pe, .. } => ("PeerLost", Some(*pe)),
        Error::PeerLeft { pe } => ("PeerLeft", Some(*pe)),
        Error::PeerMisbehaved { pe, .. } => ("PeerMisbehaved", Some(*pe)),
        Error::Launch { .. } | Error::Setting(_) | Error::Environment { .. } => {
            ("EnvironmentFault", None)
        }
        // The first group of variants is the caller's fault.
        _ => ("CallerError", None),
    }
}

/// The exception for an error of the core.
#[cold]
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let (name, pe) = class(error);
    let raised = make(py, name, &error.to_string());
    match pe {
        Some(pe) => blamed(py, raised, pe),
        None => raised,
    }
}

/// The exception for PE `pe`, which takes no more part in what this one waits for.
#[cold]
pub(crate) fn left(py: Python<'_>, pe: u32, text: &str) -> PyErr {
    blamed(py, make(py, "PeerLeft", text), pe)
}

fn blamed(py: Python<'_>, raised: PyErr, pe: u32) -> PyErr {
    match raised.value(py).setattr("pe", pe) {
        Ok(()) => raised,
        Err(second) => second,
    }
}

/// The exception for a mistake of the caller.
#[cold]
pub(crate) fn caller(py: Python<'_>, text: &str) -> PyErr {
    make(py, "CallerError", text)
}

/// The exception for what the machine does not give.
#[cold]
pub(crate) fn environment(py: Python<'_>, text: &str) -> PyErr {
    make(py, "EnvironmentFault", text)
}

fn make(py: Python<'_>, name: &str, text: &str) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let import = || Ok(py.import("hostwire.errors")?.unbind());
    let module = MODULE.get_or_try_init(py, import);
    match module.and_then(|module| module.bind(py).getattr(name)?.call1((text,))) {
        Ok(value) => PyErr::from_value(value),
        Err(second) => second,
    }
}
