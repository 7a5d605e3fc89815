//! The thread that serves the wire while the PE computes or sleeps.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hostwire_link::packing::{Timings, Turn};
use hostwire_transport::error::TransportError;
use rustix::event::{PollFd, PollFlags, Timespec};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use spin::relax::Yield;

use super::alarm::Alarm;
use super::core::FramesCore;

/// The lock of the wire, held.
pub(super) type Hold<'a> = SpinMutexGuard<'a, FramesCore, Yield>;

/// What the agent shares with the threads of the PE.
#[derive(Debug)]
pub(super) struct AgentShared {
    /// Taken for every store. So it is a spin lock, which is released by a plain store:
    /// threads that find it taken try again, now or later.
    core: SpinMutex<FramesCore, Yield>,
    /// Ends a wait of the agent. Set only by the holder of the lock.
    alarm: Alarm,
    /// A second descriptor of the socket, to wait on without the lock.
    frames: Mutex<Arc<OwnedFd>>,
    stop: AtomicBool,
}

impl AgentShared {
    pub(super) fn new(core: FramesCore) -> Result<Self, TransportError> {
        let failed = |e: std::io::Error| TransportError::environment("setting up the agent", e);
        let frames = core.socket.fd().try_clone_to_owned().map_err(failed)?;
        let frames = Mutex::new(Arc::new(frames));
        Ok(Self {
            alarm: core.alarm().clone(),
            core: SpinMutex::new(core),
            frames,
            stop: AtomicBool::new(false),
        })
    }

    pub(super) fn lock(&self) -> Hold<'_> {
        self.core.lock()
    }

    /// `None` if another thread holds the lock.
    pub(super) fn try_lock(&self) -> Option<Hold<'_>> {
        self.core.try_lock()
    }

    /// Looks for frames on behalf of a thread that waits. Returns whether any came.
    pub(super) fn look(&self) -> bool {
        let Some(mut core) = self.try_lock() else {
            return false;
        };
        let came = core.glance();
        self.release(core);
        came
    }

    /// Releases the lock, and makes sure that the agent wakes in time for the next work.
    pub(super) fn release(&self, mut core: Hold<'_>) {
        core.call_agent_in_time();
    }

    /// Waits for frames.
    pub(super) fn wait_for_frames(&self, limit: Duration) {
        let frames = self.frames();
        wait(&mut [readable(&frames)], Some(limit));
    }

    /// Ends [`serve`](Self::serve). The caller must not hold the lock.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // The agent holds the lock when it checks `stop` and then sets the alarm.
        let _core = self.lock();
        self.alarm.ring();
    }

    /// Serves the wire until it is [stopped](Self::stop).
    pub(super) fn serve(&self) {
        let aside_min = Duration::from_nanos(Timings::SOCKET.aside_min_ns);
        let mut aside = aside_min;
        while !self.stop.load(Ordering::Acquire) {
            // The holder of the lock serves the wire.
            let Some(turn) = self.turn() else {
                std::thread::sleep(aside);
                continue;
            };
            match turn {
                Turn::Again => std::thread::yield_now(),
                Turn::Aside(aside_ns) => {
                    aside = Duration::from_nanos(aside_ns);
                    wait(&mut [readable(&self.alarm)], None);
                }
                Turn::Sleep(_) => {
                    aside = aside_min;
                    let frames = self.frames();
                    wait(&mut [readable(&self.alarm), readable(&frames)], None);
                }
            }
        }
    }

    /// A turn of the agent; `None` if another thread holds the lock.
    fn turn(&self) -> Option<Turn> {
        let mut core = self.try_lock()?;
        // `stop` sets the alarm under the lock, and nothing may undo that.
        match self.stop.load(Ordering::Acquire) {
            true => Some(Turn::Again),
            false => {
                let turn = core.agent_turn();
                if matches!(turn, Turn::Sleep(_))
                    && core.takes_socket()
                    && let Ok(frames) = core.socket.fd().try_clone_to_owned()
                {
                    *self.lock_frames() = Arc::new(frames);
                }
                Some(turn)
            }
        }
    }

    fn frames(&self) -> Arc<OwnedFd> {
        Arc::clone(&self.lock_frames())
    }

    fn lock_frames(&self) -> MutexGuard<'_, Arc<OwnedFd>> {
        self.frames.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn readable(fd: &impl AsFd) -> PollFd<'_> {
    PollFd::new(fd, PollFlags::IN)
}

/// Waits until one is readable. It may end early; the caller checks again.
fn wait(fds: &mut [PollFd<'_>], limit: Option<Duration>) {
    let timeout = limit.map(|limit| Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    });
    let _ = rustix::event::poll(fds, timeout.as_ref());
}
