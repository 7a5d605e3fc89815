//! The suite of the transports over Ethernet: hosts in one process, that reach each other
//! by UDP or by frames between two ends of a virtual cable.
#![allow(clippy::print_stderr)]

use std::process::Command;

use hostwire_transport::conformance::{CASES, Fabric, Program, run_on_threads};
use hostwire_transport::ether::{self, Interface, LocalWire};

/// PEs are threads of this process, dealt out to hosts.
struct Hosts {
    hosts: u32,
    wire: LocalWire,
}

impl Fabric for Hosts {
    fn run(&self, pes: u32, segment_bytes: usize, program: &Program<'_>) {
        let wires = ether::local(pes, self.hosts, segment_bytes, &self.wire);
        run_on_threads(wires.expect("making the wire"), program);
    }
}

const PES: [u32; 4] = [1, 2, 3, 4];

fn run(name: &str, fabric: &Hosts) {
    let case = CASES.iter().find(|case| case.name == name).unwrap();
    for pes in PES {
        (case.run)(fabric, pes);
    }
}

/// Every PE on a host of its own.
fn apart(name: &str) {
    run(
        name,
        &Hosts {
            hosts: u32::MAX,
            wire: LocalWire::Udp,
        },
    );
}

/// Some share memory, some do not.
fn mixed(name: &str) {
    run(
        name,
        &Hosts {
            hosts: 2,
            wire: LocalWire::Udp,
        },
    );
}

/// As `mixed`, by frames.
fn frames(name: &str) {
    let Some(interfaces) = cable() else {
        return;
    };
    let wire = LocalWire::Packet {
        interfaces,
        ether_type: 0x88b5,
    };
    run(name, &Hosts { hosts: 2, wire });
}

/// Two interfaces with a cable between them, in a network namespace that this thread gets
/// for itself; it goes with the thread and the sockets made here.
fn cable() -> Option<Vec<Interface>> {
    // SAFETY: changes the network namespace of this thread alone, which runs one test.
    if unsafe { libc::unshare(libc::CLONE_NEWNET) } == -1 {
        eprintln!(
            "skipped: a network namespace of its own needs root: {}",
            std::io::Error::last_os_error()
        );
        return None;
    }
    for arguments in [
        "link add left type veth peer name right",
        "link set left up",
        "link set right up",
    ] {
        let done = Command::new("ip").args(arguments.split(' ')).status();
        if !done.is_ok_and(|status| status.success()) {
            eprintln!("skipped: `ip {arguments}` fails (package iproute2, veth interfaces)");
            return None;
        }
    }
    let choose = |name| Interface::choose(Some(name)).unwrap();
    Some(vec![choose("left"), choose("right")])
}

macro_rules! over {
    ($wire:ident; $($case:ident,)*) => {
        mod $wire {
            $(#[test]
            fn $case() {
                super::$wire(stringify!($case));
            })*
        }
    };
}

hostwire_transport::transport_cases!(over!(apart));
hostwire_transport::transport_cases!(over!(mixed));
hostwire_transport::transport_cases!(over!(frames));
