//! What `cargo publish --workspace --dry-run` would refuse, and what would be missing on crates.io.
//! The dry run itself builds everything once more: `make test-long` has it.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use serde_json::Value;
use xtask::root;

/// Those that are published, each after those that it needs.
const PUBLISHED: [&str; 20] = [
    "hostwire-address",
    "hostwire-packet",
    "hostwire-link",
    "hostwire-plan",
    "hostwire-fabric-abi",
    "hostwire-transport",
    "hostwire-region",
    "hostwire-frames",
    "hostwire-fabric",
    "hostwire-virtual",
    "hostwire-station",
    "hostwire-pmix",
    "hostwire-bootstrap",
    "hostwire-borrow",
    "hostwire-device",
    "hostwire",
    "hostwire-rtl-harness",
    "hostwire-sim",
    "hostwire-cli",
    "hostwire-lab",
];

fn cargo(arguments: &[&str]) -> String {
    let mut command = hostwire_testing::built::cargo();
    let output = command.current_dir(root()).args(arguments).output();
    let output = output.expect("cargo starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("cargo speaks UTF-8")
}

fn packages() -> Vec<Value> {
    let text = cargo(&[
        "metadata",
        "--no-deps",
        "--offline",
        "--format-version",
        "1",
    ]);
    let metadata: Value = serde_json::from_str(&text).expect("JSON");
    metadata["packages"].as_array().expect("a list").clone()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a name")
}

fn published(packages: &[Value]) -> impl Iterator<Item = &Value> {
    packages
        .iter()
        .filter(|package| package["publish"].is_null())
}

#[test]
fn who_is_published_was_decided() {
    let packages = packages();
    let names: BTreeSet<&str> = published(&packages).map(name).collect();
    let expected = BTreeSet::from(PUBLISHED);
    assert_eq!(
        names, expected,
        "add it to PUBLISHED, or say `publish = false`"
    );
    for package in published(&packages) {
        for dependency in package["dependencies"].as_array().expect("a list") {
            let of = dependency["name"].as_str().expect("a name");
            if dependency["path"].is_null() || dependency["kind"] == "dev" {
                continue;
            }
            assert!(expected.contains(of), "{} needs {of}", name(package));
            assert_ne!(dependency["req"], "*", "{} takes any {of}", name(package));
        }
    }
}

#[test]
fn who_finds_one_of_them_learns_what_it_is() {
    for package in published(&packages()) {
        let name = name(package);
        let folder = Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = folder.parent().expect("a folder");
        for key in ["description", "license", "repository", "rust_version"] {
            assert!(package[key].is_string(), "{name} has no {key}");
        }
        let description = package["description"].as_str().unwrap_or_default();
        assert!(
            (20..=120).contains(&description.len()),
            "{name}: {description}"
        );
        let readme = package["readme"].as_str().unwrap_or_default();
        let readme = std::fs::read_to_string(folder.join(readme));
        assert!(
            readme.is_ok_and(|text| text.len() > 400),
            "{name} has no README"
        );
        for (key, most) in [("keywords", 5), ("categories", 5)] {
            let words = package[key].as_array().expect("a list");
            assert!((1..=most).contains(&words.len()), "{name}: {key}");
            let is_short = |word: &Value| word.as_str().is_some_and(|word| word.len() <= 20);
            assert!(key != "keywords" || words.iter().all(is_short), "{name}");
        }
        let docs = &package["metadata"]["docs"]["rs"]["targets"];
        assert!(
            docs.is_array(),
            "{name} does not say what docs.rs builds it for"
        );
    }
}

/// A file that a crate takes from elsewhere in the repository is not in its package.
#[test]
fn packages_have_all_that_is_compiled_into_them() {
    for package in published(&packages()) {
        let name = name(package);
        let folder = Path::new(package["manifest_path"].as_str().expect("a path"));
        let folder = folder.parent().expect("a folder");
        let list = cargo(&[
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "-p",
            name,
        ]);
        let list: BTreeSet<PathBuf> = list.lines().map(PathBuf::from).collect();
        assert!(list.contains(Path::new("README.md")), "{name}");
        let script = std::fs::read_to_string(folder.join("build.rs")).unwrap_or_default();
        assert!(
            !script.contains("\"../"),
            "{name}: build.rs goes out of the package"
        );
        for file in list.iter().filter(|path| path.starts_with("src")) {
            let Ok(text) = std::fs::read_to_string(folder.join(file)) else {
                continue;
            };
            for included in included(&text) {
                let path = normal(&file.with_file_name("").join(included));
                assert!(
                    path.as_ref().is_some_and(|path| list.contains(path)),
                    "{name}: {} takes {included}, which is not in the package",
                    file.display()
                );
            }
        }
    }
}

/// The files that `include_str!` and `include_bytes!` name, without those of tests, which
/// are not published.
fn included(text: &str) -> impl Iterator<Item = &str> {
    let end = ["#[cfg(test)]", "#[cfg(all(test"].map(|mark| text.find(mark).unwrap_or(text.len()));
    let code = text.get(..end[0].min(end[1])).unwrap_or_default();
    code.match_indices("include_").filter_map(|(at, _)| {
        let call = code.get(at..)?.split_once('(')?.1;
        call.trim_start()
            .strip_prefix('"')?
            .split_once('"')
            .map(|(path, _)| path)
    })
}

/// The path without `..`; `None` if it leads out.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if !normal.pop() => return None,
            Component::Normal(part) => normal.push(part),
            _ => {}
        }
    }
    Some(normal)
}

#[test]
fn includes_are_found_and_followed() {
    let text =
        "const A: &str = include_str!(\n    \"../../a.toml\"\n);\n#[cfg(test)] include_str!(\"b\")";
    assert_eq!(included(text).collect::<Vec<_>>(), ["../../a.toml"]);
    assert_eq!(
        normal(Path::new("src/x/../../a.toml")),
        Some("a.toml".into())
    );
    assert_eq!(normal(Path::new("src/../../a.toml")), None);
}
