//! `tests.toml`: how the programs of tests run beside each other.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;

use crate::Error;

/// The name of the table, at the root of the tree.
const FILE: &str = "tests.toml";

/// What `tests.toml` says.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) at_once: NonZero<usize>,
    /// A program that prints nothing for so long hangs.
    pub(super) silence_max: Duration,
    first: Vec<String>,
    alone: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    at_once: NonZero<usize>,
    silence_max_s: NonZero<u32>,
    /// Programs, the one that takes longest first.
    first: Vec<String>,
    /// Programs that run alone, each with the reason.
    #[serde(default)]
    alone: BTreeMap<String, String>,
}

impl Table {
    /// Reads the table below `root`.
    pub(super) fn load(root: &Path) -> Result<Self, Error> {
        let path = root.join(FILE);
        let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, Error> {
        let file: File =
            toml::from_str(text).map_err(|error| Error::Argument(format!("{FILE}: {error}")))?;
        Ok(Self {
            at_once: file.at_once,
            silence_max: Duration::from_secs(file.silence_max_s.get().into()),
            first: file.first,
            alone: file.alone,
        })
    }

    /// The place of a program in the order in which they begin.
    pub(super) fn turn(&self, program: &str) -> usize {
        let named = self.first.iter().position(|name| name == program);
        named.unwrap_or(self.first.len())
    }

    pub(super) fn is_alone(&self, program: &str) -> bool {
        self.alone.contains_key(program)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "at_once = 3\nsilence_max_s = 60\nfirst = ['b', 'a']\n[alone]\n\"c\" = 'why'\n";

    #[test]
    fn programs_that_take_long_begin_first() {
        let table = Table::parse(TEXT).expect("a table");
        let mut names = ["c", "a", "x", "b"];
        names.sort_by_key(|name| table.turn(name));
        assert_eq!(names, ["b", "a", "c", "x"]);
        assert_eq!(table.at_once.get(), 3);
        assert!(table.is_alone("c") && !table.is_alone("a"));
    }

    #[test]
    fn what_is_not_known_is_refused() {
        let error = Table::parse("at_once = 0").expect_err("no programs at a time");
        assert!(error.to_string().starts_with("tests.toml: "), "{error}");
        Table::parse(&format!("{TEXT}[other]\n")).expect_err("an unknown key");
    }

    #[test]
    fn the_table_of_this_tree_can_be_read() {
        Table::load(&crate::root()).expect("tests.toml");
    }
}
