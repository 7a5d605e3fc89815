//! Programs of experiments: `hostwire run --cluster` runs them, as a process of its own.

use std::process::{Command, Stdio};

use hostwire_sim::experiments::file::{Metric, Program, ProgramRan};

use super::Args;

/// Characters of a name or unit that a program prints.
const WORD_CHARS_MAX: usize = 40;
/// Values that are taken from what a program prints.
const METRICS_MAX: usize = 64;

/// Runs `program` on the hardware of the point at `place`.
///
/// # Errors
/// A sentence that says what went wrong, with what the program said.
pub fn launch(args: &Args, place: usize, program: &Program) -> Result<ProgramRan, String> {
    let name = program.program.join(" ");
    let failed = |why: &dyn std::fmt::Display| format!("cannot run {name}: {why}");
    let folder = tempfile::tempdir().map_err(|error| failed(&error))?;
    let figures = folder.path().join("figures.json");
    let mut command = Command::new(std::env::current_exe().map_err(|error| failed(&error))?);
    command.arg("run").arg("--cluster").arg(&args.file);
    command.arg(format!("--point={place}"));
    if let Some(sweep) = &args.sweep {
        command.arg(format!("--swept={sweep}"));
    }
    command.arg("--figures").arg(&figures);
    command.arg(format!("-n{}", program.pes));
    command.arg(format!("--compute={}", program.compute));
    if let Some(heap_bytes) = program.heap_bytes {
        command.arg(format!("--heap={heap_bytes}"));
    }
    if !program.place.is_empty() {
        command.arg(format!("--place={}", program.place.join(",")));
    }
    command.arg("--").args(&program.program);
    command.stdin(Stdio::null());
    let ended = command.output().map_err(|error| failed(&error))?;
    if !ended.status.success() {
        let said = String::from_utf8_lossy(&ended.stderr);
        let said = said.trim().trim_start_matches("hostwire: ");
        return Err(format!("{name}: {said}"));
    }
    let json = std::fs::read(&figures).map_err(|error| failed(&error))?;
    let mut ran: ProgramRan = serde_json::from_slice(&json).map_err(|error| failed(&error))?;
    ran.metrics = metrics(&String::from_utf8_lossy(&ended.stdout));
    Ok(ran)
}

/// What a program says of itself: lines such as `latency: 12.5 ns`. Of a name that comes several
/// times, as each PE prints it, the first one counts.
fn metrics(output: &str) -> Vec<Metric> {
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
        let found = metrics(output);
        let found: Vec<_> = found
            .iter()
            .map(|m| (&*m.name, m.value, &*m.unit))
            .collect();
        assert_eq!(found, [("latency", 12.5, "ns"), ("updates", 7.0, "")]);
    }
}
