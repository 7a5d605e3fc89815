//! What the wires of hostwire are made of.
//!
//! A *wire* carries posted stores from one PE into the segment of another,
//! orders them ([`Wire::fence`]) and says when they are visible
//! ([`Wire::quiet`]). It carries nothing else: a get or an atomic is a request to
//! the target by a store, and an answer by a store. Where the [`Route`] to a PE can do
//! better, the runtime takes the short way.
//!
//! | module | what it is |
//! |---|---|
//! | [`mod@wire`], [`route`] | the waist: the [`Wire`] trait, and how a wire leads to a PE |
//! | [`wires`] | several wires of a job as one |
//! | [`wrap`] | a wire around another wire |
//! | [`memory`], [`window`], [`reach`] | typed access to shared memory; all of it by atomics or raw copies, never `&[u8]` |
//! | [`operation`] | atomic operations on memory of others |
//! | [`visibility`] | what a writer and a reader must do before bytes are seen |
//! | [`fork_guard`] | whether this process is the one that joined the job, or a copy of it |
//! | [`owner_lock`] | a lock that costs next to nothing while one thread uses it |
//! | [`ring`] | 64-byte self-validating slots and credits: messages out of stores |
//! | [`wait`] | spin, yield, sleep; and how a store wakes a sleeper |
//! | [`arrival`] | the spin: each poll is predicted to be the last |
//! | [`shm`] | the wire between processes of one host |
//! | [`terms`] | what must be the same at all PEs of a job |
//! | [`faults`] | faults on purpose, for tests |
//! | [`record`] | what a PE stores, as capture files |
//! | [`os`] | what the launcher needs of the operating system |
//! | [`limits`] | the speed of the machine without this code, for the benchmarks |
//! | [`conformance`] | the tests that every wire must pass |
//!
//! This crate is for people who write wires. To write programs, use the
//! crate `hostwire`.
//!
//! # Systems
//!
//! The wires need Linux. With the feature `coroutine` the rest also builds on other Unix
//! systems, for wires that exist only in simulation; then it has no [`shm`], [`os`]
//! and [`limits`].
//!
//! # Trust
//!
//! A peer may write anything, at any time, into the memory that it was given. Nothing
//! read from that memory is used as an index, a length or an address before it has been
//! checked, and no Rust reference to plain data ever points into it.

#[cfg(not(any(target_os = "linux", feature = "coroutine")))]
compile_error!(
    "hostwire runs programs on Linux only: its wires are made of memfds, futexes and packet sockets. \
     The planner and the simulator (hostwire-plan, hostwire-sim, `hostwire plan`, `hostwire sim`) \
     build on other systems, too."
);

#[macro_use]
mod named_fences;

#[cfg(not(loom))]
pub mod addresses;
pub mod arrival;
#[cfg(not(loom))]
pub mod chain;
#[cfg(not(loom))]
pub mod conformance;
pub mod copy_choice;
#[cfg(all(any(feature = "coroutine", memory_model), not(loom)))]
pub mod coroutine;
pub mod error;
#[cfg(not(loom))]
pub mod faults;
#[cfg(not(loom))]
pub mod flush;
#[cfg(not(loom))]
pub mod fork_guard;
#[cfg(not(loom))]
pub mod futex;
#[cfg(all(feature = "fuzzing", target_os = "linux", not(loom)))]
#[doc(hidden)]
pub mod fuzzing;
#[cfg(all(target_os = "linux", not(loom)))]
pub mod limits;
mod line;
#[cfg(not(loom))]
pub mod membership;
#[cfg(not(loom))]
pub mod memory;
#[cfg(memory_model)]
pub mod model;
pub mod newcomers;
mod opaque;
#[cfg(not(loom))]
pub mod operation;
#[cfg(all(target_os = "linux", not(loom)))]
pub mod os;
pub mod owner_lock;
mod printable;
#[cfg(not(loom))]
pub mod reach;
#[cfg(all(target_os = "linux", not(loom)))]
pub mod record;
pub mod ring;
#[cfg(not(loom))]
pub mod route;
#[cfg(all(target_os = "linux", not(loom)))]
pub mod shm;
pub mod sync;
#[cfg(not(loom))]
pub mod terms;
#[cfg(not(loom))]
pub mod values;
#[cfg(not(loom))]
pub mod visibility;
pub mod wait;
#[cfg(not(loom))]
pub mod window;
#[cfg(not(loom))]
pub mod wire;
#[cfg(not(loom))]
pub mod wires;
#[cfg(not(loom))]
pub mod worker;
#[cfg(not(loom))]
pub mod wrap;

#[cfg(not(loom))]
pub use chain::{Block, BlockSource, ChainLimits, Chains};
pub use error::{
    EnvironmentFault, LOST_AFTER, Loss, Misbehaviour, PeId, SystemError, TransportError,
};
#[cfg(not(loom))]
pub use fork_guard::ForkGuard;
#[cfg(target_os = "linux")]
pub use hostwire_link::silence::STOPPED_LIMITS;
#[cfg(not(loom))]
pub use membership::{Entry, Membership};
#[cfg(not(loom))]
pub use memory::Memory;
#[cfg(not(loom))]
pub use operation::{Operation, Request};
pub use owner_lock::OwnerLock;
pub use printable::{printable, quoted, visible};
#[cfg(not(loom))]
pub use reach::{Access, Bell, Extent, Reach};
#[cfg(not(loom))]
pub use route::Route;
#[cfg(not(loom))]
pub use values::Values;
#[cfg(not(loom))]
pub use visibility::Visibility;
#[cfg(not(loom))]
pub use window::Window;
#[cfg(not(loom))]
pub use wire::{Capabilities, Line, Offload, Wire};
#[cfg(not(loom))]
pub use wires::Wires;
