//! Programs whose short puts, gets and atomics are inline: they do the same as with calls, and report the same
//! mistakes.

use std::collections::BTreeSet;
use std::process::Command;

use xtask::Tree;

use hostwire_testing::{is_installed, left_out, need, or_long};

use crate::build::{Language, Short, TABLE, has_cxx, oshrun, program_with, tree, work};
use crate::tested::{MACHINE, add_program, alone, is_emulated};
use crate::{output, succeeds, text};

fn pes() -> &'static [usize] {
    or_long(&[3], &[1, 2, 3, 4])
}

fn runs(name: &str, language: Language, short: Short, arguments: &[&str]) {
    let Some(tree) = tree() else { return };
    if language == Language::Cxx && !has_cxx() {
        return;
    }
    let program = program_with(tree, name, language, short);
    for &pes in pes() {
        succeeds(add_program(&mut oshrun(tree, pes), &program).args(arguments));
    }
}

macro_rules! programs {
    ($($test:ident: $name:literal in $language:ident;)*) => { $(
        #[test]
        fn $test() {
            runs($name, Language::$language, Short::Inline, &[]);
        }
    )* };
}

programs! {
    puts_and_gets: "rma" in C11;
    puts_and_gets_in_c99: "rma" in C99;
    puts_and_gets_in_cxx: "rma" in Cxx;
    atomics: "atomic" in C11;
    atomics_in_c99: "atomic" in C99;
    atomics_in_cxx: "atomic" in Cxx;
    static_objects: "statics" in C11;
    arguments_at_their_limits: "edges" in C11;
    threads: "threads" in C11;
    locks: "lock" in C11;
    signals: "signal" in C11;
}

#[test]
fn random_traffic_agrees_with_a_model() {
    for seed in or_long(&["1"][..], &["1", "2", "3", "4", "5"]) {
        runs("random", Language::C11, Short::Inline, &[seed]);
    }
}

#[test]
fn short_traffic_agrees_with_a_model() {
    for seed in or_long(&["1"][..], &["1", "2", "3"]) {
        for short in [Short::Called, Short::Inline] {
            runs("short", Language::C11, short, &[seed]);
            runs("short", Language::Cxx, short, &[seed]);
        }
        runs("short", Language::C99, Short::Inline, &[seed]);
    }
}

#[test]
fn the_library_begins_and_ends_many_times() {
    runs("lifecycle", Language::C11, Short::Inline, &["repeated"]);
    runs("lifecycle", Language::C11, Short::Inline, &["implicit"]);
}

/// Whether operations are inline on this processor.
fn is_inline_here() -> bool {
    let inline = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));
    if !inline {
        left_out(&need::PROCESSOR, "nothing is inline on this processor");
    }
    inline
}

/// The program makes up the words that they read, so no launcher is needed.
#[test]
fn nothing_but_what_is_in_reach_is_touched() {
    let Some(tree) = tree() else { return };
    if !is_inline_here() {
        return;
    }
    for language in [Language::C11, Language::C99, Language::Cxx] {
        if language == Language::Cxx && !has_cxx() {
            continue;
        }
        let program = program_with(tree, "reach", language, Short::Inline);
        for seed in ["1", "2", "3", "4", "5"] {
            succeeds(alone(&program).arg(seed));
        }
    }
}

/// They see what is in reach, and that nothing is where the library itself has to check.
#[test]
fn programs_see_what_is_in_reach() {
    let Some(tree) = tree() else { return };
    if !is_inline_here() {
        return;
    }
    let program = program_with(tree, "mistakes", Language::C11, Short::Inline);
    let cases = [
        ("all", "SHMEM_VERSION=0"),
        ("none", "SHMEM_DEBUG=checks"),
        ("none", "SHMEM_DEBUG=bounds"),
        ("none", "SHMEM_DEBUG=race"),
        ("none", "HOSTWIRE_WIRE=stores"),
    ];
    for (reach, variable) in cases {
        // The launcher sets the wire, so this variable is set after it.
        let mut command = oshrun(tree, 2);
        add_program(command.args(["env", variable]), &program);
        succeeds(command.args(["reach", reach]));
    }
    let program = program_with(tree, "short", Language::C11, Short::Inline);
    let mut command = oshrun(tree, 2);
    command.args(["env", "HOSTWIRE_WIRE=stores"]);
    succeeds(add_program(&mut command, &program));
}

