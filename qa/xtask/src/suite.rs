//! The C test suite of `fronts/shmem/tests/c`: the parts that come from the table.
//!
//! Its templates are included once for each type of a list, by `each_LIST.h`; `EACH_LIST(X)`
//! expands `X(NAME, TYPE)` for each.

use hostwire_shmem_table::{Function, Parameter, Role, Table};

use crate::Tree;

/// The headers that the suite includes.
pub fn tree(table: &Table) -> Tree {
    let mut tree = Tree::default();
    for (list, _) in &table.lists {
        let mut text = String::new();
        let mut cases = String::new();
        for of in table.list(list) {
            let c = of.c.replace("double _Complex", "COMPLEX(double)");
            let c = c.replace("float _Complex", "COMPLEX(float)");
            text.push_str(&instance(
                &of.name,
                &format!("#define TYPE {c}\n"),
                "#undef TYPE\n",
            ));
            cases.push_str(&format!(" \\\n    X({}, {c})", of.name));
        }
        text.push_str(&format!("#define EACH_{}(X){cases}\n", list.to_uppercase()));
        tree.add(format!("each_{list}.h"), text);
    }
    tree.add("each_size.h", sizes(table));
    tree
}

/// All sizes in bits, and `mem` for bytes, which has no strided forms.
fn sizes(table: &Table) -> String {
    let mut text = String::new();
    let mut cases = String::new();
    for (bits, _) in &table.sizes {
        let define = format!("#define BYTES ({bits} / 8)\n#define HAS_STRIDES\n");
        text.push_str(&instance(
            bits,
            &define,
            "#undef BYTES\n#undef HAS_STRIDES\n",
        ));
        cases.push_str(&format!(" \\\n    X({bits}, {bits} / 8)"));
    }
    text.push_str(&instance("mem", "#define BYTES 1\n", "#undef BYTES\n"));
    text.push_str(&format!("#define EACH_SIZE(X){cases}\n"));
    text
}

fn instance(name: &str, define: &str, undefine: &str) -> String {
    format!("#define NAME {name}\n{define}#include TEMPLATE\n#undef NAME\n{undefine}")
}

/// A program that takes the address of every function, by both of its names; for C++ of those
/// whose names are not overloaded.
pub fn addresses(table: &Table, is_cxx: bool) -> String {
    let functions = table.functions();
    let is_overloaded = |function: &Function<'_>| {
        let mut families = table.pages.iter().flat_map(|page| &page.families);
        let name = Some(function.name());
        families.any(|family| family.generic.as_deref() == name)
            || function.prototype.c_parameters().contains("_Complex")
    };
    let wanted = functions.iter().filter(|of| !is_cxx || !is_overloaded(of));
    let names = wanted.flat_map(|function| {
        [function.name().to_string(), function.profiling_name()]
            .map(|name| format!("    (function)&{name},\n"))
    });
    format!(
        "\
#include <pshmem.h>
typedef void (*function)(void);
function const all[] = {{
{names}}};
int main(void)
{{
    for (unsigned long i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i])
            return 1;
    return 0;
}}
",
        names = names.collect::<String>()
    )
}

/// A program that calls every function with each of its pointers wrong, one at a time, as the only
/// PE of a job with `SHMEM_DEBUG`. Each time the library has to report this and end the process;
/// the program replaces `_exit` and goes on. It prints all other results.
///
/// # Errors
/// The table has no role for a pointer.
pub fn pointers(table: &Table) -> Result<String, String> {
    let mut out = String::from(include_str!("suite_pointers.c"));
    let mut calls = String::new();
    for (index, function) in table.functions().iter().enumerate() {
        let tries = tries(table, function)?;
        if !tries.is_empty() {
            out.push_str(&format!("static void of_{index}(void)\n{{\n{tries}}}\n"));
            calls.push_str(&format!("    of_{index}();\n"));
        }
    }
    out.push_str(&format!("static void all(void)\n{{\n{calls}}}\n"));
    Ok(out)
}

/// The lines that try each bad pointer of a function.
fn tries(table: &Table, function: &Function<'_>) -> Result<String, String> {
    let mut out = String::new();
    let pointers = function.pointers(table)?;
    for (parameter, pointer) in &pointers {
        let wrong: &[(&str, &str)] = match (pointer.role, pointer.is_optional) {
            (Role::Any, _) => continue,
            (_, true) => &[("free pages", "unmapped")],
            (Role::Symmetric, _) => &[
                ("NULL", "NULL"),
                ("private memory", "private"),
                ("free pages", "unmapped"),
            ],
            _ => &[("NULL", "NULL"), ("free pages", "unmapped")],
        };
        let name = &parameter.name;
        for (kind, value) in wrong {
            out.push_str(&attempt(table, function, name, kind, name, value)?);
        }
    }
    // The function may check any of its pointers first.
    let mut counts: Vec<&str> = (pointers.iter())
        .filter_map(|(_, pointer)| pointer.count.parameter(&function.prototype))
        .collect();
    counts.sort_unstable();
    counts.dedup();
    for count in counts {
        let mut parameters = function.prototype.parameters.iter();
        let most = match parameters.find(|of| of.name == count) {
            Some(of) if of.c == "int" => "INT_MAX",
            _ => "(size_t)1 << 40",
        };
        let kind = "more than there is";
        out.push_str(&attempt(table, function, count, kind, "bytes", most)?);
    }
    Ok(out)
}

/// One call, in which the parameter `replaced` has a value that makes `pointer` wrong.
fn attempt(
    table: &Table,
    function: &Function<'_>,
    replaced: &str,
    kind: &str,
    pointer: &str,
    value: &str,
) -> Result<String, String> {
    let roles = function.pointers(table)?;
    let good = |of: &Parameter| -> &str {
        let role = roles.iter().find(|(known, _)| known.name == of.name);
        match (of.name.as_str(), role) {
            ("pSync" | "lock", _) => "zeros",
            (_, Some((_, pointer))) => match pointer.role {
                Role::Symmetric => "symmetric",
                _ => "private",
            },
            ("nelems" | "nreduce" | "nblocks", _) => "2",
            ("bsize" | "dst" | "sst" | "npes" | "PE_size" | "size", _) => "1",
            ("config_mask" | "xaxis_mask" | "yaxis_mask" | "xrange", _) => "1",
            ("cmp", _) => "SHMEM_CMP_EQ",
            ("ctx", _) => "SHMEM_CTX_DEFAULT",
            ("team" | "parent_team" | "src_team" | "dest_team", _) => "SHMEM_TEAM_WORLD",
            _ => "0",
        }
    };
    let arguments: Vec<&str> = function
        .prototype
        .parameters
        .iter()
        .map(|of| if of.name == replaced { value } else { good(of) })
        .collect();
    // Short functions have common words for an operand that is the same in many.
    let also = match (function.family.is_short, pointer) {
        (true, "dest") => "the destination",
        (true, "source") => "the source",
        _ => pointer,
    };
    let object = if function.family.is_short {
        "the object"
    } else {
        pointer
    };
    Ok(format!(
        "    TRY(\"{} with {kind} for {replaced}\", \"{also}\", \"{object}\", ({})({}));\n",
        function.name(),
        function.name(),
        arguments.join(", ")
    ))
}
