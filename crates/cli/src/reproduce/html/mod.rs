//! One page with everything: no other files, no network.

mod figure;
mod network;
mod papers;
mod pictures;
mod shipped;
mod tables;
mod timeline;

use std::collections::BTreeSet;
use std::path::Path;

use hostwire_sim::experiments::{ExperimentError, Row, Summary};

use super::curves::Named;
use super::report::{verdict, word};
use super::{BAD_OUTPUT, FAILED};

/// Writes `index.html` into `folder`.
pub fn write(rows: &[Row], charts: &[Named], folder: &Path) -> Result<(), (u8, String)> {
    let path = folder.join("index.html");
    let page = page(rows, charts).map_err(|error| (FAILED, error.to_string()))?;
    std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&path, page))
        .map_err(|error| {
            (
                BAD_OUTPUT,
                format!("cannot write {}: {error}", path.display()),
            )
        })
}

fn page(rows: &[Row], charts: &[Named]) -> Result<String, ExperimentError> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.paper.as_str()) {
            names.push(&row.paper);
        }
    }
    let counts = Summary::of(rows);
    let links: String = names
        .iter()
        .map(|name| {
            format!(
                "<a href=\"#{0}\">{1}</a> ",
                escape(name),
                escape(papers::title(name))
            )
        })
        .collect();
    let sections = names
        .iter()
        .map(|name| section(name, rows, charts))
        .collect::<Result<String, ExperimentError>>()?;
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <title>hostwire: the papers, published and simulated</title>\n\
         <style>{style}</style>\n</head>\n<body>\n<header>\n\
         <h1>The papers, published and simulated</h1>\n\
         <p>hostwire {version}. {verdict}</p>\n{summary}<nav>{links}</nav>\n\
         <p class=\"filters\">Class {classes} Verdict {verdicts} \
         <input id=\"search\" type=\"search\" placeholder=\"id or quantity\" aria-label=\"id or quantity\"/> \
         <span id=\"shown\"></span></p>\n</header>\n<main>\n{sections}</main>\n\
         <div id=\"tip\" role=\"status\"></div>\n<script>{script}</script>\n</body>\n</html>\n",
        style = include_str!("page.css"),
        script = include_str!("page.js"),
        version = env!("CARGO_PKG_VERSION"),
        verdict = escape(&verdict(&counts)),
        summary = tables::summary(&counts),
        classes = choice(
            "class",
            rows.iter().map(|row| row.class.to_string()).collect()
        ),
        verdicts = choice(
            "verdict",
            rows.iter().map(|row| word(&row.verdict)).collect()
        ),
    ))
}

fn choice(key: &str, words: BTreeSet<String>) -> String {
    let options: String = words
        .iter()
        .map(|word| format!("<option>{}</option>", escape(word)))
        .collect();
    format!(
        "<select id=\"{key}\" aria-label=\"{key}\"><option value=\"\">all</option>{options}</select>"
    )
}

fn section(name: &str, rows: &[Row], charts: &[Named]) -> Result<String, ExperimentError> {
    let own = rows.iter().filter(|row| row.paper == name);
    let figures: String = charts
        .iter()
        .filter_map(|(file, chart)| {
            let stem = file.strip_suffix(".svg")?.strip_prefix(name)?;
            let stem = stem.strip_prefix('-')?;
            let behind = shipped::behind(name, stem);
            Some(format!(
                "<figure id=\"{0}-{stem}\"><figcaption>{2}</figcaption>{1}{behind}</figure>\n",
                escape(name),
                figure::svg(chart),
                escape(&chart.title)
            ))
        })
        .collect();
    let pictures: String = pictures::of(name)?
        .iter()
        .map(|picture| {
            format!(
                "<figure id=\"{}\"><figcaption>{}</figcaption>{}{}</figure>\n",
                picture.id,
                escape(&picture.caption),
                picture.svg,
                shipped::details(picture.file),
            )
        })
        .collect();
    Ok(format!(
        "<section id=\"{id}\">\n<h2>{title}</h2>\n{summary}\
         <p>Again: <code>hostwire reproduce {id}</code></p>\n{pictures}{figures}\
         <h3>Its numbers</h3>\n{table}<h3>Its experiments as files</h3>\n{files}</section>\n",
        id = escape(name),
        title = escape(papers::title(name)),
        summary = papers::summary(name)
            .map_or(String::new(), |text| format!("<p>{}</p>\n", escape(text))),
        table = tables::claims(own),
        files = shipped::all(name),
    ))
}

/// For text and attributes.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            c => out.push(c),
        }
    }
    out
}
