//! Figures that programs print, and the jobs that print them.

use std::process::{Command, Stdio};

use hostwire_sim::experiments::file::Metric;

/// Characters of a name or unit that a program prints.
const WORD_CHARS_MAX: usize = 40;
/// Values that are taken from what a program prints.
const METRICS_MAX: usize = 64;

/// Runs a job without standard input, and returns what it has printed.
///
/// # Errors
/// What it has said instead, if it failed.
pub fn printed(command: &mut Command) -> Result<String, String> {
    let ended = command.stdin(Stdio::null()).output();
    let ended = ended.map_err(|error| format!("cannot be run: {error}"))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        return Err(said.trim().trim_start_matches("hostwire: ").to_owned());
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}

/// What a program says of itself: lines such as `latency: 12.5 ns`. Of a name that comes several
/// times, as each PE prints it, the first one counts.
pub fn of(output: &str) -> Vec<Metric> {
    let mut found: Vec<Metric> = Vec::new();
    for metric in output.lines().filter_map(metric) {
        if found.len() < METRICS_MAX && !found.iter().any(|known| known.name == metric.name) {
            found.push(metric);
        }
    }
    found
}

fn metric(line: &str) -> Option<Metric> {
    let (name, rest) = line.split_once(':')?;
    let is_name = |text: &str| {
        let is_part = |part: char| part.is_ascii_alphanumeric() || "_-".contains(part);
        (1..=WORD_CHARS_MAX).contains(&text.len())
            && text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text.chars().all(is_part)
    };
    let mut words = rest.split_whitespace();
    let value: f64 = words.next()?.parse().ok()?;
    let unit = words.next().unwrap_or_default();
    let fits = is_name(name) && value.is_finite() && unit.len() <= WORD_CHARS_MAX;
    (fits && words.next().is_none()).then(|| Metric {
        name: name.to_owned().into(),
        value,
        unit: unit.to_owned().into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_name_a_value_and_a_unit_are_metrics() {
        let output = "PE 0 says: 5 words\nlatency: 12.5 ns\nupdates: 7\nlatency: 99 ns\n\
                      time: soon\nrate: inf GB/s\nnote: 5 of 6 parts\n: 3\n";
        let found = of(output);
        let found: Vec<_> = found
            .iter()
            .map(|m| (&*m.name, m.value, &*m.unit))
            .collect();
        assert_eq!(found, [("latency", 12.5, "ns"), ("updates", 7.0, "")]);
    }
}
