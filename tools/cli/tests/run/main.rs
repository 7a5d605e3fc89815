//! `hostwire run`, end to end: the real binary with real processes.
//!
//! Limits of time are for a hang only and far beyond what a loaded machine
//! needs; nothing here measures time.
#![allow(clippy::print_stderr)]

mod bad_input;
#[allow(dead_code, reason = "shared with the tests of `hostwire sim`")]
mod command;
mod crash;
mod device_copies;
mod job;
mod nothing_stays;
mod output;
mod pages;
mod pmi;
mod status;
mod wanted;
