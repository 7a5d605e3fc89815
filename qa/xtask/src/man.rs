//! Pages of the manual: one for each page of the table, and a link for each function on it.

use hostwire_shmem_table::{Family, Function, Page, Table};

use crate::{Tree, headers};

const WRAPPERS: [(&str, &str); 3] = [
    ("oshcc.1", include_str!("../../../fronts/shmem/man/oshcc.1")),
    (
        "oshrun.1",
        include_str!("../../../fronts/shmem/man/oshrun.1"),
    ),
    ("oshc++.1", ".so man1/oshcc.1\n"),
];

/// All calls of the TCA interface.
const TCA: &str = include_str!("../../../fronts/tca/man/hostwire_tca.3");

/// All pages, below `man1/` and `man3/`.
pub fn tree(table: &Table) -> Tree {
    let mut tree = Tree::default();
    for (name, text) in WRAPPERS {
        tree.add(format!("man1/{name}"), text);
    }
    tree.add("man3/hostwire_tca.3", TCA);
    for function in headers::tca_functions() {
        tree.add(format!("man3/{function}.3"), ".so man3/hostwire_tca.3\n");
    }
    let functions = table.functions();
    for page in &table.pages {
        let on_page = functions
            .iter()
            .filter(|function| function.page.name == page.name);
        let on_page: Vec<&Function<'_>> = on_page.collect();
        for function in &on_page {
            let link = format!(".so man3/{}.3\n", page.name);
            tree.add(format!("man3/{}.3", function.name()), link);
        }
        for generic in page
            .families
            .iter()
            .filter_map(|family| family.generic.as_ref())
        {
            tree.add(
                format!("man3/{generic}.3"),
                format!(".so man3/{}.3\n", page.name),
            );
        }
        tree.add(format!("man3/{}.3", page.name), text(table, page, &on_page));
    }
    tree
}

fn text(table: &Table, page: &Page, functions: &[&Function<'_>]) -> String {
    let Page {
        name,
        summary,
        chapter,
        ..
    } = page;
    let mut out = format!(
        ".\\\" SPDX-License-Identifier: MIT OR Apache-2.0\n\
         .\\\" Written by `cargo xtask man` from fronts/shmem/table.\n\
         .TH {name} 3 \"\" \"hostwire\" \"OpenSHMEM 1.6\"\n\
         .SH NAME\n{name} \\- {summary}\n\
         .SH SYNOPSIS\n.nf\n.B #include <{header}>\n.fi\n",
        header = if page.families.iter().all(|of| of.is_extension) {
            "shmemx.h"
        } else {
            "shmem.h"
        },
    );
    for family in &page.families {
        out.push_str(&synopsis(table, family));
    }
    out.push_str(&arguments(table, page));
    out.push_str(".SH DESCRIPTION\n");
    if page.text.is_empty() {
        out.push_str(&sentence(summary));
    }
    for (index, paragraph) in page.text.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ".PP\n" });
        out.push_str(&line(paragraph));
    }
    if !page.returns.is_empty() {
        out.push_str(".SH RETURN VALUE\n");
        out.push_str(&sentence(&page.returns));
    }
    out.push_str(&notes(functions));
    out.push_str(&history(page));
    if functions.len() > 1 {
        let names: Vec<&str> = functions.iter().map(|function| function.name()).collect();
        out.push_str(&format!(".SH FUNCTIONS\n{}.\n", names.join(", ")));
    }
    let neighbours = table
        .pages
        .iter()
        .filter(|of| of.chapter == *chapter && of.name != *name);
    let names = ["oshcc(1)".to_string(), "oshrun(1)".to_string()];
    let names = names
        .into_iter()
        .chain(neighbours.map(|of| format!("{}(3)", of.name)));
    out.push_str(&format!(
        ".SH SEE ALSO
{}
",
        names.collect::<Vec<_>>().join(", ")
    ));
    out
}

