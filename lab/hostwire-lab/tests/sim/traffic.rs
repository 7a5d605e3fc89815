//! Messages between all processors from files: what runs, and what is refused.

use serde_json::Value;

use crate::{refused, sim};

const INCAST: &str = r#"[cluster.topology]
kind = "mesh"
size = [1, 3]
[cluster.topology.node]
memory = "64MiB"
links = 4

[workload]
kind = "traffic"
pattern = "incast"
to = "n1"
size = "64B"
messages = 20
"#;

fn with(old: &str, new: &str) -> String {
    assert!(INCAST.contains(old), "{old}");
    INCAST.replace(old, new)
}

#[test]
fn text_and_json_have_flows_and_latencies() {
    let ended = sim(INCAST, &[]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    for part in [
        "latency_p99",
        "latencies",
        "flows",
        "n0    n1",
        "n2    n1",
        "####",
    ] {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    let ended = sim(INCAST, &["--json"]);
    let outcome: Value = serde_json::from_str(&ended.stdout).unwrap();
    let result = &outcome["results"][0];
    assert_eq!(result["flows"].as_array().unwrap().len(), 2);
    assert_eq!(result["flows"][0]["messages"], 20);
    assert!(!result["histogram"].as_array().unwrap().is_empty());
    let workload = &result["configuration"]["workload"];
    assert_eq!(workload["loop"], "closed", "{workload}");
    assert_eq!(workload["to"], "n1", "{workload}");
}

/// Results of points that were processes of their own have everything, too.
#[test]
fn sweeps_keep_flows_and_histograms() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_str().unwrap();
    let swept = [
        "--sweep",
        "workload.in_flight=1,2",
        "--results",
        path,
        "--json",
    ];
    let outcome = |arguments: &[&str]| -> Value {
        let ended = sim(INCAST, arguments);
        assert_eq!(ended.status, 0, "{}", ended.stderr);
        serde_json::from_str(&ended.stdout).unwrap()
    };
    let outcome = outcome(&swept);
    let results = outcome["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    for result in results {
        assert_eq!(result["flows"].as_array().unwrap().len(), 2, "{result}");
        assert!(!result["histogram"].as_array().unwrap().is_empty());
        assert_eq!(result["seed"], "1");
    }
}

#[test]
fn what_cannot_be_is_refused() {
    refused(&with("\"incast\"", "\"ring\""), "value", ":10:11");
    let message = refused(&with("to = \"n1\"", "to = \"n7\""), "processor", ":11:6");
    assert!(message.contains("there is no processor `n7`"), "{message}");
    refused(&with("to = \"n1\"\n", ""), "missing-key", ":8:1");
    refused(&with("\"incast\"", "\"uniform\""), "unknown-key", ":11:1");
    refused(&with("64B", "2MiB"), "value", ":12:8");
    refused(&with("= 20", "= 0"), "value", ":13:12");
    let message = refused(&with("= 20", "= 8_388_608"), "value", ":13:12");
    assert!(message.contains("too many"), "{message}");
    let both = with("= 20", "= 20\ninterval = \"1us\"\nin_flight = 2");
    refused(&both, "contradiction", ":15:13");
    refused(&with("= 20", "= 20\ninterval = \"0ns\""), "value", ":14:12");
    refused(
        &with("= 20", "= 20\narrivals = \"regular\""),
        "unknown-key",
        ":14:1",
    );
    refused(&with("= 20", "= 20\nshare = 50"), "unknown-key", ":14:1");
    let hot = with("\"incast\"", "\"hot-spot\"").replace("= 20", "= 20\nshare = 101");
    refused(&hot, "value", ":14:9");
    let trace = with("\"traffic\"", "\"message-trace\"");
    refused(&trace, "missing-key", ":8:1");
}

#[test]
fn links_over_ethernet_that_cannot_be_are_refused() {
    let text = |keys: &str| format!("[workload]\nkind = \"ethernet\"\n{keys}\n");
    refused(&text("hosts = 1"), "value", ":3:9");
    refused(&text("hosts = 65"), "value", ":3:9");
    refused(&text("pattern = \"uniform\""), "value", ":3:11");
    refused(&text("[parameters]\nframe = \"10KiB\""), "value", ":4:9");
    refused(&text("[parameters]\ncredits = 0"), "no-credit", ":4:11");
    let message = refused(&text("[parameters]\nretry_min = \"1s\""), "unit", ":4:13");
    assert!(message.contains("ms"), "{message}");
    let clustered = format!("cluster = \"x.toml\"\n{}", text("hosts = 2"));
    let _ = refused(&clustered, "cluster", ":1:11");
}
