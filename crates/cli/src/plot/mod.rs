//! Charts as SVG files. Text is left to the viewer's fonts; none is needed here.

mod scale;

use std::path::Path;

use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;

pub use scale::{Scale, file_name};

/// Width and height of a chart.
const SIZE: (u32, u32) = (900, 560);
/// Dark, and apart from each other for eyes that do not see all colours.
const COLOURS: [RGBColor; 4] = [
    RGBColor(0, 90, 160),
    RGBColor(200, 80, 0),
    RGBColor(0, 130, 90),
    RGBColor(130, 60, 140),
];
const PUBLISHED: RGBColor = RGBColor(190, 0, 30);

/// One line of a chart, or points marked with crosses.
pub struct Series {
    /// For the legend.
    pub name: String,
    /// Pairs of x and y.
    pub points: Vec<(f64, f64)>,
    /// Published points: crosses without a line.
    pub published: bool,
}

/// One picture.
pub struct Chart {
    /// Above it.
    pub title: String,
    /// What x is, with its unit.
    pub x_label: String,
    /// What y is, with its unit.
    pub y_label: String,
    /// How x is laid out.
    pub x: Scale,
    /// How y is laid out.
    pub y: Scale,
    /// What is drawn.
    pub series: Vec<Series>,
}

impl Chart {
    /// Writes the chart. Points that a scale cannot show are left out.
    pub fn write(mut self, path: &Path) -> Result<(), String> {
        for series in &mut self.series {
            series
                .points
                .retain(|(x, y)| self.x.shows(*x) && self.y.shows(*y));
        }
        let points = || self.series.iter().flat_map(|series| &series.points);
        let (x, y) = (
            self.x.range(points().map(|p| p.0)),
            self.y.range(points().map(|p| p.1)),
        );
        let mut svg = String::new();
        let log = |range: std::ops::Range<f64>, scale: &Scale| range.log_scale().base(scale.base());
        let drawn = match (self.x.is_log(), self.y.is_log()) {
            (true, true) => self.draw(&mut svg, log(x, &self.x), log(y, &self.y)),
            (true, false) => self.draw(&mut svg, log(x, &self.x), y),
            (false, true) => self.draw(&mut svg, x, log(y, &self.y)),
            (false, false) => self.draw(&mut svg, x, y),
        };
        let place = path.display();
        drawn.map_err(|error| format!("cannot draw {place}: {error}"))?;
        std::fs::write(path, svg).map_err(|error| format!("cannot write {place}: {error}"))
    }

    fn draw<X, Y>(&self, svg: &mut String, x: X, y: Y) -> Result<(), Box<dyn std::error::Error>>
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
        Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
    {
        let area = SVGBackend::with_string(svg, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|e| e.to_string())?;
        let mut chart = ChartBuilder::on(&area)
            .caption(&self.title, ("sans-serif", 22))
            .margin(16)
            .x_label_area_size(54)
            .y_label_area_size(84)
            .build_cartesian_2d(x, y)
            .map_err(|e| e.to_string())?;
        chart
            .configure_mesh()
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_labels(self.x.ticks())
            .y_labels(self.y.ticks())
            .x_label_formatter(&|value| self.x.label(*value))
            .y_label_formatter(&|value| self.y.label(*value))
            .axis_desc_style(("sans-serif", 17))
            .label_style(("sans-serif", 14))
            .light_line_style(TRANSPARENT)
            .draw()
            .map_err(|e| e.to_string())?;
        for (series, colour) in self.series.iter().zip(COLOURS.iter().cycle()) {
            let points = series.points.clone();
            if series.published {
                let crosses = points
                    .iter()
                    .map(|&point| Cross::new(point, 6, PUBLISHED.stroke_width(3)));
                chart
                    .draw_series(crosses)
                    .map_err(|e| e.to_string())?
                    .label(&series.name)
                    .legend(|(x, y)| Cross::new((x + 10, y), 5, PUBLISHED.stroke_width(3)));
                continue;
            }
            let dots = points.clone();
            // Between words there is nothing that a line could mean.
            let points = match self.x {
                Scale::Words(_) => Vec::new(),
                _ => points,
            };
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))
                .map_err(|e| e.to_string())?
                .label(&series.name)
                .legend(move |(x, y)| {
                    PathElement::new([(x, y), (x + 20, y)], colour.stroke_width(2))
                });
            let dots = dots
                .into_iter()
                .map(|point| Circle::new(point, 3, colour.filled()));
            chart.draw_series(dots).map_err(|e| e.to_string())?;
        }
        chart
            .configure_series_labels()
            .position(self.y.legend())
            .background_style(WHITE.mix(0.9))
            .border_style(BLACK.mix(0.4))
            .label_font(("sans-serif", 15))
            .margin(12)
            .draw()
            .map_err(|e| e.to_string())?;
        area.present().map_err(|e| e.to_string())?;
        Ok(())
    }
}
