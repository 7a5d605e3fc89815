//! A chart as SVG. Every point shows its values. Names of the series are above the plot,
//! not over it. Sizes are chosen so that text is readable on a telephone, where a page is
//! 350 units wide.

use std::fmt::Write as _;

use super::axis::Axis;
use super::{Chart, Kind, Scale, Series};
use crate::html::escape;

const WIDTH: f64 = 520.0;
/// Of the plot itself, without names, axes and labels.
const PLOT_HEIGHT: f64 = 270.0;
/// Labels of y and what it is; more where turned labels of x need it.
const LEFT: f64 = 76.0;
const RIGHT: f64 = 18.0;
const TOP: f64 = 12.0;
/// Labels of x and what it is.
const BOTTOM: f64 = 52.0;
/// Width of a character, about.
const LETTER: f64 = 7.8;
/// Longer words below an axis lose their beginning.
const WORD_MAX: usize = 40;
/// Height of a row of the names.
const LEGEND: f64 = 22.0;
const COLOURS: usize = 7;
/// Style of a file that stands alone; a page has its own.
const STYLE: &str = include_str!("alone.css");

/// The chart as an element of a page.
pub fn inline(chart: &Chart) -> String {
    drawn(chart, "", 0.0)
}

/// The chart as a file: with its title above it and a style of its own.
pub fn file(chart: &Chart) -> String {
    let lines = lines(&chart.title, ((WIDTH - 24.0) / (LETTER + 0.6)) as usize);
    let mut head =
        format!("<style>{STYLE}</style><rect class=\"paper\" width=\"{WIDTH}\" height=\"100%\"/>");
    let mut top = 8.0;
    for line in lines {
        top += 20.0;
        let _ = write!(
            head,
            "<text class=\"title\" x=\"12\" y=\"{top}\">{}</text>",
            escape(&line)
        );
    }
    let svg = drawn(chart, &head, top + 6.0);
    svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1) + "\n"
}

/// `text` in lines of at most `letters`.
fn lines(text: &str, letters: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// `head` takes the first `above` units.
fn drawn(chart: &Chart, head: &str, above: f64) -> String {
    let points = || {
        let all = chart.series.iter().flat_map(|series| &series.points);
        all.filter(|(x, y)| chart.x.shows(*x) && chart.y.shows(*y))
    };
    let (keys, rows) = keys(chart);
    let top = above + TOP + rows * LEGEND + 10.0;
    let low = top + PLOT_HEIGHT;
    let high = WIDTH - RIGHT;
    let slant = Slant::of(chart, high);
    let left = slant.left;
    let x = Axis::new(&chart.x, points().map(|p| p.0), left..high);
    let y = Axis::new(&chart.y, points().map(|p| p.1), low..top);
    let height = low + slant.height + BOTTOM;
    let mut out = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\"><title>{}</title>{head}",
        escape(&chart.title)
    );
    for value in x.ticks(((high - left) / (LETTER * 7.5)) as usize) {
        let at = x.place(value);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{top}\" y2=\"{low}\"/>{}",
            slant.label(at, low + 20.0, &chart.x.label(value))
        );
    }
    for value in y.ticks(7) {
        let at = y.place(value);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{left:.1}\" x2=\"{high}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            at + 5.0,
            escape(&chart.y.label(value))
        );
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
         <text class=\"axis\" transform=\"translate(17 {:.1}) rotate(-90)\" text-anchor=\"middle\">{}</text>",
        (left + high) / 2.0,
        height - 10.0,
        escape(&chart.x_label),
        (top + low) / 2.0,
        escape(&chart.y_label)
    );
    for ((at, series), (left, row)) in chart.series.iter().enumerate().zip(keys) {
        let colour = match series.kind {
            Kind::Published => "published".to_owned(),
            _ => format!("c{}", series.colour.unwrap_or(at) % COLOURS),
        };
        draw(&mut out, chart, series, &colour, (&x, &y));
        let from_top = above + TOP + row * LEGEND;
        let _ = write!(
            out,
            "<g class=\"key\" data-series=\"{0}\">{sign}<text x=\"{1:.1}\" y=\"{2:.1}\">{0}</text></g>",
            escape(&series.name),
            left + 30.0,
            from_top + 12.0,
            sign = sign(chart, series, &colour, (left, from_top + 7.0))
        );
    }
    out + "</svg>"
}

/// The sample of a series next to its name: as it is drawn.
fn sign(chart: &Chart, series: &Series, colour: &str, (left, y): (f64, f64)) -> String {
    if !is_joined(chart, series) {
        return mark(series.kind, colour, left + 12.0, y);
    }
    format!(
        "<line class=\"line {colour}{}\" x1=\"{left:.1}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\"/>",
        dashes(series.kind),
        left + 24.0
    )
}

/// Whether a line joins the points. Between words it would have no meaning.
fn is_joined(chart: &Chart, series: &Series) -> bool {
    series.kind != Kind::Published && !matches!(chart.x, Scale::Words(_))
}

