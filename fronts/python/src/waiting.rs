//! Operations that may wait. Other threads of the interpreter run meanwhile, and a signal that a
//! Python handler answers with an exception, as Ctrl-C is, ends the wait.

use std::cell::{Cell, RefCell};

use hostwire::Error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::errors;

/// Sleeps of one wait before it looks for signals, which needs the interpreter's lock: the first are
/// short, and most waits end in them. Fitted.
const SLEEPS_BEFORE_LOOK: u32 = 4;

thread_local! {
    /// Sleeps of the operation that this thread is in. `None` in threads in which Python does not wait, such as those
    /// of the core: they must not wait for the interpreter's lock, whose holder may wait for them to end.
    static SLEEPS: Cell<Option<u32>> = const { Cell::new(None) };
    /// What a signal handler raised in the wait.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Does `operation` without the interpreter's lock.
///
/// # Errors
/// Its error as an exception; that of a signal handler if it ended the wait.
pub(crate) fn blocking<R: Send>(
    py: Python<'_>,
    operation: impl FnOnce() -> hostwire::Result<R> + Send,
) -> PyResult<R> {
    // A signal handler may have begun this one within another.
    let outer = SLEEPS.replace(Some(0));
    let result = py.detach(operation);
    SLEEPS.set(outer);
    let raised = RAISED.take();
    result.map_err(|error| match (error, raised) {
        (Error::Interrupted, Some(raised)) => raised,
        (Error::Interrupted, None) => PyKeyboardInterrupt::new_err(()),
        (error, _) => errors::raise(py, &error),
    })
}

/// Whether a signal handler wants the wait of this thread to end: for
/// [`hostwire::Job::end_waits_if`].
pub(crate) fn is_interrupted() -> bool {
    let Some(sleeps) = SLEEPS.get() else {
        return false;
    };
    SLEEPS.set(Some(sleeps.saturating_add(1)));
    if sleeps < SLEEPS_BEFORE_LOOK {
        return false;
    }
    // Handlers are Python code and may begin operations: nothing here is borrowed meanwhile.
    match Python::attach(|py| py.check_signals()) {
        Ok(()) => false,
        Err(raised) => {
            RAISED.replace(Some(raised));
            true
        }
    }
}
