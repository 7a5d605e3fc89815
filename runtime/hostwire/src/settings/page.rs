//! Tables of settings and wires for pages of documentation, in Markdown.

use hostwire_bootstrap::settings::{Choice, Setting, listed};

use super::{WIRE, WireName};

/// A row for each setting: what it sets, its values, its default.
pub fn of_settings(settings: &[&Setting]) -> String {
    let head = "| variable | what it sets | values | without it |\n|---|---|---|---|\n";
    let rows = settings.iter().map(|setting| {
        let mut text = setting.summary().to_owned();
        if let Some(flag) = setting.flag {
            text += &format!(" (`hostwire run --{}`)", flag.long);
        }
        let detail = setting.detail();
        if !detail.is_empty() {
            text += &format!(". {detail}");
        }
        let text = text.trim_end_matches('.');
        let (expected, without) = (setting.expected(), setting.without());
        format!("| `{setting}` | {text} | {expected} | {without} |\n")
    });
    head.to_owned() + &rows.collect::<String>()
}

/// Which settings may differ between the PEs of a job.
pub fn of_differences(settings: &[&Setting]) -> String {
    let may_differ = settings.iter().filter(|setting| setting.may_differ);
    let names: Vec<String> = may_differ.map(|setting| format!("`{setting}`")).collect();
    let names = listed(names.iter().map(String::as_str), "and");
    format!("All PEs of a job need the same values, except {names}.\n")
}

/// A row for each wire, and for the choice of one.
pub fn of_wires() -> String {
    let head = "| wire | what it is | needs |\n|---|---|---|\n";
    let rows = WIRE
        .choices()
        .into_iter()
        .map(|Choice { name, summary, .. }| {
            let wire = name.parse::<WireName>();
            let needs = wire.map_or("what the wire needs that it takes", WireName::needs);
            format!("| `{name}` | {summary} | {needs} |\n")
        });
    head.to_owned() + &rows.collect::<String>()
}

/// `page` with `block` between its marks `<!-- NAME: ... -->` and `<!-- end of NAME -->`. `None`
/// if it has no such marks.
pub fn with_block(page: &str, name: &str, block: &str) -> Option<String> {
    let (before, rest) = page.split_once(&format!("<!-- {name}: "))?;
    let (note, rest) = rest.split_once(" -->\n")?;
    let end = format!("<!-- end of {name} -->");
    let (_, after) = rest.split_once(&end)?;
    Some(format!(
        "{before}<!-- {name}: {note} -->\n{block}{end}{after}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_takes_the_place_of_what_was_between_its_marks() {
        let page = "a\n<!-- x: generated -->\nold\n<!-- end of x -->\nb\n";
        let new = "a\n<!-- x: generated -->\nnew\n<!-- end of x -->\nb\n";
        assert_eq!(with_block(page, "x", "new\n").as_deref(), Some(new));
        assert_eq!(with_block(page, "y", "new\n"), None);
    }
}
