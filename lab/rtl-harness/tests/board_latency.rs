//! How long a message of 16 bytes takes from the write of a host, on the pins of its board, to the write on the pins of
//! the other board; and where. In clocks of the core, which is the user's clock: 10 ns at HT200.

mod common;

use common::{figure, network};
use hostwire_rtl_harness::board::network::Shape;
use hostwire_rtl_harness::ht::Width;

/// Eighths of a link clock in a clock of the core.
const CLOCK: f64 = 16.0;
/// What `ht_latency` measures of the HT-Core alone, in clocks of the core: 11 and 7 clocks of the link.
const CORE_IN: f64 = 5.5;
const CORE_OUT: f64 = 3.5;

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

#[test]
fn from_one_host_to_the_other() {
    let mut pair_cable = 0.0;
    for (shape, name) in [
        (Shape::Pair, "two boards"),
        (Shape::Star, "four boards at a switch"),
    ] {
        let mut stages: [Vec<f64>; 5] = Default::default();
        for seed in 0..32 {
            let Some(mut network) = network(shape, Width::Eight, seed, 0) else {
                return;
            };
            for host in &mut network.hosts {
                host.partner.change(0, 0);
            }
            for _ in 0..10 {
                network.send_dwords(0, 1, 16).unwrap();
                for _ in 0..100 {
                    network.clock().unwrap();
                }
                assert!(network.is_done());
                let seen = network.seen;
                let times = [
                    (seen.written, seen.first_out),
                    (seen.first_out, seen.last_out + CLOCK as u64),
                    (seen.last_out, seen.last_in),
                    (seen.last_in, seen.message),
                    (seen.message, seen.status),
                ];
                for (stage, (from, to)) in stages.iter_mut().zip(times) {
                    stage.push((to - from) as f64 / CLOCK);
                }
            }
        }
        let [out, frame, cable, into, status] = stages.each_ref().map(|times| mean(times));
        let all = out + frame - 1.0 + into;
        if shape == Shape::Star {
            // The frame goes over two cables, each with a phase.
            let switch = cable - 2.0 * pair_cable - frame + 1.0;
            figure(&format!(
                "stages | switch, 16 B: last phit in to first phit out | {switch:.1} clocks (model: crossbar 4)"
            ));
            continue;
        }
        pair_cable = cable;
        let lines = [
            format!(
                "write on HT to first phit | {out:.1} clocks, without the HT-Core {:.1}",
                out - CORE_IN
            ),
            format!("frame | {frame:.1} clocks"),
            format!(
                "last phit to write on HT | {into:.1} clocks, without the HT-Core {:.1}",
                into - CORE_OUT
            ),
            format!("write of the message to write of the status, on HT | {status:.1} clocks"),
            format!("write on HT to write on HT, without the cable | {all:.1} clocks"),
        ];
        for line in lines {
            figure(&format!("stages | {name}, 16 B: {line}"));
        }
    }
}
