//! The list of targets, the corpora, the programs of libFuzzer and the table in
//! `qa/fuzz/README.md` are of the same targets.

use std::fs;
use std::path::Path;

use hostwire_fuzzing::{corpus, libfuzzer, targets};

/// Fewest files of a corpus.
const FILES_MIN: usize = 3;
const WRITE: &str = "to write it anew: cargo run -p hostwire-fuzzing -- files";

fn names() -> Vec<String> {
    targets()
        .iter()
        .map(|target| target.name.to_owned())
        .collect()
}

/// Names of what is in a folder, without endings.
fn stems(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.unwrap().path())
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn names_are_sorted_and_differ() {
    assert!(names().is_sorted_by(|a, b| a < b), "{:?}", names());
}

#[test]
fn every_target_has_a_corpus_with_its_seeds() {
    assert_eq!(stems(&corpus::folder()), names(), "{WRITE}");
    for target in targets() {
        let files = corpus::of(&target).unwrap();
        assert!(
            files.len() >= FILES_MIN,
            "{}: {} files",
            target.name,
            files.len()
        );
        for (name, bytes) in (target.seeds)() {
            let file = files.iter().find(|(file, _)| *file == name);
            let place = format!("{}/{name}", target.name);
            assert_eq!(
                file.map(|(_, bytes)| bytes),
                Some(&bytes),
                "{place}: {WRITE}"
            );
        }
    }
}

#[test]
fn every_target_is_a_program_of_libfuzzer() {
    let folder = libfuzzer::folder();
    assert_eq!(stems(&folder.join("fuzz_targets")), names(), "{WRITE}");
    for target in targets() {
        let path = folder.join(format!("fuzz_targets/{}.rs", target.name));
        let text = fs::read_to_string(path).unwrap();
        assert_eq!(text, libfuzzer::source(&target), "{WRITE}");
    }
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    assert_eq!(manifest, libfuzzer::manifest(&manifest), "{WRITE}");
}

#[test]
fn the_table_says_what_every_target_is_for() {
    let text = fs::read_to_string(libfuzzer::folder().join("README.md")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut told: Vec<String> = Vec::new();
    for row in rows {
        let columns: Vec<&str> = row.trim_end_matches('|').split(" | ").collect();
        let [name, input, holds] = columns[..] else {
            panic!("a row of {} columns: {row}", columns.len());
        };
        assert!(
            !input.trim().is_empty() && !holds.trim().is_empty(),
            "{row}"
        );
        told.push(name.trim_end_matches('`').to_owned());
    }
    told.sort();
    assert_eq!(told, names(), "the table of qa/fuzz/README.md");
}
