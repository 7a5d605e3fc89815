//! The documentation of settings and wires agrees with the tables.
//!
//! Run with `HOSTWIRE_BLESS=1` to write the blocks of pages anew after a change of a table.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hostwire::settings::{self, WireName, page};

/// Variables that are no settings: the launcher passes them to PEs, or they control tests.
const OTHERS: [&str; 26] = [
    "HOSTWIRE_BLESS",
    "HOSTWIRE_BOARD_FD",
    "HOSTWIRE_MODEL_FDS",
    "HOSTWIRE_BORROW_ABOVE",
    "HOSTWIRE_BORROW_SOCKET",
    "HOSTWIRE_COUNTERS_FD",
    "HOSTWIRE_JOB",
    "HOSTWIRE_MODEL_SEED",
    "HOSTWIRE_MODEL_SEEDS",
    "HOSTWIRE_MODEL_WITHOUT",
    "HOSTWIRE_NET_PACKETS",
    "HOSTWIRE_NET_SEED",
    "HOSTWIRE_RTL",
    "HOSTWIRE_RTL_COVERAGE",
    "HOSTWIRE_RTL_FIGURES",
    "HOSTWIRE_RTL_PACKETS",
    "HOSTWIRE_RTL_SEED",
    "HOSTWIRE_RTL_WAVES",
    "HOSTWIRE_TESTS_DEMAND",
    "HOSTWIRE_TESTS_LONG",
    "HOSTWIRE_TESTS_MPICH",
    "HOSTWIRE_TEST_SEED",
    "HOSTWIRE_TEST_START",
    "HOSTWIRE_TEST_TIMES",
    "HOSTWIRE_WAREHOUSE_SCALE",
    "HOSTWIRE_WRAPPER_DEPTH",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_page_of_the_environment_is_what_the_tables_say() {
    let path = "docs/environment.md";
    let settings =
        page::of_settings(&settings::TABLE) + "\n" + &page::of_differences(&settings::TABLE);
    let mut wanted = read(path);
    for (name, block) in [("settings", settings), ("wires", page::of_wires())] {
        wanted = page::with_block(&wanted, name, &block).expect("a page with marks for both");
    }
    if std::env::var_os("HOSTWIRE_BLESS").is_some() {
        fs::write(root().join(path), &wanted).expect("a writable page");
    }
    assert_eq!(read(path), wanted, "HOSTWIRE_BLESS=1 writes it anew");
}

#[test]
fn pages_name_every_wire_between_hosts() {
    for page in [
        "docs/launchers.md",
        "runtime/transport/README.md",
        "docs/openshmem.md",
    ] {
        let text = read(page);
        for wire in WireName::ALL.into_iter().filter(|wire| wire.spans_hosts()) {
            let named = text.contains(&format!("`{wire}`")) || text.contains(&format!("={wire}`"));
            assert!(named, "{page} does not name the wire {wire}");
        }
    }
}

/// `oshrun` passes options on, and has to know which of them have a value.
#[test]
fn oshrun_knows_the_options_of_settings() {
    let script = read("fronts/shmem/wrappers/oshrun");
    for setting in settings::TABLE.iter() {
        let Some(flag) = setting.flag else {
            continue;
        };
        let beside = match flag.value_name {
            Some(_) => "--grace)",
            None => "--stats)",
        };
        let mut lines = script.lines().filter(|line| line.ends_with(beside));
        let long = format!("--{} ", flag.long);
        assert!(lines.any(|line| line.contains(&long)), "{setting}: {long}");
    }
}

/// Where users and programmers read.
fn texts() -> Vec<PathBuf> {
    fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder of the repository") {
            let path = entry.expect("a readable folder").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            if path.is_dir() && name != "target" && !path.is_symlink() {
                collect(&path, files);
            } else if ["rs", "md", "1", "sh"].contains(&&*extension) || name.starts_with("osh") {
                files.push(path);
            }
        }
    }
    let mut files = vec![root().join("README.md")];
    for folder in [
        "runtime", "fronts", "tools", "lab", "qa", "docs", "examples", "bench", "scripts",
    ] {
        collect(&root().join(folder), &mut files);
    }
    files
}

/// The word that follows each `mark` in `text`, of capital letters if `is_capital`.
fn words<'a>(text: &'a str, mark: &'a str, is_capital: bool) -> impl Iterator<Item = &'a str> {
    let belongs = move |c: char| match is_capital {
        true => c.is_ascii_uppercase() || c == '_',
        false => c.is_ascii_lowercase(),
    };
    let rest = text
        .match_indices(mark)
        .map(move |(at, _)| &text[at + mark.len()..]);
    rest.map(move |rest| &rest[..rest.find(|c| !belongs(c)).unwrap_or(rest.len())])
}

/// Removed variables, which only the history names, without `HOSTWIRE_`.
const GONE: [&str; 2] = ["LONG_PUTS", "LONG_BYTES"];

fn is_history(file: &Path) -> bool {
    ["docs/decisions", "bench/results"]
        .map(|folder| root().join(folder))
        .iter()
        .any(|folder| file.starts_with(folder))
}

#[test]
fn whatever_names_a_variable_or_a_wire_names_one_that_is_there() {
    let known: BTreeSet<&str> = settings::TABLE
        .iter()
        .map(|setting| setting.variable)
        .chain(OTHERS)
        .collect();
    let wires = settings::WIRE.choices().into_iter();
    let wires: BTreeSet<&str> = wires.map(|choice| choice.name).collect();
    let files = texts();
    assert!(files.len() > 300, "the repository is not where it was");
    let mut seen = BTreeSet::new();
    // This list names all of them.
    let others = files
        .into_iter()
        .filter(|file| !file.ends_with("hostwire/tests/documentation.rs"));
    for file in others {
        let text = fs::read_to_string(&file).expect("a text");
        let shown = file.display();
        for word in words(&text, "HOSTWIRE_", true).filter(|word| !word.is_empty()) {
            let variable = format!("HOSTWIRE_{word}");
            // A name that is put together, or a guard of a C header.
            if word.ends_with('_') || word.ends_with("_H") {
                continue;
            }
            let name = known.get(&*variable);
            let is_known = name.is_some() || (GONE.contains(&word) && is_history(&file));
            assert!(is_known, "{shown}: there is no {variable}");
            seen.extend(name);
        }
        // Tests also name variables that are refused.
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        for mark in ["HOSTWIRE_WIRE=", "--wire "] {
            for wire in words(&text, mark, false).filter(|wire| !wire.is_empty()) {
                assert!(wires.contains(wire), "{shown}: there is no wire {wire}");
            }
        }
    }
    let unused: Vec<_> = known.difference(&seen).collect();
    assert!(unused.is_empty(), "named nowhere: {unused:?}");
}
