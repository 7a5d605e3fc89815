//! What is uploaded: packages, archives, the list of parts, and the sums of all of them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hostwire_shmem_table::Table;
use serde_json::Value;

use super::changelog::Changelog;
use super::sbom::sbom;
use super::version::Version;
use crate::library::{run, stdout};
use crate::machine::cargo_dir;
use crate::tree::{root, write};
use crate::{Error, package};

/// The sums of all files.
const SUMS: &str = "SHA256SUMS";
/// What changed, for the page of the release.
const NOTES: &str = "NOTES.md";
/// What they are built of.
const PARTS: &str = "parts.cdx.json";

/// Where they go.
pub fn folder(version: &Version, out: Option<&Path>) -> PathBuf {
    out.map_or_else(
        || cargo_dir().join(format!("release-{version}")),
        Path::to_path_buf,
    )
}

/// The names of the files, as far as they are known before.
pub fn names() -> Vec<String> {
    let packages = package::names().unwrap_or_default();
    let others = ["*.crate", PARTS, NOTES, SUMS].map(str::to_owned);
    packages.into_iter().chain(others).collect()
}

/// Builds them.
pub fn build(table: &Table, version: &Version, out: &Path) -> Result<(), Error> {
    let _ = fs::remove_dir_all(out);
    fs::create_dir_all(out).map_err(Error::file(out))?;
    let changes = Changelog::read()?;
    let changes = changes.section(version).unwrap_or_default();
    write(&out.join(NOTES), changes.trim_start())?;
    package::recipes(out)?;
    package::debs(table, out)?;
    package::wheel(None, out)?;
    crates(out)?;
    let mut git = Command::new("git");
    let day = stdout(git.current_dir(root()).args(["log", "-1", "--format=%cs"]))?;
    write(&out.join(PARTS), &sbom(version, day.trim())?)?;
    let names = listed(out)?;
    let sums = stdout(Command::new("sha256sum").current_dir(out).args(&names))?;
    write(&out.join(SUMS), &sums)
}

/// What `cargo publish` would upload. Whether each of them builds alone is a test of its own.
fn crates(out: &Path) -> Result<(), Error> {
    let folder = cargo_dir().join("package");
    let _ = fs::remove_dir_all(&folder);
    let metadata = stdout(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let names = published(&metadata);
    let mut package = cargo();
    package.args(["package", "--quiet", "--locked", "--no-verify"]);
    run(package.args(names.iter().flat_map(|name| ["-p", name])))?;
    for name in listed(&folder)?
        .iter()
        .filter(|name| name.ends_with(".crate"))
    {
        take(&folder.join(name), out)?;
    }
    Ok(())
}

fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(root());
    cargo
}

/// The packages that may be published, of what cargo says of all of them.
fn published(metadata: &str) -> Vec<String> {
    let metadata: Value = serde_json::from_str(metadata).unwrap_or_default();
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.into_iter().flatten();
    let may = |package: &&Value| package.get("publish").is_none_or(Value::is_null);
    let name = |package: &Value| Some(package.get("name")?.as_str()?.to_owned());
    packages.filter(may).filter_map(name).collect()
}

fn take(file: &Path, out: &Path) -> Result<(), Error> {
    let name = file.file_name().unwrap_or_default();
    fs::copy(file, out.join(name))
        .map(drop)
        .map_err(Error::file(file))
}

/// The names in a folder, in order.
fn listed(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(Error::file(folder))?.flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_published_is_packed() {
        let metadata =
            r#"{"packages": [{"name": "a", "publish": null}, {"name": "b", "publish": []}]}"#;
        assert_eq!(published(metadata), ["a"]);
    }
}
