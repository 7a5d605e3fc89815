//! Engine speed on the reference workload (2 M packets), best of five.
//! `cargo bench -p hostwire-sim --bench seven_senders`

#![allow(missing_docs, clippy::print_stdout, unused_crate_dependencies)]

#[path = "../tests/common/seven_senders.rs"]
mod seven_senders;

use hostwire_sim::engine::{Sim, Summary, TraceFilter};

const PACKETS: u32 = 2_000_000;
const RUNS: usize = 5;

fn main() {
    // `cargo test` also runs benches, in debug: one run is enough to show that it
    // works.
    let runs = if std::env::args().any(|arg| arg == "--bench") {
        RUNS
    } else {
        1
    };
    for traced in [false, true] {
        let best = (0..runs)
            .map(|_| run(traced))
            .min_by_key(|summary| summary.wall);
        let Some(best) = best else { return };
        println!(
            "{}: {:.2} M packets/s, {:.1} M events/s (best of {runs}); {best}",
            if traced { "traced to nowhere" } else { "plain" },
            f64::from(PACKETS) / best.wall.as_secs_f64() / 1e6,
            best.events_per_s() / 1e6
        );
    }
}

fn run(traced: bool) -> Summary {
    let mut sim = Sim::new();
    let sink = seven_senders::build(&mut sim, PACKETS, true);
    if traced {
        sim.trace_to(Box::new(std::io::sink()), TraceFilter::default())
            .expect("a sink takes all");
    }
    let summary = sim.run().expect("the workload ends");
    let received = sim
        .component::<seven_senders::Sink>(sink)
        .expect("sink")
        .received;
    assert_eq!(received, u64::from(PACKETS));
    summary
}
