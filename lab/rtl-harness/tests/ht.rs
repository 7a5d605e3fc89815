//! The HT-Core against `hostwire-packet`. Without its models, which `scripts/rtl.sh build` makes, nothing is run.

use hostwire_rtl_harness::ht::{Bench, Options, Width};
use hostwire_rtl_harness::model::Error;

/// A link that is up; `None` if the models were not built.
fn bench(options: &Options) -> Option<Bench> {
    match Bench::new(options) {
        Ok(bench) => Some(bench.unwrap_or_else(|failure| panic!("seed {}: {failure}", options.seed))),
        Err(error @ Error::NotBuilt { .. }) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn the_link_comes_up() {
    let Some(bench) = bench(&Options::new(Width::Eight, (false, false), 1)) else {
        return;
    };
    assert!(bench.core.is_up());
}

#[test]
fn random8() {
    let Some(mut bench) = bench(&Options::new(Width::Eight, (false, false), 1)) else {
        return;
    };
    let r = bench.traffic(10000);
    println!("{:?} {r:?}", bench.counts);
    r.unwrap();
}
