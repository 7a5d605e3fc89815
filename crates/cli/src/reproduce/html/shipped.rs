//! The experiment files of the repository, and the configuration that each resolves to.

use hostwire_sim::experiments::file::read;

use super::escape;

/// Path from the root of the repository, and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// All experiments of a paper.
pub fn all(paper: &str) -> String {
    let prefix = format!("experiments/{paper}/");
    let own = FILES.iter().filter(|(path, _)| path.starts_with(&prefix));
    own.filter_map(|(path, text)| of(path, text)).collect()
}

/// The experiment behind a figure, if a file has its name.
pub fn details(paper: &str, stem: &str) -> String {
    let path = format!("experiments/{paper}/{stem}.toml");
    let file = FILES.iter().find(|(known, _)| *known == path);
    file.and_then(|(path, text)| of(path, text))
        .unwrap_or_default()
}

/// Nothing for files that are no experiments.
fn of(path: &str, text: &str) -> Option<String> {
    let folder = path.rsplit_once('/')?.0;
    let load = |cluster: &str| {
        let wanted = normal(&format!("{folder}/{cluster}"));
        let file = FILES.iter().find(|(known, _)| *known == wanted);
        let text = file.map(|(_, text)| text.as_bytes().to_vec());
        text.ok_or_else(|| format!("{wanted} is not shipped"))
    };
    let experiment = read(path, text.as_bytes(), &load).ok()?;
    let path = escape(path);
    let sweep = experiment.sweep().map_or(String::new(), |key| {
        let values: Vec<&str> = experiment.labels().flatten().collect();
        format!(
            "<p>Swept: <code>{}</code> = {}</p>",
            escape(key),
            escape(&values.join(", "))
        )
    });
    let first = experiment.first_configuration()?;
    let json = serde_json::to_string_pretty(first).ok()?;
    Some(format!(
        "<details><summary>{}: <code>hostwire sim {path}</code></summary>{sweep}\
         <p>Configuration of the first run, with all defaults (a trace is not read here); \
         hash {}</p><pre>{}</pre></details>\n",
        escape(experiment.title()),
        first.hash(),
        escape(&json)
    ))
}

/// Without `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}
