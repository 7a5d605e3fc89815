//! A timeline: a row per direction of a link, or per stage, and a bar for each packet.

use std::fmt::Write as _;

use hostwire_cli::html::escape;

const WIDTH: f64 = 560.0;
const LEFT: f64 = 12.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 8.0;
/// Its name, what its bars are, and the bars.
const ROW: f64 = 56.0;
const BOTTOM: f64 = 50.0;
const COLOURS: usize = 5;
/// Width of a character of a label, about.
const LETTER: f64 = 6.9;

/// Something that takes a while.
pub struct Bar {
    pub row: String,
    pub what: String,
    pub begin_ns: f64,
    pub end_ns: f64,
}

/// Bars with the rows in the order of their first one. Time begins with the first bar.
pub fn svg(title: &str, bars: &[Bar]) -> String {
    let mut rows: Vec<&str> = Vec::new();
    for bar in bars {
        if !rows.contains(&bar.row.as_str()) {
            rows.push(&bar.row);
        }
    }
    let begin = bars.iter().map(|bar| bar.begin_ns).fold(f64::MAX, f64::min);
    let end = bars.iter().map(|bar| bar.end_ns).fold(f64::MIN, f64::max);
    let span = if end > begin {
        (end - begin) * 1.03
    } else {
        1.0
    };
    let low = TOP + ROW * rows.len() as f64;
    let height = low + BOTTOM;
    let place = |time: f64| LEFT + (time - begin) / span * (WIDTH - LEFT - RIGHT);
    let mut out = format!(
        "<svg class=\"timeline\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\"><title>{}</title>",
        escape(title)
    );
    let step = step(span);
    for tick in 0..=(span / step) as usize {
        let time = step * tick as f64;
        let x = place(begin + time);
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{TOP}\" y2=\"{low}\"/>\
             <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{time}</text>",
            low + 18.0
        );
    }
    let _ = write!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">time, ns</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        height - 10.0
    );
    let mut kinds: Vec<&str> = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        let y = TOP + ROW * number as f64;
        let _ = write!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{1:.1}\" y2=\"{1:.1}\"/>\
             <text x=\"{2:.1}\" y=\"{3:.1}\">{4}</text>",
            WIDTH - RIGHT,
            y + ROW,
            LEFT,
            y + 17.0,
            escape(row)
        );
        row_of_bars(
            &mut out,
            &mut kinds,
            y,
            bars.iter().filter(|bar| bar.row == *row),
            begin,
            place,
        );
    }
    out + "</svg>"
}

/// Between the ticks: some seven of them.
fn step(span: f64) -> f64 {
    let rough = span / 7.0;
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|f| f * power >= rough);
    factor.unwrap_or(10.0) * power
}

/// The bars of the row at `y`. `kinds` have the colours that were given so far; time begins at
/// `begin`, and `place` is where a moment lies.
fn row_of_bars<'a>(
    out: &mut String,
    kinds: &mut Vec<&'a str>,
    y: f64,
    bars: impl Iterator<Item = &'a Bar>,
    begin: f64,
    place: impl Fn(f64) -> f64,
) {
    let mut written = f64::MIN;
    for bar in bars {
        let kind = bar.what.split(' ').next().unwrap_or_default();
        let colour = kinds.iter().position(|known| *known == kind);
        let colour = colour.unwrap_or_else(|| {
            kinds.push(kind);
            kinds.len() - 1
        });
        let colour = colour % COLOURS;
        let (x, x_end) = (place(bar.begin_ns), place(bar.end_ns));
        let tip = format!(
            "{}: {}, {:.1} to {:.1} ns",
            bar.row,
            bar.what,
            bar.begin_ns - begin,
            bar.end_ns - begin
        );
        let _ = write!(
            out,
            "<g class=\"point\" data-tip=\"{0}\"><title>{0}</title>\
             <rect x=\"{x:.1}\" y=\"{1:.1}\" width=\"{2:.1}\" height=\"14\" class=\"c{colour}\" stroke=\"none\"/>",
            escape(&tip),
            y + ROW - 18.0,
            (x_end - x).max(2.0)
        );
        let width = LETTER * bar.what.chars().count() as f64;
        let text = x.min(WIDTH - RIGHT - width);
        if text > written {
            written = text + width + 6.0;
            let _ = write!(
                out,
                "<text class=\"share\" x=\"{text:.1}\" y=\"{:.1}\">{}</text>",
                y + ROW - 23.0,
                escape(&bar.what)
            );
        }
        out.push_str("</g>");
    }
}
