//! Messages between all processors: counts, latencies, loops, traces.

use std::fmt::Write as _;
use std::io::{BufReader, Cursor};

use hostwire_sim::experiments::file::{Experiment, Monitor, RunResult, Surroundings, read};
use hostwire_sim::record::Recording;

const ROW: &str = "[cluster.link]\nwidth = \"16bit\"\nfrequency = \"800MHz\"\n\
    [cluster.topology]\nkind = \"mesh\"\nsize = [1, 4]\n\
    [cluster.topology.node]\nmemory = \"256MiB\"\nlinks = 4\n";

fn experiment(workload: &str) -> Experiment {
    let text = format!("{ROW}[workload]\n{workload}");
    let nothing = |_: &str| Err("no file".to_owned());
    read("test.toml", text.as_bytes(), &nothing).unwrap_or_else(|bad| panic!("{bad}"))
}

fn run_with(workload: &str, csv: &str, recording: Option<&Recording>) -> RunResult {
    result_of(&experiment(workload), csv.to_owned(), recording)
}

fn result_of(experiment: &Experiment, csv: String, recording: Option<&Recording>) -> RunResult {
    let open = move |_: &str| -> std::io::Result<Box<dyn std::io::BufRead>> {
        Ok(Box::new(BufReader::new(Cursor::new(
            csv.clone().into_bytes(),
        ))))
    };
    let ran = experiment.run_with(&Monitor::default(), recording, Surroundings::opening(&open));
    ran.unwrap_or_else(|error| panic!("{error}"))
        .results
        .remove(0)
}

fn run(keys: &str) -> RunResult {
    run_with(&format!("kind = \"traffic\"\n{keys}"), "", None)
}

fn metric(result: &RunResult, name: &str) -> f64 {
    result.metric(name).unwrap_or_else(|| panic!("{name}"))
}

/// Messages and bytes of each flow, `["n0", "n1"]` and so on.
fn flows(result: &RunResult) -> Vec<(String, String, u64, u64)> {
    let flows = result.flows.iter();
    flows
        .map(|f| (f.from.clone(), f.to.clone(), f.messages, f.payload_bytes))
        .collect()
}

#[test]
fn every_message_arrives_once_at_its_target() {
    for size in [1, 8, 63, 64, 100, 4096] {
        let result = run(&format!(
            "pattern = \"all-to-all\"\nmessages = 9\nsize = \"{size}B\"\nin_flight = 3"
        ));
        let mut want = Vec::new();
        for (from, to) in (0..4).flat_map(|from| (0..4).map(move |to| (from, to))) {
            if from != to {
                want.push((format!("n{from}"), format!("n{to}"), 3, 3 * size));
            }
        }
        assert_eq!(flows(&result), want);
        assert_eq!(metric(&result, "messages"), 36.0);
        let counted: u64 = result.histogram.iter().map(|part| part.messages).sum();
        assert_eq!(counted, 36);
        let largest = result.flows.iter().map(|flow| flow.latency_ns_max);
        assert_eq!(largest.fold(0.0, f64::max), metric(&result, "latency_max"));
    }
    let incast = run("pattern = \"incast\"\nto = \"n2\"\nmessages = 5");
    let to: Vec<_> = incast
        .flows
        .iter()
        .map(|flow| (flow.to.as_str(), flow.messages))
        .collect();
    assert_eq!(to, [("n2", 5); 3]);
}

/// Every socket of a torus of boards with two sockets sends to every other, with as few buffers as there
/// can be: all messages arrive, so that nothing waits in a circle.
#[test]
fn boards_of_two_sockets_do_not_deadlock() {
    let cluster = include_str!("../../../examples/clusters/torus-two-sockets.toml");
    let open = |_: &str| Ok(cluster.as_bytes().to_vec());
    let text = "cluster = \"torus.toml\"\n[parameters]\nposted_command_credits = 1\n\
        posted_data_credits = 1\n[workload]\nkind = \"traffic\"\npattern = \"all-to-all\"\n\
        messages = 62\nsize = \"256B\"\nin_flight = 31\n";
    let experiment = read("test.toml", text.as_bytes(), &open);
    let experiment = experiment.unwrap_or_else(|bad| panic!("{bad}"));
    let result = result_of(&experiment, String::new(), None);
    assert_eq!(result.flows.len(), 32 * 31);
    assert!(result.flows.iter().all(|flow| flow.messages == 2));
}

/// The same on boards of four sockets, whose cables are on two of them: routes go up to a root and down.
#[test]
fn boards_of_four_sockets_do_not_deadlock() {
    let cluster = "[topology]\nkind = \"torus\"\nsize = [4, 4]\n[topology.node]\nmemory = \"1GiB\"\n\
        processors = 4\n";
    let open = |_: &str| Ok(cluster.as_bytes().to_vec());
    let text = "cluster = \"torus.toml\"\n[parameters]\nposted_command_credits = 1\n\
        posted_data_credits = 1\n[workload]\nkind = \"traffic\"\npattern = \"all-to-all\"\n\
        messages = 63\nsize = \"64B\"\nin_flight = 63\n";
    let experiment = read("test.toml", text.as_bytes(), &open);
    let experiment = experiment.unwrap_or_else(|bad| panic!("{bad}"));
    let result = result_of(&experiment, String::new(), None);
    assert_eq!(result.flows.len(), 64 * 63);
    assert!(result.flows.iter().all(|flow| flow.messages == 1));
}

