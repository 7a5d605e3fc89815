//! A chart as SVG inside of a page: every point says what it is.

use std::fmt::Write as _;
use std::ops::Range;

use crate::plot::{Chart, Scale, Series};

use super::escape;

const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 460.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 58.0;
const COLOURS: [&str; 7] = [
    "#005aa0", "#c85000", "#00825a", "#823c8c", "#7a6a00", "#0095b6", "#6b6f73",
];
/// Height of a row of the legend.
const LEGEND: f64 = 24.0;
const PUBLISHED: &str = "#be001e";

pub fn svg(chart: &Chart) -> String {
    let points = || {
        let all = chart.series.iter().flat_map(|series| &series.points);
        all.filter(|(x, y)| chart.x.shows(*x) && chart.y.shows(*y))
    };
    let x = Axis::new(&chart.x, points().map(|p| p.0), LEFT..WIDTH - RIGHT);
    let keys = keys(chart);
    let rows = keys.last().map_or(0.0, |(_, row)| *row);
    let (top, height) = (TOP + rows * LEGEND, HEIGHT + rows * LEGEND);
    let y = Axis::new(&chart.y, points().map(|p| p.1), height - BOTTOM..top);
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\"><title>{}</title>",
        escape(&chart.title)
    );
    let (low, high) = (height - BOTTOM, WIDTH - RIGHT);
    for value in x.ticks() {
        let at = x.place(value);
        out += &format!(
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{low}\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
            low + 18.0,
            escape(&chart.x.label(value))
        );
    }
    for value in y.ticks() {
        let at = y.place(value);
        out += &format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{high}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            LEFT - 8.0,
            at + 4.0,
            escape(&chart.y.label(value))
        );
    }
    out += &format!(
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"axis\" transform=\"translate(20 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (LEFT + high) / 2.0,
        height - 14.0,
        escape(&chart.x_label),
        (top + low) / 2.0,
        escape(&chart.y_label)
    );
    let colours = chart.series.iter().zip(COLOURS.iter().cycle());
    for ((series, colour), (left, row)) in colours.zip(keys) {
        let colour = if series.published { PUBLISHED } else { *colour };
        draw(&mut out, chart, series, colour, (&x, &y));
        let from_top = 14.0 + row * LEGEND;
        out += &format!(
            "<g class=\"key\" data-series=\"{0}\"><rect x=\"{left:.1}\" y=\"{from_top}\" width=\"14\" \
             height=\"14\" fill=\"{colour}\"/><text x=\"{1:.1}\" y=\"{2:.1}\">{0}</text></g>",
            escape(&series.name),
            left + 20.0,
            from_top + 12.0
        );
    }
    out + "</svg>"
}

/// Where the names of the series are: distance from the left, and row.
fn keys(chart: &Chart) -> Vec<(f64, f64)> {
    let (mut left, mut row) = (LEFT, 0.0);
    let place = |series: &Series| {
        let width = 44.0 + 7.2 * series.name.chars().count() as f64;
        if left > LEFT && left + width > WIDTH {
            (left, row) = (LEFT, row + 1.0);
        }
        let at = (left, row);
        left += width;
        at
    };
    chart.series.iter().map(place).collect()
}

fn draw(out: &mut String, chart: &Chart, series: &Series, colour: &str, (x, y): (&Axis, &Axis)) {
    let shown = series
        .points
        .iter()
        .filter(|(px, py)| chart.x.shows(*px) && chart.y.shows(*py));
    let _ = write!(
        out,
        "<g data-series=\"{}\" stroke=\"{colour}\" fill=\"{colour}\">",
        escape(&series.name)
    );
    if !series.published && !matches!(chart.x, Scale::Words(_)) {
        let places: Vec<String> = shown
            .clone()
            .map(|(px, py)| format!("{:.1},{:.1}", x.place(*px), y.place(*py)))
            .collect();
        let _ = write!(
            out,
            "<polyline fill=\"none\" stroke-width=\"2\" points=\"{}\"/>",
            places.join(" ")
        );
    }
    for (px, py) in shown {
        let tip = format!(
            "{}: {} at {} ({})",
            series.name,
            py_text(*py),
            chart.x.label(*px),
            chart.y_label
        );
        let (at_x, at_y) = (x.place(*px), y.place(*py));
        let shape = if series.published {
            let (a, b, c, d) = (at_x - 6.0, at_x + 6.0, at_y - 6.0, at_y + 6.0);
            format!(
                "<path stroke-width=\"3\" d=\"M{a:.1} {c:.1}L{b:.1} {d:.1}M{a:.1} {d:.1}L{b:.1} {c:.1}\"/>"
            )
        } else {
            format!("<circle cx=\"{at_x:.1}\" cy=\"{at_y:.1}\" r=\"4\"/>")
        };
        let _ = write!(
            out,
            "<g class=\"point\" data-tip=\"{0}\"><title>{0}</title>{shape}</g>",
            escape(&tip)
        );
    }
    out.push_str("</g>");
}

fn py_text(value: f64) -> String {
    format!("{value:.2}")
}

struct Axis<'s> {
    scale: &'s Scale,
    values: Range<f64>,
    pixels: Range<f64>,
}

impl<'s> Axis<'s> {
    fn new(scale: &'s Scale, values: impl Iterator<Item = f64>, pixels: Range<f64>) -> Axis<'s> {
        Axis {
            scale,
            values: scale.range(values),
            pixels,
        }
    }

    fn place(&self, value: f64) -> f64 {
        let on = |value: f64| {
            if self.scale.is_log() {
                value.ln()
            } else {
                value
            }
        };
        let (low, high) = (on(self.values.start), on(self.values.end));
        let share = (on(value) - low) / (high - low);
        self.pixels.start + share * (self.pixels.end - self.pixels.start)
    }

    fn ticks(&self) -> Vec<f64> {
        let Range { start, end } = self.values;
        match self.scale {
            Scale::Words(words) => (0..words.len()).map(|place| place as f64).collect(),
            // Powers alone would be few.
            Scale::Log if end / start < 100.0 => {
                let from = start.log10().floor() as i32;
                let values = (from..from + 4)
                    .flat_map(|power| [1.0, 2.0, 5.0].map(|factor| factor * 10f64.powi(power)));
                values
                    .filter(|value| (start..=end).contains(value))
                    .collect()
            }
            Scale::Log | Scale::Bytes => {
                let base = self.scale.base();
                let from = start.log(base).ceil() as i32;
                let to = end.log(base).floor() as i32;
                let every = ((to - from) / 10 + 1).max(1) as usize;
                (from..=to)
                    .step_by(every)
                    .map(|power| base.powi(power))
                    .collect()
            }
            Scale::Linear => {
                let rough = (end - start) / 6.0;
                let power = 10f64.powf(rough.log10().floor());
                let factor = [1.0, 2.0, 5.0, 10.0]
                    .into_iter()
                    .find(|f| f * power >= rough);
                let step = factor.unwrap_or(10.0) * power;
                let first = (start / step).ceil() as i64;
                (first..first + 12)
                    .map(|k| k as f64 * step)
                    .take_while(|v| *v <= end)
                    .collect()
            }
        }
    }
}
