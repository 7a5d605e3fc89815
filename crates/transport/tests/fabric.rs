//! The suite of the transports over libfabric: PEs of one process, each with an endpoint of its own,
//! over the providers that the library of this machine has.
#![allow(clippy::print_stderr)]

use hostwire_testing::{left_out, need};
use std::sync::Arc;

use hostwire_transport::conformance::copies::copies_of_a_pe_are_refused;
use hostwire_transport::conformance::{CASES, Case, Fabric, Program, run_on_threads};
use hostwire_transport::ether::{self, LocalOptions, LocalWire};
use hostwire_transport::fabric::{self, Choice};
use hostwire_transport::{Route, Transport};

/// PEs are threads of this process, dealt out to hosts.
struct Hosts {
    hosts: u32,
    choice: Choice,
}

impl Fabric for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let made = fabric::local(pes, self.hosts, segment_bytes, &self.choice);
        run_on_threads(made.expect("making the wire"), program);
    }
}

/// The same, with frames between the hosts for what is shorter than [`LONG_BYTES`].
struct BesideFrames(Hosts);

/// So that the suite stores by both wires.
const LONG_BYTES: usize = 512;

impl Fabric for BesideFrames {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let Self(Hosts { hosts, choice }) = self;
        let options = LocalOptions::default();
        let frames = ether::local(pes, *hosts, segment_bytes, &LocalWire::Udp, &options);
        let frames = frames.expect("making the frames").into_iter();
        let frames = frames.map(|pe| Arc::new(pe.wires) as Arc<dyn Transport>);
        let made = fabric::local_beside(frames.collect(), *hosts, choice, LONG_BYTES);
        run_on_threads(made.expect("making the wire"), program);
    }
}

/// Beside the suite, which also runs where PEs are no processes.
const COPIES: Case = Case {
    name: "copies_are_refused",
    run: copies_of_a_pe_are_refused,
};

/// Where several PEs send to one, this provider breaks the order of messages that it promises, or stands
/// still: see [`a_provider_that_breaks_order_is_found_out`].
const BREAKS_ORDER: &str = "udp;ofi_rxd";

/// Whether this machine has the provider. Says so if not.
fn has(provider: &str) -> bool {
    match fabric::offers() {
        Err(error) => {
            left_out(&need::LIBFABRIC, error);
            false
        }
        Ok((_, offers)) => {
            let usable = |offer: &fabric::Offer| offer.refused.is_none();
            let has = offers
                .iter()
                .any(|it| it.provider == provider && usable(it));
            if !has {
                let why = format!("no reliable endpoints of the provider {provider}");
                left_out(&need::LIBFABRIC_PROVIDER, why);
            }
            has
        }
    }
}

fn run(name: &str, provider: &str) {
    run_over(name, provider, |hosts| Box::new(hosts));
}

fn run_beside_frames(name: &str, provider: &str) {
    run_over(name, provider, |hosts| Box::new(BesideFrames(hosts)));
}

fn run_over(name: &str, provider: &str, over: fn(Hosts) -> Box<dyn Fabric>) {
    if !has(provider) {
        return;
    }
    let case = CASES.iter().chain([&COPIES]).find(|case| case.name == name);
    for (pes, hosts) in [(1, 1), (2, 2), (3, 3), (4, 2)] {
        if pes > 2 && provider == BREAKS_ORDER {
            continue;
        }
        let choice = provider.parse().unwrap();
        (case.unwrap().run)(&*over(Hosts { hosts, choice }), pes);
    }
}

macro_rules! over {
    ($wire:ident, $run:ident, $provider:literal; $($case:ident,)*) => {
        mod $wire {
            use super::$run;

            $(#[test]
            fn $case() {
                $run(stringify!($case), $provider);
            })*

            #[test]
            fn copies_are_refused() {
                $run("copies_are_refused", $provider);
            }
        }
    };
}

hostwire_transport::transport_cases!(over!(tcp, run, "tcp"));
hostwire_transport::transport_cases!(over!(tcp_rxm, run, "tcp;ofi_rxm"));
hostwire_transport::transport_cases!(over!(net, run, "net"));
hostwire_transport::transport_cases!(over!(udp_rxd, run, "udp;ofi_rxd"));
hostwire_transport::transport_cases!(over!(beside_frames, run_beside_frames, "tcp;ofi_rxm"));
hostwire_transport::transport_cases!(over!(net_beside_frames, run_beside_frames, "net"));

/// What goes by frames never overtakes a long put: a word, a store behind a fence, and what a get reads.
#[test]
fn what_goes_by_frames_waits_for_long_puts() {
    const PUT: usize = 8 << 10;
    const LEN: usize = 300 << 10;
    const FLAG: usize = 4096;
    const LAST: usize = FLAG + 64;
    let provider = "tcp;ofi_rxm";
    if !has(provider) {
        return;
    }
    let choice = provider.parse().unwrap();
    let both = BesideFrames(Hosts { hosts: 2, choice });
    both.run(2, 1 << 20, &|wire| {
        let other = 1 - wire.pe();
        let reads = wire.route(other);
        assert!(matches!(reads, Some(Route::Read { from_bytes }) if from_bytes == LONG_BYTES));
        let own = wire.segment().clone();
        let until = |at: usize, round: u64| {
            while own.load_word(at).unwrap() < round {
                wire.poll().unwrap();
            }
        };
        for round in 1..=100 {
            let byte = round as u8;
            // Each PE in turn: the other one only waits.
            if round % 2 != u64::from(wire.pe()) {
                until(if round % 4 < 2 { FLAG } else { LAST }, round);
                let mut seen = vec![0; LEN];
                own.get(PUT, &mut seen).unwrap();
                assert!(seen == vec![byte; LEN], "round {round}");
                continue;
            }
            wire.store(other, PUT, &vec![byte; LEN]).unwrap();
            if round % 4 < 2 {
                wire.store_word(other, FLAG, round).unwrap();
            } else {
                wire.fence().unwrap();
                wire.store(other, LAST, &round.to_ne_bytes()).unwrap();
            }
            let mut got = vec![0; LEN];
            wire.offload().unwrap().get(other, PUT, &mut got).unwrap();
            assert!(got == vec![byte; LEN], "round {round}");
            wire.quiet_of(other).unwrap();
        }
    });
}

/// Ends with an error that names the provider and what it promised, or stands still; now and then it passes.
#[test]
#[ignore = "shows a fault of udp;ofi_rxd of libfabric 1.17"]
fn a_provider_that_breaks_order_is_found_out() {
    if has(BREAKS_ORDER) {
        let case = CASES
            .iter()
            .find(|case| case.name == "words_come_in_one_piece");
        let choice = BREAKS_ORDER.parse().unwrap();
        (case.unwrap().run)(&Hosts { hosts: 2, choice }, 4);
    }
}
