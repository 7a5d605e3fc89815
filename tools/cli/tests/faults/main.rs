//! The behaviour of a job under faults, end to end, with real processes: they are killed, stopped,
//! short of resources, or write at random.
//!
//! Limits of time only end a hang, except for the one that the library promises: a dead
//! peer is noticed within a second, here within five on a loaded machine.
#![allow(clippy::print_stderr)]

mod death;
#[path = "../run/job.rs"]
#[allow(dead_code)]
mod job;
mod launchers;
mod many;
mod programs;
mod scarce;
mod scribble;
mod stores;
mod strangers;
