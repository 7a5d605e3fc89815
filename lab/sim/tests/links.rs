//! Puts over links of today: every put arrives once under loss and with small buffers, shares of the
//! wires are those worked out by hand, and runs repeat.

use hostwire_sim::experiments::file::{BadExperiment, Experiment, Monitor, RunResult, read};

const FLOWS: [&str; 3] = ["credits", "pause", "drop"];
const RETRIES: [&str; 2] = ["link", "end-to-end"];

fn experiment(text: &str) -> Result<Experiment, BadExperiment> {
    read("test.toml", text.as_bytes(), &|_| Err("none".into()))
}

fn result(workload: &str, parameters: &str) -> RunResult {
    let text = format!("[workload]\nkind = \"links\"\n{workload}\n[parameters]\n{parameters}");
    let experiment = experiment(&text).unwrap_or_else(|bad| panic!("{bad}"));
    let outcome = experiment.run(&Monitor::default(), None);
    let mut outcome = outcome.unwrap_or_else(|error| panic!("{workload}: {error}"));
    outcome.results.remove(0)
}

fn metric(result: &RunResult, name: &str) -> f64 {
    result.metric(name).unwrap_or(0.0)
}

/// Two hosts, one of which sends as fast as its link carries.
fn alone(link: &str) -> RunResult {
    let workload = format!(
        "link = \"{link}\"\npattern = \"incast\"\nhosts = 2\nmessages = 100_000\nin_flight = 2_000"
    );
    result(&workload, "link_frames = 4_096\nbuffer = \"1MiB\"")
}

/// 64 bytes of a put over what it takes of the wires: frames and flits with all headers.
#[test]
fn a_full_link_carries_its_share_of_puts() {
    let shares = [
        ("pcie-3", 64.0 / (64.0 + 16.0 + 8.0)),
        ("pcie-6", 236.0 / 256.0 * 64.0 / 80.0),
        ("cxl-256", 3.0 * 64.0 / 256.0),
        ("ualink-1", 628.0 / 640.0 * 64.0 / 68.0),
        ("ultra-ethernet", 64.0 / (64.0 + 94.0 + 24.0)),
        ("ultra-ethernet-short", 64.0 / (64.0 + 70.0 + 24.0)),
    ];
    for (link, share) in shares {
        let found = metric(&alone(link), "goodput_share") / 100.0;
        let off = found / share - 1.0;
        assert!(
            (-0.01..=1e-9).contains(&off),
            "{link}: {found}, not {share}"
        );
    }
}

/// One put at a time: two cables, two times on the wires, and the switch.
#[test]
fn a_put_alone_takes_its_time_on_the_way() {
    let workload =
        "link = \"ultra-ethernet\"\npattern = \"incast\"\nhosts = 2\nmessages = 3\nin_flight = 1";
    let found = result(workload, "");
    let frame_ns = 182.0 * 8.0 / 200.0;
    let way_ns = 2.0 * (frame_ns + 10.0) + 250.0;
    for name in ["latency_p50", "latency_max"] {
        let latency_ns = metric(&found, name);
        assert!(
            (latency_ns - way_ns).abs() < 0.01,
            "{latency_ns}, not {way_ns}"
        );
    }
}

/// The run ends when every put has arrived in order, and a put that came twice would end it.
#[test]
fn every_put_arrives_whatever_is_lost() {
    for flow in FLOWS {
        for retry in RETRIES {
            let workload = format!(
                "link = \"ultra-ethernet\"\npattern = \"hot-spot\"\nhosts = 5\nmessages = 2_000\n\
                 in_flight = 200\nsize = \"200B\"\nflow = \"{flow}\"\nretry = \"{retry}\""
            );
            let found = result(
                &workload,
                "lost_per_billion = 5_000_000\nbuffer = \"20KiB\"",
            );
            let what = format!("{flow}, {retry}");
            let count = |name| metric(&found, name);
            assert_eq!(
                found
                    .histogram
                    .iter()
                    .map(|part| part.messages)
                    .sum::<u64>(),
                10_000
            );
            assert!(count("damaged_frames") > 20.0, "{what}");
            let (by_link, by_hosts) = (count("repeated_frames"), count("resent_packets"));
            assert_eq!(by_link > 0.0, retry == "link", "{what}");
            assert_eq!(
                by_hosts > 0.0,
                retry == "end-to-end" || flow == "drop",
                "{what}"
            );
            assert_eq!(count("dropped_packets") > 0.0, flow == "drop", "{what}");
        }
    }
}

