//! Jobs over the wires between hosts, end to end: real processes on hosts that `hostwire
//! run` makes of this machine, and everything that may happen to their network.
//!
//! Without the right to make such hosts all of it is left out, and a line says so. Limits
//! of time are for a hang only.
#![allow(clippy::print_stderr)]

mod bench;
mod connections;
mod counters;
mod dissector;
mod fabric;
mod faults;
mod hosts;
mod idle;
mod insecure;
mod interrupts;
#[path = "../run/job.rs"]
#[allow(dead_code)]
mod job;
mod lost;
mod networks;
mod nothing_stays;
#[path = "../faults/programs.rs"]
#[allow(dead_code)]
mod programs;
mod record;
mod strangers;
mod threads;
