//! Every metric over the swept key.

use std::path::Path;

use hostwire_plan::file::{FREQUENCY, Quantity, SIZE, TIME, WIDTH};
use hostwire_sim::experiments::file::Outcome;

use crate::plot::{Chart, Kind, Scale, Series, file_name};

/// Writes one SVG per metric into `folder`.
pub fn write(outcome: &Outcome, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let labels: Vec<String> = outcome
        .results
        .iter()
        .map(|result| result.value.clone().unwrap_or_default())
        .collect();
    let (scale, unit, places) = axis(&labels);
    let key = outcome.sweep.as_deref().unwrap_or_default();
    for metric in outcome.metrics() {
        let points = places.iter().zip(&outcome.results);
        let points = points.filter_map(|(x, result)| Some((*x, result.metric(&metric.name)?)));
        let points: Vec<(f64, f64)> = points.collect();
        let name = metric.name.replace('_', " ");
        let chart = Chart {
            title: outcome.title.clone(),
            x_label: format!("{key}{unit}"),
            y_label: format!("{name}, {}", metric.unit),
            x: scale.clone(),
            y: Scale::fitting(points.iter().map(|point| point.1)),
            series: vec![Series::new(name, points, Kind::Line)],
        };
        chart.write(&folder.join(file_name(&metric.name)))?;
    }
    Ok(())
}

/// Scale, unit and places of swept values: numbers where all are numbers of one
/// kind, else words.
fn axis(labels: &[String]) -> (Scale, &'static str, Vec<f64>) {
    let all = |quantity: &Quantity| -> Option<Vec<f64>> {
        let parsed = labels.iter().map(|label| quantity.parse(label).ok());
        parsed.map(|value| Some(value? as f64)).collect()
    };
    let fitting = |places: &[f64]| Scale::fitting(places.iter().copied());
    if let Some(places) = all(&SIZE) {
        // A size of zero has no logarithm.
        let scale = match places.contains(&0.0) {
            true => Scale::Linear,
            false => Scale::Bytes,
        };
        return (scale, ", B", places);
    }
    for (quantity, unit, size) in [
        (&TIME, ", ns", 1_000.0),
        (&FREQUENCY, ", MHz", 1.0),
        (&WIDTH, ", bit", 1.0),
    ] {
        if let Some(places) = all(quantity) {
            let places: Vec<f64> = places.into_iter().map(|place| place / size).collect();
            return (fitting(&places), unit, places);
        }
    }
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    if let Some(places) = numbers {
        return (fitting(&places), "", places);
    }
    let places = (0..labels.len()).map(|place| place as f64).collect();
    (Scale::Words(labels.to_vec()), "", places)
}
