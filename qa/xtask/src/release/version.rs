//! The places that name the version. `Cargo.toml` says it; all others agree with it.

use std::fmt;
use std::fs;
use std::str::FromStr;

use crate::{Error, Tree, root};

/// A version as Semantic Versioning has it, without a name behind it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    major: u32,
    minor: u32,
    patch: u32,
}

impl FromStr for Version {
    type Err = Error;

    fn from_str(text: &str) -> Result<Version, Error> {
        let wrong = || Error::Argument(format!("expected a version such as 0.2.0, not '{text}'"));
        let is_plain = |part: &str| {
            part.bytes().all(|byte| byte.is_ascii_digit())
                && (part == "0" || !part.starts_with('0'))
        };
        let numbers: Option<Vec<u32>> = text
            .split('.')
            .map(|part| part.parse().ok().filter(|_| is_plain(part)))
            .collect();
        match numbers.as_deref() {
            Some(&[major, minor, patch]) => Ok(Version {
                major,
                minor,
                patch,
            }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl Version {
    /// Its first two numbers: what may not break before 1.0.
    fn series(&self) -> String {
        format!("{}.{}", self.major, self.minor)
    }
}

/// The manifest of the workspace.
const MANIFEST: &str = "Cargo.toml";
/// That of a program that is a workspace of its own.
const APART: &str = "fronts/iceoryx2/Cargo.toml";
/// Lists of packages, those of this repository among them.
const LOCKS: [&str; 3] = [
    "Cargo.lock",
    "fronts/iceoryx2/Cargo.lock",
    "qa/fuzz/Cargo.lock",
];
/// How to cite.
const CITATION: &str = "CITATION.cff";
/// A document that says how stable the interface is.
const LIMITS: &str = "docs/launchers.md";

fn read(path: &str) -> Result<String, Error> {
    let path = root().join(path);
    fs::read_to_string(&path).map_err(Error::file(&path))
}

/// The version of this repository.
pub fn of_workspace() -> Result<Version, Error> {
    let text = read(MANIFEST)?;
    let (_, package) = text.split_once("[workspace.package]").unwrap_or_default();
    let line = package
        .lines()
        .find_map(|line| line.strip_prefix("version = \""));
    line.unwrap_or_default().trim_end_matches('"').parse()
}

/// The files in which `old` becomes `new`, as they are then.
pub fn replaced(old: &Version, new: &Version, day: &str) -> Result<Tree, Error> {
    let mut tree = Tree::default();
    for path in [MANIFEST, APART] {
        tree.add(path, manifest(&read(path)?, old, new));
    }
    for path in LOCKS {
        tree.add(path, lock(&read(path)?, old, new));
    }
    tree.add(CITATION, citation(&read(CITATION)?, new, day));
    let (before, after) = (this_is(old), this_is(new));
    tree.add(LIMITS, read(LIMITS)?.replace(&before, &after));
    Ok(tree)
}

/// The places that name another version than `version`.
pub fn strangers(version: &Version) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for line in read(MANIFEST)?
        .lines()
        .filter(|line| line.contains("path = \""))
    {
        if line.contains("version = \"") && !line.contains(&quoted(version)) {
            found.push(format!("{MANIFEST} has '{line}'; expected {version}"));
        }
    }
    for path in LOCKS {
        let text = read(path)?;
        let own = blocks(&text).filter(|block| is_own(block) && !is_private(block));
        for block in own.filter(|block| !block.contains(&format!("version = {}", quoted(version))))
        {
            let name = block.lines().nth(1).unwrap_or_default();
            found.push(format!("{path}: {name} is not {version}"));
        }
    }
    if !read(CITATION)?.contains(&format!("\nversion: {version}\n")) {
        found.push(format!("{CITATION}: the version is not {version}"));
    }
    if !read(LIMITS)?.contains(&this_is(version)) {
        found.push(format!("{LIMITS} does not say '{}'", this_is(version)));
    }
    Ok(found)
}

fn quoted(version: &Version) -> String {
    format!("\"{version}\"")
}

fn this_is(version: &Version) -> String {
    format!("This is {}.", version.series())
}

fn manifest(text: &str, old: &Version, new: &Version) -> String {
    let (old, new) = (quoted(old), quoted(new));
    let lines = text.lines().map(|line| {
        let names_it = line.starts_with("version = ") || line.contains("path = \"");
        match names_it {
            true => line.replace(&old, &new) + "\n",
            false => line.to_owned() + "\n",
        }
    });
    lines.collect()
}

/// The parts of a list of packages, each of which is a package but for the first.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n")
        .filter(|block| block.starts_with("[[package]]"))
}

/// Whether a package is from this repository: all others have a source.
fn is_own(block: &str) -> bool {
    !block.contains("\nsource = ")
}

/// Whether it has a version of its own, because nobody gets it.
fn is_private(block: &str) -> bool {
    block.contains("\nversion = \"0.0.0\"")
}

fn lock(text: &str, old: &Version, new: &Version) -> String {
    let (old, new) = (quoted(old), quoted(new));
    let (old, new) = (format!("\nversion = {old}"), format!("\nversion = {new}"));
    let blocks: Vec<String> = text
        .split("\n\n")
        .map(
            |block| match block.starts_with("[[package]]") && is_own(block) {
                true => block.replace(&old, &new),
                false => block.to_owned(),
            },
        )
        .collect();
    blocks.join("\n\n")
}

fn citation(text: &str, new: &Version, day: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(": ") {
        Some(("version", _)) => format!("version: {new}\n"),
        Some(("date-released", _)) => format!("date-released: {day}\n"),
        _ => format!("{line}\n"),
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_three_numbers() {
        let version = |text: &str| text.parse::<Version>().map_err(|error| error.to_string());
        assert_eq!(version("0.10.3").unwrap().to_string(), "0.10.3");
        assert!(version("0.10.0").unwrap() > version("0.9.9").unwrap());
        for wrong in [
            "",
            "1",
            "0.2",
            "0.2.0-rc1",
            "v0.2.0",
            "0.02.0",
            "0.+2.0",
            "1.2.3.4",
        ] {
            assert_eq!(
                version(wrong).unwrap_err(),
                format!("expected a version such as 0.2.0, not '{wrong}'")
            );
        }
    }

    #[test]
    fn only_own_packages_get_the_version() {
        let [old, new] = ["0.1.0", "0.2.0"].map(|text| text.parse().unwrap());
        let own = "[[package]]\nname = \"hostwire\"\nversion = \"0.1.0\"\n";
        let other = "[[package]]\nname = \"x\"\nversion = \"0.1.0\"\nsource = \"r\"\n";
        let text = format!("version = 4\n\n{own}\n{other}");
        let expected = text.replacen("0.1.0", "0.2.0", 1);
        assert_eq!(lock(&text, &old, &new), expected);

        let text =
            "version = \"0.1.0\"\na = { path = \"a\", version = \"0.1.0\" }\nb = \"0.1.0\"\n";
        assert_eq!(
            manifest(text, &old, &new),
            "version = \"0.2.0\"\na = { path = \"a\", version = \"0.2.0\" }\nb = \"0.1.0\"\n"
        );
        assert_eq!(
            citation(
                "a: b\nversion: 0.1.0\ndate-released: 2026-01-01\n",
                &new,
                "2026-11-29"
            ),
            "a: b\nversion: 0.2.0\ndate-released: 2026-11-29\n"
        );
    }

    /// So that `release prepare` misses no place.
    #[test]
    fn all_places_of_this_repository_agree() {
        let version = of_workspace().unwrap();
        assert_eq!(strangers(&version).unwrap(), Vec::<String>::new());
        let new: Version = "99.98.97".parse().unwrap();
        for (path, text) in replaced(&version, &new, "2026-11-29").unwrap().iter() {
            let names = text.contains("99.98.97") || text.contains("This is 99.98.");
            assert!(names, "{}", path.display());
        }
    }
}
