//! The PCI Express data-link layer at all widths and framings. See docs/rtl-pcie.md.
//!
//! Without its models, which `scripts/rtl.sh build` makes, nothing is run. `HOSTWIRE_RTL_PACKETS` is the number of TLPs of each
//! width, both directions and all runs together. `HOSTWIRE_RTL_SEED` is what is random.

use std::fs::OpenOptions;
use std::io::Write as _;

use hostwire_rtl_harness::model::{self, Files};
use hostwire_rtl_harness::pcie::{
    EDS, End, Failure, Framing, Habits, Pins, Report, Setup, against_partner, pair, token,
};
use hostwire_testing::{left_out, need};

const WIDTHS: [usize; 4] = [1, 2, 4, 8];
const FRAMINGS: [Framing; 2] = [Framing::Symbols, Framing::Tokens];

/// Which errors a run has to show, in the order of the counters: timeouts, wrong Acks, overflows, bad TLPs, bad DLLPs, bad
/// frames. Each run needs some thousands of TLPs to show them.
type Shows = [Option<bool>; 6];
const NO_ERRORS: Shows = [Some(false); 6];

fn variable(name: &str, otherwise: u64) -> u64 {
    let Ok(value) = std::env::var(name) else {
        return otherwise;
    };
    value
        .parse()
        .unwrap_or_else(|_| panic!("{name} is a number"))
}

fn packets() -> u64 {
    variable(
        "HOSTWIRE_RTL_PACKETS",
        if cfg!(debug_assertions) {
            10_000
        } else {
            100_000
        },
    )
}

fn setup(lanes: usize, framing: Framing, packets: u64) -> Setup {
    Setup {
        lanes,
        framing,
        packets,
        damage: 0,
        pauses: 0,
        write_dwords: 0,
        outages: false,
        changes: false,
        seed: variable("HOSTWIRE_RTL_SEED", 1),
    }
}

/// A report, or none if nobody has built the model.
fn report(result: Result<Report, Failure>) -> Option<Report> {
    match result {
        Ok(report) => Some(report),
        Err(Failure::Model(error @ model::Error::NotBuilt { .. })) => {
            left_out(&need::RTL_MODELS, error);
            None
        }
        Err(failure) => panic!("{failure}"),
    }
}

/// A line for the table of `scripts/rtl.sh`.
#[expect(clippy::print_stdout, reason = "who runs the tests should read it")]
fn figure(line: &str) {
    println!("{line}");
    let Some(path) = std::env::var_os("HOSTWIRE_RTL_FIGURES") else {
        return;
    };
    let file = OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.unwrap(), "{line}").unwrap();
}

/// Runs at all widths and framings, an eighth of the packets of each width in each run and direction.
fn all(what: &str, shows: Shows, run: impl Fn(Setup) -> Result<Report, Failure>) {
    for lanes in WIDTHS {
        for framing in FRAMINGS {
            let setup = setup(lanes, framing, packets() / 24);
            let Some(report) = report(run(setup)) else {
                return;
            };
            for (count, shown) in report.errors.iter().zip(shows) {
                let enough = setup.packets >= 4_000 || shown == Some(false);
                assert!(
                    shown.is_none_or(|shown| (*count > 0) == shown) || !enough,
                    "{what}, x{lanes}, {framing:?}: {:?}, expected {shows:?}",
                    report.errors
                );
            }
            let generation = if framing == Framing::Tokens {
                "3"
            } else {
                "1 and 2"
            };
            figure(&format!(
                "packets | PCIe x{lanes}, generation {generation}, {what} | {} right, in {} clocks",
                2 * setup.packets,
                report.cycles
            ));
        }
    }
}

#[test]
fn clean_link_to_itself() {
    all("clean, to itself", NO_ERRORS, |setup| pair(&setup));
}

#[test]
fn damaged_link_to_itself() {
    let shows = [
        None,
        Some(false),
        Some(false),
        Some(true),
        Some(true),
        Some(true),
    ];
    all("damaged, to itself", shows, |setup| {
        pair(&Setup {
            damage: 3000,
            pauses: 10,
            ..setup
        })
    });
}

