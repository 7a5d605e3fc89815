//! Threads in the processes of others.

use std::thread::JoinHandle;

use hostwire_transport::worker;

use crate::object::Code;

/// What they need at most.
const STACK_BYTES: usize = 256 << 10;

/// Starts one.
pub(crate) fn spawn(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Code> {
    worker::start(name, STACK_BYTES, work).map_err(code)
}

/// Why it cannot be started.
pub(crate) fn code(error: std::io::Error) -> Code {
    -error.raw_os_error().unwrap_or(libc::EAGAIN)
}
