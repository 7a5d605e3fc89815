//! Records as a table, or as JSON.

use hostwire::counters::Record;

use crate::report;
use crate::text::{Align, Table, columns};

/// Most PEs that get a column each.
const COLUMNS_MAX: usize = 8;

/// Prints records on standard error: at the end of a job its output belongs to its PEs.
pub fn print(title: &str, records: &[Record]) {
    for line in text(title, records, columns()).lines() {
        report::line(line);
    }
}

/// A line for each counter that is not 0 everywhere: the sum, then each PE, or the least and the
/// most if there are many. Lines have at most `width` characters.
pub fn text(title: &str, records: &[Record], width: usize) -> String {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in records.iter().flat_map(|record| &record.values) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    let text = format!("{title}\n");
    let many = records.len() > COLUMNS_MAX;
    let heads: Vec<String> = match many {
        true => vec!["least".into(), "most".into()],
        false => records
            .iter()
            .map(|record| format!("PE {}", record.pe))
            .collect(),
    };
    let mut rows = Vec::new();
    for name in names {
        let values: Vec<u64> = records.iter().map(|record| value(record, name)).collect();
        let sum = values
            .iter()
            .fold(0, |sum: u64, value| sum.saturating_add(*value));
        if sum == 0 {
            continue;
        }
        let columns = match many {
            true => [values.iter().min(), values.iter().max()]
                .map(|value| value.copied().unwrap_or(0))
                .to_vec(),
            false => values,
        };
        rows.push((name, sum, columns));
    }
    if rows.is_empty() {
        return text + "nothing has crossed a wire between hosts\n";
    }
    let heads = heads.into_iter().map(|head| (head, Align::Right));
    let mut table = Table::new(
        [
            (String::new(), Align::Left),
            ("sum".to_owned(), Align::Right),
        ]
        .into_iter()
        .chain(heads),
    );
    for (name, sum, columns) in rows {
        let numbers = [sum].into_iter().chain(columns);
        let numbers = numbers.map(|number| number.to_string());
        table.row([name.to_owned()].into_iter().chain(numbers));
    }
    text + &table.text("", width)
}

fn value(record: &Record, name: &str) -> u64 {
    let found = record.values.iter().find(|(other, _)| other == name);
    found.map_or(0, |(_, value)| *value)
}

/// One object per PE.
pub fn print_json(job: u32, records: &[Record]) {
    for record in records {
        let counters: serde_json::Map<String, serde_json::Value> = record
            .values
            .iter()
            .map(|(name, value)| (name.clone(), (*value).into()))
            .collect();
        let object = serde_json::json!({
            "job": job,
            "pe": record.pe,
            "pes": record.pes,
            "wire": record.wire,
            "counters": counters,
        });
        report::out(&object.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(pe: u32, frames: u64) -> Record {
        Record {
            pe,
            pes: 2,
            wire: "ether".into(),
            values: vec![("frames sent".into(), frames), ("timeouts".into(), 0)],
        }
    }

    #[test]
    fn a_table_has_sums_and_leaves_out_what_is_zero() {
        let text = text("a job", &[record(0, 3), record(1, u64::MAX)], 100);
        let lines: Vec<Vec<&str>> = text
            .lines()
            .map(|l| l.split_whitespace().collect())
            .collect();
        assert_eq!(lines[1], ["sum", "PE", "0", "PE", "1"]);
        let most = u64::MAX.to_string();
        assert_eq!(lines[2], ["frames", "sent", &most, "3", &most]);
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn of_many_the_least_and_the_most_are_shown() {
        let records: Vec<Record> = (0..9).map(|pe| record(pe, pe.into())).collect();
        let text = super::text("a job", &records, 100);
        assert!(
            text.lines()
                .nth(2)
                .is_some_and(|l| l.ends_with("36      0     8")),
            "{text}"
        );
        let few = super::text("a job", &records[..8], 60);
        assert!(few.lines().all(|line| line.len() <= 60), "{few}");
    }

    #[test]
    fn a_job_that_has_sent_nothing_says_so() {
        let text = text("a job", &[record(0, 0)], 100);
        assert_eq!(text, "a job\nnothing has crossed a wire between hosts\n");
    }
}
