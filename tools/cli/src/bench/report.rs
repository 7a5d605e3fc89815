//! The output: a table for people, JSON for programs.

use std::borrow::Cow;

use super::cores::Cores;
use super::measure::{median, quantile};
use crate::report;
use crate::text::{columns, scale, wrapped};

/// One figure.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Line {
    pub bench: Cow<'static, str>,
    pub wire: String,
    pub pes: u32,
    pub size_bytes: u64,
    pub unit: Cow<'static, str>,
    pub median: f64,
    pub p99: f64,
    pub min: f64,
    pub limit: Option<f64>,
    pub ratio: Option<f64>,
    pub repeats: u32,
    /// The largest repeat over the smallest one, of hostwire or of its limit, whichever is more. None of one repeat.
    pub spread: Option<f64>,
    /// Whether that is so much that something has disturbed the figure.
    pub noisy: bool,
    /// Where the two cores were; None if it was not measured.
    pub cores: Option<Cores>,
    /// Half round trip of a line between them.
    pub line_ns: Option<f64>,
    /// Why there is no limit.
    pub no_limit: Option<Cow<'static, str>>,
}

/// A figure whose spread is larger is noisy.
const SPREAD_MAX: f64 = 3.0;

/// The largest of several values over the smallest.
pub fn spread(values: &[f64]) -> Option<f64> {
    let (min, max) = (quantile(values, 0.0), quantile(values, 1.0));
    (values.len() > 1 && min > 0.0).then_some(max / min)
}

impl Line {
    /// A time without a limit to compare with.
    pub fn alone(
        bench: &'static str,
        wire: &str,
        pes: u32,
        size_bytes: u64,
        unit: &'static str,
        values: Vec<f64>,
        repeats: u32,
    ) -> Self {
        Self {
            bench: bench.into(),
            wire: wire.into(),
            pes,
            size_bytes,
            unit: unit.into(),
            median: median(&values),
            p99: quantile(&values, 0.99),
            min: quantile(&values, 0.0),
            limit: None,
            ratio: None,
            repeats,
            spread: None,
            noisy: false,
            cores: None,
            line_ns: None,
            no_limit: None,
        }
        .with_spread(spread(&values))
    }

    /// The same with this spread, and marked by it.
    pub fn with_spread(self, spread: Option<f64>) -> Self {
        let noisy = spread.is_some_and(|spread| spread > SPREAD_MAX);
        Self {
            spread,
            noisy,
            ..self
        }
    }

    /// Prints it.
    pub fn print(&self, json: bool) {
        if json {
            match serde_json::to_string(self) {
                Ok(text) => report::out(&text),
                Err(error) => report::line(&error.to_string()),
            }
            return;
        }
        let (factor, unit) = scale(self.median, &self.unit);
        let number = |value: Option<f64>| number(value.map(|value| value * factor));
        let ratio = self.ratio.map_or(String::new(), |r| format!("{r:.2}"));
        let noisy = if self.noisy { "  noisy" } else { "" };
        report::out(&format!(
            "{:<17} {:>3} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6}{noisy}",
            self.bench,
            self.pes,
            size(self.size_bytes),
            unit,
            number(Some(self.median)),
            number(Some(self.p99)),
            number(Some(self.min)),
            number(self.limit),
            ratio,
        ));
        if let Some(text) = hardware_of_2010(self) {
            report::out(text);
        }
    }
}

fn number(value: Option<f64>) -> String {
    match value {
        None => String::new(),
        Some(value) if value >= 1000.0 => format!("{value:.0}"),
        Some(value) => format!("{value:.1}"),
    }
}

/// Whether lower values are better.
pub fn is_time(line: &Line) -> bool {
    matches!(&*line.unit, "ns" | "ms")
}

/// What a figure is of, for people.
pub fn name(line: &Line) -> String {
    match line.size_bytes {
        0 => format!("{}, {} PEs", line.bench, line.pes),
        bytes => format!("{} of {}, {} PEs", line.bench, size(bytes), line.pes),
    }
}

