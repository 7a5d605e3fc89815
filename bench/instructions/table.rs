//! A table of rows: the committed one, and what was counted now.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

/// How much a row may grow or shrink without the table being written anew.
const TOLERANCE: f64 = 0.03;

/// By operation and bytes, the instructions.
#[derive(Debug, Default)]
pub struct Table(BTreeMap<(String, u64), f64>);

impl Table {
    /// Adds a row: `put_8` is the operation `put` of 8 bytes.
    pub fn add(&mut self, row: String, instructions: f64) {
        let split = row.rsplit_once('_');
        let key = split.and_then(|(name, bytes)| Some((name.to_owned(), bytes.parse().ok()?)));
        self.0.insert(key.unwrap_or((row, 0)), instructions);
    }

    /// Adds all rows of another table.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Both, side by side, and whether `now` has the same rows, none of them larger by more than the tolerance.
    pub fn compared_with(&self, now: &Self) -> (String, bool) {
        let mut text = format!("{:34} {:>10} {:>10}\n", "operation", "committed", "now");
        let (mut is_kept, mut is_smaller) = (true, false);
        let keys: BTreeSet<_> = self.0.keys().chain(now.0.keys()).collect();
        for key in keys {
            let (was, is) = (self.0.get(key), now.0.get(key));
            let change = Change::between(was, is);
            is_kept &= matches!(change, Change::None | Change::Shrank);
            is_smaller |= change == Change::Shrank;
            let shown = |one: Option<&f64>| one.map_or("-".into(), |one| format!("{one:.1}"));
            let (was, is, change) = (shown(was), shown(is), change.told());
            let line = format!("{:34} {was:>10} {is:>10}  {change}", name(key));
            text += &format!("{}\n", line.trim_end());
        }
        let command = "scripts/instructions.sh --write";
        text += &match (is_kept, is_smaller) {
            (false, _) => format!(
                "instructions: if that is meant, {command} writes the table anew; say why in the commit\n"
            ),
            (true, true) => format!(
                "instructions: some rows shrank by more than 3 %: {command} writes that down\n"
            ),
            (true, false) => String::new(),
        };
        (text, is_kept)
    }
}

/// What has become of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Change {
    None,
    Grew,
    Shrank,
    Missing,
    New,
}

impl Change {
    fn between(was: Option<&f64>, is: Option<&f64>) -> Self {
        match (was, is) {
            (Some(was), Some(is)) if *is > was * (1.0 + TOLERANCE) => Self::Grew,
            (Some(was), Some(is)) if *is < was * (1.0 - TOLERANCE) => Self::Shrank,
            (Some(_), None) => Self::Missing,
            (None, Some(_)) => Self::New,
            _ => Self::None,
        }
    }

    fn told(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Grew => "grew by more than 3 %",
            Self::Shrank => "shrank by more than 3 %",
            Self::Missing => "was not counted",
            Self::New => "is not in the table",
        }
    }
}

fn name((operation, bytes): &(String, u64)) -> String {
    match bytes {
        0 => operation.clone(),
        bytes => format!("{operation}_{bytes}"),
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(key, instructions)| {
            writeln!(f, "{:34} {instructions:>10.1}", name(key))
        })
    }
}

impl FromStr for Table {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut table = Self::default();
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [row, instructions] = words[..] else {
                return Err(format!("'{line}' is not an operation and a number"));
            };
            let instructions = instructions
                .parse()
                .map_err(|_| format!("'{instructions}' is no number"))?;
            table.add(row.to_owned(), instructions);
        }
        Ok(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMITTED: &str = "# By hand.\nget_8 30.0\nput_8 100.0\nput_64 50.0\nput_4096 70.0\n";

    /// What is said of rows that are not as in the committed table.
    fn compared(now: &str) -> (Vec<String>, bool) {
        let (was, now): (Table, Table) = (COMMITTED.parse().unwrap(), now.parse().unwrap());
        let (text, is_kept) = was.compared_with(&now);
        let lines = text.lines().skip(1);
        let changed = lines.filter(|line| line.split_whitespace().count() > 3);
        let words = changed.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
        (words.collect(), is_kept)
    }

    #[test]
    fn rows_may_grow_a_little() {
        let all = "get_8 30.9\nput_8 102.9\nput_64 48.6\nput_4096 70.0\n";
        assert_eq!(compared(all), (vec![], true));
    }

    #[test]
    fn what_grew_is_missing_or_new_fails() {
        let (said, is_kept) = compared("get_8 31.0\nput_8 100.0\nput_64 50.0\nswap 9.0\n");
        assert!(!is_kept);
        assert_eq!(said[0], "get_8 30.0 31.0 grew by more than 3 %");
        assert_eq!(said[1], "put_4096 70.0 - was not counted");
        assert_eq!(said[2], "swap - 9.0 is not in the table");
        assert!(said[3].contains("scripts/instructions.sh --write"));
        assert_eq!(said.len(), 4);
    }

    #[test]
    fn what_shrank_is_told() {
        let (said, is_kept) = compared("get_8 30.0\nput_8 96.0\nput_64 50.0\nput_4096 70.0\n");
        assert!(is_kept);
        assert_eq!(said[0], "put_8 100.0 96.0 shrank by more than 3 %");
        assert!(said[1].contains("--write"));
    }

    #[test]
    fn a_table_is_read_as_it_was_written() {
        let table: Table = COMMITTED.parse().unwrap();
        let text = table.to_string();
        let names: Vec<_> = text.lines().map(|line| line.split(' ').next()).collect();
        assert_eq!(names, ["get_8", "put_8", "put_64", "put_4096"].map(Some));
        assert_eq!(text.parse::<Table>().unwrap().to_string(), text);
        assert!("put_8".parse::<Table>().is_err());
        assert!("put_8 many".parse::<Table>().is_err());
    }
}
