//! Beyond the papers' prototypes: a 64-node hypercube, figure 4 under load, and
//! the shape of the curves.

use hostwire_sim::experiments::curves::{
    bandwidth_over_clock, bandwidth_over_size, latency_over_hops, latency_over_size,
};
use hostwire_sim::experiments::traffic::all_to_all;

const HYPERCUBE: &str = include_str!("../../../examples/clusters/hypercube-64.toml");
const FOUR_SUPERNODES: &str = include_str!("../../../examples/clusters/four-supernodes.toml");

#[test]
fn a_hypercube_of_64_exchanges_with_everybody() {
    let result = all_to_all(HYPERCUBE, 4).unwrap_or_else(|error| panic!("{error}"));
    let cables = result
        .links
        .iter()
        .filter(|link| !link.link.contains("southbridge"));
    let (mut count, mut payload) = (0, 0);
    for link in cables {
        assert!(link.utilisation <= 1.0, "{link:?}");
        count += 1;
        payload += link.payload_bytes;
    }
    assert_eq!(count, 2 * 6 * 64 / 2, "two directions of 192 cables");
    // Every line crosses at least one cable.
    assert!(payload >= 64 * 63 * 4 * 64, "{payload}");
}

#[test]
fn figure_4_exchanges_with_everybody() {
    let result = all_to_all(FOUR_SUPERNODES, 8).unwrap_or_else(|error| panic!("{error}"));
    assert!(
        result.links.iter().any(|link| link.utilisation > 0.5),
        "{:?}",
        result.links
    );
}

#[test]
fn curves_have_the_shape_that_the_paper_describes() {
    let rising = |points: &[(f64, f64)]| points.windows(2).all(|pair| pair[1].1 > pair[0].1);
    // A message of up to 56 bytes is a whole line, whatever its length. Of two lines the
    // second often arrives while the poll that saw the first returns (docs/sim/wire.md).
    for ordered in [true, false] {
        let latencies = latency_over_size(ordered, 1 << 12).unwrap().points;
        assert!(rising(&latencies[3..]), "{latencies:?}");
    }
    let hops = latency_over_hops().unwrap().points;
    assert!(rising(&hops));
    for pair in hops.windows(2) {
        assert!(pair[1].1 - pair[0].1 < 60.0, "{hops:?}");
    }
    for width in [8, 16] {
        assert!(rising(&bandwidth_over_clock(width).unwrap().points));
    }
    let weak = bandwidth_over_size(false, 1 << 20).unwrap().points;
    let peak = weak.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().1;
    let large = weak.last().unwrap().1;
    assert!(
        peak > 5_250.0 && large > 2_900.0 && large < 3_200.0,
        "{weak:?}"
    );
    let ordered = bandwidth_over_size(true, 1 << 16).unwrap().points;
    assert!(
        (ordered.last().unwrap().1 - 2_000.0).abs() < 20.0,
        "{ordered:?}"
    );
}
