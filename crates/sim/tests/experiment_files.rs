//! Experiment files run the project's own library, the same way every time.

use hostwire_sim::experiments::file::{BadExperiment, Experiment, Monitor, RunResult, read};
use hostwire_sim::experiments::jobs::{self, Order, Pair};
use hostwire_sim::experiments::tccluster::{TWO_BOARDS, booted};
use hostwire_sim::experiments::{ExperimentError, Row, tccluster};
use hostwire_sim::record::Recording;

fn experiment(workload: &str) -> Experiment {
    let text = format!(
        "cluster = \"two-boards.toml\"\n[workload]\nfrom = \"left\"\nto = \"right\"\n{workload}"
    );
    let read: Result<_, BadExperiment> =
        read("test.toml", text.as_bytes(), &|_| Ok(TWO_BOARDS.into()));
    read.unwrap_or_else(|bad| panic!("{bad}"))
}

fn result(workload: &str) -> RunResult {
    let outcome = experiment(workload).run(&Monitor::default(), None);
    outcome.unwrap_or_else(|e| panic!("{e}")).results.remove(0)
}

fn value(workload: &str, metric: &str) -> f64 {
    let result = result(workload);
    result.metric(metric).unwrap_or_else(|| panic!("{metric}"))
}

/// As the claims of `hostwire reproduce`, and bit for bit.
#[test]
fn files_measure_with_the_jobs_that_reproduce_the_papers() {
    let mut machine = booted(TWO_BOARDS).unwrap();
    let mut pair = Pair::new(&mut machine, [0, 1]);
    let half = value("kind = \"ping-pong\"", "half_round_trip");
    let job = jobs::ping_pong(&mut pair, 56, Order::Weak).unwrap();
    assert_eq!(half, job.half_round_trip_ns);
    let rows: Vec<Row> = tccluster::reproduce().unwrap();
    let row = |id: &str| rows.iter().find(|row| row.id == id).unwrap().simulated;
    assert_eq!(Some(half), row("T1"));
    let put = "kind = \"put\"\nsize = \"1MiB\"";
    assert_eq!(Some(value(put, "receiver_bandwidth")), row("T4"));
    let fenced = format!("{put}\norder = \"fenced\"");
    assert_eq!(Some(value(&fenced, "receiver_bandwidth")), row("T5"));
    let stream = "kind = \"stream\"\nmessages = 16_384";
    let lines_mib_s = value(stream, "message_rate") * 1e6 * 64.0 / f64::from(1 << 20);
    let published = row("T6").unwrap();
    assert!((lines_mib_s / published - 1.0).abs() < 1e-12);
}

/// A fence per message costs time, one before it too; a line costs as much as its bytes.
#[test]
fn orders_and_sizes_cost_what_the_rings_do() {
    let half = |keys: &str| value(&format!("kind = \"ping-pong\"\n{keys}"), "half_round_trip");
    let weak = half("size = \"56B\"");
    assert_eq!(half("size = \"1B\""), weak, "a line is a line");
    assert!(half("order = \"strict\"") > weak + 5.0, "a fence in front");
    let long = half("size = \"1KiB\"");
    let fenced = half("size = \"1KiB\"\norder = \"fenced\"");
    assert!(weak < long && long < fenced, "{weak} {long} {fenced}");
    let faster = value(
        "kind = \"ping-pong\"\n[parameters]\nmemory_write = \"8.3ns\"",
        "half_round_trip",
    );
    assert!((weak - faster - 10.0).abs() < 1.0, "{weak} {faster}");
}

/// The same in debug and release, on any machine, recorded or not.
#[test]
fn hashes_are_pinned() {
    let workloads = [
        "kind = \"ping-pong\"",
        "kind = \"ping-pong\"\norder = \"fenced\"\nsize = \"1KiB\"",
        "kind = \"stream\"\nmessages = 500",
        "kind = \"put\"\nsize = \"64KiB\"",
    ];
    let known = [
        "1e58b615b03cf0b8",
        "79dc1271f40ec008",
        "40a55adeb5893ab0",
        "e0c8d79328e88c28",
    ];
    let hashes = workloads.map(|workload| {
        let plain = result(workload).run.event_hash;
        let recording = Recording::new();
        let recorded = experiment(workload).run(&Monitor::default(), Some(&recording));
        let recorded = recorded.unwrap().results.remove(0).run.event_hash;
        assert_eq!(recorded, plain, "{workload}");
        let mut capture = Vec::new();
        recording.write_pcapng(&mut capture).unwrap();
        assert!(capture.len() > 10_000, "{workload}: {}", capture.len());
        plain
    });
    assert_eq!(hashes, known);
}

#[test]
fn a_job_can_be_interrupted_and_limited() {
    let monitor = Monitor::default();
    let long = experiment("kind = \"stream\"\nmessages = 8_000_000");
    let ended = std::thread::scope(|scope| {
        scope.spawn(|| {
            while monitor.progress().0 == 0 {
                std::thread::yield_now();
            }
            monitor.cancel();
        });
        long.run(&monitor, None)
    });
    assert!(
        matches!(ended, Err(ExperimentError::Cancelled { .. })),
        "{ended:?}"
    );
    let limited = experiment("kind = \"stream\"\n[limits]\nevents = 5_000");
    let ended = limited.run(&Monitor::default(), None).unwrap_err();
    assert!(ended.to_string().starts_with("5000 events"), "{ended}");
}
