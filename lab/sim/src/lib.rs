//! Clusters in virtual time: HyperTransport, PEACH2, HyperTransport over Ethernet.
//!
//! - [`engine`]: integer picoseconds, a calendar queue, components behind a trait. Knows nothing of
//!   hardware.
//! - [`models`]: links and devices by family: HyperTransport, PCI Express, HyperTransport over
//!   Ethernet, Ethernet, links of today, memory. Every parameter has its source in a doc comment
//!   and in `docs/sim/`.
//! - [`machine`]: a cluster of sockets and links, built from a `hostwire-plan`.
//! - [`firmware`]: boots the modelled machines through their registers.
//! - [`wire`]: PEs that run ordinary `hostwire` code on those machines.
//! - [`record`]: pcapng and Perfetto files of what happened.
//! - [`tca`]: sub-clusters of PEACH2 chips, and their programming interface.
//! - [`experiments`]: the numbers of the papers, out of simulated events.
//!
//! Nothing here is global: any number of simulations may live in one process.
#![forbid(unsafe_code)]

pub mod engine;
pub mod experiments;
pub mod firmware;
pub mod machine;
pub mod models;
pub mod record;
pub mod tca;
pub mod wire;

/// The examples of the README compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
