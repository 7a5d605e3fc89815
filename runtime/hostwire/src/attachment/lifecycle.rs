//! The threads of an attachment, its counters, and its launcher: from the start to the end.

use std::io::Write;
#[cfg(target_os = "linux")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use super::Attachment;
use crate::agent::AgentMode;
#[cfg(target_os = "linux")]
use crate::counters::Publisher;
use crate::error::LaunchStep;
use crate::error::Result;
use crate::lost::Watcher;

impl Attachment {
    /// From now on copies of this process cannot attach: they would speak to the launcher in the name of
    /// this PE.
    pub(crate) fn remember(&self) {
        self.fork_guard.remember();
    }

    /// Starts what works in the background: the agent, where the wire needs one, and the
    /// thread that looks whether peers live.
    pub fn start(&self, mode: AgentMode) -> Result<()> {
        self.fork_guard.check()?;
        let mode = match self.wire.is_in_virtual_time() {
            true => AgentMode::Polled,
            false => mode,
        };
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.mode = Some(mode);
        workers.agent = self.agent.start(&self.wire, mode)?;
        if mode == AgentMode::Thread && self.pes > 1 {
            let watcher = Watcher::start(
                Arc::clone(&self.wire),
                Arc::clone(&self.lost),
                self.publisher.clone(),
            )?;
            workers.watcher = Some(watcher);
            self.lost.set_watched(true);
        }
        Ok(())
    }

    /// Ends what works in the background. In a copy of the process nothing does.
    pub fn stop(&self) {
        if !self.is_here() {
            return;
        }
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        self.lost.set_watched(false);
        workers.mode = None;
        workers.watcher = None;
        self.agent.stop(&*self.wire);
        if let Some(thread) = workers.agent.take() {
            // If the thread panicked, there is nothing to repair.
            let _ = thread.join();
        }
        self.show_counters();
    }

    /// Shows what the wire counts to others from now on, and prints it at the end if
    /// `prints`.
    #[cfg(target_os = "linux")]
    pub(crate) fn publish(&mut self, wire_name: &str, prints: bool) {
        if self.pes > 1 {
            self.publisher = Publisher::new(&*self.wire, wire_name).map(Arc::new);
            self.prints = AtomicBool::new(prints);
        }
    }

    /// Publishes the last values, and prints them if the user wants that.
    fn show_counters(&self) {
        if let Some(publisher) = &self.publisher {
            publisher.publish(&*self.wire);
        }
        if self.prints.swap(false, Ordering::Relaxed) {
            let text = crate::counters::text(self.pe, &self.wire.tally());
            // The user asked for this by HOSTWIRE_STATS. It is no error if nobody reads it.
            let _ = std::io::stderr().write_all(text.as_bytes());
        }
    }

    /// Whether this PE may have threads of its own.
    pub(crate) fn has_workers(&self) -> bool {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.mode == Some(AgentMode::Thread)
    }

    /// Whether a thread looks for lost peers.
    pub(crate) fn is_watching(&self) -> bool {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        workers.watcher.is_some()
    }

    /// Tells the launcher that this process is done with the job. Once is enough.
    pub fn leave_launcher(&self) -> Result<()> {
        self.fork_guard.check()?;
        let mut launcher = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        match launcher.take() {
            Some(mut launcher) => launcher
                .finalize()
                .map_err(|fault| LaunchStep::Leave.failed(fault)),
            None => Ok(()),
        }
    }

    /// Closes the recording of this PE, if there is one. Call it last, after the PE has left the job: if
    /// the file cannot be written, the other PEs are not affected.
    ///
    /// # Errors
    /// If a part of it could not be written.
    pub fn close_recording(&self) -> Result<()> {
        self.fork_guard.check()?;
        Ok(self.wire.close_recording()?)
    }

    /// Whether the launcher is reached by PMI-1 or PMI-2: over one socket, which other libraries in this
    /// process may use as well.
    pub fn is_under_pmi(&self) -> bool {
        if !self.is_here() {
            return false;
        }
        let launcher = self.launcher.lock().unwrap_or_else(PoisonError::into_inner);
        let name = launcher.as_ref().map(|launcher| launcher.name());
        matches!(name, Some("PMI-1" | "PMI-2"))
    }

    /// Asks the launcher to end the whole job with this exit status. Returns whether
    /// there is one to ask; it ends this process, too, so the caller should leave.
    ///
    /// # Errors
    /// [`Error::Launch`](crate::Error::Launch) if it is gone or cannot;
    /// [`Error::Copied`](crate::Error::Copied).
    pub fn abort(&self, status: i32, why: &str) -> Result<bool> {
        self.fork_guard.check()?;
        // If another thread holds the lock, this PE and its job are leaving already.
        let Ok(mut launcher) = self.launcher.try_lock() else {
            return Ok(false);
        };
        match &mut *launcher {
            None => Ok(false),
            Some(launcher) => launcher
                .abort(status, why)
                .map(|()| true)
                .map_err(|fault| LaunchStep::Abort.failed(fault)),
        }
    }
}

/// Ends the threads. A copy of the process has their handles but not the threads, and its connection to
/// the launcher belongs to the PE.
impl Drop for Attachment {
    fn drop(&mut self) {
        if self.is_here() {
            return self.stop();
        }
        let workers = self.workers.get_mut();
        core::mem::forget(core::mem::take(
            workers.unwrap_or_else(PoisonError::into_inner),
        ));
        let launcher = self.launcher.get_mut();
        core::mem::forget(launcher.unwrap_or_else(PoisonError::into_inner).take());
    }
}
