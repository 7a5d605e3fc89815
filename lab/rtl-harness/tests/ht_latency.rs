//! How long the HT-Core takes, from pins to queues and back, in clocks of the link. The paper's Table II: 11 in, 7 out.

mod common;

use std::collections::VecDeque;

use common::{LINKS, bench, figure, name};
use hostwire_rtl_harness::ht::BringUp as _;
use hostwire_rtl_harness::ht::Options;
use hostwire_rtl_harness::ht::bench::{BAR0, UNIT};
use hostwire_rtl_harness::ht::packets::{Source, Targets};
use hostwire_rtl_harness::random::Random;

/// Eighths of a clock of the link.
const LINK_CLOCK: f64 = 8.0;

/// Least, mean and most.
fn spread(times: &[u64]) -> (f64, f64, f64) {
    let of = |time: u64| time as f64 / LINK_CLOCK;
    let sum: u64 = times.iter().sum();
    let (least, most) = (times.iter().min().unwrap(), times.iter().max().unwrap());
    (of(*least), of(sum) / times.len() as f64, of(*most))
}

/// From the edge that samples the first bit-time of a command's last dword, to the edge at which the user takes the command.
#[test]
fn from_the_pins_to_the_user() {
    for (width, wide) in LINKS {
        // Words whose first bit-time is at a rising edge of the partner's clock, and at a falling edge.
        let mut both = [Vec::new(), Vec::new()];
        for run in 0..64 {
            let phase = run % 8;
            let mut options = Options::new(width, wide, run);
            (options.phase, options.wander) = (Some(phase), 0);
            let Some(mut bench) = bench(&options) else {
                return;
            };
            let mut source = Source::new(Random::new(run), 0, true);
            bench.partner.change(0, 0);
            for index in 0..50 {
                bench.partner.sent.clear();
                let packet = source.packet(index % 3, Targets::Blocks(&[BAR0]));
                bench.partner.outbox[packet.channel].push_back(packet);
                let from = bench.user.received.len();
                for _ in 0..61 {
                    bench.clock().unwrap();
                }
                assert_eq!(bench.user.received.len(), from + 1);
                let (_, sampled) = bench.partner.sent[0];
                let taken = bench.user.received[from].1;
                both[((sampled - phase) / 4 % 2) as usize].push(taken - sampled);
            }
        }
        for (edge, times) in ["rising", "falling"].into_iter().zip(&both) {
            let (least, mean, most) = spread(times);
            figure(&format!(
                "cycles in | {}, words at the {edge} edge | {least:.2} to {most:.2}, mean {mean:.2} (paper: 11)",
                name(width, wide)
            ));
            // Half a clock for the falling edge. A dword in the upper half of a word waits one clock less.
            let (early, late) = (
                if wide.0 { 1.0 } else { 0.0 },
                if edge == "falling" { 0.5 } else { 0.0 },
            );
            assert!(
                least > 10.0 - early + late && most <= 12.0 + late,
                "{least} {most}"
            );
            assert!((10.2..=12.0).contains(&mean), "{mean}");
        }
    }
}

/// From the edge at which the core takes a command, to its first bit-time on the pins.
#[test]
fn from_the_user_to_the_pins() {
    for (width, wide) in LINKS {
        let mut options = Options::new(width, wide, 3);
        options.wander = 0;
        let Some(mut bench) = bench(&options) else {
            return;
        };
        let mut source = Source::new(Random::new(9), UNIT - 1, false);
        let mut times = Vec::new();
        for index in 0..2000 {
            let packet = source.packet(index % 3, Targets::Anywhere);
            bench.user.outbox[packet.channel].push_back(packet);
            let mut arrived = VecDeque::new();
            for _ in 0..61 {
                bench.clock().unwrap();
                arrived.append(&mut bench.partner.inbox);
            }
            let (packet, at) = arrived.pop_front().unwrap();
            let (given, taken) = bench.user.given.pop_front().unwrap();
            assert_eq!(packet, given);
            bench.partner.free(&packet);
            times.push(at - taken);
        }
        let (least, mean, most) = spread(&times);
        figure(&format!(
            "cycles out | {} | {least:.2} to {most:.2}, mean {mean:.2} (paper: 7)",
            name(width, wide)
        ));
        // A CRC takes two clocks of the link once in 258.
        assert!(
            least == 7.0 && most <= 9.0 && mean < 7.05,
            "{least} {mean} {most}"
        );
    }
}
