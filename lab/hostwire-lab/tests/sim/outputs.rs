//! Text, JSON, recordings and plots.

use serde_json::Value;

use crate::{PING_PONG, job, repository, sim};

fn json(text: &str) -> Value {
    let ended = sim(text, &["--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn equal_files_give_equal_hashes_and_numbers() {
    let (a, b) = (json(PING_PONG), json(PING_PONG));
    let comments = json(&format!("# a comment\n{PING_PONG}"));
    for key in ["configuration_hash", "configuration", "metrics"] {
        assert_eq!(a["results"][0][key], b["results"][0][key]);
        assert_eq!(a["results"][0][key], comments["results"][0][key]);
    }
    let event_hash = |outcome: &Value| outcome["results"][0]["run"]["event_hash"].clone();
    assert_eq!(event_hash(&a), event_hash(&b));
    assert_eq!(a["version"], env!("CARGO_PKG_VERSION"));
    let other = json(&format!("{PING_PONG}\n[parameters]\nsfence = \"20ns\"\n"));
    let hash = |outcome: &Value| outcome["results"][0]["configuration_hash"].clone();
    assert_ne!(hash(&a), hash(&other));
    assert_ne!(event_hash(&a), event_hash(&other));
}

#[test]
fn the_papers_ping_pong_comes_out() {
    let outcome = json(PING_PONG);
    let half = outcome["results"][0]["metrics"][0]["value"]
        .as_f64()
        .unwrap();
    assert!((half / 227.0 - 1.0).abs() < 0.01, "{half}");
}

#[test]
fn text_has_defaults_with_their_class() {
    let ended = sim(format!("{PING_PONG}\n[parameters]\nhop = \"30ns\"\n"), &[]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let line = |start: &str| {
        let mut lines = ended.stdout.lines();
        let found = lines.find(|line| line.trim_start().starts_with(start));
        found.unwrap_or_else(|| panic!("no {start} in {}", ended.stdout))
    };
    assert!(line("parameters.hop").ends_with("30ns       (default 25ns, assumed)"));
    assert!(line("parameters.sfence").ends_with("(fitted)"));
    assert!(line("configuration hash").len() > 30);
    assert!(ended.stdout.contains("event hash\n"));
}

/// The longest line of a text.
fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or(0)
}

#[test]
fn texts_fit_a_terminal_and_name_their_units() {
    let shown = |arguments: &[&str], columns: Option<&str>| {
        let mut command = job::hostwire(arguments);
        command.current_dir(repository("")).env_remove("COLUMNS");
        if let Some(columns) = columns {
            command.env("COLUMNS", columns);
        }
        let ended = job::Job::start(command).end();
        assert_eq!(ended.status, 0, "{arguments:?}: {}", ended.stderr);
        assert!(!ended.stdout.contains("()"), "{}", ended.stdout);
        ended.stdout
    };
    for arguments in [
        &["sim", "experiments/pgas-cluster/trace.toml"][..],
        &["sim", "experiments/tca-peach2/ping-pong-over-hops.toml"],
        &["sim", "experiments/htx-board/message.toml"],
        &["plan", "examples/clusters/two-boards.toml", "--registers"],
        &["plan", "examples/clusters/torus-48bit.toml", "--registers"],
        &["reproduce", "htx-board"],
    ] {
        let text = shown(arguments, None);
        assert!(widest(&text) <= 100, "{arguments:?}: {}", widest(&text));
        let wide = shown(arguments, Some("300"));
        assert!(
            wide.lines().count() <= text.lines().count(),
            "{arguments:?}"
        );
    }
    let trace = shown(&["sim", "experiments/pgas-cluster/trace.toml"], Some("80"));
    assert!(widest(&trace) <= 80, "{trace}");
    // Times are in units that read well, and no power of ten is left.
    assert!(
        trace.contains("381.683 us") && trace.contains("10.890 ms"),
        "{trace}"
    );
    let exponent = |word: &str| {
        word.split_once('e').is_some_and(|(a, b)| {
            let digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
            digits(&a.replace('.', "")) && digits(b.trim_start_matches('-')) && a.contains('.')
        })
    };
    assert!(!trace.split_whitespace().any(exponent), "{trace}");
}

#[test]
fn recordings_are_written_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pcap, trace) = (path("a.pcapng"), path("a.pftrace"));
    let ended = sim(PING_PONG, &["--json", "--pcap", &pcap, "--trace", &trace]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let recorded: Value = serde_json::from_str(&ended.stdout).unwrap();
    let plain = json(PING_PONG);
    assert_eq!(
        recorded["results"][0]["run"]["event_hash"],
        plain["results"][0]["run"]["event_hash"]
    );
    let bytes = std::fs::read(&pcap).unwrap();
    assert_eq!(bytes[..4], [0x0a, 0x0d, 0x0d, 0x0a], "a section header");
    assert!(bytes.len() > 1_000);
    assert!(std::fs::read(&trace).unwrap().len() > 1_000);
}

#[test]
fn events_are_written_and_shown() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let shown = |file: &str| {
        let shown = job::run(&["events", "--json", file]);
        assert_eq!(shown.status, 0, "{shown:?}");
        let events = shown.stdout.lines();
        let events = events.map(|line| serde_json::from_str(line).unwrap());
        events.collect::<Vec<Value>>()
    };
    let (all, some, pcap) = (path("all.trace"), path("some.trace"), path("a.pcapng"));
    let ended = sim(PING_PONG, &["--json", "--events", &all, "--pcap", &pcap]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let traced: Value = serde_json::from_str(&ended.stdout).unwrap();
    let run = &json(PING_PONG)["results"][0]["run"];
    assert_eq!(traced["results"][0]["run"]["event_hash"], run["event_hash"]);
    let events = shown(&all);
    let kinds = [
        "processor_step",
        "ht_submit",
        "ht_arrive",
        "processor_write",
    ];
    for kind in kinds {
        assert!(events.iter().any(|event| event["kind"] == kind), "{kind}");
    }
    // The boot is not traced.
    assert!((events.len() as u64) < run["events"].as_u64().unwrap());
    assert!(std::fs::read(&pcap).unwrap().len() > 1_000, "both at once");
    let arguments = ["--events", &some, "--events-kind", "ht_arrive"];
    let ended = sim(PING_PONG, &arguments);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let arrived = events.iter().filter(|event| event["kind"] == "ht_arrive");
    assert_eq!(shown(&some), arrived.cloned().collect::<Vec<_>>());
    // A model with events of its own, and none that has any.
    let htea = std::fs::read_to_string(repository("experiments/htoe/one-packet.toml")).unwrap();
    let ended = sim(&htea, &["--events", &all]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let events = shown(&all);
    assert!(
        events.iter().any(|event| event["kind"] == "deliver"),
        "{events:?}"
    );
    let memory = "[workload]\nkind = \"memory-stream\"\n";
    let ended = sim(memory, &["--events", &all]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
}

/// The use of an Ethernet is in the results, and its frames can be recorded.
#[test]
fn frames_on_ethernet_are_counted_and_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let pcap = folder.path().join("a.pcapng").to_str().unwrap().to_owned();
    let text = "[workload]\nkind = \"ethernet\"\nhosts = 2\nlines = 100\n";
    let ended = sim(text, &["--json", "--pcap", &pcap]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    let links = outcome["results"][0]["links"].as_array().unwrap();
    let sender = links
        .iter()
        .find(|link| link["link"] == "host 1 - switch" && link["from"] == "A");
    assert_eq!(sender.unwrap()["payload_bytes"], 6400);
    assert!(std::fs::read(&pcap).unwrap().len() > 6_400);
}

#[test]
fn sweeps_are_plotted() {
    let folder = tempfile::tempdir().unwrap();
    let plots = folder.path().join("plots");
    let swept = PING_PONG
        .replace("size = \"56B\"", "")
        .replace("two boards", "<two> & boards");
    let swept = format!("{swept}\n[sweep]\nkey = \"workload.size\"\nvalues = [\"8B\", \"64B\"]\n");
    let ended = sim(&swept, &["--plot", plots.to_str().unwrap()]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let svg = std::fs::read_to_string(plots.join("half-round-trip.svg")).unwrap();
    assert!(svg.contains("half round trip, ns"), "the axis has its unit");
    assert!(svg.contains("workload.size, B"));
    assert!(svg.contains("&lt;two&gt; &amp; boards"), "text is escaped");
}

#[test]
fn outputs_that_make_no_sense_are_refused_before_the_run() {
    let swept = format!("{PING_PONG}\n[sweep]\nkey = \"workload.order\"\nvalues = [\"weak\"]\n");
    let ended = sim(&swept, &["--pcap", "/nonexistent/a"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("[sweep]"), "{}", ended.stderr);
    let ended = sim(&swept, &["--events", "/nonexistent/a"]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("[sweep]"), "{}", ended.stderr);
    let ended = sim(PING_PONG, &["--plot", "/nonexistent/a"]);
    assert_eq!(ended.status, 2);
    let ended = sim(PING_PONG, &["--pcap", "/nonexistent/a"]);
    assert_eq!(ended.status, 1);
    assert!(ended.stderr.contains("cannot write /nonexistent/a"));
}

#[test]
fn standard_input_is_a_file_too() {
    let ended = job::run_with_input(&["sim", "-"], PING_PONG);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    assert!(ended.stdout.starts_with("two boards (hostwire "));
}
