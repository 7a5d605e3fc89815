//! The tests that every transport must pass.
//!
//! They are functions over a [`Fabric`], which makes connected transports and runs a
//! program on each PE: on a thread ([`Threads`]), or on whatever carries the PEs of a
//! simulated wire. The suite of the crate `hostwire` runs over the same fabrics.

mod fabric;
mod random;

pub use fabric::{Fabric, Program, Threads};
pub use random::Random;
