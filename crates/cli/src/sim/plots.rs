//! Every metric over the swept key.

use std::path::Path;

use hostwire_plan::file::{FREQUENCY, Quantity, SIZE, TIME, WIDTH};
use hostwire_sim::experiments::file::Outcome;

use crate::plot::{Chart, Scale, Series, file_name};

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
        let name = metric.name.replace('_', " ");
        let chart = Chart {
            title: outcome.title.clone(),
            x_label: format!("{key}{unit}"),
            y_label: format!("{name}, {}", metric.unit),
            x: scale.clone(),
            y: Scale::Linear,
            series: vec![Series {
                name,
                points: points.collect(),
                published: false,
            }],
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
    if let Some(places) = all(&SIZE) {
        return (Scale::Bytes, ", B", places);
    }
    for (quantity, unit, scale) in [
        (&TIME, ", ns", 1_000.0),
        (&FREQUENCY, ", MHz", 1.0),
        (&WIDTH, ", bit", 1.0),
    ] {
        if let Some(places) = all(quantity) {
            let places = places.into_iter().map(|place| place / scale);
            return (Scale::Linear, unit, places.collect());
        }
    }
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    if let Some(places) = numbers {
        return (Scale::Linear, "", places);
    }
    let places = (0..labels.len()).map(|place| place as f64).collect();
    (Scale::Words(labels.to_vec()), "", places)
}
