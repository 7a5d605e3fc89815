//! Copies by a modelled PEACH2, for `hostwire bench tca`.
//!
//! A chain of the simulated chip goes from the memory of a node, or of a GPU of it, to that of the next node, by
//! the controller that reads and writes at the same time; its time is from the doorbell to the handler of the
//! interrupt, as the paper measures.

use std::process::ExitCode;

use hostwire_cli::bench::{CHAIN, Shape};
use hostwire_cli::report;
use hostwire_sim::tca::{Chain, Config, Device, DeviceAddress, Engine, Stride, SubCluster};

/// Four nodes in a ring.
const RING: &str = include_str!("../clusters/peach2-ring.toml");

/// Simulate copies.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// NAME=SIZE: the name of a benchmark, and the bytes of a block.
    copies: Vec<String>,
}

/// Prints a line `NAME=SIZE RATE` for each copy that a chain of the chip can do; the rate is in GB/s.
pub fn main(args: &Args) -> ExitCode {
    for copy in &args.copies {
        match rate_of(copy) {
            Ok(Some(rate)) => report::out(&format!("{copy} {rate}")),
            Ok(None) => {}
            Err(why) => {
                report::line(&why);
                return ExitCode::from(hostwire_cli::USAGE_STATUS);
            }
        }
    }
    ExitCode::SUCCESS
}

fn rate_of(copy: &str) -> Result<Option<f64>, String> {
    let expected = || format!("expected NAME=SIZE, the name that of a benchmark, and not '{copy}'");
    let (name, size) = copy.split_once('=').ok_or_else(expected)?;
    let size = size.parse().map_err(|_| expected())?;
    let known = Shape::ALL.into_iter().flat_map(|shape| {
        let names = shape.names().into_iter();
        names.zip([(shape, Device::Host), (shape, Device::Gpu0)])
    });
    let mut named = known.filter(|(known, _)| *known == name);
    let (_, (shape, device)) = named.next().ok_or_else(expected)?;
    rate(shape, device, size)
}

/// GB/s of one turn; `None` if no chain of the chip can do it.
fn rate(shape: Shape, device: Device, size: u64) -> Result<Option<f64>, String> {
    let says = |error: &dyn std::fmt::Display| format!("simulating a chain of PEACH2: {error}");
    let plan = hostwire_plan::plan("peach2-ring.toml", RING.as_bytes()).map_err(|e| says(&e))?;
    let mut cluster = SubCluster::new(&plan, &Config::default()).map_err(|e| says(&e))?;
    let (from, to) = (
        DeviceAddress::new(0, device, 0),
        DeviceAddress::new(1, device, 0),
    );
    let mut chain = Chain::new();
    let (blocks, step) = match shape {
        Shape::Single => (1, 0),
        Shape::Chain => (CHAIN, size),
        Shape::Stride => (CHAIN, 2 * size),
    };
    let stride = Stride {
        block_bytes: size,
        blocks,
        destination_step: step,
        source_step: step,
    };
    if chain.block_stride(to, from, stride).is_err() {
        return Ok(None);
    }
    let transfer = cluster
        .launch(0, &chain, Engine::Pipelined)
        .map_err(|e| says(&e))?;
    let begin = transfer.launched();
    let end = cluster.wait(transfer).map_err(|e| says(&e))?;
    let ns = (end.0 - begin.0) as f64 / 1e3;
    Ok(Some(shape.bytes(size) as f64 / ns))
}