/// The output of `mistakes.c` with short operations that are called or inline: the lines of its PEs, without parts that
/// differ from run to run.
fn says(short: Short, options: &[&str], mistake: &str, by: &str) -> BTreeSet<String> {
    let Some(tree) = tree() else {
        return BTreeSet::new();
    };
    let program = program_with(tree, "mistakes", Language::C11, short);
    let mut command = oshrun(tree, 2);
    add_program(command.args(options), &program).args([mistake, by]);
    let output = output(&mut command);
    let said = text(&output);
    assert!(!said.contains("signal 11"), "{command:?}: {said}");
    let is_told = |line: &&str| {
        let is_of_pe = line.contains("shmem_") || line.contains("race on");
        // A PE that meets the one with the mistake may print a line, too.
        let meets = line.contains("shmem_barrier_all: ") || line.contains("shmem_finalize: ");
        is_of_pe && !meets && !line.contains("aborted the job")
    };
    said.lines().filter(is_told).map(without_numbers).collect()
}

/// Addresses become `0x`, and who says it `PE`.
fn without_numbers(line: &str) -> String {
    let mut words = Vec::new();
    for word in line.split(' ') {
        let word = match word.split_once("0x") {
            Some((front, rest)) => {
                let rest = rest.trim_start_matches(|c: char| c.is_ascii_hexdigit());
                format!("{front}0x{rest}")
            }
            None => word.to_string(),
        };
        words.push(word);
    }
    let line = words.join(" ");
    let line = line.replacen("hostwire: PE 0:", "hostwire: PE:", 1);
    line.replacen("hostwire: PE 1:", "hostwire: PE:", 1)
}

/// Every operation that may be inline reports a mistake with these `words`, and in the same way as when it is called.
fn says_the_same(mistake: &str, options: &[&str], operations: &[&str], words: &[&str]) {
    for by in operations {
        let called = says(Short::Called, options, mistake, by);
        let inline = says(Short::Inline, options, mistake, by);
        assert_eq!(called, inline, "{mistake} by {by}");
        if tree().is_some() {
            let all: Vec<&str> = inline.iter().map(String::as_str).collect();
            let all = all.join("\n");
            for word in words {
                assert!(
                    all.contains(word),
                    "{mistake} by {by} does not say '{word}': {all}"
                );
            }
        }
    }
}

const RMA: [&str; 8] = [
    "p", "g", "put", "put-8", "put-many", "get", "get-8", "get-many",
];
const ATOMICS: [&str; 10] = [
    "fetch",
    "set",
    "swap",
    "compare-swap",
    "inc",
    "fetch-inc",
    "add",
    "fetch-add",
    "xor",
    "fetch-xor",
];

/// One of each kind: of an element and of several, that stores and that waits for an answer.
const SOME: [&str; 7] = [
    "p",
    "g",
    "put-many",
    "get-8",
    "set",
    "fetch-add",
    "compare-swap",
];

fn all() -> Vec<&'static str> {
    or_long(SOME.to_vec(), RMA.into_iter().chain(ATOMICS).collect())
}

#[test]
fn pes_that_are_not_there_are_told() {
    says_the_same("bad-pe", &[], &all(), &["there is no PE 2"]);
    says_the_same("negative-pe", &[], &all(), &["there is no PE -1"]);
}

#[test]
fn addresses_that_are_not_symmetric_are_told() {
    says_the_same("bad-address", &[], &all(), &["is not symmetric"]);
}

#[test]
fn words_that_are_not_aligned_are_told() {
    says_the_same("unaligned", &[], &ATOMICS, &["is not aligned to 8 bytes"]);
    // Data need not be aligned.
    says_the_same("unaligned", &[], &RMA, &[]);
}

#[test]
fn use_before_and_behind_the_library_is_told() {
    says_the_same("before-init", &[], &all(), &["called before shmem_init"]);
    let behind = ["called after shmem_finalize"];
    says_the_same("after-finalize", &[], &all(), &behind);
}

#[test]
fn accesses_beyond_a_block_are_told() {
    let options = ["-x", "SHMEM_DEBUG=bounds"];
    // The line of the program, not that of the header.
    let words = ["beyond its end, called at", "mistakes.c:"];
    says_the_same("bounds", &options, &all(), &words);
}

#[test]
fn races_are_told() {
    let options = ["-x", "SHMEM_DEBUG=race"];
    let words = ["race on byte 0 of the symmetric heap", "mistakes.c:"];
    says_the_same("race", &options, &all(), &words);
}

