//! Every metric over the swept key.

use std::path::Path;

use hostwire_plan::file::{FREQUENCY, Quantity, SIZE, TIME, WIDTH};
use hostwire_sim::experiments::file::{BETWEEN_SWEEPS, Outcome};

use hostwire_cli::plot::{Chart, Kind, Scale, Series, file_name};

/// Writes one SVG per metric into `folder`.
pub fn write(outcome: &Outcome, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let keys = outcome.sweep.as_deref().unwrap_or_default();
    // With several sweeps the last one is the axis, and the others make the curves.
    let (curves_key, key) = keys.rsplit_once(BETWEEN_SWEEPS).unwrap_or(("", keys));
    let values = outcome.results.iter().map(|result| {
        let value = result.value.as_deref().unwrap_or_default();
        match curves_key.is_empty() {
            true => ("", value),
            false => value.rsplit_once(BETWEEN_SWEEPS).unwrap_or(("", value)),
        }
    });
    let values: Vec<(&str, &str)> = values.collect();
    let mut labels: Vec<String> = Vec::new();
    let mut curves: Vec<&str> = Vec::new();
    for (curve, label) in &values {
        if !labels.iter().any(|known| known == label) {
            labels.push((*label).to_owned());
        }
        if !curves.contains(curve) {
            curves.push(curve);
        }
    }
    let (scale, unit, places) = axis(&labels);
    let place = |label: &str| {
        let known = labels.iter().position(|known| known == label);
        known.and_then(|index| places.get(index)).copied()
    };
    for metric in outcome.metrics() {
        let name = metric.name.replace('_', " ");
        let series = curves.iter().map(|curve| {
            let points = values.iter().zip(&outcome.results);
            let points = points.filter(|((of, _), _)| of == curve);
            let points = points
                .filter_map(|((_, x), result)| Some((place(x)?, result.metric(&metric.name)?)));
            let title = if curve.is_empty() { &name } else { *curve };
            Series::new(title.to_owned(), points.collect(), Kind::Line)
        });
        let series: Vec<Series> = series.collect();
        let heights = series.iter().flat_map(|series| &series.points);
        let chart = Chart {
            title: outcome.title.clone(),
            x_label: format!("{key}{unit}"),
            y_label: format!("{name}, {}", metric.unit),
            x: scale.clone(),
            y: Scale::fitting(heights.map(|point| point.1)),
            series,
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
