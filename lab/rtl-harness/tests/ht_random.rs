//! Random packets through the HT-Core, compared with what `hostwire-packet` makes and reads.
//!
//! Without its models, which `scripts/rtl.sh build` makes, nothing is run. `HOSTWIRE_RTL_PACKETS` is the number of packets of
//! each core.

mod common;

use common::{LINKS, bench, figure, name};
use hostwire_rtl_harness::ht::Options;

fn packets() -> u64 {
    let number = std::env::var("HOSTWIRE_RTL_PACKETS").ok();
    let usual = if cfg!(debug_assertions) {
        10_000
    } else {
        100_000
    };
    number.map_or(usual, |text| {
        text.parse().expect("HOSTWIRE_RTL_PACKETS is a number")
    })
}

/// Many short runs: each has other phases, bit-times at which words begin, buffers and habits.
#[test]
fn every_packet_arrives_as_it_was_sent() {
    const RUN: u64 = 5_000;
    for (width, wide) in LINKS {
        let share = if wide.0 == wide.1 {
            packets()
        } else {
            packets() / 4
        };
        let (mut done, mut clocks) = (0, 0);
        for seed in 0..share.div_ceil(RUN) {
            let Some(mut bench) = bench(&Options::new(width, wide, seed)) else {
                return;
            };
            if let Err(failure) = bench.traffic(RUN.min(share)) {
                panic!(
                    "{}, seed {seed}, {:?}: {failure}",
                    name(width, wide),
                    bench.counts
                );
            }
            done += bench.counts.to_core + bench.counts.from_core;
            clocks += bench.counts.clocks;
        }
        figure(&format!(
            "packets | {} | {done} right, in {clocks} clocks of the core",
            name(width, wide)
        ));
    }
}

/// A short run of each link whose signals are written to a file, if somebody asks for it.
#[test]
fn what_is_seen_of_a_run() {
    let folder = std::env::var("HOSTWIRE_RTL_WAVES").ok();
    for (folder, (width, wide)) in folder
        .iter()
        .flat_map(|folder| LINKS.map(|link| (folder, link)))
    {
        let mut options = Options::new(width, wide, 0);
        let (from, to) = (u8::from(wide.0), u8::from(wide.1));
        options.kind = "-waves";
        options.waves = Some(format!("{folder}/{}-{from}{to}.vcd", width.design()));
        let Some(mut bench) = bench(&options) else {
            return;
        };
        bench.traffic(200).unwrap();
    }
}
