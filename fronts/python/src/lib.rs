//! The native part of the Python package `hostwire`: types, names and errors of Python around
//! [`hostwire::Job`]. What users see is in `python/hostwire`, and documented there and in
//! `docs/python.md`.
//!
//! | module | what it is |
//! |---|---|
//! | `errors` | exceptions that say who is at fault |
//! | `waiting` | waits without the interpreter's lock, which Ctrl-C ends |
//! | `arguments` | numbers and names that a program passes |
//! | `buffer` | memory of Python objects, for the time of a call |
//! | `dtype` | what NumPy says of an array's elements |
//! | `shared` | the job, for as long as it is open |
//! | `block` | symmetric memory as a Python buffer |
//! | `words` | atomic operations, and waiting for words |
//! | `get` | gets that do not wait |
//! | `array` | symmetric arrays |
//! | `reduce` | combining values |
//! | `lanes` | collective operations of groups that nobody else takes part in making |
//! | `team` | groups of PEs and collective operations |
//! | `request` | messages in the background |
//! | `job` | the job, and messages |
//! | `wires` | the names of wires |
//! | `tca` | copies between memory of hosts and devices |

mod arguments;
mod array;
mod block;
mod buffer;
mod dtype;
mod errors;
mod get;
mod job;
mod lanes;
mod reduce;
mod request;
mod shared;
mod tca;
mod team;
mod waiting;
mod wires;
mod words;

use pyo3::prelude::*;

/// The native part of the package `hostwire`.
#[pymodule]
mod _hostwire {
    use super::*;

    /// The version, as the launcher says it.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    #[pymodule_export]
    use crate::array::Array;
    #[pymodule_export]
    use crate::block::Block;
    #[pymodule_export]
    use crate::get::Get;
    #[pymodule_export]
    use crate::job::Job;
    #[pymodule_export]
    use crate::lanes::Lanes;
    #[pymodule_export]
    use crate::request::Request;
    #[pymodule_export]
    use crate::tca::{Buffer, Chain, Prepared, Spot, Stream, Tca};
    #[pymodule_export]
    use crate::team::Team;
    #[pymodule_export]
    use crate::wires::network_wires;
}
