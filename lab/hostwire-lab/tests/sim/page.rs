//! `hostwire reproduce --html`: one page that needs no other file.

use std::path::Path;

use serde_json::Value;

use crate::job;
use hostwire_testing::browser::{self, DESK, TELEPHONE, tell};

/// The page of a paper, and its rows.
fn page(folder: &Path) -> (String, Vec<Value>) {
    let ended = job::run(&[
        "reproduce",
        "htx-board",
        "--json",
        "--html",
        folder.to_str().unwrap(),
    ]);
    assert_eq!(ended.status, 0, "{}", ended.stderr);
    let html = std::fs::read_to_string(folder.join("index.html")).unwrap();
    (html, serde_json::from_str(&ended.stdout).unwrap())
}

/// Every element is closed, in order. Attributes have quotes, and text no bare `&`.
fn check_form(html: &str) {
    let mut open = Vec::new();
    let mut rest = html.strip_prefix("<!DOCTYPE html>").unwrap();
    while let Some(start) = rest.find('<') {
        let (text, tag) = rest.split_at(start);
        let raw = matches!(open.last(), Some(&"script" | &"style"));
        for (at, _) in text.match_indices('&').filter(|_| !raw) {
            let known = ["&amp;", "&lt;", "&gt;", "&quot;"];
            assert!(known.iter().any(|e| text[at..].starts_with(e)), "{text}");
        }
        let end = tag.find('>').expect("a tag ends");
        let inside = &tag[1..end];
        rest = &tag[end + 1..];
        assert_eq!(inside.matches('"').count() % 2, 0, "{inside}");
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{inside}");
        } else if !inside.ends_with('/') {
            open.push(inside.split_whitespace().next().unwrap());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (html, rows) = page(folder.path());
    check_form(&html);
    assert_eq!(html.matches("<tr data-class=").count(), rows.len());
    for row in &rows {
        let id = row["id"].as_str().unwrap();
        assert!(
            html.contains(&format!(" data-label=\"id\">{id}</td>")),
            "{id}"
        );
    }
    assert_eq!(html.matches("<svg ").count(), 4);
    assert!(html.contains("hostwire sim experiments/htx-board/read-latency.toml"));
    // Every picture names its experiment, and the command to make it again.
    let figures = html.split("<figure ").skip(1);
    for figure in figures.map(|rest| rest.split("</figure>").next().unwrap_or(rest)) {
        assert!(
            figure.contains("<code>hostwire sim experiments/"),
            "{figure}"
        );
        assert!(figure.contains("hash "), "{figure}");
        assert!(figure.contains("data-tip="), "{figure}");
    }
    assert!(html.contains("htx-board-links") && html.contains("htx-board-timeline"));
    for outside in ["http:", "https:", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_browser_filters_it() {
    let folder = tempfile::tempdir().unwrap();
    let (html, rows) = page(folder.path());
    let broken = format!(
        "<script>window.onerror = why => {{ {} }};</script>",
        tell("'broken: ' + why")
    );
    let html = html.replacen("<body>", &format!("<body>{broken}"), 1);
    let choose = "by('class').value = 'fitted'; filter();";
    let said = tell("by('shown').textContent");
    let Some(dom) = browser::dom(folder.path(), &html, DESK, &format!("{choose}{said}")) else {
        return;
    };
    let fitted = rows.iter().filter(|row| row["class"] == "fitted").count();
    let shown = format!("<title>{fitted} of {} shown</title>", rows.len());
    assert!(dom.contains(&shown), "{shown} is not in {dom}");
}

#[test]
fn it_is_read_on_a_telephone_and_on_a_desk() {
    let folder = tempfile::tempdir().unwrap();
    let (html, _) = page(folder.path());
    browser::fits(&html, TELEPHONE);
    browser::fits(&html, DESK);
}

/// The check above finds its target: it is not blind.
#[test]
fn a_page_that_is_too_wide_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let (html, _) = page(folder.path());
    let wide = html.replacen(
        "<main>",
        "<main><div style=\"width:500px\">too wide</div>",
        1,
    );
    let noticed = std::panic::catch_unwind(|| browser::fits(&wide, TELEPHONE)).is_err();
    let folder = tempfile::tempdir().unwrap();
    let there = browser::dom(folder.path(), &html, TELEPHONE, "").is_some();
    assert_eq!(noticed, there);
}

/// The first table counts the classes, each row names the place of its number, and the paper
/// is cited.
#[test]
fn the_page_begins_with_the_counts_and_cites_the_paper() {
    let folder = tempfile::tempdir().unwrap();
    let (html, rows) = page(folder.path());
    let first = html.split("<table").nth(1).unwrap();
    assert!(first.starts_with(" id=\"classes\""), "{first}");
    for class in [
        "predicted",
        "bound",
        "tuned-assumption",
        "fitted",
        "identity",
        "unknowable",
    ] {
        assert!(first.contains(class), "{class}");
    }
    assert!(html.contains("numbers agree with the papers"));
    let row = &rows[0];
    assert!(html.contains(row["title"].as_str().unwrap()));
    for author in row["authors"].as_array().unwrap() {
        assert!(html.contains(author.as_str().unwrap()), "{author}");
    }
    let places = html.matches("<small>Nüssle et al. 2007, section").count();
    assert_eq!(places, rows.len());
}
