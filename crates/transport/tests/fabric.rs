//! The suite of the transports over libfabric: PEs of one process, each with an endpoint of its own,
//! over the providers that the library of this machine has.
#![allow(clippy::print_stderr)]

use hostwire_testing::{left_out, need};
use hostwire_transport::conformance::copies::copies_of_a_pe_are_refused;
use hostwire_transport::conformance::{CASES, Case, Fabric, Program, run_on_threads};
use hostwire_transport::fabric::{self, Choice};

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
    if !has(provider) {
        return;
    }
    let case = CASES.iter().chain([&COPIES]).find(|case| case.name == name);
    for (pes, hosts) in [(1, 1), (2, 2), (3, 3), (4, 2)] {
        if pes > 2 && provider == BREAKS_ORDER {
            continue;
        }
        let choice = provider.parse().unwrap();
        (case.unwrap().run)(&Hosts { hosts, choice }, pes);
    }
}

macro_rules! over {
    ($wire:ident, $provider:literal; $($case:ident,)*) => {
        mod $wire {
            use super::run;

            $(#[test]
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

hostwire_transport::transport_cases!(over!(tcp, "tcp"));
hostwire_transport::transport_cases!(over!(tcp_rxm, "tcp;ofi_rxm"));
hostwire_transport::transport_cases!(over!(net, "net"));
hostwire_transport::transport_cases!(over!(udp_rxd, "udp;ofi_rxd"));

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
