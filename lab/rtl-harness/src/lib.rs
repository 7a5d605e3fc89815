//! Drives the hardware of `lab/rtl` as Verilator models, against the packets of `hostwire-packet`.
//!
//! [`model`] loads a model at run time: libraries that `scripts/rtl.sh build` puts into `target/rtl`. Without them
//! this crate builds, and its tests say that they are skipped. Each design has a module.

pub mod board;
pub mod ht;
pub mod model;
pub mod pcie;
pub mod random;
