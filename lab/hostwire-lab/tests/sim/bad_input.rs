//! Files that cannot work: status 2, and the place in the file if there is one.

use crate::{PING_PONG, job, refused, sim};

fn with(old: &str, new: &str) -> String {
    assert!(PING_PONG.contains(old), "{old}");
    PING_PONG.replace(old, new)
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let text = with("size = \"56B\"", "sise = \"56B\"");
    let message = refused(&text, "unknown-key", "experiment.toml:24:1");
    assert!(message.contains("did you mean `size`?"), "{message}");
    let text = format!("{PING_PONG}\n[parameters]\nsfense = \"5ns\"\n");
    assert!(refused(&text, "unknown-key", ":27:1").contains("`sfence`"));
    let text = with("\"ping-pong\"", "\"ping-pang\"");
    assert!(refused(&text, "value", ":21:8").contains("did you mean \"ping-pong\""));
    let text = with("to = \"right\"\nsize", "to = \"rigth\"\nsize");
    assert!(refused(&text, "processor", ":23:6").contains("did you mean \"right\""));
}

#[test]
fn units_are_required() {
    refused(&with("\"56B\"", "64"), "unit", ":24:8");
    refused(&with("\"56B\"", "\"64\""), "unit", ":24:8");
    refused(&with("\"56B\"", "\"64ns\""), "unit", ":24:8");
    refused(&with("\"800MHz\"", "800"), "unit", ":16:13");
}

#[test]
fn sizes_that_no_message_has() {
    refused(&with("\"56B\"", "\"0B\""), "value", ":24:8");
    refused(&with("\"56B\"", "\"1TiB\""), "value", ":24:8");
    let small = with(
        "memory = \"8GiB\"\n\n[[cluster.cable",
        "memory = \"16MiB\"\n\n[[cluster.cable",
    );
    let text = small.replace("\"56B\"", "\"16MiB\"");
    let text = text.replace("\"ping-pong\"", "\"put\"");
    refused(&text, "memory", ":24:8");
}

#[test]
fn keys_of_streams_and_puts() {
    let stream = with("\"ping-pong\"", "\"stream\"");
    refused(&format!("{stream}messages = 1\n"), "value", ":25:12");
    // The cost of a send is a parameter of the processor, the same for all workloads.
    refused(&format!("{stream}work = \"1ns\"\n"), "unknown-key", ":25:1");
    let many = stream.replace("\"56B\"", "\"16MiB\"");
    let message = refused(&format!("{many}messages = 1_000\n"), "value", ":25:12");
    assert!(message.contains("too many"), "{message}");
    let put = with("\"ping-pong\"", "\"put\"");
    refused(&put.replace("\"56B\"", "\"65MiB\""), "value", ":24:8");
    // A put has no order of its own, and a ping-pong no number of messages.
    refused(&format!("{put}order = \"strict\"\n"), "value", ":25:9");
    refused(
        &format!("{PING_PONG}messages = 3\n"),
        "unknown-key",
        ":25:1",
    );
}

#[test]
fn links_that_rtl_does_not_have() {
    let text = |kind: &str, key: &str| {
        format!("[workload]\nkind = \"htx-{kind}\"\ndevice = \"rtl\"\n{key}\n")
    };
    for key in ["width = \"4bit\"", "frequency = \"400MHz\""] {
        let message = refused(&text("read", key), "value", ":3:10");
        assert!(message.contains("half the link's"), "{message}");
    }
    let message = refused(&text("ping-pong", "port = \"sfp\""), "value", ":4:8");
    assert!(message.contains("no SFPs"), "{message}");
}

#[test]
fn zero_credits() {
    let text = format!("{PING_PONG}\n[parameters]\nposted_data_credits = 0\n");
    refused(&text, "no-credit", ":27:23");
}

#[test]
fn clusters_that_cannot_be() {
    // A cable to itself, a link used twice, overlapping addresses, no way.
    refused(
        &with("to = \"right.l2\"", "to = \"left.l2\""),
        "self-link",
        "experiment.toml:",
    );
    let twice = "[[cluster.cable]]\nfrom = \"left.l2\"\nto = \"right.l3\"\n\n[workload]";
    refused(
        &with("[workload]", twice),
        "contradictory-link",
        "experiment.toml:",
    );
    let text = PING_PONG
        .replace("name = \"left\"", "name = \"left\"\nbase = \"8GiB\"")
        .replace("name = \"right\"", "name = \"right\"\nbase = \"12GiB\"");
    refused(&text, "map-overlap", "experiment.toml:");
    let alone = "[[cluster.node]]\nname = \"alone\"\nmemory = \"8GiB\"\n\n[workload]";
    refused(
        &with("[workload]", alone),
        "unreachable",
        "experiment.toml:",
    );
    let text = PING_PONG.replace(
        "[[cluster.node]]\nname",
        "[[cluster.node]]\nlink_width = \"8bit\"\nname",
    );
    refused(&text, "link-width", "experiment.toml:");
}

