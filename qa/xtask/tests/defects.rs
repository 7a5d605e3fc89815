//! The defects that `scripts/mutate-defects.sh` puts back: every patch still applies to the tree.

use std::fs;
use std::path::Path;

use xtask::root;

/// The lines that a patch wants to find, hunk by hunk.
fn wanted(patch: &str) -> Vec<String> {
    let mut hunks: Vec<String> = Vec::new();
    for line in patch.lines() {
        if line.starts_with("@@") {
            hunks.push(String::new());
        } else if let Some(hunk) = hunks.last_mut() {
            match line.strip_prefix([' ', '-']) {
                Some(there) => *hunk += &format!("{there}\n"),
                None => assert!(line.starts_with('+'), "{line}"),
            }
        }
    }
    hunks
}

#[test]
fn every_patch_applies() {
    let folder = root().join("qa/testing/defects");
    let list = fs::read_to_string(folder.join("index.tsv")).expect("the list");
    let names = list.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = names.filter_map(|line| line.split('\t').next()).collect();
    assert!(names.len() >= 30, "{names:?}");
    for name in names {
        let patch = fs::read_to_string(folder.join(format!("{name}.patch"))).expect(name);
        let path = patch.lines().find_map(|line| line.strip_prefix("+++ b/"));
        let path = path.expect(name);
        let source = fs::read_to_string(root().join(Path::new(path)));
        let source = source.unwrap_or_else(|error| panic!("{name}: {path}: {error}"));
        let hunks = wanted(&patch);
        assert!(!hunks.is_empty(), "{name}");
        for hunk in hunks {
            assert!(source.contains(&hunk), "{name}: {path} lacks:\n{hunk}");
        }
    }
}
