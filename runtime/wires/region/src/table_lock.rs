//! A lock: the processes of one kernel change the tables of a region one after the other.
//!
//! The kernel releases the lock when a process ends, however it ends. It is a lock of the open file, not
//! a record lock like those of liveness, so it also excludes threads that have opened the region
//! separately.

use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use hostwire_transport::error::{RegionFault, TransportError};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::Result;
use super::file::RegionFile;

/// A turn takes milliseconds, unless its process is stopped.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(1);

/// Threads that share an opened file have one lock.
static OF_THIS_PROCESS: Mutex<()> = Mutex::new(());

/// The lock. It lasts until it is dropped.
#[derive(Debug)]
pub(super) struct TableLock {
    file: Arc<OwnedFd>,
    _own: MutexGuard<'static, ()>,
}

impl RegionFile {
    /// Waits for a turn.
    ///
    /// # Errors
    /// [`RegionFault::Stopped`] if another process does not end its turn; errors of the system.
    pub(super) fn turn(&self) -> Result<TableLock> {
        let own = OF_THIS_PROCESS
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let begin = Instant::now();
        loop {
            match flock(&*self.file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => break,
                Err(Errno::WOULDBLOCK | Errno::INTR) if begin.elapsed() < PATIENCE => {
                    std::thread::sleep(PAUSE);
                }
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    let waited_s = PATIENCE.as_secs();
                    return Err(self.fault(RegionFault::Stopped { waited_s }));
                }
                Err(e) => {
                    let what = format!("locking {}", self.name);
                    return Err(TransportError::environment(what, e));
                }
            }
        }
        Ok(TableLock {
            file: Arc::clone(&self.file),
            _own: own,
        })
    }
}

impl Drop for TableLock {
    fn drop(&mut self) {
        // If this fails, the lock ends with the file.
        let _ = flock(&*self.file, FlockOperation::Unlock);
    }
}
