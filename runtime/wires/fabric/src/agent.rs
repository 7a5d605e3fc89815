//! The thread that serves the wire while the PE computes or sleeps.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use hostwire_transport::error::TransportError;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};
use spin::mutex::{SpinMutex, SpinMutexGuard};
use spin::relax::Yield;

use super::core::FabricCore;

/// The lock of the wire, held.
pub(super) type Hold<'a> = SpinMutexGuard<'a, FabricCore, Yield>;

/// How long the agent leaves the wire to threads of the PE that have just polled it themselves.
const ASIDE: Duration = Duration::from_micros(500);
/// The longest wait for an event: providers have hidden timers.
const LOOK_AGAIN: Duration = Duration::from_millis(10);
/// The first polling interval of the agent, if there is no descriptor to wait on.
const NAP_MIN: Duration = Duration::from_micros(50);
/// The longest polling interval, after a long time without events.
const NAP_MAX: Duration = Duration::from_millis(1);

/// What the agent shares with the threads of the PE.
pub(super) struct AgentShared {
    core: SpinMutex<FabricCore, Yield>,
    /// A second descriptor of the completion queue, to wait on without the lock.
    come: Option<OwnedFd>,
    /// Ends a wait of the agent.
    bell: OwnedFd,
    /// How often a thread of the PE has used the wire.
    uses: AtomicU64,
    stop: AtomicBool,
}

impl AgentShared {
    pub(super) fn new(core: FabricCore) -> Result<Self, TransportError> {
        let failed = |e: std::io::Error| TransportError::environment("setting up the agent", e);
        let come = core.endpoint.wait_fd();
        let come = come.map(|fd| fd.try_clone_to_owned()).transpose();
        Ok(Self {
            come: come.map_err(failed)?,
            bell: eventfd(0, EventfdFlags::CLOEXEC).map_err(|e| failed(e.into()))?,
            core: SpinMutex::new(core),
            uses: AtomicU64::new(0),
            stop: AtomicBool::new(false),
        })
    }

    /// Takes the lock, for a thread of the PE.
    pub(super) fn lock(&self) -> Hold<'_> {
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.core.lock()
    }

    /// Polls for a waiting thread. Returns whether anything came.
    pub(super) fn look(&self) -> bool {
        self.uses.fetch_add(1, Ordering::Relaxed);
        self.core.try_lock().is_some_and(|mut core| core.drive())
    }

    /// Waits until something comes, for a short time.
    pub(super) fn wait(&self, limit: Duration) {
        match (&self.come, self.core.lock().endpoint.may_wait()) {
            (Some(come), true) => {
                poll(&mut [PollFd::new(come, PollFlags::IN)], limit);
            }
            // There is no descriptor, or the provider forbids waiting now.
            _ => std::thread::sleep(limit.min(NAP_MIN)),
        }
    }

    /// Ends [`serve`](Self::serve).
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        // If this fails, the agent sees `stop` at the end of its wait.
        let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
    }

    /// Serves the wire until it is [stopped](Self::stop).
    pub(super) fn serve(&self) {
        let mut uses = 0;
        let mut nap = NAP_MIN;
        while !self.stop.load(Ordering::Acquire) {
            let now = self.uses.load(Ordering::Relaxed);
            if now != uses {
                uses = now;
                self.rest(ASIDE);
                continue;
            }
            let Some(mut core) = self.core.try_lock() else {
                self.rest(ASIDE);
                continue;
            };
            if core.drive() {
                nap = NAP_MIN;
                drop(core);
                std::thread::yield_now();
                continue;
            }
            let may_wait = core.endpoint.may_wait();
            drop(core);
            match (&self.come, may_wait) {
                (Some(come), true) => {
                    let fds = &mut [
                        PollFd::new(&self.bell, PollFlags::IN),
                        PollFd::new(come, PollFlags::IN),
                    ];
                    poll(fds, LOOK_AGAIN);
                }
                // There is no descriptor, or the provider forbids waiting now.
                _ => {
                    self.rest(nap);
                    nap = (nap * 2).min(NAP_MAX);
                }
            }
        }
    }

    /// Sleeps for a while, unless it is stopped.
    fn rest(&self, time: Duration) {
        poll(&mut [PollFd::new(&self.bell, PollFlags::IN)], time);
    }
}

/// Waits until one is readable. It may end early; the caller checks again.
fn poll(fds: &mut [PollFd<'_>], limit: Duration) {
    let limit = Timespec {
        tv_sec: i64::try_from(limit.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(limit.subsec_nanos()),
    };
    let _ = rustix::event::poll(fds, Some(&limit));
}
