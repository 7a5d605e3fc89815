//! The C test suite of `crates/shmem/tests/c`: what of it comes from the table.
//!
//! Its templates are included once for each type of a list, by `each_LIST.h`; `EACH_LIST(X)`
//! expands `X(NAME, TYPE)` for each.

use hostwire_shmem_table::{Function, Table};

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
