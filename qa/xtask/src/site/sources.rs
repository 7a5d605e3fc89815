//! The documents as mdBook takes them.

use std::fs;
use std::path::Path;

use crate::{Error, Tree, plain, root};

/// Where the files are that the site does not have.
const REPOSITORY: &str = "https://github.com/hostwire/hostwire/blob/main";

/// Copies all documents and pictures. The site's own files stay out.
pub fn copy(from: &Path, to: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(from).map_err(Error::file(from))? {
        let path = entry.map_err(Error::file(from))?.path();
        let name = path.file_name().unwrap_or_default();
        let target = to.join(name);
        if path.is_dir() {
            if name != "site" {
                copy(&path, &target)?;
            }
        } else if path == root().join("docs/README.md") {
            // The table of contents has what it says.
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
            crate::tree::write(&target, &with_links(&text, from))?;
        } else {
            fs::create_dir_all(to).map_err(Error::file(to))?;
            fs::copy(&path, &target).map_err(Error::file(&path))?;
        }
    }
    Ok(())
}

/// The same text, of a document in `folder`. Links to files outside of `docs` lead to the repository. Remarks for the programs that write or
/// run parts of a page are gone.
fn with_links(text: &str, folder: &Path) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_code = false;
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        if is_code {
            // Behind the language stands a name that is for readers of the source.
            let fence = line
                .strip_prefix("```")
                .and_then(|info| info.split_once(' '));
            match fence {
                Some((language, name)) => out += &format!("`{name}`\n\n```{language}\n"),
                None => out += &format!("{line}\n"),
            }
            continue;
        }
        if line.starts_with("<!-- ") && line.ends_with(" -->") {
            continue;
        }
        let mut rest = line;
        while let Some(place) = rest.find("](") {
            let (before, after) = rest.split_at(place + 2);
            out += before;
            let (target, behind) = after.split_at(after.find(')').unwrap_or(after.len()));
            out += &link(target, folder);
            rest = behind;
        }
        out += rest;
        out.push('\n');
    }
    out
}

fn link(target: &str, folder: &Path) -> String {
    let is_elsewhere = target.starts_with('#') || target.contains("://");
    let (path, _) = target.split_once('#').unwrap_or((target, ""));
    let path = plain(&folder.join(path));
    let root = root();
    match path.strip_prefix(&root) {
        Ok(path) if !is_elsewhere && !path.starts_with("docs") => {
            format!("{REPOSITORY}/{}", path.display())
        }
        // mdBook calls the page of a folder so.
        _ if !is_elsewhere => target.replacen("README.md", "index.md", 1),
        _ => target.to_owned(),
    }
}

/// The table of contents: `template`, with all records of decisions below "Decisions", and all chapters of OpenSHMEM below "Reference".
pub fn summary(template: &str, docs: &Path, chapters: &Tree) -> Result<String, Error> {
    let mut out = String::new();
    for line in template.lines() {
        out += &format!("{line}\n");
        if line.ends_with("(decisions/README.md)") {
            for (name, title) in decisions(docs)? {
                out += &format!("  - [{title}](decisions/{name})\n");
            }
        }
        if line.ends_with("(reference/README.md)") {
            for (path, text) in chapters
                .iter()
                .filter(|(path, _)| !path.ends_with("README.md"))
            {
                out += &format!("  - [{}](reference/{})\n", title(text), path.display());
            }
        }
    }
    Ok(out)
}

/// The names and titles of records, the oldest first.
fn decisions(docs: &Path) -> Result<Vec<(String, String)>, Error> {
    let folder = docs.join("decisions");
    let mut found = Vec::new();
    for entry in fs::read_dir(&folder).map_err(Error::file(&folder))? {
        let path = entry.map_err(Error::file(&folder))?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name != "README.md" {
            let text = fs::read_to_string(&path).map_err(Error::file(&path))?;
            found.push((name, title(&text)));
        }
    }
    found.sort();
    Ok(found)
}

/// The first heading of a document.
fn title(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default();
    first.trim_start_matches("# ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_the_site_or_to_the_repository() {
        let folder = root().join("docs/sim");
        for (text, site) in [
            ("[a](wire.md#cost) b", "[a](wire.md#cost) b"),
            ("[a](../plan.md), [b](#here)", "[a](../plan.md), [b](#here)"),
            (
                "[a](../../bench/x/README.md#y)",
                "[a](https://github.com/hostwire/hostwire/blob/main/bench/x/README.md)",
            ),
            ("[a](../wire/README.md#b)", "[a](../wire/index.md#b)"),
            ("[a](https://x.org/y)", "[a](https://x.org/y)"),
        ] {
            assert_eq!(with_links(text, &folder), format!("{site}\n"));
        }
    }

    #[test]
    fn the_contents_have_every_page() {
        let docs = root().join("docs");
        let contents = fs::read_to_string(docs.join("site/contents.txt")).unwrap();
        let mut folders = vec![docs.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&docs).unwrap().display().to_string();
                if path.is_dir() && name != "decisions" {
                    folders.push(path);
                } else if name.ends_with(".md") && name != "README.md" {
                    assert!(contents.contains(&format!("({name})")), "{name}");
                }
            }
        }
    }

    #[test]
    fn names_of_files_are_shown_and_remarks_are_not() {
        let text = "<!-- within: x -->\n```c ring.c\nint a[](b);\n```\n";
        let site = "`ring.c`\n\n```c\nint a[](b);\n```\n";
        assert_eq!(with_links(text, &root().join("docs")), site);
    }
}
