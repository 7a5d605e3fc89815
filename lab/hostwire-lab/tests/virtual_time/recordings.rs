//! What jobs on modelled hardware leave: captures, traces and events.

use std::collections::BTreeSet;

use hostwire_testing::{is_installed, need};
use rustix::process::Signal;

use crate::{arguments, cluster, folder, job, on, probe, simulated};

/// The program that says hello in a ring, on so many PEs of a cluster.
fn hello(cluster: &str, pes: &str, more: &[&str]) -> job::Ended {
    probe();
    let hello = folder().join("hello");
    assert!(
        hello.exists(),
        "build it first: cargo build --package hostwire-examples --bins"
    );
    let ended = on(
        cluster,
        pes,
        &[more, &[&hello.display().to_string()]].concat(),
    );
    assert_eq!(ended.status, 0, "{ended:?}");
    ended
}

/// What tshark says of a capture: a line of these fields for each packet.
fn tshark(file: &str, fields: &[&str]) -> String {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tools/wireshark/hostwire.lua"
    );
    let mut command = std::process::Command::new("tshark");
    command.args([
        "-X",
        &format!("lua_script:{script}"),
        "-r",
        file,
        "-T",
        "fields",
    ]);
    command.args(fields.iter().flat_map(|field| ["-e", *field]));
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{errors}");
    assert!(!errors.to_lowercase().contains("lua:"), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// What tshark and a Perfetto trace show of a job: packets of these protocols, with their addresses, and
/// these links.
fn check(cluster: &str, pcap: &str, trace: &str, (protocols, interfaces): (&str, &[&str])) {
    let fields = [
        "_ws.col.Protocol",
        "frame.interface_name",
        "hypertransport.address",
        "pcietlp.address",
        "htxboard.form",
        "eth.src",
        "eth.dst",
        "_ws.expert",
    ];
    let text = tshark(pcap, &fields);
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    let found: BTreeSet<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(found, protocols.split(' ').collect(), "{cluster}");
    let trace = std::fs::read(trace).unwrap();
    for interface in interfaces {
        let name = interface.as_bytes();
        assert!(
            rows.iter().any(|row| row[1] == *interface),
            "{cluster}: {interface}"
        );
        assert!(
            trace.windows(name.len()).any(|part| part == name),
            "{interface}"
        );
    }
    for row in &rows {
        assert_eq!(row[7], "", "{cluster}: {row:?}");
        match row[0] {
            "HT" => assert!(row[2].starts_with("0x"), "{cluster}: {row:?}"),
            "PCIe" => assert!(row[3].starts_with("0x"), "{cluster}: {row:?}"),
            "HTX" => assert_eq!(row[4] == "2", row[2].starts_with("0x"), "{row:?}"),
            _ => {
                let mac = |text: &str| text.starts_with("02:00:00:00:00:");
                assert!(mac(row[5]) && mac(row[6]) && row[5] != row[6], "{row:?}");
            }
        }
    }
    let on_ethernet = rows.iter().filter(|row| row[0] == "HToE");
    let with_writes = on_ethernet.filter(|row| row[2].starts_with("0x")).count();
    assert_eq!(with_writes > 0, protocols.contains("HToE"), "{cluster}");
}

/// Each cluster has other links: all of them are in its capture, with the addresses of what crosses
/// them, and in its Perfetto trace.
#[test]
fn all_links_are_recorded_with_addresses() {
    if !is_installed("tshark", &need::TSHARK) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (cluster, pes, protocols, interfaces) in [
        ("two-boards.toml", "2", "HT", &["left.l2 - right.l2"][..]),
        ("htx-switch.toml", "4", "HT HTX", &["a.htx", "d.p0 - s.p3"]),
        (
            "peach2-ring.toml",
            "4",
            "PCIe",
            &["n0 host - n0.north", "n3.east - n0.west"],
        ),
        (
            "htea-eight.toml",
            "8",
            "HT HToE",
            &["n7.l2 - adapter", "n7.adapter - switch"],
        ),
        (
            "mixed.toml",
            "5",
            "HT HTX HToE PCIe",
            &[
                "a0.l1 - a1.l1",
                "a0.board.p0 - b0.board.p0",
                "a0.bridge - a0.chip.north",
                "a0.chip.east - c0.chip.west",
                "c0.adapter - switch",
            ],
        ),
        (
            "several.toml",
            "9",
            "HT HTX HToE PCIe",
            &[
                "hub.p1.l2 - board1",
                "hub.board1.p0 - b1.board.p0",
                "hub.p2.bridge1 - hub.chip1.north",
                "hub.p3.adapter1 - switch",
            ],
        ),
    ] {
        let file = |name: &str| folder.path().join(name).display().to_string();
        let (pcap, trace) = (file("a.pcapng"), file("a.pftrace"));
        let ended = hello(
            cluster,
            pes,
            &["--stats", "--pcap", &pcap, "--trace", &trace],
        );
        let plain = hello(cluster, pes, &["--stats"]);
        assert_eq!(simulated(&ended), simulated(&plain), "{cluster}");
        check(cluster, &pcap, &trace, (protocols, interfaces));
        // All of these links were used, and the busiest ones are shown.
        let shown = ended
            .stderr
            .lines()
            .filter(|line| line.contains("hostwire: link "));
        assert!(shown.count() > 1, "{ended:?}");
    }
}

/// The link of each family is in the statistics of a small cluster.
#[test]
fn the_use_of_links_is_that_of_all_families() {
    for (cluster, link) in [
        ("two-boards.toml", "left.l2 - right.l2 ->"),
        ("htx-pair.toml", "left - its board ->"),
        ("htx-pair.toml", "left.p0 - right.p0 <-"),
        ("peach2-ring.toml", "n0.east - n1.west ->"),
        ("htea-eight.toml", "n0.adapter - switch <-"),
    ] {
        let ended = hello(cluster, "2", &["--stats"]);
        let line = ended
            .stderr
            .lines()
            .find(|line| line.contains(&format!("link {link}")));
        let line = line.unwrap_or_else(|| panic!("{link}: {ended:?}"));
        assert!(!line.contains(" 0 B of data"), "{line}");
    }
}

#[test]
fn a_run_leaves_its_events() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let all = file("all.trace");
    let probe = probe();
    let program = ["--stats", &probe[..], "turns", "lines"];
    let run = |recorded: &[&str]| on("two-boards.toml", "2", &[recorded, &program].concat());
    let ended = run(&["--events", &all]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let plain = run(&[]);
    assert_eq!(
        simulated(&ended),
        simulated(&plain),
        "tracing changes nothing"
    );
    let shown = |arguments: &[&str]| {
        let shown = job::run(&[&["events"], arguments].concat());
        assert_eq!(shown.status, 0, "{shown:?}");
        shown.stdout
    };
    let lines = shown(&[&all]);
    let simulated = ended.stderr.split("virtual time: ").nth(1).unwrap();
    let events: usize = simulated.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(lines.lines().count(), events);
    let times = lines
        .lines()
        .map(|line| line.split_whitespace().next().unwrap());
    let times: Vec<f64> = times.map(|time| time.parse().unwrap()).collect();
    assert!(times[0] == 0.0 && times.is_sorted(), "{times:?}");
    let json = shown(&["--json", &all]);
    let json: Vec<serde_json::Value> = json
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(json.len(), events);
    let mut outside = 0;
    for ((line, object), time) in lines.lines().zip(&json).zip(times) {
        assert_eq!(object["time_ns"].as_f64(), Some(time));
        for key in ["component", "kind", "digest"] {
            assert!(
                line.contains(object[key].as_str().unwrap()),
                "{key}: {line}"
            );
        }
        outside += usize::from(object["source"].is_null());
    }
    assert!(outside > 0);
}

/// The wanted events are the matching ones of a whole trace.
#[test]
fn a_run_leaves_the_events_that_are_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (all, some) = (file("all.trace"), file("some.trace"));
    let probe = probe();
    let program = [&probe[..], "turns", "lines"];
    let run = |recorded: &[&str]| on("two-boards.toml", "2", &[recorded, &program].concat());
    let ended = run(&["--events", &all]);
    assert_eq!(ended.status, 0, "{ended:?}");
    let shown = |file: &str| {
        let shown = job::run(&["events", "--json", file]);
        assert_eq!(shown.status, 0, "{shown:?}");
        let lines = shown.stdout.lines();
        let lines = lines.map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<serde_json::Value>>()
    };
    let json = shown(&all);
    let which = [
        "--events-of=left,right",
        "--events-kind=processor_*",
        "--events-in=10ns..1us",
    ];
    let ended = run(&[&["--events", &some][..], &which].concat());
    assert_eq!(ended.status, 0, "{ended:?}");
    let is_wanted = |object: &&serde_json::Value| {
        let has = |key: &str, text: &str| object[key].as_str().unwrap().starts_with(text);
        let time = object["time_ns"].as_f64().unwrap();
        let component = object["component"].as_str().unwrap();
        ["left", "right"].contains(&component)
            && has("kind", "processor_")
            && (10.0..1000.0).contains(&time)
    };
    let kept: Vec<_> = json.iter().filter(is_wanted).cloned().collect();
    assert!(!kept.is_empty() && kept.len() < json.len());
    assert_eq!(shown(&some), kept);
    for (option, said) in [
        (
            "--events-of=middle",
            "no component is called \"middle\"; there are: left",
        ),
        ("--events-kind=ht_", "no kind of events is called \"ht_\""),
        ("--events-in=5us", "expected FROM..UNTIL"),
        ("--events-in=5us..4us", "ends before it begins"),
    ] {
        let ended = run(&["--events", &some, option]);
        assert_ne!(ended.status, 0, "{option}");
        assert!(ended.stderr.contains(said), "{ended:?}");
    }
    let alone = run(&["--events-of=left"]);
    assert_eq!(alone.status, 2, "{alone:?}");
    assert!(alone.stderr.contains("--events"), "{alone:?}");
    let nowhere = run(&["--events", "/nothing/here"]);
    assert_eq!(nowhere.status, 2, "{nowhere:?}");
    assert!(
        nowhere.stderr.contains("cannot write /nothing/here"),
        "{nowhere:?}"
    );
}