/// Flits hold several puts, and puts cross from one flit to the next.
#[test]
fn flits_are_repeated_whole() {
    for link in ["pcie-6", "cxl-256", "ualink-1"] {
        let workload = format!(
            "link = \"{link}\"\npattern = \"all-to-all\"\nhosts = 4\nmessages = 3_000\n\
             in_flight = 300\nsize = \"1KiB\""
        );
        let found = result(&workload, "lost_per_billion = 3_000_000\nbuffer = \"4KiB\"");
        assert!(metric(&found, "repeated_frames") > 0.0, "{link}");
        assert_eq!(metric(&found, "resent_packets"), 0.0, "{link}");
    }
}

#[test]
fn runs_repeat() {
    let workload = "link = \"ultra-ethernet\"\npattern = \"uniform\"\nhosts = 6\nmessages = 500\ninterval = \"20ns\"";
    let hash = |seed| {
        result(
            workload,
            &format!("lost_per_billion = 1_000_000\ndamage_seed = {seed}"),
        )
    };
    let [first, again, other] = [1, 1, 2].map(|seed| hash(seed).run.event_hash);
    assert_eq!(first, again);
    assert_ne!(first, other);
}

/// Several sweeps: all values of one with all values of the others, the last one fastest.
#[test]
fn sweeps_multiply() {
    let text = "[workload]\nkind = \"links\"\nlink = \"pcie-6\"\npattern = \"incast\"\nhosts = 2\n\
                messages = 10\n[[sweep]]\nkey = \"workload.flow\"\nvalues = [\"credits\", \"drop\"]\n\
                [[sweep]]\nkey = \"parameters.window\"\nvalues = [8, 16, 32]\n";
    let found = experiment(text).unwrap_or_else(|bad| panic!("{bad}"));
    assert_eq!(found.sweep(), Some("workload.flow, parameters.window"));
    let labels: Vec<_> = found.labels().flatten().collect();
    let want = [
        "credits, 8",
        "credits, 16",
        "credits, 32",
        "drop, 8",
        "drop, 16",
        "drop, 32",
    ];
    assert_eq!(labels, want);
    let many = "values = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, \
                21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32]";
    let mut text = text.to_owned();
    for key in ["messages", "in_flight"] {
        text += &format!("[[sweep]]\nkey = \"workload.{key}\"\n{many}\n");
    }
    let bad = experiment(&text).unwrap_err().to_string();
    assert!(bad.contains("6144 runs in one experiment"), "{bad}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (keys, expected) in [
        ("pattern = \"incast\"", "has no `link`"),
        ("link = \"pcie-7\"\npattern = \"incast\"", "pcie-6"),
        (
            "link = \"pcie-6\"\npattern = \"incast\"\nrate = \"2000GB/s\"",
            "1000GB/s",
        ),
        ("link = \"pcie-6\"\npattern = \"hot-spot\"\nto = 16", "`to`"),
        (
            "link = \"pcie-6\"\npattern = \"incast\"\n[parameters]\nbuffer = \"1KiB\"",
            "less than four",
        ),
    ] {
        let text = format!("[workload]\nkind = \"links\"\n{keys}\n");
        let bad = experiment(&text).unwrap_err().to_string();
        assert!(bad.contains(expected), "{keys}: {bad}");
    }
}
