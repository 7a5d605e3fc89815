//! A small discrete-event engine.
//!
//! Events are ordered by (time, priority, source component, source sequence). The
//! sequence is counted per source, so a probe or an unrelated component does not change
//! the order of other events. The same input gives the same [`Sim::hash`] in debug and
//! release, in any directory, traced or not.
//!
//! ```
//! use hostwire_sim::engine::{Component, Context, Event, Ps, Sim};
//!
//! struct Tick(u32);
//! impl Event for Tick {
//!     fn digest(&self) -> u64 { u64::from(self.0) }
//! }
//!
//! struct Clock { ticks: u32 }
//! impl Component<Tick> for Clock {
//!     fn handle(&mut self, Tick(left): Tick, ctx: &mut Context<'_, Tick>) {
//!         self.ticks += 1;
//!         if left > 0 {
//!             ctx.schedule(ctx.me(), Ps::from_ns(5), Tick(left - 1));
//!         }
//!     }
//! }
//!
//! let mut sim = Sim::new();
//! let clock = sim.add("clock", Clock { ticks: 0 });
//! sim.inject(Ps::ZERO, clock, Tick(9))?;
//! let summary = sim.run()?;
//! assert_eq!(summary.events, 10);
//! assert_eq!(sim.now(), Ps::from_ns(45));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod component;
mod hash;
mod id;
mod queue;
pub mod random;
mod sim;
mod stall;
mod summary;
mod time;
mod trace;

pub use component::{Component, Context, Event};
pub use hash::EventHash;
pub use id::{ComponentId, Priority};
pub use sim::{InjectError, RunError, Sim, Stepped};
pub use stall::{StallReport, Wait};
pub use summary::Summary;
pub use time::Ps;
pub(crate) use trace::end_of;
pub use trace::{
    TRACE_MAGIC, TRACE_RECORD_BYTES, TraceError, TraceFilter, TraceReader, TraceRecord,
};