/// What may be called: the type-generic name, the function, and the same with a context.
pub(crate) fn prototypes(family: &Family) -> Vec<String> {
    let mut found = Vec::new();
    if let Some(generic) = family.generic.as_ref().filter(|_| family.types.is_some()) {
        let mut prototype = family.prototype.clone();
        prototype.name.clone_from(generic);
        found.push(prototype.to_string());
        if family.has_ctx {
            let mut with = family.prototype.with_ctx();
            with.name.clone_from(generic);
            found.push(with.to_string());
        }
    }
    found.push(family.prototype.to_string());
    if family.has_ctx {
        found.push(family.prototype.with_ctx().to_string());
    }
    found
}

/// The names that TYPENAME of a family stands for, with commas, if it is in the prototype.
pub(crate) fn type_names(table: &Table, family: &Family) -> Option<String> {
    let list = table.list(family.types.as_ref()?);
    let names: Vec<&str> = list.iter().map(|of| of.name.as_str()).collect();
    Some(names.join(", "))
}

fn synopsis(table: &Table, family: &Family) -> String {
    let mut out = String::from(".PP\n.nf\n");
    for text in prototypes(family) {
        out.push_str(&format!(
            ".B \"{text};\"\n",
            text = text.replace('"', "\\(dq")
        ));
    }
    out.push_str(".fi\n");
    if let Some(names) = type_names(table, family) {
        out.push_str(&format!(
            "where TYPENAME is one of {names}, and TYPE the C type of that name.\n"
        ));
    }
    if let Some(sizes) = &family.sizes {
        let bits = table.size_lists.iter().find(|(name, _)| name == sizes);
        let bits = bits.map(|(_, bits)| bits.join(", ")).unwrap_or_default();
        out.push_str(&format!("where SIZE is one of {bits}, in bits.\n"));
    }
    out
}

/// The arguments of a page that the table explains, with what it says.
pub(crate) fn meanings<'a>(table: &'a Table, page: &'a Page) -> Vec<(&'a str, &'a str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for family in &page.families {
        let ctx = family.has_ctx.then_some("ctx");
        let own = &family.prototype.parameters;
        for name in ctx.into_iter().chain(own.iter().map(|of| of.name.as_str())) {
            let meaning = table.meaning(name);
            if !meaning.is_empty() && !found.contains(&(name, meaning)) {
                found.push((name, meaning));
            }
        }
    }
    found
}

fn arguments(table: &Table, page: &Page) -> String {
    let found = meanings(table, page);
    if found.is_empty() {
        return String::new();
    }
    let mut out = String::from(".SH ARGUMENTS\n");
    for (name, meaning) in found {
        out.push_str(&format!(".TP\n.I {name}\n{}", sentence(meaning)));
    }
    out
}

fn notes(functions: &[&Function<'_>]) -> String {
    if !functions.iter().any(|function| function.is_inline()) {
        return String::new();
    }
    let text = "On the default context these are part of the program, and no calls, if it is \
                compiled with SHMEMX_INLINE or by oshcc \\-\\-inline; see oshcc(1). Nonblocking and \
                deprecated forms, and those for long double by value, are always calls.";
    format!(".SH NOTES\n{text}\n")
}

fn history(page: &Page) -> String {
    let mut versions: Vec<String> = Vec::new();
    for family in &page.families {
        let name = &family.prototype.name;
        let mut said = Vec::new();
        said.extend(
            family
                .since
                .as_ref()
                .map(|since| format!("since OpenSHMEM {since}")),
        );
        said.extend(
            family
                .deprecated
                .as_ref()
                .map(|in_| format!("deprecated in OpenSHMEM {in_}")),
        );
        if family.is_extension {
            said.push("an extension of hostwire".into());
        }
        versions.push(format!("{name}: {}.", said.join(", ")));
    }
    format!(".SH HISTORY\n{}\n", versions.join("\n.br\n"))
}

/// A line of text: nothing in it is a request of roff.
fn line(text: &str) -> String {
    let text = text.replace('\\', "\\e");
    let guard = if text.starts_with(['.', '\'']) {
        "\\&"
    } else {
        ""
    };
    format!("{guard}{text}\n")
}

/// The same, as a sentence.
fn sentence(text: &str) -> String {
    line(&sentence_of(text))
}

/// With a capital and a full stop.
pub(crate) fn sentence_of(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    format!("{}{}.", first.unwrap_or_default(), letters.as_str())
}
