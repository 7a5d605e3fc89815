//! The process that has the memory of one loan: a PE of the borrower's job, with the loan as its heap.
//!
//! It commits the memory, says that it is there, and then only its agent works. The process ends with
//! the loan; the kernel gives the next one zeroed memory.

use std::process::ExitCode;
use std::time::Duration;

use hostwire::AgentMode;
use hostwire::attachment::{Attachment, Watch};

use crate::report;

/// The name of the hidden command that [`main`] is behind.
pub const COMMAND: &str = "__lend";

/// Bytes at the front of each heap in which the borrower hears how much of the memory is there: a word per
/// PE, with bytes, and at the end [`READY`].
pub const FRONT_BYTES: usize = 64 << 10;
/// All of it is there.
pub const READY: u64 = u64::MAX;
/// How often it is said.
const SAY_BYTES: usize = 64 << 20;
/// How long the lender has to end this process when the borrower has ended. A lender does not notice a host without
/// power.
const GRACE: Duration = Duration::from_secs(60);

/// Runs until it is killed.
pub fn main() -> ExitCode {
    match serve() {
        Ok(never) => match never {},
        Err(error) => {
            report::line(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

fn serve() -> hostwire::Result<std::convert::Infallible> {
    let attachment = Attachment::join(|sizes, _| Ok(sizes))?;
    attachment.start(AgentMode::Thread)?;
    let heap = attachment.layout().heap();
    let zeros = vec![0; 1 << 20];
    let len = attachment.layout().heap_bytes();
    let word = heap + 8 * attachment.pe() as usize;
    for at in (0..len).step_by(zeros.len()) {
        let now = zeros.get(..zeros.len().min(len - at)).unwrap_or_default();
        attachment.segment().put(heap + at, now)?;
        if at > 0 && at.is_multiple_of(SAY_BYTES) {
            attachment.put_word(0, word, at as u64)?;
        }
    }
    attachment.put_word(0, word, READY)?;
    attachment.quiet()?;
    // A PE that waits in the library serves the wire and the borrower's requests itself. Otherwise each request would
    // wake one thread, and that thread another one.
    let served = attachment.wait(Watch::Agent(0), || Ok(None::<std::convert::Infallible>));
    match served {
        Ok(never) => match never {},
        // The borrower has ended. So does the loan, and with it this process.
        Err(error) => {
            std::thread::sleep(GRACE);
            Err(error)
        }
    }
}
