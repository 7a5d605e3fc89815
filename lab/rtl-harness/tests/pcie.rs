//! The PCI Express data-link layer at all widths and framings. See docs/rtl-pcie.md.
//!
//! `PACKETS` says how many TLPs all runs have together, and `SEED` what is random.

use hostwire_rtl_harness::model;
use hostwire_rtl_harness::pcie::{Failure, Framing, Habits, Report, Setup, against_partner, pair};

const WIDTHS: [usize; 4] = [1, 2, 4, 8];
const FRAMINGS: [Framing; 2] = [Framing::Symbols, Framing::Tokens];

fn variable(name: &str, otherwise: u64) -> u64 {
    let value = std::env::var(name).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(otherwise)
}

/// A part of the packets, in each direction.
fn setup(lanes: usize, framing: Framing, part: u64) -> Setup {
    Setup {
        lanes,
        framing,
        packets: variable("PACKETS", 100_000) / part / 2,
        damage: 0,
        pauses: 0,
        write_dwords: 0,
        seed: variable("SEED", 1),
    }
}

/// Runs at all widths and framings; skipped if the model is not built.
fn all(what: &str, part: u64, run: impl Fn(Setup) -> Result<Report, Failure>) {
    for lanes in WIDTHS {
        for framing in FRAMINGS {
            let started = std::time::Instant::now();
            let setup = setup(lanes, framing, part * 8);
            match run(setup) {
                Ok(report) => {
                    let time = started.elapsed().as_secs_f64();
                    println!("{what}: x{lanes} {framing:?}: {time:.1} s, {report:?}");
                }
                Err(Failure::Model(model::Error::NotBuilt { path })) => {
                    println!("skipped: {} is not built", path.display());
                    return;
                }
                Err(failure) => panic!("{what}: {failure}"),
            }
        }
    }
}

#[test]
fn clean_link_to_itself() {
    all("clean pair", 8, |setup| pair(&setup));
}

#[test]
fn damaged_link_to_itself() {
    all("damaged pair", 4, |setup| {
        pair(&Setup {
            damage: 3000,
            pauses: 10,
            ..setup
        })
    });
}

#[test]
fn honest_partner() {
    all("honest partner", 8, |setup| {
        against_partner(&setup, Habits::honest())
    });
}

#[test]
fn awkward_partner() {
    all("awkward partner", 4, |setup| {
        against_partner(
            &Setup {
                pauses: 10,
                ..setup
            },
            Habits::awkward(),
        )
    });
}

#[test]
fn stingy_partner_and_damage() {
    all("stingy partner", 8, |setup| {
        against_partner(
            &Setup {
                damage: 5000,
                pauses: 5,
                ..setup
            },
            Habits::stingy(),
        )
    });
}
