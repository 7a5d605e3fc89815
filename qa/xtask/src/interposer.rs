//! A profiling tool in C that notes which functions a program calls.
//!
//! It replaces every function of the library, which proves that each can be interposed,
//! and writes the names of those that were called when the program ends. The tests use
//! it to see that every function is called at least once.

use hostwire_shmem_table::{Function, Table};

/// The source of the tool. It writes to the file named by `SHMEM_CALLS`, one name per line.
pub fn source(table: &Table) -> String {
    let functions = table.functions();
    let mut out = String::from(
        "\
#include <stdio.h>
#include <stdlib.h>
#include <pshmem.h>

static unsigned char called[COUNT];
static const char *const names[COUNT];

__attribute__((destructor)) static void write_calls(void)
{
    const char *path = getenv(\"SHMEM_CALLS\");
    FILE *file = path ? fopen(path, \"a\") : NULL;
    if (!file)
        return;
    /* PEs write at the same time: a line each, and no parts of one. */
    setvbuf(file, NULL, _IOLBF, 0);
    for (int i = 0; i < COUNT; i++)
        if (called[i])
            fprintf(file, \"%s\\n\", names[i]);
    fclose(file);
}

",
    )
    .replace("COUNT", &functions.len().to_string());
    for (index, function) in functions.iter().enumerate() {
        out.push_str(&wrapper(index, function));
    }
    let names = functions
        .iter()
        .map(|function| format!("    \"{}\",\n", function.name()));
    out.push_str(&format!(
        "\nstatic const char *const names[{}] = {{\n{}}};\n",
        functions.len(),
        names.collect::<String>()
    ));
    out
}

fn wrapper(index: usize, function: &Function<'_>) -> String {
    let prototype = &function.prototype;
    let returns = if prototype.returns == "void" {
        ""
    } else {
        "return "
    };
    // A function that does not return ends the process without the destructors of the tool.
    let write = if function.family.is_noreturn {
        "write_calls(); "
    } else {
        ""
    };
    format!(
        "{prototype} {{ called[{index}] = 1; {write}{returns}{}({}); }}\n",
        function.profiling_name(),
        prototype.arguments()
    )
}
