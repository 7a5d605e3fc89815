//! Jobs of hundreds and thousands of PEs, by programs of the laboratory itself.

use crate::job::{self, Ended};
use crate::{cluster, simulated};

const TORUS: &str = include_str!("../../../sim/clusters/large/torus-16x16x16.toml");
const ISLANDS: &str = include_str!("../../../sim/clusters/large/htea-256-islands.toml");

/// A cluster file with this text.
fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn built_in(cluster: &str, pes: u32, more: &[&str]) -> Ended {
    let pes = pes.to_string();
    let all = [
        "run",
        "--cluster",
        cluster,
        "-n",
        &pes,
        "--built-in",
        "--stats",
    ];
    job::run(&[&all, more].concat())
}

fn part(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

/// All say whom they have heard, and two runs are the same. Returns what the second one has measured: a barrier and
/// an all-reduce, in ns.
fn check(cluster: &str, pes: u32) -> [f64; 2] {
    let hello = built_in(cluster, pes, &["hello"]);
    assert_eq!(hello.status, 0, "{hello:?}");
    let mut lines: Vec<&str> = hello.stdout.lines().collect();
    lines.sort_unstable();
    let mut expected: Vec<String> = (0..pes)
        .map(|pe| format!("PE {pe} heard from PE {}", (pe + pes - 1) % pes))
        .collect();
    expected.sort_unstable();
    assert_eq!(lines, expected);
    let runs = [(); 2].map(|()| built_in(cluster, pes, &["collectives"]));
    assert_eq!(runs[0].status, 0, "{:?}", runs[0]);
    assert_eq!(simulated(&runs[0]), simulated(&runs[1]));
    assert_eq!(runs[0].stdout, runs[1].stdout);
    ["barrier ", "all-reduce of 8 B "].map(|name| {
        let (_, rest) = runs[1].stdout.split_once(name).unwrap();
        rest.split(' ').next().unwrap().parse().unwrap()
    })
}

#[test]
fn a_torus_of_256_boards_meets() {
    let small = file(&part(TORUS, "[16, 16, 16]", "[4, 8, 8]"));
    let [barrier, all_reduce] = check(&small.path().display().to_string(), 256);
    // Eight rounds, of up to 16 hops.
    assert!((1_500.0..6_000.0).contains(&barrier), "{barrier}");
    assert!((1_500.0..20_000.0).contains(&all_reduce), "{all_reduce}");
}

#[test]
fn islands_behind_a_switch_meet() {
    let small = file(&part(ISLANDS, "islands = 256", "islands = 8"));
    let [barrier, _] = check(&small.path().display().to_string(), 96);
    // Four rounds within islands, three over Ethernet. From 102 PEs on `hello` takes minutes: docs/virtual-time.md.
    assert!((4_000.0..40_000.0).contains(&barrier), "{barrier}");
}

#[test]
#[ignore = "a minute, and 1.3 GB: scripts/test-long.sh"]
fn a_job_of_4096_pes_says_hello() {
    let torus = cluster("large/torus-16x16x16.toml");
    let runs = [(); 2].map(|()| built_in(&torus, 4096, &["hello"]));
    assert_eq!(runs[0].status, 0);
    assert_eq!(runs[0].stdout.lines().count(), 4096);
    assert_eq!(simulated(&runs[0]), simulated(&runs[1]));
}

#[test]
fn what_cannot_be_is_refused() {
    let boards = cluster("two-boards.toml");
    let refused = |pes: u32, more: &[&str], words: &str| {
        let ended = built_in(&boards, pes, more);
        assert_eq!(ended.status, 2, "{ended:?}");
        assert!(ended.stderr.contains(words), "{ended:?}");
    };
    refused(2, &["./hello"], "expected one of hello, collectives");
    refused(2, &["hello", "again"], "without arguments");
    refused(4097, &["hello"], "at most 4096 PEs");
    refused(2, &["--label", "hello"], "--label");
}