/// Longer than four replays: the layer asks for retraining, and goes on where it was. The generation changes as well.
#[test]
fn outages_and_changes_of_generation() {
    let shows = [Some(true), Some(false), Some(false), None, None, None];
    all("silent at times, to itself", shows, |setup| {
        let setup = Setup {
            outages: true,
            changes: true,
            pauses: 10,
            ..setup
        };
        let report = pair(&setup)?;
        assert!(report.retrains > 0);
        Ok(report)
    });
}

#[test]
fn honest_partner() {
    all("an honest partner", NO_ERRORS, |setup| {
        let report = against_partner(&setup, Habits::honest())?;
        assert_eq!(report.repeats, 0, "{setup:?}: nothing has to be sent again");
        Ok(report)
    });
}

#[test]
fn awkward_partner() {
    let shows = [
        None,
        Some(false),
        Some(false),
        Some(true),
        Some(false),
        Some(false),
    ];
    all("an awkward partner", shows, |setup| {
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
    let shows = [
        None,
        Some(false),
        Some(false),
        Some(true),
        Some(true),
        Some(true),
    ];
    all("a stingy partner, damaged", shows, |setup| {
        against_partner(
            &Setup {
                damage: 3000,
                pauses: 5,
                ..setup
            },
            Habits::stingy(),
        )
    });
}

/// Bad frames that an end reports for these symbols of generation 3; none if nobody has built the model.
fn bad_frames(lanes: usize, symbols: &[u16]) -> Option<u64> {
    let mut end = match End::new(lanes, 1, Files::default()) {
        Ok(end) => end,
        Err(error @ model::Error::NotBuilt { .. }) => {
            left_out(&need::RTL_MODELS, error);
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let pause = vec![0; 4 * lanes];
    for symbols in [&pause, symbols, &pause] {
        for symbols in symbols.chunks(lanes) {
            let mut beat = [0; 8];
            beat[..symbols.len()].copy_from_slice(symbols);
            end.cycle(&Pins {
                symbols: Some(beat),
                symbol_ready: true,
                rx_ready: true,
                gen3: true,
                ..Pins::default()
            });
        }
    }
    Some(end.errors[5])
}

/// Lengths that no TLP has, EDB that stands behind no TLP, and symbols that are no token.
#[test]
fn tokens_of_generation_3_that_may_be_and_others() {
    let stp = |length| token(length, &[0, 7]);
    let sdp = |second| [&[0xf0, second][..], &[0; 6]].concat();
    let cases = [
        ([5, 6, 1031, 1151].map(stp).to_vec(), true),
        (
            [0, 2, 3, 4, 1152, 1535, 1536, 2047].map(stp).to_vec(),
            false,
        ),
        (vec![EDS.to_vec(), sdp(0xac), vec![0; 8]], true),
        (vec![sdp(0xad), vec![0xc0; 4], vec![0x80, 0, 0, 0]], false),
    ];
    for (symbols, is_sound) in cases {
        for (lanes, symbols) in WIDTHS
            .iter()
            .flat_map(|lanes| symbols.iter().map(move |s| (*lanes, s)))
        {
            let Some(errors) = bad_frames(lanes, symbols) else {
                return;
            };
            assert_eq!(errors == 0, is_sound, "x{lanes}: {symbols:02x?}");
        }
    }
}

/// Writes of 256 bytes, as PEACH2 sends them: 256 of 280 symbols are data at best (paper of PEACH2, section IV).
#[test]
fn share_of_the_link_that_is_data() {
    for lanes in WIDTHS {
        let base = setup(lanes, Framing::Symbols, 400);
        let Some(report) = report(pair(&Setup {
            write_dwords: 64,
            ..base
        })) else {
            return;
        };
        let symbols = report.cycles * lanes as u64;
        // Both directions, without headers of 16 bytes.
        let share = (400 * 256) as f64 / symbols as f64;
        figure(&format!(
            "rate | PCIe x{lanes}, writes of 256 bytes both ways | {:.1} % of the symbols are data (limit 91.4)",
            100.0 * share
        ));
        assert!(share > 0.85, "x{lanes}: {share}");
    }
}
