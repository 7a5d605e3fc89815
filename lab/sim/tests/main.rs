//! All tests of the simulator are one program: compiled and linked one by one, they would take minutes more.
//!
//! Those of a module alone: `cargo test -p hostwire-sim --test all MODULE::`

#[macro_use]
mod common;

mod adapters;
mod boot;
mod bridge_reads;
mod clusters;
mod conformance;
mod constants;
mod coroutine;
mod deadlock;
mod engine;
mod ethernet;
mod event_traces;
mod experiment_files;
mod hosts;
mod htea;
mod htx;
mod link;
mod links;
mod load;
mod management;
mod memory_system;
mod mixed;
mod mixed_parameters;
mod mixed_puts;
mod mixed_regions;
mod network;
mod pgas_cluster;
mod processes;
mod record;
mod record_links;
mod remote_memory;
mod reproduce;
mod routing;
mod scale;
mod several;
mod tca;
mod tca_reproduce;
mod three_copies;
mod wire;
