//! A partitioned global address space in which only writes cross the wire between
//! processes.
//!
//! A *job* is a number of processes, its *PEs*. Each exposes a *segment* of its memory;
//! symmetric objects lie at the same place in all of them. A PE *puts* values into the
//! segment of another, *gets* them, changes them with atomics, waits for its own to
//! change, or sends messages; and all of them meet in collective operations.
//!
//! ```
//! use hostwire::Job;
//!
//! fn main() -> hostwire::Result<()> {
//!     let job = Job::attach()?;
//!     let inbox = job.alloc::<u64>(1)?;
//!     let right = (job.pe() + 1) % job.pes();
//!     inbox.put(right, 0, &[u64::from(job.pe())])?;
//!     job.barrier()?;
//!     println!("PE {} heard from PE {}", job.pe(), inbox.load(0)?);
//!     job.finalize()
//! }
//! ```
//!
//! Run it with `hostwire run -n 4 ./program`, with `mpiexec.hydra`, `mpirun` of Open MPI or
//! `srun`, or alone. `docs/memory-model.md` describes the promises of put, fence, quiet and
//! signal.
//!
//! | module | what it is |
//! |---|---|
//! | [`Job`] | attach, identity, messages |
//! | [`Queue`] | messages in the background |
//! | [`Symmetric`], [`Get`] | put, get, atomics, waiting for words |
//! | [`Registered`], [`Key`], [`Opened`] | memory of one PE that others may reach |
//! | [`Team`] | groups of PEs and collective operations |
//! | [`tca`] | copies between memory of hosts and accelerators, chains of them |
//! | [`Lock`] | what one PE at a time does |
//! | [`attachment`], [`core`] | what is below a job, to build something else on |
//! | [`board`], [`counters`] | what a launcher has to know |
//! | `conformance` | with the feature of that name: the tests of all this, over any wire |

#![forbid(unsafe_code)]
#![cfg_attr(
    not(target_os = "linux"),
    allow(
        dead_code,
        unused_imports,
        reason = "much is there for `Job::attach`, which needs Linux"
    )
)]

#[cfg(not(any(target_os = "linux", feature = "virtual-time")))]
compile_error!(
    "hostwire runs programs on Linux only. The planner and the simulator (hostwire-plan, \
     hostwire-sim, `hostwire plan`, `hostwire sim`) build on other systems, too."
);

mod agent;
#[cfg(target_os = "linux")]
mod attach;
pub mod attachment;
pub mod board;
mod collective;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod core;
pub mod counters;
mod element;
mod error;
#[cfg(all(feature = "fuzzing", target_os = "linux"))]
#[doc(hidden)]
pub mod fuzzing;
mod heap;
mod held_locks;
mod inner;
mod job;
pub mod layout;
pub mod lock;
mod lost;
mod message;
pub mod op;
mod queue;
mod registered;
mod registry;
pub mod settings;
mod sizes;
mod slots;
#[cfg(target_os = "linux")]
pub mod station;
mod status;
mod symmetric;
pub mod tca;
mod team;
mod wait_hooks;

pub use agent::AgentMode;
#[cfg(target_os = "linux")]
pub use attach::modelled_heap_bytes;
#[doc(hidden)]
pub use collective::untyped_as;
pub use element::{AtomicElement, AtomicInteger, Element};
pub use error::{Error, LaunchStep, Misbehaviour, PeerWord, Result, TcaError};
pub use hostwire_bootstrap::{LaunchError, Nodes};
pub use hostwire_transport::EnvironmentFault;
pub use hostwire_transport::ring::SendOrder;
pub use hostwire_transport::{Loss, PeId};
pub use job::Job;
pub use layout::{Layout, TEAMS_MAX};
pub use lock::{Guard, Lock};
pub use message::{Envelope, Source, Tag, Ticket};
pub use queue::{Completion, Queue};
pub use registered::{Key, Opened, Registered};
pub use sizes::{PES_MAX, Sizes};
pub use symmetric::{Get, SignalOp, StartedGet, Symmetric};
pub use team::{Rank, Team};
/// The traits behind [`Element`], for structures of the program.
pub use zerocopy::{self, FromBytes, FromZeros, Immutable, IntoBytes};

pub use crate::core::Compare;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
