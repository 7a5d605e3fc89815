//! Looking at a run, and ending it, from another thread.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crate::engine::{Event, Ps, RunError, Sim, Summary};

use super::ExperimentError;

/// Events between two looks at the flag: some milliseconds of real time.
const SLICE_EVENTS: u64 = 1 << 17;

/// Shared between the thread that runs an experiment and one that watches it.
#[derive(Debug, Default)]
pub struct Monitor {
    cancelled: AtomicBool,
    point: AtomicU64,
    points: AtomicU64,
    events: AtomicU64,
    virtual_ps: AtomicU64,
}

impl Monitor {
    /// Ends the run soon, with [`ExperimentError::Cancelled`].
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// The run at work, from 1, and how many there are. 0 of 0 before the first.
    pub fn point(&self) -> (u64, u64) {
        let points = self.points.load(Ordering::Relaxed);
        (self.point.load(Ordering::Relaxed), points)
    }

    /// Events of the run at work, and the simulated time it has come to.
    pub fn progress(&self) -> (u64, Ps) {
        let time = Ps(self.virtual_ps.load(Ordering::Relaxed));
        (self.events.load(Ordering::Relaxed), time)
    }

    pub(super) fn begin_point(&self, index: usize, points: usize) {
        self.points.store(points as u64, Ordering::Relaxed);
        self.point.store(index as u64 + 1, Ordering::Relaxed);
        self.events.store(0, Ordering::Relaxed);
        self.virtual_ps.store(0, Ordering::Relaxed);
    }

    pub(super) fn check(&self) -> Result<(), ExperimentError> {
        if self.is_cancelled() {
            let (events, time) = self.progress();
            return Err(ExperimentError::Cancelled { events, time });
        }
        Ok(())
    }

    /// Notes the progress of a run, and returns whether to go on.
    pub(super) fn watch(&self, summary: &Summary) -> ControlFlow<()> {
        self.events.store(summary.events, Ordering::Relaxed);
        self.virtual_ps
            .store(summary.virtual_time.0, Ordering::Relaxed);
        match self.is_cancelled() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    /// As [`run`](Self::run), and calls `after` behind each event.
    pub(super) fn run_stepping<M: Event>(
        &self,
        sim: &mut Sim<M>,
        events_max: u64,
        mut after: impl FnMut(&mut Sim<M>),
    ) -> Result<Summary, ExperimentError> {
        let ended = self.run_until(sim, events_max, |sim| {
            after(sim);
            false
        });
        ended?;
        sim.check_stall()?;
        Ok(sim.summary())
    }

    /// Runs until `is_done` says so behind an event, or no event is left.
    pub(super) fn run_until<M: Event>(
        &self,
        sim: &mut Sim<M>,
        events_max: u64,
        mut is_done: impl FnMut(&mut Sim<M>) -> bool,
    ) -> Result<(), ExperimentError> {
        let started = Instant::now();
        let mut events = 0;
        let ended = loop {
            if events % SLICE_EVENTS == 0 {
                let _ = self.watch(&sim.summary());
                if let Err(cancelled) = self.check() {
                    break Err(cancelled);
                }
            }
            if events == events_max && sim.pending() > 0 {
                let time = sim.now();
                break Err(RunError::EventsSpent { events, time }.into());
            }
            if sim.step().is_none() || is_done(sim) {
                break Ok(());
            }
            events += 1;
        };
        sim.add_wall(started.elapsed());
        ended
    }

    /// As [`Sim::run_events`](crate::engine::Sim::run_events), watched.
    pub(super) fn run<M: Event>(
        &self,
        sim: &mut Sim<M>,
        events_max: u64,
    ) -> Result<Summary, ExperimentError> {
        let mut left = events_max;
        loop {
            self.check()?;
            let slice = left.min(SLICE_EVENTS);
            let result = sim.run_events(slice);
            // The next round of the loop checks this, and this round may be the last
            // one.
            let _ = self.watch(&sim.summary());
            match result {
                Err(RunError::EventsSpent { time, .. }) => {
                    left -= slice;
                    if left == 0 {
                        let events = events_max;
                        return Err(RunError::EventsSpent { events, time }.into());
                    }
                }
                other => return Ok(other?),
            }
        }
    }
}
