//! The numbers as a table.

use hostwire_sim::experiments::{Class, Row, Verdict};

const HEAD: [&str; 8] = [
    "id",
    "quantity",
    "published",
    "simulated",
    "unit",
    "deviation",
    "class",
    "verdict",
];

/// Everything there is to say. Ends in a newline.
pub fn text(rows: &[Row]) -> String {
    let cells: Vec<[String; 8]> = rows.iter().map(cells).collect();
    let widths: Vec<usize> = (0..HEAD.len())
        .map(|column| {
            let lengths = cells.iter().map(|row| row[column].chars().count());
            lengths.chain([HEAD[column].len()]).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &[String; 8]| {
        let padded = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, width))| {
                if matches!(column, 2 | 3 | 5) {
                    format!("{cell:>width$}")
                } else {
                    format!("{cell:<width$}")
                }
            });
        padded.collect::<Vec<_>>().join("  ")
    };
    let mut out = String::new();
    let mut paper = "";
    for (row, cells) in rows.iter().zip(&cells) {
        if row.paper != paper {
            paper = &row.paper;
            let gap = if out.is_empty() { "" } else { "\n" };
            let version = env!("CARGO_PKG_VERSION");
            out += &format!("{gap}{paper} (hostwire {version})\n");
            out += &(line(&HEAD.map(str::to_owned)) + "\n");
        }
        let remark = row
            .remark
            .as_ref()
            .map_or(String::new(), |r| format!("  {r}"));
        out += (line(cells) + &remark).trim_end();
        out.push('\n');
    }
    let count = |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    out += &format!(
        "\n{} numbers: {} within their tolerance, {} outside, {} not compared, {} not simulated\n",
        rows.len(),
        count(Verdict::Pass),
        count(Verdict::Fail),
        count(Verdict::NotCompared),
        count(Verdict::NotSimulated),
    );
    let fitted = rows.iter().filter(|row| row.class == Class::Fitted).count();
    out += &format!("{fitted} of them were fitted: they agree because a parameter was set so\n");
    out
}

fn cells(row: &Row) -> [String; 8] {
    let value = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let deviation = row.deviation_pct;
    [
        row.id.clone(),
        row.quantity.clone(),
        value(row.published),
        value(row.simulated),
        row.unit.clone(),
        deviation.map_or("-".to_owned(), |deviation| format!("{deviation:+.2} %")),
        word(&row.class),
        word(&row.verdict),
    ]
}

/// The word that JSON has for it.
pub(super) fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => "?".to_owned(),
    }
}
