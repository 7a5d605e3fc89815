//! Workloads of memory systems: bad input, traces, regions.

use serde_json::Value;

use hostwire_testing::{is_installed, need};

use crate::{job, refused, repository, sim};

const STREAM: &str = "\
[workload]
kind = \"memory-stream\"
elements = 100_000
scenario = \"16P\"
";

fn json(text: &str) -> Value {
    let ended = sim(text, &["--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn metric(outcome: &Value, name: &str) -> f64 {
    let metrics = outcome["results"][0]["metrics"].as_array().unwrap();
    let found = metrics.iter().find(|metric| metric["name"] == name);
    found.unwrap_or_else(|| panic!("{name}"))["value"]
        .as_f64()
        .unwrap()
}

#[test]
fn what_cannot_be_is_pointed_at() {
    let with = |old: &str, new: &str| STREAM.replace(old, new);
    refused(&with("\"16P\"", "\"17P\""), "value", ":4:12");
    refused(&with("scenario = \"16P\"", ""), "missing-key", ":1:1");
    refused(&with("100_000", "0"), "value", ":3:12");
    refused(&with("scenario", "scenery"), "unknown-key", ":4:1");
    refused(
        &format!("cluster = \"x\"\n{STREAM}"),
        "contradiction",
        ":1:11",
    );
    refused(&format!("{STREAM}memory = \"1MB\"\n"), "unit", ":5:10");
    refused(&format!("{STREAM}memory = \"100B\"\n"), "value", ":5:10");
    refused(&format!("{STREAM}in_flight = 0\n"), "value", ":5:13");
    refused(
        &format!("{STREAM}placement = \"random\"\n"),
        "value",
        ":5:13",
    );
    refused(
        &format!("{STREAM}[parameters]\nsfence = \"1ns\"\n"),
        "unknown-key",
        ":6:1",
    );
    refused(
        &format!("{STREAM}[parameters]\nline = \"48B\"\n"),
        "memory",
        ":1:1",
    );
    refused(
        &format!("{STREAM}[parameters]\ncache = \"100B\"\n"),
        "memory",
        ":1:1",
    );
    let twice = format!("{STREAM}[[workload.region]]\nkind = \"local\"\nsize = \"8MiB\"\n");
    refused(&twice, "contradiction", ":4:12");
    let even = "[workload]\nkind = \"break-even\"\nmemory = \"2MiB\"\nworking_set = \"1MiB\"\n";
    refused(even, "value", ":4:15");
}

#[test]
fn regions_that_cannot_be_are_pointed_at() {
    let region = |keys: &str| {
        let head = "[workload]\nkind = \"memory-stream\"\nelements = 1000\n";
        format!("{head}[[workload.region]]\n{keys}")
    };
    refused(&region("kind = \"remote\"\n"), "missing-key", ":4:1");
    refused(&region("size = \"1MiB\"\n"), "missing-key", ":4:1");
    refused(
        &region("kind = \"far\"\nsize = \"1MiB\"\n"),
        "value",
        ":5:8",
    );
    refused(
        &region("kind = \"remote\"\nsize = \"1000B\"\n"),
        "value",
        ":6:8",
    );
    refused(
        &region("kind = \"remote\"\nsize = \"1MiB\"\nread_size = \"0B\"\n"),
        "value",
        ":7:13",
    );
    refused(
        &region("kind = \"remote\"\nsize = \"1MiB\"\nresident = \"1MiB\"\n"),
        "unknown-key",
        ":7:1",
    );
    refused(
        &region("kind = \"swap\"\nsize = \"1MiB\"\npage_in = \"1us\"\n"),
        "missing-key",
        ":7:11",
    );
    refused(
        &region("kind = \"swap\"\nsize = \"1MiB\"\nresident = \"8B\"\n"),
        "memory",
        ":1:1",
    );
    refused(
        &region("kind = \"local\"\nsize = \"1TiB\"\ncount = 4096\n"),
        "value",
        ":6:8",
    );
    // It is sound, but STREAM does not fit.
    let small = region("kind = \"local\"\nsize = \"8KiB\"\n");
    let ended = sim(small, &[]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.stderr.contains("more than the 1 pages"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_map_of_ones_own_counts() {
    let map = |read: &str| {
        format!(
            "[workload]\nkind = \"memory-stream\"\nelements = 100_000\n\
             [[workload.region]]\nowner = \"a\"\nkind = \"local\"\nsize = \"8MiB\"\n\
             [[workload.region]]\nowner = \"b\"\nkind = \"remote\"\nsize = \"4MiB\"\ncount = 2\n\
             read = \"{read}\"\nread_size = \"64B\"\n"
        )
    };
    let (slow, fast) = (json(&map("4us")), json(&map("250ns")));
    assert!(metric(&slow, "time") > metric(&fast, "time"));
    let regions = &slow["results"][0]["configuration"]["workload"]["regions"];
    assert_eq!(regions[1]["count"], 2);
    assert_eq!(regions[1]["read_ps"], 4_000_000);
    assert_eq!(regions[1]["owner"], "b");
    let used = &slow["results"][0]["regions"];
    assert_eq!(
        (&used[0]["owner"], &used[1]["kind"]),
        (&"a".into(), &"remote".into())
    );
    let lines = |index: usize| used[index]["lines_read"].as_u64().unwrap() as f64;
    assert_eq!(lines(0) + lines(1), metric(&slow, "lines_read"));
    assert!((lines(0) / lines(1) - 1.0).abs() < 0.02, "8 MiB each");
}

#[test]
fn a_recording_has_nothing_to_watch() {
    let ended = sim(STREAM, &["--pcap", "/nonexistent/a"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("has none"), "{}", ended.stderr);
}

#[test]
fn a_budget_ends_a_run() {
    let ended = sim(format!("{STREAM}[limits]\nevents = 1000\n"), &[]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.stderr.contains("1000 transactions"),
        "{}",
        ended.stderr
    );
}

/// A trace, its experiment beside it.
fn traced(trace: &str, format: &str) -> job::Ended {
    let folder = tempfile::tempdir().unwrap();
    let text = format!(
        "[workload]\nkind = \"memory-trace\"\nscenario = \"16P\"\ntrace = \"p.trace\"\n\
         format = \"{format}\"\nmemory = \"1MiB\"\n"
    );
    std::fs::write(folder.path().join("p.trace"), trace).unwrap();
    let file = folder.path().join("experiment.toml");
    std::fs::write(&file, text).unwrap();
    job::run(&["sim", file.to_str().unwrap(), "--json"])
}

#[test]
fn traces_are_found_beside_their_experiment_and_hashed() {
    let lackey = traced("==1== x\nI  4000,3\n L 1000,8\n M 900000,8\n", "lackey");
    let simple = traced("work 1\nload 0x1000 8\nmodify 0x900000 8\n", "simple");
    let [a, b]: [Value; 2] = [lackey, simple].map(|ended| {
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    });
    assert_eq!(metric(&a, "accesses"), 3.0);
    assert_eq!(metric(&a, "time"), metric(&b, "time"));
    let hash = |outcome: &Value| {
        let configuration = &outcome["results"][0]["configuration"];
        configuration["workload"]["trace_hash"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_ne!(hash(&a), hash(&b), "they are different files");
    assert_ne!(
        a["results"][0]["configuration_hash"],
        b["results"][0]["configuration_hash"]
    );
}

#[test]
fn bad_traces_say_where() {
    for (trace, said) in [
        ("load 0 8\nlaod 8 8\n", "p.trace: line 2: `laod`"),
        ("load 0 8\nload 0\n", "p.trace: line 2: expected"),
    ] {
        let ended = traced(trace, "simple");
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""));
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    let text = "[workload]\nkind = \"memory-trace\"\nscenario = \"1P\"\ntrace = \"none\"\n";
    let ended = sim(text, &[]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("none: "), "{}", ended.stderr);
}

/// Traces of Valgrind are understood; only where it is installed.
#[test]
fn the_recorder_records() {
    if !is_installed("valgrind", &need::VALGRIND) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("p.trace");
    let recorded = std::process::Command::new("sh")
        .arg(repository("tools/memory-trace/record.sh"))
        .arg(&trace)
        .args(["sh", "-c", "exit 3"])
        .output()
        .unwrap();
    assert_eq!(
        recorded.status.code(),
        Some(3),
        "the program's status: {recorded:?}"
    );
    let text = "[workload]\nkind = \"memory-trace\"\nscenario = \"16P\"\ntrace = \"p.trace\"\n";
    let file = folder.path().join("experiment.toml");
    std::fs::write(&file, text).unwrap();
    let ended = job::run(&["sim", file.to_str().unwrap(), "--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert!(metric(&outcome, "accesses") > 10_000.0);
    assert!(metric(&outcome, "instructions") > 10_000.0);
}
