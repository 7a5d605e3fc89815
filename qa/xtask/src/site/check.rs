//! Links of finished pages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Error;

/// rustdoc's pages, which rustdoc checks, and a page for servers.
const SKIPPED: [&str; 2] = ["rust", "404.html"];

/// What is wrong below `folder`: the page, and the target of its link.
pub fn findings(folder: &Path) -> Result<Vec<String>, Error> {
    let mut pages = BTreeMap::new();
    read(folder, folder, &mut pages)?;
    let mut found = Vec::new();
    for (path, text) in &pages {
        for (name, target) in attributes(text) {
            if !leads_somewhere(folder, path, &pages, name, target) {
                found.push(format!("{}: {name}={target}", path.display()));
            }
        }
    }
    Ok(found)
}

fn read(root: &Path, folder: &Path, pages: &mut BTreeMap<PathBuf, String>) -> Result<(), Error> {
    for entry in fs::read_dir(folder).map_err(Error::file(folder))? {
        let path = entry.map_err(Error::file(folder))?.path();
        if SKIPPED.iter().any(|skipped| path == root.join(skipped)) {
            continue;
        }
        if path.is_dir() {
            read(root, &path, pages)?;
        } else if path.extension().is_some_and(|ending| ending == "html") {
            let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
            pages.insert(path, text);
        }
    }
    Ok(())
}

/// All `href` and `src`.
fn attributes(text: &str) -> impl Iterator<Item = (&'static str, &str)> {
    ["href", "src"].into_iter().flat_map(move |name| {
        let starts = text.match_indices(if name == "href" {
            " href=\""
        } else {
            " src=\""
        });
        starts.filter_map(move |(place, start)| {
            let value = &text[place + start.len()..];
            Some((name, &value[..value.find('"')?]))
        })
    })
}

fn leads_somewhere(
    root: &Path,
    page: &Path,
    pages: &BTreeMap<PathBuf, String>,
    name: &str,
    target: &str,
) -> bool {
    if target.contains("://") {
        // A reader may follow it; a page may not load it.
        return name == "href";
    }
    if target.starts_with("mailto:") || target.starts_with("data:") {
        return true;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = path.split('?').next().unwrap_or_default();
    let mut aim = match path {
        "" => page.to_path_buf(),
        path => page.parent().unwrap_or(root).join(path),
    };
    if aim.is_dir() {
        aim.push("index.html");
    }
    let Ok(aim) = aim.canonicalize() else {
        return false;
    };
    let text = pages
        .iter()
        .find(|(path, _)| path.canonicalize().is_ok_and(|path| path == aim));
    match text {
        Some((_, text)) if !anchor.is_empty() => text.contains(&format!("id=\"{anchor}\"")),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_nowhere_and_foreign_files_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        write(
            "a.html",
            r#"<h1 id="top"></h1><a href="b.html#x">b</a> <img src="c.svg"><a href="https://x.org">x</a>"#,
        );
        write("b.html", r#"<a id="x" href="a.html#top">a</a>"#);
        write("c.svg", "");
        assert_eq!(findings(folder.path()).unwrap(), Vec::<String>::new());
        write(
            "b.html",
            r#"<a href="a.html#gone">a</a> <script src="https://x.org/y.js"></script> <a href="d.html">d</a>"#,
        );
        let found = findings(folder.path()).unwrap();
        let ends: Vec<&str> = found
            .iter()
            .map(|line| line.rsplit_once(": ").unwrap().1)
            .collect();
        assert_eq!(
            ends,
            [
                "href=b.html#x",
                "href=a.html#gone",
                "href=d.html",
                "src=https://x.org/y.js"
            ]
        );
    }
}
