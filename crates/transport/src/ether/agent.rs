//! The thread that serves the wire while the PE computes or sleeps.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hostwire_link::Ns;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use spin::relax::Yield;

use super::core::Core;
use crate::error::TransportError;

/// Looks at the socket with the core given away between them, before it sleeps.
const YIELDS: u32 = 50;
/// How long it leaves the wire to a PE that looks by itself: the first time, and when the PE
/// has looked whenever it was back.
const ASIDE_MIN: Duration = Duration::from_micros(100);
const ASIDE_MAX: Duration = Duration::from_micros(400);
/// How long it leaves the wire to a PE that only stores, as above: nobody looks after the last
/// store, which may wait for more until then.
const ASIDE_STORES_MIN: Duration = Duration::from_micros(40);
const ASIDE_STORES_MAX: Duration = Duration::from_micros(160);
/// Longest sleep.
const SLEEP_MAX: Duration = Duration::from_secs(1);

/// The wire in one's hand.
pub(super) type Hold<'a> = SpinMutexGuard<'a, Core, Yield>;

/// What the agent shares with the threads of the PE.
#[derive(Debug)]
pub(super) struct Shared {
    /// Taken for every store, and so one that is given back by a store: threads that meet here
    /// look again, or come by later.
    core: SpinMutex<Core, Yield>,
    /// Ends a sleep of the agent.
    bell: OwnedFd,
    /// A second descriptor of the socket, to wait on without the lock.
    frames: OwnedFd,
    stop: AtomicBool,
}

impl Shared {
    pub(super) fn new(core: Core) -> Result<Self, TransportError> {
        let failed = |e: std::io::Error| TransportError::environment("setting up the agent", e);
        let frames = core.socket.fd().try_clone_to_owned().map_err(failed)?;
        let bell = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        Ok(Self {
            core: SpinMutex::new(core),
            bell: bell.map_err(|e| failed(e.into()))?,
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
        core.driven = true;
        core.looked = true;
        let came = core.glance();
        self.release(core);
        came
    }

    /// Gives the lock back and wakes the agent if it sleeps too long.
    pub(super) fn release(&self, mut core: Hold<'_>) {
        let wake = core.agent_oversleeps();
        if wake {
            core.agent_wakes = None;
        }
        drop(core);
        if wake {
            self.ring();
        }
    }

    fn ring(&self) {
        // Full means that it has been rung often enough.
        let _ = rustix::io::write(&self.bell, &1u64.to_ne_bytes());
    }

    /// Waits for frames.
    pub(super) fn wait_for_frames(&self, limit: Duration) {
        wait(&mut [PollFd::new(&self.frames, PollFlags::IN)], limit);
    }

    /// Ends [`serve`](Self::serve).
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        self.ring();
    }

    /// Serves the wire until it is [stopped](Self::stop).
    pub(super) fn serve(&self) {
        let mut idle = 0;
        let mut aside = ASIDE_MIN;
        let mut aside_stores = ASIDE_STORES_MIN;
        while !self.stop.load(Ordering::Acquire) {
            match self.try_lock() {
                Some(mut core) => {
                    let driven = core::mem::take(&mut core.driven);
                    let looked = core::mem::take(&mut core.looked);
                    let came = core.drive();
                    drop(core);
                    if looked {
                        self.nap(aside);
                        aside = (aside * 2).min(ASIDE_MAX);
                        continue;
                    }
                    aside = ASIDE_MIN;
                    if driven {
                        self.nap(aside_stores);
                        aside_stores = (aside_stores * 2).min(ASIDE_STORES_MAX);
                        continue;
                    }
                    aside_stores = ASIDE_STORES_MIN;
                    idle = if came { 0 } else { idle + 1 };
                }
                None => {
                    self.nap(aside);
                    continue;
                }
            }
            if idle < YIELDS {
                std::thread::yield_now();
            } else {
                self.sleep();
            }
        }
    }

    /// Until a frame comes, something is due or it is rung.
    fn sleep(&self) {
        let limit = {
            let mut core = self.lock();
            let limit = core.idle_time(SLEEP_MAX);
            core.agent_wakes = Some(Ns(core.now().0.saturating_add(limit.as_nanos() as u64)));
            limit
        };
        let mut fds = [
            PollFd::new(&self.frames, PollFlags::IN),
            PollFd::new(&self.bell, PollFlags::IN),
        ];
        wait(&mut fds, limit);
        self.hear();
        self.lock().agent_wakes = None;
    }

    /// For this long, or until it is rung.
    fn nap(&self, time: Duration) {
        wait(&mut [PollFd::new(&self.bell, PollFlags::IN)], time);
        self.hear();
    }

    /// Takes back what was rung.
    fn hear(&self) {
        let _ = rustix::io::read(self.bell.as_fd(), &mut [0; 8]);
    }
}

/// Until one is readable; whatever else ends it, the caller looks again.
fn wait(fds: &mut [PollFd<'_>], limit: Duration) {
    let timeout = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    let _ = rustix::event::poll(fds, Some(&timeout));
}
