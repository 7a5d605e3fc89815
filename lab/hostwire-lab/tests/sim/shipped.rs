//! Every experiment file of the repository runs, and does the same everywhere: the event
//! hashes are committed, so debug and release builds and all machines are compared.

use serde_json::Value;

use crate::{job, repository};

/// A line per file: its path, and the event hashes of its runs.
const HASHES: &str = include_str!("event-hashes.txt");

/// The line that `HASHES` should have.
fn hashes(path: &str, outcome: &Value) -> String {
    let results = outcome["results"].as_array().unwrap().iter();
    let hashes = results.map(|result| result["run"]["event_hash"].as_str().unwrap());
    hashes.fold(path.to_owned(), |line, hash| line + " " + hash)
}

fn runs(folder: &str) {
    let mut files = 0;
    let mut changed = Vec::new();
    for entry in std::fs::read_dir(repository("experiments").join(folder)).unwrap() {
        let path = entry.unwrap().path();
        let is_experiment = std::fs::read_to_string(&path)
            .is_ok_and(|text| text.lines().any(|line| line == "[workload]"));
        if !is_experiment {
            continue;
        }
        files += 1;
        let ended = job::run(&["sim", path.to_str().unwrap(), "--json"]);
        assert_eq!(ended.status, 0, "{}: {}", path.display(), ended.stderr);
        let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
        for result in outcome["results"].as_array().unwrap() {
            let metrics = result["metrics"].as_array().unwrap();
            assert!(!metrics.is_empty(), "{}", path.display());
            for metric in metrics {
                let value = metric["value"].as_f64();
                // Only a NOP may find its way at once.
                let least = if metric["name"] == "nop_delay" {
                    0.0
                } else {
                    f64::MIN_POSITIVE
                };
                let sound = value.is_some_and(|value| value.is_finite() && value >= least);
                assert!(sound, "{}: {metric}", path.display());
            }
        }
        let name = path.file_name().unwrap().to_str().unwrap();
        let line = hashes(&format!("{folder}/{name}"), &outcome);
        if !HASHES.lines().any(|known| known == line) {
            changed.push(line);
        }
        let readme = std::fs::read_to_string(path.with_file_name("README.md")).unwrap();
        assert!(readme.contains(name), "the README does not mention {name}");
    }
    assert!(files >= 3, "{folder}: {files}");
    assert!(
        changed.is_empty(),
        "event-hashes.txt has other hashes than these:\n{}",
        changed.join("\n")
    );
}

#[test]
fn tccluster() {
    runs("tccluster");
}

#[test]
fn htx_board() {
    runs("htx-board");
}

#[test]
fn pgas_cluster() {
    runs("pgas-cluster");
}

#[test]
fn tca_peach2() {
    runs("tca-peach2");
}

#[test]
fn htoe() {
    runs("htoe");
}

#[test]
fn beyond_the_papers() {
    runs("beyond");
}

#[test]
#[ignore = "takes minutes"]
fn links_of_today() {
    runs("today");
}
