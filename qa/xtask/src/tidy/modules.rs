//! Arrows between the modules at the root of a crate. Modules are found as a compiler finds
//! them, from `lib.rs` on; code that only tests have may use whatever it likes.
//!
//! Two kinds of paths lead from one module to another: those that begin with `crate`, and those
//! that begin with enough `super`. A name that `lib.rs` exports again counts as the module that
//! it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::Finding;
use super::source::{Source, Sources};
use super::table::{FILE, Layers, Table};
use super::tokens::{attributes, group, ident, is_colons, is_for_tests, is_ident, is_punct, list};

pub(super) fn findings(table: &Table, sources: &Sources) -> Vec<Finding> {
    let mut found = Vec::new();
    for (folder, layers) in &table.modules {
        let src = Path::new(folder.get_ref()).join("src");
        let Some(root) = sources.get(&src.join("lib.rs")) else {
            let text = format!("there is no {}/lib.rs: remove it", src.display());
            found.push(table.finding(folder, "modules", text));
            continue;
        };
        let mut walk = Walk {
            sources,
            names: BTreeMap::new(),
            uses: Vec::new(),
            modules: Vec::new(),
        };
        if let Some(stream) = root.rust() {
            walk.names = exported(stream);
            walk.module(root, &src, &[], stream);
        }
        found.extend(in_layers(table, layers, &walk, root));
    }
    found
}

/// One module uses another.
struct Use<'a> {
    from: String,
    to: String,
    source: &'a Source,
    line: usize,
}

/// A walk through the modules of a crate.
struct Walk<'a> {
    sources: &'a Sources,
    /// Names that the root exports again, and the modules that they come from.
    names: BTreeMap<String, String>,
    uses: Vec<Use<'a>>,
    /// The modules at the root.
    modules: Vec<(String, usize)>,
}

fn in_layers(table: &Table, layers: &Layers, walk: &Walk<'_>, root: &Source) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut layer_of = BTreeMap::new();
    for (layer, names) in layers.layers.iter().enumerate() {
        for name in names {
            layer_of.insert(name.get_ref().as_str(), layer);
            if !walk
                .modules
                .iter()
                .any(|(module, _)| module == name.get_ref())
            {
                let text = format!("there is no module {}: remove it", name.get_ref());
                found.push(table.finding(name, "modules", text));
            }
        }
    }
    for (module, line) in &walk.modules {
        if !layer_of.contains_key(module.as_str()) {
            let text = format!("module {module} is in no layer of {FILE}: add it to one");
            found.push(root.finding(*line, "modules", module, text));
        }
    }
    for Use {
        from,
        to,
        source,
        line,
    } in &walk.uses
    {
        let (Some(of_from), Some(of_to)) = (layer_of.get(from.as_str()), layer_of.get(to.as_str()))
        else {
            continue;
        };
        if of_to >= of_from {
            let where_ = if of_to == of_from {
                "is in the same layer"
            } else {
                "is in a higher layer"
            };
            let text = format!(
                "module {from} uses {to}, which {where_} ({FILE}): move what they share below both, \
                 or hand it in from above"
            );
            found.push(source.finding(*line, "modules", format!("{from} -> {to}"), text));
        }
    }
    found
}

/// The names of `pub use module::{..}` at the root.
fn exported(stream: &TokenStream) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let tokens = list(stream);
    for (at, token) in tokens.iter().enumerate() {
        let Some(module) = ident(tokens.get(at + 1)).filter(|_| is_ident(Some(token), "use"))
        else {
            continue;
        };
        let behind = tokens.get(at + 2..).unwrap_or_default();
        let statement = behind
            .split(|token| is_punct(Some(token), ';'))
            .next()
            .unwrap_or_default();
        add_names(statement, &module.to_string(), &mut names);
    }
    names
}

fn add_names(tokens: &[TokenTree], module: &str, names: &mut BTreeMap<String, String>) {
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => add_names(&list(&group.stream()), module, names),
            // The last one of a path, or what it is called here.
            TokenTree::Ident(name)
                if !is_colons(tokens, at + 1) && !is_ident(tokens.get(at + 1), "as") =>
            {
                names.insert(name.to_string(), module.to_owned());
            }
            _ => {}
        }
    }
}

