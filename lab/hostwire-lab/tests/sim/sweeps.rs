//! Sweeps from the command line: parallel, kept, and going on.

use std::path::Path;
use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::job::{self, Ended, Job, eventually, hostwire};
use crate::{PING_PONG, repository};

const SIZES: &str = "workload.size=8B..64B:x2";

/// A folder with an experiment file in it.
fn experiment(text: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("experiment.toml"), text).unwrap();
    folder
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = hostwire(&[&["sim", "experiment.toml"], arguments].concat());
    command.current_dir(folder);
    command
}

fn sim(folder: &Path, arguments: &[&str]) -> Ended {
    Job::start(command(folder, arguments)).end()
}

fn json(ended: &Ended) -> Value {
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

/// Names of the files of a folder of results.
fn kept(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.collect()
}

/// The part of a result that is the same in every run.
fn lasting(outcome: &Value) -> Vec<Value> {
    let mut results = outcome["results"].as_array().unwrap().clone();
    for result in &mut results {
        let run = result["run"].as_object_mut().unwrap();
        for key in ["wall_s", "events_per_s", "virtual_over_wall"] {
            run.remove(key).unwrap();
        }
    }
    results
}

#[test]
fn a_sweep_is_that_of_a_file() {
    let folder = experiment(PING_PONG);
    let swept = json(&sim(
        folder.path(),
        &["--sweep", SIZES, "-j", "2", "--json"],
    ));
    let text = PING_PONG.replace("size = \"56B\"", "");
    let sweep = "[sweep]\nkey = \"workload.size\"\nvalues = [\"8B\", \"16B\", \"32B\", \"64B\"]\n";
    let in_file = json(&crate::sim(format!("{text}\n{sweep}"), &["--json"]));
    assert_eq!(lasting(&swept), lasting(&in_file));
    assert_eq!(swept["sweep"], in_file["sweep"]);

    let files = kept(&folder.path().join("experiment.sweep"));
    assert_eq!(files.len(), 4, "{files:?}");
    for result in swept["results"].as_array().unwrap() {
        let hash = result["configuration_hash"].as_str().unwrap();
        let path = folder.path().join(format!("experiment.sweep/{hash}.json"));
        let kept: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(kept["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(kept["results"][0]["configuration_hash"], *hash);
        assert_eq!(kept["results"][0]["seed"], "1");
        assert_eq!(kept["results"][0], *result, "to the last digit");
    }
}

#[test]
fn the_sweep_of_a_file_is_replaced() {
    let text = format!("{PING_PONG}\n[sweep]\nkey = \"workload.to\"\nvalues = [\"nobody\"]\n");
    let folder = experiment(&text);
    let ended = sim(
        folder.path(),
        &["--sweep", "parameters.hop=20ns..30ns:5ns", "--json"],
    );
    let outcome = json(&ended);
    assert_eq!(outcome["sweep"], "parameters.hop");
    let values = outcome["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["value"].clone());
    assert_eq!(values.collect::<Vec<_>>(), ["20ns", "25ns", "30ns"]);
}

#[test]
fn what_is_kept_is_not_run_again() {
    let folder = experiment(PING_PONG);
    let first = json(&sim(
        folder.path(),
        &["--sweep", SIZES, "--json", "--results", "kept"],
    ));
    let hash = first["results"][2]["configuration_hash"].as_str().unwrap();
    std::fs::remove_file(folder.path().join(format!("kept/{hash}.json"))).unwrap();
    let second = json(&sim(
        folder.path(),
        &["--sweep", SIZES, "--json", "--results", "kept"],
    ));
    assert_eq!(lasting(&first), lasting(&second));
    for (place, (old, new)) in [0, 1, 3].map(|p| (p, (&first["results"][p], &second["results"][p])))
    {
        // Wall time and all: the run was not repeated.
        assert_eq!(old, new, "{place}");
    }
    // A longer sweep takes what the shorter one has.
    let longer = sim(
        folder.path(),
        &[
            "--sweep",
            "workload.size=8B..128B",
            "--json",
            "--results",
            "kept",
        ],
    );
    assert_eq!(json(&longer)["results"][1], first["results"][1]);
    assert_eq!(kept(&folder.path().join("kept")).len(), 5);
}

#[test]
fn results_of_other_versions_are_run_again_and_damaged_ones_named() {
    let folder = experiment(PING_PONG);
    let arguments = ["--sweep", "workload.size=8B,16B", "--json"];
    let first = json(&sim(folder.path(), &arguments));
    let hash = first["results"][0]["configuration_hash"].as_str().unwrap();
    let path = folder.path().join(format!("experiment.sweep/{hash}.json"));
    std::fs::write(&path, r#"{ "version": "0.0.1", "results": [7] }"#).unwrap();
    assert_eq!(
        lasting(&json(&sim(folder.path(), &arguments))),
        lasting(&first)
    );
    for damaged in ["", "{", r#"{ "version": "VERSION", "results": [] }"#] {
        let damaged = damaged.replace("VERSION", env!("CARGO_PKG_VERSION"));
        std::fs::write(&path, &damaged).unwrap();
        let ended = sim(folder.path(), &arguments);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        assert!(ended.stderr.contains(hash), "{}", ended.stderr);
        assert!(ended.stderr.contains("remove it"), "{}", ended.stderr);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            damaged,
            "nothing is lost"
        );
    }
}

#[test]
fn an_interrupted_sweep_goes_on() {
    // The last point takes seconds in any build, the others next to nothing.
    let text = PING_PONG
        .replace("ping-pong", "stream")
        .replace("size = \"56B\"", "");
    let arguments = [
        "--sweep",
        "workload.messages=2,3,1000000",
        "-j",
        "1",
        "--json",
    ];
    for signal in [Signal::INT, Signal::TERM] {
        // A kept result shows that the signal handlers are installed.
        let folder = experiment(&text);
        let job = Job::start(command(folder.path(), &arguments));
        let results = folder.path().join("experiment.sweep");
        let is_whole = |name: &String| name.ends_with(".json") && !name.starts_with('.');
        eventually("two points are kept", || {
            results.exists() && kept(&results).iter().filter(|name| is_whole(name)).count() == 2
        });
        job.signal(signal);
        let ended = job.end();
        assert_eq!(ended.status, 130, "{}", ended.stderr);
        assert!(
            ended.stderr.contains("2 of 3 points are kept"),
            "{}",
            ended.stderr
        );
        assert_eq!(kept(&results).len(), 2, "nothing unfinished is left");
        let arguments = ["--sweep", "workload.messages=2,3,4", "--json"];
        assert_eq!(
            json(&sim(folder.path(), &arguments))["results"]
                .as_array()
                .unwrap()
                .len(),
            3
        );
    }
}

#[test]
fn workers_end_with_the_one_that_started_them() {
    let text = PING_PONG
        .replace("ping-pong", "stream")
        .replace("size = \"56B\"", "");
    let folder = experiment(&text);
    let arguments = [
        "--sweep",
        "workload.messages=1000000",
        "--part",
        "1/1",
        "--worker",
    ];
    let mut command = command(folder.path(), &arguments);
    command.stdin(std::process::Stdio::piped());
    let ended = Job::start(command).close_stdin_and_end();
    assert_eq!(ended.status, 130, "{}", ended.stderr);
}

#[test]
fn a_point_that_fails_leaves_the_others() {
    let folder = experiment(&format!("{PING_PONG}\n[limits]\nevents = 50000\n"));
    let ended = sim(folder.path(), &["--sweep", "workload.size=8B,1MiB"]);
    assert_eq!(ended.status, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("at 1MiB: "), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("1 of 2 points failed"),
        "{}",
        ended.stderr
    );
    assert_eq!(kept(&folder.path().join("experiment.sweep")).len(), 1);
}

#[test]
fn traces_are_part_of_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["trace.toml", "example.trace"] {
        let from = repository("experiments/pgas-cluster").join(name);
        std::fs::copy(from, folder.path().join(name)).unwrap();
    }
    std::fs::rename(
        folder.path().join("trace.toml"),
        folder.path().join("experiment.toml"),
    )
    .unwrap();
    let arguments = ["--sweep", "workload.scenario=4P,16P", "--json"];
    let first = json(&sim(folder.path(), &arguments));
    assert_eq!(json(&sim(folder.path(), &arguments)), first);
    let trace = folder.path().join("example.trace");
    let text = std::fs::read_to_string(&trace).unwrap();
    std::fs::write(&trace, text + "load 0x00000100 8\n").unwrap();
    let second = json(&sim(folder.path(), &arguments));
    assert_ne!(
        first["results"][0]["metrics"],
        second["results"][0]["metrics"]
    );
}

/// The experiment with its cluster in another file, in a folder.
fn with_cluster_file() -> TempDir {
    let (before, cluster) = PING_PONG.split_once("[[cluster.node]]").unwrap();
    let (cluster, workload) = cluster.split_once("[workload]").unwrap();
    let folder = experiment(&format!(
        "{before}cluster = \"two.toml\"\n\n[workload]{workload}"
    ));
    let cluster = format!("[[cluster.node]]{cluster}").replace("[[cluster.", "[[");
    std::fs::write(folder.path().join("two.toml"), cluster).unwrap();
    folder
}

#[test]
fn keys_of_a_cluster_in_a_file_of_its_own_are_swept() {
    let sweep = ["--sweep", "cluster.cable.0.width=8bit,16bit", "--json"];
    let apart = json(&sim(with_cluster_file().path(), &sweep));
    let together = json(&sim(experiment(PING_PONG).path(), &sweep));
    assert_eq!(lasting(&apart), lasting(&together));
    let hash = |place: usize| &apart["results"][place]["configuration_hash"];
    assert_ne!(hash(0), hash(1));
}

/// The place of the fault, as `NAME:LINE:COLUMN`, and the line that is shown for it.
fn blamed(said: &str) -> (String, String) {
    let mut lines = said.lines();
    let place = lines.find_map(|line| line.trim_start().strip_prefix("--> "));
    let shown = lines.nth(1).and_then(|line| line.split_once(" | "));
    let shown = shown.map(|(_, text)| text.to_owned());
    (place.unwrap().to_owned(), shown.unwrap())
}

#[test]
fn what_is_wrong_is_shown_where_it_is_written() {
    let blames = |folder: TempDir, sweep: &str| {
        let ended = sim(folder.path(), &["--sweep", sweep]);
        assert_eq!(ended.status, 2, "{}", ended.stderr);
        blamed(&ended.stderr)
    };
    let own = |sweep: &str, place: &str| {
        let expected = (place.to_owned(), sweep.to_owned());
        assert_eq!(blames(experiment(PING_PONG), sweep), expected);
    };
    own("workload.size=8B, lots", "--sweep:1:19");
    own("workload.sise=8B..64B", "--sweep:1:1");
    own("parameters.hop=1us..20us:5us", "--sweep:1:16");
    own("workload.size.x=1,2", "--sweep:1:1");
    own("cluster.node.2.memory=8GiB", "--sweep:1:1");
    own("cluster.cable.0.width=8bit,9bit", "--sweep:1:28");
    let wrong = PING_PONG.replace("kind = \"ping-pong\"", "kind = \"ping\"");
    let (place, shown) = blames(experiment(&wrong), SIZES);
    assert_eq!(
        (place.as_str(), shown.as_str()),
        ("experiment.toml:21:8", "kind = \"ping\"")
    );

    // The cluster's file has its own places, separate from those of the sweep.
    let folder = with_cluster_file();
    let cluster = std::fs::read_to_string(folder.path().join("two.toml")).unwrap();
    let cluster = cluster.replace("\"coax\"", "\"coal\"");
    std::fs::write(folder.path().join("two.toml"), cluster).unwrap();
    let (place, shown) = blames(folder, "cluster.cable.0.width=8bit,16bit");
    assert_eq!(
        (place.as_str(), shown.as_str()),
        ("two.toml:15:10", "medium = \"coal\"")
    );
    let sweep = "cluster.cable.0.width=7bit";
    let expected = ("--sweep:1:23".to_owned(), sweep.to_owned());
    assert_eq!(blames(with_cluster_file(), sweep), expected);
    let folder = with_cluster_file();
    std::fs::write(folder.path().join("two.toml"), "[[node]\n").unwrap();
    let (place, _) = blames(folder, sweep);
    assert!(place.starts_with("two.toml:1:"), "{place}");
    let folder = with_cluster_file();
    std::fs::remove_file(folder.path().join("two.toml")).unwrap();
    let (place, _) = blames(folder, sweep);
    assert_eq!(place, "experiment.toml:4:11");
}

#[test]
fn a_job_array_does_its_shares() {
    let folder = experiment(PING_PONG);
    let script = repository("examples/slurm/sweep.sh");
    let task = |id: Option<&str>, arguments: &[&str]| {
        let mut command = Command::new(&script);
        command.args(arguments).current_dir(folder.path());
        command.env("HOSTWIRE", env!("CARGO_BIN_EXE_hostwire-lab"));
        command.env("SLURM_ARRAY_TASK_COUNT", "3");
        command.env_remove("SLURM_ARRAY_TASK_ID");
        if let Some(id) = id {
            command.env("SLURM_ARRAY_TASK_ID", id);
        }
        command.output().unwrap()
    };
    let arguments = ["experiment.toml", SIZES, "shared"];
    for (id, points) in [("1", 2), ("2", 3), ("3", 4)] {
        let output = task(Some(id), &arguments);
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(kept(&folder.path().join("shared")).len(), points);
    }
    let all = sim(
        folder.path(),
        &["--sweep", SIZES, "--results", "shared", "--json"],
    );
    assert_eq!(json(&all)["results"].as_array().unwrap().len(), 4);
    assert_eq!(task(Some("1"), &["experiment.toml"]).status.code(), Some(2));
    let outside = task(None, &arguments);
    assert!(String::from_utf8_lossy(&outside.stderr).contains("--array=1-N"));
}

#[test]
fn sweeps_that_make_no_sense_are_refused() {
    let folder = experiment(PING_PONG);
    for (arguments, said) in [
        (&["--sweep", "workload.size"][..], "key=from..to"),
        (&["--sweep", "workload.size=8B..2ns"], "one kind"),
        (&["--sweep", "sweep.key=1..2"], "cannot be swept"),
        (&["--sweep", "workload.sise=8B..16B"], "did you mean"),
        (&["--sweep", "workload.size=8B,lots"], "\"lots\""),
        (&["--jobs", "2"], "add --sweep"),
        (&["--jobs", "0", "--sweep", SIZES], "0"),
        (&["--part", "3/2", "--sweep", SIZES], "K from 1 to N"),
        (&["--sweep", SIZES, "--pcap", "a.pcapng"], "record one run"),
    ] {
        let ended = sim(folder.path(), arguments);
        assert_eq!(ended.status, 2, "{arguments:?}: {}", ended.stderr);
        assert!(
            ended.stderr.contains(said),
            "{arguments:?}: {}",
            ended.stderr
        );
    }
    let ended = job::run_with_input(&["sim", "-", "--sweep", SIZES], PING_PONG);
    assert_eq!(ended.status, 2);
    assert_eq!(
        kept(folder.path()),
        ["experiment.toml"],
        "and nothing is left"
    );
}
