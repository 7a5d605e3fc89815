//! `shmemx_inline.h`: short puts, gets and atomics as inline functions.
//!
//! Their code is written by hand in `inline.h` beside this file, with a macro for each
//! kind of function; the table lists the functions.

use hostwire_shmem_table::{Function, Instance, Table};

const TEMPLATE: &str = include_str!("inline.h");

/// The symbols that the library exports for these functions, besides those of the
/// table.
pub const SYMBOLS: [&str; 2] = ["shmemx_reach_1", "shmemx_ring_1"];

/// The header.
pub fn header(table: &Table) -> String {
    let mut lines = String::new();
    let mut page = "";
    let mut kinds: Vec<String> = Vec::new();
    for function in table.functions().iter().filter(|of| of.is_inline()) {
        if function.page.name != page {
            page = &function.page.name;
            lines.push_str(&format!("\n/* {page}(3): {}. */\n", function.page.summary));
        }
        let (c, bytes) = element(table, function);
        let kind = kind(function);
        lines.push_str(&format!(
            "{kind}({name}, {c}, {bytes})\n",
            name = function.name()
        ));
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    lines.push('\n');
    let helpers = ["FETCHING", "CHANGING", "BARRIER", "GOT", "HIDE", "INLINE"];
    kinds.extend(helpers.map(|helper| format!("HOSTWIRE_{helper}")));
    for kind in kinds {
        lines.push_str(&format!("#undef {kind}\n"));
    }
    format!(
        "{}{}",
        super::NOTICE,
        TEMPLATE.replace("@FUNCTIONS@", &lines)
    )
}

/// The macro that makes the function.
fn kind(function: &Function<'_>) -> String {
    let name = &function.family.prototype.name;
    let own = name.strip_prefix("shmem_").unwrap_or(name);
    let own = own.strip_prefix("TYPENAME_").unwrap_or(own);
    let own = own.trim_end_matches("SIZE").trim_end_matches("mem");
    format!("HOSTWIRE_{}", own.to_uppercase())
}

/// The C type behind its pointers, and the size of an element.
fn element(table: &Table, function: &Function<'_>) -> (String, String) {
    match &function.instance {
        Instance::Type(name) => {
            let of = table.types.iter().find(|of| of.name == *name);
            let c = of.map_or_else(|| name.clone(), |of| super::portable(&of.c));
            let bytes = format!("sizeof({c})");
            (c, bytes)
        }
        Instance::Size(bits) => ("void".into(), format!("{bits} / 8")),
        Instance::Single => ("void".into(), "1".into()),
    }
}
