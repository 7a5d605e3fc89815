//! The thread that serves the wire while the PE computes or sleeps.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hostwire_link::packing::{Timings, Turn};
use hostwire_transport::error::TransportError;
use rustix::event::{PollFd, PollFlags, Timespec};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use spin::relax::Yield;

use super::alarm::Alarm;
use super::core::FramesCore;

/// The wire in one's hand.
pub(super) type Hold<'a> = SpinMutexGuard<'a, FramesCore, Yield>;

/// What the agent shares with the threads of the PE.
#[derive(Debug)]
pub(super) struct AgentShared {
    /// Taken for every store, and so one that is given back by a store: threads that meet here
    /// look again, or come by later.
    core: SpinMutex<FramesCore, Yield>,
    /// Ends a wait of the agent. Who has the wire in hand may set it.
    alarm: Alarm,
    /// A second descriptor of the socket, to wait on without the lock.
    frames: OwnedFd,
    stop: AtomicBool,
}

impl AgentShared {
    pub(super) fn new(core: FramesCore) -> Result<Self, TransportError> {
        let failed = |e: std::io::Error| TransportError::environment("setting up the agent", e);
        let frames = core.socket.fd().try_clone_to_owned().map_err(failed)?;
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

    /// Nothing if somebody else has the wire in hand.
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

    /// Gives the lock back; the agent does not sleep past what has to be done.
    pub(super) fn release(&self, mut core: Hold<'_>) {
        core.call_agent_in_time();
    }

    /// Waits for frames.
    pub(super) fn wait_for_frames(&self, limit: Duration) {
        wait(&mut [self.come()], Some(limit));
    }

    /// Ends [`serve`](Self::serve). Not to be called with the wire in hand.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // The agent looks at `stop` with the wire in hand before it sets the alarm.
        let _core = self.lock();
        self.alarm.ring();
    }

    /// Serves the wire until it is [stopped](Self::stop).
    pub(super) fn serve(&self) {
        let aside_min = Duration::from_nanos(Timings::SOCKET.aside_min_ns);
        let mut aside = aside_min;
        while !self.stop.load(Ordering::Acquire) {
            // Who has the wire in hand uses it.
            let Some(turn) = self.turn() else {
                std::thread::sleep(aside);
                continue;
            };
            match turn {
                Turn::Again => std::thread::yield_now(),
                Turn::Aside(aside_ns) => {
                    aside = Duration::from_nanos(aside_ns);
                    wait(&mut [self.called()], None);
                }
                Turn::Sleep(_) => {
                    aside = aside_min;
                    wait(&mut [self.called(), self.come()], None);
                }
            }
        }
    }

    /// A turn of the agent, `None` if somebody else has the wire in hand.
    fn turn(&self) -> Option<Turn> {
        let mut core = self.try_lock()?;
        // Who stops it sets the alarm with the wire in hand, which nothing may undo.
        match self.stop.load(Ordering::Acquire) {
            true => Some(Turn::Again),
            false => Some(core.agent_turn()),
        }
    }

    fn called(&self) -> PollFd<'_> {
        PollFd::new(&self.alarm, PollFlags::IN)
    }

    fn come(&self) -> PollFd<'_> {
        PollFd::new(&self.frames, PollFlags::IN)
    }
}

/// Until one is readable; whatever else ends it, the caller looks again.
fn wait(fds: &mut [PollFd<'_>], limit: Option<Duration>) {
    let timeout = limit.map(|limit| Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    });
    let _ = rustix::event::poll(fds, timeout.as_ref());
}
