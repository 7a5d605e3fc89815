//! The simulation: components, queue, clock.

use std::any::Any;
use std::io::Write;
use std::time::{Duration, Instant};

use super::component::{Component, Context, Event};
use super::hash::EventHash;
use super::id::{ComponentId, Priority};
use super::queue::{Entry, Queue, Tie};
use super::stall::StallReport;
use super::summary::Summary;
use super::time::Ps;
use super::trace::{Trace, TraceError, TraceFilter};

/// One simulation. It shares nothing with other simulations.
pub struct Sim<M: Event> {
    now: Ps,
    queue: Queue<M>,
    components: Vec<ComponentSlot<M>>,
    names: Vec<String>,
    injected: u64,
    events: u64,
    hash: EventHash,
    wall: Duration,
    trace: Option<Trace>,
}

/// A component, and how many events it has sent.
struct ComponentSlot<M: Event> {
    component: Box<dyn Component<M>>,
    sequence: u64,
}

/// What [`Sim::step`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stepped {
    /// When.
    pub time: Ps,
    /// Which component handled the event.
    pub target: ComponentId,
}

/// Why an event was not accepted. The caller is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InjectError {
    /// The event lies in the past.
    #[error("event at {time} injected at {now}: time does not run backwards")]
    Past {
        /// Time asked for.
        time: Ps,
        /// Current time.
        now: Ps,
    },
    /// There is no such component.
    #[error("event for component {index}, but there are only {count}")]
    NoComponent {
        /// Component asked for.
        index: usize,
        /// Number of components.
        count: usize,
    },
}

/// Why a run did not come to its end. The model or the workload is at fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// No event is left, but components still wait.
    #[error("deadlock at {time}: {report}")]
    Stalled {
        /// When the last event happened.
        time: Ps,
        /// The components that wait, and for what.
        report: StallReport,
    },
    /// The budget of events is spent and the run has not ended.
    #[error("{events} events handled up to {time} and the run has not ended")]
    EventsSpent {
        /// The budget.
        events: u64,
        /// Simulated time reached.
        time: Ps,
    },
}

impl<M: Event> Default for Sim<M> {
    fn default() -> Self {
        Sim::new()
    }
}

impl<M: Event> Sim<M> {
    /// An empty simulation at time zero.
    pub fn new() -> Self {
        Sim {
            now: Ps::ZERO,
            queue: Queue::new(),
            components: Vec::new(),
            names: Vec::new(),
            injected: 0,
            events: 0,
            hash: EventHash::default(),
            wall: Duration::ZERO,
            trace: None,
        }
    }

    /// Adds a component. `name` appears in reports and traces.
    ///
    /// # Panics
    /// With more than 262,142 components.
    pub fn add(&mut self, name: impl Into<String>, component: impl Component<M>) -> ComponentId {
        assert!(
            self.components.len() < ComponentId::EXTERNAL.index(),
            "too many components"
        );
        let id = ComponentId::at(self.components.len());
        self.components.push(ComponentSlot {
            component: Box::new(component),
            sequence: 0,
        });
        self.names.push(name.into());
        id
    }

    /// The current time: that of the last event, or the end of the last
    /// [`run_until`](Self::run_until).
    pub fn now(&self) -> Ps {
        self.now
    }

    /// Hash over all events handled so far.
    pub fn hash(&self) -> EventHash {
        self.hash
    }

    /// Events that wait to be handled.
    pub fn pending(&self) -> usize {
        self.queue.len()
    }

    /// Name of a component.
    pub fn name(&self, id: ComponentId) -> Option<&str> {
        self.names.get(id.index()).map(String::as_str)
    }

    /// All components, in the order in which they were added.
    pub fn ids(&self) -> impl Iterator<Item = ComponentId> + use<M> {
        (0..self.components.len()).map(ComponentId::at)
    }

    /// A component by its type, to read its state between events.
    pub fn component<T: Component<M>>(&self, id: ComponentId) -> Option<&T> {
        let any: &dyn Any = self.components.get(id.index())?.component.as_ref();
        any.downcast_ref()
    }

    /// A component by its type, to set it up between events.
    pub fn component_mut<T: Component<M>>(&mut self, id: ComponentId) -> Option<&mut T> {
        let any: &mut dyn Any = self.components.get_mut(id.index())?.component.as_mut();
        any.downcast_mut()
    }

