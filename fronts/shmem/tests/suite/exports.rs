//! The symbols of the libraries and the declarations of the headers.

use std::collections::BTreeMap;
use std::process::Command;

use xtask::headers::inline::SYMBOLS;
use xtask::library::RACE_SYMBOLS;
use xtask::{Tree, suite};

use hostwire_testing::{is_installed, need};

use crate::build::{TABLE, tree, work};
use crate::succeeds;

/// Symbols that programs see, with the letter of `nm`.
fn symbols(arguments: &[&str], file: &str) -> Option<BTreeMap<String, char>> {
    let tree = tree()?;
    if !is_installed("nm", &need::BINUTILS) {
        return None;
    }
    let mut command = Command::new("nm");
    command
        .args(arguments)
        .arg("--defined-only")
        .arg(tree.join("lib").join(file));
    let text = succeeds(&mut command);
    let line = |line: &str| {
        let mut words = line.split_whitespace().skip(1);
        let (kind, name) = (words.next()?.chars().next()?, words.next()?);
        Some((name.split('@').next()?.to_string(), kind))
    };
    Some(text.lines().filter_map(line).collect())
}

/// Every function is there, by a weak name and by a strong one, and nothing else is.
fn are_those_of_the_table(mut symbols: BTreeMap<String, char>) {
    for function in TABLE.functions() {
        let (name, strong) = (function.name(), function.profiling_name());
        assert_eq!(symbols.remove(name), Some('W'), "{name}");
        assert_eq!(symbols.remove(&strong), Some('T'), "{strong}");
    }
    // The symbols that inline functions of the header use, and those that `oshcc --race` links into
    // programs.
    for (names, kinds) in [(&SYMBOLS[..], "DT"), (&RACE_SYMBOLS[..], "BTT")] {
        for (name, kind) in names.iter().zip(kinds.chars()) {
            assert_eq!(symbols.remove(*name), Some(kind), "{name}");
        }
    }
    assert!(symbols.is_empty(), "also visible: {symbols:?}");
}

#[test]
fn the_shared_library_exports_all_functions_and_nothing_else() {
    let Some(symbols) = symbols(&["-D"], "libshmem.so") else {
        return;
    };
    are_those_of_the_table(symbols);
}

#[test]
fn the_static_library_exports_all_functions_and_nothing_else() {
    let Some(symbols) = symbols(&["-g"], "libshmem.a") else {
        return;
    };
    are_those_of_the_table(symbols);
}

#[test]
fn the_headers_declare_every_function() {
    let Some(tree) = tree() else { return };
    for (wrapper, standard, language) in [
        ("oshcc", "-std=c99", "c"),
        ("oshcc", "-std=c11", "c"),
        ("oshc++", "-std=c++98", "c++"),
    ] {
        if language == "c++" && !is_installed("c++", &need::CXX) {
            continue;
        }
        let mut source = Tree::default();
        let name = format!("addresses{standard}.c");
        source.add(&name, suite::addresses(&TABLE, language == "c++"));
        source.write(&work()).expect("the program can be written");
        let (from, program) = (
            work().join(&name),
            work().join(format!("addresses{standard}")),
        );
        let mut command = Command::new(tree.join("bin").join(wrapper));
        command.args([
            standard,
            "-Wall",
            "-Wno-variadic-macros",
            "-Wno-long-long",
            "-x",
            language,
        ]);
        command.arg(&from).args(["-x", "none", "-o"]).arg(&program);
        succeeds(&mut command);
        succeeds(&mut Command::new(&program));
    }
}

/// A program linked with the static library, together with a function of its own in place of
/// one of the library's.
#[test]
fn the_static_library_links_and_can_be_interposed() {
    let Some(tree) = tree() else { return };
    let mut source = Tree::default();
    source.add(
        "static.c",
        "\
#include <pshmem.h>
#include <stdio.h>
static int calls;
void shmem_int_put(int *dest, const int *source, size_t nelems, int pe)
{
    calls++;
    pshmem_int_put(dest, source, nelems, pe);
}
static int word;
int main(void)
{
    int five = 5;
    shmem_init();
    shmem_int_put(&word, &five, 1, (shmem_my_pe() + 1) % shmem_n_pes());
    shmem_barrier_all();
    int good = word == 5 && calls == 1;
    shmem_finalize();
    return !good;
}
",
    );
    source.write(&work()).expect("the program can be written");
    let program = work().join("static");
    let mut command = Command::new("cc");
    command
        .arg("-I")
        .arg(tree.join("include"))
        .arg(work().join("static.c"));
    command
        .arg(tree.join("lib/libshmem.a"))
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s"]);
    succeeds(command.arg("-o").arg(&program));
    succeeds(crate::build::oshrun(tree, 2).arg(&program));
}