impl<'a> Walk<'a> {
    /// Goes through a module: `path` is its name, `folder` where the files of its modules are.
    fn module(&mut self, source: &'a Source, folder: &Path, path: &[String], stream: &TokenStream) {
        let tokens = list(stream);
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if is_ident(Some(token), "mod") && ident(tokens.get(at + 1)).is_some() {
                self.submodule(source, folder, path, &tokens, at);
                at += 3;
                continue;
            }
            if let Some(end) = end_of_test_item(&tokens, at) {
                at = end;
                continue;
            }
            self.token(source, path, &tokens, at);
            at += 1;
        }
    }

    fn submodule(
        &mut self,
        source: &'a Source,
        folder: &Path,
        path: &[String],
        tokens: &[TokenTree],
        at: usize,
    ) {
        let Some(name) = ident(tokens.get(at + 1)) else {
            return;
        };
        let attributes = attributes(tokens, at);
        if is_for_tests(&attributes) {
            return;
        }
        let path = [path, &[name.to_string()]].concat();
        if path.len() == 1 {
            self.modules
                .push((name.to_string(), name.span().start().line));
        }
        let below = folder.join(name.to_string());
        if let Some(body) = group(tokens.get(at + 2), Delimiter::Brace) {
            self.module(source, &below, &path, &body.stream());
            return;
        }
        let beside = folder.join(format!("{name}.rs"));
        let files: [PathBuf; 2] = [beside, below.join("mod.rs")];
        let file = files.iter().find_map(|file| self.sources.get(file));
        if let Some((file, stream)) = file.and_then(|file| Some((file, file.rust()?))) {
            self.module(file, &below, &path, stream);
        }
    }

    /// Looks whether a path begins here, and into groups.
    fn token(&mut self, source: &'a Source, path: &[String], tokens: &[TokenTree], at: usize) {
        match tokens.get(at) {
            Some(TokenTree::Group(group)) => {
                let inner = list(&group.stream());
                let mut at = 0;
                while at < inner.len() {
                    match end_of_test_item(&inner, at) {
                        Some(end) => at = end,
                        None => {
                            self.token(source, path, &inner, at);
                            at += 1;
                        }
                    }
                }
            }
            Some(TokenTree::Ident(word)) if word == "crate" && is_colons(tokens, at + 1) => {
                self.follow(source, path, &[], tokens, at + 3);
            }
            Some(TokenTree::Ident(word)) if word == "super" && is_colons(tokens, at + 1) => {
                let outer = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
                // One that stands behind another was followed with it.
                if at < 3 || !is_ident(tokens.get(at - 3), "super") {
                    self.follow(source, path, outer, tokens, at + 3);
                }
            }
            _ => {}
        }
    }

    /// Follows a path that has come to the module `now`, and goes on at `at`.
    fn follow(
        &mut self,
        source: &'a Source,
        path: &[String],
        now: &[String],
        tokens: &[TokenTree],
        at: usize,
    ) {
        match tokens.get(at) {
            Some(TokenTree::Ident(word)) if word == "super" => {
                let outer = now.get(..now.len().saturating_sub(1)).unwrap_or_default();
                self.follow(source, path, outer, tokens, at + 3);
            }
            Some(TokenTree::Ident(word)) if now.is_empty() => {
                let word_text = word.to_string();
                let to = self.names.get(&word_text).cloned().unwrap_or(word_text);
                let line = word.span().start().line;
                if let Some(from) = path.first().filter(|from| **from != to) {
                    self.uses.push(Use {
                        from: from.clone(),
                        to,
                        source,
                        line,
                    });
                }
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner = list(&group.stream());
                for part in inner.split(|token| is_punct(Some(token), ',')) {
                    self.follow(source, path, now, part, 0);
                }
            }
            _ => {}
        }
    }
}

/// Where the item ends that only tests have, if its attribute stands at `at`.
fn end_of_test_item(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let attribute = group(tokens.get(at + 1), Delimiter::Bracket)?;
    if !is_punct(tokens.get(at), '#') || !is_for_tests(&[attribute.stream()]) {
        return None;
    }
    let is_end = |token: &TokenTree| {
        is_punct(Some(token), ';') || group(Some(token), Delimiter::Brace).is_some()
    };
    let rest = tokens.get(at + 2..)?;
    let end = rest
        .iter()
        .position(is_end)
        .map_or(rest.len(), |end| end + 1);
    Some(at + 2 + end)
}
