//! The suite of the transports over libfabric: PEs of one process, each with an endpoint of its own,
//! over the providers that the library of this machine has.
#![allow(clippy::print_stderr)]

use hostwire_address::{Place, SegmentId};
use hostwire_testing::{left_out, need, or_long};
use std::sync::Arc;

use hostwire_transport::conformance::copies::copies_of_a_pe_are_refused;
use hostwire_transport::conformance::{CASES, Case, Fabric, Program, run_on_threads};
use hostwire_transport::ether::{self, LocalOptions, LocalWire};
use hostwire_transport::fabric::{self, Choice};
use hostwire_transport::{Memory, Route, Transport, TransportError, Window};

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

/// PEs and hosts.
const SHAPES: [(u32, u32); 4] = [(4, 2), (3, 3), (2, 2), (1, 1)];

/// Beside the suite, which also runs where PEs are no processes.
const COPIES: Case = Case {
    name: "copies_are_refused",
    run: copies_of_a_pe_are_refused,
};

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
    for &(pes, hosts) in &SHAPES[..or_long(1, 4)] {
        let choice = provider.parse().unwrap();
        (case(name).run)(&*over(Hosts { hosts, choice }), pes);
    }
}

fn case(name: &str) -> &'static Case {
    let case = CASES.iter().chain([&COPIES]).find(|case| case.name == name);
    case.expect("one of the suite")
}

macro_rules! over {
    ($wire:ident, $run:ident, $provider:literal; $($case:ident,)*) => {
        over!($wire, $run, $provider, cfg(all()); $($case,)*);
    };
    // For `make test-long`: other providers than the one that is taken first.
    (long $wire:ident, $run:ident, $provider:literal; $($case:ident,)*) => {
        over!($wire, $run, $provider, ignore = "another provider; make test-long"; $($case,)*);
    };
    ($wire:ident, $run:ident, $provider:literal, $kind:meta; $($case:ident,)*) => {
        mod $wire {
            use super::$run;

            $(#[test]
            #[$kind]
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

hostwire_transport::transport_cases!(over!(long tcp, run, "tcp"));
hostwire_transport::transport_cases!(over!(tcp_rxm, run, "tcp;ofi_rxm"));
hostwire_transport::transport_cases!(over!(long net, run, "net"));
hostwire_transport::transport_cases!(over!(beside_frames, run_beside_frames, "tcp;ofi_rxm"));
hostwire_transport::transport_cases!(over!(long net_beside_frames, run_beside_frames, "net"));
/// The variable that names the provider of [`the_chosen_provider_passes_the_suite`].
const PROVIDER: &str = "FABRIC_TEST_PROVIDER";

/// One test after the other, so that the last line names the one that fails.
#[test]
#[ignore = "FABRIC_TEST_PROVIDER names a provider, whether it is said to be supported or not"]
fn the_chosen_provider_passes_the_suite() {
    let Ok(provider) = std::env::var(PROVIDER) else {
        left_out(&need::LIBFABRIC_PROVIDER, format!("{PROVIDER} names none"));
        return;
    };
    assert!(has(&provider), "no provider {provider}");
    for case in CASES.iter().chain([&COPIES]) {
        for (pes, hosts) in SHAPES {
            eprintln!("{provider}: {} with {pes} PEs on {hosts} hosts", case.name);
            let choice = provider.parse().unwrap();
            (case.run)(&Hosts { hosts, choice }, pes);
        }
    }
}

/// Registered memory of a PE is read and written past the messages, until it is unregistered.
#[test]
fn registered_memory_has_keys() {
    const LEN: usize = 40_000;
    const FLAG: usize = 4096;
    for provider in ["tcp;ofi_rxm", "net"] {
        if !has(provider) {
            continue;
        }
        let choice = provider.parse().unwrap();
        Hosts { hosts: 2, choice }.run(2, 1 << 16, &|wire| {
            let other = 1 - wire.pe();
            let segment = SegmentId::new(5).unwrap();
            let at = |byte| Place::Registered(segment, byte).offset().unwrap() as usize;
            let count = |name: &str| {
                let tally = wire.tally().into_iter();
                tally
                    .filter(|(one, _)| one == name)
                    .map(|(_, n)| n)
                    .sum::<u64>()
            };
            let meet = |round: u64| {
                wire.store_word(other, FLAG, round).unwrap();
                while wire.segment().load_word(FLAG).unwrap() < round {
                    wire.poll().unwrap();
                }
            };
            let get = |byte, dst: &mut [u8]| wire.offload().unwrap().get(other, at(byte), dst);
            for round in 1..=3_u64 {
                let memory = Memory::anonymous(LEN);
                let window = Window::registered(memory.clone());
                wire.register(segment, &window).unwrap();
                meet(4 * round);
                let mut seen = vec![1; 100];
                get(LEN as u64 - 100, &mut seen).unwrap();
                assert_eq!(seen, [0; 100], "other memory than in the round before");
                // A place before the end, and more than one message has.
                let byte = round as u8 + 10 * wire.pe() as u8;
                wire.store(other, at(7), &vec![byte; LEN - 7]).unwrap();
                wire.quiet().unwrap();
                let mut seen = vec![0; LEN - 7];
                get(7, &mut seen).unwrap();
                assert!(seen == vec![byte; LEN - 7], "{provider}: round {round}");
                let outside = get(LEN as u64 - 99, &mut [0; 100]);
                assert!(matches!(outside, Err(TransportError::OutOfRange { .. })));
                meet(4 * round + 1);
                let mut own = vec![0; LEN];
                memory.copy_out(0, &mut own).unwrap();
                let expected = round as u8 + 10 * other as u8;
                assert!(own[..7] == [0; 7] && own[7..] == vec![expected; LEN - 7]);
                wire.unregister(segment);
                meet(4 * round + 2);
                let gone = get(0, &mut [0; 8]);
                assert!(matches!(gone, Err(TransportError::OutOfRange { .. })));
                meet(4 * round + 3);
                assert_eq!(
                    (count("fabric_writes"), count("fabric_reads")),
                    (round, 2 * round)
                );
            }
        });
    }
}

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
        // The one that waited in the last round has memory that the other one still reads.
        if wire.pe() == 0 {
            wire.store_word(other, FLAG, 101).unwrap();
            wire.quiet_of(other).unwrap();
        } else {
            until(FLAG, 101);
        }
    });
}
