//! Arrows between the crates of the tree, and between its products, from what each `Cargo.toml` says.

use std::collections::{BTreeMap, BTreeSet};

use toml::{Spanned, Table as Toml, Value};

use super::Finding;
use super::source::{Source, Sources};
use super::table::{Arrows, FILE, Table};
use crate::Error;

/// The tables of what the code of a package uses.
const CODE: [&str; 2] = ["dependencies", "build-dependencies"];

/// A package of the tree.
struct Package<'a> {
    source: &'a Source,
    manifest: Toml,
}

pub(super) fn findings(table: &Table, sources: &Sources) -> Result<Vec<Finding>, Error> {
    let packages = packages(sources)?;
    let mut found = Vec::new();
    for (name, package) in &packages {
        match table.crates.iter().find(|(key, _)| key.get_ref() == name) {
            Some((_, arrows)) => {
                found.extend(package.findings(table, arrows, &packages));
                found.extend(package.between_products(table, &packages));
            }
            None => {
                let text =
                    format!("{name} is not in [crates] of {FILE}: say there what it may use");
                found.push(package.source.finding(1, "crates", name, text));
            }
        }
    }
    let gone = table
        .crates
        .keys()
        .filter(|key| !packages.contains_key(key.get_ref()));
    found.extend(gone.map(|key| {
        let text = format!("there is no crate {}: remove it", key.get_ref());
        table.finding(key, "crates", text)
    }));
    Ok(found)
}

fn packages(sources: &Sources) -> Result<BTreeMap<String, Package<'_>>, Error> {
    let mut packages = BTreeMap::new();
    for source in sources
        .iter()
        .filter(|source| source.path.ends_with("Cargo.toml"))
    {
        let problem = |error| Error::Argument(format!("{}: {error}", source.path.display()));
        let manifest: Toml = source.text.parse().map_err(problem)?;
        let name = manifest
            .get("package")
            .and_then(|package| package.get("name"));
        if let Some(name) = name.and_then(Value::as_str) {
            packages.insert(name.to_owned(), Package { source, manifest });
        }
    }
    Ok(packages)
}

impl Package<'_> {
    fn findings(
        &self,
        table: &Table,
        arrows: &Arrows,
        packages: &BTreeMap<String, Package<'_>>,
    ) -> Vec<Finding> {
        let mut found = Vec::new();
        let code = self.uses(&CODE, packages);
        let tests = self.uses(&["dev-dependencies"], packages);
        for (list, key, there) in [
            (&arrows.uses, "uses", code),
            (&arrows.tests_use, "tests_use", tests),
        ] {
            let is_allowed = |name: &String| list.iter().any(|allowed| allowed.get_ref() == name);
            for name in there.iter().filter(|name| !is_allowed(name)) {
                let text = format!(
                    "an arrow to {name} that {FILE} does not allow: take another way, or add it to \
                     `{key}` there and say why in the commit"
                );
                found.push(self.source.finding(self.line(name), "crates", name, text));
            }
            let useless = list
                .iter()
                .filter(|allowed| !there.contains(allowed.get_ref()));
            found.extend(useless.map(|allowed: &Spanned<String>| {
                let text = format!("nothing goes to {} any more: remove it", allowed.get_ref());
                table.finding(allowed, "crates", text)
            }));
        }
        found
    }

    /// The folder at the root of the tree that it is in.
    fn product(&self) -> &str {
        let first = self.source.path.iter().next();
        first.and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// What its code uses of other products. Tests may start the programs of all.
    fn between_products(
        &self,
        table: &Table,
        packages: &BTreeMap<String, Package<'_>>,
    ) -> Vec<Finding> {
        let own = self.product();
        let Some((_, allowed)) = table.products.iter().find(|(key, _)| key.get_ref() == own) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for name in self.uses(&CODE, packages) {
            let Some(product) = packages.get(&name).map(Package::product) else {
                continue;
            };
            if product != own && !allowed.iter().any(|it| it.get_ref() == product) {
                let text = format!(
                    "code of {own}/ uses {name} of {product}/, which [products] of {FILE} does not allow"
                );
                found.push(
                    self.source
                        .finding(self.line(&name), "products", &name, text),
                );
            }
        }
        found
    }

    /// The packages of the tree in the tables of these kinds.
    fn uses(&self, kinds: &[&str], packages: &BTreeMap<String, Package<'_>>) -> BTreeSet<String> {
        let all = kinds.iter().flat_map(|kind| self.dependencies(kind));
        all.filter(|name| packages.contains_key(name)).collect()
    }

    /// The names in the tables of this kind, those for some targets only as well.
    fn dependencies(&self, kind: &str) -> Vec<String> {
        let targets = self.manifest.get("target").and_then(Value::as_table);
        let targets = targets.into_iter().flat_map(Toml::values);
        let tables = targets
            .map(|target| target.get(kind))
            .chain([self.manifest.get(kind)]);
        tables
            .flatten()
            .filter_map(Value::as_table)
            .flat_map(Toml::keys)
            .cloned()
            .collect()
    }

    fn line(&self, name: &str) -> usize {
        let at = self.source.text.lines().position(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([' ', '.', '=']))
        });
        at.map_or(1, |at| at + 1)
    }
}
