//! What the tests of the HT-Core share.

#![allow(dead_code, reason = "each test program uses a part")]
#![allow(clippy::print_stdout, reason = "for those who run the tests")]

use std::fs::OpenOptions;
use std::io::Write as _;

use hostwire_rtl_harness::board::network::Shape;
use hostwire_rtl_harness::board::{Host, Network};
use hostwire_rtl_harness::ht::{Bench, Options, Width};
use hostwire_rtl_harness::model::Error;
use hostwire_rtl_harness::random::Random;
use hostwire_testing::{left_out, need};

/// Each core with each width that can be negotiated: towards it, and from it.
pub const LINKS: [(Width, (bool, bool)); 5] = [
    (Width::Eight, (false, false)),
    (Width::Sixteen, (true, true)),
    (Width::Sixteen, (false, false)),
    (Width::Sixteen, (true, false)),
    (Width::Sixteen, (false, true)),
];

/// Both cores.
pub const WIDTHS: [Width; 2] = [Width::Eight, Width::Sixteen];

/// What a test has got; `None` if the models were not built.
fn built<T>(result: Result<Result<T, String>, Error>, seed: u64) -> Option<T> {
    match result {
        Ok(up) => Some(up.unwrap_or_else(|failure| panic!("seed {seed}: {failure}"))),
        Err(error @ Error::NotBuilt { .. }) => {
            left_out(&need::RTL_MODELS, error);
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A link that is up; `None` if the models were not built.
pub fn bench(options: &Options) -> Option<Bench> {
    built(Bench::new(options), options.seed)
}

/// Boards whose links are up; `None` if the models were not built.
pub fn network(shape: Shape, width: Width, seed: u64, wander: u64) -> Option<Network> {
    built(Network::new(shape, width, seed, wander), seed)
}

/// The same on links of 8 and of 16 bits; none if the models were not built.
pub fn networks(shape: Shape, seed: u64, wander: u64) -> impl Iterator<Item = Network> {
    WIDTHS
        .into_iter()
        .filter_map(move |width| network(shape, width, seed, wander))
}

/// A host with the example design in its slot, and random numbers; `None` if the models were not built.
pub fn example(width: Width, seed: u64, wander: u64) -> Option<(Host, Random)> {
    let mut random = Random::new(seed);
    let host = built(Host::new("example", width, &mut random, wander), seed)?;
    Some((host, random))
}

/// A line for the table of `scripts/rtl.sh`.
pub fn figure(line: &str) {
    println!("{line}");
    let Some(path) = std::env::var_os("HOSTWIRE_RTL_FIGURES") else {
        return;
    };
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    writeln!(file, "{line}").unwrap();
}

/// Name of a link in the table.
pub fn name(width: Width, wide: (bool, bool)) -> String {
    let bits = |wide| if wide { 16 } else { 8 };
    format!(
        "{} bit core, link of {} and {} bit",
        width.bits(),
        bits(wide.0),
        bits(wide.1)
    )
}
