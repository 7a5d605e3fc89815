//! Every link between the documents leads to a file and to a heading in it, and every document that
//! the code names exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use xtask::{plain, root};

/// Folders that are not part of the sources.
const SKIPPED: [&str; 4] = ["target", ".git", "out", "node_modules"];

fn files(folder: &Path, endings: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_symlink() || SKIPPED.contains(&&*name) {
            continue;
        }
        if path.is_dir() {
            files(&path, endings, found);
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push(path);
        }
    }
}

fn sources(endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    files(&root(), endings, &mut found);
    assert!(found.len() > 10, "{} files", found.len());
    found
}

/// The lines of a document without those between code fences.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut code = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        code ^= fence;
        !code && !fence
    })
}

/// The targets of links like `[text](target)`.
fn links(text: &str) -> Vec<String> {
    let text: String = prose(text).flat_map(|line| [line, "\n"]).collect();
    let targets = text.split("](").skip(1);
    targets
        .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
        .collect()
}

/// The name of a heading in a link: lower case, words joined by hyphens, no punctuation.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        _ if letter.is_alphanumeric() => Some(letter),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .filter(|line| line.starts_with('#'))
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

fn broken(document: &Path, text: &str, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match file {
        "" => document.to_owned(),
        _ => plain(&document.parent().unwrap_or(document).join(file)),
    };
    if !target.exists() {
        return Some("no such file".into());
    }
    if heading.is_empty() || target.extension().is_none_or(|ending| ending != "md") {
        return None;
    }
    let there = match file {
        "" => text.to_owned(),
        _ => fs::read_to_string(&target).expect("a document"),
    };
    (!anchors(&there).contains(heading)).then(|| "no such heading".into())
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut faults = Vec::new();
    let mut count = 0;
    for document in sources(&[".md"]) {
        let text = fs::read_to_string(&document).expect("a document");
        for link in links(&text) {
            count += 1;
            if let Some(fault) = broken(&document, &text, &link) {
                faults.push(format!("{}: ({link}): {fault}", document.display()));
            }
        }
    }
    assert!(count > 100, "{count} links");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn documents_that_the_code_names_exist() {
    let mut faults = Vec::new();
    for source in sources(&[".rs", ".sh", ".toml", ".c", ".h", ".lua", ".html", ".css"]) {
        let text = fs::read_to_string(&source).unwrap_or_default();
        for (place, _) in text.match_indices("docs/") {
            let before = text[..place].chars().next_back();
            let name: String = text[place..]
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || "/-_.".contains(*letter))
                .collect();
            let own = before.is_none_or(|letter| !letter.is_alphanumeric() && letter != '/');
            if own && name.ends_with(".md") && !root().join(&name).exists() {
                faults.push(format!("{}: {name}", source.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_broken_link_is_found() {
    let text = "# The `put`, again\n\n[a](README.md) [b](#the-put-again)\n```\n[c](d)\n```\n";
    let here = root().join("README.md");
    assert_eq!(links(text), ["README.md", "#the-put-again"]);
    assert_eq!(broken(&here, text, "#the-put-again"), None);
    assert_eq!(broken(&here, text, "README.md"), None);
    assert!(broken(&here, text, "#the-get").is_some());
    assert!(broken(&here, text, "missing.md").is_some());
    assert!(broken(&here, text, "docs/memory-model.md#missing").is_some());
}
