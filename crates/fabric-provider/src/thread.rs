//! Threads in the processes of others.

use std::thread::{Builder, JoinHandle};

use hostwire_transport::os::signals;

use crate::post::Code;

/// What they need at most.
const STACK_BYTES: usize = 256 << 10;

/// Starts one, which takes no signals: those are the program's.
pub(crate) fn spawn(
    name: &str,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Code> {
    let thread = Builder::new().name(name.into()).stack_size(STACK_BYTES);
    let started = signals::blocked(&[], || thread.spawn(work));
    started.map_err(|error| -error.raw_os_error().unwrap_or(libc::EAGAIN))
}
