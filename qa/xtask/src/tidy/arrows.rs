//! Arrows between the modules of a crate. Modules are found as a compiler finds them, from `lib.rs` or
//! `main.rs` on; code that only tests have may use whatever it likes.
//!
//! Two kinds of paths lead from one module to another: those that begin with `crate`, and those
//! that begin with enough `super`. A name that a module exports again counts as the module that
//! it comes from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::source::{Source, Sources};
use super::tokens::{attributes, group, ident, is_colons, is_for_tests, is_ident, is_punct, list};

/// The name of a module: those of the modules that it is in, and its own. That of the root is empty.
pub(super) type Name = Vec<String>;

/// One module uses something of another.
pub(super) struct Use<'a> {
    pub(super) from: Name,
    pub(super) to: Name,
    pub(super) source: &'a Source,
    pub(super) line: usize,
}

/// A module of a crate.
pub(super) struct Module<'a> {
    pub(super) source: &'a Source,
    /// The line in the module that it is in.
    pub(super) line: usize,
    /// Names that it exports again, and its modules that they come from.
    names: BTreeMap<String, String>,
}

/// A walk through the modules of a crate.
pub(super) struct Walk<'a> {
    sources: &'a Sources,
    pub(super) modules: BTreeMap<Name, Module<'a>>,
    pub(super) uses: Vec<Use<'a>>,
}

/// The names of `use module::{..}` in a module, where that is its own.
fn exported(tokens: &[TokenTree]) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (at, token) in tokens.iter().enumerate() {
        // `use module::..` and `use self::module::..`.
        let first = at + 1;
        let is_self = is_ident(tokens.get(first), "self") && is_colons(tokens, first + 1);
        let first = if is_self { first + 3 } else { first };
        let Some(module) = ident(tokens.get(first)).filter(|_| is_ident(Some(token), "use")) else {
            continue;
        };
        let behind = tokens.get(first + 1..).unwrap_or_default();
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
    /// Through all modules of the crate with this root.
    pub(super) fn through(sources: &'a Sources, root: &'a Source) -> Self {
        let mut walk = Self {
            sources,
            modules: BTreeMap::new(),
            uses: Vec::new(),
        };
        if let Some(stream) = root.rust() {
            let folder = root.path.parent().unwrap_or(Path::new(""));
            // A path may lead to a module that comes later.
            for is_known in [false, true] {
                walk.module(root, folder, &[], stream, 1, is_known);
            }
        }
        walk
    }

    /// Goes through a module: `path` is its name, `folder` where the files of its modules are. The first time
    /// its modules are looked at, and then its paths.
    fn module(
        &mut self,
        source: &'a Source,
        folder: &Path,
        path: &[String],
        stream: &TokenStream,
        line: usize,
        is_known: bool,
    ) {
        let tokens = list(stream);
        if !is_known {
            let names = exported(&tokens);
            let module = Module {
                source,
                line,
                names,
            };
            self.modules.insert(path.to_vec(), module);
        }
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            if is_ident(Some(token), "mod") && ident(tokens.get(at + 1)).is_some() {
                self.submodule(source, folder, path, &tokens, at, is_known);
                at += 3;
                continue;
            }
            if let Some(end) = end_of_test_item(&tokens, at) {
                at = end;
                continue;
            }
            if is_known {
                self.token(source, path, &tokens, at);
            }
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
        is_known: bool,
    ) {
        let Some(name) = ident(tokens.get(at + 1)) else {
            return;
        };
        let attributes = attributes(tokens, at);
        if is_for_tests(&attributes) {
            return;
        }
        let path = [path, &[name.to_string()]].concat();
        let line = name.span().start().line;
        let below = folder.join(name.to_string());
        if let Some(body) = group(tokens.get(at + 2), Delimiter::Brace) {
            self.module(source, &below, &path, &body.stream(), line, is_known);
            return;
        }
        let beside = folder.join(format!("{name}.rs"));
        let files: [PathBuf; 2] = [beside, below.join("mod.rs")];
        let file = files.iter().find_map(|file| self.sources.get(file));
        if let Some((file, stream)) = file.and_then(|file| Some((file, file.rust()?))) {
            self.module(file, &below, &path, stream, line, is_known);
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
            Some(TokenTree::Ident(word)) => {
                let line = word.span().start().line;
                let word = word.to_string();
                let into = self
                    .modules
                    .get(now)
                    .and_then(|module| module.names.get(&word));
                let below = [now, &[into.cloned().unwrap_or(word)]].concat();
                let goes_on = is_colons(tokens, at + 1);
                match self.modules.contains_key(&below) {
                    true if goes_on && into.is_none() => {
                        self.follow(source, path, &below, tokens, at + 3);
                    }
                    true => self.add(source, path, &below, line),
                    false => self.add(source, path, now, line),
                }
            }
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                let inner = list(&group.stream());
                for part in inner.split(|token| is_punct(Some(token), ',')) {
                    self.follow(source, path, now, part, 0);
                }
            }
            Some(token) => self.add(source, path, now, token.span().start().line),
            None => {}
        }
    }

    fn add(&mut self, source: &'a Source, from: &[String], to: &[String], line: usize) {
        self.uses.push(Use {
            from: from.to_vec(),
            to: to.to_vec(),
            source,
            line,
        });
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
