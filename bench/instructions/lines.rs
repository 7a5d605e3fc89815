//! Cache lines of shared memory that one call of a row writes and reads, from what lackey wrote: each access of the program to
//! memory. The mean of the calls that count. A line counts once in a call, however often it is accessed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::BufRead;
use std::ops::Range;

use crate::callgrind::{is_counting, is_going_on, row};
use crate::table::Table;

const LINE_BYTES: u64 = 64;

/// Where things lie in the program.
#[derive(Default)]
pub struct Places {
    /// Functions of rows, by their first instruction.
    rows: BTreeMap<u64, String>,
    /// The functions whose calls count.
    counting: Vec<Range<u64>>,
    /// The functions that call further steps.
    going_on: Vec<Range<u64>>,
    /// Shared memory, from the start of its file on: the variables of a C program, which are shared as well, lie behind it.
    shared: Vec<Range<u64>>,
}

impl Places {
    /// From what `nm -CS` says of the program, and what the program has found in `/proc/self/maps`.
    pub fn new(symbols: &str, maps: &str, program: &str) -> Result<Self, String> {
        let mut places = Self::default();
        let mut base = None;
        for line in maps.lines() {
            let range = line.split(' ').next().and_then(|range| {
                let (start, end) = range.split_once('-')?;
                Some(hex(start)?..hex(end)?)
            });
            let range = range.ok_or_else(|| format!("'{line}' is no mapping"))?;
            if line.ends_with(program) {
                base = base.or(Some(range.start));
            } else if line.contains(" rw-s 00000000 ") && line.contains("/memfd:") {
                places.shared.push(range);
            }
        }
        let base = base.ok_or_else(|| format!("{program} is not mapped"))?;
        for line in symbols.lines() {
            let words: Vec<&str> = line.splitn(4, ' ').collect();
            let [at, bytes, _, name] = words[..] else {
                continue;
            };
            let (Some(at), Some(bytes)) = (hex(at), hex(bytes)) else {
                continue;
            };
            if let Some(row) = row(name) {
                places.rows.insert(base + at, row.to_owned());
            } else if is_counting(name) {
                places.counting.push(base + at..base + at + bytes);
            } else if is_going_on(name) {
                places.going_on.push(base + at..base + at + bytes);
            }
        }
        match places.shared.is_empty() || places.rows.is_empty() || places.counting.is_empty() {
            true => Err("no shared memory, no row, or nothing that counts".into()),
            false => Ok(places),
        }
    }

    /// How many operations a call from this instruction is. `None` if such calls do not count.
    fn operations(&self, at: u64) -> Option<u64> {
        match contains(&self.counting, at) {
            true => Some(1),
            false => contains(&self.going_on, at).then_some(0),
        }
    }
}

/// What the calls of a row did, all together.
#[derive(Default)]
struct Total {
    calls: u64,
    written: usize,
    read: usize,
}

/// The call that counts now.
struct Call<'a> {
    row: &'a str,
    /// 0 if it is a further step of an operation.
    operations: u64,
    written: BTreeSet<u64>,
    read: BTreeSet<u64>,
}

/// Two rows of the table for each row of `trace`: `lines_written_` and `lines_read_`.
pub fn rows(trace: impl BufRead, places: &Places) -> Result<Table, String> {
    let mut totals: BTreeMap<&str, Total> = BTreeMap::new();
    // How many operations the next call of a row is, if it counts.
    let (mut called, mut call) = (None, None);
    for line in trace.lines() {
        let line = line.map_err(|error| error.to_string())?;
        let Some((kind, at, bytes)) = access(&line) else {
            continue;
        };
        if kind != "I" {
            if let Some(call) = &mut call {
                note(call, kind, at..at + bytes, &places.shared);
            }
        } else if let Some(operations) = places.operations(at) {
            called = Some(operations);
            if let Some(ended) = call.take() {
                add(&mut totals, ended);
            }
        } else if let Some(row) = places.rows.get(&at) {
            call = called.take().map(|operations| Call {
                row,
                operations,
                written: BTreeSet::new(),
                read: BTreeSet::new(),
            });
        } else {
            // A warm-up calls a row next, and not who counts.
            called = None;
        }
    }
    let mut table = Table::default();
    for (row, total) in totals {
        // As a table is written, so that it compares with what it is read as.
        let mean = |lines: usize| (10.0 * lines as f64 / total.calls as f64).round() / 10.0;
        table.add(format!("lines_written_{row}"), mean(total.written));
        table.add(format!("lines_read_{row}"), mean(total.read));
    }
    Ok(table)
}

