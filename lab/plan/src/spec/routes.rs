//! Routes that a cluster file gives itself: `[[route]]`.

use toml::de::DeValue;

use super::Policy;
use super::section::{Section, span_of, wrong_type};
use crate::diagnostic::{Diagnostic, Findings, Located, Span};

/// All destinations that no other route of the device names. It cannot be a name.
const OTHERS: &str = "*";

/// A rule: at one device, packets for some destinations leave by one port. What the names
/// mean is for [`crate::route::own`].
#[derive(Clone, Debug)]
pub(crate) struct RouteSpec {
    /// The table header.
    pub span: Span,
    pub at: Located<String>,
    pub by: Located<String>,
    /// `None`: all that no other route of the device names.
    pub to: Option<Vec<Located<String>>>,
    /// Where packets come out of the network of adapters that they leave into.
    pub over: Option<Located<String>>,
}

/// Reads all `[[route]]`. A policy beside them would have nothing to choose.
pub(crate) fn read_routes(
    file: &mut Section<'_>,
    policy: Option<Located<Policy>>,
    out: &mut Findings,
) -> Vec<RouteSpec> {
    let routes: Vec<RouteSpec> = file
        .tables("route", "[[route]]", out)
        .into_iter()
        .filter_map(|section| read_route(section, out))
        .collect();
    if let (Some(route), Some(policy)) = (routes.first(), policy) {
        out.push(
            Diagnostic::error("contradiction", "[[route]] and a policy in one file")
                .label(policy.span, "nothing is left to choose")
                .label(route.span, "the first route of the file")
                .help("remove one of them"),
        );
    }
    routes
}

fn read_route(mut section: Section<'_>, out: &mut Findings) -> Option<RouteSpec> {
    let span = section.span();
    let mut text = |key, example, is_needed: bool| {
        let text = section.text(key, example, out);
        if text.is_none() && is_needed && !section.has(key) {
            section.missing(key, example, out);
        }
        text.map(|text| Located {
            value: text.value.to_owned(),
            span: text.span,
        })
    };
    let at = text("at", "\"left\"", true);
    let by = text("by", "\"l2\"", true);
    let over = text("over", "\"right\"", false);
    let to = read_destinations(&mut section, out);
    section.finish(out);
    Some(RouteSpec {
        span,
        at: at?,
        by: by?,
        to: to?,
        over,
    })
}

/// A name, several names, or all others.
fn read_destinations(
    section: &mut Section<'_>,
    out: &mut Findings,
) -> Option<Option<Vec<Located<String>>>> {
    let example = "[\"left\", \"right\"]";
    let Some(value) = section.value("to") else {
        section.missing("to", example, out);
        return None;
    };
    let items = match value.get_ref() {
        DeValue::String(text) if text.as_ref() == OTHERS => return Some(None),
        DeValue::String(_) => std::slice::from_ref(value),
        DeValue::Array(array) => array,
        _ => &[],
    };
    let names = items.iter().map(|item| {
        let value = item.get_ref().as_str()?.to_owned();
        let span = span_of(item);
        Some(Located { value, span })
    });
    let names: Option<Vec<_>> = names.collect();
    let names = names.filter(|names| !names.is_empty());
    if names.is_none() {
        let expected = format!("a name, names such as {example}, or \"{OTHERS}\" for all others");
        wrong_type("to", &expected, value, out);
    }
    names.map(Some)
}
