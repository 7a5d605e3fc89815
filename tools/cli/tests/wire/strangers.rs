//! Other senders of frames with the same EtherType. See launchers/hosts.rs for two jobs on
//! one interface, and for the frames of an earlier one.

use crate::hosts::{Steady, may_make_hosts};
use crate::programs::fault_probe;

/// A steady job, and a file with frames of it that a stranger on its host has recorded.
fn recorded() -> (Steady, tempfile::NamedTempFile) {
    let steady = Steady::start(4, &["--hosts", "2", "--stats"], &[]);
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    steady.on_host_of(0, &[&fault_probe(), "frames", "record", path, "300"]);
    (steady, file)
}

/// Sends from the other host: the frames that come to a host are those that are recorded there.
fn send(steady: &Steady, how: &str, file: &tempfile::NamedTempFile, times: &str) {
    let path = file.path().to_str().unwrap();
    steady.on_host_of(2, &[&fault_probe(), "frames", how, path, times]);
}

#[test]
fn frames_that_are_sent_again_later_are_dropped() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let (steady, file) = recorded();
    send(&steady, "replay", &file, "20");
    let ended = steady.end_well();
    assert!(dropped(&ended.stderr) > 300, "{ended:#?}");
}

#[test]
fn a_flood_of_garbage_is_dropped() {
    let Some(_turn) = may_make_hosts() else {
        return;
    };
    let (steady, file) = recorded();
    send(&steady, "garbage", &file, "30000");
    let ended = steady.end_well();
    assert!(dropped(&ended.stderr) > 300, "{ended:#?}");
}

/// Frames that the job has dropped, for all reasons. A few may be frames of the job that were sent twice. Frames that
/// come while a host is busy are lost before they are counted.
fn dropped(stats: &str) -> u64 {
    let lines = stats.lines();
    let lines = lines.filter_map(|line| line.strip_prefix("hostwire: dropped, "));
    let sums = lines.map(|line| {
        let mut numbers = line
            .split_whitespace()
            .skip_while(|word| word.parse::<u64>().is_err());
        numbers.next().map_or(0, |sum| sum.parse().unwrap())
    });
    sums.sum()
}
