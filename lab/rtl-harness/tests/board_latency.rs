//! How long a message of 16 bytes takes from the write of a host, on the pins of its board, to the write on the pins of
//! the other board; and where. In clocks of the core, which is the user's clock: 10 ns at HT200.

mod common;

use common::{figure, network};
use hostwire_rtl_harness::board::network::Shape;

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
    for (shape, name) in [(Shape::Pair, "two boards"), (Shape::Star, "four boards at a switch")] {
        let mut stages: [Vec<f64>; 5] = Default::default();
        for seed in 0..64 {
            let Some(mut network) = network(shape, seed, 0) else {
                return;
            };
            for host in &mut network.hosts {
                host.partner.change(0, 0);
            }
            for _ in 0..20 {
                network.send_dwords(0, 1, 16).unwrap();
                for _ in 0..200 {
                    network.clock().unwrap();
                }
                assert!(network.is_done());
                let seen = network.seen;
                let (first_out, last_out) = (seen.first_out, seen.last_out);
                let way = if shape == Shape::Pair { last_out } else { seen.last_in };
                let times = [
                    first_out - seen.written,
                    last_out - first_out,
                    seen.last_in - way,
                    seen.message - seen.last_in,
                    seen.message - seen.written,
                ];
                for (stage, time) in stages.iter_mut().zip(times) {
                    stage.push(time as f64 / CLOCK);
                }
            }
        }
        let [out, frame, cable, into, all] = stages.each_ref().map(|times| mean(times));
        if shape == Shape::Pair {
            figure(&format!(
                "stages | {name}, 16 B: write on HT to first phit | {out:.1} clocks, without the HT-Core {:.1} (model: requester and network port 10)",
                out - CORE_IN
            ));
            figure(&format!("stages | {name}, 16 B: frame on the cable | {frame:.1} clocks (model: 12)"));
            figure(&format!("stages | {name}, 16 B: cable and its phase, in the test | {cable:.1} clocks"));
            figure(&format!(
                "stages | {name}, 16 B: last phit to write on HT | {into:.1} clocks, without the HT-Core {:.1} (model: network port and completer 11)",
                into - CORE_OUT
            ));
        }
        figure(&format!("stages | {name}, 16 B: write on HT to write on HT | {all:.1} clocks"));
    }
}
