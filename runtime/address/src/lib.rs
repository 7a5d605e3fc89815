//! One address space for all memory that peers can reach: that of the nodes of a cluster, as the
//! planner lays it out, and that of the PEs of a job, as frames name it.
//!
//! | module | what it is |
//! |---|---|
//! | [`address`] | an address, and a range of addresses |
//! | [`intervals`] | which owner has which addresses |
//! | [`place`] | a byte of a PE's memory: which segment, and where in it |
//! | [`job`] | the map of a job: from a PE and a place to an address, and back |

#![forbid(unsafe_code)]

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod address;
pub mod intervals;
pub mod job;
pub mod place;

pub use address::{AddressRange, GlobalAddress};
pub use intervals::Intervals;
pub use job::JobMap;
pub use place::{Place, SegmentId};
