//! Declarations of functions.

use hostwire_shmem_table::{Function, Table};

use super::portable;

/// The declarations of all functions that `wanted` wants, with `prefix` before their names.
pub fn of(table: &Table, prefix: &str, wanted: impl Fn(&Function<'_>) -> bool) -> String {
    let mut out = String::new();
    let (mut chapter, mut page) = ("", "");
    let functions = table.functions();
    // Whether the functions in this row are inline for programs that ask for it.
    let mut is_guarded = false;
    for function in functions.iter().filter(|function| wanted(function)) {
        let is_inline = prefix.is_empty() && function.is_inline();
        if is_guarded && (!is_inline || function.page.name != page) {
            out.push_str("#endif\n");
            is_guarded = false;
        }
        if function.page.chapter != chapter {
            chapter = &function.page.chapter;
            out.push_str(&format!("\n/* {chapter}. */\n"));
        }
        if function.page.name != page {
            page = &function.page.name;
            out.push_str(&format!("\n/* {page}(3): {}. */\n", function.page.summary));
        }
        if is_inline && !is_guarded {
            out.push_str("#ifndef SHMEMX_IS_INLINE\n");
            is_guarded = true;
        }
        out.push_str(&declaration(function, prefix));
    }
    if is_guarded {
        out.push_str("#endif\n");
    }
    out
}

fn declaration(function: &Function<'_>, prefix: &str) -> String {
    let mut prototype = function.prototype.clone();
    prototype.name = format!("{prefix}{}", prototype.name);
    let noreturn = if function.family.is_noreturn {
        "SHMEM_NORETURN_ATTRIBUTE "
    } else {
        ""
    };
    let is_old = function.family.deprecated.is_some();
    let deprecated = if is_old {
        "SHMEM_DEPRECATED_ATTRIBUTE "
    } else {
        ""
    };
    let prototype = portable(&prototype.to_string());
    format!("SHMEM_FUNCTION_ATTRIBUTES {noreturn}{deprecated}{prototype};\n")
}
