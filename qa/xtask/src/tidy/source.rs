//! The files of the tree.

use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;

use super::Finding;
use crate::Error;

/// Endings of files that people write, Rust apart.
const TEXT: [&str; 14] = [
    "c", "cpp", "css", "h", "html", "js", "lua", "md", "py", "S", "sh", "toml", "yml", "in",
];

/// A file, as it is on disk.
pub(super) struct Source {
    /// Below the root.
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The tokens of a Rust file, or why there are none.
    pub(super) tokens: Option<Result<TokenStream, proc_macro2::LexError>>,
}

impl Source {
    /// The tokens of a Rust file that could be read.
    pub(super) fn rust(&self) -> Option<&TokenStream> {
        self.tokens.as_ref()?.as_ref().ok()
    }

    /// A finding in this file.
    pub(super) fn finding(
        &self,
        line: usize,
        rule: &'static str,
        what: impl Into<String>,
        text: impl Into<String>,
    ) -> Finding {
        Finding {
            file: self.path.clone(),
            line,
            rule,
            what: what.into(),
            text: text.into(),
        }
    }
}

/// All files of the tree that rules are for, in the order of their paths.
pub(super) struct Sources(Vec<Source>);

impl Sources {
    pub(super) fn load(root: &Path) -> Result<Self, Error> {
        let mut paths = Vec::new();
        collect(root, root, &mut paths)?;
        paths.sort();
        let read = |path: PathBuf| {
            let bytes = fs::read(root.join(&path)).map_err(Error::file(&path))?;
            // Some tests have files that are no text.
            let text = String::from_utf8_lossy(&bytes).into_owned();
            let is_rust = path.extension().is_some_and(|ending| ending == "rs");
            let tokens = is_rust.then(|| text.parse());
            Ok(Source { path, text, tokens })
        };
        paths
            .into_iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Source> {
        self.0.iter()
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Source> {
        let at = self
            .0
            .binary_search_by(|source| source.path.as_path().cmp(path));
        self.0.get(at.ok()?)
    }

    /// Rust files that are none.
    pub(super) fn unreadable(&self) -> impl Iterator<Item = Finding> {
        self.iter().filter_map(|source| match &source.tokens {
            Some(Err(error)) => {
                let text = format!("no rule can be checked: {error}; mend the file");
                Some(source.finding(error.span().start().line, "rust", "", text))
            }
            _ => None,
        })
    }
}

/// Adds the files below `folder`, without links, hidden files and what builds leave behind.
fn collect(root: &Path, folder: &Path, paths: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let entry = entry.map_err(Error::file(folder))?;
        let (path, name) = (entry.path(), entry.file_name());
        let kind = entry.file_type().map_err(Error::file(&path))?;
        if name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        if kind.is_dir() {
            if name != "target" && name != "out" {
                collect(root, &path, paths)?;
            }
        } else if kind.is_file() && is_written_by_people(&path) {
            paths.push(path.strip_prefix(root).unwrap_or(&path).to_path_buf());
        }
    }
    Ok(())
}

fn is_written_by_people(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    match ending {
        Some(ending) => ending == "rs" || TEXT.contains(&ending),
        None => path.file_name().is_some_and(|name| name == "Makefile"),
    }
}
