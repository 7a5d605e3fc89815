//! The interface of a component to the engine, and the calls that a component may make.

use std::any::Any;

use super::id::{ComponentId, Priority};
use super::queue::{Entry, Queue, Tie};
use super::stall::Wait;
use super::time::Ps;

/// An event from one component to another.
pub trait Event: 'static {
    /// A number that stands for this event in the event hash and in traces.
    /// It must depend on the event's values only, never on an address or on
    /// the platform.
    fn digest(&self) -> u64;

    /// Names of the kinds of events, for traces: at most 256.
    const KINDS: &'static [&'static str] = &["event"];

    /// Which of [`KINDS`](Self::KINDS) this one is.
    fn kind(&self) -> u8 {
        0
    }
}

/// A modelled thing: it gets events and schedules events.
pub trait Component<M: Event>: Any {
    /// Takes one event at time `ctx.now()`.
    fn handle(&mut self, event: M, ctx: &mut Context<'_, M>);

    /// The waits of this component for events of other ones. Called only when no event
    /// is left; an idle component has no waits.
    fn waits(&self) -> Vec<Wait> {
        Vec::new()
    }

    /// Faults of this component because of which others may wait for ever; each is a sentence
    /// without its subject. Called only for the report of a stall; most components have none.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A component's access to the simulation while it handles an event.
pub struct Context<'a, M> {
    pub(super) now: Ps,
    pub(super) me: ComponentId,
    pub(super) sequence: &'a mut u64,
    pub(super) queue: &'a mut Queue<M>,
}

impl<M> Context<'_, M> {
    /// The current time.
    #[inline]
    pub fn now(&self) -> Ps {
        self.now
    }

    /// The component that handles the event.
    #[inline]
    pub fn me(&self) -> ComponentId {
        self.me
    }

    /// Sends `event` to `target`, to arrive after `delay`.
    #[inline]
    pub fn schedule(&mut self, target: ComponentId, delay: Ps, event: M) {
        self.schedule_with(target, delay, Priority::Normal, event);
    }

    /// Sends `event` to `target`, to arrive at `time`, or now if `time` has
    /// passed.
    #[inline]
    pub fn schedule_at(&mut self, target: ComponentId, time: Ps, event: M) {
        self.schedule(target, time - self.now, event);
    }

    /// As [`schedule`](Self::schedule), with a place among the events of that
    /// picosecond.
    #[inline]
    pub fn schedule_with(&mut self, target: ComponentId, delay: Ps, priority: Priority, event: M) {
        let tie = Tie::new(priority, self.me, *self.sequence);
        *self.sequence += 1;
        self.queue.push(Entry {
            time: self.now + delay,
            tie,
            target,
            event,
        });
    }
}