    /// Brings an event in from outside.
    ///
    /// # Errors
    /// [`InjectError`] if `time` has passed or `target` is unknown.
    pub fn inject(&mut self, time: Ps, target: ComponentId, event: M) -> Result<(), InjectError> {
        if time < self.now {
            return Err(InjectError::Past {
                time,
                now: self.now,
            });
        }
        if target.index() >= self.components.len() {
            return Err(InjectError::NoComponent {
                index: target.index(),
                count: self.components.len(),
            });
        }
        let tie = Tie::new(Priority::Normal, ComponentId::EXTERNAL, self.injected);
        self.injected += 1;
        self.queue.push(Entry {
            time,
            tie,
            target,
            event,
        });
        Ok(())
    }

    /// Time of the next event.
    pub fn peek(&self) -> Option<Ps> {
        self.queue.peek()
    }

    /// Handles the next event.
    #[inline]
    pub fn step(&mut self) -> Option<Stepped> {
        let Entry {
            time,
            tie,
            target,
            event,
        } = self.queue.pop()?;
        let digest = event.digest();
        self.now = time;
        self.events += 1;
        self.hash.add(time.0, tie.0, target.0, digest);
        if let Some(trace) = &mut self.trace {
            trace.record(time, [target, tie.source()], event.kind(), digest);
        }
        // A component may address one that was never added; such an event is
        // counted and has no effect.
        if let Some(place) = self.components.get_mut(target.index()) {
            let mut context = Context {
                now: time,
                me: target,
                sequence: &mut place.sequence,
                queue: &mut self.queue,
            };
            place.component.handle(event, &mut context);
        }
        Some(Stepped { time, target })
    }

    /// Handles every event up to and including `time`; then it is `time`.
    pub fn run_until(&mut self, time: Ps) -> Summary {
        let started = Instant::now();
        while self.peek().is_some_and(|next| next <= time) {
            self.step();
        }
        self.now = self.now.max(time);
        self.wall += started.elapsed();
        self.summary()
    }

    /// Handles events until none is left.
    ///
    /// # Errors
    /// [`RunError::Stalled`] if a component still waits then.
    pub fn run(&mut self) -> Result<Summary, RunError> {
        self.run_events(u64::MAX)
    }

    /// As [`run`](Self::run), but gives up after `events_max` events.
    ///
    /// # Errors
    /// [`RunError::EventsSpent`] if events were left then; [`RunError::Stalled`].
    pub fn run_events(&mut self, events_max: u64) -> Result<Summary, RunError> {
        let started = Instant::now();
        let mut left = events_max;
        while left > 0 && self.step().is_some() {
            left -= 1;
        }
        self.wall += started.elapsed();
        if self.queue.len() > 0 {
            return Err(RunError::EventsSpent {
                events: events_max,
                time: self.now,
            });
        }
        self.check_stall()?;
        Ok(self.summary())
    }

    /// An error, which lists the components that still wait, if any do.
    ///
    /// # Errors
    /// [`RunError::Stalled`]. Meaningful only when no event is left.
    pub fn check_stall(&self) -> Result<(), RunError> {
        let report = self.stall_report();
        match report.waits.is_empty() {
            true => Ok(()),
            false => Err(RunError::Stalled {
                time: self.now,
                report,
            }),
        }
    }

    /// The components that wait now, and for what; and the faults of components.
    pub(crate) fn stall_report(&self) -> StallReport {
        let (mut waits, mut faults) = (Vec::new(), Vec::new());
        for (index, place) in self.components.iter().enumerate() {
            let id = ComponentId::at(index);
            waits.extend(place.component.waits().into_iter().map(|wait| (id, wait)));
            faults.extend(place.component.faults().into_iter().map(|what| (id, what)));
        }
        StallReport::new(&self.names, waits, faults)
    }

    /// Adds real time that the caller spent on driving this simulation step by step.
    pub(crate) fn add_wall(&mut self, time: Duration) {
        self.wall += time;
    }

    /// Figures so far.
    pub fn summary(&self) -> Summary {
        Summary {
            events: self.events,
            virtual_time: self.now,
            wall: self.wall,
            hash: self.hash,
        }
    }

    /// Records events that pass `filter` to `out` from now on; see
    /// [`TraceReader`](super::TraceReader) for the format. Tracing changes
    /// nothing in the simulation.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn trace_to(&mut self, out: Box<dyn Write>, filter: TraceFilter) -> Result<(), TraceError> {
        self.trace = Some(Trace::new(out, filter, &self.names, M::KINDS)?);
        Ok(())
    }

    /// Ends the trace; returns the number of records.
    ///
    /// # Errors
    /// If a record could not be written.
    pub fn end_trace(&mut self) -> Result<u64, TraceError> {
        self.trace.take().map_or(Ok(0), Trace::finish)
    }
}