/// The error has to come before a long run, and before its program begins.
#[test]
fn names_that_no_event_has_end_the_command_before_anything_starts() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (path, events, begun) = (file("one.toml"), file("a.trace"), file("begun"));
    let boards = cluster("two-boards.toml");
    let program = format!(
        "cluster = \"{boards}\"\n[workload]\nkind = \"program\"\n\
         program = [\"touch\", \"{begun}\"]\npes = 2\n"
    );
    let answers = format!(
        "cluster = \"{boards}\"\n[workload]\nkind = \"ping-pong\"\nfrom = \"left\"\nto = \"right\"\n"
    );
    let run = ["run", "--cluster", &boards, "-n2", "touch", &begun];
    let sim = ["sim", &path];
    for (text, command) in [
        (&program, &run[..4]),
        (&program, &sim[..]),
        (&answers, &sim[..]),
    ] {
        std::fs::write(&path, text).unwrap();
        for (option, near) in [
            ("--events-of=right,lefft", "\"left\"? There are: left, "),
            (
                "--events-kind=ht_submitt",
                "\"ht_submit\"? There are: ht_submit, ",
            ),
        ] {
            let behind = run.get(command.len()..).unwrap_or_default();
            let behind = if command[0] == "run" { behind } else { &[] };
            let options = ["--events", &events, option];
            let ended = job::run(&[command, &options, behind].concat());
            assert_eq!(ended.status, 2, "{ended:?}");
            assert!(
                ended.stderr.contains(&format!("did you mean {near}")),
                "{ended:?}"
            );
            assert_eq!(ended.stdout, "");
            for file in [&begun, &events] {
                assert!(!std::path::Path::new(file).exists(), "{file}: {ended:?}");
            }
        }
    }
}

