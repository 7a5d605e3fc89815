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
    // Up a tree and down again.
    assert!((1_500.0..8_000.0).contains(&all_reduce), "{all_reduce}");
}

#[test]
fn islands_behind_a_switch_meet() {
    let small = file(&part(ISLANDS, "islands = 256", "islands = 8"));
    let [barrier, all_reduce] = check(&small.path().display().to_string(), 128);
    // Four rounds within islands, three over Ethernet.
    assert!((4_000.0..20_000.0).contains(&barrier), "{barrier}");
    assert!((4_000.0..25_000.0).contains(&all_reduce), "{all_reduce}");
}

/// With a point before the last digit, and commas.
fn shown(ns: f64) -> String {
    let text = format!("{ns:.1}");
    let (whole, rest) = text.split_once('.').unwrap();
    format!("{}.{rest}", with_commas(whole))
}

fn with_commas(digits: &str) -> String {
    let digits: Vec<char> = digits.chars().collect();
    let groups: Vec<String> = digits.rchunks(3).rev().map(String::from_iter).collect();
    groups.join(",")
}

/// The row of `docs/virtual-time.md` for so many PEs.
fn row(cluster: &str, pes: u32) -> String {
    let hello = built_in(cluster, pes, &["--stamp", "hello"]);
    assert_eq!(hello.status, 0, "{}", hello.stderr);
    assert_eq!(hello.stdout.lines().count(), pes as usize);
    let number = |text: &str| text.split(' ').next().unwrap().parse::<f64>().unwrap();
    let heard = hello.stdout.lines().map(|line| number(&line[1..]));
    let last = heard.fold(0.0, f64::max);
    let measured = built_in(cluster, pes, &["collectives"]).stdout;
    let times = ["message to PE 1 ", "barrier ", "all-reduce of 8 B "].map(|name| {
        let (_, rest) = measured.split_once(name).unwrap();
        shown(number(rest))
    });
    let (events, _, hash) = simulated(&hello);
    let pes = with_commas(&pes.to_string());
    let (times, last, events) = (times.join(" | "), shown(last), with_commas(&events));
    format!("| {pes} | {times} | {last} | {events} | {hash} |")
}

#[test]
#[ignore = "four minutes, and 1.4 GB: scripts/test-long.sh"]
fn the_page_has_the_times_of_jobs_of_up_to_4096_pes() {
    let page = include_str!("../../../../docs/virtual-time.md");
    for file in ["torus-16x16x16", "htea-256-islands"] {
        let cluster = cluster(&format!("large/{file}.toml"));
        for pes in [64, 256, 1024, 4096] {
            let row = row(&cluster, pes);
            assert!(page.contains(&row), "{file}: the page should say {row}");
        }
    }
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
