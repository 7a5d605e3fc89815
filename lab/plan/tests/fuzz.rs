//! Random and damaged files: a plan or diagnostics, never a panic.

use std::path::Path;

use hostwire_plan::Cluster;
use proptest::prelude::*;

/// Small files only: every case is planned if it happens to be sound.
fn seeds() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut seeds = Vec::new();
    for folder in [
        folder.join("tests/diagnostics"),
        folder.join("../../examples/clusters"),
    ] {
        for entry in std::fs::read_dir(folder).expect("part of the repository") {
            let path = entry.expect("a readable folder").path();
            if path.extension().is_some_and(|e| e == "toml") {
                let bytes = std::fs::read(path).expect("a readable file");
                seeds.push(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
    }
    seeds.retain(|s| !s.contains("[32, 32]"));
    seeds.sort();
    seeds
}

fn try_plan(bytes: &[u8]) {
    match hostwire_plan::cluster("fuzz.toml", bytes) {
        Ok(Cluster::Htx(plan)) => {
            let _ = (plan.text(), plan.json(), plan.dot());
        }
        Ok(Cluster::AddressMap(plan)) => {
            let _ =
                hostwire_plan::report::text(&plan, hostwire_plan::report::TextOptions::new(true));
            let _ = hostwire_plan::report::dot(&plan);
        }
        Err(rejected) => {
            assert!(!rejected.diagnostics.is_empty(), "rejected without a word");
            assert!(!rejected.to_string().is_empty());
            let planner = rejected.diagnostics.iter().find(|d| d.code == "delivery");
            assert!(planner.is_none(), "wrong registers: {rejected}");
        }
    }
}

/// Values that are wrong in interesting ways.
const TOKENS: [&str; 30] = [
    "0",
    "-1",
    "1",
    "2",
    "8",
    "9999999999999999999",
    "18446744073709551615",
    "1e300",
    "nan",
    "true",
    "\"\"",
    "\"0B\"",
    "\"16MiB\"",
    "\"18446744073709551615B\"",
    "\"16777215TiB\"",
    "\"255TiB\"",
    "\"0xffff_ffff_ffff_ffff\"",
    "\"0xffffffff000000\"",
    "\"0MHz\"",
    "\"l7\"",
    "\"p7.l7\"",
    "\"n0.l0\"",
    "\"left.p7.l7\"",
    "\"\u{1F980}\"",
    "[]",
    "[1, 2, 3]",
    "[4096, 4096]",
    "{}",
    "1979-05-27",
    "\"full\"",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        try_plan(&bytes);
    }

    #[test]
    fn random_toml_like_text(text in "([a-z_]{1,9} ?= ?[\"'\\[\\]{}0-9a-zGiBM.]{0,12}\n|\\[\\[?(node|cable|topology|map)\\]\\]?\n){0,20}") {
        try_plan(text.as_bytes());
    }

    /// Bytes changed, removed, or the end cut off.
    #[test]
    fn damaged_files(
        seed in prop::sample::select(seeds()),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let mut bytes = seed.into_bytes();
        for (at, byte, kind) in changes {
            if bytes.is_empty() {
                break;
            }
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        if let Some(cut) = cut.filter(|_| !bytes.is_empty()) {
            bytes.truncate(cut.index(bytes.len()));
        }
        try_plan(&bytes);
    }

    /// The syntax stays; values become others, lines move or repeat.
    #[test]
    fn other_values(
        seed in prop::sample::select(seeds()),
        changes in prop::collection::vec(
            (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::sample::select(&TOKENS[..])),
            1..5,
        ),
    ) {
        let mut lines: Vec<String> = seed.lines().map(str::to_owned).collect();
        for (at, other, token) in changes {
            if lines.is_empty() {
                break;
            }
            let (at, other) = (at.index(lines.len()), other.index(lines.len()));
            match lines[at].split_once('=') {
                Some((key, _)) => lines[at] = format!("{key}= {token}"),
                None => lines.swap(at, other),
            }
        }
        // Large sound topologies are for other tests.
        let file = lines.join("\n").replace("nodes = 64", "nodes = 16");
        try_plan(file.as_bytes());
    }
}

#[test]
fn deep_nesting_is_refused() {
    for open in ["[", "{a=", "a."] {
        let file = format!("x = {}", open.repeat(100_000));
        assert!(hostwire_plan::plan("deep.toml", file.as_bytes()).is_err());
    }
}