/// An experiment that runs a program: the launcher of the program records it.
#[test]
fn a_program_of_an_experiment_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (path, pcap, events) = (file("one.toml"), file("a.pcapng"), file("a.trace"));
    let text = format!(
        "cluster = \"{}\"\n[workload]\nkind = \"program\"\nprogram = [\"{}\", \"turns\", \"figures\"]\n\
         pes = 2\nheap = \"4MiB\"\n",
        cluster("two-boards.toml"),
        probe()
    );
    std::fs::write(&path, text).unwrap();
    let recorded = ["sim", &path, "--pcap", &pcap, "--events", &events];
    let ended = job::run(&[&recorded[..], &["--events-in=1ns..1us"]].concat());
    assert_eq!(ended.status, 0, "{ended:?}");
    let capture = std::fs::read(&pcap).unwrap();
    assert!(hostwire_testing::pcapng::packets(&capture).len() > 1);
    let shown = job::run(&["events", &events]);
    assert!(
        shown.status == 0 && shown.stdout.lines().count() > 10,
        "{shown:?}"
    );
}

#[test]
fn a_trace_of_a_killed_run_says_so_and_one_of_an_interrupted_run_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let file = path.display().to_string();
    let (cluster, probe) = (cluster("two-boards.toml"), probe());
    let endless = ["--events", &file, &probe, "turns", "spin", "/nothing"];
    let endless = arguments(&cluster, "2", &endless);
    for signal in [Signal::KILL, Signal::INT] {
        let mut running = job::Job::start(job::hostwire(&endless));
        assert_eq!(running.line(), "PE 0 has begun");
        let begun = || std::fs::metadata(&path).is_ok_and(|file| file.len() > 0);
        job::eventually("the trace has begun", begun);
        running.signal_until_end(signal);
        let shown = job::run(&["events", &file]);
        if signal == Signal::KILL {
            assert_eq!(shown.status, 2, "{shown:?}");
            let count = shown.stdout.lines().count();
            let after = match count {
                0 => "no event;".to_owned(),
                1 => "1 event, at ".to_owned(),
                _ => format!("{count} events, the last at "),
            };
            let why = format!("the trace has no end: the run was cut off after {after}");
            assert!(shown.stderr.contains(&why), "{shown:?}");
        } else {
            assert_eq!(shown.status, 0, "{shown:?}");
            assert!(shown.stdout.lines().count() > 0);
        }
        std::fs::remove_file(&path).unwrap();
    }
}