#[test]
fn the_dead_are_told() {
    let options = ["--keep-going"];
    // Inline gets are not checked.
    let looking = all()
        .into_iter()
        .filter(|by| !["g", "get", "get-8"].contains(by));
    let looking: Vec<&str> = looking.collect();
    says_the_same("death", &options, &looking, &["PE 1 is lost"]);
}

/// Inline code has no reference to the function that it replaces, and other code has.
#[test]
fn only_programs_that_ask_for_it_are_inline() {
    let Some(tree) = tree() else { return };
    let names = || MACHINE.tool("nm");
    if !is_installed(names().get_program(), &need::BINUTILS) || !is_inline_here() {
        return;
    }
    for short in [Short::Called, Short::Inline] {
        let program = program_with(tree, "mistakes", Language::C11, short);
        let symbols = succeeds(names().arg("--undefined-only").arg(program));
        let names: BTreeSet<&str> = symbols
            .lines()
            .filter_map(|line| line.split_whitespace().last())
            .collect();
        for name in ["long_p", "long_g", "long_put", "getmem", "long_atomic_add"] {
            let is_called = names.contains(format!("shmem_{name}").as_str());
            assert_eq!(is_called, short == Short::Called, "shmem_{name}: {names:?}");
        }
    }
}

/// Every inline function, called once, with no warning from any compiler that is here.
#[test]
fn the_header_is_clean() {
    let Some(tree) = tree() else { return };
    let mut source = Tree::default();
    source.add("inline_all.c", every_inline_function());
    source.write(&work()).expect("the source can be written");
    let strict = ["-Wall", "-Wextra", "-pedantic", "-Werror"];
    let old_cxx = ["-Wno-long-long", "-Wno-variadic-macros"];
    // A position-independent program, and one at a fixed address.
    let ways = [&["-O2"][..], &["-O1", "-fno-pie", "-no-pie"]];
    let c = ["c11", "c99"];
    let cxx = ["c++17", "c++98"];
    for (wrapper, variable, compilers, standards) in [
        (
            "oshcc",
            "OSHCC",
            [("gcc", need::C), ("clang", need::CLANG)],
            c,
        ),
        (
            "oshc++",
            "OSHCXX",
            [("g++", need::CXX), ("clang++", need::CLANG)],
            cxx,
        ),
    ] {
        for (compiler, need) in compilers {
            let of_machine = MACHINE.tool(compiler);
            let is_other = is_emulated() && need.name == need::CLANG.name;
            if is_other || !is_installed(of_machine.get_program(), &need) {
                continue;
            }
            for (standard, options) in standards.into_iter().zip(ways) {
                let mut command = Command::new(tree.join("bin").join(wrapper));
                command
                    .env(variable, of_machine.get_program())
                    .arg("--inline");
                command.arg(format!("-std={standard}")).args(strict);
                if wrapper == "oshc++" {
                    command.args(old_cxx).args(["-x", "c++"]);
                }
                command.args(options).arg(work().join("inline_all.c"));
                let program = work().join(format!("inline_all.{compiler}.{standard}"));
                command.args(["-x", "none", "-o"]).arg(&program);
                succeeds(&mut command);
                succeeds(&mut alone(&program));
            }
        }
    }
}

/// A program with a function for each that may be inline.
fn every_inline_function() -> String {
    let mut text = String::from("#include <shmem.h>\n");
    let mut number = 0;
    for function in TABLE.functions().iter().filter(|of| of.is_inline()) {
        let mut own = function.prototype.clone();
        own.name = format!("call_{number}");
        number += 1;
        let returns = match own.returns.as_str() {
            "void" => "",
            _ => "return ",
        };
        text.push_str(&format!(
            "{own};\n{own} {{ {returns}{}({}); }}\n",
            function.name(),
            own.arguments()
        ));
    }
    assert!(number > 200, "only {number} functions");
    // Objects that are too small for some of the code for lengths that are not known.
    text.push_str(
        "\
long small(char *there, size_t count, int pe);
long small(char *there, size_t count, int pe)
{
    char byte = 1;
    int two[2] = {1, 2};
    long some[13] = {1, 2, 3};
    shmem_putmem(there, &byte, count, pe);
    shmem_getmem(&byte, there, count, pe);
    shmem_int_put((int *)there, two, count, pe);
    shmem_int_get(two, (int *)there, count, pe);
    shmem_put64(there, some, count, pe);
    shmem_get64(some, there, count, pe);
    shmem_put64(there, some, 13, pe);
    shmem_get64(some, there, 13, pe);
    return byte + two[0] + some[0];
}
int main(void) { return 0; }
",
    );
    text
}
