//! Sweeps: the file once more for every value, with one key changed; with several sweeps, for all
//! combinations of their values.

use std::borrow::Cow;

use hostwire_plan::Diagnostic;
use hostwire_plan::diagnostic::{Located, Span};
use hostwire_plan::file::{Findings, Section, clip, display_count, span_of};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Most values of all sweeps together.
pub(super) const VALUES_MAX: usize = 1_000;

/// The contents of `[sweep]`.
pub(super) struct Sweep<'t> {
    pub(super) key: Located<&'t str>,
    pub(super) values: Vec<&'t Spanned<DeValue<'t>>>,
}

impl Sweep<'_> {
    /// Whether it changes the cluster.
    pub(super) fn is_of_cluster(&self) -> bool {
        self.key.value.starts_with("cluster")
    }
}

/// The sweeps of a file, in order, the slowest first; none for a file without. `None` if one is
/// wrong.
pub(super) fn read<'t>(root: &'t DeTable<'t>, out: &mut Findings) -> Option<Vec<Sweep<'t>>> {
    let Some((_, value)) = root.iter().find(|(key, _)| key.get_ref() == "sweep") else {
        return Some(Vec::new());
    };
    let mut file = Section::new("an experiment file", root, Span::default());
    let sections = match value.get_ref() {
        DeValue::Array(_) => file.tables("sweep", "[[sweep]]", out),
        _ => vec![file.table("sweep", "[sweep]", out)?],
    };
    let sweeps: Option<Vec<Sweep<'_>>> = sections
        .into_iter()
        .map(|section| read_one(section, out))
        .collect();
    let sweeps = sweeps?;
    let points = sweeps.iter().map(|sweep| sweep.values.len());
    let points = points.fold(1, usize::saturating_mul);
    if points > VALUES_MAX {
        out.push(
            Diagnostic::error("sweep", format!("{points} runs in one experiment"))
                .label(span_of(value), format!("expected at most {VALUES_MAX}"))
                .help("every value of a sweep is run with every value of the others"),
        );
        return None;
    }
    Some(sweeps)
}

fn read_one<'t>(mut section: Section<'t>, out: &mut Findings) -> Option<Sweep<'t>> {
    let key = section.text("key", "\"workload.size\"", out);
    if key.is_none() && !section.has("key") {
        section.missing("key", "\"workload.size\"", out);
    }
    let example = "[\"64B\", \"4KiB\"]";
    let values = section.value("values");
    let list = match values.map(|values| (values, values.get_ref().as_array())) {
        None => {
            section.missing("values", example, out);
            None
        }
        Some((_, Some(list))) if (1..=VALUES_MAX).contains(&list.len()) => Some(list),
        Some((values, _)) => {
            let expected = format!("expected 1 to {VALUES_MAX} values such as {example}");
            out.push(
                Diagnostic::error("value", "`values` is not a list of values")
                    .label(span_of(values), expected)
                    .help(format!("write `values = {example}`")),
            );
            None
        }
    };
    section.finish(out);
    Some(Sweep {
        key: key?,
        values: list?.iter().collect(),
    })
}

/// The value as written, without quotes; a topology by its kind and size.
pub(super) fn label(text: &str, value: &Spanned<DeValue<'_>>) -> String {
    let written = |value: &Spanned<DeValue<'_>>| match value.get_ref().as_str() {
        Some(text) => text.to_owned(),
        None => text.get(value.span()).unwrap_or("?").to_owned(),
    };
    let DeValue::Table(table) = value.get_ref() else {
        return written(value);
    };
    let parts = ["kind", "nodes", "size"].map(|key| table.get(key).map(written));
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return written(value);
    }
    parts.join(" ")
}

/// A copy of the file's tables in which `key` has `value`. Tables that are not
/// there are made.
pub(super) fn patched<'t>(
    root: &DeTable<'t>,
    key: Located<&'t str>,
    value: &Spanned<DeValue<'t>>,
    out: &mut Findings,
) -> Option<DeTable<'t>> {
    let mut root = root.clone();
    let parts: Vec<&'t str> = key.value.split('.').collect();
    let (last, path) = parts.split_last()?;
    let sweeps_itself = parts.first() == Some(&"sweep");
    if sweeps_itself || parts.iter().any(|part| part.is_empty()) {
        return refuse(key, "expected a key outside of [sweep]", out);
    }
    let place = key.span.start..key.span.end;
    let mut at = &mut root;
    let mut path = path.iter();
    while let Some(part) = path.next() {
        let name = Spanned::new(place.clone(), Cow::Borrowed(*part));
        if !at.contains_key(*part) {
            let empty = DeValue::Table(DeTable::new());
            at.insert(name.clone(), Spanned::new(place.clone(), empty));
        }
        let inner = at
            .iter_mut()
            .find(|(known, _)| known.get_ref() == part)
            .map(|(_, value)| value.get_mut());
        at = match inner {
            Some(DeValue::Table(table)) => table,
            Some(DeValue::Array(array)) => {
                let count = array.len();
                let index = path.next().and_then(|part| part.parse::<usize>().ok());
                let item = index.and_then(|index| array.get_mut(index));
                match item.map(Spanned::get_mut) {
                    Some(DeValue::Table(table)) => table,
                    _ => {
                        let why = format!(
                            "`{}` is a list of {}, which are counted from 0",
                            clip(part),
                            display_count(count, "table")
                        );
                        return refuse(key, &why, out);
                    }
                }
            }
            _ => {
                let why = format!("`{}` is a value, not a table", clip(part));
                return refuse(key, &why, out);
            }
        };
    }
    // Replacing keeps the old key, and with it the place; taking it out first
    // lets findings about the key point at the sweep.
    at.remove(*last);
    at.insert(Spanned::new(place, Cow::Borrowed(*last)), value.clone());
    Some(root)
}

fn refuse<T>(key: Located<&str>, why: &str, out: &mut Findings) -> Option<T> {
    out.push(
        Diagnostic::error("sweep", format!("`{}` cannot be swept", clip(key.value)))
            .label(key.span, why)
            .help("name a key by its tables, such as \"workload.size\" or \"parameters.hop\""),
    );
    None
}
