//! A processor's view of a memory that is spread over regions: caches, pages, and the
//! cost of an access by its region.
//!
//! This is the model of the PGAS cluster paper: not messages on links but a latency per
//! access. A [`MemorySystem`] takes a stream of loads and stores, [`Loop`]s or single
//! [`Access`]es of a recorded [`trace`], sends them through its caches, and charges what
//! misses to the [`Region`] that holds the page.
//!
//! Scope, sources and limits: `docs/sim/pgas.md`.
//!
//! ```
//! use hostwire_sim::engine::Ps;
//! use hostwire_sim::models::memory::{
//!     Access, AccessKind, Config, Medium, MemorySystem, Region, RegionKind,
//! };
//!
//! let near = Medium::uniform(Ps::from_ns(80));
//! let far = Medium::uniform(Ps::from_ns(3_600));
//! let mut memory = MemorySystem::new(Config {
//!     regions: vec![
//!         Region::new("n0", RegionKind::Local, 1 << 20, near),
//!         Region::new("n1", RegionKind::Remote, 1 << 20, far),
//!     ],
//!     ..Config::default()
//! })?;
//! // Pages are dealt out to the regions in turn.
//! for address in [0, 8, 8192] {
//!     memory.access(Access { address, bytes: 8, kind: AccessKind::Load })?;
//! }
//! // The second load hits the line that the first has fetched.
//! assert_eq!(memory.time(), Ps::from_ns(80 + 3_600));
//! # Ok::<(), hostwire_sim::models::memory::MemoryError>(())
//! ```

mod access;
mod cache;
mod config;
mod error;
mod leap;
mod misses;
mod pages;
mod processor;
mod residency;
mod system;
pub mod trace;

pub use access::{Access, AccessKind, Loop, Strided};
pub use config::{
    CacheConfig, Config, Medium, Paging, Placement, ProcessorKind, Region, RegionKind,
};
pub use error::MemoryError;
pub use misses::{Line, Misses};
pub use system::{MemorySystem, RegionCounters, Totals, Watch};
