//! Curves over size, distance and link, as in figures 6 and 7 of the TCCluster
//! paper. The paper's text anchors only a few of their points; these are
//! `experiments/tccluster/claims.toml`.

use serde::Serialize;

use super::ExperimentError;
use super::jobs::{LINE_PAYLOAD_BYTES, Order, Pair, put};
use super::tccluster::{TWO_BOARDS, booted, half_round_trip_ns, put_on_two_boards};

/// One line of a plot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The quantity that it shows.
    pub name: String,
    /// Quantity and unit of x.
    pub x: &'static str,
    /// Quantity and unit of y.
    pub y: &'static str,
    /// The points, by ascending x.
    pub points: Vec<(f64, f64)>,
}

/// Half round trip of messages over their size, from 8 B to `largest_bytes` (the paper
/// shows 4 MiB). A line of a ring carries 56 bytes of a message behind its header, so 64
/// bytes are two lines. Ordered: a message per line, and a fence behind each.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn latency_over_size(ordered: bool, largest_bytes: u64) -> Result<Curve, ExperimentError> {
    curve(ordered, largest_bytes, "half round trip, ns", |bytes| {
        half_round_trip_ns(TWO_BOARDS, [0, 1], bytes, Order::of_the_paper(ordered))
    })
}

/// Bandwidth of puts as the sender sees it over their size, from 8 B to
/// `largest_bytes` (the paper shows 4 MiB).
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn bandwidth_over_size(ordered: bool, largest_bytes: u64) -> Result<Curve, ExperimentError> {
    curve(ordered, largest_bytes, "bandwidth, MiB/s", |bytes| {
        Ok(put_on_two_boards(bytes, Order::of_the_paper(ordered))?.apparent_mib_s)
    })
}

fn curve(
    ordered: bool,
    largest_bytes: u64,
    y: &'static str,
    measure: impl Fn(usize) -> Result<f64, ExperimentError>,
) -> Result<Curve, ExperimentError> {
    let name = if ordered {
        "a fence per line"
    } else {
        "weakly ordered"
    };
    let sizes = (3..=32)
        .map(|exponent| 1u64 << exponent)
        .take_while(|bytes| *bytes <= largest_bytes);
    let points = sizes.map(|bytes| Ok((bytes as f64, measure(bytes as usize)?)));
    let points = points.collect::<Result<_, ExperimentError>>()?;
    Ok(Curve {
        name: name.into(),
        x: "message size, B",
        y,
        points,
    })
}

/// Half round trip of a message of one line over the number of nodes in between, 0 to 4.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn latency_over_hops() -> Result<Curve, ExperimentError> {
    let points = (0..=4).map(|hops| {
        let cluster = chain(hops + 2, 16, 800);
        Ok((
            hops as f64,
            half_round_trip_ns(&cluster, [0, hops + 1], LINE_PAYLOAD_BYTES, Order::Weak)?,
        ))
    });
    let points = points.collect::<Result<_, ExperimentError>>()?;
    Ok(Curve {
        name: "one line".into(),
        x: "nodes in between",
        y: "half round trip, ns",
        points,
    })
}

/// Sustained weakly ordered bandwidth over the link clock, for one width.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn bandwidth_over_clock(width_bits: u8) -> Result<Curve, ExperimentError> {
    let points = [200u32, 400, 600, 800].into_iter().map(|mhz| {
        let cluster = chain(2, width_bits, mhz);
        let mut machine = booted(&cluster)?;
        let put = put(&mut Pair::new(&mut machine, [0, 1]), 1 << 20, Order::Weak)?;
        Ok((f64::from(mhz), put.arrived_mib_s))
    });
    let points = points.collect::<Result<_, ExperimentError>>()?;
    Ok(Curve {
        name: format!("{width_bits} bit"),
        x: "link clock, MHz",
        y: "bandwidth, MiB/s",
        points,
    })
}

/// A chain of boards with one link between neighbours, as a cluster file.
pub fn chain(nodes: usize, width_bits: u8, mhz: u32) -> String {
    let mut text = format!(
        "[link]\nwidth = \"{width_bits}bit\"\nfrequency = \"{mhz}MHz\"\nmedium = \"coax\"\n"
    );
    for node in 0..nodes {
        text += &format!("[[node]]\nname = \"n{node}\"\nmemory = \"8GiB\"\nsouthbridge = \"l0\"\n");
    }
    for node in 1..nodes {
        text += &format!(
            "[[cable]]\nfrom = \"n{}.l2\"\nto = \"n{node}.l1\"\n",
            node - 1
        );
    }
    text
}
