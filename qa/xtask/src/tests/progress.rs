//! What a program of tests prints while it runs: `test NAME ... ok` when a test has ended.
//!
//! A program begins its tests in the order in which it lists them, and the next one when one ends. So the lines and
//! their times tell how long each test took and which ones run.

use std::time::Duration;

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Passed,
    Failed,
    LeftOut,
}

/// A test that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) name: String,
    pub(super) verdict: Verdict,
    pub(super) took: Duration,
}

/// The tests of a program, by its lines.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Those that have not begun, the next one last.
    waiting: Vec<String>,
    /// Those that run, and when each began.
    running: Vec<(String, Duration)>,
    ended: Vec<Test>,
}

impl Progress {
    /// `tests` in the order of the program, of which `threads` run at a time.
    pub(super) fn new(mut tests: Vec<String>, threads: usize) -> Self {
        tests.reverse();
        let mut progress = Self {
            waiting: tests,
            ..Self::default()
        };
        for _ in 0..threads {
            progress.begin(Duration::ZERO);
        }
        progress
    }

    /// A line, so long after the program began.
    pub(super) fn line(&mut self, line: &str, now: Duration) {
        let Some((name, verdict)) = verdict(line) else {
            return;
        };
        let at = self.running.iter().position(|(running, _)| running == name);
        let began = at.map_or(now, |at| self.running.swap_remove(at).1);
        if at.is_none() {
            self.waiting.retain(|waiting| waiting != name);
        }
        self.ended.push(Test {
            name: name.to_owned(),
            verdict,
            took: now.saturating_sub(began),
        });
        if at.is_some() {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Duration) {
        if let Some(next) = self.waiting.pop() {
            self.running.push((next, now));
        }
    }

    /// Those that run now, as far as the lines tell.
    pub(super) fn running(&self) -> impl Iterator<Item = &str> {
        self.running.iter().map(|(name, _)| name.as_str())
    }

    /// Those that have ended.
    pub(super) fn into_ended(self) -> Vec<Test> {
        self.ended
    }
}

/// The test that a line says to have ended.
fn verdict(line: &str) -> Option<(&str, Verdict)> {
    let (name, end) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let verdict = match end.split([',', ' ']).next()? {
        "ok" => Verdict::Passed,
        "FAILED" => Verdict::Failed,
        "ignored" => Verdict::LeftOut,
        _ => return None,
    };
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    Some((name, verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(tests: &[&str], threads: usize) -> Progress {
        Progress::new(tests.iter().map(ToString::to_string).collect(), threads)
    }

    fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_test_begins_when_another_ends() {
        let mut progress = of(&["a", "b", "c", "d"], 2);
        progress.line("running 4 tests", s(0));
        progress.line("test b ... ok", s(3));
        progress.line("test c ... FAILED", s(4));
        progress.line("test a ... ignored, takes minutes", s(6));
        assert_eq!(progress.running().collect::<Vec<_>>(), ["d"]);
        progress.line("test d - should panic ... ok", s(9));
        progress.line("test result: FAILED. 2 passed; 1 failed; 1 ignored", s(9));
        let ended: Vec<_> = progress.into_ended();
        let ended: Vec<_> = ended
            .iter()
            .map(|test| (test.name.as_str(), test.verdict, test.took))
            .collect();
        let expected = [
            ("b", Verdict::Passed, s(3)),
            ("c", Verdict::Failed, s(1)),
            ("a", Verdict::LeftOut, s(6)),
            ("d", Verdict::Passed, s(5)),
        ];
        assert_eq!(ended, expected);
    }

    #[test]
    fn lines_of_a_program_are_no_verdicts() {
        for line in [
            "",
            "test",
            "test a ... has been running for over 60 seconds",
            "a ... ok",
        ] {
            assert_eq!(verdict(line), None, "{line}");
        }
        // A test that is not in the list counts, too.
        let mut progress = of(&["a"], 1);
        progress.line("test other ... ok", s(1));
        assert_eq!(progress.running().collect::<Vec<_>>(), ["a"]);
        assert_eq!(progress.into_ended().len(), 1);
    }
}
