//! What the programs and libraries are built of, as a list of parts: CycloneDX 1.5, from what cargo says.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::{Map, Value, json};

use super::version::Version;
use crate::library::stdout;
use crate::{Error, root};

/// The list, of the packages that users build by default and all that these are built of on this kind of machine.
///
/// `day`: when the sources were committed, so that the same sources give the same list.
pub fn sbom(version: &Version, day: &str) -> Result<String, Error> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .current_dir(root())
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(["--filter-platform", "x86_64-unknown-linux-gnu"]);
    let metadata = serde_json::from_str(&stdout(&mut cargo)?)
        .map_err(|error| Error::Argument(format!("cargo metadata: {error}")))?;
    let lock = root().join("Cargo.lock");
    let lock = std::fs::read_to_string(&lock).map_err(Error::file(&lock))?;
    let list = of(&metadata, &sums(&lock), version, day);
    Ok(format!("{list:#}\n"))
}

/// The sums of the packages in a `Cargo.lock`, by name and version.
fn sums(lock: &str) -> BTreeMap<(String, String), String> {
    let field = |block: &str, name: &str| {
        let begin = format!("{name} = \"");
        let mut lines = block.lines();
        lines.find_map(|line| Some(line.strip_prefix(&begin)?.trim_end_matches('"').to_owned()))
    };
    let sums = lock.split("\n\n").filter_map(|block| {
        let [name, version] = ["name", "version"].map(|name| field(block, name));
        Some(((name?, version?), field(block, "checksum")?))
    });
    sums.collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// What each package needs when it is built and run, not for its tests.
fn needs(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let nodes = metadata
        .get("resolve")
        .map_or(&[][..], |resolve| list(resolve, "nodes"));
    let of_node = |node| {
        let is_needed = |need: &&Value| {
            let mut kinds = list(need, "dep_kinds").iter();
            kinds.any(|kind| text(kind, "kind") != "dev")
        };
        let needs = list(node, "deps").iter().filter(is_needed);
        (
            text(node, "id"),
            needs.map(|need| text(need, "pkg")).collect(),
        )
    };
    nodes.iter().map(of_node).collect()
}

fn of(
    metadata: &Value,
    sums: &BTreeMap<(String, String), String>,
    version: &Version,
    day: &str,
) -> Value {
    let needs = needs(metadata);
    let mut waiting: Vec<&str> = list(metadata, "workspace_default_members")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    let mut parts = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if parts.insert(id) {
            waiting.extend(needs.get(id).into_iter().flatten());
        }
    }
    let packages: BTreeMap<&str, &Value> = list(metadata, "packages")
        .iter()
        .map(|package| (text(package, "id"), package))
        .collect();
    let reference = |id: &str| packages.get(id).map(|package| purl(package));
    let components = parts.iter().filter_map(|id| packages.get(id));
    let components: Vec<Value> = components.map(|package| component(package, sums)).collect();
    let dependencies = parts.iter().filter_map(|id| {
        let needed = needs.get(id).into_iter().flatten();
        let needed: BTreeSet<String> = needed.filter_map(|id| reference(id)).collect();
        Some(json!({ "ref": reference(id)?, "dependsOn": needed }))
    });
    let dependencies: Vec<Value> = dependencies.collect();
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": format!("{day}T00:00:00Z"),
            "component": {
                "type": "application",
                "bom-ref": "hostwire",
                "name": "hostwire",
                "version": version.to_string(),
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": components,
        "dependencies": dependencies,
    })
}

/// How the part is named among all packages of the world.
fn purl(package: &Value) -> String {
    format!(
        "pkg:cargo/{}@{}",
        text(package, "name"),
        text(package, "version")
    )
}

fn component(package: &Value, sums: &BTreeMap<(String, String), String>) -> Value {
    let [name, version] = ["name", "version"].map(|field| text(package, field).to_owned());
    let mut part = Map::new();
    let mut set = |field: &str, value: Value| part.insert(field.to_owned(), value);
    set("type", "library".into());
    set("bom-ref", purl(package).into());
    set("name", name.clone().into());
    set("version", version.clone().into());
    set("purl", purl(package).into());
    // The way in which cargo's manifests once wrote it.
    let licence = text(package, "license").replace('/', " OR ");
    if !licence.is_empty() {
        set("licenses", json!([{ "expression": licence }]));
    }
    if let Some(sum) = sums.get(&(name, version)) {
        set("hashes", json!([{ "alg": "SHA-256", "content": sum }]));
    }
    Value::Object(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_what_is_built_in() {
        let package = |name: &str| json!({ "id": name, "name": name, "version": "1.0.0", "license": "MIT/ISC" });
        let need =
            |name: &str, kind: Value| json!({ "pkg": name, "dep_kinds": [{ "kind": kind }] });
        let packages = ["a", "b", "c", "d"].map(package);
        let metadata = json!({
            "packages": packages,
            "workspace_default_members": ["a"],
            "resolve": { "nodes": [
                { "id": "a", "deps": [need("b", Value::Null), need("d", "dev".into())] },
                { "id": "b", "deps": [need("c", "build".into())] },
                { "id": "c", "deps": [] },
                { "id": "d", "deps": [] },
            ] },
        });
        let lock =
            "version = 4\n\n[[package]]\nname = \"b\"\nversion = \"1.0.0\"\nchecksum = \"12ab\"\n";
        let list = of(
            &metadata,
            &sums(lock),
            &"0.2.0".parse().unwrap(),
            "2026-11-29",
        );
        let names: Vec<&str> = super::list(&list, "components")
            .iter()
            .map(|part| text(part, "name"))
            .collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!(list["components"][1]["hashes"][0]["content"], "12ab");
        assert_eq!(
            list["components"][1]["licenses"][0]["expression"],
            "MIT OR ISC"
        );
        assert_eq!(
            list["dependencies"][0]["dependsOn"],
            json!(["pkg:cargo/b@1.0.0"])
        );
        assert_eq!(list["metadata"]["component"]["version"], "0.2.0");
    }

    #[test]
    fn the_parts_of_this_repository_are_known() {
        let text = sbom(&"0.2.0".parse().unwrap(), "2026-11-29").unwrap();
        let list: Value = serde_json::from_str(&text).unwrap();
        let parts = super::list(&list, "components");
        let part = |name: &str| parts.iter().find(|part| super::text(part, "name") == name);
        assert!(part("hostwire-transport").is_some());
        assert_eq!(part("libc").unwrap()["hashes"][0]["alg"], "SHA-256");
        // Of tests alone.
        assert_eq!(part("proptest"), None);
        let has_licence = |part: &&Value| part.get("licenses").is_some();
        assert_eq!(parts.iter().filter(has_licence).count(), parts.len());
    }
}
