//! `hostwire reproduce --html`: one page that needs nothing else.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::job;

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
    // Every picture says what made it, and how to make it again.
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
    // Chooses a class, and leaves what went wrong in the title.
    let probe = "<script>window.onerror = why => { document.title = 'broken: ' + why; };</script>";
    let choose = "<script>by('class').value = 'fitted'; filter(); \
        document.body.dataset.shown = by('shown').textContent;</script>";
    let html = html.replacen("<body>", &format!("<body>{probe}"), 1);
    let html = html.replacen("</body>", &format!("{choose}</body>"), 1);
    let file = folder.path().join("probed.html");
    std::fs::write(&file, html).unwrap();
    let profile = folder.path().join("profile");
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
        ])
        .args(["--disable-background-networking", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", file.display()))
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no chromium here, which opens the page in this test");
        return;
    };
    let dom = String::from_utf8_lossy(&output.stdout);
    let fitted = rows.iter().filter(|row| row["class"] == "fitted").count();
    let shown = format!("data-shown=\"{fitted} of {} shown\"", rows.len());
    assert!(!dom.contains("<title>broken"), "{dom}");
    assert!(dom.contains(&shown), "{shown} is not in {dom}");
}
