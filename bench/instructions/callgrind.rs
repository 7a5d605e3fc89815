//! What callgrind wrote: the instructions of each row's function with all that it calls, by call.
//!
//! A block begins with the function, `fn=(12) name`, or `fn=(12)` if the name was there before. A call in it is `cfn=` with the
//! function that is called, `calls=` with their number, and a line with a position and the instructions of all of them.

use std::collections::HashMap;

use crate::table::Table;

/// The names of functions that are counted begin so.
const ROW: &str = "row_";
/// Only calls from functions with this name count: those before are warm-up.
const COUNTING: &str = "count";
/// Calls from functions with this name are further steps of an operation that has been counted: their instructions are added.
const GOING_ON: &str = "go_on";

/// Adds the rows in `text`.
pub fn rows(text: &str, table: &mut Table) -> Result<(), String> {
    let mut names = HashMap::new();
    let mut totals: HashMap<String, (u64, u64)> = HashMap::new();
    let (mut caller, mut called) = (String::new(), String::new());
    let mut lines = text.lines();
    if !text.lines().any(|line| line == "events: Ir") {
        return Err("callgrind has not counted instructions alone".into());
    }
    while let Some(line) = lines.next() {
        if let Some(name) = line.strip_prefix("fn=") {
            caller = full(name, &mut names)?;
        } else if let Some(name) = line.strip_prefix("cfn=") {
            called = full(name, &mut names)?;
        } else if let Some(calls) = line.strip_prefix("calls=") {
            let calls = number(calls.split(' ').next())?;
            let cost = number(lines.next().and_then(|line| line.split(' ').nth(1)))?;
            let operations = match (is_counting(&caller), is_going_on(&caller)) {
                (true, _) => calls,
                (_, true) => 0,
                _ => continue,
            };
            if let Some(row) = row(&called) {
                let total = totals.entry(row.to_owned()).or_default();
                *total = (total.0 + operations, total.1 + cost);
            }
        }
    }
    if totals.is_empty() {
        return Err("there is no call of a row".into());
    }
    for (row, (calls, cost)) in totals {
        table.add(row, cost as f64 / calls as f64);
    }
    Ok(())
}

/// The name that stands for `(12)`, or is behind it.
fn full(text: &str, names: &mut HashMap<String, String>) -> Result<String, String> {
    let unknown = || format!("no function is known by '{text}'");
    match text.split_once(' ') {
        Some((short, name)) => {
            names.insert(short.to_owned(), name.to_owned());
            Ok(name.to_owned())
        }
        None => names.get(text).cloned().ok_or_else(unknown),
    }
}

fn number(text: Option<&str>) -> Result<u64, String> {
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or_else(|| format!("'{}' is no number", text.unwrap_or_default()))
}

/// The row of a function, without what a compiler adds before and behind.
pub fn row(function: &str) -> Option<&str> {
    parts(function).find_map(|part| part.strip_prefix(ROW))
}

pub fn is_counting(function: &str) -> bool {
    parts(function).any(|part| part == COUNTING)
}

pub fn is_going_on(function: &str) -> bool {
    parts(function).any(|part| part == GOING_ON)
}

fn parts(function: &str) -> impl Iterator<Item = &str> {
    function.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "\
events: Ir
fn=(1) bench::End::warm_up
10 5
cfn=(2) bench::rows::row_put_8
calls=100 20
11 9000
fn=(3) bench::End::count
10 5
cfn=(2)
calls=3 20
+2 120
cfn=(4) bench::other
calls=3 30
13 7
cfn=(2)
calls=1 20
14 44
fn=(5) count
10
cfn=(6) row_shmem_p
calls=2 40
-3 43
";

    #[test]
    fn calls_that_count_are_added_up() {
        let mut table = Table::default();
        rows(FILE, &mut table).unwrap();
        let lines = format!(
            "{:34} {:>10}\n{:34} {:>10}\n",
            "put_8", "41.0", "shmem_p", "21.5"
        );
        assert_eq!(table.to_string(), lines);
    }

    #[test]
    fn further_steps_are_part_of_the_operation() {
        let mut table = Table::default();
        let steps = "fn=(7) go_on\n10\ncfn=(6)\ncalls=3 40\n-3 37\n";
        rows(&format!("{FILE}{steps}"), &mut table).unwrap();
        assert!(table.to_string().ends_with("      40.0\n"), "{table}");
    }

    #[test]
    fn what_is_no_such_file_is_refused() {
        for broken in [
            String::new(),
            "events: Ir\n".into(),
            FILE.replace("events: Ir", "events: Ir Dr"),
            FILE.replace("fn=(2) bench", "fn=(7) bench"),
            FILE.replace("+2 120", "+2"),
            FILE.replace("calls=2", "calls=x"),
        ] {
            assert!(rows(&broken, &mut Table::default()).is_err(), "{broken}");
        }
    }
}