#[test]
fn events_of_broken_files_are_refused_with_the_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.trace");
    let file = path.display().to_string();
    hello("two-boards.toml", "2", &["--events", &file]);
    let whole = std::fs::read(&path).unwrap();
    let all = job::run(&["events", &file]).stdout;
    let shown = |bytes: &[u8], arguments: &[&str]| {
        std::fs::write(&path, bytes).unwrap();
        let shown = job::run(&[&["events", &file], arguments].concat());
        assert_eq!(shown.status, 2, "{shown:?}");
        shown
    };
    let cut = shown(&whole[..whole.len() - 1], &[]);
    let at = whole.len() - 24;
    assert!(
        cut.stderr
            .contains(&format!("23 bytes are left at byte {at}")),
        "{cut:?}"
    );
    let count = all.lines().count();
    let why =
        format!("the trace has no end: the run was cut off after {count} events, the last at");
    assert!(cut.stderr.contains(&why), "{cut:?}");
    assert_eq!(cut.stdout, all);
    // All before it is there.
    let last = at - 24;
    let shorter = shown(&whole[..last], &[]);
    assert_eq!(shorter.stdout.lines().count() + 1, count);
    assert!(all.starts_with(&shorter.stdout));
    assert!(
        shorter
            .stderr
            .contains(&format!("the file ends at byte {last}")),
        "{shorter:?}"
    );
    let at = last;
    let mut broken = whole.clone();
    broken[at + 11] = 0xff;
    let broken = shown(&broken, &["--json"]);
    assert!(
        broken
            .stderr
            .contains(&format!("the record at byte {at} is broken")),
        "{broken:?}"
    );
    let other = shown(b"[cluster]\n", &[]);
    assert!(
        other
            .stderr
            .contains("expected it to begin with \"HWTRACE3\""),
        "{other:?}"
    );
    // A name that would move the cursor.
    let mut named = whole;
    named[16] = 0x1b;
    std::fs::write(&path, named).unwrap();
    let named = job::run(&["events", &file]);
    assert!(
        named.status == 0 && !named.stdout.contains('\u{1b}'),
        "{named:?}"
    );
    let missing = job::run(&["events", "/nothing/here"]);
    assert_eq!(missing.status, 2);
    assert!(
        missing.stderr.contains("cannot read /nothing/here"),
        "{missing:?}"
    );
}