/// The class of a line that is broken.
fn dashes(kind: Kind) -> &'static str {
    match kind {
        Kind::Limit => " limit",
        Kind::Line | Kind::Published => "",
    }
}

/// Where the names of the series are, distance from the left and row, and how many rows there
/// are.
fn keys(chart: &Chart) -> (Vec<(f64, f64)>, f64) {
    let from = 12.0;
    let (mut left, mut row) = (from, 0.0);
    let place = |series: &Series| {
        let width = 48.0 + LETTER * series.name.chars().count() as f64;
        if left > from && left + width > WIDTH {
            (left, row) = (from, row + 1.0);
        }
        let at = (left, row);
        left += width;
        at
    };
    let keys = chart.series.iter().map(place).collect();
    (keys, row + 1.0)
}

/// The direction of labels of x: words that are too long for their place are turned.
struct Slant {
    turned: bool,
    /// The extra height of turned labels.
    height: f64,
    /// Where the plot begins: a turned label ends below its place, and begins to the left of it.
    left: f64,
}

impl Slant {
    /// The plot ends at `high`.
    fn of(chart: &Chart, high: f64) -> Slant {
        let straight = Slant {
            turned: false,
            height: 0.0,
            left: LEFT,
        };
        let Scale::Words(words) = &chart.x else {
            return straight;
        };
        let count = words.len() as f64;
        let widths = words.iter().map(|word| LETTER * letters(word) as f64);
        let longest = widths.clone().fold(0.0, f64::max);
        if longest <= (high - LEFT) / count.max(1.0) {
            return straight;
        }
        // A label whose place is a share `s` of the way from `left` to `high` has `left + s (high - left)` of room.
        let needed = widths.enumerate().map(|(at, width)| {
            let share = (at as f64 + 0.5) / count;
            (width * 0.71 + 10.0 - share * high) / (1.0 - share)
        });
        Slant {
            turned: true,
            height: longest * 0.71,
            left: needed.fold(LEFT, f64::max),
        }
    }

    fn label(&self, x: f64, y: f64, text: &str) -> String {
        let text = escape(&shortened(text));
        match self.turned {
            false => {
                format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{text}</text>")
            }
            true => format!(
                "<text transform=\"translate({x:.1} {:.1}) rotate(-45)\" text-anchor=\"end\">{text}</text>",
                y - 4.0
            ),
        }
    }
}

fn draw(out: &mut String, chart: &Chart, series: &Series, colour: &str, (x, y): (&Axis, &Axis)) {
    let shown = series
        .points
        .iter()
        .filter(|(px, py)| chart.x.shows(*px) && chart.y.shows(*py));
    let mut shown: Vec<(f64, f64)> = shown.copied().collect();
    // A line goes from left to right, whatever the order of the points.
    shown.sort_by(|a, b| a.0.total_cmp(&b.0));
    let _ = write!(out, "<g data-series=\"{}\">", escape(&series.name));
    if is_joined(chart, series) {
        let places: Vec<String> = shown
            .iter()
            .map(|(px, py)| format!("{:.1},{:.1}", x.place(*px), y.place(*py)))
            .collect();
        let _ = write!(
            out,
            "<polyline class=\"line {colour}{}\" points=\"{}\"/>",
            dashes(series.kind),
            places.join(" ")
        );
    }
    for (px, py) in shown {
        let tip = format!(
            "{}: {} at {} ({})",
            series.name,
            chart.y.exact(py),
            chart.x.label(px),
            chart.y_label
        );
        let shape = mark(series.kind, colour, x.place(px), y.place(py));
        let _ = write!(
            out,
            "<g class=\"point\" data-tip=\"{0}\"><title>{0}</title>{shape}</g>",
            escape(&tip)
        );
    }
    out.push_str("</g>");
}

/// A point of a series.
fn mark(kind: Kind, colour: &str, x: f64, y: f64) -> String {
    match kind {
        Kind::Line => format!("<circle class=\"{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        Kind::Limit => format!(
            "<rect class=\"{colour}\" x=\"{:.1}\" y=\"{:.1}\" width=\"6\" height=\"6\"/>",
            x - 3.0,
            y - 3.0
        ),
        Kind::Published => {
            let (a, b, c, d) = (x - 6.0, x + 6.0, y - 6.0, y + 6.0);
            format!(
                "<path class=\"{colour}\" d=\"M{a:.1} {c:.1}L{b:.1} {d:.1}M{a:.1} {d:.1}L{b:.1} {c:.1}\"/>"
            )
        }
    }
}

fn letters(word: &str) -> usize {
    word.chars().count().min(WORD_MAX)
}

/// The last [`WORD_MAX`] letters: of a path these say most.
fn shortened(word: &str) -> String {
    let count = word.chars().count();
    if count <= WORD_MAX {
        return word.to_owned();
    }
    let kept = word.chars().skip(count - (WORD_MAX - 1));
    std::iter::once('…').chain(kept).collect()
}

#[cfg(test)]
mod tests;