#[test]
fn clusters_in_files() {
    let text = "cluster = \"missing.toml\"\n[workload]\nkind = \"all-to-all\"\n";
    refused(text, "cluster", ":1:11");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("cluster.toml"), "[[node]]\nname = 1\n").unwrap();
    let text = "cluster = \"cluster.toml\"\n[workload]\nkind = \"all-to-all\"\n";
    std::fs::write(path("experiment.toml"), text).unwrap();
    let ended = job::run(&["sim", path("experiment.toml").to_str().unwrap()]);
    assert_eq!(ended.status, 2);
    assert!(
        ended.stderr.contains("cluster.toml:2:8"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("experiment.toml:1:11"),
        "{}",
        ended.stderr
    );
}

#[test]
fn sweeps_that_make_no_sense() {
    let swept = |key: &str, values: &str| {
        format!("{PING_PONG}\n[sweep]\nkey = \"{key}\"\nvalues = {values}\n")
    };
    refused(&swept("workload.size", "[]"), "value", ":28:10");
    refused(&swept("workload.size", "[\"64B\", 65]"), "unit", ":28:18");
    refused(&swept("workload.sise", "[\"64B\"]"), "unknown-key", ":27:7");
    refused(&swept("sweep.key", "[1]"), "sweep", ":27:7");
    refused(&swept("title.x", "[1]"), "sweep", ":27:7");
    refused(&swept("", "[1]"), "sweep", ":27:7");
    refused(
        &swept("cluster.node.9.memory", "[\"1GiB\"]"),
        "sweep",
        ":27:7",
    );
}

/// Every packet is damaged: the link gives up, and both sides wait without end.
#[test]
fn a_workload_that_can_never_finish() {
    let text = with(
        "\"800MHz\"\nlength = \"30cm\"\nmedium = \"coax\"",
        "\"2400MHz\"",
    );
    let text = format!("{text}\n[parameters]\ndamaged_packets_per_million = 1_000_000\n");
    let ended = sim(&text, &[]);
    assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{ended:?}");
    for part in [
        "deadlock at",
        "PE 0 on left has waited for a store",
        "PE 1 on right has waited for a store",
        "left.l2 - right.l2 waits for initialisation of the link",
    ] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    // On a link without retry damage changes nothing; an error says so.
    let text = format!("{PING_PONG}\n[parameters]\ndamaged_packets_per_million = 5\n");
    refused(&text, "no-retry", ":26:1");
}

#[test]
fn a_budget_of_events_ends_a_run() {
    let ended = sim(format!("{PING_PONG}\n[limits]\nevents = 100\n"), &[]);
    assert_eq!(ended.status, 2);
    assert!(ended.stderr.contains("100 events"), "{}", ended.stderr);
}

#[test]
fn files_that_are_none() {
    let message = |bytes: &[u8]| {
        let ended = sim(bytes, &[]);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{ended:?}");
        ended.stderr
    };
    assert!(message(b"title = \"a\xff\"").contains("not UTF-8"));
    assert!(message(b"").contains("no `workload`"));
    assert!(message(&vec![b'#'; (4 << 20) + 1]).contains("error[size]"));
    assert!(message("[".repeat(100_000).as_bytes()).contains("error[toml]"));
    let folder = tempfile::tempdir().unwrap();
    for file in [
        folder.path().to_str().unwrap(),
        "/nonexistent.toml",
        "/dev/zero",
    ] {
        let ended = job::run(&["sim", file]);
        assert_eq!((ended.status, ended.stdout.as_str()), (2, ""), "{file}");
        assert!(!ended.stderr.is_empty());
    }
}

#[test]
fn every_truncation_is_refused_or_runs() {
    for end in (0..PING_PONG.len()).step_by(7) {
        let ended = sim(&PING_PONG[..end], &[]);
        assert!(matches!(ended.status, 0 | 2), "{end}: {ended:?}");
        assert_eq!(ended.status == 2, !ended.stderr.is_empty(), "{end}");
    }
}
