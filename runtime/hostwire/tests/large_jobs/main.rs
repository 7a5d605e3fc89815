//! What a PE of a large job costs, counted and not timed. Few of its PEs exist; the others are reached by a wire that
//! takes stores and counts them.

mod page;
mod void;

use std::process::Command;

use hostwire::attachment::{Attachment, Departure};
use hostwire::{AgentMode, Job, Nodes, Sizes};
use void::Host;

/// In the environment of this program: it is one PE of a job of so many, and prints what it costs.
const PES: &str = "LARGE_JOB_PES";

const SIZES: Sizes = Sizes {
    heap_bytes: 1 << 20,
    ..Sizes::USUAL
};

/// Bytes of this process, by the kernel: private ones, and shared ones that it has touched.
fn resident() -> [usize; 2] {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").unwrap();
    let of = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        let kib = line.split_whitespace().nth(1).unwrap();
        kib.parse::<usize>().unwrap() << 10
    };
    [of("Anonymous:"), of("Rss:")]
}

/// Makes one PE of a job, and prints what that costs this process beside its program.
#[expect(
    clippy::print_stdout,
    clippy::exit,
    reason = "a process of its own, which says what it costs"
)]
fn be_one_pe(pes: u32) -> ! {
    let before = resident();
    let host = Host::new(pes, 1, SIZES);
    let job = Job::over(host.wire(0), SIZES, AgentMode::Polled).unwrap();
    let after = resident();
    let [private, all] = [0, 1].map(|at| after[at] - before[at]);
    assert_eq!(job.pes(), pes);
    println!("cost {private} {all} {}", host.stored());
    std::process::exit(0);
}

fn cost(pes: u32) -> [usize; 3] {
    let mut one = Command::new(std::env::current_exe().unwrap());
    one.args(["--exact", "a_pe_costs_little_at_the_start", "--nocapture"]);
    let output = one.env(PES, pes.to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find_map(|line| line.split_once("cost "));
    let (_, numbers) = line.unwrap_or_else(|| panic!("{text}"));
    let mut numbers = numbers.split(' ').map(|number| number.parse().unwrap());
    [(); 3].map(|()| numbers.next().unwrap())
}

/// One PE of each other host is told, and all on the own one.
#[test]
fn a_loss_is_told_once_for_each_host() {
    const PES: u32 = 1024;
    let mut host = Host::new(PES, 2, SIZES);
    let hosts = Nodes::numbered((0..PES).map(|pe| pe / 64));
    let attachment = Attachment::over_hosts(host.wire(0), SIZES, hosts).unwrap();
    assert_eq!(attachment.is_lost(1), Ok(false));
    host.end_last();
    assert_eq!(attachment.is_lost(1), Ok(true));
    // PEs 2 to 63 of this host are reached by the same wire as the others.
    assert_eq!(host.stored(), 62 + PES as usize / 64 - 1);
}

/// One PE of each other host is told, and the others of that host read it.
#[test]
fn a_departure_is_told_once_for_each_host() {
    const PES: u32 = 1024;
    let host = Host::new(PES, 3, SIZES);
    // PEs 1 and 2 share a host, and PE 0 has one of its own.
    let hosts = Nodes::numbered((0..PES).map(|pe| pe.div_ceil(2)));
    let attach = |pe| Attachment::over_hosts(host.wire(pe), SIZES, hosts.clone()).unwrap();
    let [leaver, _, reader] = [0, 1, 2].map(attach);
    assert_eq!(reader.departure(0), Ok(None));
    leaver.tell_departure(Departure::Leaving);
    assert_eq!(reader.departure(0), Ok(Some(Departure::Leaving)));
    leaver.tell_departure(Departure::Gone);
    assert_eq!(reader.departure(0), Ok(Some(Departure::Gone)));
    // Of the others, one of each host is told, twice; PE 1 is reached in another way.
    assert_eq!(host.stored(), 2 * (PES as usize / 2 - 1));
}

/// At most 1 MiB and 64 B for each PE of the job.
#[expect(clippy::print_stdout, reason = "its figures are for docs/costs.md")]
#[test]
fn a_pe_costs_little_at_the_start() {
    if let Ok(pes) = std::env::var(PES) {
        be_one_pe(pes.parse().unwrap());
    }
    for pes in [1, 64, 1024, 4096, hostwire::PES_MAX] {
        let [private, all, stored] = cost(pes);
        println!("{pes} PEs: {private} bytes of its own, {all} with shared ones, {stored} stores");
        assert!(
            all <= (1 << 20) + 64 * pes as usize,
            "{pes} PEs: {all} bytes"
        );
    }
}
