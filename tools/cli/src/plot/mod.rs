//! Charts as SVG: in files of their own, and in pages. Text uses the viewer's fonts.

mod axis;
mod scale;
mod svg;

use std::path::Path;

pub use scale::{Scale, file_name};

/// The form of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Dots that a line joins.
    Line,
    /// A broken line: what could be reached.
    Limit,
    /// Crosses without a line.
    Published,
}

/// One line of a chart, or points marked with crosses.
#[derive(Clone, Debug)]
pub struct Series {
    /// For the legend.
    pub name: String,
    /// Pairs of x and y, in any order.
    pub points: Vec<(f64, f64)>,
    /// How it is drawn.
    pub kind: Kind,
    /// Number of its colour; by default its place among the series.
    pub colour: Option<usize>,
}

impl Series {
    /// A series with a colour of its own.
    pub fn new(name: impl Into<String>, points: Vec<(f64, f64)>, kind: Kind) -> Series {
        Series {
            name: name.into(),
            points,
            kind,
            colour: None,
        }
    }
}

/// One picture.
#[derive(Clone, Debug)]
pub struct Chart {
    /// Above it.
    pub title: String,
    /// The name of x, with its unit.
    pub x_label: String,
    /// The name of y, with its unit.
    pub y_label: String,
    /// How x is laid out.
    pub x: Scale,
    /// How y is laid out.
    pub y: Scale,
    /// The series.
    pub series: Vec<Series>,
}

impl Chart {
    /// The chart as an element of a page. Points that a scale cannot show are left out.
    pub fn svg(&self) -> String {
        svg::inline(self)
    }

    /// Writes the chart as a file.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        crate::file::write_whole(path, svg::file(self).as_bytes())
    }
}
