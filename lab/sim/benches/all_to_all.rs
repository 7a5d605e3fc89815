//! The cost of an event by the number of nodes: every socket of a HyperTransport mesh
//! stores lines to every other one. CPU time, with the boot. `cargo bench -p hostwire-sim
//! --bench all_to_all [-- 64 512]`

#![allow(missing_docs, clippy::print_stdout, unused_crate_dependencies)]

use hostwire_sim::experiments::traffic::{AllToAll, all_to_all};

/// Meshes by their number of nodes, and lines per pair: some tens of millions of events.
const MESHES: [(usize, [usize; 2], u64); 4] = [
    (64, [8, 8], 256),
    (128, [8, 16], 40),
    (256, [16, 16], 6),
    (512, [16, 32], 1),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test` also runs benches, in debug: a small run is enough to show that it
    // works.
    if !args.iter().any(|arg| arg == "--bench") {
        report(16, [4, 4], 2);
        return;
    }
    let asked: Vec<usize> = args.iter().filter_map(|arg| arg.parse().ok()).collect();
    for (nodes, size, lines) in MESHES {
        if asked.is_empty() || asked.contains(&nodes) {
            report(nodes, size, lines);
        }
    }
}

/// Seconds of CPU that this thread has had (Linux; 0 elsewhere).
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = stat
        .split_whitespace()
        .next()
        .and_then(|ns| ns.parse().ok());
    ns.unwrap_or(0.0) / 1e9
}

fn run(size: [usize; 2], lines: u64) -> AllToAll {
    let [rows, columns] = size;
    let cluster = format!(
        "[link]\nwidth = \"8bit\"\nfrequency = \"800MHz\"\n\
         [topology]\nkind = \"mesh\"\nsize = [{rows}, {columns}]\n\
         [topology.node]\nmemory = \"256MiB\"\nlinks = 8\n"
    );
    all_to_all(&cluster, lines).unwrap_or_else(|error| panic!("{error}"))
}

fn report(nodes: usize, size: [usize; 2], lines: u64) {
    let before = cpu_s();
    let result = run(size, lines);
    let cpu = cpu_s() - before;
    let summary = &result.summary;
    println!(
        "{nodes} nodes, {lines} lines per pair: {} events, {cpu:.2} s of CPU, {:.0} ns per event, \
         {} simulated, hash {}",
        summary.events,
        cpu * 1e9 / summary.events as f64,
        result.time,
        summary.hash,
    );
}
