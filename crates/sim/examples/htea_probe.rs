#![allow(missing_docs, clippy::print_stdout, unused_crate_dependencies)]
use hostwire_sim::htea::*;
fn main() {
    for nodes in [2u64, 4, 8] {
        for p in [1u64, 5, 20] {
            for n in [1u64, 10, 50] {
                for (i, o) in [(1, 1), (4, 1), (1, 4), (4, 4)] {
                    if (i, o) != (1, 1) && p != 20 {
                        continue;
                    }
                    let r = run(Config {
                        nodes,
                        packets_per_frame: p,
                        nops_per_frame: n,
                        stages_in: i,
                        stages_out: o,
                        ..Config::default()
                    })
                    .unwrap();
                    println!(
                        "{nodes} P{p} N{n} in{i} out{o}: {:.3} Gb/s wire {:.2} cred {:.0} out {:.0} in {:.0} nop {:.0} ns sw {:.0} deenc {:.2} lat {} ev {} {:.2}s",
                        r.throughput_gb_s,
                        r.wire_gb_s,
                        r.credits_mean,
                        r.outgoing_delay_ns,
                        r.incoming_delay_ns,
                        r.nop_delay_ns,
                        r.switch_wait_max.as_ns(),
                        r.deencapsulation_use,
                        r.latency,
                        r.summary.events,
                        r.summary.wall.as_secs_f64()
                    );
                }
            }
        }
    }
}
