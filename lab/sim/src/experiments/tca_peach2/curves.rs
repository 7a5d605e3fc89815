//! Curves over size and number of requests, as in figures 7 to 9 and 12. The paper's text anchors
//! only a few of their points.

use super::measure::{Dma, run_dma, two_nodes};
use super::{CHAIN, LARGE_BYTES};
use crate::experiments::ExperimentError;
use crate::experiments::curves::Curve;
use crate::tca::{Config, Device};

const CHIP: (u16, Device) = (0, Device::Internal);

/// Bandwidth of 255 requests over their size: DMA write and read of the own host, of a GPU, and
/// writes to the adjacent node.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn bandwidth_over_size() -> Result<Vec<Curve>, ExperimentError> {
    let own = |device| (0, device);
    let lines = [
        ("CPU (write)", CHIP, own(Device::Host)),
        ("CPU (read)", own(Device::Host), CHIP),
        ("GPU (write)", CHIP, own(Device::Gpu0)),
        ("GPU (read)", own(Device::Gpu0), CHIP),
        ("adjacent CPU (write)", CHIP, (1, Device::Host)),
        ("adjacent GPU (write)", CHIP, (1, Device::Gpu0)),
    ];
    let curve = |(name, from, to): (&str, _, _)| {
        let sizes = (5..=12).map(|exponent| 1u64 << exponent);
        let points = sizes.map(|bytes| Ok((bytes as f64, gb_s(from, to, bytes, CHAIN)?)));
        Ok(Curve {
            name: name.into(),
            x: "data size, B",
            y: "bandwidth, GB/s",
            points: points.collect::<Result<_, ExperimentError>>()?,
        })
    };
    lines.into_iter().map(curve).collect()
}

/// Bandwidth of a single request over its size, between the chip and its own host: figure 8. The
/// table of descriptors and the interrupt are most of its time.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn bandwidth_of_one_over_size() -> Result<Vec<Curve>, ExperimentError> {
    let host = (0, Device::Host);
    let lines = [("CPU (write)", CHIP, host), ("CPU (read)", host, CHIP)];
    let curve = |(name, from, to): (&str, _, _)| {
        let sizes = (5..=16).map(|exponent| 1u64 << exponent);
        let points = sizes.map(|bytes| Ok((bytes as f64, gb_s(from, to, bytes, 1)?)));
        Ok(Curve {
            name: name.into(),
            x: "data size, B",
            y: "bandwidth, GB/s",
            points: points.collect::<Result<_, ExperimentError>>()?,
        })
    };
    lines.into_iter().map(curve).collect()
}

/// Bandwidth of DMA writes of 4 KB to the own host over their number.
///
/// # Errors
/// [`ExperimentError`] if a run does not come to its end.
pub fn bandwidth_over_requests() -> Result<Curve, ExperimentError> {
    let counts = [1, 2, 4, 8, 16, 32, 64, 128, CHAIN];
    let points = counts.map(|count| {
        let rate = gb_s(CHIP, (0, Device::Host), LARGE_BYTES, count)?;
        Ok((count as f64, rate))
    });
    Ok(Curve {
        name: "CPU (write)".into(),
        x: "DMA requests",
        y: "bandwidth, GB/s",
        points: points.into_iter().collect::<Result<_, ExperimentError>>()?,
    })
}

fn gb_s(
    from: (u16, Device),
    to: (u16, Device),
    bytes: u64,
    descriptors: u64,
) -> Result<f64, ExperimentError> {
    let dma = Dma::new(from, to, bytes, descriptors);
    Ok(run_dma(&mut two_nodes(&Config::default())?, &dma)?.gb_s())
}
