//! Cases of the suites for transports, on sockets of a cluster file.

use std::sync::Arc;

use hostwire_sim::experiments::tccluster::booted;
use hostwire_sim::wire::{Settings, run};
use hostwire_transport::Wire;
use hostwire_transport::conformance::Program;

/// No case needs so many; a job that polls for ever ends here.
const EVENTS_MAX: u64 = 500_000_000;

/// Runs a case with so many PEs and bytes, PEs being on these sockets in turn.
pub fn run_on(
    file: &str,
    sockets: &[usize],
    (pes, segment_bytes): (u32, usize),
    program: &Program<'_>,
) {
    let mut machine = booted(file).unwrap();
    let mut settings = Settings {
        events_max: EVENTS_MAX,
        ..Settings::new(0, segment_bytes)
    };
    let sockets = sockets.iter().copied().cycle();
    settings.sockets = sockets.take(pes as usize).collect();
    let ran = run(&mut machine, &settings, &|wire| {
        program(wire as Arc<dyn Wire>)
    });
    if let Err(error) = ran {
        panic!("{error}");
    }
}
