//! What a job does when something goes wrong, end to end: real processes, killed,
//! stopped, short of everything, or gone mad.
//!
//! Limits of time are for a hang only, but for the one that the library promises: a dead
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
mod strangers;
