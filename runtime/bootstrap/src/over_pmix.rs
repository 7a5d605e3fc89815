//! [`Bootstrap`] over PMIx, which carries any bytes.
//!
//! Calls of the library have no time limit. So each call is made on a thread of its own,
//! and this thread waits for it until the deadline. After a late call the library cannot
//! be used any more.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};

use hostwire_pmix::{Pmix, PmixError};
use hostwire_transport::worker;

use super::{Bootstrap, Deadline, LaunchError};

/// Enough for a foreign library.
const STACK_BYTES: usize = 2 << 20;

/// This process in the launcher's job.
pub(super) struct Process {
    /// `None` while a call is under way, and for ever after a late call.
    pmix: Option<Pmix>,
    rank: u32,
    size: u32,
    deadline: Deadline,
}

impl Process {
    pub(super) fn init(deadline: Deadline) -> Result<Self, LaunchError> {
        let pmix = until(deadline, "PMIx_Init", Pmix::init)??;
        Ok(Self {
            rank: pmix.rank(),
            size: pmix.size(),
            pmix: Some(pmix),
            deadline,
        })
    }

    pub(super) fn size(&self) -> u32 {
        self.size
    }

    fn call<R: Send + 'static>(
        &mut self,
        asked: &'static str,
        call: impl FnOnce(&mut Pmix) -> Result<R, PmixError> + Send + 'static,
    ) -> Result<R, LaunchError> {
        let waited_s = self.deadline.patience_s();
        let silent = LaunchError::Silent { asked, waited_s };
        let mut pmix = self.pmix.take().ok_or(silent)?;
        let (result, pmix) = until(self.deadline, asked, move || {
            let result = call(&mut pmix);
            (result, pmix)
        })?;
        self.pmix = Some(pmix);
        Ok(result?)
    }
}

/// Makes a call that may wait, on a thread of its own.
fn until<R: Send + 'static>(
    deadline: Deadline,
    asked: &'static str,
    call: impl FnOnce() -> R + Send + 'static,
) -> Result<R, LaunchError> {
    let silent = LaunchError::Silent {
        asked,
        waited_s: deadline.patience_s(),
    };
    let (done, answer) = sync_channel(1);
    // The caller may have stopped waiting for it.
    let work = move || drop(done.send(call()));
    let thread = worker::start("hostwire-pmix", STACK_BYTES, work);
    let thread = thread.map_err(|error| PmixError::NoThread {
        reason: error.to_string(),
    })?;
    match answer.recv_timeout(deadline.left()) {
        Ok(answer) => {
            let _ = thread.join();
            Ok(answer)
        }
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => Err(silent),
    }
}

impl Bootstrap for Process {
    fn name(&self) -> &'static str {
        "PMIx"
    }

    fn rank(&self) -> u32 {
        self.rank
    }

    fn size(&self) -> u32 {
        self.size
    }

    fn put(&mut self, key: &str, value: &[u8]) -> Result<(), LaunchError> {
        let (key, value) = (key.to_owned(), value.to_vec());
        self.call("PMIx_Put", move |pmix| pmix.put(&key, &value))
    }

    fn fence(&mut self) -> Result<(), LaunchError> {
        self.call("PMIx_Fence", Pmix::fence)
    }

    fn get(&mut self, rank: u32, key: &str) -> Result<Vec<u8>, LaunchError> {
        let key = key.to_owned();
        self.call("PMIx_Get", move |pmix| pmix.get(rank, &key))
    }

    fn abort(&mut self, status: i32, message: &str) -> Result<(), LaunchError> {
        self.deadline = self.deadline.renewed();
        let message = message.to_owned();
        self.call("PMIx_Abort", move |pmix| pmix.abort(status, &message))
    }

    fn finalize(&mut self) -> Result<(), LaunchError> {
        self.deadline = self.deadline.renewed();
        self.call("PMIx_Finalize", Pmix::finalize)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_call_that_never_returns_ends_in_an_error_that_names_the_variable() {
        let (never, forever) = sync_channel::<()>(0);
        let deadline = Deadline::after(Duration::from_millis(1));
        let error = until(deadline, "PMIx_Fence", move || forever.recv()).unwrap_err();
        let asked = "PMIx_Fence";
        assert_eq!(error, LaunchError::Silent { asked, waited_s: 0 });
        drop(never);
        let deadline = Deadline::after(Duration::from_secs(60));
        assert_eq!(until(deadline, "PMIx_Fence", || 7).unwrap(), 7);
    }
}