/// Printed above all lines.
pub fn head(wire: &str, cores: &str) {
    let what = format!(
        "wire {wire}; two PEs pinned to two CPUs unless more are named; each figure is taken in \
         turn with its limit"
    );
    report::out(wrapped("", cores, columns()).trim_end());
    report::out(&format!(
        "{}{:<17} {:>3} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6}",
        wrapped("", &what, columns()),
        "bench",
        "PEs",
        "size",
        "unit",
        "median",
        "p99",
        "min",
        "limit",
        "ratio"
    ));
}

/// Printed below `lines`: what their marks mean, and what `changed`.
pub fn foot(lines: &[Line], changed: Option<&str>) {
    for what in notes(lines).iter().map(String::as_str).chain(changed) {
        report::out(wrapped("", what, columns()).trim_end());
    }
}

fn notes(lines: &[Line]) -> Vec<String> {
    let mut notes = vec![
        "ratio: hostwire / limit, median over the pairs; for times 1.00 is perfect and more is slower, \
         for rates 1.00 is perfect and less is slower"
            .to_owned(),
    ];
    notes.extend(without_limit(lines));
    if lines.iter().any(|line| line.noisy) {
        notes.push(format!(
            "noisy: the largest repeat of hostwire or of its limit is more than {SPREAD_MAX} times the smallest one; \
             something else used the machine, or the cores moved: measure again"
        ));
    }
    notes
}

/// For each reason why figures have no limit, which ones.
pub fn without_limit(lines: &[Line]) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for line in lines {
        let Some(why) = line.no_limit.as_deref() else {
            continue;
        };
        let what = format!("{}, {} PEs", line.bench, line.pes);
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, all)) if all.contains(&what) => {}
            Some((_, all)) => all.push(what),
            None => reasons.push((why, vec![what])),
        }
    }
    let reasons = reasons.into_iter();
    reasons
        .map(|(why, all)| format!("no limit: {why} ({})", all.join("; ")))
        .collect()
}

/// The published figure of the hardware that this design comes from (TCCluster, abstract
/// and section VI), next to the line that it is compared with.
fn hardware_of_2010(line: &Line) -> Option<&'static str> {
    match (&*line.bench, line.size_bytes) {
        _ if line.wire != "shm" => None,
        ("latency", 64) => {
            Some("  TCCluster, hardware of 2010     64 B    ns     227.0    (published)")
        }
        ("rate", 64) => {
            Some("  TCCluster, hardware of 2010     64 B   M/s      39.1    (published: 2500 MB/s)")
        }
        _ => None,
    }
}

/// A number of bytes for people; a dash where there are none.
pub fn size(bytes: u64) -> String {
    match bytes {
        0 => "-".into(),
        _ if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        _ if bytes >= 1 << 10 && bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_the_documented_keys() {
        let line = Line::alone("startup", "shm", 64, 0, "ms", vec![3.0, 1.0, 2.0], 3);
        assert_eq!(
            serde_json::to_string(&line).unwrap(),
            r#"{"bench":"startup","wire":"shm","pes":64,"size_bytes":0,"unit":"ms","median":2.0,"p99":3.0,"min":1.0,"limit":null,"ratio":null,"repeats":3,"spread":3.0,"noisy":false,"cores":null,"line_ns":null,"no_limit":null}"#
        );
    }

    #[test]
    fn a_spread_above_three_is_noisy() {
        let line = |values| Line::alone("startup", "shm", 64, 0, "ms", values, 3);
        assert_eq!(line(vec![1.0]).spread, None);
        assert!(!line(vec![1.0, 3.0]).noisy);
        assert!(line(vec![1.0, 2.0, 3.1]).noisy);
    }

    #[test]
    fn only_marks_that_are_there_are_explained() {
        let calm = Line::alone("startup", "shm", 64, 0, "ms", vec![1.0, 2.0], 2);
        assert_eq!(notes(std::slice::from_ref(&calm)).len(), 1);
        let none = Line {
            no_limit: Some("nobody knows one".into()),
            ..calm.clone()
        };
        let loud = Line::alone("startup", "shm", 64, 0, "ms", vec![1.0, 4.0], 2);
        let notes = notes(&[calm, none.clone(), none, loud]);
        assert_eq!(notes[1], "no limit: nobody knows one (startup, 64 PEs)");
        assert!(notes[2].starts_with("noisy: "), "{notes:?}");
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(8), "8 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(4097), "4097 B");
        assert_eq!(size(1 << 20), "1 MiB");
    }
}
