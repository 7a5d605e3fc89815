//! The report of the programs that have ended.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use super::progress::{Test, Verdict};
use super::running::Ended;
use crate::Error;

/// All programs so far.
pub(super) struct Report {
    build_seconds: u64,
    /// The name of the program, and a test of it.
    tests: Vec<(String, Test)>,
    /// Programs that failed, and what is wrong.
    failures: Vec<(String, String)>,
}

impl Report {
    pub(super) fn new(build_seconds: u64) -> Self {
        Self {
            build_seconds,
            tests: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Prints a line about the end of a program, and all its output if it failed.
    pub(super) fn add(&mut self, ended: Ended) {
        let count = of(&ended.tests, Verdict::Passed).count();
        let mut text = format!("{:>7.1} s  {}: ", seconds(ended.took), ended.program);
        let _ = match &ended.failure {
            None => writeln!(text, "{count} passed"),
            Some(why) => writeln!(text, "FAILED: {why}\n{}", ended.said.trim_end()),
        };
        put(&text);
        if let Some(why) = ended.failure {
            let names: Vec<&str> = of(&ended.tests, Verdict::Failed)
                .map(|test| test.name.as_str())
                .collect();
            let what = if names.is_empty() {
                why
            } else {
                names.join(", ")
            };
            self.failures.push((ended.program.clone(), what));
        }
        let named = ended.tests.into_iter();
        self.tests
            .extend(named.map(|test| (ended.program.clone(), test)));
    }

    /// How many programs failed.
    pub(super) fn failures(&self) -> usize {
        self.failures.len()
    }

    /// Adds a line for each test to a file: seconds and name.
    pub(super) fn write(&self, file: &Path) -> Result<(), Error> {
        let mut text = String::new();
        for (program, test) in &self.tests {
            let _ = writeln!(text, "{:.2}\t{program} {}", seconds(test.took), test.name);
        }
        let mut options = fs::OpenOptions::new();
        let opened = options.create(true).append(true).open(file);
        opened
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(Error::file(file))
    }

    /// Prints the summary when all have ended.
    pub(super) fn say(&self) {
        put(&self.text());
    }

    fn text(&self) -> String {
        let mut text = format!("\nbuilt in {} s\n", self.build_seconds);
        for (program, what) in &self.failures {
            let _ = writeln!(text, "FAILED: {program}: {what}");
        }
        let count = |verdict| {
            self.tests
                .iter()
                .filter(|(_, test)| test.verdict == verdict)
                .count()
        };
        let _ = writeln!(
            text,
            "{} passed, {} failed, {} skipped",
            count(Verdict::Passed),
            count(Verdict::Failed),
            count(Verdict::LeftOut)
        );
        text
    }
}

fn of(tests: &[Test], verdict: Verdict) -> impl Iterator<Item = &Test> {
    tests.iter().filter(move |test| test.verdict == verdict)
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

/// Prints. If nobody reads any more, no test has failed by that.
fn put(text: &str) {
    let _ = io::stdout().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(program: &str, tests: &[(&str, Verdict)], failure: Option<&str>) -> Ended {
        let test = |(name, verdict): &(&str, Verdict)| Test {
            name: (*name).to_owned(),
            verdict: *verdict,
            took: Duration::from_millis(1250),
        };
        Ended {
            program: program.to_owned(),
            tests: tests.iter().map(test).collect(),
            took: Duration::from_secs(2),
            failure: failure.map(str::to_owned),
            said: String::new(),
        }
    }

    #[test]
    fn failures_are_named_at_the_end() {
        let mut report = Report::new(7);
        let tests = [
            ("x", Verdict::Passed),
            ("y", Verdict::Failed),
            ("z", Verdict::LeftOut),
        ];
        report.add(ended("a", &tests, Some("exit status: 101")));
        report.add(ended("b", &[("x", Verdict::Passed)], None));
        report.add(ended("c", &[], Some("printed nothing")));
        assert_eq!(report.failures(), 2);
        let text = "\nbuilt in 7 s\nFAILED: a: y\nFAILED: c: printed nothing\n\
            2 passed, 1 failed, 1 skipped\n";
        assert_eq!(report.text(), text);
    }

    #[test]
    fn times_are_added_to_a_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("times");
        let mut report = Report::new(0);
        report.add(ended("a b", &[("m::x", Verdict::Passed)], None));
        for _ in 0..2 {
            report.write(&file).expect("a file");
        }
        let text = fs::read_to_string(&file).expect("a file");
        assert_eq!(text, "1.25\ta b m::x\n1.25\ta b m::x\n");
    }
}
