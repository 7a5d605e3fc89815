//! Ethernet adapters from files: bottlenecks, losses, and what is refused with a place in the
//! file.

use serde_json::Value;

use crate::sim;

const HTEA: &str = "[workload]\nkind = \"htea\"\nnodes = 8\ndata = \"1MiB\"\n\
    packets_per_frame = 20\nnops_per_frame = 50\nincoming_stages = 4\n";

fn ran(text: &str) -> Value {
    let ended = sim(text, &["--json"]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

fn metric(outcome: &Value, name: &str) -> Option<f64> {
    let metrics = outcome["results"][0]["metrics"].as_array()?;
    let metric = metrics.iter().find(|metric| metric["name"] == name)?;
    metric["value"].as_f64()
}

#[test]
fn ports_and_bottlenecks_are_in_the_result() {
    let outcome = ran(HTEA);
    let result = &outcome["results"][0];
    let ports = result["links"].as_array().unwrap();
    // Seven senders, four ports in and one out, both ways where both are used.
    assert_eq!(ports.len(), 2 * 7 + 4 + 1);
    let data: u64 = ports
        .iter()
        .filter(|port| port["link"].as_str().unwrap().starts_with("switch"))
        .map(|port| port["payload_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(data, 1 << 20);
    let parts = result["bottlenecks"].as_array().unwrap();
    for part in [
        "HyperTransport",
        "Ethernet",
        "credits",
        "PCI Express",
        "computation",
    ] {
        let found = parts
            .iter()
            .any(|p| p["part"].as_str().unwrap().contains(part));
        assert!(found, "{part} is missing in {parts:?}");
    }
    assert!(outcome["peak_memory_bytes"].as_u64().unwrap() > 1 << 20);
    let text = sim(HTEA, &[]).stdout;
    for said in [
        "bottlenecks: ",
        " Gb/s ",
        "de-encapsulation, 7 links modulo 4 stages",
        "peak memory",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

/// Everything arrives, however much is lost on the way.
#[test]
fn lost_frames_are_sent_again() {
    let lossy = "[parameters]\nincoming_frames = 4\nretry_frames = 8\n";
    let outcome = ran(&format!(
        "{}{lossy}",
        HTEA.replace("stages = 4", "stages = 1")
    ));
    assert_eq!(metric(&outcome, "packets"), Some(f64::from((1 << 20) / 64)));
    let of = |name| metric(&outcome, name).unwrap();
    assert!(of("lost_frames") > 0.0 && of("discarded_frames") > 0.0);
    assert!(of("resent_frames") >= of("lost_frames"));
    assert_eq!(metric(&ran(HTEA), "lost_frames"), None);
}

/// A collapse is told with its cause, and the values that are named end it.
#[test]
fn a_mac_with_too_few_frames_is_named_and_how_to_end_it() {
    let with = |incoming: u64, retry: u64| {
        format!(
            "{HTEA}[parameters]\nport_gb_s = 100\nincoming_frames = {incoming}\nretry_frames = {retry}\n"
        )
    };
    let lossy = ran(&with(8, 16));
    assert!(metric(&lossy, "lost_frames").unwrap() > 0.0, "{lossy}");
    let hint = lossy["results"][0]["hints"][0].as_str().unwrap();
    // Two of seven links share a MAC.
    for said in ["incoming_frames = 32", "retry_frames = 4", "Go-Back-N"] {
        assert!(hint.contains(said), "{said}: {hint}");
    }
    for text in [with(32, 16), with(8, 4), with(0, 16)] {
        let sound = ran(&text);
        assert_eq!(metric(&sound, "lost_frames"), None, "{text}");
        assert!(sound["results"][0].get("hints").is_none(), "{sound}");
    }
    assert!(
        sim(with(8, 16), &[])
            .stdout
            .contains("hint: an incoming MAC")
    );
}

#[test]
fn what_cannot_be_is_refused() {
    for (old, new, place) in [
        ("nodes = 8", "nodes = 1", ":3:"),
        ("nodes = 8", "nodes = 33", ":3:"),
        ("\"1MiB\"", "\"100B\"", ":4:"),
        ("frame = 20", "frame = 21", ":5:"),
        ("nops_per_frame = 50", "nops_per_frame = 256", ":6:"),
        ("stages = 4", "stages = 0", ":7:"),
        (
            "stages = 4\n",
            "stages = 4\n[parameters]\nbuffers_in = \"75B\"\n",
            ":6:",
        ),
        (
            "stages = 4\n",
            "stages = 4\n[parameters]\nbuffers_out = \"76B\"\n",
            ":6:",
        ),
        (
            "stages = 4\n",
            "stages = 4\n[parameters]\nretry_frames = 0\n",
            ":9:",
        ),
        (
            "stages = 4\n",
            "stages = 4\n[parameters]\nretry_timeout = \"0ns\"\n",
            ":9:",
        ),
    ] {
        assert!(HTEA.contains(old), "{old}");
        let ended = sim(HTEA.replacen(old, new, 1), &[]);
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (2, ""),
            "{new}: {ended:?}"
        );
        assert!(ended.stderr.contains("error["), "{new}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(place),
            "{new} at {place}: {}",
            ended.stderr
        );
    }
}
