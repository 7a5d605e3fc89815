//! Tests that are not run, or end early, without a line that says so.
//!
//! A test that lacks something on this machine says so through `hostwire_testing::left_out`, which
//! fails where the continuous integration demands it. So no other code prints "skipped". A test
//! that returns early asks a function that leads there: the function itself, or one of the same
//! package that calls it, directly or not.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Finding;
use super::source::{Source, Sources};
use super::tokens::{Function, calls, calls_any, functions, group, is_ident, is_punct, list};

/// The functions that say why a test is left out.
const HELPERS: [&str; 3] = ["left_out", "is_installed", "dom"];
/// Where it is.
const HOME: &str = "qa/testing";

pub(super) fn findings(sources: &Sources) -> Vec<Finding> {
    let mut by_package: BTreeMap<PathBuf, Vec<(&Source, Vec<Function>)>> = BTreeMap::new();
    for source in sources.iter() {
        if let Some(stream) = source.rust() {
            let package = package_of(sources, &source.path);
            by_package
                .entry(package)
                .or_default()
                .push((source, functions(stream)));
        }
    }
    let mut found = Vec::new();
    for (package, files) in &by_package {
        let mut all = Vec::new();
        for (source, functions) in files {
            all.extend(functions.iter().map(|function| (*source, function)));
        }
        let asking = asking(all.into_iter());
        for (source, functions) in files {
            for function in functions {
                found.extend(ignored(source, function));
                if function.is_test() {
                    found.extend(silent(source, function, &asking));
                }
            }
            if package != Path::new(HOME) {
                found.extend(printed(source));
            }
        }
    }
    found
}

/// The folder of the package that a file belongs to.
fn package_of(sources: &Sources, file: &Path) -> PathBuf {
    let has_manifest = |folder: &&Path| sources.get(&folder.join("Cargo.toml")).is_some();
    file.ancestors()
        .skip(1)
        .find(has_manifest)
        .unwrap_or(Path::new(""))
        .to_path_buf()
}

/// The names of functions that call one of the helpers, or a function that does, and return whether
/// they have.
fn asking<'a>(functions: impl Iterator<Item = (&'a Source, &'a Function)>) -> BTreeSet<String> {
    let mut asking = BTreeSet::from(HELPERS.map(str::to_owned));
    let may_ask = |(source, function): &(&Source, &Function)| {
        (function.is_for_tests || is_for_tests(source))
            && ["Option", "bool"].contains(&&*function.output)
    };
    let functions: Vec<&Function> = functions
        .filter(may_ask)
        .map(|(_, function)| function)
        .collect();
    loop {
        let before = asking.len();
        for function in &functions {
            if calls(&function.body, &|name| asking.contains(name)) {
                asking.insert(function.name.clone());
            }
        }
        if asking.len() == before {
            return asking;
        }
    }
}

/// Whether all of a file is there for tests only.
fn is_for_tests(source: &Source) -> bool {
    let mut names = source.path.iter();
    names.any(|name| name == "tests" || name == "tests.rs")
}

/// `#[ignore]` alone.
fn ignored(source: &Source, function: &Function) -> Option<Finding> {
    let is_bare = |attribute: &TokenStream| {
        let attribute = list(attribute);
        attribute.len() == 1 && is_ident(attribute.first(), "ignore")
    };
    function.attributes.iter().any(is_bare).then(|| {
        let text = format!(
            "`{}` is ignored without a reason: #[ignore = \"why\"]",
            function.name
        );
        source.finding(function.line, "ignore", &function.name, text)
    })
}

/// Returns from a test without a line that says so.
fn silent(source: &Source, function: &Function, asking: &BTreeSet<String>) -> Vec<Finding> {
    let mut lines = Vec::new();
    find_silent(&function.body, false, asking, &mut lines);
    let finding = |line| {
        let text = format!(
            "`{}` ends early, and nobody hears why: say it with hostwire_testing::left_out",
            function.name
        );
        source.finding(line, "skip", &function.name, text)
    };
    lines.into_iter().map(finding).collect()
}

/// `is_said`: whether the statement that this block belongs to has asked.
fn find_silent(
    block: &TokenStream,
    is_said: bool,
    asking: &BTreeSet<String>,
    lines: &mut Vec<usize>,
) {
    let asks = |name: &str| asking.contains(name);
    let tokens = list(block);
    let is_said_here = is_said || calls(block, &asks);
    // Where the statement begins.
    let mut begin = 0;
    for (at, token) in tokens.iter().enumerate() {
        let behind = tokens.get(at + 1);
        match token {
            TokenTree::Ident(word) if word == "return" => {
                let is_bare = behind.is_none() || is_punct(behind, ';');
                if is_bare && !is_said_here {
                    lines.push(word.span().start().line);
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let statement = tokens.get(begin..at).unwrap_or_default();
                // A return in a closure does not leave the test.
                if !is_punct(statement.last(), '|') {
                    let is_said = is_said || calls_any(statement, &asks);
                    find_silent(&group.stream(), is_said, asking, lines);
                }
            }
            TokenTree::Punct(sign) if sign.as_char() == ';' => begin = at + 1,
            _ => {}
        }
    }
}

/// A text that says what the helper says.
fn printed(source: &Source) -> Vec<Finding> {
    let mut lines = Vec::new();
    if let Some(stream) = source.rust() {
        find_printed(stream, &mut lines);
    }
    let text = "a test is left out by hand: say it with hostwire_testing::left_out";
    lines
        .into_iter()
        .map(|line| source.finding(line, "skip", "", text))
        .collect()
}

fn find_printed(stream: &TokenStream, lines: &mut Vec<usize>) {
    let tokens = list(stream);
    for (at, token) in tokens.iter().enumerate() {
        let Some(arguments) = group(Some(token), Delimiter::Parenthesis) else {
            if let TokenTree::Group(group) = token {
                find_printed(&group.stream(), lines);
            }
            continue;
        };
        let is_print = at >= 2
            && is_punct(tokens.get(at - 1), '!')
            && ["print", "println", "eprint", "eprintln"]
                .iter()
                .any(|name| is_ident(tokens.get(at - 2), name));
        let first = list(&arguments.stream())
            .first()
            .map(ToString::to_string)
            .unwrap_or_default();
        if is_print && first.to_lowercase().starts_with("\"skip") {
            lines.push(token.span().start().line);
        }
        find_printed(&arguments.stream(), lines);
    }
}
