//! The numbers of the papers through the command line.

use serde_json::Value;

use crate::job;

#[test]
fn all_numbers_of_the_five_papers_are_there_and_hold() {
    holds("tccluster", "T", 17);
    holds("htx-board", "H", 18);
    holds("pgas-cluster", "P", 10);
    holds("tca-peach2", "A", 21);
    holds("htoe", "E", 18);
}

/// Rows `1 ..= last` of `paper` are there, and none of its rows fails.
fn holds(paper: &str, letter: &str, last: u32) {
    let ended = job::run(&["reproduce", paper, "--json"]);
    assert_eq!(ended.status, 0, "{}{}", ended.stdout, ended.stderr);
    let rows: Value = serde_json::from_str(&ended.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    for row in rows {
        for key in [
            "paper",
            "id",
            "quantity",
            "unit",
            "published",
            "simulated",
            "deviation_pct",
            "class",
            "verdict",
        ] {
            assert!(row.get(key).is_some(), "{row} has no {key}");
        }
        assert_ne!(row["verdict"], "fail", "{row}");
        assert_ne!(row["verdict"], "not-simulated", "{row}");
    }
    for number in 1..=last {
        let id = format!("{letter}{number}");
        let matches = |row: &Value| {
            let own = row["id"].as_str().unwrap();
            own == id || own.starts_with(&format!("{id}-"))
        };
        assert!(rows.iter().any(matches), "{id} is missing");
    }
}

#[test]
fn text_names_what_was_fitted() {
    let ended = job::run(&["reproduce", "htx-board"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let line = ended.stdout.lines().find(|line| line.starts_with("H6 "));
    let line = line.unwrap();
    assert!(line.contains("fitted: host 35 ns"), "{line}");
    assert!(!ended.stdout.contains("tccluster"));
}

#[test]
fn calibration_is_called_so_and_predictions_too() {
    let ended = job::run(&["reproduce", "pgas-cluster"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for (id, said) in [
        ("P2-pct ", "fitted: as P1"),
        ("P1 ", "three for three numbers"),
        ("P7-1P-SW-paged ", "prediction: 1P-SW"),
    ] {
        let line = ended.stdout.lines().find(|line| line.starts_with(id));
        let line = line.unwrap();
        assert!(line.contains(said), "{line}");
    }
    let line = |id: &str| {
        ended
            .stdout
            .lines()
            .find(|line| line.starts_with(id))
            .unwrap()
    };
    assert!(line("P7-1P-SW ").contains("not-compared"));
}

#[test]
fn unknown_papers_are_refused() {
    let ended = job::run(&["reproduce", "peach"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("peach"), "{}", ended.stderr);
}
