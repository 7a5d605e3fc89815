//! Messages between boards: each arrives once, in order, with the right status, whatever happens on the cable.

mod common;

use common::{WIDTHS, figure, network};
use hostwire_rtl_harness::board::Faults;
use hostwire_rtl_harness::board::network::Shape;

const SHAPES: [(Shape, &str); 3] = [
    (Shape::Loop, "one board, looped back"),
    (Shape::Pair, "two boards"),
    (Shape::Star, "four boards at a switch"),
];

fn messages() -> u64 {
    let packets = std::env::var("HOSTWIRE_RTL_PACKETS").ok();
    let packets = packets.and_then(|text| text.parse::<u64>().ok());
    packets.map_or(2_000, |packets| packets / 50)
}

fn traffic(faults: Faults, what: &str) {
    const RUN: u64 = 1_000;
    for (shape, name) in SHAPES {
        let (mut done, mut repeated, mut clocks, mut hit, mut frames) = (0, 0, 0, 0, 0);
        for seed in 0..messages().div_ceil(RUN) {
            // Every second run is on 16 bits.
            let width = WIDTHS[seed as usize % 2];
            let Some(mut network) = network(shape, width, seed, 3) else {
                return;
            };
            network.set_faults(faults);
            if let Err(failure) = network.traffic(RUN) {
                panic!("{name}, {what}, {width:?}, seed {seed}: {failure}");
            }
            network.set_faults(Faults::default());
            done += network.arrived;
            clocks += network.clocks;
            for number in 0..network.hosts.len() {
                repeated += u64::from(network.read_register(number, 0x34).unwrap());
            }
            repeated += network.switch.as_ref().map_or(0, |switch| switch.events[0]);
            for cable in &network.cables {
                frames += cable.counts.frames;
                hit += cable.counts.lost + cable.counts.damaged;
            }
        }
        figure(&format!(
            "messages | {name}, {what} | {done} right; of {frames} frames {hit} were hit and {repeated} repeated; {clocks} clocks"
        ));
        assert!(faults == Faults::default() || repeated > 0);
    }
}

#[test]
fn on_sound_cables() {
    traffic(Faults::default(), "sound cables");
}

#[test]
fn frames_are_lost_damaged_and_doubled() {
    let faults = Faults {
        lost: 3,
        damaged: 4,
        doubled: 3,
    };
    traffic(faults, "bad cables");
}
