//! The suite of the transports over libfabric: PEs of one process, each with an endpoint of its own,
//! over the providers of this machine's library.
#![allow(clippy::print_stderr)]

use hostwire_address::{Place, SegmentId};
use hostwire_fabric::Choice;
use hostwire_testing::{left_out, need, or_long};
use hostwire_transport::conformance::copies;
use hostwire_transport::conformance::{CASES, Case, Program, Testbed, run_on_threads};
use hostwire_transport::{Memory, TransportError, Window};

/// PEs are threads of this process, dealt out to hosts.
struct Hosts {
    hosts: u32,
    choice: Choice,
}

impl Testbed for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let made = hostwire_fabric::local(pes, self.hosts, segment_bytes, &self.choice);
        run_on_threads(made.expect("making the wire"), program);
    }
}

/// PEs and hosts.
const SHAPES: [(u32, u32); 4] = [(4, 2), (3, 3), (2, 2), (1, 1)];

/// Whether this machine has the provider. Says so if not.
fn has(provider: &str) -> bool {
    match hostwire_fabric::offers() {
        Err(error) => {
            left_out(&need::LIBFABRIC, error);
            false
        }
        Ok((_, offers)) => {
            let usable = |offer: &hostwire_fabric::Offer| offer.refused.is_none();
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
    if !has(provider) {
        return;
    }
    for &(pes, hosts) in &SHAPES[..or_long(1, 4)] {
        let choice = provider.parse().unwrap();
        (case(name).run)(&Hosts { hosts, choice }, pes);
    }
}

fn case(name: &str) -> &'static Case {
    let case = CASES
        .iter()
        .chain([&copies::CASE])
        .find(|case| case.name == name);
    case.expect("one of the suite")
}

macro_rules! over {
    ($wire:ident, $provider:literal; $($case:ident,)*) => {
        over!($wire, $provider, cfg(all()); $($case,)*);
    };
    // For `make test-long`: providers other than the default one.
    (long $wire:ident, $provider:literal; $($case:ident,)*) => {
        over!($wire, $provider, ignore = "another provider; make test-long"; $($case,)*);
    };
    ($wire:ident, $provider:literal, $kind:meta; $($case:ident,)*) => {
        mod $wire {
            use super::run;

            $(#[test]
            #[$kind]
            fn $case() {
                run(stringify!($case), $provider);
            })*

            #[test]
            fn copies_are_refused() {
                run("copies_are_refused", $provider);
            }
        }
    };
}

hostwire_transport::transport_cases!(over!(long tcp, "tcp"));
hostwire_transport::transport_cases!(over!(tcp_rxm, "tcp;ofi_rxm"));
hostwire_transport::transport_cases!(over!(long net, "net"));

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
    for case in CASES.iter().chain([&copies::CASE]) {
        for (pes, hosts) in SHAPES {
            eprintln!("{provider}: {} with {pes} PEs on {hosts} hosts", case.name);
            let choice = provider.parse().unwrap();
            (case.run)(&Hosts { hosts, choice }, pes);
        }
    }
}

/// Registered memory of a PE is read and written by RDMA, until it is unregistered.
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
                // A place before the end, and more bytes than fit one message.
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
