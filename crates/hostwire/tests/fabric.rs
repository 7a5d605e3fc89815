//! The suite of the API over libfabric, alone and beside frames: PEs of one process, dealt out to hosts.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr)]

use std::sync::Arc;

use hostwire::AgentMode;
use hostwire::conformance::{CASES, Setup};
use hostwire_testing::{left_out, need, or_long};
use hostwire_transport::Transport;
use hostwire_transport::conformance::{Fabric, Program, run_on_threads};
use hostwire_transport::ether::{self, LocalOptions, LocalWire};
use hostwire_transport::fabric;

const PROVIDER: &str = "tcp;ofi_rxm";
/// PEs and hosts.
/// PEs and hosts.
const SHAPES: [(u32, u32); 2] = [(3, 2), (2, 2)];
/// So that the suite stores by both wires.
const LONG_BYTES: usize = 512;

/// So many hosts; with frames between them for what is short, or without.
struct Hosts {
    hosts: u32,
    has_frames: bool,
}

impl Fabric for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let &Self { hosts, has_frames } = self;
        let choice = PROVIDER.parse().unwrap();
        if !has_frames {
            let made = fabric::local(pes, hosts, segment_bytes, &choice);
            return run_on_threads(made.expect("making the wire"), program);
        }
        let options = LocalOptions::default();
        let frames = ether::local(pes, hosts, segment_bytes, &LocalWire::Udp, &options);
        let frames = frames.expect("making the frames").into_iter();
        let frames = frames.map(|pe| Arc::new(pe.wires) as Arc<dyn Transport>);
        let made = fabric::local_beside(frames.collect(), hosts, &choice, LONG_BYTES);
        run_on_threads(made.expect("making the wire"), program);
    }
}

fn run(name: &str, has_frames: bool) {
    let offers = match fabric::offers() {
        Ok((_, offers)) => offers,
        Err(error) => return left_out(&need::LIBFABRIC, error),
    };
    if !offers.iter().any(|offer| offer.provider == PROVIDER) {
        return left_out(&need::LIBFABRIC_PROVIDER, PROVIDER);
    }
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for (pes, hosts) in &SHAPES[..or_long(1, 2)] {
        let hosts = Hosts {
            hosts: *hosts,
            has_frames,
        };
        (case.run)(&Setup::new(&hosts, *pes, AgentMode::Thread));
    }
}

macro_rules! over {
    ($wire:ident, $has_frames:literal; $($case:ident,)*) => {
        mod $wire {
            $(#[test]
            fn $case() {
                super::run(stringify!($case), $has_frames);
            })*
        }
    };
}

hostwire::conformance_cases!(over!(alone, false));
hostwire::conformance_cases!(over!(beside_frames, true));