/// Alone on its way a message takes the time of the parts that it passes: 47.716 ns out of the
/// core, for each of `hops` links 72 B at 3.2 GB/s and the trace, 25 ns through each
/// northbridge on the way, 47.716 ns in, 18.3 ns to memory. A packet may meet the periodic CRC
/// on each link, and waits for the next bit time.
#[test]
fn a_message_alone_takes_the_sum_of_its_way() {
    let csv = "time_ns,from,to,bytes\n1000,n0,n1,64\n9000,n0,n3,64\n";
    let result = run_with("kind = \"message-trace\"\ntrace = \"x.csv\"", csv, None);
    let latency = |to: &str| {
        let flow = result.flows.iter().find(|flow| flow.to == to);
        flow.unwrap().latency_ns_mean
    };
    // The trace of 6 inches that a board has: 2 ns for the PHYs and 170 ps an inch.
    let one = latency("n1");
    let three = latency("n3");
    let hop = (three - one) / 2.0;
    let link = hop - 25.0;
    assert!(
        (22.5 + 2.0..22.5 + 2.0 + 4.1 + 3.2).contains(&link),
        "{link}"
    );
    let ends = one - link;
    let want = 47.716 + 47.716 + 18.3;
    assert!((ends - want).abs() < 3.2, "{ends} {want}");
}

/// In a closed loop a sender has at most `in_flight` messages on the way: the latencies of all its
/// messages together are at most so many times the time of the run.
#[test]
fn a_closed_loop_keeps_to_its_number() {
    let mut before = f64::INFINITY;
    for in_flight in [1.0, 2.0, 8.0] {
        let result = run(&format!(
            "pattern = \"permutation\"\nmessages = 200\nin_flight = {in_flight}"
        ));
        let time = metric(&result, "time");
        for flow in &result.flows {
            let sum = flow.latency_ns_mean * flow.messages as f64;
            assert!(sum <= in_flight * time * 1.000_001, "{flow:?} {time}");
        }
        assert!(time < before, "more messages on the way are not slower");
        before = time;
    }
}

/// Beyond the rate of the link the loop fills the way, and latency grows with the run.
#[test]
fn an_open_loop_delivers_what_is_offered_or_what_the_link_carries() {
    let at = |interval: u32, messages: u32| {
        run(&format!(
            "pattern = \"permutation\"\nmessages = {messages}\ninterval = \"{interval}ns\"\n\
             arrivals = \"regular\""
        ))
    };
    let slow = at(500, 400);
    let share = metric(&slow, "bandwidth") / metric(&slow, "offered_bandwidth");
    assert!((0.99..=1.0).contains(&share), "{share}");
    let [short, long] = [400, 1_600].map(|messages| at(12, messages));
    assert!(metric(&long, "bandwidth") < 0.95 * metric(&long, "offered_bandwidth"));
    assert!(metric(&long, "latency_p99") > 2.0 * metric(&short, "latency_p99"));
}

#[test]
fn the_same_file_gives_the_same_run() {
    let keys = "pattern = \"uniform\"\nmessages = 100\ninterval = \"40ns\"";
    let hash = |keys: &str| run(keys).run.event_hash;
    let plain = hash(keys);
    assert_eq!(plain, hash(keys));
    assert_ne!(plain, hash(&format!("{keys}\nseed = 2")));
    let recording = Recording::new();
    let workload = format!("kind = \"traffic\"\n{keys}");
    let recorded = run_with(&workload, "", Some(&recording));
    assert_eq!(plain, recorded.run.event_hash);
    assert_eq!(recorded.seed.as_deref(), Some("1"));
}

/// Messages at regular times, and a trace of the same messages: the same events.
#[test]
fn a_trace_of_the_same_messages_is_the_same_run() {
    let regular = run(
        "pattern = \"all-to-all\"\nmessages = 60\nsize = \"128B\"\ninterval = \"50.5ns\"\n\
         arrivals = \"regular\"",
    );
    let mut csv = String::from("time_ns,from,to,bytes\n");
    for number in 0..60usize {
        for from in 0..4 {
            let to = (from + 1 + number % 3) % 4;
            let ps = (number + 1) * 50_500;
            let (ns, rest) = (ps / 1_000, ps % 1_000);
            writeln!(csv, "{ns}.{rest:03},n{from},n{to},128").unwrap();
        }
    }
    let workload = "kind = \"message-trace\"\ntrace = \"x.csv\"";
    let traced = run_with(workload, &csv, None);
    assert_eq!(traced.run.event_hash, regular.run.event_hash);
    assert_eq!(traced.flows, regular.flows);
    assert_eq!(traced.histogram, regular.histogram);
}

#[test]
fn a_wrong_trace_names_the_file_and_the_line() {
    let open = |_: &str| -> std::io::Result<Box<dyn std::io::BufRead>> {
        Ok(Box::new(Cursor::new(b"time_ns,from,to,bytes\n1,n0,n9,8\n")))
    };
    let experiment = experiment("kind = \"message-trace\"\ntrace = \"x.csv\"");
    let error = experiment
        .run_with(&Monitor::default(), None, Surroundings::opening(&open))
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "x.csv: line 2: there is no processor `n9`"
    );
}
