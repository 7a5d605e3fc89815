//! Jobs over the wire `window`, end to end: real processes over one file, with each contract, and
//! as if each PE had a kernel of its own.
//!
//! What needs hosts or mounts is left out where they cannot be made, and a line says so. Limits of
//! time are for a hang only.
#![allow(clippy::print_stderr)]

#[path = "../wire/hosts.rs"]
#[allow(dead_code)]
mod hosts;
#[path = "../run/job.rs"]
#[allow(dead_code)]
mod job;
mod jobs;
mod kernels;
#[path = "../faults/programs.rs"]
#[allow(dead_code)]
mod programs;
mod regions;
