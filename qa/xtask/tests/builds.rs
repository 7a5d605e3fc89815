//! All places tell users to build the same set of packages, so that nothing is compiled again with other features.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::root;

/// Files that build for users, or tell them what to build.
const PLACES: [&str; 9] = [
    "README.md",
    "Containerfile",
    "bench",
    "tools/cli/src",
    "docs",
    "experiments",
    "scripts/bench.sh",
    "scripts/run.sh",
    "scripts/vm-demo.sh",
];

/// Records of what was done at other commits.
const PAST: [&str; 2] = ["bench/results", "docs/decisions"];

fn files(path: &Path, found: &mut Vec<PathBuf>) {
    if PAST.iter().any(|past| path.ends_with(past)) {
        return;
    }
    if !path.is_dir() {
        found.push(path.to_path_buf());
        return;
    }
    for entry in fs::read_dir(path).expect("a folder of the repository") {
        files(&entry.expect("a readable folder").path(), found);
    }
}

#[test]
fn users_build_without_a_choice_of_packages() {
    let mut found = Vec::new();
    for place in PLACES {
        files(&root().join(place), &mut found);
    }
    let mut builds = 0;
    for path in found {
        // Pictures are no text.
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines = text
            .lines()
            .filter(|line| line.contains("cargo") && line.contains(" build "));
        for line in lines.filter(|line| line.contains("--release")) {
            builds += 1;
            let narrow = ["-p ", "--package ", "--workspace", "--bin", "--features"];
            assert!(
                !narrow.iter().any(|option| line.contains(option)),
                "{}: a plain `cargo build --release` has it already, with other features:\n{line}",
                path.display()
            );
        }
    }
    assert!(builds >= 10, "only {builds} were found");
}

/// What `cargo build` compiles with these packages, or without a choice: packages and their features.
fn tree(edges: &str, packages: &[&str]) -> String {
    let mut command = hostwire_testing::built::cargo();
    command.current_dir(root());
    command.args(["tree", "--locked", "--edges", edges]);
    command.args(["--prefix", "none", "--format", "{p} {f}"]);
    let output = command.args(packages).output().expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8(output.stdout).expect("cargo speaks UTF-8")
}

/// `cargo products` after `cargo build` compiles the laboratory and nothing again.
#[test]
fn the_laboratory_comes_on_top_of_what_users_build() {
    let path = root().join(".cargo/config.toml");
    let config = fs::read_to_string(path).expect("a readable file");
    let alias = config.split("\"\"\"").nth(1).expect("the alias `products`");
    let words: Vec<&str> = alias.split_whitespace().filter(|it| *it != "\\").collect();
    let both = tree("normal,build", &words[1..]);
    let both: Vec<&str> = both
        .lines()
        .map(|line| line.trim_end_matches(" (*)"))
        .collect();
    for line in tree("normal,build", &[]).lines() {
        assert!(both.contains(&line.trim_end_matches(" (*)")), "{line}");
    }
    assert!(both.iter().any(|line| line.starts_with("hostwire-sim ")));
}

#[test]
fn users_build_nothing_of_the_laboratory_and_of_tests() {
    let tree = tree("normal", &[]);
    let parts = [
        "hostwire-cli",
        "hostwire-examples",
        "hostwire-clock",
        "hostwire-fabric-provider",
        "hostwire-preload",
        "hostwire-python",
        "hostwire-shmem",
        "hostwire-tca",
    ];
    for part in parts {
        let is_there = tree
            .lines()
            .any(|line| line.starts_with(&format!("{part} ")));
        assert!(is_there, "{part} is not in default-members of Cargo.toml");
    }
    for line in tree.lines().filter(|line| line.starts_with("hostwire")) {
        // Users who run programs need no simulator.
        for of_others in [
            "fuzzing",
            "conformance",
            "hostwire-testing",
            "hostwire-lab",
            "hostwire-plan",
            "hostwire-sim",
        ] {
            assert!(!line.contains(of_others), "{line}");
        }
    }
}