/// `I  0401ab70,3` is an instruction; `S`, `L` and `M` store, load, and do both. Other lines are none.
fn access(line: &str) -> Option<(&str, u64, u64)> {
    let (kind, place) = line.trim_start().split_once(' ')?;
    let (at, bytes) = place.trim_start().split_once(',')?;
    Some((kind, hex(at)?, bytes.parse().ok()?))
}

fn note(call: &mut Call<'_>, kind: &str, bytes: Range<u64>, shared: &[Range<u64>]) {
    if !contains(shared, bytes.start) {
        return;
    }
    let lines = bytes.start / LINE_BYTES..bytes.end.div_ceil(LINE_BYTES);
    if kind != "L" {
        call.written.extend(lines.clone());
    }
    if kind != "S" {
        call.read.extend(lines);
    }
}

fn add<'a>(totals: &mut BTreeMap<&'a str, Total>, call: Call<'a>) {
    let total = totals.entry(call.row).or_default();
    total.calls += call.operations;
    total.written += call.written.len();
    total.read += call.read.len();
}

fn contains(ranges: &[Range<u64>], at: u64) -> bool {
    ranges.iter().any(|range| range.contains(&at))
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
0000000000000010 0000000000000008 t a::End::count
0000000000000018 0000000000000004 t a::End::go_on
0000000000000020 0000000000000008 t a::row_put_8
0000000000000030 t nothing
";
    const MAPS: &str = "\
1000-2000 r-xp 00000000 00:00 1 /a/program
8000-9000 rw-s 00000000 00:00 1 /memfd:hostwire (deleted)
";
    /// A call that does not count, one that does, and again one that does not.
    const TRACE: &str = "\
==1== a line of valgrind
I  00001020,4
 S 00008000,8
I  00001010,4
 S 00008000,8
I  00001020,4
 S 0000803c,8
 S 00008000,8
 L 00004000,8
 M 00008fc0,4
I  00001014,4
 L 00008000,8
I  00001004,4
I  00001020,4
 S 00008000,8
";

    #[test]
    fn lines_of_calls_that_count_are_counted_once() {
        let places = Places::new(SYMBOLS, MAPS, "program").unwrap();
        let table = rows(TRACE.as_bytes(), &places).unwrap().to_string();
        let words: Vec<&str> = table.split_whitespace().collect();
        assert_eq!(
            words,
            ["lines_read_put_8", "1.0", "lines_written_put_8", "3.0"]
        );
    }

    #[test]
    fn lines_of_further_steps_are_added() {
        let places = Places::new(SYMBOLS, MAPS, "program").unwrap();
        let step = "I  00001018,4\nI  00001020,4\n S 00008000,8\nI  00001018,4\n";
        let table = rows(format!("{TRACE}{step}").as_bytes(), &places).unwrap();
        assert!(table.to_string().ends_with("  4.0\n"), "{table}");
    }

    #[test]
    fn a_program_without_shared_memory_is_refused() {
        assert!(Places::new(SYMBOLS, "1000-2000 r-xp 0 0 1 /a/program", "program").is_err());
        assert!(Places::new(SYMBOLS, MAPS, "other").is_err());
        assert!(Places::new("", MAPS, "program").is_err());
    }
}
