//! `include/`: the C headers.

mod declarations;
mod generic;
pub mod inline;
mod overloads;

use hostwire_shmem_table::{Constant, Handle, Table};

use crate::Tree;

const NOTICE: &str = "\
/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Written by `cargo xtask headers` from fronts/shmem/table; change it there. */
";

/// The header of the TCA interface, which is not of the table.
pub const TCA: &str = include_str!("../../../../include/hostwire_tca.h");

/// The functions that it declares.
pub fn tca_functions() -> impl Iterator<Item = &'static str> {
    let declared = TCA.lines().filter_map(|line| line.split_once('('));
    let names = declared.filter_map(|(before, _)| before.rsplit([' ', '*']).next());
    names.filter(|name| {
        let rest = name.strip_prefix("tca").unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_uppercase())
    })
}

/// All headers, below `include/`.
pub fn tree(table: &Table) -> Tree {
    let mut tree = Tree::default();
    tree.add("shmem.h", shmem(table));
    tree.add("shmemx_inline.h", inline::header(table));
    tree.add("pshmem.h", pshmem(table));
    tree.add("shmemx.h", shmemx(table));
    for name in ["shmem.h", "shmemx.h"] {
        let text =
            format!("{NOTICE}/* The deprecated place of {name}. */\n#include \"../{name}\"\n");
        tree.add(format!("mpp/{name}"), text);
    }
    tree
}

fn shmem(table: &Table) -> String {
    format!(
        "\
{NOTICE}
/* OpenSHMEM 1.6, as implemented by hostwire. */
#ifndef SHMEM_H
#define SHMEM_H
#define SHMEM_DEF_H

#include <stddef.h>
#include <stdint.h>

/* Define SHMEMX_INLINE to have short puts, gets and atomics on the default context compiled into
 * the program, which makes them faster: see oshcc(1). Tools that stand in front of functions of
 * this header do not see those then. Compilers and processors that it is not for call them. */
#if defined(SHMEMX_INLINE) && defined(__GNUC__) && defined(__LP64__) \\
    && (defined(__x86_64__) || (defined(__aarch64__) && defined(__ARM_FEATURE_UNALIGNED)))
#define SHMEMX_IS_INLINE
#endif

#define SHMEM_FUNCTION_ATTRIBUTES __attribute__((visibility(\"default\")))
#define SHMEM_NORETURN_ATTRIBUTE __attribute__((noreturn))
/* Define SHMEM_WARN_DEPRECATED to be warned of what OpenSHMEM has deprecated. */
#ifdef SHMEM_WARN_DEPRECATED
#define SHMEM_DEPRECATED_ATTRIBUTE __attribute__((deprecated))
#else
#define SHMEM_DEPRECATED_ATTRIBUTE
#endif

/* C++ has these types, too, as an extension of the compilers. */
__extension__ typedef double _Complex shmem_complexd_t;
__extension__ typedef float _Complex shmem_complexf_t;

#ifdef __cplusplus
/* Programs from before there were C++ headers include this one inside `extern \"C\"`. */
extern \"C++\" {{
#include <complex>
}}
extern \"C\" {{
#endif

{constants}
typedef struct hostwire_shmem_ctx *shmem_ctx_t;
typedef struct hostwire_shmem_team *shmem_team_t;

{handles}
typedef struct {{
    int num_contexts;
}} shmem_team_config_t;

typedef struct {{
    size_t total_ops;
}} shmem_ctx_session_config_t;
{functions}
#ifdef SHMEMX_IS_INLINE
#include \"shmemx_inline.h\"
#endif

#ifdef __cplusplus
}} /* extern \"C\" */

extern \"C++\" {{
{overloads}
}} /* extern \"C++\" */

#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
{generics}
#endif

#endif /* SHMEM_H */
",
        constants = constants(&table.constants),
        handles = handles(&table.handles),
        functions = declarations::of(table, "", |function| !function.family.is_in_shmemx()),
        overloads = overloads::all(table),
        generics = generic::all(table),
    )
}

fn pshmem(table: &Table) -> String {
    format!(
        "\
{NOTICE}
/* The profiling interface of OpenSHMEM 1.6: each shmem_NAME is a weak name of pshmem_NAME. */
#ifndef PSHMEM_H
#define PSHMEM_H

#include \"shmem.h\"
#include \"shmemx.h\"

#ifdef __cplusplus
extern \"C\" {{
#endif
{functions}
#ifdef __cplusplus
}} /* extern \"C\" */
#endif

#endif /* PSHMEM_H */
",
        functions = declarations::of(table, "p", |_| true),
    )
}

fn shmemx(table: &Table) -> String {
    format!(
        "\
{NOTICE}
/* What this library has beyond OpenSHMEM 1.6. */
#ifndef SHMEMX_H
#define SHMEMX_H

#include \"shmem.h\"

#ifdef __cplusplus
extern \"C\" {{
#endif
{functions}
#ifdef __cplusplus
}} /* extern \"C\" */
#endif

#endif /* SHMEMX_H */
",
        functions = declarations::of(table, "", |function| function.family.is_in_shmemx()),
    )
}

fn constants(constants: &[Constant]) -> String {
    let mut lines = String::new();
    for Constant {
        kind,
        name,
        old_name,
        value,
    } in constants
    {
        let value = match kind.as_str() {
            "string" => format!("\"{value}\""),
            "long" => format!("{value}L"),
            _ => value.clone(),
        };
        lines.push_str(&format!("#define {name} {value}\n"));
        if let Some(old_name) = old_name {
            lines.push_str(&format!("#define {old_name} {name}\n"));
        }
    }
    lines
}

fn handles(handles: &[Handle]) -> String {
    let line = |Handle { c, name, value }: &Handle| format!("#define {name} (({c}){value})\n");
    handles.iter().map(line).collect()
}

/// A C type as the header has it, where C and C++ have different names for it.
fn portable(c: &str) -> String {
    c.replace("double _Complex", "shmem_complexd_t")
        .replace("float _Complex", "shmem_complexf_t")
}
