//! The experiment files of the repository, and the configuration that each resolves to.

use hostwire_sim::experiments::file::{Experiment, read};

use hostwire_cli::html::escape;

/// Path from the root of the repository, and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

/// All experiments of a paper.
pub fn all(paper: &str) -> String {
    let prefix = format!("experiments/{paper}/");
    let own = FILES.iter().filter(|(path, _)| path.starts_with(&prefix));
    own.filter_map(|(path, _)| of(path)).collect()
}

/// The experiments behind a figure: the file of its name, or those that hold its curves.
pub fn behind(paper: &str, stem: &str) -> String {
    let files: &[&str] = match (paper, stem) {
        ("tca-peach2", "bandwidth-over-size") => &[
            "write-over-size",
            "read-over-size",
            "gpu-read-over-size",
            "remote-write-over-size",
        ],
        ("tca-peach2", "bandwidth-over-requests") => &["chain-length"],
        ("htoe", "credits" | "delays") => &["payload"],
        ("pgas-cluster", "traffic") => &["scenarios"],
        (_, stem) => &[stem],
    };
    let path = |file: &&str| details(&format!("experiments/{paper}/{file}.toml"));
    files.iter().map(path).collect()
}

/// One experiment.
pub fn details(path: &str) -> String {
    let file = FILES.iter().find(|(known, _)| *known == path);
    file.and_then(|(path, _)| of(path)).unwrap_or_default()
}

/// A shipped experiment, if there is one of this path.
pub fn experiment(path: &str) -> Option<Experiment> {
    let (path, text) = FILES.iter().find(|(known, _)| *known == path)?;
    let folder = path.rsplit_once('/')?.0;
    let load = |cluster: &str| {
        let wanted = normal(&format!("{folder}/{cluster}"));
        let file = FILES.iter().find(|(known, _)| *known == wanted);
        let text = file.map(|(_, text)| text.as_bytes().to_vec());
        text.ok_or_else(|| format!("{wanted} is not shipped"))
    };
    read(path, text.as_bytes(), &load).ok()
}

/// Empty for files that are not experiments.
fn of(path: &str) -> Option<String> {
    let experiment = experiment(path)?;
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
