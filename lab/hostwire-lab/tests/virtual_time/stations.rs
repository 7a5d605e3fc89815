//! Stations, which the endpoints of libfabric are, in virtual time.

use super::{KINDS, on, probe, simulated};

/// Runs stations that find each other by files. What they print, sorted, and what the run was.
fn stations(
    cluster: &str,
    pes: &str,
    (more, what): (&[&str], &str),
) -> (Vec<String>, (String, String, String)) {
    let probe = probe();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let program = ["--stats", &probe, "stations", what, folder];
    let ended = on(cluster, pes, &[more, &program].concat());
    assert_eq!(ended.status, 0, "{ended:?}");
    let lines = ended.sorted_lines();
    let lines = lines.iter().map(|line| (*line).to_owned()).collect();
    (lines, simulated(&ended))
}

#[test]
fn messages_and_puts_of_stations_go_over_each_fabric_alike_in_each_run() {
    for (cluster, _) in KINDS {
        for pes in ["2", "3"] {
            let runs = [(); 2].map(|()| stations(cluster, pes, (&[], "ring")));
            assert_eq!(runs[0], runs[1], "{cluster}");
            assert_eq!(runs[0].0.len().to_string(), pes);
        }
    }
    // A station alone sends to itself.
    stations("two-boards.toml", "1", (&[], "ring"));
}

#[test]
fn stores_of_stations_can_be_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("stores");
    let more = ["--record", record.to_str().unwrap()];
    let plain = stations("two-boards.toml", "2", (&[], "ring"));
    assert_eq!(stations("two-boards.toml", "2", (&more, "ring")), plain);
    let recorded = std::fs::read_dir(record).unwrap().flatten();
    let bytes: u64 = recorded.map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes > 2 * 4 * 100_000, "{bytes}");
}

/// A tenth of a second of looks is some ten thousand hand-overs of the turn, and ends by the clock: an eighth
/// late at most, and never by more than 10 us and a look at each clock.
#[test]
fn who_looks_until_a_time_is_hardly_late() {
    for cluster in [
        "two-boards.toml",
        "htx-pair.toml",
        "peach2-double-ring.toml",
    ] {
        let (lines, (events, ..)) = stations(cluster, "2", (&[], "look"));
        for (pe, line) in lines.iter().enumerate() {
            let late = line.strip_prefix(&format!("PE {pe} is late by "));
            let late = late.and_then(|late| late.strip_suffix(" us"));
            let (looked, waited) = late.and_then(|late| late.split_once(" and ")).unwrap();
            let looked: u64 = looked.parse().unwrap();
            assert!(looked <= 11 && waited == "0", "{cluster}: {line}");
        }
        let events: u64 = events.parse().unwrap();
        assert!(events < 500_000, "{cluster}: {events}");
    }
}

#[test]
fn stations_that_wait_for_each_other_are_named() {
    let probe = probe();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let program = [&probe, "stations", "look-for-ever", folder];
    let ended = on("two-boards.toml", "2", &program);
    assert_eq!(ended.status, 1, "{ended:?}");
    for part in [
        "hostwire: virtual time: deadlock at ",
        "PE 0 on left has waited for a store to its segment since ",
        "PE 1 on right has waited",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {ended:?}");
    }
}
