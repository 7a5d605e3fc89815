//! The same copies by a modelled PEACH2, and both drawn.
//!
//! A chain of the simulated chip goes from the memory of a node, or of a GPU of it, to that of the next node, by
//! the controller that reads and writes at the same time; its time is from the doorbell to the handler of the
//! interrupt, as the paper measures.

use std::path::Path;

use hostwire_sim::tca::{Chain, Config, Device, Engine, Place, Stride, SubCluster};

use super::report::Line;
use super::tca::{CHAIN, Shape};
use crate::plot::{Chart, Kind, Scale, Series};

/// Four nodes in a ring.
const RING: &str = include_str!("../../clusters/peach2-ring.toml");
/// What the wire of simulated figures is called.
const WIRE: &str = "peach2";
/// Longer copies are not simulated: the rate does not change any more.
const SIMULATED_BYTES_MAX: u64 = 1 << 20;

/// The simulated figures for the sizes that were measured.
///
/// # Errors
/// What the model says, for people.
pub fn lines(measured: &[Line]) -> Result<Vec<Line>, String> {
    let mut lines = Vec::new();
    for shape in Shape::ALL {
        for (name, device) in shape.names().into_iter().zip([Device::Host, Device::Gpu0]) {
            let sizes = measured.iter().filter(|line| line.bench == name);
            let sizes = sizes.map(|line| line.size_bytes);
            for size in sizes.filter(|size| *size <= SIMULATED_BYTES_MAX) {
                // A descriptor has whole words, and a table has 255.
                let Some(rate) = rate(shape, device, size)? else {
                    continue;
                };
                lines.push(Line::alone(name, WIRE, 2, size, "GB/s", vec![rate], 1));
            }
        }
    }
    Ok(lines)
}

/// GB/s of one turn; `None` if no chain of the chip can do it.
fn rate(shape: Shape, device: Device, size: u64) -> Result<Option<f64>, String> {
    let says = |error: &dyn std::fmt::Display| format!("simulating a chain of PEACH2: {error}");
    let plan = hostwire_plan::plan("peach2-ring.toml", RING.as_bytes()).map_err(|e| says(&e))?;
    let mut cluster = SubCluster::new(&plan, &Config::default()).map_err(|e| says(&e))?;
    let (from, to) = (Place::new(0, device, 0), Place::new(1, device, 0));
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

/// Writes a chart for each shape into `folder`.
///
/// # Errors
/// What the system says, for people.
pub fn plot(lines: &[Line], folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for shape in Shape::ALL {
        let [name, _] = shape.names();
        chart(lines, shape).write(&folder.join(format!("{name}.svg")))?;
    }
    Ok(())
}

fn chart(lines: &[Line], shape: Shape) -> Chart {
    let [host, device] = shape.names();
    let points = |name: &str, is_model: bool| -> Vec<(f64, f64)> {
        let lines = lines.iter().filter(|line| line.bench == name);
        let lines = lines.filter(|line| (line.wire == WIRE) == is_model);
        lines
            .map(|line| (line.size_bytes as f64, line.median))
            .collect()
    };
    let series: Vec<Series> = [
        ("host to host", host, false),
        ("device to device", device, false),
        ("simulated PEACH2, host to host", host, true),
        ("simulated PEACH2, GPU to GPU", device, true),
    ]
    .into_iter()
    .map(|(title, name, is_model)| (title, points(name, is_model)))
    .filter(|(_, points)| !points.is_empty())
    .map(|(title, points)| Series::new(title, points, Kind::Line))
    .collect();
    let title = match shape {
        Shape::Single => "One copy",
        Shape::Chain => "A chain of 255",
        Shape::Stride => "255 blocks at a distance",
    };
    let values = series
        .iter()
        .flat_map(|series| &series.points)
        .map(|point| point.1);
    Chart {
        title: title.to_owned(),
        x_label: "size of a block, B".to_owned(),
        y_label: "GB/s".to_owned(),
        x: Scale::Bytes,
        y: Scale::fitting(values),
        series,
    }
}
