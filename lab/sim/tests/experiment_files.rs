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
        "49918626949705e8",
        "238ea3952826a556",
        "f37cb845cc8213f8",
        "5e51f495e4b81a23",
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

/// The bytes that crossed a link from its ends A and B.
fn crossed(result: &RunResult, link: &str) -> [u64; 2] {
    ["A", "B"].map(|from| {
        let found = result.links.iter();
        let mut found = found.filter(|used| used.link == link && used.from == from);
        let used = found.next().unwrap_or_else(|| {
            panic!("{link} from {from}: {:?}", result.links);
        });
        assert!(found.next().is_none(), "{link} is there twice");
        let range = match used.payload_bytes {
            // A request without data also takes time.
            0 => 0.0..=1.0,
            _ => f64::MIN_POSITIVE..=1.0,
        };
        assert!(range.contains(&used.utilisation), "{used:?}");
        used.payload_bytes
    })
}

#[test]
fn jobs_of_two_say_how_they_use_the_links() {
    let link = "left.l2 - right.l2";
    // A message is a line, and so is the answer.
    let [there, back] = crossed(&result("kind = \"ping-pong\""), link);
    assert!(there > 64 && back > 64, "{there} {back}");
    let with = |messages| {
        let text = format!("kind = \"stream\"\nmessages = {messages}");
        crossed(&result(&text), link)
    };
    let [few, many] = [with(100), with(300)];
    assert_eq!(many[0] - few[0], 200 * 64);
    // Credits come back in batches.
    assert!(many[1] - few[1] < 100 * 64, "{few:?} {many:?}");
    let with = |size| crossed(&result(&format!("kind = \"put\"\nsize = \"{size}\"")), link);
    let [small, large] = [with("4KiB"), with("64KiB")];
    assert_eq!([large[0] - small[0], large[1] - small[1]], [60 << 10, 0]);
}

#[test]
fn workloads_of_boards_and_chips_say_how_they_use_the_links() {
    let run = |workload: &str| {
        let read = read("test.toml", workload.as_bytes(), &|_| unreachable!());
        let outcome = read.unwrap().run(&Monitor::default(), None).unwrap();
        outcome.results[0].clone()
    };
    let read = run("[workload]\nkind = \"htx-read\"\nsize = \"8B\"");
    assert_eq!(crossed(&read, "host - its board"), [0, 8]);
    let write = run("[workload]\nkind = \"htx-write\"\nsize = \"16B\"\nstores = 10");
    assert_eq!(crossed(&write, "host - its board"), [160, 0]);

    // One message for each phase of the poll, through a cable whose two ends are in one port.
    let message = |size| {
        run(&format!(
            "[workload]\nkind = \"htx-message\"\nsize = \"{size}\""
        ))
    };
    let [short, long] = [message("16B"), message("48B")];
    let [out, around] = ["host - its board", "board - cable"]
        .map(|link| [crossed(&short, link), crossed(&long, link)]);
    let messages = (out[1][0] - out[0][0]) / 32;
    assert_eq!(out[0][0], 16 * messages, "{out:?}");
    assert!(messages > 1);
    assert_eq!(around[1][0] - around[0][0], 32 * messages, "{around:?}");
    assert_eq!([around[0][1], around[1][1]], [0, 0], "nobody is there");

    let answered = run("[workload]\nkind = \"htx-ping-pong\"\nsize = \"16B\"");
    let cable = crossed(&answered, "board 0 - board 1");
    assert!(cable[0] > 16 && cable[0] == cable[1], "{cable:?}");
    let hosts = [0, 1].map(|host| crossed(&answered, &format!("host {host} - its board")));
    assert_eq!(hosts[0], hosts[1], "each sends as much as the other");

    let through = run("[workload]\nkind = \"tca-loopback\"\nsize = \"4B\"");
    let bytes = through.links.iter().map(|used| used.payload_bytes);
    // Host to board A, board A to board B, board B to host.
    assert_eq!(bytes.collect::<Vec<_>>(), [4, 4, 4], "{:?}", through.links);
}
