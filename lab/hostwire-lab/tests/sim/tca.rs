//! TCA sub-clusters from files: what runs, and what is refused with a place in the file.

use serde_json::Value;

use crate::{refused, sim};

const DMA: &str = r#"[cluster]
fabric = "peach2"
[cluster.topology]
kind = "ring"
nodes = 4
[cluster.topology.node]
memory = "8GiB"
gpus = 1
gpu_memory = "5GiB"

[workload]
kind = "tca-dma"
from = "n0"
source = "host"
to = "n2"
target = "gpu0"
size = "1KiB"
descriptors = 16
"#;

fn with(old: &str, new: &str) -> String {
    assert!(DMA.contains(old), "{old}");
    DMA.replace(old, new)
}

fn metric(outcome: &Value, name: &str) -> Option<f64> {
    let metrics = outcome["results"][0]["metrics"].as_array()?;
    let metric = metrics.iter().find(|metric| metric["name"] == name)?;
    metric["value"].as_f64()
}

#[test]
fn a_chain_runs_and_damage_is_replayed() {
    let run = |text: &str| -> Value {
        let ended = sim(text, &["--json"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let sound = run(DMA);
    assert!(metric(&sound, "bandwidth").unwrap() > 1.0, "{sound}");
    assert_eq!(metric(&sound, "replayed_tlps"), None);
    let arrived = metric(&sound, "arrival_time").unwrap();
    let used = sound["results"][0]["links"].as_array().unwrap();
    let bytes = |from: &str| {
        let link = used
            .iter()
            .find(|link| link["link"].as_str().unwrap().starts_with(from));
        link.unwrap()["payload_bytes"].as_u64().unwrap()
    };
    assert_eq!(
        bytes("n0.east"),
        16 << 10,
        "the cable carries the data once"
    );
    let damaged = format!("{DMA}[parameters]\ndamaged_tlps_per_million = 100_000\n");
    let damaged = run(&damaged);
    assert!(metric(&damaged, "replayed_tlps").unwrap() > 0.0);
    assert!(metric(&damaged, "arrival_time").unwrap() > arrived);
}

/// Cables longer than the replay timer are told, and the timeout that is named ends it.
#[test]
fn a_replay_timer_that_is_too_short_is_named_and_how_to_end_it() {
    let run = |more: &str| -> Value {
        let text = with("1KiB", "4KiB").replace("= 16", "= 255");
        let ended = sim(
            format!("{text}[parameters]\ncable = \"1us\"\n{more}"),
            &["--json"],
        );
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let slow = run("");
    assert!(metric(&slow, "replayed_tlps").unwrap() > 100.0, "{slow}");
    let hint = slow["results"][0]["hints"][0].as_str().unwrap();
    let (_, named) = hint.split_once("replay_timeout = \"").unwrap();
    let named = named.split('"').next().unwrap();
    let sound = run(&format!("replay_timeout = \"{named}\"\n"));
    assert_eq!(metric(&sound, "replayed_tlps"), None, "{named}");
    assert!(sound["results"][0].get("hints").is_none(), "{sound}");
    let bandwidth = |outcome: &Value| metric(outcome, "arrival_bandwidth").unwrap();
    assert!(bandwidth(&sound) > bandwidth(&slow), "{slow} {sound}");
}

/// A chain whose links are faster than the inside of the chips is faster with a wider inside.
#[test]
fn a_wider_inside_carries_more() {
    let of = |bus: &str| {
        let text = with("\"host\"", "\"internal\"").replace("\"n2\"", "\"n0\"");
        let text = text.replace("\"gpu0\"", "\"host\"").replace("1KiB", "4KiB");
        let fast = "link_rate = \"8GT/s\"\ndma_gap = \"0ns\"";
        let text = format!("{text}[parameters]\n{fast}\nchip_bus = \"{bus}\"\n");
        let ended = sim(&text, &["--json"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        metric(
            &serde_json::from_str(&ended.stdout).unwrap(),
            "arrival_bandwidth",
        )
        .unwrap()
    };
    assert!(of("32B") > 1.2 * of("16B"), "{} {}", of("32B"), of("16B"));
}

/// A store crosses three links whole, one after the other: the time of one more byte on each
/// is that of the formula. What chips and hosts do takes the same time.
#[test]
fn links_are_as_fast_as_rate_and_width_say() {
    let text = with("\"tca-dma\"", "\"tca-ping-pong\"");
    let text = text.replace("to = \"n2\"", "to = \"n1\"");
    let keys = ["source", "target", "size", "descriptors"];
    let lines = text.lines();
    let rest = lines.filter(|line| !keys.iter().any(|key| line.starts_with(key)));
    let text = rest.collect::<Vec<_>>().join("\n");
    let half_ns = |link: &str, size: u64| -> f64 {
        let text = format!("{text}\nsize = \"{size}B\"\n[parameters]\n{link}\n");
        let ended = sim(&text, &["--json"]);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        metric(
            &serde_json::from_str(&ended.stdout).unwrap(),
            "half_round_trip",
        )
        .unwrap()
    };
    for (link, byte_ns) in [
        ("link_rate = \"5GT/s\"", 0.25),
        ("link_rate = \"2.5GT/s\"\nlink_lanes = 1", 4.0),
        ("link_rate = \"5GT/s\"\nlink_lanes = 4", 0.5),
        ("link_rate = \"8GT/s\"\nlink_lanes = 2", 0.5 * 130.0 / 128.0),
    ] {
        let longer_ns = half_ns(link, 64) - half_ns(link, 4);
        let want_ns = 3.0 * 60.0 * byte_ns;
        assert!(
            (longer_ns - want_ns).abs() < 0.01,
            "{link}: {longer_ns} {want_ns}"
        );
    }
}

#[test]
fn what_cannot_be_is_refused() {
    refused(&with("\"n2\"", "\"n4\""), "node", ":15:6");
    refused(&with("\"gpu0\"", "\"gpu2\""), "value", ":16:10");
    let message = refused(&with("\"gpu0\"", "\"gpu1\""), "transfer", ":18:15");
    assert!(message.contains("node 2 has no gpu1"), "{message}");
    let message = refused(&with("= 16", "= 256"), "transfer", ":18:15");
    assert!(message.contains("a table has 255"), "{message}");
    refused(&with("1KiB", "1022B"), "transfer", ":18:15");
    refused(&with("1KiB", "6GiB"), "transfer", ":18:15");
    refused(&with("1KiB", "0B"), "transfer", ":18:15");
    let many = with("nodes = 4", "nodes = 32")
        .replace("8GiB", "1GiB")
        .replace("5GiB", "1GiB");
    let message = refused(&many, "sub-cluster", ":11:1");
    assert!(message.contains("2 to 16 nodes, got 32"), "{message}");
    refused(&with("8GiB", "64GiB"), "map-reach", ":7:10");
    let credits = format!("{DMA}[parameters]\ndata_credits = 15\n");
    refused(&credits, "no-credit", ":20:16");
    let credits = format!("{DMA}[parameters]\nheader_credits = 0\n");
    refused(&credits, "no-credit", ":20:18");
    let link = |key: &str| format!("{DMA}[parameters]\n{key}\n");
    let message = refused(&link("link_rate = \"6GT/s\""), "value", ":20:13");
    assert!(message.contains("8GT/s, 16GT/s, 32GT/s"), "{message}");
    refused(&link("link_lanes = 3"), "value", ":20:14");
    refused(&link("payload = \"300B\""), "value", ":20:11");
    refused(&link("payload = \"8KiB\""), "value", ":20:11");
    refused(&link("chip_clock = \"0MHz\""), "value", ":20:14");
    let large = link("data_credits = 16\npayload = \"512B\"");
    refused(&large, "no-credit", ":20:16");
    let ping = with("\"tca-dma\"", "\"tca-ping-pong\"");
    refused(&ping, "unknown-key", ":14:1");
    refused("[workload]\nkind = \"tca-dma\"\n", "missing-key", ":1:1");
    let with_cluster = with("\"tca-dma\"", "\"tca-loopback\"");
    refused(&with_cluster, "contradiction", ":1:1");
}

#[test]
fn tlps_are_recorded_and_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (pcap, trace) = (path("a.pcapng"), path("a.pftrace"));
    let hash = |arguments: &[&str]| {
        let ended = sim(DMA, &[&["--json"], arguments].concat());
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
        outcome["results"][0]["run"]["event_hash"].clone()
    };
    assert_eq!(hash(&["--pcap", &pcap, "--trace", &trace]), hash(&[]));
    // 16 KiB cross three links at least, twice: into the chip's memory and on.
    assert!(std::fs::metadata(&pcap).unwrap().len() > 3 * (16 << 10));
    let trace = std::fs::read(&trace).unwrap();
    let has = |text: &[u8]| trace.windows(text.len()).any(|part| part == text);
    assert!(has(b"MWr 256 B") && has(b"n0.east - n1.west"));
}

#[test]
fn fabrics_are_not_mixed() {
    let ping = with("\"tca-dma\"", "\"ping-pong\"");
    let message = refused(&ping, "fabric", ":1:1");
    assert!(message.contains("runs on a TCCluster"), "{message}");
    let opterons = "[[cluster.node]]\nname = \"n0\"\nmemory = \"8GiB\"\n\
        [[cluster.node]]\nname = \"n1\"\nmemory = \"8GiB\"\n\
        [[cluster.cable]]\nfrom = \"n0.l2\"\nto = \"n1.l2\"\nwidth = \"16bit\"\n\
        frequency = \"800MHz\"\nmedium = \"coax\"\n\
        [workload]\nkind = \"tca-ping-pong\"\nfrom = \"n0\"\nto = \"n1\"\n";
    let message = refused(opterons, "fabric", ":1:");
    assert!(message.contains("TCA sub-cluster"), "{message}");
}
