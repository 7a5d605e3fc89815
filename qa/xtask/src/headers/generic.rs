//! The type-generic macros of C11.
//!
//! The type is that of the first pointer to data, as `&*(pointer)` has it: arrays decay, and the
//! pointer's own qualifiers go. If that argument may be a context instead, the argument after it
//! decides. After a pointer there may be a number, which `&*` cannot take, so it is `(argument) +
//! 0` there.

use hostwire_shmem_table::{Family, Table, Type};

const HEAD: &str = "
/* The type-generic interface. */

#define SHMEM_ARG0(...) SHMEM_ARG0_(__VA_ARGS__, 0)
#define SHMEM_ARG0_(A, ...) A
#define SHMEM_ARG1(...) SHMEM_ARG1_(__VA_ARGS__, 0, 0)
#define SHMEM_ARG1_(A, B, ...) B

/* Chosen where no function fits: takes no arguments, so that the compiler complains. */
SHMEM_FUNCTION_ATTRIBUTES void hostwire_no_function_for_this_type(void);
";

/// All macros.
pub fn all(table: &Table) -> String {
    let mut out = HEAD.to_string();
    for (name, types) in lists(table) {
        out.push_str(&list_macros(&name, &types));
    }
    out.push('\n');
    for (name, families) in by_name(table) {
        out.push_str(&macro_of(table, &name, &families));
    }
    out
}

/// Families by the generic name that chooses among them, in the order of the table.
pub fn by_name(table: &Table) -> Vec<(String, Vec<&Family>)> {
    let mut names: Vec<(String, Vec<&Family>)> = Vec::new();
    for family in table.pages.iter().flat_map(|page| &page.families) {
        let Some(name) = &family.generic else {
            continue;
        };
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, families)) => families.push(family),
            None => names.push((name.clone(), vec![family])),
        }
    }
    names
}

/// The lists that generic families are for.
fn lists(table: &Table) -> Vec<(String, Vec<&Type>)> {
    let families = table.pages.iter().flat_map(|page| &page.families);
    let mut lists: Vec<(String, Vec<&Type>)> = Vec::new();
    for family in families.filter(|family| family.generic.is_some()) {
        let Some(list) = &family.types else { continue };
        if lists.iter().all(|(known, _)| known != list) {
            lists.push((list.clone(), table.distinct(list)));
        }
    }
    lists
}

fn list_macros(list: &str, types: &[&Type]) -> String {
    let cases = |qualifier: &str| {
        let case = |of: &&Type| {
            let c = super::portable(&of.c);
            format!("    {qualifier}{c} *: PREFIX##{}##SUFFIX", of.name)
        };
        types.iter().map(case).collect::<Vec<_>>().join(", \\\n")
    };
    let name = list.to_uppercase();
    let mut out = format!(
        "\n#define SHMEM_EACH_{name}(PREFIX, SUFFIX) \\\n{}\n",
        cases("")
    );
    if list == "rma" || list.starts_with("amo_extended") {
        out.push_str(&format!(
            "#define SHMEM_EACH_CONST_{name}(PREFIX, SUFFIX) \\\n{}\n",
            cases("const ")
        ));
    }
    out
}

fn macro_of(table: &Table, name: &str, families: &[&Family]) -> String {
    let body = match families {
        [one, ..] if one.types.is_some() && one.has_ctx => {
            let (plain, ctx) = (cases(table, families, false), cases(table, families, true));
            format!(
                "&*(SHMEM_ARG0(__VA_ARGS__)), \\
    shmem_ctx_t: _Generic((SHMEM_ARG1(__VA_ARGS__)) + 0, \\
        {ctx}, \\
        default: hostwire_no_function_for_this_type), \\
    {plain}"
            )
        }
        [one, ..] if one.types.is_some() => {
            let first = &one.prototype.parameters[0];
            let argument = if first.c.contains("TYPE") {
                "ARG0"
            } else {
                "ARG1"
            };
            let cases = cases(table, families, false);
            format!("&*(SHMEM_{argument}(__VA_ARGS__)), \\\n    {cases}")
        }
        // One function for a handle, and one for anything else.
        [one] => {
            let (plain, ctx) = (&one.prototype, one.prototype.with_ctx());
            format!(
                "(SHMEM_ARG0(__VA_ARGS__)), \\\n    {}: {}, \\\n    default: {}",
                ctx.parameters[0].c, ctx.name, plain.name
            )
        }
        [handle, other, ..] => format!(
            "(SHMEM_ARG0(__VA_ARGS__)), \\\n    {}: {}, \\\n    default: {}",
            handle.prototype.parameters[0].c, handle.prototype.name, other.prototype.name
        ),
        [] => String::new(),
    };
    format!("#define {name}(...) _Generic({body})(__VA_ARGS__)\n")
}

/// The cases for all lists of these families.
fn cases(table: &Table, families: &[&Family], is_ctx: bool) -> String {
    let case = |family: &&Family| {
        let prototype = &family.prototype;
        let form = if is_ctx {
            prototype.with_ctx()
        } else {
            prototype.clone()
        };
        let (prefix, suffix) = form.name.split_once("TYPENAME")?;
        let list = family.types.as_ref()?.to_uppercase();
        let is_known = table
            .lists
            .iter()
            .any(|(name, _)| name.to_uppercase() == list);
        let chosen_by = prototype
            .parameters
            .iter()
            .find(|of| of.c.contains("TYPE"))?;
        let mut text = format!("SHMEM_EACH_{list}({prefix}, {suffix})");
        if chosen_by.c.starts_with("const") {
            text.push_str(&format!(", SHMEM_EACH_CONST_{list}({prefix}, {suffix})"));
        }
        is_known.then_some(text)
    };
    families
        .iter()
        .filter_map(case)
        .collect::<Vec<_>>()
        .join(", ")
}
