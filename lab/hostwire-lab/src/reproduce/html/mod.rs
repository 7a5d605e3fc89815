//! One page with everything: no other files, no network.

mod network;
mod papers;
mod pictures;
mod shipped;
mod tables;
mod timeline;

use std::collections::BTreeSet;
use std::path::Path;

use hostwire_sim::experiments::{ExperimentError, Row, Summary};

use hostwire_cli::html::escape;

use super::curves::Named;
use super::report::{verdict, verdict_elsewhere, verdict_rtl, word};
use super::{BAD_OUTPUT, FAILED};

/// Writes `index.html` into `folder`.
pub fn write(rows: &[Row], charts: &[Named], folder: &Path) -> Result<(), (u8, String)> {
    let path = folder.join("index.html");
    let page = page(rows, charts).map_err(|error| (FAILED, error.to_string()))?;
    std::fs::create_dir_all(folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))
        .and_then(|()| hostwire_cli::file::write_whole(&path, page.as_bytes()))
        .map_err(|why| (BAD_OUTPUT, why))
}

fn page(rows: &[Row], charts: &[Named]) -> Result<String, ExperimentError> {
    let mut papers: Vec<&Row> = Vec::new();
    for row in rows {
        if papers.last().is_none_or(|last| last.paper != row.paper) {
            papers.push(row);
        }
    }
    let [counts, elsewhere, rtl] = Summary::apart(rows);
    let lead = [
        (&counts, verdict(&counts)),
        (&elsewhere, verdict_elsewhere(&elsewhere)),
        (&rtl, verdict_rtl(&rtl)),
    ];
    let lead: Vec<String> = lead
        .into_iter()
        .filter(|(summary, _)| summary.rows() > 0)
        .map(|(_, text)| text)
        .collect();
    let links: String = papers
        .iter()
        .map(|row| {
            format!(
                "<a href=\"#{0}\">{1}</a> ",
                escape(&row.paper),
                escape(papers::title(&row.paper))
            )
        })
        .collect();
    let sections = papers
        .iter()
        .map(|paper| section(paper, rows, charts))
        .collect::<Result<String, ExperimentError>>()?;
    let body = format!(
        "<header>\n<h1>The papers, published and simulated</h1>\n\
         <p class=\"lead\">{verdict}</p>\n{summary}<nav>{links}</nav>\n\
         <p class=\"filters\"><label>Class {classes}</label> <label>Verdict {verdicts}</label> \
         <input id=\"search\" type=\"search\" placeholder=\"id or quantity\" aria-label=\"id or quantity\"/> \
         <span id=\"shown\"></span></p>\n</header>\n<main>\n{sections}</main>\n\
         <footer><p class=\"cite\">hostwire {version}</p></footer>\n\
         <div id=\"tip\" role=\"status\"></div>\n",
        version = env!("CARGO_PKG_VERSION"),
        verdict = escape(&lead.join(" ")),
        summary = tables::summary(
            [&counts, &elsewhere]
                .into_iter()
                .find(|summary| summary.rows() > 0)
                .unwrap_or(&rtl)
        ),
        classes = choice(
            "class",
            rows.iter().map(|row| row.class.to_string()).collect()
        ),
        verdicts = choice(
            "verdict",
            rows.iter().map(|row| word(&row.verdict)).collect()
        ),
    );
    let title = "hostwire: the papers, published and simulated";
    Ok(hostwire_cli::html::page(
        title,
        body,
        include_str!("page.js"),
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

fn section(paper: &Row, rows: &[Row], charts: &[Named]) -> Result<String, ExperimentError> {
    let name = paper.paper.as_str();
    let own: Vec<Row> = rows
        .iter()
        .filter(|row| row.paper == name)
        .cloned()
        .collect();
    let figures: String = charts
        .iter()
        .filter_map(|(file, chart)| {
            let stem = file.strip_suffix(".svg")?.strip_prefix(name)?;
            let stem = stem.strip_prefix('-')?;
            let behind = shipped::behind(name, stem);
            Some(format!(
                "<figure id=\"{0}-{stem}\"><figcaption>{2}</figcaption>{1}{behind}</figure>\n",
                escape(name),
                chart.svg(),
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
    let summary = Summary::of(&own);
    let (cite, verdict, rest) = match paper.elsewhere {
        true => (String::new(), verdict_elsewhere(&summary), String::new()),
        false => (
            format!(
                "<p class=\"cite\">{}: <cite>{}</cite>{}</p>\n",
                escape(&paper.authors.join(", ")),
                escape(&paper.title),
                paper
                    .year
                    .map(|year| format!(", {year}"))
                    .unwrap_or_default(),
            ),
            verdict(&summary),
            format!(
                "<h3>Its figures</h3>\n<div class=\"figures\">\n{pictures}{figures}</div>\n\
                 <h3>Its experiments as files</h3>\n{}",
                shipped::all(name),
            ),
        ),
    };
    Ok(format!(
        "<section id=\"{id}\">\n<h2>{title}</h2>\n{cite}{about}<p>{verdict}</p>\n\
         <p>Again: <code>hostwire reproduce {id}</code></p>\n\
         <h3>Its numbers</h3>\n{table}{rest}</section>\n",
        id = escape(name),
        title = escape(papers::title(name)),
        about = papers::summary(name)
            .map_or(String::new(), |text| format!("<p>{}</p>\n", escape(text))),
        verdict = escape(&verdict),
        table = tables::claims(own.iter()),
    ))
}
