//! The project's own links on a modelled network: real frames that are lost, doubled and
//! overtaken. That every line comes once, in order and with its bytes is checked by the
//! receiving host; a run in which one does not is an error.

use hostwire_sim::experiments::file::{Monitor, RunResult, read};

fn run(workload: &str, parameters: &str) -> Result<RunResult, String> {
    let text = format!(
        "[workload]\nkind = \"ethernet\"\n{workload}\n[parameters]\nretry_first = \"1ms\"\n\
         retry_min = \"100us\"\n{parameters}"
    );
    let nothing = |_: &str| Err("no file".to_owned());
    let experiment = read("test.toml", text.as_bytes(), &nothing);
    let experiment = experiment.unwrap_or_else(|bad| panic!("{bad}"));
    let mut outcome = experiment
        .run(&Monitor::default(), None)
        .map_err(|e| e.to_string())?;
    Ok(outcome.results.remove(0))
}

fn sound(workload: &str, parameters: &str) -> RunResult {
    run(workload, parameters).unwrap_or_else(|error| panic!("{error}"))
}

fn metric(result: &RunResult, name: &str) -> f64 {
    result.metric(name).unwrap_or(0.0)
}

/// A frame of 1500 bytes takes 20 packets of 72 bytes behind a header of 20; Ethernet adds 38.
#[test]
fn without_faults_the_port_carries_full_frames() {
    let result = sound("hosts = 2\nlines = 40_000", "");
    let want = 10.0 * (20.0 * 64.0) / (20.0 * 72.0 + 20.0 + 38.0);
    let goodput = metric(&result, "goodput");
    assert!((goodput / want - 1.0).abs() < 0.01, "{goodput} {want}");
    for name in [
        "resent_frames",
        "lost_frames",
        "dropped_frames",
        "doubled_frames",
    ] {
        assert_eq!(metric(&result, name), 0.0, "{name}");
    }
    assert_eq!(result.flows.len(), 1);
    assert_eq!(result.flows[0].messages, 40_000);
}

#[test]
fn lines_come_once_and_in_order_whatever_frames_do() {
    for (parameters, counted) in [
        ("lost_per_million = 20_000", "lost_frames"),
        ("doubled_per_million = 100_000", "doubled_frames"),
        ("delayed_per_million = 50_000", "delayed_frames"),
        (
            "lost_per_million = 10_000\ndoubled_per_million = 10_000\n\
             delayed_per_million = 10_000\nframes_in_flight = 8\ncredits = 64\ncredit_batch = 16",
            "resent_frames",
        ),
        ("switch_buffer = \"16KiB\"", "dropped_frames"),
    ] {
        for seed in 1..4 {
            for pattern in ["incast", "ring"] {
                let workload = format!("hosts = 4\npattern = \"{pattern}\"\nlines = 3_000");
                let result = sound(&workload, &format!("{parameters}\ndamage_seed = {seed}"));
                let senders = if pattern == "ring" { 4 } else { 3 };
                let lines: u64 = result.flows.iter().map(|flow| flow.messages).sum();
                assert_eq!(lines, senders * 3_000, "{parameters} {pattern}");
                // In a ring no port gets more than it can send on.
                let happens = pattern == "incast" || counted != "dropped_frames";
                assert!(
                    !happens || metric(&result, counted) > 0.0,
                    "{parameters} {pattern}"
                );
            }
        }
    }
}

#[test]
fn faults_cost_time_and_copies_cost_none_of_the_sender() {
    let plain = sound("lines = 20_000", "");
    let doubled = sound("lines = 20_000", "doubled_per_million = 10_000");
    assert_eq!(metric(&doubled, "resent_frames"), 0.0);
    let lossy = sound("lines = 20_000", "lost_per_million = 10_000");
    assert!(metric(&lossy, "resent_frames") >= metric(&lossy, "lost_frames"));
    assert!(metric(&lossy, "goodput") < metric(&plain, "goodput"));
}

#[test]
fn the_same_file_gives_the_same_run() {
    let hash = |seed: u32| {
        let faults = format!("lost_per_million = 10_000\ndamage_seed = {seed}");
        sound("hosts = 3\nlines = 2_000", &faults).run.event_hash
    };
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn a_network_that_carries_nothing_is_an_error() {
    let error = run("lines = 10", "lost_per_million = 1_000_000").unwrap_err();
    assert!(
        error.contains("host 1: ") || error.contains("have not arrived"),
        "{error}"
    );
}
