//! The output: a table for people, JSON for programs.

use std::borrow::Cow;

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
        report::out(&format!(
            "{:<17} {:>3} {:>9} {:>5} {:>9} {:>9} {:>9} {:>9} {:>6}",
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

/// Printed above all lines.
pub fn head(wire: &str) {
    let what = format!(
        "wire {wire}; two PEs pinned to two CPUs unless more are named; each figure is taken in \
         turn with its limit"
    );
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

/// Printed below all lines.
pub fn foot() {
    let what = "ratio: hostwire / limit, median over the pairs; for times 1.00 is perfect and \
                more is slower, for rates 1.00 is perfect and less is slower";
    report::out(wrapped("", what, columns()).trim_end());
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
            r#"{"bench":"startup","wire":"shm","pes":64,"size_bytes":0,"unit":"ms","median":2.0,"p99":3.0,"min":1.0,"limit":null,"ratio":null,"repeats":3}"#
        );
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(size(8), "8 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(4097), "4097 B");
        assert_eq!(size(1 << 20), "1 MiB");
    }
}
