//! The same copies by a modelled PEACH2, which the laboratory simulates, and both drawn.

use std::path::Path;
use std::process::Command;

use super::report::Line;
use super::tca::Shape;
use crate::plot::{Chart, Kind, Scale, Series};

/// The hidden command of the laboratory that simulates copies.
pub const COMMAND: &str = "__copies";
/// What the wire of simulated figures is called.
const WIRE: &str = "peach2";
/// Longer copies are not simulated: the rate does not change any more.
const SIMULATED_BYTES_MAX: u64 = 1 << 20;

/// The figures that the program `laboratory` simulates, for the sizes that were measured.
///
/// # Errors
/// What the model says, for people.
pub fn lines(laboratory: &Path, measured: &[Line]) -> Result<Vec<Line>, String> {
    let names = || Shape::ALL.into_iter().flat_map(Shape::names);
    let mut command = Command::new(laboratory);
    command.arg(COMMAND);
    for name in names() {
        let sizes = measured.iter().filter(|line| line.bench == name);
        let sizes = sizes.map(|line| line.size_bytes);
        let sizes = sizes.filter(|size| *size <= SIMULATED_BYTES_MAX);
        command.args(sizes.map(|size| format!("{name}={size}")));
    }
    let ran = command.output();
    let ran = ran.map_err(|error| format!("cannot start the laboratory: {error}"))?;
    if !ran.status.success() {
        let said = String::from_utf8_lossy(&ran.stderr);
        return Err(format!("simulating copies of PEACH2: {}", said.trim_end()));
    }
    let said = String::from_utf8_lossy(&ran.stdout);
    let read = |line: &str| {
        let (copy, rate) = line.split_once(' ')?;
        let (name, size) = copy.split_once('=')?;
        let name = names().find(|known| *known == name)?;
        let (size, rate) = (size.parse().ok()?, rate.parse().ok()?);
        Some(Line::alone(name, WIRE, 2, size, "GB/s", vec![rate], 1))
    };
    let lines = said.lines().map(|line| {
        read(line).ok_or_else(|| format!("the laboratory is of another version: it says {line:?}"))
    });
    lines.collect()
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
